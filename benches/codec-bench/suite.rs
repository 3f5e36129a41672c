//! The `codec` suite: the rows in the report of the Go library parco, the reference implementation, each with live
//! peers; and decoding, which is not part of the report.
//!
//! All implementations of a row encode the same message, or one converted from it with the same map order, so that all
//! encode the entries in the same sequence.

use std::collections::HashMap;
use std::hint::black_box;
use std::process::ExitCode;

use benches::{Impl, Row, Suite, memory};
use codec_bench::codec::{
    self, AlignedVec, Borrow, Codec, Discard, Fresh, FromReader, View, implementation, verified,
};
use codec_bench::json::{Json, OurJson};
use codec_bench::message::{Check, Message, MessageType};
use codec_bench::msgpack::{RmpGoWidths, RmpSerdeCompact, RmpSerdeNamed, Zerompk};
use codec_bench::ours;
use codec_bench::payload::{self, Size};
use codec_bench::peers::{
    Bincode1, Bincode2Fixed, Bincode2Varint, Bitcode, Borsh, Nanoserde, Postcard, Savefile, SerdeZap, Speedy,
    Wincode, WincodeVec,
};
use codec_bench::prost::Prost;
use codec_bench::rkyv::Rkyv;
use codec_bench::same_bytes::{SpeedyLayout, SpeedyWideLayout, WincodeLayout, WincodeWideLayout};
use json_bench::library;

benches::counting_allocator!();

type SerdeJson = Json<library::SerdeJson>;
type SimdJson = Json<library::SimdJson>;
type SonicRs = Json<library::SonicRs>;

/// Encoding to a reused buffer.
const REUSED: &str = "reused buffer";
/// Encoding to a new buffer for each message, as the Go libraries for JSON and MessagePack do.
const FRESH: &str = "new buffer";
/// Encoding to a sink that only adds up lengths.
const DISCARDED: &str = "discarded";
/// Decoding an owned message.
const OWNED: &str = "owned";
/// Reading a reader to its end and decoding an owned message, so that the reader can have nothing after it.
const WHOLE: &str = "owned, whole reader";
/// Decoding a message whose strings and keys borrow from the bytes.
const BORROWED: &str = "borrowed";
/// Validating bytes to read them in place.
const VIEW: &str = "view";

/// Adds codecs to a row with the function `$kind`.
macro_rules! add {
    ($row:expr, $kind:ident, $message:expr; $($codec:ty)+) => {{
        let row = $row;
        $(let row = $kind::<$codec>(row, $message);)+
        row
    }};
}

/// Adds codecs whose type depends on the size of the message: those for narrow headers, or those for wide ones.
macro_rules! add_sized {
    ($size:expr, $row:expr, $kind:ident, $message:expr; $($narrow:ty)+, $($wide:ty)+) => {
        match $size {
            Size::Large => add!($row, $kind, $message; $($wide)+),
            _ => add!($row, $kind, $message; $($narrow)+),
        }
    };
}

/// Adds the codecs that have the same bytes as the Go library.
macro_rules! same_bytes {
    ($size:expr, $row:expr, $kind:ident, $message:expr) => {
        add_sized!($size, $row, $kind, $message;
            ours::Derived WincodeLayout SpeedyLayout, ours::DerivedWide WincodeWideLayout SpeedyWideLayout)
    };
}

/// Adds every codec that can encode and decode the message, and those in `$more`.
macro_rules! all_codecs {
    ($row:expr, $kind:ident, $message:expr; $($more:ty)*) => {
        add!($row, $kind, $message; Wincode Bitcode SerdeZap Nanoserde Bincode1 Bincode2Fixed Bincode2Varint Savefile
            Zerompk Speedy Postcard Borsh RmpSerdeCompact RmpSerdeNamed Prost Rkyv SerdeJson $($more)*)
    };
}

/// Adds the codecs that write to a sink and read a message from a stream, and those in `$more`.
macro_rules! streaming {
    ($row:expr, $kind:ident, $message:expr; $($more:ty)*) => {
        add!($row, $kind, $message; Wincode Bincode1 Bincode2Fixed Bincode2Varint Savefile Zerompk Speedy Borsh
            RmpSerdeCompact RmpSerdeNamed SerdeJson $($more)*)
    };
}

