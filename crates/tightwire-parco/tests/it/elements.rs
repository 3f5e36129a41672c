//! Collections that are written and read in parts.
#![cfg(all(feature = "std", feature = "derive"))]

use std::collections::BTreeMap;
use std::io;

use test_support::counting::{peak, usage};
use tightwire_parco::{
    Decode, Decoder, Encode, Encoder, Limits, Options, Segment, decode_exact, decode_from_reader,
    encode_to_writer, to_vec,
};

/// A struct with a length before its fields and one without.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
struct Row {
    id: u32,
    name: String,
    point: Point,
}

#[derive(Clone, Debug, PartialEq, Encode, Decode)]
#[parco(evolve)]
struct Point {
    x: i16,
    y: i16,
}

fn rows(count: u32) -> impl ExactSizeIterator<Item = Row> {
    (0..count).map(|id| {
        let name = "x".repeat(id as usize % 300);
        Row { id, name, point: Point { x: 1, y: -1 } }
    })
}

fn encoded<T: Encode>(elements: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>) -> Vec<u8> {
    let mut encoder = Encoder::new(Vec::new());
    let len = encoder.encode_elements(elements).unwrap();
    let bytes = encoder.into_inner();
    assert_eq!(len, bytes.len());
    bytes
}

#[test]
fn bytes_are_those_of_the_collection() {
    for count in [0, 1, 3, 127, 128, 10_000] {
        let list: Vec<Row> = rows(count).collect();
        assert_eq!(encoded(rows(count)), to_vec(&list).unwrap(), "{count} rows");
    }
    assert_eq!(encoded([(), ()]), [2]);
    let map = BTreeMap::from([(1u8, "a"), (2, "b")]);
    assert_eq!(encoded(&map), to_vec(&map).unwrap());
    // The last field of a struct.
    let mut encoder = Encoder::new(Vec::new());
    encoder.encode(&("title", 7u8)).unwrap();
    encoder.encode_elements([1u16, 2]).unwrap();
    assert_eq!(encoder.into_inner(), to_vec(&("title", 7u8, vec![1u16, 2])).unwrap());
}

#[test]
fn elements_are_those_that_were_written() {
    for count in [0, 1, 127, 128, 10_000] {
        let stream = [encoded(rows(count)), encoded([7u8]), vec![9]].concat();
        let mut decoder = Decoder::new(&stream[..]);
        let mut elements = decoder.decode_elements::<Row>().unwrap().unwrap();
        for row in rows(count) {
            assert_eq!(elements.next().unwrap().unwrap(), row);
        }
        assert!(elements.next().is_none());
        drop(elements);
        assert_eq!(decoder.decode::<Vec<u8>>().unwrap(), Some(vec![7]));
        assert_eq!(decoder.into_inner(), [9]);
    }
    let mut decoder = Decoder::new(&[3u8][..]);
    assert_eq!(decoder.decode_elements::<()>().unwrap().unwrap().count(), 3);
    assert!(decoder.decode_elements::<()>().unwrap().is_none());
}

/// A stream that fails before each byte.
struct Slow<'a> {
    bytes: &'a [u8],
    is_ready: bool,
}

impl io::Read for Slow<'_> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        self.is_ready = !self.is_ready;
        if self.is_ready { Err(io::ErrorKind::WouldBlock.into()) } else { self.bytes.read(&mut target[..1]) }
    }
}

#[test]
fn reading_continues_after_timeouts() {
    let stream = encoded(rows(20));
    let mut decoder = Decoder::new(Slow { bytes: &stream, is_ready: true });
    let (mut found, mut timeouts) = (Vec::new(), 0);
    for row in decoder.decode_elements::<Row>().unwrap().unwrap() {
        match row {
            Ok(row) => found.push(row),
            Err(error) => {
                assert!(error.is_io(), "{error}");
                timeouts += 1;
            }
        }
    }
    assert_eq!(found, rows(20).collect::<Vec<_>>());
    assert!(timeouts > 0);
}

