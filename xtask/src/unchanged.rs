//! Runs a test program unless it has passed before and none of its inputs has changed.
//!
//! In the contributor's check, cargo starts every test program through this command, so that a small change runs
//! only its own tests. The full gate runs all tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};

use crate::note;
use crate::workspace::Workspace;

/// The command through which cargo starts each test program.
pub(crate) const COMMAND: &str = "run-test";

/// Folders whose files are read by tests of other packages: documentation, programs in Go, Python and JavaScript, and
/// event streams.
const SHARED: [&str; 5] = [
    "docs",
    "benches/peers",
    "crates/psrp/tests/peers",
    "crates/tightwire-sse/tests/data",
    "crates/tightwire-sse/tests/mcp",
];

pub(crate) fn command(program: &Path, arguments: &[String], workspace: &Workspace) -> Result<()> {
    // Cargo runs test programs in the folder of their package.
    let package = std::env::current_dir()?;
    // The tests of xtask read the whole workspace, so they always run.
    let may_skip = arguments.is_empty() && package != workspace.root.join("xtask");
    let mark = mark(workspace, program).filter(|_| may_skip);
    let start = SystemTime::now();
    if let Some(mark) = &mark
        && let Ok(passed) = fs::metadata(mark).and_then(|mark| mark.modified())
    {
        let own = [program.to_owned(), package];
        let shared = SHARED.iter().map(|folder| workspace.root.join(folder));
        if !own.into_iter().chain(shared).any(|input| changed_since(&input, passed)) {
            note("unchanged since it passed");
            return Ok(());
        }
    }
    let status = std::process::Command::new(program).args(arguments).status();
    ensure!(
        status.with_context(|| format!("cannot start {}", program.display()))?.success(),
        "the tests failed"
    );
    if let Some(mark) = mark {
        fs::create_dir_all(mark.parent().context("a mark is in a folder")?)?;
        fs::File::create(mark)?.set_modified(start)?;
    }
    Ok(())
}

/// Returns the file whose modification time records when a program last passed; `None` for documentation tests, which
/// are temporary.
fn mark(workspace: &Workspace, program: &Path) -> Option<PathBuf> {
    let name = program.file_name().filter(|_| program.starts_with(&workspace.target))?;
    Some(workspace.target.join("passed").join(name))
}

/// Returns whether a file, or any file in a folder, was modified at or after `time`. An unreadable path counts as modified.
fn changed_since(path: &Path, time: SystemTime) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return true };
    // The time of a folder changes when files are removed.
    if metadata.modified().is_ok_and(|modified| modified < time) {
        return metadata.is_dir()
            && fs::read_dir(path)
                .map_or(true, |entries| entries.flatten().any(|entry| changed_since(&entry.path(), time)));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_in_a_folder_is_noticed() {
        let folder = Workspace::find().unwrap().scratch().join("unchanged");
        let file = folder.join("inner/file");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let after = |seconds| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::write(&file, "").unwrap();
        for path in [&file, &folder.join("inner"), &folder] {
            fs::File::open(path).unwrap().set_modified(after(10)).unwrap();
        }
        assert!(!changed_since(&folder, after(11)));
        assert!(changed_since(&folder, after(10)));
        fs::File::open(&file).unwrap().set_modified(after(12)).unwrap();
        assert!(changed_since(&folder, after(11)));
        assert!(changed_since(&folder.join("missing"), after(11)));
    }
}
