//! `cargo xtask bench --instructions`: counts the instructions of hot paths and compares them with a committed
//! file.
//!
//! Callgrind counts the instructions of a program on an emulated processor, unaffected by other programs. The
//! counts depend only on compiler, C library and instruction set, which the file names. If they differ, nothing is
//! compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail, ensure};
use bench_report::sources::load;
use serde::{Deserialize, Serialize};

use crate::process::{Skipped, first_line, lacks, skip, succeed};
use crate::workspace::Workspace;
use crate::{cargo, say};

/// Name of the committed file.
const FILE: &str = "instructions.toml";
/// Maximum deviation from the file, in both directions: an unnoticed improvement would hide a later regression.
const TOLERANCE: f64 = 0.03;
/// Operations per compared run. The first ones fill buffers.
const FEW: u64 = 2;
const MANY: u64 = 12;
/// The smaller input of the growth check; the larger one is four times as large.
const GROWTH_SIZE: u64 = 256;
const MAX_GROWTH: f64 = 4.4;

/// Returns the versions and processor features that determine the counts, besides the code.
fn origin(machine: &str) -> BTreeMap<String, String> {
    // A tool that prints no version differs from all that do.
    let version = |program: &str, argument: &str| first_line(program, &[argument]).unwrap_or_default();
    let entries = [
        ("rustc", version("rustc", "-V")),
        ("libc", version("ldd", "--version")),
        ("valgrind", version("valgrind", "--version")),
        ("machine", machine.to_owned()),
    ];
    entries.map(|(name, value)| (name.to_owned(), value)).into()
}

fn origin_of(program: &Path) -> Result<BTreeMap<String, String>> {
    Ok(origin(run(program, &["--machine"])?.0.trim()))
}

/// The committed file.
#[derive(Debug, Serialize, Deserialize)]
struct Baseline {
    /// Result of [`origin`].
    origin: BTreeMap<String, String>,
    /// Instructions per operation, by row.
    instructions: BTreeMap<String, u64>,
}

pub(crate) fn command(systems: &[String], is_saved: bool, workspace: &Workspace) -> Result<()> {
    if !is_saved {
        return match compare(workspace, systems)? {
            None => Ok(()),
            Some(reason) => bail!("{reason}"),
        };
    }
    ensure!(systems.is_empty(), "the file has all systems or none");
    let program = cargo::released_program(workspace, "instructions")?;
    let baseline = Baseline { origin: origin_of(&program)?, instructions: count(&program, systems)? };
    let text = toml::to_string(&baseline)?;
    let text = format!("# Written by `cargo xtask bench --instructions --save`.\n{text}");
    fs::write(workspace.data().join(FILE), text)?;
    Ok(())
}

/// Counts the rows of the named systems (all by default), prints the counts and compares them. Fails if a count
/// deviates from the file.
pub(crate) fn compare(workspace: &Workspace, systems: &[String]) -> Result<Skipped> {
    skip!(lacks("valgrind"));
    let baseline: Baseline = load(&workspace.data(), FILE)?;
    let difference = |here: BTreeMap<String, String>| {
        (here != baseline.origin).then(|| format!("counted with {:?}, here is {here:?}", baseline.origin))
    };
    // Checked before the build, which takes minutes and is needed only for the instruction set.
    skip!(difference(origin(baseline.origin.get("machine").map_or("", String::as_str))));
    let program = cargo::released_program(workspace, "instructions")?;
    skip!(difference(origin_of(&program)?));
    let counted = count(&program, systems)?;
    let mut problems = Vec::new();
    for (row, &now) in &counted {
        let Some(&before) = baseline.instructions.get(row) else {
            problems.push(format!("{row} is not in the file"));
            continue;
        };
        let change = now as f64 / before as f64 - 1.0;
        say(&format!("{row:<30} {before:>10} {now:>10} {:>+7.2} %\n", change * 100.0));
        if change.abs() > TOLERANCE {
            problems.push(format!("{row}: {before} instructions became {now}"));
        }
    }
    let is_gone = |row: &&String| selects(systems, row) && !counted.contains_key(*row);
    problems.extend(baseline.instructions.keys().filter(is_gone).map(|row| format!("{row} is gone")));
    ensure!(
        problems.is_empty(),
        "{}\nIf that is meant: cargo xtask bench --instructions --save",
        problems.join("\n")
    );
    Ok(None)
}

