//! What the writer makes of values.

mod support;

use proptest::prelude::*;
use psrp::clixml::Writer;
use support::values::any_value;

proptest! {
    #[test]
    fn all_values_are_written(value in any_value()) {
        let mut writer = Writer::new();
        let first = writer.write(&value).unwrap().to_vec();
        prop_assert_eq!(writer.write(&value).unwrap(), first);
    }
}
