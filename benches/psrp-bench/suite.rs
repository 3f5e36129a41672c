//! Benchmark suite `psrp`: the rows in the report of go-psrpcore, compared with go-psrpcore and live peers; two rows
//! of a large document; and rows compared with PowerShell.
//!
//! Where a row of go-psrpcore does less than its name says, our implementations have two classes: one does the same
//! as go-psrpcore, the other one does what the name says. The two map rows do not involve the protocol.
//!
//! psrp-rs is a separate program in `peers/rust`: linked into this binary, it would enable TLS, HTTP/2 and compression
//! in the client measured by the suites `sse` and `client`. ironposh is not in the registry.

use std::cell::OnceCell;
use std::hint::black_box;
use std::io;
use std::process::ExitCode;

use benches::{Impl, Row, Suite, memory};
use psrp::clixml::{Writer, escape, from_slice, unescape};
use psrp::fragment::{Assembler, Fragment, Fragmenter, Priority};
use psrp::io::Child;
use psrp::message::Message;
use psrp::outofproc::{Packet, PacketReader, Role};
use psrp::{Error, Value};
use psrp_bench::maps::ShardedMap;
use psrp_bench::payload::{self, IDENTITY, members};
use psrp_bench::powershell::{self, Session};
use psrp_bench::round_trip::{self, RoundTripBuffers};
use psrp_bench::session::{self, ServerKind, Sessions};
use psrp_bench::transport::{self, PacketSender};
use uuid::Uuid;

benches::counting_allocator!();

/// Output in a new buffer.
const FRESH: &str = "new buffer";
/// Output in a reused buffer.
const REUSED: &str = "reused buffer";
/// A packet sent as in go-psrpcore: a lock, a line in a reused buffer, and one call of a writer to memory.
const LOCKED: &str = "lock and writer";
/// [`FRESH`] for an object that was written before, of which only a reference is written.
const FRESH_REFERENCE: &str = "reference, new buffer";
/// [`REUSED`] for such an object.
const REUSED_REFERENCE: &str = "reference, reused buffer";
/// The decoded value owns its data, and its buffers are new.
const OWNED: &str = "owned";
/// The decoded value borrows from the input or from a decoder that is reused.
const BORROWED: &str = "borrowed";
/// A round trip whose value is decoded from the document, not from the fragments.
const SHORT: &str = "owned, fragments not decoded";
/// A round trip with reused buffers.
const OWNED_REUSED: &str = "owned, reused buffers";
/// Sessions with a server that decodes no documents.
const PLAIN: &str = "client, plain server";
/// Sessions with a full server.
const WHOLE: &str = "client and server";
/// Sessions with a child process server.
const CHILD: &str = "client";
/// The two map rows.
const MAP: &str = "map, no protocol";

fn main() -> ExitCode {
    benches::main("psrp", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    for row in [
        "serialize_small_object",
        "serialize_medium_object",
        "serialize_large_object",
        "serialize_with_references",
    ] {
        serialize(suite, row, wrapped)?;
    }
    for row in ["serialize_string", "serialize_int32", "serialize_hashtable"] {
        serialize(suite, row, Writer::write)?;
    }
    serialize_again(suite, "serialize_unsafe_small_object", &payload::small(), REUSED_REFERENCE);
    serialize_again(suite, "serialize_ps_object", &payload::object_with_text(), FRESH_REFERENCE);
    for row in ["deserialize_small_object", "deserialize_ps_object"] {
        deserialize(suite, row)?;
    }
    for (row, length) in [("fragment_encode_1kb", 1024), ("fragment_encode_large_32kb", 32768)] {
        encode_fragment(suite, row, length);
    }
    decode_fragment(suite);
    assemble(suite);
    messages(suite);
    for (row, length, discarded) in [
        ("transport_send_data_4kb", 4096, false),
        ("transport_send_data_small_256b", 256, false),
        ("outofproc_send_data", 1024, true),
    ] {
        send(suite, row, &data_packet(Some(IDENTITY), &vec![0; length]), discarded);
    }
    send(suite, "transport_send_command", &Packet::Command(Some(IDENTITY)), false);
    receive(suite, "transport_receive_packet_data", &data_packet(None, b"testdata"));
    receive(suite, "transport_receive_packet_command", &Packet::Command(Some(IDENTITY)));
    parse_line(suite);
    round_trip(suite, "round_trip_small", &payload::small());
    round_trip(suite, "round_trip_medium", &payload::numbered("Prop", 20));
    transport_round_trip(suite);
    texts(suite);
    shared_maps(suite);
    objects(suite, ["objects_1000_read", "objects_1000_write"], 1000)?;
    objects(suite, ["clixml_document_10mb", "clixml_document_10mb_encode"], 13_800)?;
    sessions(suite)?;
    child_sessions(suite);
    Ok(())
}

/// Encodes a value as a document.
fn wrapped<'w>(writer: &'w mut Writer, value: &Value) -> Result<&'w [u8], Error> {
    writer.write_document([(None, value)])
}

