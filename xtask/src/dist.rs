//! `cargo xtask dist`: builds the programs and their packages, one kind per file in `dist/`.

mod debian;
mod image;
mod tarballs;
mod wheels;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::process::Skipped;
use crate::workspace::Workspace;
use crate::{cargo, note, say};

/// Build the packages of the programs pypi-proxy and psrp, in the folder target/dist
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Build only these kinds
    #[arg(value_name = "KIND")]
    kinds: Vec<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Kind {
    Wheels,
    Debian,
    Tarballs,
    Image,
}

impl Kind {
    /// Builds the packages into `dist.out`.
    fn build(self, dist: &Dist<'_>) -> Result<Skipped> {
        match self {
            Self::Wheels => wheels::build(dist),
            Self::Debian => debian::build(dist),
            Self::Tarballs => tarballs::build(dist),
            Self::Image => image::build(dist),
        }
    }

    /// Tests the built packages on this machine.
    fn test(self, dist: &Dist<'_>) -> Result<Skipped> {
        match self {
            Self::Wheels => wheels::test(dist),
            Self::Debian => debian::test(dist),
            Self::Tarballs => tarballs::test(dist),
            Self::Image => image::test(dist),
        }
    }
}

/// The crates of the programs, each with the name of its program.
pub(crate) const CRATES: [(&str, &str); 2] = [("pypi-proxy", "pypi-proxy"), ("psrp-cli", "psrp")];

/// The built programs, and where their packages go.
pub(crate) struct Dist<'workspace> {
    pub(crate) workspace: &'workspace Workspace,
    pub(crate) pypi_proxy: PathBuf,
    pub(crate) psrp: PathBuf,
    /// Folder of the finished packages.
    pub(crate) out: PathBuf,
}

/// How the programs are built.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Profile {
    /// As published.
    Release,
    /// Not optimized, for the gate.
    Dev,
}

impl<'workspace> Dist<'workspace> {
    /// Builds the programs and creates the folder of the packages.
    pub(crate) fn build(workspace: &'workspace Workspace, profile: Profile) -> Result<Self> {
        let mut command = cargo::command(workspace, &["build", "--locked"]);
        for (package, _) in CRATES {
            command.args(["--package", package]);
        }
        let folder = match profile {
            Profile::Release => {
                command.arg("--release");
                "release"
            }
            Profile::Dev => "debug",
        };
        ensure!(command.status().context("cannot start cargo")?.success(), "the programs do not build");
        let out = workspace.target.join("dist").join(folder);
        fs::create_dir_all(&out)?;
        let program = |name| workspace.program(folder, name);
        Ok(Self { workspace, pypi_proxy: program("pypi-proxy"), psrp: program("psrp"), out })
    }
}

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    let dist = Dist::build(workspace, Profile::Release)?;
    let kinds = if options.kinds.is_empty() { Kind::value_variants() } else { &options.kinds };
    for kind in kinds {
        if let Some(reason) = kind.build(&dist).with_context(|| format!("{kind:?}"))? {
            note(&format!("{kind:?}: skipped: {reason}"));
        }
    }
    for entry in fs::read_dir(&dist.out)? {
        let entry = entry?;
        say(&format!("{:>12} bytes  {}\n", entry.metadata()?.len(), entry.path().display()));
    }
    Ok(())
}

/// Builds and tests every kind of package. Returns what was skipped, with the reasons.
pub(crate) fn test(workspace: &Workspace) -> Result<Vec<String>> {
    let dist = Dist::build(workspace, Profile::Dev)?;
    let mut missing = Vec::new();
    for kind in Kind::value_variants() {
        let build = |dist| Ok::<_, anyhow::Error>(kind.build(dist)?.or(kind.test(dist)?));
        let reason = build(&dist).with_context(|| format!("{kind:?}"))?;
        missing.extend(reason.map(|reason| format!("{kind:?}: {reason}")));
    }
    Ok(missing)
}
