//! Random programs of all events of a session.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::session_fuzz;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_programs_keep_all_invariants(program in vec(any::<u8>(), 0..600)) {
        session_fuzz::check(&program);
    }
}
