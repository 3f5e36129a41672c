//! File systems of their own, for those who may mount them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system, until this is dropped.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// A small one in memory. `None`, with a word of it, for who may not mount anything.
    pub(crate) fn small(path: &Path, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        let size = format!("size={bytes},mode=700");
        Self::done(path, run(&["mount", "-t", "tmpfs", "-o", &size, "tmpfs"], path))
    }

    /// The folder once more in its own place, where nothing can be written.
    pub(crate) fn cover(path: &Path) -> Option<Self> {
        let small = Self::done(path, run(&["mount", "--bind", &path.display().to_string()], path))?;
        assert!(run(&["mount", "-o", "remount,bind,ro"], path));
        Some(small)
    }

    fn done(path: &Path, is_mounted: bool) -> Option<Self> {
        if !is_mounted {
            #[allow(clippy::print_stderr, reason = "a test that is passed over should be seen")]
            {
                eprintln!("SKIPPED: a file system can only be mounted by root");
            }
        }
        is_mounted.then(|| Self(path.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Also while files are open.
        run(&["umount", "-l"], &self.0);
    }
}

fn run(command: &[&str], path: &Path) -> bool {
    let output = Command::new(command[0]).args(&command[1..]).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}
