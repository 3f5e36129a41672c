//! `cargo xtask dist`: builds the programs and their packages, one kind per file in `dist/`.

mod debian;
mod documents;
mod image;
mod tarballs;
mod wheels;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};

use crate::interop::{self, Language};
use crate::process::{self, Skipped, succeed};
use crate::workspace::Workspace;
use crate::{cargo, note, say};

/// Build the packages of the programs pypi-proxy and psrp, in the folder target/dist
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Build only these kinds
    #[arg(value_name = "KIND", value_parser = KINDS.map(|kind| kind.name))]
    kinds: Vec<String>,
}

struct Kind {
    name: &'static str,
    /// Builds the packages into a folder.
    build: fn(&Dist<'_>, &Path) -> Result<Skipped>,
    /// Tests the packages in `dist.out` on this machine.
    test: fn(&Dist<'_>) -> Result<Skipped>,
}

const KINDS: [Kind; 4] = [
    Kind { name: "wheels", build: wheels::build, test: wheels::test },
    Kind { name: "debian", build: debian::build, test: debian::test },
    Kind { name: "tarballs", build: tarballs::build, test: tarballs::test },
    Kind { name: "image", build: image::build, test: image::test },
];

/// The crates of the programs, each with the name of its program.
const CRATES: [(&str, &str); 2] = [("pypi-proxy", "pypi-proxy"), ("psrp-cli", "psrp")];
/// Version of the programs.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// File with the checksums of all packages.
const CHECKSUMS: &str = "SHA256SUMS";

/// The built programs, and where their packages go.
struct Dist<'workspace> {
    workspace: &'workspace Workspace,
    /// Folder of the programs below the target directory.
    programs: String,
    /// Folder of the finished packages.
    out: PathBuf,
    /// Whether the programs are built as published; otherwise not optimized, for the gate.
    is_release: bool,
    /// Python interpreter beside the tools of `dist/requirements.txt`, or the reason why it is missing.
    tools: Result<PathBuf>,
}

impl<'workspace> Dist<'workspace> {
    /// Builds the programs and creates the folder of the packages.
    ///
    /// All kinds of packages contain the same programs: those of the wheels, which run with an old glibc. Without the tools
    /// for wheels, the programs need the glibc of this machine.
    fn build(workspace: &'workspace Workspace, is_release: bool) -> Result<Self> {
        let place = workspace.target.join("dist");
        let tools = if cfg!(target_os = "linux") {
            let pins = workspace.root.join("xtask/src/dist/requirements.txt");
            interop::install(Language::Python, &pins, &place.join("tools"))
        } else {
            Err(anyhow!("wheels are built on Linux only"))
        };
        let folder = if is_release { "release" } else { "debug" };
        let programs =
            if tools.is_ok() { format!("{}/{folder}", wheels::target()) } else { folder.to_owned() };
        let dist = Self { workspace, programs, out: place.join(folder), is_release, tools };
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
            dist.check_paths(name)?;
        }
        fs::create_dir_all(&dist.out)?;
        Ok(dist)
    }

    /// Adds options to a command of cargo or maturin that builds a program, and runs it.
    fn finish_build(&self, mut command: Command) -> Result<()> {
        command.arg("--locked").env("CARGO_INCREMENTAL", "0");
        let paths = self.private_paths()?;
        let of_rust = paths.each_ref().map(|path| format!("--remap-path-prefix={path}="));
        let of_c = paths.map(|path| format!("-ffile-prefix-map={path}="));
        command.env("CARGO_ENCODED_RUSTFLAGS", of_rust.join("\x1f")).env("CFLAGS", of_c.join(" "));
        if self.is_release {
            // Without the names of functions, which only debuggers and backtraces need.
            command.arg("--release").env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
        }
        process::finish(command)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.workspace.program(&self.programs, name)
    }

    /// Returns the folders of this machine that programs must not name.
    fn private_paths(&self) -> Result<[String; 3]> {
        let cargo = env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo = cargo.or_else(|| Some(env::home_dir()?.join(".cargo"))).context("cargo has no folder")?;
        let paths = [&self.workspace.root, &self.workspace.target, &cargo];
        Ok(paths.map(|path| path.to_string_lossy().into_owned()))
    }

