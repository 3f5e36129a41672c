//! Parsing cases of JSONTestSuite: files with names that begin with `y_` are JSON, those with `n_` are not, and those
//! with `i_` are optional (RFC 8259 lets a parser choose).
//!
//! Every case runs in every mode. The tests of the crate run the committed cases with every backend and entry point,
//! too.

#[cfg(feature = "json-peers")]
mod peers;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context as _;

use tightwire_json::{Codec, Mode, Value};

/// Expected result, from the name of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Accepted,
    Rejected,
    Optional,
}

struct Case {
    name: String,
    expected: Expected,
    document: Vec<u8>,
}

/// Runs all cases of a folder. Prints failures, and per mode the number of passed cases.
///
/// Returns the numbers of cases that passed in all modes, and of those that failed in one. Peers do not count.
pub(crate) fn run(folder: &Path, out: &mut impl Write) -> anyhow::Result<(usize, usize)> {
    let cases = load(folder)?;
    let mut failed = BTreeSet::new();
    for mode in [Mode::Strict, Mode::Compat, Mode::Fast] {
        failed.extend(examine(mode, &cases, out)?);
    }
    #[cfg(feature = "json-peers")]
    for peer in peers::ALL {
        let (wrong, optional) = compare(&cases, peer.accepts);
        let wrong: Vec<_> = wrong.iter().map(|case| &*case.name).collect();
        let wrong = if wrong.is_empty() { "none".to_owned() } else { wrong.join(" ") };
        writeln!(out, "peer {}: {optional} optional cases accepted; wrong {wrong}", peer.name)?;
    }
    Ok((cases.len() - failed.len(), failed.len()))
}

/// Returns the cases with another result than the expected one, and the number of accepted optional cases.
fn compare(cases: &[Case], accepts: impl Fn(&[u8]) -> bool) -> (Vec<&Case>, usize) {
    let (mut wrong, mut optional) = (Vec::new(), 0);
    for case in cases {
        let accepted = accepts(&case.document);
        match case.expected {
            Expected::Optional => optional += usize::from(accepted),
            expected if accepted != (expected == Expected::Accepted) => wrong.push(case),
            _ => {}
        }
    }
    (wrong, optional)
}

/// Runs all cases in a mode and returns the names of those that failed.
fn examine<'a>(mode: Mode, cases: &'a [Case], out: &mut impl Write) -> anyhow::Result<Vec<&'a str>> {
    let (wrong, optional) = compare(cases, |document| Codec::new(mode).from_slice::<Value>(document).is_ok());
    for case in &wrong {
        let result = if case.expected == Expected::Rejected { "accepted" } else { "rejected" };
        writeln!(out, "FAIL {} ({mode:?}): {result}", case.name)?;
    }
    let passed = cases.len() - wrong.len();
    writeln!(out, "{mode:?}: {passed} of {}, {optional} optional cases accepted", cases.len())?;
    Ok(wrong.into_iter().map(|case| &*case.name).collect())
}

fn load(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let mut cases = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if let Some(expected) = expected(name) {
            let document = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
            cases.push(Case { name: name.to_owned(), expected, document });
        }
    }
    anyhow::ensure!(
        !cases.is_empty(),
        "{} has no files named y_*.json, n_*.json or i_*.json",
        folder.display()
    );
    cases.sort_unstable_by(|left, right| left.name.cmp(&right.name));
    Ok(cases)
}

fn expected(name: &str) -> Option<Expected> {
    let stem = name.strip_suffix(".json")?;
    match stem.get(..2)? {
        "y_" => Some(Expected::Accepted),
        "n_" => Some(Expected::Rejected),
        "i_" => Some(Expected::Optional),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, document: &[u8]) -> Case {
        Case { name: name.to_owned(), expected: expected(name).unwrap(), document: document.to_vec() }
    }

    #[test]
    fn the_name_of_a_file_determines_the_expected_result() {
        assert_eq!(expected("y_array.json"), Some(Expected::Accepted));
        assert_eq!(expected("n_.json"), Some(Expected::Rejected));
        assert_eq!(expected("i_number.json"), Some(Expected::Optional));
        for other in ["x_a.json", "y_a.txt", "y.json", ".json", "é.json"] {
            assert_eq!(expected(other), None, "{other}");
        }
    }

    #[test]
    fn failures_are_reported() {
        let cases =
            [case("y_good.json", b"[1]"), case("n_wrongly_named.json", b"[1]"), case("n_bad.json", b"[")];
        let mut out = Vec::new();
        let failed = examine(Mode::Strict, &cases, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert_eq!(failed, ["n_wrongly_named.json"]);
        assert!(out.ends_with("Strict: 2 of 3, 0 optional cases accepted\n"), "{out}");
    }
}
