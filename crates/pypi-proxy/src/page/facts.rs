//! Facts about files that the proxy determined itself, because the index page lacks them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::json::Facts;
use crate::digest::Digest;
use crate::hash::bytes_of;
use crate::name::is_file_name;

/// Maximum number of files per project whose facts are recorded.
const MAX_FILES: usize = 20_000;

/// Facts about the files of a project, by file name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProjectFacts(BTreeMap<String, FileFacts>);

/// Facts about one file. Only used if the page has the file's hash, so that they can't belong to another file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileFacts {
    /// Length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    /// Upload time from the JSON API, or the value of `Last-Modified` from the file's host, in the format of
    /// `upload-time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<String>,
    /// SHA-256 that the JSON API has for a file with this length and time; `None` if they are from another source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// SHA-256 of the wheel that was searched for metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wheel: Option<String>,
    /// SHA-256 of its metadata; `None` if it can't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<String>,
}

impl FileFacts {
    /// Creates facts from the length and the value of `Last-Modified`.
    pub(crate) fn new(size: Option<u64>, modified: Option<&str>) -> Self {
        Self { size, time: modified.and_then(upload_time), ..Self::default() }
    }

    /// Creates facts from the JSON API. Returns `None` if the SHA-256 or the time is malformed.
    pub(crate) fn uploaded(sha256: &str, size: Option<u64>, time: &str) -> Option<Self> {
        bytes_of::<32>(sha256)?;
        let time = format!("{:.6}", time.parse::<jiff::Timestamp>().ok()?);
        let sha256 = Some(sha256.to_ascii_lowercase());
        is_time(&time).then(|| Self { size, time: Some(time), sha256, ..Self::default() })
    }

    /// Returns whether the length and the time are those of a file with this SHA-256, in lower case.
    pub(crate) fn is_of(&self, sha256: &str) -> bool {
        self.sha256.as_ref().is_none_or(|own| own == sha256)
    }

    /// Adds the SHA-256 of the wheel and of its metadata, or `None` if the metadata can't be read.
    pub(crate) fn with_wheel(self, wheel: &Digest, metadata: Option<&Digest>) -> Self {
        Self { wheel: Some(wheel.to_string()), metadata: metadata.map(Digest::to_string), ..self }
    }
}

impl ProjectFacts {
    pub(crate) fn get(&self, file: &str) -> Option<&FileFacts> {
        self.0.get(file)
    }

    /// Returns whether the wheel with this SHA-256 was searched for metadata.
    pub(crate) fn is_examined(&self, file: &str, wheel: &Digest) -> bool {
        self.get(file).and_then(|fact| bytes_of(fact.wheel.as_ref()?)) == Some(wheel.0)
    }

    /// Returns whether the proxy could have recorded these facts.
    pub(crate) fn is_valid(&self) -> bool {
        let is_hash = |hash: &Option<String>| hash.as_ref().is_none_or(|hash| bytes_of::<32>(hash).is_some());
        let is_valid = |(name, fact): (&String, &FileFacts)| {
            is_file_name(name)
                && is_hash(&fact.sha256)
                && is_hash(&fact.wheel)
                && is_hash(&fact.metadata)
                && fact.time.as_deref().is_none_or(is_time)
        };
        self.0.len() <= MAX_FILES && self.0.iter().all(is_valid)
    }

    pub(crate) fn clear_metadata(&mut self) {
        for fact in self.0.values_mut() {
            (fact.wheel, fact.metadata) = (None, None);
        }
    }

    /// Records facts about a file. Returns whether anything changed.
    pub(crate) fn record(&mut self, file: &str, fact: FileFacts) -> bool {
        if self.0.len() >= MAX_FILES && !self.0.contains_key(file) {
            return false;
        }
        let FileFacts { size, time, sha256, wheel, metadata } = fact;
        if !self.0.contains_key(file) {
            self.0.insert(file.to_owned(), FileFacts::default());
        }
        let Some(known) = self.0.get_mut(file) else { return false };
        let before = known.clone();
        if sha256.is_some() {
            (known.size, known.time, known.sha256) = (size, time, sha256);
        } else if known.sha256.is_none() {
            known.size = size.or(known.size);
            known.time = time.or_else(|| known.time.take());
        }
        if wheel.is_some() {
            (known.wheel, known.metadata) = (wheel, metadata);
        }
        *known != before
    }

    /// Keeps only the facts of files for which `is_listed` returns true.
    pub(crate) fn retain(&mut self, is_listed: impl Fn(&str) -> bool) {
        self.0.retain(|file, _| is_listed(file));
    }

    /// Adds the facts of `other`. Existing facts take precedence.
    pub(crate) fn merge(&mut self, other: Self) {
        for (file, fact) in other.0 {
            let own = self.0.remove(&file).unwrap_or_default();
            self.record(&file, fact);
            self.record(&file, own);
        }
    }
}

impl Facts for ProjectFacts {
    fn metadata(&self, wheel: &str, sha256: &[u8; 32]) -> Option<[u8; 32]> {
        if self.is_examined(wheel, &Digest(*sha256)) {
            bytes_of(self.get(wheel)?.metadata.as_ref()?)
        } else {
            None
        }
    }

