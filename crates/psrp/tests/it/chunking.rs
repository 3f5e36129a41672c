//! Splits the same input into chunks of several sizes, with limits around its size: the result does not depend on the
//! chunks. The work is proportional to the input, measured in allocated bytes.

use psrp::clixml::{ConsoleEvent, ConsoleFilter, Limits, ReadOptions, Stream, escape};
use psrp::fragment::{Assembler, AssemblerOptions, Fragmenter, OutOfOrder, Priority};
use psrp::outofproc::{Packet, PacketReader, ReaderOptions, Role};
use test_support::counting::usage;
use test_support::{PIECE_SIZES, in_pieces, limits};
use uuid::Uuid;

use crate::fragment_reference::{self, assemble};
use crate::packet_reference::{self, ReadResult};

/// Bytes with a period of 251.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}

/// Lines of three packets after a banner, and the length of the longest line.
fn lines(data: usize) -> (Vec<u8>, usize) {
    let (target, data) = (Some(Uuid::from_u128(7)), bytes(data));
    let mut wire = b"Welcome!\r\n".to_vec();
    Packet::Command(target).encode(&mut wire).unwrap();
    let start = wire.len();
    Packet::Data { target, priority: Priority::Default, data: &data }.encode(&mut wire).unwrap();
    // Without the line feed.
    let longest = wire.len() - start - 1;
    Packet::Signal(target).encode(&mut wire).unwrap();
    (wire, longest)
}

#[test]
fn the_packet_reader_does_not_depend_on_chunks() {
    for size in [1, 100, 70_000] {
        let (mut wire, longest) = lines(size);
        for terminated in [true, false] {
            if !terminated {
                wire.pop();
            }
            for max in limits(longest) {
                for role in [Role::Client, Role::Server] {
                    let options = ReaderOptions::new().max_line(max);
                    let found = in_pieces(&wire, |pieces| packet_reference::read(role, options, pieces));
                    let is_read = role == Role::Client && max >= longest;
                    assert_eq!(
                        found.len() == 3 && !matches!(found[2], ReadResult::Error(_)),
                        is_read,
                        "{max}"
                    );
                    assert!(is_read || matches!(found.last(), Some(ReadResult::Error(_))), "{max}");
                }
            }
        }
        // Only a part of the longest line.
        let part = &wire[..wire.len() - longest / 2];
        for max in limits(longest / 2) {
            let options = ReaderOptions::new().max_line(max);
            in_pieces(part, |pieces| packet_reference::read(Role::Client, options, pieces));
        }
    }
}

#[test]
fn the_assembler_does_not_depend_on_chunks() {
    for (size, fragment_size) in [(0, 100), (1, 100), (1000, 100), (70_000, 32_768), (70_000, 1_000_000)] {
        let (mut wire, mut fragmenter) = (Vec::new(), Fragmenter::new().fragment_size(fragment_size));
        fragmenter.encode(&bytes(size), &mut wire);
        let longest = wire.len();
        fragmenter.encode(&bytes(size / 2), &mut wire);
        for length in [wire.len(), wire.len() - 1, longest, longest / 2] {
            let wire = &wire[..length];
            for max in limits(longest) {
                for out_of_order in [OutOfOrder::Fail, OutOfOrder::Skip] {
                    let options = AssemblerOptions::new().max_object_size(max).out_of_order(out_of_order);
                    let outcome = in_pieces(wire, |pieces| assemble(options, pieces));
                    let is_skip = out_of_order == OutOfOrder::Skip;
                    assert_eq!(outcome, fragment_reference::reassemble(wire, max, is_skip), "{max}");
                }
            }
        }
    }
}

/// Output of the console filter. Adjacent text is joined, because chunk boundaries of text are not significant.
fn filtered(options: &ReadOptions, pieces: &[&[u8]]) -> Vec<(Option<Stream>, String)> {
    let mut filter = ConsoleFilter::with_options(options.clone());
    let mut seen: Vec<(Option<Stream>, String)> = Vec::new();
    let mut see = |event: ConsoleEvent<'_>| match (event, seen.last_mut()) {
        (ConsoleEvent::Text(part), Some((None, text))) => text.push_str(str::from_utf8(part).unwrap()),
        (ConsoleEvent::Text(part), _) => seen.push((None, String::from_utf8(part.to_vec()).unwrap())),
        (ConsoleEvent::Record(stream, value), _) => {
            seen.push((Some(stream), value.as_str().unwrap_or_default().to_owned()));
        }
        (event, _) => panic!("an event {event:?}"),
    };
    for piece in pieces {
        filter.push(piece, &mut see);
    }
    filter.finish(&mut see);
    seen
}

