//! File systems for tests with permission to mount.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted file system. Dropping it unmounts it.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// Mounts a small file system in memory. Returns `None` and reports it if mounting is not permitted.
    pub(crate) fn small(path: &Path, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        let size = format!("size={bytes},mode=700");
        Self::done(path, run(&["mount", "-t", "tmpfs", "-o", &size, "tmpfs"], path))
    }

    /// Mounts a folder read-only over itself.
    pub(crate) fn cover(path: &Path) -> Option<Self> {
        let small = Self::done(path, run(&["mount", "--bind", &path.display().to_string()], path))?;
        assert!(run(&["mount", "-o", "remount,bind,ro"], path));
        Some(small)
    }

    fn done(path: &Path, is_mounted: bool) -> Option<Self> {
        if !is_mounted {
            test_support::optional::skip("a file system can only be mounted by root");
        }
        is_mounted.then(|| Self(path.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Unmounts even while files are open.
        run(&["umount", "-l"], &self.0);
    }
}

fn run(command: &[&str], path: &Path) -> bool {
    let output = Command::new(command[0]).args(&command[1..]).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}