    fn has_times(&self) -> bool {
        self.0.values().any(|fact| fact.sha256.is_some())
    }

    fn time(&self, file: &str, sha256: &[u8; 32]) -> Option<&str> {
        let fact = self.get(file)?;
        let is_same = bytes_of(fact.sha256.as_ref()?) == Some(*sha256);
        fact.time.as_deref().filter(|time| is_same && is_time(time))
    }
}

/// Returns whether a text has the form of `upload-time` (PEP 700), with or without microseconds.
fn is_time(text: &str) -> bool {
    let digits = text.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    digits.clone().eq(*b"0000-00-00T00:00:00Z") || digits.eq(*b"0000-00-00T00:00:00.000000Z")
}

/// Converts an HTTP date (RFC 9110, section 5.6.7) to the format of `upload-time` (PEP 700).
fn upload_time(header: &str) -> Option<String> {
    let time = httpdate::parse_http_date(header.trim()).ok()?;
    // Normalizes all three formats of HTTP dates to `Sun, 06 Nov 1994 08:49:37 GMT`.
    let text = httpdate::fmt_http_date(time);
    let part = |range: std::ops::Range<usize>| text.get(range);
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|month| part(8..11) == Some(month))? + 1;
    Some(format!("{}-{month:02}-{}T{}Z", part(12..16)?, part(5..7)?, part(17..25)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_dates_are_converted_to_upload_times() {
        for (header, time) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some("1994-11-06T08:49:37Z")),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some("1994-11-06T08:49:37Z")),
            ("yesterday", None),
        ] {
            assert_eq!(upload_time(header).as_deref(), time, "{header}");
        }
    }

    #[test]
    fn only_changes_are_recorded() {
        let mut facts = ProjectFacts::default();
        assert!(facts.record("a.whl", FileFacts::new(Some(1), None)));
        assert!(!facts.record("a.whl", FileFacts::new(Some(1), Some("never"))));
        assert!(facts.record("a.whl", FileFacts::new(None, Some("Sun, 06 Nov 1994 08:49:37 GMT"))));
        let mut other = ProjectFacts::default();
        let (wheel, metadata) = (Digest([1; 32]), Digest([2; 32]));
        other.record("a.whl", FileFacts::new(Some(2), None).with_wheel(&wheel, Some(&metadata)));
        facts.merge(other);
        let fact = facts.get("a.whl").unwrap();
        assert_eq!((fact.size, fact.time.is_some()), (Some(1), true));
        assert_eq!(facts.metadata("a.whl", &wheel.0), Some(metadata.0));
        facts.record("b.whl", FileFacts::new(Some(2), None));
        facts.retain(|file| file == "b.whl");
        assert!(facts.get("a.whl").is_none() && facts.get("b.whl").is_some());
    }

    #[test]
    fn times_of_the_json_api_belong_to_one_file() {
        let hex = Digest([1; 32]).to_string();
        let mut facts = ProjectFacts::default();
        facts.record("a.zip", FileFacts::new(Some(1), Some("Sun, 06 Nov 1994 08:49:37 GMT")));
        assert!(!facts.has_times());
        let uploaded = FileFacts::uploaded(&hex, Some(2), "2024-01-10T02:00:00.5+02:00").unwrap();
        assert!(facts.record("a.zip", uploaded));
        // The date of the file's host does not replace it.
        assert!(!facts.record("a.zip", FileFacts::new(Some(3), Some("Sun, 06 Nov 1994 08:49:37 GMT"))));
        assert!(facts.is_valid() && facts.has_times());
        assert_eq!(facts.get("a.zip").unwrap().size, Some(2));
        assert_eq!(facts.time("a.zip", &[1; 32]), Some("2024-01-10T00:00:00.500000Z"));
        assert_eq!((facts.time("a.zip", &[2; 32]), facts.time("b.zip", &[1; 32])), (None, None));
        assert_eq!(FileFacts::uploaded("1", None, "2024-01-10T00:00:00Z"), None);
        for time in ["2024-01-10T00:00:00", "-000001-01-10T00:00:00Z", "yesterday"] {
            assert_eq!(FileFacts::uploaded(&hex, None, time), None, "{time}");
        }
    }

    #[test]
    fn metadata_belongs_to_one_wheel() {
        let (first, second, metadata) = (Digest([1; 32]), Digest([2; 32]), Digest([3; 32]));
        let mut facts = ProjectFacts::default();
        assert!(facts.record("a.whl", FileFacts::default().with_wheel(&first, Some(&metadata))));
        assert_eq!(facts.metadata("a.whl", &first.0), Some(metadata.0));
        assert_eq!((facts.metadata("a.whl", &second.0), facts.is_examined("a.whl", &second)), (None, false));
        // Another wheel of the same name, whose metadata can't be read.
        assert!(facts.record("a.whl", FileFacts::default().with_wheel(&second, None)));
        assert_eq!((facts.metadata("a.whl", &second.0), facts.is_examined("a.whl", &second)), (None, true));
        assert!(!facts.is_examined("a.whl", &first));
        facts.clear_metadata();
        assert!(!facts.is_examined("a.whl", &second));
    }
}
