//! Peers in other languages: preparing and running them, and `cargo xtask peers check`.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::data::peers::{Format, Peer, PeersFile, Toolchain};
use crate::model::Missing;
use crate::parse::{Sample, benchfmt, lines, pyperf};
use crate::process::{self, Finished};
use crate::stats::median;
use crate::workspace::Workspace;

/// Time limit for downloads and builds. A peer that takes longer is reported as missing.
const BUILD_LIMIT: Duration = Duration::from_secs(900);

/// A peer that is ready to run.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) peer: Peer,
    directory: PathBuf,
    out: PathBuf,
}

/// The result of preparing the peers.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) programs: Vec<Program>,
    pub(crate) missing: Vec<Missing>,
    /// Version lines by language.
    pub(crate) versions: Vec<(String, String)>,
}

/// How cargo prepares the peers in Rust.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cargo {
    /// `cargo check`, for peers that are not measured; takes half the time.
    Check,
    Build,
}

/// `cargo xtask peers check`: builds every peer (those in Rust with `cargo check`) and reports the missing ones.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let file = PeersFile::load(&workspace.data())?;
    let prepared = prepare(&file, workspace, None, None, Cargo::Check);
    for (language, version) in &prepared.versions {
        crate::say(&format!("{language}: {version}\n"));
    }
    for Program { peer, .. } in &prepared.programs {
        for implementation in &peer.implementations {
            let version = implementation.version.as_ref().map(|version| format!(" {version}"));
            let version = version.unwrap_or_default();
            crate::say(&format!(
                "ready: {}{version} ({}, {})\n",
                implementation.name, peer.language, peer.system
            ));
        }
    }
    for missing in &prepared.missing {
        crate::say(&format!("missing: {} ({}): {}\n", missing.peer, missing.language, missing.reason));
    }
    let (ready, missing) = (prepared.programs.len(), prepared.missing.len());
    crate::say(&format!(
        "{ready} programs ready, {missing} peers missing; Rust peers are linked into the suites\n"
    ));
    Ok(())
}

/// Writes the list of programs that the suites read (environment variable `BENCH_PEERS`).
pub(crate) fn write_list(_: &Prepared, path: &Path) -> Result<()> {
    Ok(fs::write(path, "[]")?)
}

/// Builds the peers of the given languages and systems (`None`: all). A peer that fails to build is reported as
/// missing, which is not an error.
pub(crate) fn prepare(
    file: &PeersFile,
    workspace: &Workspace,
    languages: Option<&[String]>,
    systems: Option<&[String]>,
    cargo: Cargo,
) -> Prepared {
    let mut prepared = Prepared::default();
    for toolchain in &file.toolchains {
        let language = &toolchain.language;
        let peers: Vec<&Peer> = file
            .peers
            .iter()
            .filter(|peer| peer.language == *language)
            .filter(|peer| systems.is_none_or(|systems| systems.contains(&peer.system)))
            .collect();
        let arguments: Vec<&str> = toolchain.version.iter().skip(1).map(String::as_str).collect();
        let version = || process::first_line(toolchain.version.first()?, &arguments);
        let ready = if languages.is_some_and(|languages| !languages.contains(language)) {
            Err("not asked for".to_owned())
        } else if let Some(version) = version() {
            prepared.versions.push((language.clone(), version));
            if peers.is_empty() {
                continue;
            }
            ready_toolchain(toolchain, workspace, cargo).map_err(|error| format!("{error:#}"))
        } else {
            Err(format!("`{}` cannot be run here", toolchain.version.join(" ")))
        };
        for peer in peers {
            let built = ready
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|place| build(peer, place, workspace).map_err(|error| format!("{error:#}")));
            match built {
                Ok(program) => prepared.programs.push(program),
                Err(reason) => prepared.missing.extend(peer.implementations.iter().map(|one| Missing {
                    peer: one.name.clone(),
                    language: language.clone(),
                    reason: reason.clone(),
                })),
            }
        }
    }
    prepared
}

/// Folders of one language's programs.
#[derive(Debug)]
struct Place {
    directory: PathBuf,
    out: PathBuf,
    cargo: Cargo,
}

fn ready_toolchain(toolchain: &Toolchain, workspace: &Workspace, cargo: Cargo) -> Result<Place> {
    let source = workspace.root.join(&toolchain.directory);
    let out = workspace.target.join("peers").join(&toolchain.language);
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let directory = if toolchain.staged {
        copy_tree(&source, &out)?;
        out.clone()
    } else {
        source
    };
    let place = Place { directory, out, cargo };
    for command in &toolchain.prepare {
        build_step(command, &place, workspace)?;
    }
    Ok(place)
}

fn build(peer: &Peer, place: &Place, workspace: &Workspace) -> Result<Program> {
    for command in &peer.build {
        build_step(command, place, workspace)?;
    }
    Ok(Program { peer: peer.clone(), directory: place.directory.clone(), out: place.out.clone() })
}

fn build_step(command: &[String], place: &Place, workspace: &Workspace) -> Result<()> {
    let out = place.out.to_string_lossy();
    let (subcommand, profile) = match place.cargo {
        Cargo::Check => ("check", "dev"),
        Cargo::Build => ("build", "release"),
    };
    let values = HashMap::from([("out", &*out), ("check_or_build", subcommand), ("profile", profile)]);
    let mut command = expanded(command, &place.directory, &values, None)?;
    let finished = process::run(&mut command, &workspace.scratch().join("build"), BUILD_LIMIT)?;
    if !finished.status.success() {
        bail!("{:?} failed: {}", command.get_program(), finished.complaint());
    }
    Ok(())
}

