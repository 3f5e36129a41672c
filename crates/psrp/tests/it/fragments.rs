//! Fragments: conformance vectors, the reference rules with any chunk sizes, and round trips.

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::fragment::{AssemblerOptions, Fragment, Fragmenter};

use crate::fragment_reference::{assemble, check, chunks};
use crate::vectors_wire::{hex, load};

#[test]
fn fragment_vectors_are_accepted_or_rejected() {
    let cases = load("fragments.json");
    let mut seen = 0;
    for case in cases.as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let parts: Vec<_> = case["chunks"].as_array().unwrap().iter().map(hex).collect();
        let all = parts.concat();
        let messages: Vec<_> = case["messages"].as_array().into_iter().flatten().map(hex).collect();
        for sizes in [&[][..], &[1], &[20], &[21, 1], &[22], &[5, 50]] {
            let chunks = if sizes.is_empty() {
                parts.iter().map(|part| &part[..]).collect()
            } else {
                chunks(&all, sizes)
            };
            let outcome = assemble(AssemblerOptions::new(), &chunks);
            match case["expect"].as_str().unwrap() {
                "accept" | "accept_empty" | "incomplete" => {
                    assert_eq!(outcome.failure, None, "{id}");
                    assert_eq!(outcome.messages, messages, "{id}");
                }
                "reject" => {
                    assert!(outcome.failure.is_some(), "{id}");
                    assert_eq!(outcome.messages.len(), 0, "{id}");
                }
                "reject_strict" => assert!(outcome.failure.is_some(), "{id}"),
                "lenient" => match id {
                    // The top bit is ignored, and object 0 is invalid.
                    "object_id_high_bit" => assert!(outcome.failure.is_some()),
                    // PowerShell restarts the message.
                    "duplicate" => assert_eq!(outcome.failure, None),
                    _ => panic!("{id}: unexpected lenient case"),
                },
                other => panic!("{id}: {other}"),
            }
        }
        check(&all, &[7], 1000);
        seen += 1;
    }
    assert!(seen >= 16);
}

#[test]
fn messages_are_split_like_the_vectors() {
    let cases = load("messages.json");
    for case in cases.as_array().unwrap() {
        let name = &case["name"];
        let message = hex(&case["message_hex"]);
        let mut fragmenter = Fragmenter::new();
        fragmenter.set_next_object_id(case["object_id"].as_u64().unwrap());
        let mut one = Vec::new();
        fragmenter.clone().encode(&message, &mut one);
        assert_eq!(one, hex(&case["fragment_hex"]), "{name}");

        let expected: Vec<_> =
            case["fragments_of_100_bytes_hex"].as_array().unwrap().iter().map(hex).collect();
        let encode = |fragment: Fragment<'_>| {
            let mut bytes = Vec::new();
            fragment.encode(&mut bytes).unwrap();
            bytes
        };
        let fragments: Vec<_> = fragmenter.fragment_size(100).split(&message).map(encode).collect();
        assert_eq!(fragments, expected, "{name}");
        let outcome = assemble(AssemblerOptions::new(), &chunks(&expected.concat(), &[13]));
        assert_eq!((outcome.messages, outcome.failure), (vec![message], None));
    }
}

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
