//! Records of vulnerabilities and malware in the OSV format (schema 1.7): parsing, and matching of versions.

use std::cmp::Ordering;
use std::str::FromStr as _;
use std::sync::Arc;

use pep440_rs::Version;
use serde::Deserialize;

use crate::error::Kind;
use crate::{Error, ProjectName};

/// A record in the OSV format: the versions of Python projects that are malware or have a vulnerability.
///
/// Packages of other ecosystems, and ranges of commits (`GIT`), are ignored.
///
/// ```
/// use pypi_proxy::ProjectName;
/// use pypi_proxy::rules::OsvRecord;
///
/// let record = OsvRecord::parse(br#"{"id": "MAL-2024-1", "affected": [{
///     "package": {"ecosystem": "PyPI", "name": "Demo"},
///     "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "1.1"}, {"fixed": "1.3"}]}]}]}"#)?;
/// let name = ProjectName::parse("demo")?;
/// assert!(record.is_malware());
/// assert!(record.is_match(&name, "1.2") && !record.is_match(&name, "1.3"));
/// # Ok::<(), pypi_proxy::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct OsvRecord {
    id: Arc<str>,
    is_withdrawn: bool,
    pub(super) affected: Vec<(ProjectName, Arc<Coverage>)>,
}

impl OsvRecord {
    /// Parses a record. An entry of `affected` without versions and ranges covers all versions.
    ///
    /// # Errors
    ///
    /// Fails if the document is not JSON in UTF-8, is nested more than 128 levels, has no id, or has a Python project
    /// with an invalid name or a range with a malformed version (PEP 440) ([`Error::is_config`]).
    pub fn parse(document: &[u8]) -> Result<Self, Error> {
        let malformed = |text: String| Error::with(Kind::Config, format!("malformed OSV record: {text}"));
        let record: Record =
            tightwire_json::from_slice(document).map_err(|error| malformed(error.to_string()))?;
        if record.id.is_empty() {
            return Err(malformed("the id is empty".into()));
        }
        let mut affected = Vec::new();
        for entry in record.affected.unwrap_or_default() {
            let package = entry.package.as_ref().filter(|package| package.is_python());
            let Some(package) = package else { continue };
            let name =
                ProjectName::parse(&package.name).map_err(|_| malformed("invalid project name".into()))?;
            let coverage = Coverage::of(&entry)
                .ok_or_else(|| malformed(format!("a range of {name} has a malformed version")))?;
            affected.push((name, Arc::new(coverage)));
        }
        Ok(Self { id: record.id.into(), is_withdrawn: record.withdrawn.is_some(), affected })
    }

    /// Returns the id, such as `MAL-2024-1`.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn shared_id(&self) -> Arc<str> {
        self.id.clone()
    }

    /// Returns whether the record was withdrawn, so that it no longer applies.
    pub fn is_withdrawn(&self) -> bool {
        self.is_withdrawn
    }

    /// Returns whether the record is about malware: its id starts with `MAL-`.
    pub fn is_malware(&self) -> bool {
        self.id.starts_with("MAL-")
    }

    /// Returns whether the record covers this version of the project, regardless of its withdrawal. A malformed version
    /// is covered only if all versions are.
    pub fn is_match(&self, project: &ProjectName, version: &str) -> bool {
        let version = Version::from_str(version).ok();
        let mut affected = self.affected.iter().filter(|(name, _)| name == project);
        affected.any(|(_, coverage)| coverage.has(version.as_ref()))
    }
}

#[derive(Deserialize)]
struct Record {
    id: String,
    withdrawn: Option<String>,
    affected: Option<Vec<Affected>>,
}

#[derive(Deserialize)]
struct Affected {
    package: Option<Package>,
    versions: Option<Vec<String>>,
    ranges: Option<Vec<Range>>,
}

#[derive(Deserialize)]
struct Package {
    ecosystem: String,
    name: String,
}

impl Package {
    fn is_python(&self) -> bool {
        self.ecosystem.split(':').next() == Some("PyPI")
    }
}

#[derive(Deserialize)]
struct Range {
    #[serde(rename = "type")]
    kind: String,
    events: Option<Vec<Event>>,
}

#[derive(Deserialize)]
struct Event {
    introduced: Option<String>,
    fixed: Option<String>,
    last_affected: Option<String>,
    limit: Option<String>,
}

/// Versions of a project that a record covers.
#[derive(Debug)]
pub(super) struct Coverage {
    spans: Vec<Span>,
    /// Sorted versions outside of the spans.
    versions: Vec<Version>,
}

/// A range of versions.
#[derive(Debug)]
struct Span {
    /// In the order of the versions; `None` is the start of all versions.
    events: Vec<(Option<Version>, Effect)>,
    /// The first version that is not in the range.
    limit: Option<Version>,
}

/// Effect of an event on the versions from it on, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Introduced,
    Fixed,
    LastAffected,
}

