//! `groups.toml`: groups of similar rows, over which the report shows medians.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GroupsFile {
    #[serde(rename = "group")]
    pub(crate) groups: Vec<Group>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Group {
    /// What the rows have in common.
    pub(crate) title: String,
    /// The crate that is measured.
    pub(crate) package: String,
    /// True if the README shows the group as that of the crate.
    #[serde(default)]
    pub(crate) is_main: bool,
    /// True if the rows use several threads, so that their processes are not pinned to one processor.
    #[serde(default)]
    pub(crate) has_threads: bool,
    /// Keys; `*` at the end matches any rest.
    rows: Vec<String>,
    /// What a reader must know to use the figures.
    pub(crate) condition: String,
}

impl Group {
    /// Returns the name of the suite that contains the rows.
    pub(crate) fn suite(&self) -> &str {
        self.rows.first().and_then(|row| row.split('/').next()).unwrap_or_default()
    }
}

impl GroupsFile {
    /// Returns the first group that matches a row.
    pub(crate) fn of(&self, key: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.rows.iter().any(|row| super::matches(row, key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::committed;

    #[test]
    fn the_first_group_has_the_row() {
        let file: GroupsFile = committed("groups.toml");
        let title = |key| file.of(key).map(|group| group.title.as_str());
        assert_eq!(title("json/citm_1m_encode"), Some("JSON written, 10 kB to 4 MB"));
        assert_eq!(title("json/citm_1m_decode"), Some("JSON read, 10 kB to 4 MB"));
        assert_eq!(title("pypi_proxy/page_refresh"), Some("handlers and pages of the proxy"));
        assert_eq!(title("nothing/here"), None);
    }
}
