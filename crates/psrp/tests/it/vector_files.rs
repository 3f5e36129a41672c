//! Every case of the files in `tests/data` passes its check.

use std::panic::catch_unwind;

use crate::vector_checks;
use crate::vectors_wire::load;

#[test]
fn every_case_passes() {
    let mut failed = Vec::new();
    for (file, count) in [
        ("clixml-values.json", 178),
        ("clixml-decode.json", 126),
        ("messages.json", 64),
        ("fragments.json", 16),
        ("outofproc.json", 24),
    ] {
        let cases = load(file);
        let cases = cases.as_array().unwrap();
        assert_eq!(cases.len(), count, "{file}");
        let check = vector_checks::of(&cases[0]).unwrap();
        failed.extend(cases.iter().filter(|case| catch_unwind(|| check(case)).is_err()).cloned());
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