/// Gives PowerShell the document of a row.
fn give(suite: &Suite, row: &str, document: &[u8]) -> io::Result<()> {
    suite.give_document(&format!("{row}.xml"), document)
}

/// Returns the encoded length, 0 on failure.
fn length<T: AsRef<[u8]>>(bytes: Result<T, Error>) -> u64 {
    bytes.map_or(0, |bytes| black_box(bytes.as_ref()).len() as u64)
}

/// Returns the length of a document of the value, `u64::MAX` if decoding it yields another value.
fn verified(value: &Value, write: impl for<'w> Fn(&'w mut Writer, &Value) -> Result<&'w [u8], Error>) -> u64 {
    let mut writer = Writer::new();
    match write(&mut writer, value) {
        Ok(document) if from_slice(document).is_ok_and(|read| read == *value) => document.len() as u64,
        _ => u64::MAX,
    }
}

/// Adds ours with the document in a new buffer, and in the buffer of the writer.
fn written<'a, W>(row: Row<'a>, prefix: &str, expected: u64, write: W) -> Row<'a>
where
    W: for<'w> Fn(&'w mut Writer) -> Result<&'w [u8], Error> + Copy + 'a,
{
    let (mut copying, mut lending) = (Writer::new(), Writer::new());
    let ours = |name, class| Impl::ours(format!("{prefix}{name}")).class(class).payload(expected);
    row.run(ours("copied", FRESH), expected, move || length(write(&mut copying).map(<[u8]>::to_vec))).run(
        ours("lent", REUSED),
        expected,
        move || length(write(&mut lending)),
    )
}

fn serialize(
    suite: &mut Suite,
    name: &str,
    write: impl for<'w> Fn(&'w mut Writer, &Value) -> Result<&'w [u8], Error> + Copy,
) -> anyhow::Result<()> {
    let value = &payload::of_row(name).unwrap_or_default();
    give(suite, name, wrapped(&mut Writer::new(), value)?)?;
    let expected = verified(value, write);
    written(suite.row(name).payload(expected), "", expected, move |writer| write(writer, black_box(value)));
    Ok(())
}

/// The two rows whose serializer is not reset: from the second document on, it writes only a reference.
fn serialize_again(suite: &mut Suite, name: &str, value: &Value, class: &str) {
    const REFERENCE: u64 = 104;
    let again = |writer: &mut Writer, is_copied: bool| {
        let document = writer.continue_document([(None, black_box(value))]);
        if is_copied { length(document.map(<[u8]>::to_vec)) } else { length(document) }
    };
    let is_copied = class == FRESH_REFERENCE;
    let mut writer = Writer::new();
    again(&mut writer, is_copied);
    let ours = Impl::ours(if is_copied { "reference, copied" } else { "reference, lent" }).class(class);
    let row = suite.row(name).payload(REFERENCE).run(ours, REFERENCE, || again(&mut writer, is_copied));
    written(row, "whole object, ", verified(value, wrapped), |writer| wrapped(writer, black_box(value)));
}

fn deserialize(suite: &mut Suite, name: &str) -> anyhow::Result<()> {
    let value = &payload::of_row(name).unwrap_or_default();
    let mut writer = Writer::new();
    let document = wrapped(&mut writer, value)?;
    give(suite, name, document)?;
    let is_right = from_slice(document).is_ok_and(|read| read == *value);
    let expected = if is_right { members(value) } else { u64::MAX };
    suite.row(name).payload(document.len() as u64).run(Impl::ours("value").class(OWNED), expected, || {
        from_slice(black_box(document)).map_or(0, |value| members(black_box(&value)))
    });
    Ok(())
}

