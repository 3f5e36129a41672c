//! The history of a shell in a file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use rustyline::Config;
use rustyline::history::{FileHistory, History as _};

/// Maximum number of entries.
const MAX_ENTRIES: usize = 1000;

/// Scripts with one of these words may contain a secret. They are the words of PSReadLine.
const SENSITIVE: [&str; 5] = ["password", "asplaintext", "token", "apikey", "secret"];

/// Entries of earlier shells, and those of this one that are written to the file.
pub(crate) struct History {
    path: PathBuf,
    entries: FileHistory,
}

impl History {
    /// Reads the file, if there is one. A file that can't be read makes [`add`](Self::add) fail.
    pub(crate) fn open(path: PathBuf) -> Self {
        let mut entries = FileHistory::with_config(&config());
        let _ = entries.load(&path);
        Self { path, entries }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &String> {
        self.entries.iter()
    }

    /// Appends a script to the file, which only its owner can read, unless the script is to be kept out of it.
    pub(crate) fn add(&mut self, script: &str) -> Result<(), String> {
        if is_private(script) {
            return Ok(());
        }
        let written = self.path.parent().map_or(Ok(()), create_folder).map_err(Into::into);
        let written = written.and_then(|()| self.entries.add(script));
        let written = written.and_then(|_| self.entries.append(&self.path));
        let path = self.path.display();
        written
            .map_err(|error| format!("psrp: {path} can't be written (--history names another file): {error}"))
    }
}

/// How entries are kept, in memory and in the file.
pub(crate) fn config() -> Config {
    let builder = Config::builder().max_history_size(MAX_ENTRIES);
    builder.map(|builder| builder.build()).unwrap_or_default()
}

/// The file: that of the command line, else that of `PSRP_HISTORY`, else `psrp/history` in the user's folder for state.
/// An empty name stands for none.
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

fn create_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Whether a script begins with a space, which keeps it out of the file, or may contain a secret.
fn is_private(script: &str) -> bool {
    let lower = script.to_ascii_lowercase();
    script.starts_with(' ') || SENSITIVE.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_survive_and_private_ones_do_not() {
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
        // Another shell has written meanwhile.
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
        assert!(error.starts_with("psrp: /"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}
