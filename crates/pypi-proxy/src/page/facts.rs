//! Facts about files that the proxy determined itself, because the index page lacks them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bytes_of;
use crate::name::is_file_name;
use crate::store::Digest;

/// Maximum number of files per project whose facts are recorded.
const MAX_FILES: usize = 20_000;

/// Facts about the files of a project, by file name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProjectFacts(BTreeMap<String, FileFacts>);

/// Facts about one file. Only recorded if the page has the file's hash, so that they can't belong to another file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileFacts {
    /// Length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    /// Value of `Last-Modified` from the file's host, in the format of `upload-time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<String>,
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

    /// Returns the SHA-256 of the wheel's metadata, if it could be read.
    pub(crate) fn metadata(&self, file: &str, wheel: &[u8; 32]) -> Option<[u8; 32]> {
        if self.is_examined(file, &Digest(*wheel)) {
            bytes_of(self.get(file)?.metadata.as_ref()?)
        } else {
            None
        }
    }

    /// Returns whether the proxy could have recorded these facts.
    pub(crate) fn is_valid(&self) -> bool {
        let is_hash = |hash: &Option<String>| hash.as_ref().is_none_or(|hash| bytes_of::<32>(hash).is_some());
        let is_time = |time: &str| {
            let digits = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
            time.bytes().map(digits).eq(*b"0000-00-00T00:00:00Z")
        };
        let is_valid = |(name, fact): (&String, &FileFacts)| {
            is_file_name(name)
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
        let FileFacts { size, time, wheel, metadata } = fact;
        if !self.0.contains_key(file) {
            self.0.insert(file.to_owned(), FileFacts::default());
        }
        let Some(known) = self.0.get_mut(file) else { return false };
        let before = known.clone();
        known.size = size.or(known.size);
        known.time = time.or_else(|| known.time.take());
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