/// Adds the limit of a row: copying the encoded bytes.
fn copies<'a>(row: Row<'a>, bytes: &'a [u8]) -> Row<'a> {
    let mut buffer = Vec::new();
    let expected = bytes.len() as u64;
    row.run(Impl::limit("memory copy").class(REUSED), expected, move || memory::copy_to(bytes, &mut buffer))
}

/// Adds ours with a new vector and a reused one, and copying the result to such vectors. `encode` appends.
fn appended<'a>(row: Row<'a>, encoded: &'a [u8], is_right: bool, encode: impl Fn(&mut Vec<u8>) + Copy + 'a) {
    let expected = if is_right { encoded.len() as u64 } else { u64::MAX };
    let mut buffer = Vec::new();
    let row = row
        .payload(expected)
        .run(Impl::ours("new vector").class(FRESH), expected, move || {
            let mut buffer = Vec::with_capacity(encoded.len());
            encode(&mut buffer);
            black_box(&buffer).len() as u64
        })
        .run(Impl::ours("reused buffer").class(REUSED), expected, move || {
            buffer.clear();
            encode(&mut buffer);
            black_box(&buffer).len() as u64
        })
        .run(Impl::limit("memory copy, new vector").class(FRESH), expected, || {
            memory::copy_to(encoded, &mut Vec::new())
        });
    copies(row, encoded);
}

/// Returns the fragment of a message that fits into one.
fn fragment(blob: &[u8]) -> Fragment<'_> {
    Fragment { object_id: 1, fragment_id: 0, start: true, end: true, blob: blob.into() }
}

fn encoded_fragment(fragment: &Fragment<'_>) -> Vec<u8> {
    let mut buffer = Vec::new();
    let _ = fragment.encode(&mut buffer);
    buffer
}

fn encode_fragment(suite: &mut Suite, name: &str, blob: usize) {
    let blob = vec![0; blob];
    let value = &fragment(&blob);
    let encoded = encoded_fragment(value);
    let is_right = Fragment::decode(&encoded).is_ok_and(|(read, rest)| read == *value && rest.is_empty());
    appended(suite.row(name), &encoded, is_right && encoded.len() == blob.len() + 21, |buffer| {
        let _ = black_box(value).encode(buffer);
    });
}

fn decode_fragment(suite: &mut Suite) {
    let blob = [0; 1024];
    let encoded = encoded_fragment(&fragment(&blob));
    let is_right = Fragment::decode(&encoded).is_ok_and(|(read, _)| read == fragment(&blob));
    let expected = if is_right { 1024 } else { u64::MAX };
    let row = suite
        .row("fragment_decode_1kb")
        .payload(encoded.len() as u64)
        .run(Impl::ours("owned").class(OWNED), expected, || {
            let decoded = Fragment::decode(black_box(&encoded)).map(|(fragment, _)| fragment.into_owned());
            decoded.map_or(0, |fragment| black_box(&fragment).blob.len() as u64)
        })
        .run(Impl::ours("borrowed").class(BORROWED), expected, || {
            let decoded = Fragment::decode(black_box(&encoded));
            decoded.map_or(0, |(fragment, _)| black_box(&fragment).blob.len() as u64)
        });
    copies(row, &encoded);
}

/// Five fragments, though the row's name says four. go-psrpcore's assembler takes decoded fragments, ours takes bytes.
fn assemble(suite: &mut Suite) {
    let message = [0; 4096];
    let fragments: Vec<_> = Fragmenter::new()
        .fragment_size(1024)
        .split(&message)
        .map(|fragment| encoded_fragment(&fragment))
        .collect();
    let expected = if fragments.len() == 5 { 4096 } else { u64::MAX };
    let mut reused = Assembler::new();
    let row = suite
        .row("fragment_assemble_4")
        .payload(4096)
        .run(Impl::ours("new assembler, owned").class(OWNED), expected, || {
            assembled(&mut Assembler::new(), &fragments)
                .map_or(0, |message| black_box(message.to_vec()).len() as u64)
        })
        .run(Impl::ours("reused assembler, borrowed").class(BORROWED), expected, || {
            assembled(&mut reused, &fragments).map_or(0, |message| black_box(message).len() as u64)
        });
    copies(row, &message);
}

