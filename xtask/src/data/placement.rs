//! `unmeasured.toml` and `rows.toml`: published entries without a row, and rows that no report has.

use serde::Deserialize;

/// Published entries that no run measures, by reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnmeasuredFile {
    pub(crate) unmeasured: Vec<Unmeasured>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unmeasured {
    pub(crate) reason: String,
    /// Keys of benchmarks.
    #[serde(default)]
    pub(crate) benches: Vec<String>,
    /// Published lines, as `table/row`.
    #[serde(default)]
    pub(crate) lines: Vec<String>,
}

/// Notes about rows of the harness.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowsFile {
    /// Published benchmarks that are several rows in the harness.
    #[serde(default)]
    part: Vec<Part>,
    /// Rows that no report has.
    pub(crate) added: Vec<Remark>,
    /// Reasons for rows in which we are not faster.
    #[serde(default)]
    pub(crate) remark: Vec<Remark>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    bench: String,
    rows: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Remark {
    /// Keys; `*` at the end stands for any rest.
    pub(crate) rows: Vec<String>,
    pub(crate) text: String,
    /// Classes of the results; empty for all.
    #[serde(default)]
    classes: Vec<String>,
    /// True if ratios of the rows are meaningless.
    #[serde(default)]
    incomparable: bool,
}

impl UnmeasuredFile {
    /// Returns the reason why a published line (`table/row`) has no figure.
    pub(crate) fn line(&self, line: &str) -> Option<&str> {
        let found = self.unmeasured.iter().find(|entry| entry.lines.iter().any(|one| one == line));
        found.map(|entry| entry.reason.as_str())
    }

    /// Returns the reason why a benchmark has no row.
    pub(crate) fn bench(&self, key: &str) -> Option<&str> {
        let found = self.unmeasured.iter().find(|entry| entry.benches.iter().any(|bench| bench == key));
        found.map(|entry| entry.reason.as_str())
    }
}

impl RowsFile {
    /// Returns the row patterns of a published benchmark that is several rows in the harness.
    pub(crate) fn parts(&self, bench: &str) -> &[String] {
        self.part.iter().find(|part| part.bench == bench).map_or(&[], |part| &part.rows)
    }

    /// Returns whether a row belongs to a published benchmark that is several rows in the harness.
    pub(crate) fn is_part(&self, key: &str) -> bool {
        self.part.iter().flat_map(|part| &part.rows).any(|row| super::matches(row, key))
    }

    /// Returns the reason for a row that no report has.
    pub(crate) fn added(&self, key: &str) -> Option<&str> {
        find(&self.added, key, None)
    }

    /// Returns the note about the result of a class, or that about the whole row.
    pub(crate) fn remark(&self, key: &str, class: Option<&str>) -> Option<&str> {
        find(&self.remark, key, class)
    }

    /// Returns the reason why a row has no ratios.
    pub(crate) fn incomparable(&self, key: &str) -> Option<&str> {
        let remarks = self.remark.iter().filter(|remark| remark.incomparable);
        find(remarks, key, None)
    }
}

fn find<'r>(
    remarks: impl IntoIterator<Item = &'r Remark>,
    key: &str,
    class: Option<&str>,
) -> Option<&'r str> {
    let found = remarks.into_iter().find(|remark| {
        remark.rows.iter().any(|row| super::matches(row, key))
            && (remark.classes.is_empty() || remark.classes.iter().any(|one| Some(one.as_str()) == class))
    });
    found.map(|remark| remark.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_rest() {
        let file: RowsFile =
            toml::from_str("[[added]]\nrows = [\"sse/large_*\", \"sse/x\"]\ntext = \"t\"\n").unwrap();
        assert_eq!((file.added("sse/large_8k"), file.added("sse/x")), (Some("t"), Some("t")));
        assert_eq!((file.added("sse/xy"), file.remark("sse/x", None)), (None, None));
    }

    #[test]
    fn a_row_whose_ratios_mean_nothing_says_so() {
        let text = "added = []\n[[remark]]\nrows = [\"a/x\"]\ntext = \"r\"\nincomparable = true\n[[remark]]\nrows = [\"a/*\"]\ntext = \"s\"\n";
        let file: RowsFile = toml::from_str(text).unwrap();
        assert_eq!((file.incomparable("a/x"), file.incomparable("a/y")), (Some("r"), None));
        assert_eq!((file.remark("a/x", Some("c")), file.remark("a/y", None)), (Some("r"), Some("s")));
    }

    #[test]
    fn a_remark_may_be_about_one_class() {
        let text = "added = []\n[[remark]]\nrows = [\"a/*\"]\nclasses = [\"tree\"]\ntext = \"t\"\n";
        let file: RowsFile = toml::from_str(text).unwrap();
        let classes = [Some("tree"), Some("typed"), None];
        assert_eq!(classes.map(|class| file.remark("a/x", class)), [Some("t"), None, None]);
    }
}
