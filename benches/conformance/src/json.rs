//! Parsing cases of JSONTestSuite: files with names that begin with `y_` are JSON, those with `n_` are not, and those
//! with `i_` are optional (RFC 8259 lets a parser choose).
//!
//! Every case runs in every mode. The tests of the crate run the committed cases with every entry point, too.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use tightwire_json::{Codec, Mode, Value};

use crate::Report;

pub(crate) fn run(folder: &Path) -> anyhow::Result<Report> {
    let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<_>>()?;
    paths.sort();
    let mut report = Report::default();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let expected = match name.get(..2) {
            _ if !name.ends_with(".json") => continue,
            Some("y_") => Some(true),
            Some("n_") => Some(false),
            Some("i_") => None,
            _ => continue,
        };
        let document = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        report.case(&name, || {
            for mode in [Mode::Strict, Mode::Compat, Mode::Fast] {
                let is_accepted = Codec::new(mode).from_slice::<Value>(&document).is_ok();
                let result = if is_accepted { "accepted" } else { "rejected" };
                ensure!(expected.is_none_or(|expected| expected == is_accepted), "{result} ({mode:?})");
            }
            Ok(())
        });
    }
    let is_empty = report.passed == 0 && report.failures.is_empty();
    ensure!(!is_empty, "{} has no files named y_*.json, n_*.json or i_*.json", folder.display());
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_determines_the_expected_result() {
        let folder = std::env::temp_dir().join(format!("conformance-json-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(run(&folder).unwrap_err().to_string().ends_with("n_*.json or i_*.json"));
        for (name, document) in [
            ("y_good.json", "[1]"),
            ("i_.json", "["),
            ("n_wrongly_named.json", "[1]"),
            ("n_bad.json", "["),
            ("y_a.txt", "["),
            ("é.json", "["),
        ] {
            fs::write(folder.join(name), document).unwrap();
        }
        let report = run(&folder).unwrap();
        fs::remove_dir_all(folder).unwrap();
        let failures = [("n_wrongly_named.json".to_owned(), "accepted (Strict)".to_owned())];
        assert_eq!((report.passed, report.failures), (3, failures.to_vec()));
    }
}