/// Returns the message completed by the last fragment.
fn assembled<'a>(assembler: &'a mut Assembler, fragments: &'a [Vec<u8>]) -> Option<&'a [u8]> {
    let (last, others) = black_box(fragments).split_last()?;
    for fragment in others {
        if !matches!(assembler.next(&mut &fragment[..]), Ok(None)) {
            return None;
        }
    }
    assembler.next(&mut &last[..]).ok()?
}

/// The rows `messages_*` of go-psrpcore have other values in the header.
fn messages(suite: &mut Suite) {
    let data = [0; 1024];
    let message = Message { header: round_trip::header(), data: &data };
    let mut encoded = Vec::new();
    message.encode(&mut encoded);
    let is_right = Message::decode(&encoded).is_ok_and(|read| read == message);
    let row = suite.row("message_encode").alias("messages_message_encode");
    appended(row, &encoded, is_right && encoded.len() == 1064, |buffer| black_box(&message).encode(buffer));

    let expected = if is_right { 1024 } else { u64::MAX };
    let row = suite
        .row("message_decode")
        .alias("messages_message_decode")
        .payload(1064)
        .run(Impl::ours("owned").class(OWNED), expected, || {
            let decoded =
                Message::decode(black_box(&encoded)).map(|message| (message.header, message.data.to_vec()));
            decoded.map_or(0, |message| black_box(&message).1.len() as u64)
        })
        .run(Impl::ours("borrowed").class(BORROWED), expected, || {
            Message::decode(black_box(&encoded)).map_or(0, |message| black_box(&message).data.len() as u64)
        });
    copies(row, &encoded);
}

fn data_packet(target: Option<Uuid>, data: &[u8]) -> Packet<'_> {
    Packet::Data { target, priority: Priority::Default, data }
}

/// Returns the line of a packet, or an empty line if it does not decode to the same packet.
fn line(packet: &Packet<'_>) -> Vec<u8> {
    let (mut line, mut data) = (Vec::new(), Vec::new());
    let encoded = packet.encode(&mut line);
    let is_right = encoded.is_ok() && Packet::parse(&line, &mut data).is_ok_and(|read| read == *packet);
    if is_right { line } else { Vec::new() }
}

/// Adds a row that sends a packet to a writer into memory or, if `discarded`, to a writer that discards it, and that
/// encodes the packet to a reused buffer.
fn send(suite: &mut Suite, name: &str, packet: &Packet<'_>, discarded: bool) {
    let expected = line(packet).len() as u64;
    let (sink, link, mut buffer) = (PacketSender::new(io::sink()), PacketSender::new(Vec::new()), Vec::new());
    suite
        .row(name)
        .payload(expected)
        .run(Impl::ours("lock and writer").class(LOCKED), expected, || {
            let packet = black_box(packet);
            if discarded { sink.send(packet, |_| {}) } else { link.send(packet, Vec::clear) }
        })
        .run(Impl::ours("buffer").class(REUSED), expected, || transport::encode(packet, &mut buffer));
}

/// Receives a packet from a reader with new buffers, as in go-psrpcore, and decodes it from available bytes.
fn receive(suite: &mut Suite, name: &str, packet: &Packet<'_>) {
    let (line, expected) = (line(packet), transport::data(packet).len() as u64);
    let mut reused = PacketReader::new(Role::Client);
    suite
        .row(name)
        .payload(line.len() as u64)
        .run(Impl::ours("new reader, owned").class(OWNED), expected, || {
            transport::receive(black_box(&line[..])).map_or(u64::MAX, |data| black_box(&data).len() as u64)
        })
        .run(Impl::ours("reused reader, borrowed").class(BORROWED), expected, || {
            received(transport::receive_in_place(&mut reused, black_box(&line)))
        });
}

fn received(packet: Option<Packet<'_>>) -> u64 {
    packet.map_or(u64::MAX, |packet| transport::data(black_box(&packet)).len() as u64)
}

