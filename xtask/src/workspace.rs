//! Paths in the workspace.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::succeed;

#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    /// Whether cargo writes incremental data. A single build is faster without it.
    pub(crate) is_incremental: bool,
}

impl Workspace {
    /// Finds the workspace this binary was built from.
    pub(crate) fn find() -> Result<Self> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().context("xtask lies below the root of the workspace")?.to_owned();
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(directory) => root.join(directory),
            None => root.join("target"),
        };
        Ok(Self { root, target, is_incremental: true })
    }

    /// Folder of the committed figures and mappings of the benchmarks.
    pub(crate) fn data(&self) -> PathBuf {
        self.root.join("benches/data")
    }

    pub(crate) fn report(&self) -> PathBuf {
        self.target.join("report")
    }

    /// Returns what git prints.
    pub(crate) fn git(&self, arguments: &[&str]) -> Result<String> {
        Ok(succeed(Command::new("git").args(arguments).current_dir(&self.root))?.stdout)
    }

    /// Path of a program in the folder of a profile.
    pub(crate) fn program(&self, folder: &str, name: &str) -> PathBuf {
        self.target.join(folder).join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    pub(crate) fn scratch(&self) -> PathBuf {
        self.target.join("xtask")
    }
}
