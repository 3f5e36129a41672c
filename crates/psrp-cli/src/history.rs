//! Shell history file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use rustyline::Config;
use rustyline::history::{FileHistory, History as _};

const MAX_ENTRIES: usize = 1000;

/// Words that mark scripts with potential secrets, as in PSReadLine.
const SENSITIVE: [&str; 5] = ["password", "asplaintext", "token", "apikey", "secret"];

pub(crate) struct History {
    path: PathBuf,
    entries: FileHistory,
}

impl History {
    /// Loads the file if it exists. If it cannot be read, [`add`](Self::add) fails.
    pub(crate) fn open(path: PathBuf) -> Self {
        let mut entries = FileHistory::with_config(&config());
        let _ = entries.load(&path);
        Self { path, entries }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &String> {
        self.entries.iter()
    }

    /// Appends a script to the file, readable only by its owner. Private scripts are skipped.
    pub(crate) fn add(&mut self, script: &str) -> Result<(), String> {
        if is_private(script) {
            return Ok(());
        }
        let written = self.path.parent().map_or(Ok(()), create_folder).map_err(Into::into);
        let written = written.and_then(|()| self.entries.add(script));
        let written = written.and_then(|_| self.entries.append(&self.path));
        let path = self.path.display();
        written.map_err(|error| {
            format!("psrp: {path} can't be written (use --history for another file): {error}")
        })
    }
}

pub(crate) fn config() -> Config {
    let builder = Config::builder().max_history_size(MAX_ENTRIES);
    builder.map(|builder| builder.build()).unwrap_or_default()
}

/// Returns the history file: from the command line, `PSRP_HISTORY`, or `psrp/history` in the user's state directory. An
/// empty name disables the file.
pub(crate) fn path(option: Option<&OsStr>) -> Option<PathBuf> {
    let named = option.map(ToOwned::to_owned).or_else(|| env::var_os("PSRP_HISTORY"));
    let path = named.map(PathBuf::from).or_else(|| Some(state_folder()?.join("psrp/history")))?;
    (!path.as_os_str().is_empty()).then_some(path)
}

fn state_folder() -> Option<PathBuf> {
    if cfg!(windows) {
        return env::var_os("LOCALAPPDATA").map(PathBuf::from);
    }
    if cfg!(target_os = "macos") {
        return Some(env::home_dir()?.join("Library/Application Support"));
    }
    let named = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(env::home_dir()?.join(".local/state")))
}

/// Creates a directory and its parents, readable only by this user.
pub(crate) fn create_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Returns whether a script is excluded from the file: it starts with a space or may contain a secret.
fn is_private(script: &str) -> bool {
    let lower = script.to_ascii_lowercase();
    script.starts_with(' ') || SENSITIVE.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_entries_are_not_saved() {
        let folder = env::temp_dir().join(format!("psrp-history-{}", std::process::id()));
        let path = folder.join("state/history");
        let mut history = History::open(path.clone());
        assert_eq!(history.lines().count(), 0);
        for script in [
            "Get-Date",
            " Get-Location",
            "$Password = 1",
            "ConvertTo-SecureString x -AsPlainText",
            "$x.ApiKey",
            "$GITHUB_TOKEN",
            "Get-Secret",
            "'a\\n'\n# two lines",
        ] {
            history.add(script).unwrap();
        }
        let expected = ["Get-Date", "'a\\n'\n# two lines"];
        assert_eq!(History::open(path.clone()).lines().collect::<Vec<_>>(), expected);
        // Another shell has appended an entry.
        History::open(path.clone()).add("2").unwrap();
        history.add("3").unwrap();
        assert_eq!(History::open(path.clone()).lines().skip(2).collect::<Vec<_>>(), ["2", "3"]);
        #[cfg(unix)]
        for (path, mode) in [(&path, 0o600), (&folder.join("state"), 0o700)] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
        }
        fs::write(&path, [0xFF]).unwrap();
        let error = History::open(path).add("4").unwrap_err();
        assert!(error.starts_with(&format!("psrp: {}", folder.display())), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}