fn parse_line(suite: &mut Suite) {
    let line = line(&data_packet(Some(IDENTITY), b"some test data payload"));
    let line = line.trim_ascii_end();
    let mut reused = Vec::new();
    suite
        .row("outofproc_parse_packet")
        .payload(line.len() as u64)
        .run(Impl::ours("new vector").class(OWNED), 22, || {
            received(Packet::parse(black_box(line), &mut Vec::new()).ok())
        })
        .run(Impl::ours("reused buffer").class(BORROWED), 22, || {
            received(Packet::parse(black_box(line), &mut reused).ok())
        });
}

/// Adds the row of a round trip. go-psrpcore decodes the data that it had before fragmentation, not the reassembled
/// data. One of our variants does the same; the others pass the result of each step to the next one. Both create two
/// random identifiers per message.
fn round_trip(suite: &mut Suite, name: &str, value: &Value) {
    let arrived = |read: Result<Option<Value>, Error>| match read {
        Ok(Some(read)) => members(black_box(&read)),
        _ => u64::MAX,
    };
    let right = |read: Result<Option<Value>, Error>| read.is_ok_and(|read| read.as_ref() == Some(value));
    let mut reused = RoundTripBuffers::default();
    let is_right = right(round_trip::like_go_psrpcore(value)) && right(reused.through(value));
    let expected = if is_right { members(value) } else { u64::MAX - 1 };
    suite
        .row(name)
        .payload(verified(value, Writer::write))
        .run(Impl::ours("fragments not decoded").class(SHORT), expected, || {
            arrived(round_trip::like_go_psrpcore(black_box(value)))
        })
        .run(Impl::ours("through the bytes").class(OWNED), expected, || {
            arrived(RoundTripBuffers::default().through(black_box(value)))
        })
        .run(Impl::ours("through the bytes, reused buffers").class(OWNED_REUSED), expected, || {
            arrived(reused.through(black_box(value)))
        });
}

fn transport_round_trip(suite: &mut Suite) {
    let data = [0; 1024];
    let packet = data_packet(Some(IDENTITY), &data);
    let mut buffer = Vec::new();
    let mut reader = PacketReader::new(Role::Client);
    suite
        .row("transport_round_trip")
        .payload(line(&packet).len() as u64)
        .run(Impl::ours("new reader, owned").class(OWNED), 1024, || {
            transport::receive(&transport::sent(&packet)[..])
                .map_or(u64::MAX, |data| black_box(&data).len() as u64)
        })
        .run(Impl::ours("reused reader, borrowed").class(BORROWED), 1024, || {
            transport::encode(&packet, &mut buffer);
            received(transport::receive_in_place(&mut reader, &buffer))
        });
}

/// Texts with escapes. A text without any is not copied, by both libraries.
fn texts(suite: &mut Suite) {
    const ESCAPED: &str = "line1_x000D__x000A_line2_x0009_col2_x000D__x000A_line3";
    const LINES: &str = "line1\r\nline2\tcol2\r\nline3";
    let plain = "hello world this is a normal string with no escapes";
    let unencoded = "hello world this is a normal string with no encoding needed";
    let pairs = "music _xD834__xDD1E_ and _xD83D__xDE00_ emoji";
    let literal = "literal _x000D_ and _X000A_ patterns";
    let rows = [
        ("decode_no_escapes", plain, plain),
        ("decode_with_escapes", ESCAPED, LINES),
        ("decode_surrogate_pair", pairs, "music \u{1D11E} and \u{1F600} emoji"),
        ("encode_no_encoding_needed", unencoded, unencoded),
        ("encode_with_control_chars", LINES, ESCAPED),
        ("encode_escape_escape_pattern", literal, "literal _x005F_x000D_ and _x005F_X000A_ patterns"),
    ];
    for (name, from, to) in rows {
        let change = if name.starts_with("decode") { unescape } else { escape };
        let expected = if change(from) == to { to.len() as u64 } else { u64::MAX };
        let row = suite.row(format!("clixml_string_{name}")).payload(from.len() as u64);
        row.run(Impl::ours("text").class(OWNED), expected, || {
            black_box(change(black_box(from))).len() as u64
        });
    }
}

fn shared_maps(suite: &mut Suite) {
    let keys: Vec<_> = (0..100).map(|_| Uuid::new_v4()).collect();
    for (row, name, shards) in
        [("runspace_map_rwmutex", "RwLock of a map", 1), ("runspace_map_syncmap", "sharded map", 16)]
    {
        let map = ShardedMap::new(&keys, shards);
        let ours = Impl::ours(name).class(MAP);
        suite.row(row).threads().run_batches(ours, 1, |times| map.look_up(&keys, times));
    }
}