impl Span {
    /// Follows the algorithm in the documentation of the schema.
    fn has(&self, version: &Version) -> bool {
        let is_affected = self.events.iter().fold(false, |is_affected, (at, effect)| {
            match (effect, at.as_ref().map_or(Ordering::Greater, |at| version.cmp(at))) {
                (_, Ordering::Less) | (Effect::LastAffected, Ordering::Equal) => is_affected,
                (effect, _) => *effect == Effect::Introduced,
            }
        });
        is_affected && self.limit.as_ref().is_none_or(|limit| version < limit)
    }

    fn is_all(&self) -> bool {
        let is_open = self.events.iter().all(|(_, effect)| *effect == Effect::Introduced);
        is_open && self.limit.is_none() && self.events.first().is_some_and(|(at, _)| at.is_none())
    }
}

impl Coverage {
    /// Returns `None` if a range has a malformed version.
    fn of(entry: &Affected) -> Option<Self> {
        let (versions, ranges) = (entry.versions.as_deref(), entry.ranges.as_deref());
        let (versions, ranges) = (versions.unwrap_or_default(), ranges.unwrap_or_default());
        if versions.is_empty() && ranges.is_empty() {
            let all = Span { events: vec![(None, Effect::Introduced)], limit: None };
            return Some(Self { spans: vec![all], versions: Vec::new() });
        }
        let ranges = ranges.iter().filter(|range| range.kind != "GIT");
        let spans = ranges.map(Range::span).collect::<Option<Vec<_>>>()?;
        // Versions that do not follow PEP 440 can't be installed. Most lists repeat what the ranges cover.
        let is_other = |version: &Version| !spans.iter().any(|span| span.has(version));
        let mut versions: Vec<_> =
            versions.iter().filter_map(|text| Version::from_str(text).ok()).filter(is_other).collect();
        versions.sort_unstable();
        versions.dedup();
        Some(Self { spans, versions })
    }

    /// Returns whether a version is covered. An unknown version is covered only if all are.
    pub(super) fn has(&self, version: Option<&Version>) -> bool {
        match version {
            Some(version) => {
                self.versions.binary_search(version).is_ok()
                    || self.spans.iter().any(|span| span.has(version))
            }
            None => self.spans.iter().any(Span::is_all),
        }
    }
}

