//! Fragments: the reference rules with any chunk sizes, and round trips.

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::fragment::{AssemblerOptions, Fragment, Fragmenter};

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
