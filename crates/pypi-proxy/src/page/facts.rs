//! What is learned of files when they are fetched, for indexes whose pages do not tell it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bytes_of;
use crate::store::Digest;

/// The most files of a project that something is kept of.
const MAX_FILES: usize = 20_000;

/// What is known of the files of a project beside what its page tells, by their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts(BTreeMap<String, Fact>);

/// What is known of a file whose hash the page tells: another file would have another hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fact {
    /// Its length in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    /// When its host says that it was last changed, in the form of `upload-time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time: Option<String>,
    /// The SHA-256 of the wheel that metadata were looked for in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wheel: Option<String>,
    /// The SHA-256 of those metadata; `None` if they can't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<String>,
}

impl Fact {
    /// A length, and a value of `Last-Modified`.
    pub(crate) fn new(size: Option<u64>, modified: Option<&str>) -> Self {
        Self { size, time: modified.and_then(upload_time), ..Self::default() }
    }

    /// The same of a wheel, with its metadata or that they can't be read. The hashes are SHA-256.
    pub(crate) fn of_wheel(self, wheel: &Digest, metadata: Option<&Digest>) -> Self {
        Self { wheel: Some(wheel.to_string()), metadata: metadata.map(Digest::to_string), ..self }
    }
}

impl Facts {
    pub(crate) fn get(&self, file: &str) -> Option<&Fact> {
        self.0.get(file)
    }

    /// Whether metadata were looked for in this wheel.
    pub(crate) fn has_looked(&self, file: &str, wheel: &Digest) -> bool {
        self.get(file).and_then(|fact| bytes_of(fact.wheel.as_ref()?)) == Some(wheel.0)
    }

    /// The SHA-256 of the metadata of this wheel, if they can be read.
    pub(crate) fn metadata(&self, file: &str, wheel: &[u8; 32]) -> Option<[u8; 32]> {
        if self.has_looked(file, &Digest(*wheel)) {
            bytes_of(self.get(file)?.metadata.as_ref()?)
        } else {
            None
        }
    }

    /// Forgets all metadata.
    pub(crate) fn forget_metadata(&mut self) {
        for fact in self.0.values_mut() {
            (fact.wheel, fact.metadata) = (None, None);
        }
    }

    /// Adds what is known of a file. Whether it is news.
    pub(crate) fn learn(&mut self, file: &str, fact: Fact) -> bool {
        if self.0.len() >= MAX_FILES && !self.0.contains_key(file) {
            return false;
        }
        let Fact { size, time, wheel, metadata } = fact;
        if !self.0.contains_key(file) {
            self.0.insert(file.to_owned(), Fact::default());
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

    /// Adds what somebody else knows, where nothing is known here.
    pub(crate) fn join(&mut self, other: Self) {
        for (file, fact) in other.0 {
            let own = self.0.remove(&file).unwrap_or_default();
            self.learn(&file, fact);
            self.learn(&file, own);
        }
    }
}

/// The time of a header (RFC 9110, 5.6.7) as the standard writes it on pages (PEP 700).
fn upload_time(header: &str) -> Option<String> {
    let time = httpdate::parse_http_date(header.trim()).ok()?;
    // However it came, now it is `Sun, 06 Nov 1994 08:49:37 GMT`.
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
    fn times_are_those_of_pages() {
        for (header, time) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some("1994-11-06T08:49:37Z")),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some("1994-11-06T08:49:37Z")),
            ("yesterday", None),
        ] {
            assert_eq!(upload_time(header).as_deref(), time, "{header}");
        }
    }

    #[test]
    fn only_news_count() {
        let mut facts = Facts::default();
        assert!(facts.learn("a.whl", Fact::new(Some(1), None)));
        assert!(!facts.learn("a.whl", Fact::new(Some(1), Some("never"))));
        assert!(facts.learn("a.whl", Fact::new(None, Some("Sun, 06 Nov 1994 08:49:37 GMT"))));
        let mut other = Facts::default();
        let (wheel, metadata) = (Digest([1; 32]), Digest([2; 32]));
        other.learn("a.whl", Fact::new(Some(2), None).of_wheel(&wheel, Some(&metadata)));
        facts.join(other);
        let fact = facts.get("a.whl").unwrap();
        assert_eq!((fact.size, fact.time.is_some()), (Some(1), true));
        assert_eq!(facts.metadata("a.whl", &wheel.0), Some(metadata.0));
    }

    #[test]
    fn metadata_are_those_of_one_wheel() {
        let (first, second, metadata) = (Digest([1; 32]), Digest([2; 32]), Digest([3; 32]));
        let mut facts = Facts::default();
        assert!(facts.learn("a.whl", Fact::default().of_wheel(&first, Some(&metadata))));
        assert_eq!(facts.metadata("a.whl", &first.0), Some(metadata.0));
        assert_eq!((facts.metadata("a.whl", &second.0), facts.has_looked("a.whl", &second)), (None, false));
        // Another file of this name, whose metadata can't be read.
        assert!(facts.learn("a.whl", Fact::default().of_wheel(&second, None)));
        assert_eq!((facts.metadata("a.whl", &second.0), facts.has_looked("a.whl", &second)), (None, true));
        assert!(!facts.has_looked("a.whl", &first));
        facts.forget_metadata();
        assert!(!facts.has_looked("a.whl", &second));
    }
}
