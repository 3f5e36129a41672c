//! Path patterns.

/// A path pattern: `*` matches one segment, a final `**` any number of segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathPattern {
    segments: Vec<String>,
    is_open: bool,
}

impl PathPattern {
    /// Returns `None` unless the pattern starts with a slash and has `**` only at its end.
    pub(crate) fn parse(pattern: &str) -> Option<Self> {
        let mut segments: Vec<String> = pattern.strip_prefix('/')?.split('/').map(str::to_owned).collect();
        let is_open = segments.last().is_some_and(|last| last == "**");
        if is_open {
            segments.pop();
        }
        (!segments.iter().any(|segment| segment == "**")).then_some(Self { segments, is_open })
    }

    pub(crate) fn matches(&self, path: &[impl AsRef<str>]) -> bool {
        let is_long_enough =
            if self.is_open { path.len() >= self.segments.len() } else { path.len() == self.segments.len() };
        is_long_enough
            && self
                .segments
                .iter()
                .zip(path)
                .all(|(pattern, segment)| pattern == "*" || pattern == segment.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_stand_for_segments() {
        for (pattern, path, expected) in [
            ("/v1/files", &["v1", "files"] as &[&str], true),
            ("/v1/files", &["v1", "files", ""], false),
            ("/v1/files/*/content", &["v1", "files", "a/b", "content"], true),
            ("/v1/files/*/content", &["v1", "files", "content"], false),
            ("/v1/**", &["v1"], true),
            ("/v1/**", &["v1", "a", "b"], true),
            ("/**", &[""], true),
            ("/v1/**", &["v2"], false),
        ] {
            assert_eq!(PathPattern::parse(pattern).unwrap().matches(path), expected, "{pattern} {path:?}");
        }
    }

    #[test]
    fn invalid_patterns_are_rejected() {
        for pattern in ["", "v1", "/**/a"] {
            assert_eq!(PathPattern::parse(pattern), None);
        }
    }
}