fn main() -> ExitCode {
    benches::main("codec", env!("CARGO_TARGET_TMPDIR"), rows)
}

fn rows(suite: &mut Suite) -> anyhow::Result<()> {
    for size in Size::ALL {
        for (kind, add) in [
            ("parco_compile", compile as for<'a> fn(Row<'a>, Size, &'a Message)),
            ("parco_discard_compile", discard_compile),
            ("json_compile", json),
            ("msgpack_compile", msgpack),
            ("parco_parse", parse),
            ("parco_parse_reader", parse_reader),
        ] {
            let name = format!("{kind}_{}", size.name());
            // A row that is not run needs its implementations only.
            let message = if suite.selects(&name) { payload::message(size) } else { Message::default() };
            let payload = match kind {
                "json_compile" => size.json_len(),
                "msgpack_compile" => size.msgpack_len(),
                _ => size.parco_len(),
            };
            add(suite.row(name).payload(payload).elements(1), size, &message);
        }
    }
    Ok(())
}

/// Encoding to a reused buffer, as in the report, and to a new one. Codecs with the same bytes as the Go library come
/// first.
fn compile<'a>(row: Row<'a>, size: Size, message: &'a Message) {
    let row = same_bytes!(size, row, reused, message);
    let row = all_codecs!(row, reused, message; WincodeVec);
    let row = same_bytes!(size, row, fresh, message);
    let row = add!(row, fresh, message; Wincode Bitcode SerdeZap Nanoserde Bincode1 Bincode2Fixed Bincode2Varint Zerompk
        Speedy Postcard Borsh RmpSerdeCompact RmpSerdeNamed Prost SerdeJson SimdJson SonicRs);
    let payload = match size {
        Size::Large => encoded::<ours::DerivedWide>(message),
        _ => encoded::<ours::Derived>(message),
    };
    let mut buffer = Vec::new();
    let sum = message.map.keys().map(|key| u64::from(key.as_bytes()[0])).sum();
    row.run(Impl::limit("memory copy"), size.parco_len(), move || memory::copy_to(&payload, &mut buffer))
        .run(Impl::limit("map visit"), sum, || visit(&message.map));
}

/// Visits every entry of the map and returns the sum of the first bytes of the keys.
fn visit(map: &HashMap<String, u8>) -> u64 {
    black_box(map).keys().map(|key| key.as_bytes().first().map_or(0, |&byte| u64::from(byte))).sum()
}

/// Encoding to a sink that only adds up lengths, for codecs that support sinks.
fn discard_compile<'a>(row: Row<'a>, size: Size, message: &'a Message) {
    let row = same_bytes!(size, row, discarded, message);
    streaming!(row, discarded, message; SerdeZap Postcard);
}

/// JSON to a new vector, as in the report, and to a reused buffer.
fn json<'a>(row: Row<'a>, _: Size, message: &'a Message) {
    let row = add!(row, fresh, message; OurJson SerdeJson SimdJson SonicRs);
    add!(row, reused, message; OurJson SerdeJson SimdJson SonicRs);
}

/// MessagePack to a new vector, as in the report, and to a reused buffer.
fn msgpack<'a>(row: Row<'a>, _: Size, message: &'a Message) {
    let row = add!(row, fresh, message; RmpGoWidths RmpSerdeNamed RmpSerdeCompact Zerompk);
    add!(row, reused, message; RmpGoWidths RmpSerdeNamed RmpSerdeCompact Zerompk);
}

/// Decoding to owned messages, borrowed messages and views, which share a row and have a class each.
fn parse<'a>(row: Row<'a>, size: Size, message: &'a Message) {
    let row = same_bytes!(size, row, owned, message);
    let row = all_codecs!(row, owned, message; SimdJson SonicRs);
    let row = add_sized!(size, row, borrowed, message; ours::Derived, ours::DerivedWide);
    let row = add!(row, borrowed, message; Wincode Bitcode SerdeZap Bincode1 Bincode2Fixed Bincode2Varint Zerompk Speedy
        Postcard RmpSerdeCompact RmpSerdeNamed SerdeJson SonicRs);
    add_sized!(size, row, view, message; ours::Derived Rkyv, ours::DerivedWide Rkyv);
}

