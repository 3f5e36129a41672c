//! Paths of files at their index.

use std::borrow::Cow;

use crate::file_name::is_distribution;
use crate::name::{byte_table, is_file_name};

/// Maximum length in bytes of the path of a folder.
const MAX_FOLDER: usize = 1024;

/// First segments of the proxy's endpoints. Reverse proxies may restrict them.
const ENDPOINTS: [&str; 9] =
    ["simple", "index", "cache", "health", "livez", "readyz", "metrics", "status", "status.json"];

/// Names of further paths of indexes that a named index may not have.
const RESERVED: [&str; 6] = ["files", "integrity", "packages", "project", "pypi", "search"];

/// Returns whether a named index may not have this name, because it is that of another path.
pub(crate) fn is_reserved(name: &str) -> bool {
    ENDPOINTS.contains(&name) || RESERVED.contains(&name)
}

/// Decodes a segment of a path. Returns `None` if it is not UTF-8.
pub(crate) fn decode(segment: &str) -> Option<Cow<'_, str>> {
    percent_encoding::percent_decode_str(segment).decode_utf8().ok()
}

/// Parses the path of a file at its index. Returns the decoded name of the file, or `None` if the proxy can't serve the
/// file at the same path: the path is that of another endpoint, its last segment is not the name of a distribution
/// file, or clients and reverse proxies could rewrite it.
pub(crate) fn file_of_path(path: &str) -> Option<Cow<'_, str>> {
    let (folder, file) = path.rsplit_once('/')?;
    let file = decode(file).filter(|_| is_served_folder(folder))?;
    (is_file_name(&file) && is_distribution(&file)).then_some(file)
}

/// Returns whether files in a folder of an index can be served at the same path. `folder` is empty, or starts with a
/// slash and ends without one.
///
/// The path has only characters that need no escaping in JSON and HTML, no empty segments, no segments that start with a
/// dot, no encoded separators, dots and control characters, and is not that of another endpoint.
pub(crate) fn is_served_folder(folder: &str) -> bool {
    /// A lookup table, because pages have thousands of paths.
    const ALLOWED: [bool; 256] = byte_table(b"-_.~!$*+,=:@()");
    let Some(inner) = folder.strip_prefix('/') else { return folder.is_empty() };
    if folder.len() > MAX_FOLDER || ENDPOINTS.contains(&inner.split('/').next().unwrap_or_default()) {
        return false;
    }
    let path = folder.as_bytes();
    let mut at = 0;
    while let Some(&byte) = path.get(at) {
        at += 1;
        match byte {
            byte if ALLOWED[usize::from(byte)] => {}
            b'/' if path.get(at).is_some_and(|next| !matches!(next, b'/' | b'.')) => {}
            b'%' => {
                let digit = |at: usize| path.get(at).and_then(|byte| char::from(*byte).to_digit(16));
                match (digit(at), digit(at + 1)) {
                    (Some(0..=1), _) | (Some(7), Some(15)) => return false,
                    // Dot, slash, percent sign, backslash.
                    (Some(2), Some(14 | 15 | 5)) | (Some(5), Some(12)) => return false,
                    (Some(_), Some(_)) => at += 2,
                    _ => return false,
                }
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::file_name::{base, projects};

    #[test]
    fn paths_that_others_could_rewrite_are_rejected() {
        for path in ["/a-1.zip", "/x/a-1.zip.asc", "/+f/%C3%A9/~u/a-1%2B2.zip", "/pypi/a/a-1.whl.metadata"] {
            let file = file_of_path(path).unwrap();
            assert!(path.replace("%2B", "+").ends_with(&*file), "{path}");
        }
        let wrong = "a-1.zip /a /a/ /a-1.zip/ //a-1.zip /x//a-1.zip /./a-1.zip /x/../a-1.zip /.x/a-1.zip \
            /%2e%2e/a-1.zip /x%2fa-1.zip /x%2Fa-1.zip /x%5ca-1.zip /x%252fa-1.zip /x%00/a-1.zip /x%7f/a-1.zip \
            /x%0/a-1.zip /x%/a-1.zip /x%zz/a-1.zip /x?/a-1.zip /x#/a-1.zip /x;y/a-1.zip /x&y/a-1.zip /x'/a-1.zip \
            /x\\a-1.zip /ä/a-1.zip /x/a-1%ff.zip /x/a.zip /x/a-1.html /simple/a/a-1.zip /index/a-1.zip \
            /cache/a/a-1.zip /metrics/a-1.zip /status.json/a-1.zip";
        for path in wrong.split(' ') {
            assert_eq!(file_of_path(path), None, "{path}");
        }
        assert!(file_of_path(&format!("/{}/a-1.zip", "x".repeat(1100))).is_none());
    }

    proptest! {
        #[test]
        fn arbitrary_paths_do_not_panic(path in "(/|[a-z0-9.%+-]{0,5}|%2[0-9a-fA-F]){0,6}([.]zip|[.]whl|-1[.]tar[.]gz)?") {
            if let Some(file) = file_of_path(&path) {
                prop_assert!(is_file_name(&file) && is_distribution(&file));
                prop_assert!(projects(base(&file)).count() > 0);
                prop_assert!(!path.contains("//") && !path.contains("/."));
            }
        }
    }
}
