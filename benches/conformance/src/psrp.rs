//! Runs the lists of cases in `crates/psrp/tests/data`, or any file in one of their formats. The content determines
//! the format. The recorded session and the key exchange are only run by the tests of the crate.

#[path = "../../../crates/psrp/tests/support/fragment_reference.rs"]
mod fragment_reference;
#[path = "../../../crates/psrp/tests/support/message_round_trip.rs"]
mod message_round_trip;
#[path = "../../../crates/psrp/tests/support/packet_reference.rs"]
mod packet_reference;
#[path = "../../../crates/psrp/tests/support/vector_checks.rs"]
mod vector_checks;
#[path = "../../../crates/psrp/tests/support/vectors.rs"]
mod vectors;
#[path = "../../../crates/psrp/tests/support/vectors_wire.rs"]
mod vectors_wire;

use anyhow::Context as _;
use serde_json::Value as Json;

use crate::Report;

pub(crate) fn run(text: &str) -> anyhow::Result<Report> {
    let cases: Vec<Json> = serde_json::from_str(text)?;
    let check = cases.first().and_then(vector_checks::of);
    let check = check.context("it has none of the formats of these vectors")?;
    let mut report = Report::default();
    for case in &cases {
        let id = case["id"].as_str().or(case["name"].as_str()).unwrap_or("a case without an id");
        report.case(id, || {
            check(case);
            Ok(())
        });
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_told_apart() {
        let text = r#"[
            {"id": "a", "value": {"type": "Nil"}, "reference": "<Nil />"},
            {"id": "b", "value": {"type": "Nil"}, "reference": "<B>true</B>"},
            {"id": "c", "value": {"type": "?"}, "reference": "<Nil />"}
        ]"#;
        let report = run(text).unwrap();
        let failed: Vec<_> = report.failures.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!((report.passed, failed), (1, vec!["b", "c"]));
    }
}