impl Range {
    /// Returns `None` if a version is malformed.
    fn span(&self) -> Option<Span> {
        let (mut events, mut limit, mut is_unlimited) = (Vec::new(), None, false);
        for event in self.events.as_deref().unwrap_or_default() {
            let effects = [
                (&event.introduced, Effect::Introduced),
                (&event.fixed, Effect::Fixed),
                (&event.last_affected, Effect::LastAffected),
            ];
            for (text, effect) in effects {
                match text.as_deref() {
                    None => {}
                    // The start of all versions.
                    Some("0") if effect != Effect::LastAffected => events.push((None, effect)),
                    Some(text) => events.push((Some(Version::from_str(text).ok()?), effect)),
                }
            }
            // A version below any of the limits is in the range.
            match event.limit.as_deref() {
                None => {}
                Some("*") => is_unlimited = true,
                Some(text) => limit = limit.max(Some(Version::from_str(text).ok()?)),
            }
        }
        // The sort is stable, so that events at the same version apply in the order of the record.
        events.sort_by(|(left, _), (right, _)| left.cmp(right));
        Some(Span { events, limit: limit.filter(|_| !is_unlimited) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tightwire_json::{Value, json};

    use super::*;

    fn record(affected: Value) -> Result<OsvRecord, Error> {
        OsvRecord::parse(json!({"id": "MAL-1", "affected": [affected]}).to_string().as_bytes())
    }

    fn range(events: Value) -> Value {
        json!({"package": {"ecosystem": "PyPI", "name": "Demo"}, "ranges": [{"type": "ECOSYSTEM", "events": events}]})
    }

    fn covered(affected: Value, versions: &[&str]) -> Vec<String> {
        let (record, name) = (record(affected).unwrap(), ProjectName::parse("demo").unwrap());
        versions
            .iter()
            .filter(|version| record.is_match(&name, version))
            .map(|&text| text.to_owned())
            .collect()
    }

    #[test]
    fn versions_are_matched_as_the_schema_defines() {
        let all = ["0.dev1", "0", "1.0", "1.5", "2.0rc1", "2.0", "2.0.post1", "3.0", "1!0", "unknown"];
        let package = json!({"ecosystem": "PyPI", "name": "Demo"});
        for (affected, expected) in [
            (json!({"package": package, "versions": ["1", "3.0.0", "legacy-x"]}), &["1.0", "3.0"][..]),
            (range(json!([{"introduced": "0"}])), &all),
            (json!({"package": package}), &all),
            (json!({"package": package, "versions": [], "ranges": null}), &all),
            (range(json!([{"introduced": "0"}, {"fixed": "1.5"}])), &["0.dev1", "0", "1.0"]),
            // In any order.
            (
                range(
                    json!([{"fixed": "1.5"}, {"introduced": "2.0"}, {"introduced": "0"}, {"fixed": "3.0"}]),
                ),
                &["0.dev1", "0", "1.0", "2.0", "2.0.post1"],
            ),
            (
                range(json!([{"introduced": "1.0"}, {"last_affected": "2.0"}])),
                &["1.0", "1.5", "2.0rc1", "2.0"],
            ),
            (range(json!([{"introduced": "1.0"}, {"last_affected": "1.0"}])), &["1.0"]),
            (range(json!([{"introduced": "1.0"}, {"fixed": "1.0"}])), &[]),
            (range(json!([{"introduced": "1.5"}, {"limit": "2.0"}])), &["1.5", "2.0rc1"]),
            (range(json!([{"introduced": "3.0"}, {"limit": "*"}])), &["3.0", "1!0"]),
            (range(json!([{"fixed": "1.0"}])), &[]),
            (range(json!([])), &[]),
            (
                json!({"package": package, "ranges": [{"type": "GIT", "events": [{"introduced": "abc"}]}]}),
                &[],
            ),
            (json!({"package": {"ecosystem": "npm", "name": "@demo/x"}}), &[]),
            (json!({"package": {"ecosystem": "PyPI", "name": "other"}}), &[]),
            (json!({"versions": ["1.0"]}), &[]),
        ] {
            let text = affected.to_string();
            assert_eq!(covered(affected, &all), expected, "{text}");
        }
        let both = json!({"package": package, "versions": ["1.0", "1.5"],
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "1.2"}, {"fixed": "2"}]}]});
        let parsed = record(both.clone()).unwrap();
        assert_eq!(parsed.affected[0].1.versions.len(), 1);
        assert_eq!(covered(both, &all), ["1.0", "1.5", "2.0rc1"]);
    }

    #[test]
    fn ids_and_withdrawals_are_read() {
        for (document, is_malware, is_withdrawn) in [
            (r#"{"id":"MAL-2024-1","summary":[{"x":1}]}"#, true, false),
            (r#"{"id":"PYSEC-1","withdrawn":"2024-01-01T00:00:00Z","affected":[]}"#, false, true),
            (r#"{"id":"GHSA-1","withdrawn":null,"affected":null}"#, false, false),
        ] {
            let record = OsvRecord::parse(document.as_bytes()).unwrap();
            assert_eq!(
                (record.is_malware(), record.is_withdrawn()),
                (is_malware, is_withdrawn),
                "{document}"
            );
        }
    }

    #[test]
    fn malformed_records_are_errors() {
        let deep = format!(r#"{{"id":"x","more":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
        for document in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"id":""}"#,
            r#"{"id":1}"#,
            r#"{"id":"x","affected":{}}"#,
            r#"{"id":"x","affected":[{"package":{"ecosystem":"PyPI","name":"a b"}}]}"#,
            r#"{"id":"x","affected":[{"package":{"ecosystem":"PyPI"}}]}"#,
            r#"{"id":"x","id":"y"}"#,
            &deep,
        ] {
            let error = OsvRecord::parse(document.as_bytes()).unwrap_err();
            assert!(error.is_config() && error.to_string().contains("malformed OSV record"), "{error}");
        }
        assert!(OsvRecord::parse(b"{\"id\":\"\xff\"}").is_err());
        let error = record(range(json!([{"introduced": "one"}]))).unwrap_err();
        assert!(error.to_string().ends_with("a range of demo has a malformed version"), "{error}");
        assert!(record(range(json!([{"introduced": "0"}, {"limit": "x"}]))).is_err());
    }

    /// The algorithm in the documentation of the schema, for one range without equal versions.
    fn reference(events: &[(u64, u8)], version: u64) -> bool {
        let mut events = events.to_vec();
        events.sort_unstable();
        events.into_iter().fold(false, |is_affected, (at, kind)| match kind {
            0 if version >= at => true,
            1 if version >= at => false,
            2 if version > at => false,
            _ => is_affected,
        })
    }

    proptest! {
        #[test]
        fn ranges_equal_the_reference_algorithm(
            events in proptest::collection::btree_map(0_u64..20, 0_u8..3, 0..8),
            version in 0_u64..22,
        ) {
            let events: Vec<_> = events.into_iter().collect();
            let names = ["introduced", "fixed", "last_affected"];
            let documents: Vec<_> = events
                .iter()
                .map(|(at, kind)| {
                    let mut event = json!({});
                    event[names[usize::from(*kind)]] = at.to_string().into();
                    event
                })
                .collect();
            let version_text = version.to_string();
            let found = !covered(range(documents.into()), &[&version_text]).is_empty();
            prop_assert_eq!(found, reference(&events, version));
        }

        #[test]
        fn arbitrary_documents_do_not_panic(text in r#"[{}\[\]:,"a-z0-9. ]{0,60}"#) {
            let _ = OsvRecord::parse(text.as_bytes());
        }
    }
}
