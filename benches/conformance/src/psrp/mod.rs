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

use anyhow::Context as _;
use serde_json::Value as Json;

use crate::Report;

/// Runs one case.
type Examine = fn(&Json) -> anyhow::Result<()>;

/// Runs every case of a file.
pub(crate) fn run(text: &str) -> anyhow::Result<Report> {
    let cases: Vec<Json> = serde_json::from_str(text)?;
    let examine = cases.first().and_then(format).context("it has none of the formats of these vectors")?;
    let mut report = Report::default();
    for case in &cases {
        let id = case["id"].as_str().or(case["name"].as_str()).unwrap_or("a case without an id");
        report.case(id, || examine(case));
    }
    Ok(report)
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
