//! Blocking reader. The decoder cases are in `entry_points`.
#![cfg(feature = "std")]

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use tightwire_sse::{Config, Decoder, Ending, Overflow, Reader};

/// Reader that returns one entry of `script` per read, then the end, and counts reads.
struct Scripted<'a> {
    script: std::vec::IntoIter<Result<&'a str, io::ErrorKind>>,
    reads: &'a Cell<usize>,
}

impl Read for Scripted<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        self.reads.set(self.reads.get() + 1);
        match self.script.next() {
            Some(Ok(text)) => {
                target[..text.len()].copy_from_slice(text.as_bytes());
                Ok(text.len())
            }
            Some(Err(kind)) => Err(kind.into()),
            None => Ok(0),
        }
    }
}

fn scripted<'a>(
    reads: &'a Cell<usize>,
    script: Vec<Result<&'a str, io::ErrorKind>>,
) -> Reader<BufReader<Scripted<'a>>> {
    Reader::new(Scripted { script: script.into_iter(), reads })
}

#[test]
fn an_event_is_returned_without_another_read() {
    let reads = Cell::new(0);
    let mut reader = scripted(&reads, vec![Ok("data: a\n\nda"), Ok("ta: b\r\r")]);
    assert_eq!(reader.next().unwrap().unwrap().data(), "a");
    assert_eq!(reads.get(), 1);
    assert_eq!(reader.next().unwrap().unwrap().data(), "b");
    assert_eq!(reads.get(), 2);
}

#[test]
fn a_reader_does_not_read_after_the_end() {
    let reads = Cell::new(0);
    let mut reader = scripted(&reads, vec![Ok("data: a\n\n")]);
    assert!(reader.next().is_some());
    for _ in 0..3 {
        assert!(reader.next().is_none());
        assert!(reader.next_ref().unwrap().is_none());
    }
    assert_eq!(reads.get(), 2);
}

#[test]
fn a_failed_read_loses_nothing() {
    let reads = Cell::new(0);
    let script = vec![
        Ok("id: 7\ndata: a"),
        Err(io::ErrorKind::Interrupted),
        Err(io::ErrorKind::WouldBlock),
        Ok("b\n\ndata: c\n\n"),
    ];
    let mut reader = scripted(&reads, script);
    let error = reader.next().unwrap().unwrap_err();
    assert!(error.is_transport());
    let source = std::error::Error::source(&error).unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.kind(), io::ErrorKind::WouldBlock);
    let event = reader.next().unwrap().unwrap();
    assert_eq!((event.data(), event.last_event_id()), ("ab", "7"));
    assert_eq!(reader.next_ref().unwrap().unwrap().data(), "c");
    assert!(reader.next().is_none());
}

#[test]
fn owned_and_borrowed_events_can_be_mixed() {
    let input = "data: 1\n\nevent: e\ndata: 2\ndata: 2\n\ndata: 3\n\n";
    let mut reader = Reader::with_buffer_size(4, input.as_bytes());
    assert_eq!(reader.next_ref().unwrap().unwrap().data(), "1");
    let owned = reader.next().unwrap().unwrap();
    assert_eq!((owned.event_type(), owned.data()), ("e", "2\n2"));
    let lent = reader.next_ref().unwrap().unwrap();
    assert_eq!((lent.event_type(), lent.data()), ("message", "3"));
}

#[test]
fn a_buffer_has_at_least_one_byte() {
    let mut reader = Reader::with_buffer_size(0, &b"data: x\n\n"[..]);
    assert_eq!(reader.next().unwrap().unwrap().data(), "x");
}

#[test]
fn into_inner_leaves_the_reader_after_the_event() {
    let mut reader = Reader::from_buffered(&b"data: x\n\nrest"[..]);
    assert!(reader.next_ref().unwrap().is_some());
    assert_eq!(reader.into_inner(), b"rest");
}

#[test]
fn terminate_ends_the_iterator() {
    let config = Config::new().max_event_size(10).overflow(Overflow::Terminate);
    // The input is infinite: continuing would never return.
    let input = io::repeat(b'x');
    let mut reader =
        Reader::new((&b"data: a\n\ndata: "[..]).chain(input)).with_decoder(Decoder::with_config(config));
    assert_eq!(reader.next().unwrap().unwrap().data(), "a");
    assert!(reader.next().unwrap().unwrap_err().is_limit());
    assert!(reader.next().is_none());
    assert!(reader.next_ref().unwrap().is_none());
}

#[test]
fn a_lenient_ending_reports_an_oversized_last_block() {
    let decoder = Decoder::with_config(Config::new().max_event_size(12));
    let mut reader =
        Reader::new(&b"data: 1234\ndata: 567"[..]).with_decoder(decoder).with_ending(Ending::Lenient);
    let first = reader.next().unwrap();
    assert!(first.is_err_and(|error| error.is_limit()));
    assert!(reader.next().is_none());
}

#[test]
fn debug_output_omits_the_input() {
    let mut reader = Reader::new(&b"data: hunter2\n\ndata: hunter2"[..]);
    for _ in 0..2 {
        assert_eq!(reader.next_ref().unwrap().unwrap().data(), "hunter2");
    }
    assert!(reader.next_ref().unwrap().is_none());
    let text = format!("{reader:?}");
    assert!(!text.contains("hunter2"), "{text}");
}
