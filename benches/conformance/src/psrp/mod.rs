//! Runs the lists of cases in `crates/psrp/tests/data`, or any file in one of their formats. The content determines
//! the format. The recorded session and the key exchange are only run by the tests of the crate.

mod clixml;
mod wire;

#[path = "../../../../crates/psrp/tests/support/fragment_reference.rs"]
mod fragment_reference;
#[path = "../../../../crates/psrp/tests/support/message_round_trip.rs"]
mod message_round_trip;
#[path = "../../../../crates/psrp/tests/support/packet_reference.rs"]
mod packet_reference;
#[path = "../../../../crates/psrp/tests/support/vectors.rs"]
mod vectors;
#[path = "../../../../crates/psrp/tests/support/vectors_wire.rs"]
mod vectors_wire;

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value as Json;

/// Runs one case.
type Examine = fn(&Json) -> anyhow::Result<()>;

/// Runs every case of a file through `psrp`. Lists failing cases.
///
/// Returns the numbers of passed and failed cases.
pub(crate) fn run(path: &Path, out: &mut impl Write) -> anyhow::Result<(usize, usize)> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let file: Json = serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))?;
    let mut report = Report::default();
    let cases = file.as_array().map(Vec::as_slice).unwrap_or_default();
    let examine = cases
        .first()
        .and_then(format)
        .with_context(|| format!("{} has none of the formats of these vectors", path.display()))?;
    for case in cases {
        let id = case["id"].as_str().or(case["name"].as_str()).unwrap_or("a case without an id");
        report.case(id, || examine(case));
    }
    for (id, problem) in &report.failures {
        writeln!(out, "FAIL {id}: {problem}")?;
    }
    Ok((report.passed, report.failures.len()))
}

/// Returns the function for the cases of a list, according to the fields of the first one.
fn format(case: &Json) -> Option<Examine> {
    let formats: [(&str, Examine); 5] = [
        ("reference", clixml::value),
        ("xml", clixml::document),
        ("message_hex", wire::message),
        ("chunks", wire::fragments),
        ("line", wire::packet),
    ];
    formats.into_iter().find(|(member, _)| case.get(member).is_some()).map(|(_, examine)| examine)
}

/// Results of a file.
#[derive(Default)]
struct Report {
    passed: usize,
    /// The ids of the failed cases, each with the reason.
    failures: Vec<(String, String)>,
}

impl Report {
    /// Runs and counts a case. A panic counts as a failure, because the modules shared with the tests of the crate
    /// panic if a check fails.
    fn case(&mut self, id: &str, examine: impl FnOnce() -> anyhow::Result<()>) {
        let problem = match catch_unwind(AssertUnwindSafe(examine)) {
            Ok(Ok(())) => {
                self.passed += 1;
                return;
            }
            Ok(Err(error)) => format!("{error:#}"),
            Err(panic) => text(&*panic),
        };
        self.failures.push((id.to_owned(), problem));
    }
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("panicked").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_told_apart() {
        let right = serde_json::json!({"id": "a", "value": {"type": "Nil"}, "reference": "<Nil />"});
        let wrong = serde_json::json!({"id": "b", "value": {"type": "Nil"}, "reference": "<B>true</B>"});
        let broken = serde_json::json!({"id": "c", "value": {"type": "?"}, "reference": "<Nil />"});
        let examine = format(&right).unwrap();
        let mut report = Report::default();
        for case in [right, wrong, broken] {
            report.case(case["id"].as_str().unwrap(), || examine(&case));
        }
        let failed: Vec<_> = report.failures.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!((report.passed, failed), (1, vec!["b", "c"]));
    }
}
