//! Mistakes in the use of the derive macros, and what the compiler says about them.
//!
//! The tests of what the macros generate are those of `parco`. These are here because trybuild builds all dependencies of
//! the package that it is called from once more, and `parco` has many.

#[test]
fn mistakes_are_pointed_at() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
