//! Peers in other languages: resident programs, which the suites run (see `benches/README.md`). This module builds and
//! lists them, and runs `cargo xtask peers check`.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use crate::data::peers::{Implementation, Peer, PeersFile, Toolchain};
use crate::process;
use crate::workspace::Workspace;
use bench_report::model::{Missing, Role};

/// Time limit for downloads and builds. A peer that takes longer is reported as missing.
const BUILD_LIMIT: Duration = Duration::from_secs(900);
/// Time limit of an answer, which may include the setup of a row.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// A peer that is ready to run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Program {
    system: String,
    language: String,
    command: Vec<String>,
    directory: PathBuf,
    implementations: Vec<Implementation>,
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

/// `cargo xtask peers check`: builds every peer (those in Rust with `cargo check`) and reports the missing ones. With
/// `runs`, runs each implementation of each row once.
pub(crate) fn check(workspace: &Workspace, runs: bool) -> Result<()> {
    let file = PeersFile::load(&workspace.data())?;
    let cargo = if runs { Cargo::Build } else { Cargo::Check };
    let prepared = prepare(&file, workspace, None, None, cargo);
    for (language, version) in &prepared.versions {
        crate::say(&format!("{language}: {version}\n"));
    }
    for program in &prepared.programs {
        let names: BTreeSet<String> = program.implementations.iter().map(named).collect();
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        crate::say(&format!("ready: {names} ({}, {})\n", program.language, program.system));
    }
    for missing in &prepared.missing {
        crate::say(&format!("missing: {} ({}): {}\n", missing.peer, missing.language, missing.reason));
    }
    let (ready, missing) = (prepared.programs.len(), prepared.missing.len());
    crate::say(&format!(
        "{ready} programs ready, {missing} peers missing; Rust peers are linked into the suites\n"
    ));
    if runs { run_rows(&prepared, &workspace.data()) } else { Ok(()) }
}

fn named(implementation: &Implementation) -> String {
    let version = implementation.version.as_ref().map(|version| format!(" {version}"));
    format!("{}{}", implementation.name, version.unwrap_or_default())
}

