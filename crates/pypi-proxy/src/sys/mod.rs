//! Operations on files that differ between systems.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// Returns whether Windows opens a device instead of a file of this name: `nul`, `com1` and others.
pub(crate) fn is_device(name: &str) -> bool {
    cfg!(windows) && is_device_of_windows(name)
}

/// `name` is in lower case and has no extension.
fn is_device_of_windows(name: &str) -> bool {
    let port = name.strip_prefix("com").or_else(|| name.strip_prefix("lpt"));
    matches!(name, "aux" | "con" | "nul" | "prn")
        || port.is_some_and(|port| matches!(port.as_bytes(), [digit] if digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_are_recognized() {
        for name in ["aux", "con", "nul", "prn", "com0", "com9", "lpt1"] {
            assert!(is_device_of_windows(name), "{name}");
        }
        for name in ["com", "com10", "comx", "con-1", "lpt", "null", "console", "@list", "nul@"] {
            assert!(!is_device_of_windows(name), "{name}");
        }
    }

    #[test]
    fn a_marker_is_readable_while_it_is_locked() {
        use std::io::{Read as _, Write as _};

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("marker");
        let (mut first, is_first_locked) = lock(&path, true).unwrap();
        first.write_all(b"text").unwrap();
        let (second, is_second_locked) = lock(&path, false).unwrap();
        assert!(is_first_locked && !is_second_locked);
        for mut file in [second, open(&path).unwrap()] {
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            assert_eq!(text, "text");
        }
        drop(first);
        assert!(lock(&path, false).unwrap().1);
    }

    #[test]
    fn an_open_file_is_replaced_and_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| dir.path().join(name));
        std::fs::write(&old, "old").unwrap();
        let file = open(&old).unwrap();
        std::fs::write(&new, "new").unwrap();
        replace(&new, &old).unwrap();
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "new");
        std::fs::remove_file(&old).unwrap();
        let mut bytes = [0; 3];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"old");
    }
}