/// Copies files and directories. Other files in `to`, such as installed packages, remain.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "node_modules" {
                copy_tree(&entry.path(), &target)?;
            }
        } else {
            fs::copy(entry.path(), &target)
                .with_context(|| format!("cannot copy to {}", target.display()))?;
        }
    }
    Ok(())
}

/// Replaces `{name}` in every argument.
fn expanded(
    command: &[String],
    directory: &Path,
    values: &HashMap<&str, &str>,
    processor: Option<usize>,
) -> Result<Command> {
    let mut arguments = command.iter().map(|argument| {
        values
            .iter()
            .fold(argument.clone(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    });
    let mut expanded =
        process::pinned(arguments.next().context("an empty command in peers.toml")?, processor);
    expanded.args(arguments).current_dir(directory);
    Ok(expanded)
}

impl Program {
    /// Measures one implementation of one row; `None` if the program has no such row. Fails if the program fails, takes
    /// longer than `limit`, or prints invalid output.
    pub(crate) fn run(
        &self,
        row: &str,
        implementation: &str,
        measure: Duration,
        limit: Duration,
        scratch: &Path,
        processor: Option<usize>,
    ) -> Result<Option<Sample>> {
        let output = scratch.join("output.json");
        if output.exists() {
            fs::remove_file(&output)?;
        }
        // Interpreters compile while they run, so they get twice the time.
        let factor = if self.peer.format == Format::GoBench { 1 } else { 2 };
        let millis = (measure.as_millis() * factor).to_string();
        let pattern = go_pattern(row, implementation);
        let values = HashMap::from([
            ("out", self.out.to_str().context("the target directory is no UTF-8")?),
            ("output", output.to_str().context("the target directory is no UTF-8")?),
            ("row", row),
            ("implementation", implementation),
            ("millis", millis.as_str()),
            ("go_pattern", pattern.as_str()),
        ]);
        let mut command = expanded(&self.peer.run, &self.directory, &values, processor)?;
        let finished = process::run(&mut command, scratch, limit)?;
        if !finished.status.success() {
            bail!("{}", failure(&finished));
        }
        let text = if output.is_file() { fs::read_to_string(&output)? } else { finished.stdout };
        match self.peer.format {
            Format::GoBench => Ok(go_sample(&text, row, implementation)),
            Format::Pyperf => pyperf::sample(&text),
            Format::Lines => lines::sample(&text, &format!("{}/{row}", self.peer.system), implementation),
        }
    }
}

/// Returns the failed benchmark and the reason, which Go prints on the next line.
fn failure(finished: &Finished) -> String {
    let mut lines = finished.stdout.lines();
    match lines.by_ref().find(|line| line.starts_with("--- FAIL")).and_then(|_| lines.next()) {
        Some(reason) => reason.trim().to_owned(),
        None => finished.complaint(),
    }
}

/// Returns the value for `-test.bench`: a regular expression for each part of the name.
fn go_pattern(row: &str, implementation: &str) -> String {
    let name = go_name(row, implementation);
    let parts = name.split('/').map(|part| {
        let quoted: String = part
            .chars()
            .flat_map(|c| {
                let special = !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
                special.then_some('\\').into_iter().chain([c])
            })
            .collect();
        format!("^{quoted}$")
    });
    parts.collect::<Vec<_>>().join("/")
}

/// Returns the name with spaces replaced as the package `testing` does.
fn go_name(row: &str, implementation: &str) -> String {
    format!("BenchmarkRow/{row}/{implementation}").replace(' ', "_")
}

fn go_sample(text: &str, row: &str, implementation: &str) -> Option<Sample> {
    let name = go_name(row, implementation);
    // If GOMAXPROCS is 1, a number at the end belongs to the name.
    let lines: Vec<_> = benchfmt::parse(text)
        .into_iter()
        .filter(|line| line.name == name || line.full_name == name)
        .collect();
    let times: Vec<f64> = lines.iter().filter_map(|line| line.value("ns/op")).collect();
    let line = lines.first()?;
    Some(Sample {
        time_ns: median(&times)?,
        bytes_op: line.value("B/op"),
        allocs_op: line.value("allocs/op"),
        payload_bytes: line.value("payload_bytes/op").map(|bytes| bytes as u64),
        ..Sample::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_patterns_match_whole_parts() {
        assert_eq!(
            go_pattern("large/8KiB", "go-sse v0.11"),
            r"^BenchmarkRow$/^large$/^8KiB$/^go-sse_v0\.11$"
        );
    }

    #[test]
    fn a_go_sample_is_found_by_name() {
        let text = include_str!("../tests/data/go-bench.txt");
        let sample = go_sample(text, "decode_simple_event", "launchdarkly").unwrap();
        assert_eq!(sample.allocs_op, Some(1.0));
        assert_eq!(sample.payload_bytes, Some(269));
        assert_eq!(go_sample(text, "decode_simple_event", "nobody"), None);
    }

    #[test]
    fn placeholders_are_replaced() {
        let command = ["{out}/x", "--row={row}", "{unknown}"].map(str::to_owned);
        let values = HashMap::from([("out", "/o"), ("row", "a b")]);
        let command = expanded(&command, Path::new("/"), &values, None).unwrap();
        assert_eq!(command.get_program(), "/o/x");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["--row=a b", "{unknown}"]);
    }
}
