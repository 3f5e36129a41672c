//! Domain filters of web searches.

use super::invalid::{Invalid, at_most, present};

/// Maximum bytes of an entry, including its `-`.
const MAX_ENTRY: usize = 253;

/// Domain filter of a web search: an allowlist or a denylist within the limits of the API. The methods
/// `search_domain_filter` of requests accept it.
///
/// The API accepts at most 20 entries, and only entries of one kind. An entry is a domain (`example.org`), which includes
/// its subdomains, a top-level domain (`.gov`), or a domain and a path (`example.org/news`).
///
/// # Examples
///
/// ```
/// use tightwire_perplexity::types::{DomainFilter, search};
///
/// let filter = DomainFilter::deny(["example.org", "example.com"])?;
/// let request = search::Request::new("tides").search_domain_filter(filter);
/// assert_eq!(request.search_domain_filter.unwrap(), ["-example.org", "-example.com"]);
/// # Ok::<(), tightwire_perplexity::types::Invalid>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainFilter {
    /// The entries as they are sent.
    entries: Vec<String>,
}

impl DomainFilter {
    /// Maximum number of entries.
    pub const MAX_ENTRIES: usize = 20;

    /// Limits a search to these domains.
    ///
    /// # Errors
    ///
    /// Returns [`Invalid`] if there is no entry or more than [`MAX_ENTRIES`](Self::MAX_ENTRIES), and for an entry that is
    /// empty, longer than 253 bytes, has a scheme, a wildcard or white space, or begins with `-`.
    pub fn allow<T: Into<String>>(domains: impl IntoIterator<Item = T>) -> Result<Self, Invalid> {
        Self::new("", domains)
    }

    /// Excludes these domains from a search. The entries are given without the `-` that marks them in the request; it
    /// counts as one of the 253 bytes.
    ///
    /// # Errors
    ///
    /// Same as [`allow`](Self::allow).
    pub fn deny<T: Into<String>>(domains: impl IntoIterator<Item = T>) -> Result<Self, Invalid> {
        Self::new("-", domains)
    }

    fn new<T: Into<String>>(mark: &str, domains: impl IntoIterator<Item = T>) -> Result<Self, Invalid> {
        let field = "search_domain_filter";
        let mut entries = Vec::new();
        for (index, domain) in domains.into_iter().enumerate() {
            at_most(field, index + 1, Self::MAX_ENTRIES, "entries")?;
            let domain = domain.into();
            let field = format!("{field}[{index}]");
            at_most(&field, mark.len() + domain.len(), MAX_ENTRY, "bytes")?;
            check(&field, &domain)?;
            entries.push(format!("{mark}{domain}"));
        }
        present(field, entries.is_empty())?;
        Ok(Self { entries })
    }
}

fn check(field: &str, domain: &str) -> Result<(), Invalid> {
    present(field, domain.is_empty())?;
    let is_wrong = |char: char| char.is_whitespace() || matches!(char, '*' | ':');
    if domain.starts_with('-') || domain.contains(is_wrong) {
        return Err(Invalid::form(field, "is not a domain without scheme, wildcard and leading `-`"));
    }
    Ok(())
}

impl IntoIterator for DomainFilter {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    /// Returns the entries as they are sent.
    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        let many = |count| DomainFilter::allow((0..count).map(|index| format!("{index}.example.org")));
        assert_eq!(many(DomainFilter::MAX_ENTRIES).unwrap().into_iter().count(), 20);
        assert!(many(DomainFilter::MAX_ENTRIES + 1).unwrap_err().is_too_long());
        assert!(many(0).unwrap_err().is_empty());
        for entry in ["https://example.org", "*.example.org", "example.org news", "-example.org"] {
            assert!(DomainFilter::deny([entry]).unwrap_err().is_form(), "{entry}");
        }
        let error = DomainFilter::allow(["example.org", ""]).unwrap_err();
        assert!(error.is_empty() && error.field() == "search_domain_filter[1]");
        let longest = "x".repeat(MAX_ENTRY);
        assert!(DomainFilter::allow([&longest]).is_ok());
        assert!(DomainFilter::deny([&longest]).unwrap_err().is_too_long());
        let entries: Vec<_> =
            DomainFilter::allow([".gov", "example.org/news"]).unwrap().into_iter().collect();
        assert_eq!(entries, [".gov", "example.org/news"]);
    }
}
