//! `cargo xtask dist`: builds the programs and their packages, one kind per file in `dist/`.

mod debian;
mod documents;
mod image;
mod tarballs;
mod wheels;

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;

use crate::interop::{self, Language};
use crate::process::{self, Skipped};
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
    profile: Profile,
    /// Python interpreter beside the tools of `dist/requirements.txt`, or the reason why it is missing.
    tools: Result<PathBuf>,
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
    ///
    /// All kinds of packages contain the same programs: those of the wheels, which run with an old glibc. Without the tools
    /// for wheels, the programs need the glibc of this machine.
    pub(crate) fn build(workspace: &'workspace Workspace, profile: Profile) -> Result<Self> {
        let place = workspace.target.join("dist");
        let tools = if cfg!(target_os = "linux") {
            let pins = workspace.root.join("xtask/src/dist/requirements.txt");
            interop::install(Language::Python, &pins, &place.join("tools"))
        } else {
            Err(anyhow!("wheels are built on Linux only"))
        };
        let folder = match profile {
            Profile::Release => "release",
            Profile::Dev => "debug",
        };
        let target = if tools.is_ok() { format!("{}/{folder}", wheels::target()) } else { folder.to_owned() };
        let program = |name| workspace.program(&target, name);
        let out = place.join(folder);
        let dist =
            Self { workspace, pypi_proxy: program("pypi-proxy"), psrp: program("psrp"), out, profile, tools };
        // It may have wheels of another version.
        let wheels = wheels::folder(workspace);
        process::empty(&wheels)?;
        // One by one, so that the features of a program do not depend on the other one.
        for (package, name) in CRATES {
            match &dist.tools {
                Ok(python) => wheels::create(&dist, python, package, &wheels),
                Err(_) => dist.finish_build(cargo::command(workspace, &["build", "--package", package])),
            }
            .with_context(|| format!("{name} does not build"))?;
        }
        fs::create_dir_all(&dist.out)?;
        Ok(dist)
    }

    /// Adds options to a command of cargo or maturin that builds a program, and runs it.
    fn finish_build(&self, mut command: Command) -> Result<()> {
        command.arg("--locked").env("CARGO_INCREMENTAL", "0");
        if self.profile == Profile::Release {
            // Without the names of functions, which only debuggers and backtraces need.
            command.arg("--release").env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
        }
        process::finish(command)
    }

    /// Returns the time of all files in packages, in seconds since 1970: that of the commit, unless `SOURCE_DATE_EPOCH` is
    /// set.
    fn date(&self) -> Result<String> {
        env::var("SOURCE_DATE_EPOCH").or_else(|_| self.commit("%ct"))
    }

    /// Returns a field of the checked-out commit; see `git log --format`.
    fn commit(&self, field: &str) -> Result<String> {
        let root = self.workspace.root.to_string_lossy();
        process::first_line("git", &["-C", &root, "log", "-1", &format!("--format={field}")])
            .context("git cannot read the commit")
    }
}

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    let kinds = if options.kinds.is_empty() { Kind::value_variants() } else { &options.kinds };
    for reason in build(kinds, workspace)? {
        note(&format!("skipped: {reason}"));
    }
    Ok(())
}

/// Builds every kind of package as published. Returns what was skipped, with the reasons.
pub(crate) fn release(workspace: &Workspace) -> Result<Vec<String>> {
    build(Kind::value_variants(), workspace)
}

/// Builds the packages and lists them. Returns the kinds that were skipped, with the reasons.
fn build(kinds: &[Kind], workspace: &Workspace) -> Result<Vec<String>> {
    let dist = Dist::build(workspace, Profile::Release)?;
    let mut missing = Vec::new();
    for kind in kinds {
        let reason = kind.build(&dist).with_context(|| format!("{kind:?}"))?;
        missing.extend(reason.map(|reason| format!("{kind:?}: {reason}")));
    }
    tarballs::write_checksums(&dist)?;
    for entry in fs::read_dir(&dist.out)? {
        let entry = entry?;
        say(&format!("{:>12} bytes  {}\n", entry.metadata()?.len(), entry.path().display()));
    }
    Ok(missing)
}

/// Builds and tests every kind of package. Returns what was skipped, with the reasons.
pub(crate) fn test(workspace: &Workspace) -> Result<Vec<String>> {
    let dist = Dist::build(workspace, Profile::Dev)?;
    let mut missing = Vec::new();
    for kind in Kind::value_variants() {
        let context = || format!("{kind:?}");
        let mut reason = kind.build(&dist).with_context(context)?;
        if reason.is_none() {
            reason = kind.test(&dist).with_context(context)?;
        }
        missing.extend(reason.map(|reason| format!("{kind:?}: {reason}")));
    }
    tarballs::write_checksums(&dist)?;
    tarballs::verify_checksums(&dist)?;
    Ok(missing)
}