/// Checks that four times as much input takes at most [`MAX_GROWTH`] times as many instructions. Fails if a row takes
/// more.
pub(crate) fn check_growth(workspace: &Workspace) -> Result<Skipped> {
    skip!(lacks("valgrind"));
    let program = cargo::tested_program(workspace, "linear")?;
    let (list, _) = run(&program, &[])?;
    let growths = by_all_processors(list.lines(), |work| {
        let count = |size: u64| anyhow::Ok(run(&program, &[work, &size.to_string()])?.1 as f64);
        // The start of the program and other fixed work.
        let fixed = count(1)?;
        let growth = (count(4 * GROWTH_SIZE)? - fixed) / (count(GROWTH_SIZE)? - fixed);
        Ok((work, growth))
    })?;
    let mut problems = Vec::new();
    for (work, growth) in growths {
        say(&format!("{work:<36} {growth:>6.2}\n"));
        if growth > MAX_GROWTH {
            problems.push(format!("{work}: four times the input takes {growth:.2} times the instructions"));
        }
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(None)
}

fn selects(systems: &[String], row: &str) -> bool {
    systems.is_empty()
        || row.split_once('/').is_some_and(|(system, _)| systems.iter().any(|one| one == system))
}

/// Runs a program under callgrind. Returns its output and the number of instructions.
fn run(program: &Path, arguments: &[&str]) -> Result<(String, u64)> {
    let mut command = Command::new("valgrind");
    // Callgrind prints the total; the output file with the counts of each function is not needed.
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program).args(arguments);
    // The allocator of the C library otherwise depends on the number of processors.
    let finished = succeed(command.env("MALLOC_ARENA_MAX", "1"))?;
    // A line such as `==1== Collected : 1234`.
    let count =
        finished.stderr.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    Ok((finished.stdout, count.context("valgrind tells no count")?))
}

/// Returns the instructions per operation, by row.
fn count(program: &Path, systems: &[String]) -> Result<BTreeMap<String, u64>> {
    let (list, _) = run(program, &["--list"])?;
    let rows = list.lines().filter(|row| selects(systems, row));
    let counts = by_all_processors(rows, |row| {
        let executed = |times: u64| run(program, &[row, &times.to_string()]).map(|(_, count)| count);
        let (few, many) = (executed(FEW)?, executed(MANY)?);
        let count = many.checked_sub(few).with_context(|| format!("{row}: more took less"))?;
        Ok((row.to_owned(), count / (MANY - FEW)))
    })?;
    ensure!(!counts.is_empty(), "no row is of {}", systems.join(", "));
    Ok(counts)
}

/// Splits the work among all processors and returns the results by key.
fn by_all_processors<'a, K: Ord + Send, V: Send>(
    names: impl Iterator<Item = &'a str>,
    work: impl Fn(&'a str) -> Result<(K, V)> + Sync,
) -> Result<BTreeMap<K, V>> {
    let names: Vec<_> = names.collect();
    let processors = thread::available_parallelism()?.get();
    thread::scope(|scope| {
        let (names, work) = (&names, &work);
        let part = |first| names.iter().skip(first).step_by(processors).map(|name| work(name)).collect();
        let threads: Vec<_> = (0..processors).map(|first| scope.spawn(move || part(first))).collect();
        let parts = threads.into_iter().map(|thread| thread.join().expect("a thread does not panic"));
        let parts: Vec<Vec<_>> = parts.collect::<Result<_>>()?;
        Ok(parts.into_iter().flatten().collect())
    })
}
