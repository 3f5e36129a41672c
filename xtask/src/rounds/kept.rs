//! The file of finished slices, one JSON object per line, with which `--resume` continues a run.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::side::Step;

/// Identity of a run. Slices of another run are not reused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// Start, UTC.
    pub(crate) date: String,
    pub(crate) commit: Option<String>,
    pub(crate) settings: String,
    pub(crate) load_before: Option<f64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    side: String,
    round: usize,
    seconds: f64,
    step: Step,
}

/// The finished slices of the current run.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) begun: Begun,
    file: File,
    steps: HashMap<(String, usize), (Step, f64)>,
}

impl Kept {
    /// Starts a new file, or continues the existing one.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written, or belongs to another commit or other settings.
    pub(crate) fn open(path: &Path, begun: Begun, resume: bool) -> Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let text = if resume { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
        let Some((head, rest)) = text.split_once('\n') else {
            let mut file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
            writeln!(file, "{}", serde_json::to_string(&begun)?)?;
            return Ok(Self { begun, file, steps: HashMap::new() });
        };
        let earlier: Begun = serde_json::from_str(head)
            .with_context(|| format!("unexpected content of {}", path.display()))?;
        ensure!(
            (&earlier.commit, &earlier.settings) == (&begun.commit, &begun.settings),
            "what is kept is of commit {} with {}; begin anew, without --resume",
            earlier.commit.as_deref().unwrap_or("unknown"),
            earlier.settings
        );
        // The last line is truncated if the run was killed.
        let lines = rest.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let steps = lines.map(|line| ((line.side, line.round), (line.step, line.seconds))).collect();
        let mut file = OpenOptions::new().append(true).open(path)?;
        if !text.ends_with('\n') {
            writeln!(file)?;
        }
        Ok(Self { begun: earlier, file, steps })
    }

    /// Returns the duration of the slices read from the file.
    pub(crate) fn seconds(&self) -> f64 {
        self.steps.values().map(|(_, seconds)| seconds).sum()
    }

    pub(super) fn find(&self, side: &str, round: usize) -> Option<Step> {
        self.steps.get(&(side.to_owned(), round)).map(|(step, _)| step.clone())
    }

    pub(super) fn add(&mut self, side: &str, round: usize, seconds: f64, step: &Step) -> Result<()> {
        let line = Line { side: side.to_owned(), round, seconds, step: step.clone() };
        writeln!(self.file, "{}", serde_json::to_string(&line)?).context("cannot keep a slice")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(commit: &str) -> Begun {
        Begun {
            date: "now".to_owned(),
            commit: Some(commit.to_owned()),
            settings: "short".to_owned(),
            load_before: None,
        }
    }

    #[test]
    fn a_run_goes_on_where_it_was() {
        let path = std::env::temp_dir().join(format!("xtask-kept-{}/slices.jsonl", std::process::id()));
        let step = Step::Failed("failed: ended".to_owned());
        let mut first = Kept::open(&path, begun("a"), false).unwrap();
        first.add("s/a/x", 0, 1.5, &step).unwrap();
        first.file.write_all(b"{\"side\":\"s/a/y\",\"rou").unwrap();

        let mut second = Kept::open(&path, begun("a"), true).unwrap();
        assert_eq!((second.find("s/a/x", 0), second.seconds()), (Some(step.clone()), 1.5));
        assert_eq!((second.find("s/a/x", 1), second.find("s/a/y", 0)), (None, None));
        second.add("s/a/y", 0, 1.0, &Step::Absent).unwrap();
        let third = Kept::open(&path, begun("a"), true).unwrap();
        assert_eq!(third.find("s/a/y", 0), Some(Step::Absent));

        let refused = Kept::open(&path, begun("b"), true).unwrap_err().to_string();
        assert!(refused.contains("of commit a"), "{refused}");
        let anew = Kept::open(&path, begun("b"), false).unwrap();
        assert_eq!(anew.find("s/a/x", 0), None);
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
