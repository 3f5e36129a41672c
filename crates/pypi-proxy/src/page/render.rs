//! Writing a project's page.

use std::io::Write as _;

use super::Page;

impl Page {
    /// The page in the form `application/vnd.pypi.simple.v1+json`.
    pub fn json(&self) -> &[u8] {
        &self.json
    }

    /// Appends what follows the list of files in the document.
    pub(super) fn write_end(&mut self) {
        let out = &mut self.json;
        // Writing into a vector does not fail.
        let _ = write!(out, r#"],"meta":{{"api-version":"{}""#, self.api_version);
        if let Some(serial) = self.serial {
            let _ = write!(out, r#","_last-serial":{serial}"#);
        }
        out.extend_from_slice(&self.meta);
        out.extend_from_slice(b"},\"name\":");
        let _ = json::to_buf(out, &self.name);
        out.extend_from_slice(&self.members);
        if let Some(versions) = &self.versions {
            out.extend_from_slice(b",\"versions\":[");
            out.extend_from_slice(versions);
            out.push(b']');
        }
        out.push(b'}');
    }
}