fn filter_in_pieces(output: &str, max: usize) -> Vec<(Option<Stream>, String)> {
    let options = ReadOptions::new().limits(Limits::new().max_size(max));
    in_pieces(output.as_bytes(), |pieces| filtered(&options, pieces))
}

fn document(text: &str) -> String {
    format!("#< CLIXML\r\n<Objs><S S=\"Error\">{}</S></Objs>", escape(text))
}

#[test]
fn the_console_filter_does_not_depend_on_chunks() {
    for size in [1, 100, 70_000] {
        let text = "x".repeat(size);
        let document = document(&text);
        for (before, after) in [("", ""), ("make\n", "\nbye"), ("#< CLI", "#< CLIXML"), ("#", "<Objs/>")] {
            let output = format!("{before}{document}{after}");
            for max in limits(document.len()) {
                let seen = filter_in_pieces(&output, max);
                // The marker counts, too.
                let is_record = max >= document.len();
                assert_eq!(seen.contains(&(Some(Stream::Error), text.clone())), is_record, "{max}");
                assert!(is_record || seen == [(None, output.clone())], "{max}");
            }
        }
        // A truncated document, with and without another one after it.
        for cut in [15, document.len() / 2, document.len() - 1] {
            let cut = &document[..cut];
            for max in limits(document.len()).chain(limits(cut.len())) {
                assert_eq!(filter_in_pieces(cut, max), [(None, cut.to_owned())], "{max}");
                let both = format!("{cut}{document}.");
                let seen = filter_in_pieces(&both, max);
                if max >= document.len() {
                    let expected =
                        [(None, cut.to_owned()), (Some(Stream::Error), text.clone()), (None, ".".to_owned())];
                    assert_eq!(seen, expected, "{max}");
                } else {
                    assert_eq!(seen, [(None, both)], "{max}");
                }
            }
        }
    }
}

/// Markers at every offset of oversized documents, so that the limit is also reached inside a marker.
#[test]
fn the_console_filter_finds_markers_at_every_offset_of_the_limit() {
    let small = document("a");
    for length in 0..40 {
        let output =
            format!("#< CLIXML\n<Objs><S>{}{small}{}<Objs/> .", "x".repeat(length), "y".repeat(length));
        for max in small.len()..small.len() + 40 {
            let seen = filter_in_pieces(&output, max);
            assert!(seen.contains(&(Some(Stream::Error), "a".to_owned())), "{length} {max}: {seen:?}");
        }
    }
}

/// Bytes allocated by a packet reader, an assembler and a filter for chunked input.
fn allocated(size: usize, piece: usize) -> [usize; 4] {
    let feed = |input: &[u8], take: &mut dyn FnMut(&[u8])| {
        let (usage, ()) = usage(|| input.chunks(piece).for_each(take));
        usage.bytes
    };
    let (line, _) = lines(size);
    let mut reader = PacketReader::with_options(Role::Client, ReaderOptions::new().max_line(usize::MAX));
    let of_line = feed(&line, &mut |mut input| while reader.next(&mut input).unwrap().is_some() {});
    let mut wire = Vec::new();
    Fragmenter::new().encode(&bytes(size), &mut wire);
    let mut assembler = Assembler::new();
    let of_message = feed(&wire, &mut |mut input| while assembler.next(&mut input).unwrap().is_some() {});
    let text = "x".repeat(size);
    let mut filter = ConsoleFilter::new();
    let of_document = feed(document(&text).as_bytes(), &mut |input| filter.push(input, |_| {}));
    let mut filter = ConsoleFilter::new();
    let marks = "#< CLIXML\n<Objs>".repeat(size / 16);
    let of_marks = feed(marks.as_bytes(), &mut |input| filter.push(input, |_| {}));
    [of_line, of_message, of_document, of_marks]
}

#[test]
fn allocations_are_linear_in_the_input() {
    const SIZE: usize = 200_000;

    for piece in PIECE_SIZES {
        let [small, large] = [allocated(SIZE, piece), allocated(4 * SIZE, piece)];
        for (small, large) in small.into_iter().zip(large) {
            // 4.4 times, plus a buffer that may be about to double.
            assert!(large * 10 <= small * 44 + 10 * 4 * SIZE, "pieces of {piece}: {small} {large}");
        }
    }
}
