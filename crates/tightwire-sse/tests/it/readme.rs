//! README.md names the crates that its programs use. That they compile is a documentation test.

#[test]
fn readme_adds_the_crates_that_it_uses() {
    let (readme, manifest) = (include_str!("../../README.md"), include_str!("../../Cargo.toml"));
    assert_eq!(test_support::undeclared_crates(readme, manifest), [""; 0]);
    // The test finds something.
    assert_ne!(test_support::undeclared_crates(&readme.replace("cargo add", ""), manifest), [""; 0]);
}
