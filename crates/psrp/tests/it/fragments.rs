//! Fragments: headers, the reference rules with any chunk sizes, and round trips.

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::fragment::{AssemblerOptions, Fragment, FragmentHeader, Fragmenter};

use crate::fragment_reference::{assemble, check, chunks};

fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let object = prop_oneof![20 => 1..4_u64, 1 => Just(0), 1 => Just(u64::MAX)];
    (object, 0..3_u64, 0..4_u8, vec(any::<u8>(), 0..40)).prop_map(|(object_id, fragment_id, flags, blob)| {
        let (start, end) = (flags & 1 != 0, flags & 2 != 0);
        let mut bytes = Vec::new();
        Fragment { object_id, fragment_id, start, end, blob: blob.into() }.encode(&mut bytes).unwrap();
        bytes
    })
}

fn sizes(message: &[u8], fragment_size: usize) -> Vec<(u64, bool, bool, usize)> {
    let fragments = Fragmenter::new().fragment_size(fragment_size).split(message);
    assert_eq!(fragments.len(), fragments.clone().count());
    fragments.map(|f| (f.fragment_id, f.start, f.end, f.blob.len())).collect()
}

#[test]
fn a_full_fragment_at_the_end_of_a_message_is_the_last() {
    assert_eq!(sizes(&[0; 79], 100), [(0, true, true, 79)]);
    assert_eq!(sizes(&[0; 80], 100), [(0, true, false, 79), (1, false, true, 1)]);
    assert_eq!(sizes(&[0; 158], 100), [(0, true, false, 79), (1, false, true, 79)]);
    assert_eq!(sizes(&[], 100), [(0, true, true, 0)]);
    assert_eq!(sizes(&[0; 2], 0), [(0, true, false, 1), (1, false, true, 1)]);
}

#[test]
fn object_ids_are_never_zero() {
    let mut fragmenter = Fragmenter::new();
    let next_id = |fragmenter: &mut Fragmenter| fragmenter.split(&[]).next().unwrap().object_id;
    fragmenter.set_next_object_id(i64::MAX as u64);
    assert_eq!(next_id(&mut fragmenter), i64::MAX as u64);
    assert_eq!(next_id(&mut fragmenter), 1);
    fragmenter.set_next_object_id(0);
    assert_eq!(next_id(&mut fragmenter), 1);
}

#[test]
fn identifiers_have_63_bits() {
    let header = FragmentHeader {
        object_id: u64::MAX,
        fragment_id: 1 << 63,
        start: true,
        end: false,
        blob_len: 0x0102_0304,
    };
    let mut bytes = header.to_bytes();
    assert_eq!(bytes, *b"\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0\0\0\0\0\x01\x01\x02\x03\x04");
    bytes[0] = 0xFF;
    bytes[16] = 0xFD;
    let header = FragmentHeader::from_bytes(&bytes).unwrap();
    assert_eq!(header.object_id, i64::MAX as u64);
    assert!(header.start && !header.end, "other flags are ignored");
}

#[test]
fn object_0_is_rejected() {
    let mut bytes = [0; FragmentHeader::LEN];
    assert!(FragmentHeader::from_bytes(&bytes).unwrap_err().is_invalid_header());
    bytes[0] = 0x80;
    assert!(FragmentHeader::from_bytes(&bytes).unwrap_err().is_invalid_header());
}

#[test]
fn truncated_fragments_are_rejected() {
    let fragment = Fragment { object_id: 7, fragment_id: 2, start: false, end: true, blob: b"abc".into() };
    let mut bytes = Vec::new();
    fragment.encode(&mut bytes).unwrap();
    for end in 0..bytes.len() {
        assert!(Fragment::decode(&bytes[..end]).unwrap_err().is_unexpected_end());
    }
    bytes.push(9);
    let (decoded, rest) = Fragment::decode(&bytes).unwrap();
    assert_eq!((decoded.into_owned(), rest), (fragment, &[9][..]));
}

proptest! {
    #[test]
    fn any_fragments_follow_the_reference_rules(
        fragments in vec(fragment(), 0..12), cut in any::<usize>(), sizes in vec(1..50_usize, 0..4)
    ) {
        let mut bytes = fragments.concat();
        bytes.truncate(cut % (bytes.len() + 1) * 2);
        check(&bytes, &sizes, 150);
    }

    #[test]
    fn any_bytes_follow_the_reference_rules(bytes in vec(0..4_u8, 0..200), sizes in vec(1..50_usize, 0..4)) {
        check(&bytes, &sizes, 150);
    }

    #[test]
    fn split_messages_are_reassembled(
        messages in vec(vec(any::<u8>(), 0..300), 0..5), size in 0..120_usize, sizes in vec(1..90_usize, 0..4)
    ) {
        let mut wire = Vec::new();
        let mut fragmenter = Fragmenter::new().fragment_size(size);
        for message in &messages {
            fragmenter.encode(message, &mut wire);
        }
        let chunks = chunks(&wire, &sizes);
        let outcome = assemble(AssemblerOptions::new(), &chunks);
        prop_assert_eq!(outcome.messages, messages);
        prop_assert_eq!(outcome.failure, None);
    }
}
