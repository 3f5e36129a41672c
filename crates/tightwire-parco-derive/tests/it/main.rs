//! Compiler errors for incorrect use of the derive macros.
//!
//! The tests of the generated code are in `tightwire-parco`. These tests are in this package because trybuild
//! rebuilds all dependencies of the package that calls it, and `tightwire-parco` has many.

#[test]
fn mistakes_are_pointed_at() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
