//! Versions of the layouts of cache directories and buckets. A small marker in each of them contains the version.
//!
//! A layout gets a new version if older programs would misread or damage its content. Single records have versions of
//! their own where that is enough: a page in another format is ignored and requested again.

use std::num::NonZeroU32;

/// Bytes to read of a marker. A version has fewer, so that the start of a longer marker is never mistaken for one.
pub(crate) const READ_LEN: u64 = 32;

/// Returns the content of a marker.
pub(crate) fn marker(version: u32) -> String {
    format!("{version}\n")
}

/// Checks the content of a marker. Fails if it is damaged or newer than `supported`. `place` names the directory or
/// bucket in the error, `other` the replacement that the error suggests.
pub(crate) fn check(content: &[u8], supported: u32, place: &str, other: &str) -> Result<(), String> {
    match parse(content) {
        Some(version) if version <= supported => Ok(()),
        Some(version) => Err(format!(
            "{place}: the layout has version {version}, but this program supports at most version {supported} (upgrade \
             pypi-proxy, or use {other})"
        )),
        None => Err(format!(
            "{place}: expected the version of the layout, such as {supported} (restore it, or use {other})"
        )),
    }
}

/// Parses a version with an optional line end.
fn parse(content: &[u8]) -> Option<u32> {
    let text = str::from_utf8(content).ok()?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let version = text.parse::<NonZeroU32>().ok()?;
    // Signs and leading zeros are damage.
    (version.to_string() == text).then_some(version.get())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_plain_versions_are_accepted() {
        for (content, version) in [("1\n", 1), ("1", 1), ("2\n", 2), ("4294967295\n", u32::MAX)] {
            assert_eq!(parse(content.as_bytes()), Some(version), "{content:?}");
        }
        for content in
            ["", "\n", "0\n", "01\n", "+1\n", "-1\n", " 1\n", "1\r\n", "1\n\n", "1.0", "4294967296", "\0"]
        {
            assert_eq!(parse(content.as_bytes()), None, "{content:?}");
        }
        assert_eq!(parse(b"\xff"), None);
    }

    proptest! {
        #[test]
        fn parsing_reverts_writing(version in 1..=u32::MAX) {
            prop_assert_eq!(parse(marker(version).as_bytes()), Some(version));
            prop_assert_eq!(check(marker(version).as_bytes(), version, "", ""), Ok(()));
            let error = check(marker(version).as_bytes(), version - 1, "a/marker", "b").unwrap_err();
            let expected = format!("a/marker: the layout has version {version}, but");
            prop_assert!(error.starts_with(&expected), "{}", error);
        }

        #[test]
        fn other_content_is_rejected(content in prop::collection::vec(prop_oneof![any::<u8>(), b'0'..=b'9'], 0..16)) {
            let is_version = parse(&content).is_some_and(|version| {
                content == version.to_string().as_bytes() || content == marker(version).as_bytes()
            });
            prop_assert_eq!(check(&content, u32::MAX, "", "").is_ok(), is_version);
        }

        #[test]
        fn long_content_is_rejected(content in prop::collection::vec(any::<u8>(), READ_LEN as usize)) {
            prop_assert_eq!(parse(&content), None);
        }
    }
}