/// Client and server in one thread over an in-memory pipe, as in go-psrpcore. It has no server: that of its rows
/// decodes nothing, like our plain one.
fn sessions(suite: &mut Suite) -> anyhow::Result<()> {
    const COUNT: u64 = 10_000;
    let servers = [(PLAIN, Sessions::new(ServerKind::Stub)?), (WHOLE, Sessions::new(ServerKind::Full)?)];
    let mut row = suite.row("session_open_invoke_close").threads();
    for (class, sessions) in &servers {
        let run = |times| sessions.whole(times).unwrap_or(u64::MAX);
        row = row.run_batches(Impl::ours(*class).class(*class), 1, run);
    }
    drop(row);
    let is_selected = suite.selects("session_10000_objects");
    let mut row = suite.row("session_10000_objects").threads().elements(COUNT);
    for (class, sessions) in &servers {
        let pool = if is_selected { sessions.open().ok() } else { None };
        row = row.run(Impl::ours(*class).class(*class), session::sum(COUNT), move || {
            let sum = pool.as_ref().and_then(|pool| sessions.stream(pool, COUNT).ok());
            sum.and_then(|sum| sum.try_into().ok()).unwrap_or(u64::MAX)
        });
    }
    Ok(())
}

/// A list of objects as PowerShell writes it, decoded and encoded. Our output is not indented.
fn objects(suite: &mut Suite, rows: [&str; 2], count: u64) -> anyhow::Result<()> {
    let selected = rows.iter().any(|row| suite.selects(row));
    let document = powershell::objects(if selected { count } else { 1 });
    let document = document.as_bytes();
    rows.iter().filter(|_| selected).try_for_each(|row| give(suite, row, document))?;
    let value = from_slice(document).unwrap_or_default();
    let len = |value: &Value| value.items().map_or(0, |items| items.len() as u64);
    suite.row(rows[0]).payload(document.len() as u64).elements(count).run(
        Impl::ours("value").class(OWNED),
        count,
        || from_slice(black_box(document)).map_or(0, |value| len(black_box(&value))),
    );

    let mut writer = Writer::new();
    let encoded = wrapped(&mut writer, &value).unwrap_or_default();
    let expected = verified(&value, wrapped);
    let row = suite.row(rows[1]).payload(expected).elements(count);
    copies(written(row, "", expected, |writer| wrapped(writer, black_box(&value))), encoded);
    Ok(())
}

/// Our client with PowerShell's server, if installed, and with the example `psrp_server`. A process opens one session per
/// server and runs a short pipeline before the others, as PowerShell's client does.
fn child_sessions(suite: &mut Suite) {
    thread_local! {
        static SESSIONS: [OnceCell<Session>; 2] = const { [const { OnceCell::new() }; 2] };
    }
    let ours = Child::new(env!("CARGO_BIN_EXE_psrp_server"));
    // A test run only checks that the rows work.
    let scale = if suite.is_testing() { 1000 } else { 1 };
    for (index, name, server) in [(0, "powershell", powershell::server()), (1, "psrp_server", Some(ours))] {
        let Some(server) = &server else { continue };
        for (direction, count, call) in
            [("out", 100_000, Session::receive as fn(&Session, u32) -> _), ("in", 10_000, Session::send)]
        {
            let run = move |count| {
                SESSIONS.with(|sessions| {
                    let session = match sessions[index].get() {
                        Some(session) => session,
                        None => {
                            let session = Session::open(server)?;
                            if scale == 1 {
                                session.receive(1000)?;
                                session.send(1000)?;
                            }
                            sessions[index].get_or_init(|| session)
                        }
                    };
                    call(session, count)
                })
            };
            let elements = u64::from(count);
            let count = count / scale;
            let sum = u64::from(count) * u64::from(count + 1) / 2;
            suite.row(format!("child_{name}_{elements}_{direction}")).threads().elements(elements).run(
                Impl::ours("collected").class(CHILD).once(),
                sum,
                move || run(count).unwrap_or(u64::MAX),
            );
        }
    }
}