    /// Fails if a program names a folder of this machine.
    fn check_paths(&self, name: &str) -> Result<()> {
        // A short path of a folder alone may occur by chance.
        for (path, part) in self.private_paths()?.into_iter().zip(["crates", &self.programs, "registry"]) {
            let path = format!("{path}/{part}/");
            let mut grep = Command::new("grep");
            grep.args(["--quiet", "--text", "--fixed-strings", &path]).arg(self.program(name));
            ensure!(!process::works(&mut grep), "the program {name} names the folder {path}");
        }
        Ok(())
    }

    /// Returns the time of all files in packages, in seconds since 1970: that of the commit, unless `SOURCE_DATE_EPOCH` is
    /// set.
    fn date(&self) -> Result<String> {
        env::var("SOURCE_DATE_EPOCH").or_else(|_| self.commit("%ct"))
    }

    /// Returns [`date`](Self::date) in a format of GNU date.
    fn formatted_date(&self, format: &str) -> Result<String> {
        let date = format!("@{}", self.date()?);
        process::first_line("date", &["--utc", format, "--date", &date]).context("there is no GNU date")
    }

    /// Returns a field of the checked-out commit; see `git log --format`.
    fn commit(&self, field: &str) -> Result<String> {
        let printed = self.workspace.git(&["log", "-1", &format!("--format={field}")])?;
        Ok(printed.trim().to_owned())
    }

    /// Returns the command that creates a tar file with the same bytes from the same files.
    fn tar(&self, file: &Path) -> Result<Command> {
        let mut tar = Command::new("tar");
        tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=a=rX,u+w"]);
        tar.args(["--format=gnu", &format!("--mtime=@{}", self.date()?)]).arg("--file").arg(file);
        Ok(tar)
    }

    /// Builds the kinds, tests them if they are not those of a release, and writes the checksums. Returns what was skipped,
    /// with the reasons.
    fn finish(&self, is_wanted: impl Fn(&Kind) -> bool) -> Result<Vec<String>> {
        let mut missing = Vec::new();
        for kind in KINDS.into_iter().filter(is_wanted) {
            let mut reason = (kind.build)(self, &self.out).context(kind.name)?;
            if reason.is_none() && !self.is_release {
                reason = (kind.test)(self).context(kind.name)?;
            }
            missing.extend(reason.map(|reason| format!("{}: {reason}", kind.name)));
        }
        let mut names = names(&self.out)?;
        names.retain(|name| name != CHECKSUMS);
        let sums = succeed(Command::new("sha256sum").args(names).current_dir(&self.out))?;
        fs::write(self.out.join(CHECKSUMS), sums.stdout)?;
        Ok(missing)
    }

    /// Compares the packages in a folder with those of the first build.
    fn compare(&self, again: &Path) -> Result<()> {
        for name in names(again)? {
            let is_same = fs::read(again.join(&name))? == fs::read(self.out.join(&name))?;
            ensure!(is_same, "{name} differs when it is built again");
        }
        Ok(())
    }
}

/// Returns the names of the files in a folder, in alphabetical order.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let mut names = entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    for reason in release(workspace, &options.kinds)? {
        note(&format!("skipped: {reason}"));
    }
    Ok(())
}

/// Builds these kinds of packages as published (all if there are none), and lists the files. Returns the kinds that were
/// skipped, with the reasons.
pub(crate) fn release(workspace: &Workspace, kinds: &[String]) -> Result<Vec<String>> {
    let dist = Dist::build(workspace, true)?;
    let missing = dist.finish(|kind| kinds.is_empty() || kinds.iter().any(|name| name == kind.name))?;
    for name in names(&dist.out)? {
        let path = dist.out.join(name);
        say(&format!("{:>12} bytes  {}\n", path.metadata()?.len(), path.display()));
    }
    Ok(missing)
}

/// Builds and tests every kind of package. Returns what was skipped, with the reasons.
pub(crate) fn test(workspace: &Workspace) -> Result<Vec<String>> {
    Dist::build(workspace, false)?.finish(|_| true)
}