#[test]
fn an_invalid_element_follows_the_valid_ones() {
    // The last of three flags is invalid; the next value is not reached.
    let mut decoder = Decoder::new(&[3, 1, 0, 9, 1, 1][..]);
    let mut elements = decoder.decode_elements::<bool>().unwrap().unwrap();
    assert_eq!((elements.next().unwrap().unwrap(), elements.next().unwrap().unwrap()), (true, false));
    let error = elements.next().unwrap().unwrap_err();
    assert!(error.is_invalid_bool());
    assert_eq!((error.path(), error.offset()), (&[Segment::Index(2)][..], Some(3)));
    assert!(elements.next().is_none());
    drop(elements);
    assert!(decoder.decode::<u8>().unwrap_err().is_invalid_bool());

    // A text is only checked when it is decoded.
    let mut decoder = Decoder::new(&[2, 1, 0xff, 1, b'a'][..]);
    let mut elements = decoder.decode_elements::<String>().unwrap().unwrap();
    let error = elements.next().unwrap().unwrap_err();
    assert!(error.is_invalid_utf8());
    assert_eq!((error.path(), error.offset()), (&[Segment::Index(0)][..], Some(2)));
    assert!(elements.next().is_none());

    let mut decoder = Decoder::new(&[2, 1][..]);
    let mut elements = decoder.decode_elements::<u8>().unwrap().unwrap();
    assert_eq!(elements.next().unwrap().unwrap(), 1);
    assert!(elements.next().unwrap().unwrap_err().is_unexpected_end());
    assert!(elements.next().is_none());
}

#[test]
fn a_decoder_does_not_continue_inside_of_a_collection() {
    let mut decoder = Decoder::new(&[2, 1, 2, 3][..]);
    let first = decoder.decode_elements::<u8>().unwrap().unwrap().next();
    assert_eq!(first.unwrap().unwrap(), 1);
    assert!(decoder.decode::<u8>().unwrap_err().is_trailing_bytes());
}

#[test]
fn an_encoder_that_wrote_a_part_stays_failed() {
    struct Liar(usize);

    impl Iterator for Liar {
        type Item = u64;

        fn next(&mut self) -> Option<u64> {
            self.0 = self.0.checked_sub(1)?;
            Some(7)
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            (5000, Some(5000))
        }
    }

    impl ExactSizeIterator for Liar {}

    for (count, is_partial) in [(4, false), (4999, true), (5001, true)] {
        let mut encoder = Encoder::new(Vec::new());
        assert!(encoder.encode_elements(Liar(count)).unwrap_err().is_invalid_length());
        assert_eq!(encoder.encode(&1u8).is_err_and(|error| error.is_io()), is_partial, "{count}");
    }
    let small = Options::new().limits(Limits::new().max_elements(2).max_bytes(3));
    let mut encoder = Encoder::with_options(Vec::new(), small);
    assert!(encoder.encode_elements([1u16, 2, 3]).unwrap_err().is_limit());
    let error = encoder.encode_elements(["abc", "abcd"]).unwrap_err();
    assert!(error.is_limit());
    assert_eq!(error.path(), [Segment::Index(1)]);
    assert_eq!(encoder.encode(&1u8).unwrap(), 1);
    let mut decoder = Decoder::with_options(&[3, 1, 0, 2, 0, 3, 0][..], small);
    assert!(decoder.decode_elements::<u16>().unwrap_err().is_limit());
}

/// Ten megabytes of elements: a list in memory would be one allocation of that size.
#[test]
fn memory_is_constant() {
    const COUNT: u32 = 100_000;

    let (used, len) =
        usage(|| Encoder::new(io::sink()).encode_elements((0..COUNT).map(|id| [u64::from(id); 12])).unwrap());
    assert!(len > 9 << 20, "{len} bytes");
    assert!(used.largest < 64 << 10, "{used:?}");

    let stream = encoded((0..COUNT).map(|id| [u64::from(id); 12]));
    let (used, sum) = usage(|| {
        let mut decoder = Decoder::new(&stream[..]);
        let elements = decoder.decode_elements::<[u64; 12]>().unwrap().unwrap();
        elements.map(|element| element.unwrap()[11]).sum::<u64>()
    });
    assert_eq!(sum, u64::from(COUNT) * u64::from(COUNT - 1) / 2);
    assert!(used.largest < 64 << 10 && used.bytes < 1 << 20, "{used:?}");
}

/// Records the size of each write.
#[derive(Default)]
struct Writes {
    bytes: Vec<u8>,
    sizes: Vec<usize>,
}

