//! Mistakes in the use of the derive macros, and what the compiler says about them.

#[test]
fn mistakes_are_pointed_at() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
