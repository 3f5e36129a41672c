//! Random programs of everything that can happen to a session.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::session_twin;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_breaks_what_has_to_hold(program in vec(any::<u8>(), 0..600)) {
        session_twin::check(&program);
    }
}
