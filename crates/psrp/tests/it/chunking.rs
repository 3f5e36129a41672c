//! Splits the same input into chunks of several sizes, with limits around its size: the result does not depend on the
//! chunks. The work is proportional to the input, measured in allocated bytes.

use psrp::clixml::{ConsoleFilter, Limits, ReadOptions, escape};
use psrp::fragment::{Assembler, Fragmenter, Priority};
use psrp::outofproc::{Packet, PacketReader, ReaderOptions, Role};
use test_support::counting::usage;
use test_support::{PIECE_SIZES, in_pieces, limits};
use uuid::Uuid;

use crate::console::{Seen, filtered};

/// Bytes with a period of 251.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}

/// Lines of three packets after a banner.
fn lines(data: usize) -> Vec<u8> {
    let (target, data) = (Some(Uuid::from_u128(7)), bytes(data));
    let mut wire = b"Welcome!\r\n".to_vec();
    Packet::Command(target).encode(&mut wire).unwrap();
    Packet::Data { target, priority: Priority::Default, data: &data }.encode(&mut wire).unwrap();
    Packet::Signal(target).encode(&mut wire).unwrap();
    wire
}

fn filter_in_pieces(output: &str, max: usize) -> Vec<Seen> {
    let options = ReadOptions::new().limits(Limits::new().max_size(max));
    in_pieces(output.as_bytes(), |pieces| filtered(&options, pieces.iter().copied()))
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
                assert_eq!(seen.contains(&Seen::error(&text)), is_record, "{max}");
                assert!(is_record || seen == [Seen::text(&output)], "{max}");
            }
        }
        // A truncated document, with and without another one after it.
        for cut in [15, document.len() / 2, document.len() - 1] {
            let cut = &document[..cut];
            for max in limits(document.len()).chain(limits(cut.len())) {
                assert_eq!(filter_in_pieces(cut, max), [Seen::text(cut)], "{max}");
                let both = format!("{cut}{document}.");
                let seen = filter_in_pieces(&both, max);
                if max >= document.len() {
                    let expected = [Seen::text(cut), Seen::error(&text), Seen::text(".")];
                    assert_eq!(seen, expected, "{max}");
                } else {
                    assert_eq!(seen, [Seen::text(&both)], "{max}");
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
            assert!(seen.contains(&Seen::error("a")), "{length} {max}: {seen:?}");
        }
    }
}

/// Bytes allocated by a packet reader, an assembler and a filter for chunked input.
fn allocated(size: usize, piece: usize) -> [usize; 4] {
    let feed = |input: &[u8], take: &mut dyn FnMut(&[u8])| {
        let (usage, ()) = usage(|| input.chunks(piece).for_each(take));
        usage.bytes
    };
    let line = lines(size);
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