/// Decoding from a reader, for codecs that support readers. serde-zap reads them to their end, which is a class of its own.
fn parse_reader<'a>(row: Row<'a>, size: Size, message: &'a Message) {
    let row = add_sized!(size, row, from_reader, message; ours::Derived, ours::DerivedWide);
    let row = streaming!(row, from_reader, message;);
    let row = add_sized!(size, row, whole_reader, message; ours::Derived, ours::DerivedWide);
    add!(row, whole_reader, message; SerdeZap Wincode Bitcode Bincode2Fixed Postcard);
}

fn encoded<C: Codec>(message: &Message) -> AlignedVec {
    verified::<C>(&C::Message::from_message(message))
}

/// Expected length; if verification failed, a value that no length equals.
fn expected(bytes: &[u8]) -> u64 {
    if bytes.is_empty() { u64::MAX } else { bytes.len() as u64 }
}

fn reused<'a, C: Codec>(row: Row<'a>, message: &'a Message) -> Row<'a> {
    let (mut codec, message) = (C::default(), C::Message::from_message(message));
    let len = expected(&verified::<C>(&message));
    row.run(implementation::<C>(REUSED).payload(len), len, move || codec::encode(&mut codec, &message))
}

fn fresh<'a, C: Fresh>(row: Row<'a>, message: &'a Message) -> Row<'a> {
    let message = C::Message::from_message(message);
    let len = expected(&verified::<C>(&message));
    row.run(implementation::<C>(FRESH).payload(len), len, move || codec::fresh::<C>(&message))
}

fn discarded<'a, C: Discard>(row: Row<'a>, message: &'a Message) -> Row<'a> {
    let message = C::Message::from_message(message);
    let len = expected(&verified::<C>(&message));
    row.run(implementation::<C>(DISCARDED).payload(len), len, move || codec::discard::<C>(&message))
}

fn owned<'a, C: Codec>(row: Row<'a>, message: &'a Message) -> Row<'a> {
    let (mut codec, message) = (C::default(), C::Message::from_message(message));
    let bytes = verified::<C>(&message);
    let implementation = implementation::<C>(OWNED).payload(expected(&bytes));
    row.run(implementation, message.check(), move || codec::decode(&mut codec, &bytes))
}

fn from_reader<'a, C: FromReader>(row: Row<'a>, message: &'a Message) -> Row<'a> {
    let message = C::Message::from_message(message);
    let bytes = verified::<C>(&message);
    let whole = C::from_reader(&mut &bytes[..]).is_some_and(|decoded| decoded == *message);
    let check = if whole { message.check() } else { u64::MAX };
    let implementation = implementation::<C>(OWNED).payload(expected(&bytes));
    row.run(implementation, check, move || codec::from_reader::<C>(&bytes))
}

fn whole_reader<'a, C: Codec>(row: Row<'a>, message: &'a Message) -> Row<'a> {
    let (mut codec, message) = (C::default(), C::Message::from_message(message));
    let bytes = verified::<C>(&message);
    let implementation = implementation::<C>(WHOLE).payload(expected(&bytes));
    row.run(implementation, message.check(), move || codec::whole_reader(&mut codec, &bytes))
}

fn borrowed<'a, C: Borrow>(row: Row<'a>, message: &'a Message) -> Row<'a> {
    let mut codec = C::default();
    let bytes = encoded::<C>(message);
    let whole = codec.borrow(&bytes).is_some_and(|borrowed| borrowed.copied() == *message);
    let check = if whole { message.check() } else { u64::MAX };
    let implementation = implementation::<C>(BORROWED).payload(expected(&bytes));
    row.run(implementation, check, move || codec::borrow(&mut codec, &bytes))
}

fn view<'a, C: View>(row: Row<'a>, message: &'a Message) -> Row<'a> {
    let bytes = encoded::<C>(message);
    let whole = C::view(&bytes).is_some_and(|view| C::copied(&view).as_ref() == Some(message));
    let check = if whole { message.check() } else { u64::MAX };
    let implementation = implementation::<C>(VIEW).payload(expected(&bytes));
    row.run(implementation, check, move || codec::view::<C>(&bytes))
}
