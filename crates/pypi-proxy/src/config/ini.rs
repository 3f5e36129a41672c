//! Files of pip: sections with keys and values.

/// The values of a key in a section, the last one first. Names of keys are the same with `-` and `_`, in either case.
pub(super) fn value<'t>(text: &'t str, section: &str, key: &str) -> Option<&'t str> {
    let mut is_here = false;
    let mut found = None;
    for line in text.lines() {
        // What is indented goes on with the value before, and a URL has one line.
        if line.starts_with([' ', '\t']) || line.starts_with(['#', ';']) {
            continue;
        }
        let line = line.trim_end();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            is_here = name.trim() == section;
        } else if is_here
            && let Some((name, value)) = line.split_once(['=', ':'])
            && is_same(name.trim(), key)
            && !value.trim().is_empty()
        {
            found = Some(value.trim());
        }
    }
    found
}

fn is_same(name: &str, key: &str) -> bool {
    let name = name.strip_prefix("--").unwrap_or(name);
    name.len() == key.len()
        && name.bytes().zip(key.bytes()).all(|(a, b)| {
            let normal = |byte: u8| if byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
            normal(a) == normal(b)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_its_section() {
        let text = "# index-url = a\n[global]\ntimeout = 5\nIndex_URL: https://a.example.org/simple \n; index-url = b\n\
                    [install]\n index-url = c\nindex-url=\n[ list ]\nindex-url = https://b.example.org:81/x=y\n";
        assert_eq!(value(text, "global", "index-url"), Some("https://a.example.org/simple"));
        assert_eq!(value(text, "list", "index-url"), Some("https://b.example.org:81/x=y"));
        assert_eq!(value(text, "install", "index-url"), None);
        assert_eq!(value(text, "global", "timeout"), Some("5"));
        assert_eq!(value("index-url = x", "global", "index-url"), None);
    }
}
