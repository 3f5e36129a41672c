//! The vectors of CLIXML.

mod support;

#[test]
fn t() {
    assert_eq!(support::vectors::value_cases().len(), 178);
    assert_eq!(support::vectors::decode_cases().len(), 126);
}