impl io::Write for Writes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend(bytes);
        self.sizes.push(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn long_lists_are_written_and_read_in_parts() {
    for count in [64, 65, 1000, 20_000] {
        let list: Vec<Row> = rows(count).collect();
        let mut writes = Writes::default();
        let len = encode_to_writer(&list, &mut writes).unwrap();
        let bytes = to_vec(&list).unwrap();
        assert!(writes.bytes == bytes && len == bytes.len(), "{count} rows");
        assert_eq!(writes.sizes.len() > 1, bytes.len() > 128 << 10, "{count} rows");
        assert!(writes.sizes.iter().all(|size| *size < 256 << 10), "{:?}", writes.sizes);

        let stream = [&bytes[..], &[9]].concat();
        let mut rest = &stream[..];
        assert_eq!(decode_from_reader::<Vec<Row>>(&mut rest).unwrap(), list);
        assert_eq!(rest, [9]);
    }
    let numbers: Vec<u32> = (0..100_000).collect();
    let mut writes = Writes::default();
    encode_to_writer(&numbers[..], &mut writes).unwrap();
    assert_eq!(decode_from_reader::<Vec<u32>>(&writes.bytes[..]).unwrap(), numbers);
    let units = vec![(); 4096];
    assert_eq!(decode_from_reader::<Vec<()>>(&to_vec(&units).unwrap()[..]).unwrap(), units);
}

/// Errors in any part have the path and offset that they have in a slice.
#[test]
fn errors_in_parts_are_those_of_the_whole() {
    const INDEX: usize = 15_001;

    let mut list: Vec<Row> = rows(20_000).collect();
    let bytes = to_vec(&list).unwrap();
    let before: usize = list[..INDEX].iter().map(|row| to_vec(row).unwrap().len()).sum();
    // Behind the number of rows, which has three bytes, an id and the length of the name.
    let name = 3 + before + 4 + 1;
    for (at, byte) in [(name, 0xff), (name + 1, 9), (name + 1, 1)] {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        let whole = decode_exact::<Vec<Row>>(&bytes);
        let parts = decode_from_reader::<Vec<Row>>(&bytes[..]);
        // A longer or shorter struct than its fields moves the rows after it.
        if byte == 0xff {
            let (whole, parts) = (whole.unwrap_err(), parts.unwrap_err());
            assert_eq!(whole.to_string(), parts.to_string());
            assert_eq!(parts.path(), [Segment::Index(INDEX), Segment::Field("name")]);
        } else {
            assert_eq!(whole.is_ok(), parts.is_ok());
        }
    }
    let error = decode_from_reader::<Vec<Row>>(&bytes[..name]).unwrap_err();
    assert!(error.is_unexpected_end());
    assert_eq!(error.path(), [Segment::Index(INDEX), Segment::Field("name")]);
    assert_eq!(error.offset(), Some(name));

    list[INDEX].name = "x".repeat(1000);
    let options = Options::new().limits(Limits::new().max_bytes(999));
    let whole = options.to_vec(&list).unwrap_err();
    let mut encoder = Encoder::with_options(io::sink(), options);
    let parts = encoder.encode(&list).unwrap_err();
    assert_eq!(whole.to_string(), parts.to_string());
    assert_eq!(parts.path(), [Segment::Index(INDEX), Segment::Field("name")]);
    assert!(encoder.encode(&1u8).unwrap_err().is_io(), "a part was written");

    // Limits hold for the sum of the parts.
    let options = Options::new().limits(Limits::new().max_allocation(2 << 20));
    assert!(Encoder::with_options(io::sink(), options).encode(&list).unwrap_err().is_limit());
}

/// Only the list is in memory, not its bytes.
#[test]
fn memory_does_not_grow_with_long_lists() {
    let list: Vec<String> = (0..2000).map(|_| "x".repeat(5000)).collect();
    let bytes = to_vec(&list).unwrap();
    let written = peak(|| {
        encode_to_writer(&list, io::sink()).unwrap();
    });
    assert!(written < 512 << 10, "{written} bytes");
    let read = peak(|| {
        decode_from_reader::<Vec<String>>(&bytes[..]).unwrap();
    });
    assert!(read < bytes.len() + (1 << 20), "{read} bytes");
}
