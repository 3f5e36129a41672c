//! Peers in other languages: resident programs, which the suites run (see `benches/README.md`). This module builds and
//! lists them, and runs `cargo xtask peers check`.

mod file;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use bench_report::model::{Implementation, Missing, Program, Role};
use bench_report::sources::load;

use crate::process::{self, succeed};
use crate::workspace::Workspace;
use crate::{cargo, say};
use file::{Peer, PeersFile, Toolchain};

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

/// `cargo xtask peers check`: builds every peer (those in Rust with `cargo check`) and reports the missing ones. With
/// `runs`, runs each implementation of each row once.
pub(crate) fn check(workspace: &Workspace, runs: bool) -> Result<()> {
    let prepared = prepare(workspace, None, if runs { Cargo::Build } else { Cargo::Check })?;
    for (language, version) in &prepared.versions {
        say(&format!("{language}: {version}\n"));
    }
    for program in &prepared.programs {
        let names: BTreeSet<String> = program.implementations.iter().map(named).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        say(&format!("ready: {names} ({}, {})\n", program.language, program.system));
    }
    for missing in &prepared.missing {
        say(&format!("missing: {} ({}): {}\n", missing.peer, missing.language, missing.reason));
    }
    let (ready, missing) = (prepared.programs.len(), prepared.missing.len());
    say(&format!("{ready} programs ready, {missing} peers missing; Rust peers are linked into the suites\n"));
    if !runs {
        return Ok(());
    }
    let mut test = cargo::bench(workspace, &["--test"]);
    let output = process::output(test.env("BENCH_PEERS", write_list(&prepared, workspace)?))?;
    let failures: Vec<&str> = output.lines().filter(|line| line.contains(" failed: ")).collect();
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(())
}

fn named(implementation: &Implementation) -> String {
    let version = implementation.version.as_ref().map(|version| format!(" {version}"));
    format!("{}{}", implementation.name, version.unwrap_or_default())
}

/// Writes the list of programs that the suites read (environment variable `BENCH_PEERS`), and returns its path.
pub(crate) fn write_list(prepared: &Prepared, workspace: &Workspace) -> Result<PathBuf> {
    fs::create_dir_all(workspace.report())?;
    let path = workspace.report().join("peers.json");
    fs::write(&path, serde_json::to_vec_pretty(&prepared.programs)?)?;
    Ok(path)
}

/// Builds the peers of the given systems (`None`: all). A peer that fails to build is reported as missing, which is not an
/// error.
pub(crate) fn prepare(workspace: &Workspace, systems: Option<&[String]>, cargo: Cargo) -> Result<Prepared> {
    let file: PeersFile = load(&workspace.data(), "peers.toml")?;
    let mut prepared = Prepared { missing: file.missing.clone(), ..Prepared::default() };
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
        let ready = if let Some(version) = version() {
            prepared.versions.push((language.clone(), version));
            if peers.is_empty() {
                continue;
            }
            ready_toolchain(toolchain, workspace, cargo).map_err(|error| format!("{error:#}"))
        } else {
            let package = &toolchain.package;
            Err(format!("`{}` cannot be run here; it is in {package}", toolchain.version.join(" ")))
        };
        for peer in peers {
            let built = ready
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|place| build(peer, place).map_err(|error| format!("{error:#}")));
            match built {
                Ok(program) => prepared.programs.push(with_versions(program, &prepared.versions)),
                Err(reason) => {
                    let names: BTreeSet<String> = peer.implementations().map(|one| one.name).collect();
                    prepared.missing.extend(names.into_iter().map(|name| Missing {
                        peer: name,
                        language: language.clone(),
                        reason: reason.clone(),
                    }));
                }
            }
        }
    }
    Ok(prepared)
}

/// Gives implementations without a version, which belong to a standard library, that of their language.
fn with_versions(mut program: Program, versions: &[(String, String)]) -> Program {
    let line = versions.last().map_or("", |(_, line)| line);
    for one in &mut program.implementations {
        if one.version.is_none() && one.role == Role::Peer {
            one.version = version_number(line);
        }
    }
    program
}

/// Returns the number in a line that a compiler or interpreter prints as its version.
fn version_number(line: &str) -> Option<String> {
    let number = |word: &str| word.trim_start_matches(char::is_alphabetic).trim_end_matches(',').to_owned();
    let is_number =
        |word: &String| word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    line.split_whitespace().map(number).find(is_number)
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
        // Installed packages there remain.
        succeed(Command::new("cp").arg("-R").arg(source.join(".")).arg(&out))?;
        out.clone()
    } else {
        source
    };
    let place = Place { directory, out, cargo };
    toolchain.prepare.iter().try_for_each(|command| build_step(command, &place))?;
    Ok(place)
}

fn build(peer: &Peer, place: &Place) -> Result<Program> {
    peer.build.iter().try_for_each(|command| build_step(command, place))?;
    let mut command = place.expanded(&peer.run);
    let program = command.first_mut().context("an empty command in peers.toml")?;
    if !program.contains('/') {
        let found = process::find(program).with_context(|| format!("there is no {program}"))?;
        *program = found.to_string_lossy().into_owned();
    }
    Ok(Program {
        system: peer.system.clone(),
        language: peer.language.clone(),
        command,
        directory: place.directory.clone(),
        implementations: peer.implementations().collect(),
    })
}

fn build_step(command: &[String], place: &Place) -> Result<()> {
    let command = place.expanded(command);
    let (program, arguments) = command.split_first().context("an empty command in peers.toml")?;
    succeed(Command::new(program).args(arguments).current_dir(&place.directory)).map(drop)
}

impl Place {
    /// Replaces `{out}`, `{check_or_build}` and `{profile}` in the words of a command.
    fn expanded(&self, command: &[String]) -> Vec<String> {
        let (subcommand, profile) = match self.cargo {
            Cargo::Check => ("check", "dev"),
            Cargo::Build => ("build", "release"),
        };
        let expand = |word: &String| {
            let word = word.replace("{out}", &self.out.to_string_lossy());
            word.replace("{check_or_build}", subcommand).replace("{profile}", profile)
        };
        command.iter().map(expand).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced() {
        let place = Place { directory: PathBuf::new(), out: "/o".into(), cargo: Cargo::Check };
        let words = ["{out}/x", "--{profile}", "{unknown}"].map(str::to_owned);
        assert_eq!(place.expanded(&words), ["/o/x", "--dev", "{unknown}"]);
    }

    #[test]
    fn versions_are_found_in_lines() {
        let lines =
            ["go version go1.26.8 linux/amd64", "g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "v20.20.2", "none"];
        let found = lines.map(|line| version_number(line).unwrap_or_default());
        assert_eq!(found, ["1.26.8", "12.2.0", "20.20.2", ""]);
    }
}
