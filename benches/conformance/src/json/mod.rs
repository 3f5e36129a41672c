//! The parsing cases of JSONTestSuite. Files named `y_*` are valid JSON, files named `n_*` are invalid, and RFC 8259
//! lets a parser decide about files named `i_*`.
//!
//! Every file goes through every mode, backend and entry point. For `i_*` files, all backends and entry points of a
//! mode must agree.

#[cfg(feature = "json-peers")]
mod peers;
mod subject;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context as _;

use subject::Subject;

/// The verdict that the name of a file demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Accepted,
    Refused,
    Open,
}

/// One file.
struct Case {
    name: String,
    expected: Expected,
    document: Vec<u8>,
}

/// Runs every case of a folder. Lists deviations, and for each subject the number of correct cases.
///
/// Returns the numbers of our cases that passed everywhere and that failed somewhere.
///
/// # Errors
///
/// Fails if the folder cannot be read or has no case, or if the output cannot be written.
pub(crate) fn run(folder: &Path, out: &mut impl Write) -> anyhow::Result<(usize, usize)> {
    let cases = load(folder)?;
    let mut failed = BTreeSet::new();
    for subject in subject::all() {
        failed.extend(examine(&subject, &cases, out)?);
    }
    #[cfg(feature = "json-peers")]
    run_peers(&cases, out)?;
    Ok((cases.len() - failed.len(), failed.len()))
}

#[cfg(feature = "json-peers")]
fn run_peers(cases: &[Case], out: &mut impl Write) -> std::io::Result<()> {
    for peer in peers::ALL {
        let (mut wrong, mut open) = (Vec::new(), 0);
        for case in cases {
            let accepted = (peer.accepts)(&case.document);
            match case.expected {
                Expected::Open => open += usize::from(accepted),
                expected if accepted != (expected == Expected::Accepted) => wrong.push(&*case.name),
                _ => {}
            }
        }
        let wrong = if wrong.is_empty() { "none".to_owned() } else { wrong.join(" ") };
        writeln!(out, "peer {}: {open} open cases accepted; wrong {wrong}", peer.name)?;
    }
    Ok(())
}

/// Runs a subject and returns the names of the cases that it failed.
fn examine<'a>(subject: &Subject, cases: &'a [Case], out: &mut impl Write) -> anyhow::Result<Vec<&'a str>> {
    let (mut failed, mut accepted_open) = (Vec::new(), 0);
    for case in cases {
        let accepted = subject.accepts(&case.document);
        let right = match case.expected {
            Expected::Accepted => accepted,
            Expected::Refused => !accepted,
            Expected::Open => {
                accepted_open += usize::from(accepted);
                accepted == subject.reference().accepts(&case.document)
            }
        };
        if right {
            continue;
        }
        let verdict = if accepted { "accepted" } else { "refused" };
        if subject.is_trusting() {
            writeln!(out, "documented {} ({subject}): {verdict}", case.name)?;
        } else {
            writeln!(out, "FAIL {} ({subject}): {verdict}", case.name)?;
            failed.push(&*case.name);
        }
    }
    let right = cases.len() - failed.len();
    writeln!(out, "{subject}: {right} of {}, {accepted_open} open cases accepted", cases.len())?;
    Ok(failed)
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
        "n_" => Some(Expected::Refused),
        "i_" => Some(Expected::Open),
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
    fn names_tell_what_to_expect() {
        assert_eq!(expected("y_array.json"), Some(Expected::Accepted));
        assert_eq!(expected("n_.json"), Some(Expected::Refused));
        assert_eq!(expected("i_number.json"), Some(Expected::Open));
        for other in ["x_a.json", "y_a.txt", "y.json", ".json", "é.json"] {
            assert_eq!(expected(other), None, "{other}");
        }
    }

    #[test]
    fn cases_are_told_apart() {
        let cases =
            [case("y_good.json", b"[1]"), case("n_wrongly_named.json", b"[1]"), case("n_bad.json", b"[")];
        for subject in subject::all() {
            let mut out = Vec::new();
            let failed = examine(&subject, &cases, &mut out).unwrap();
            let out = String::from_utf8(out).unwrap();
            if !subject.is_trusting() {
                assert_eq!(failed, ["n_wrongly_named.json"]);
                assert!(out.ends_with(&format!("{subject}: 2 of 3, 0 open cases accepted\n")), "{out}");
            }
        }
    }

    #[test]
    fn open_cases_need_one_answer() {
        let cases =
            [case("i_wide.json", b"[123123123123123123123123123123]"), case("i_lone.json", b"[\"\\uD800\"]")];
        for subject in subject::all().into_iter().filter(|subject| !subject.is_trusting()) {
            assert!(examine(&subject, &cases, &mut Vec::new()).unwrap().is_empty(), "{subject}");
        }
    }
}