/// Writes the list of programs that the suites read (environment variable `BENCH_PEERS`).
pub(crate) fn write_list(prepared: &Prepared, path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let list = serde_json::to_vec_pretty(&prepared.programs)?;
    fs::write(path, list).with_context(|| format!("cannot write {}", path.display()))
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
        let ready = if languages.is_some_and(|languages| !languages.contains(language)) {
            Err("not asked for".to_owned())
        } else if let Some(version) = version() {
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
                .and_then(|place| build(peer, place, workspace).map_err(|error| format!("{error:#}")));
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
    prepared
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
    let values = HashMap::from([("out", place.out.to_str().context("the target directory is no UTF-8")?)]);
    let mut command: Vec<String> = peer.run.iter().map(|argument| expanded(argument, &values)).collect();
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

fn build_step(command: &[String], place: &Place, workspace: &Workspace) -> Result<()> {
    let out = place.out.to_string_lossy();
    let (subcommand, profile) = match place.cargo {
        Cargo::Check => ("check", "dev"),
        Cargo::Build => ("build", "release"),
    };
    let values = HashMap::from([("out", &*out), ("check_or_build", subcommand), ("profile", profile)]);
    let mut arguments = command.iter().map(|argument| expanded(argument, &values));
    let mut command = Command::new(arguments.next().context("an empty command in peers.toml")?);
    command.args(arguments).current_dir(&place.directory);
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

/// Replaces `{name}`.
fn expanded(argument: &str, values: &HashMap<&str, &str>) -> String {
    values.iter().fold(argument.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// Runs each implementation of each row once and prints the failures.
fn run_rows(prepared: &Prepared, data: &Path) -> Result<()> {
    let rows = row_names(data)?;
    let (mut answers, mut failures) = (0, 0);
    for program in &prepared.programs {
        let mut resident = Resident::start(program)?;
        for one in &program.implementations {
            let literal = one.rows.iter().filter(|row| !row.ends_with('*'));
            let keys = rows.iter().filter_map(|key| key.strip_prefix(&program.system)?.strip_prefix('/'));
            let wanted: BTreeSet<&str> =
                keys.chain(literal.clone().map(String::as_str)).filter(|row| one.has(row)).collect();
            for row in wanted {
                // A pattern may match too much, and the documents of some rows are in files that an environment variable names.
                let is_optional = row.contains("_real_") || !literal.clone().any(|name| name == row);
                let failure = match resident.ask(&format!("run\t{row}\t{}\t1", one.name)) {
                    Ok(answer) if answer.starts_with("ok\t") => {
                        answers += 1;
                        continue;
                    }
                    Ok(answer) if answer == "none" && is_optional => continue,
                    Ok(answer) => answer.replace('\t', " "),
                    Err(error) => {
                        resident = Resident::start(program)?;
                        format!("{error:#}")
                    }
                };
                failures += 1;
                crate::say(&format!(
                    "{}/{row}/{} ({}): {failure}\n",
                    program.system, one.name, program.language
                ));
            }
        }
    }
    crate::say(&format!("{answers} rows of peers ran, {failures} failed\n"));
    ensure!(failures == 0, "peers failed");
    Ok(())
}

/// Returns the keys of rows that the data files name.
fn row_names(data: &Path) -> Result<BTreeSet<String>> {
    fn collect(value: &toml::Value, keys: &mut BTreeSet<String>) {
        match value {
            toml::Value::String(text) if text.contains('/') && !text.contains([' ', '*']) => {
                keys.insert(text.clone());
            }
            toml::Value::Array(values) => values.iter().for_each(|value| collect(value, keys)),
            toml::Value::Table(table) => table.values().for_each(|value| collect(value, keys)),
            _ => {}
        }
    }
    let mut keys = BTreeSet::new();
    for name in ["groups.toml", "rows.toml", "seed-rows.toml"] {
        collect(&crate::data::load(data, name)?, &mut keys);
    }
    Ok(keys)
}

/// A running program, which answers each line with a line.
struct Resident {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl Resident {
    fn start(program: &Program) -> Result<Self> {
        let (name, arguments) = program.command.split_first().context("an empty command")?;
        let mut child = Command::new(name)
            .args(arguments)
            .current_dir(&program.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        let input = child.stdin.take().context("standard input is a pipe")?;
        let output = BufReader::new(child.stdout.take().context("standard output is a pipe")?);
        let (sender, answers) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Ok(Self { child, input, answers })
    }

    fn ask(&mut self, request: &str) -> Result<String> {
        writeln!(self.input, "{request}").context("the program has ended")?;
        match self.answers.recv_timeout(ANSWER_LIMIT) {
            Ok(answer) => Ok(answer),
            Err(error) => bail!("no answer: {error}"),
        }
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        // It has ended already, or has nothing left to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced() {
        let values = HashMap::from([("out", "/o"), ("profile", "dev")]);
        assert_eq!(expanded("{out}/x --{profile} {unknown}", &values), "/o/x --dev {unknown}");
    }

    #[test]
    fn versions_are_found_in_lines() {
        let lines =
            ["go version go1.26.8 linux/amd64", "g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "v20.20.2", "none"];
        let found = lines.map(|line| version_number(line).unwrap_or_default());
        assert_eq!(found, ["1.26.8", "12.2.0", "20.20.2", ""]);
    }

    #[test]
    fn residents_answer_in_turn_and_their_end_is_noticed() {
        let command = ["sh", "-c", "read line; echo \"ok $line\"; read line"].map(str::to_owned).to_vec();
        let program = Program {
            system: String::new(),
            language: String::new(),
            command,
            directory: "/".into(),
            implementations: Vec::new(),
        };
        let mut resident = Resident::start(&program).unwrap();
        assert_eq!(resident.ask("run").unwrap(), "ok run");
        assert!(resident.ask("run").unwrap_err().to_string().starts_with("no answer"));
    }
}
