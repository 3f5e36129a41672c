//! What is learned of files when they are fetched, for indexes whose pages do not tell it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// The SHA-256 of the metadata that were made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<String>,
}

impl Fact {
    /// A length, and a value of `Last-Modified`.
    pub(crate) fn new(size: Option<u64>, modified: Option<&str>) -> Self {
        Self { size, time: modified.and_then(upload_time), metadata: None }
    }
}

impl Facts {
    pub(crate) fn get(&self, file: &str) -> Option<&Fact> {
        self.0.get(file)
    }

    /// Adds what is known of a file. Whether it is news.
    pub(crate) fn learn(&mut self, file: &str, fact: Fact) -> bool {
        if self.0.len() >= MAX_FILES && !self.0.contains_key(file) {
            return false;
        }
        let Fact { size, time, metadata } = fact;
        if !self.0.contains_key(file) {
            self.0.insert(file.to_owned(), Fact::default());
        }
        let Some(known) = self.0.get_mut(file) else { return false };
        let before = known.clone();
        known.size = size.or(known.size);
        known.time = time.or_else(|| known.time.take());
        known.metadata = metadata.or_else(|| known.metadata.take());
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
        other.learn("a.whl", Fact { metadata: Some("00".into()), size: Some(2), time: None });
        facts.join(other);
        let fact = facts.get("a.whl").unwrap();
        assert_eq!((fact.size, fact.time.is_some(), fact.metadata.as_deref()), (Some(1), true, Some("00")));
    }
}
