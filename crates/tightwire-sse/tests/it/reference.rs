//! Comparison of the decoder with a reference implementation, on arbitrary input in arbitrary chunks.

use proptest::prelude::*;

use crate::reference_decoder as reference;

fn fragment() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "(data|event|id|retry|Data|dat|datax|)(: ?|)[a-z0-9 :é\u{2028}]{0,20}".prop_map(String::into_bytes),
        2 => "retry: ?[0-9+]{0,22}".prop_map(String::into_bytes),
        2 => ":.{0,20}".prop_map(String::into_bytes),
        2 => prop::sample::select(&["\n\n", "\r\r", "\r\n\r\n", "\n\r"][..]).prop_map(|end| end.as_bytes().to_vec()),
        4 => prop::sample::select(&["\n", "\r", "\r\n"][..]).prop_map(|end| end.as_bytes().to_vec()),
        1 => Just("\u{feff}".as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
        1 => "data:[a-z\u{e9}]{60,200}\n\n".prop_map(String::into_bytes),
    ]
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(fragment(), 0..40).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn decoding_follows_the_standard(input in stream(), cuts in prop::collection::vec(0u8..30, 0..12)) {
        reference::check_decoding(&input, &cuts);
    }

    #[test]
    fn limits_do_not_depend_on_the_chunks(
        input in stream(),
        cuts in prop::collection::vec(0u8..200, 0..12),
        limit in 1_usize..300,
    ) {
        reference::check_limit(&input, &cuts, limit);
    }

    #[test]
    fn decoded_events_round_trip(input in stream(), cuts in prop::collection::vec(0u8..30, 0..12)) {
        reference::check_round_trip(&input, &cuts);
    }
}
