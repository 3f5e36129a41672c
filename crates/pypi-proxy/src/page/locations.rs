//! Other locations of a project (PEP 708).

use super::Page;
use super::scan::Scanner;

impl Page {
    /// Returns the URLs of the pages that this page extends, as declared by the operator of the index: `meta.tracks`
    /// (PEP 708).
    pub fn tracks(&self) -> Vec<String> {
        texts(&self.meta, b"tracks")
    }

    /// Returns the URLs of other pages of the project, as declared by its owner: `alternate-locations` (PEP 708).
    pub fn alternate_locations(&self) -> Vec<String> {
        texts(&self.other_fields, b"alternate-locations")
    }
}

/// Returns the strings of a list. `fields` are fields of an object, each with a leading comma.
fn texts(fields: &[u8], name: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let object = [b"{", fields.strip_prefix(b",").unwrap_or_default(), b"}"].concat();
    // The syntax was checked when the page was parsed.
    let _ = Scanner::new(&object).object(|scanner, key| {
        if key != name || scanner.peek() != Some(b'[') {
            return scanner.pass();
        }
        scanner.array(|scanner| {
            if scanner.peek() != Some(b'"') {
                return scanner.pass();
            }
            found.push(scanner.text()?.into_owned());
            Ok(())
        })
    });
    found
}
