//! `cargo xtask fleet`: tests several instances of our proxy that share a bucket.

mod estimate;
mod outcome;
mod scaling;
mod sheets;
mod site;
mod soak;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

pub(crate) use self::outcome::Outcome;
pub(crate) use self::sheets::sheets;
use self::site::{BucketProgram, Programs, Site};
use crate::args::Args;
use crate::interop::{FLEET, VERSITYGW};
use crate::load::{self, procfs, system};
use crate::workspace::Workspace;
use crate::{cargo, machine, note, process, report, say};

pub(crate) const HELP: &str = "\
usage: cargo xtask fleet [--quick] [--soak MINUTES] [--server NAME] [--only PART]... [--ours FILE]

Tests several instances of our proxy that share a bucket. Starts an S3 server, an index and the instances on loopback;
runs the fleet tests with 100 clients and 200 files; measures 1, 2 and 4 instances; and runs a mixed load on three
instances while watching their memory and descriptors. Writes target/report/fleet.json; parts that are not selected
keep the results of the latest run.

  --quick         Fleet tests as in CI, one round of one second, and no soak unless --soak is given
  --soak MINUTES  Duration of the soak test in minutes [default: 30]
  --server NAME   S3 server: s3proxy, versitygw (built once, takes minutes) or rclone (no conditional writes)
                  [default: s3proxy]
  --only PART     Run only this part: tests, scaling or soak
  --ours FILE     Use this pypi-proxy program instead of building it
";

const PARTS: [&str; 3] = ["tests", "scaling", "soak"];

/// Timeout of the tests with all files and clients.
const TESTS: Duration = Duration::from_secs(1800);

struct Options {
    is_quick: bool,
    soak_minutes: usize,
    server: String,
    parts: Vec<String>,
    ours: Option<PathBuf>,
}

impl Options {
    fn read(mut args: Args) -> Result<Self> {
        let is_quick = args.flag("--quick");
        let soak = args.number("--soak")?;
        let options = Self {
            is_quick,
            soak_minutes: soak.unwrap_or(if is_quick { 0 } else { 30 }),
            server: args.value("--server")?.unwrap_or_else(|| "s3proxy".to_owned()),
            parts: args.values("--only")?,
            ours: args.value("--ours")?.map(PathBuf::from),
        };
        args.finish()?;
        if let Some(part) = options.parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
            bail!("unknown part {part}\n\n{HELP}");
        }
        Ok(options)
    }

    fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|wanted| wanted == part)
    }
}

pub(crate) fn command(args: Args) -> Result<()> {
    let options = Options::read(args)?;
    ensure!(
        procfs::is_supported(),
        "processor time and memory are read from /proc, which this system does not have"
    );
    let workspace = Workspace::find()?;
    let mut variables = FLEET.install(&workspace, &mut Vec::new());
    if options.server == "versitygw" {
        variables.extend(VERSITYGW.install(&workspace, &mut Vec::new()));
    }
    let folder = |variable: &str| -> Result<PathBuf> {
        let found =
            variables.iter().find(|(name, _)| *name == variable).and_then(|(_, folder)| folder.clone());
        found.with_context(|| format!("{} is not installed", options.server))
    };
    let bucket = match options.server.as_str() {
        "s3proxy" => BucketProgram::S3proxy(folder("FLEET_JARS")?),
        "versitygw" => BucketProgram::Versitygw(folder("FLEET_VERSITYGW")?),
        "rclone" => BucketProgram::Rclone(folder("FLEET_PYTHON")?),
        other => bail!("unknown server {other}\n\n{HELP}"),
    };
    let path = workspace.report().join("fleet.json");
    let mut outcome = Outcome::new(machine::describe(), machine::date(), &options.server);
    // Parts that are not selected keep the results of an earlier run with the same server.
    if let Some(earlier) = Outcome::read(&path)?.filter(|earlier| earlier.server == options.server) {
        outcome = Outcome { date: outcome.date, machine: outcome.machine, ..earlier };
    }
    outcome.commit = options.ours.is_none().then(|| machine::commit(&workspace.root)).flatten();
    outcome.load_before = machine::load();
    if options.wants("tests") {
        outcome.is_whole = !options.is_quick;
        outcome.scenarios = tests(&workspace, &options, &variables)?;
    }
    let is_measured = options.wants("scaling");
    let is_soaked = options.wants("soak") && options.soak_minutes > 0;
    if is_measured || is_soaked {
        let ours = match &options.ours {
            Some(path) => path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?,
            None => load::build(&workspace, false)?,
        };
        let programs = Programs { ours, bucket };
        let site = Site::start(&programs, &workspace.target.join("fleet"))?;
        if is_measured {
            system::ensure("wrk")?;
            let (rounds, seconds) = if options.is_quick { (1, 1) } else { (3, 3) };
            outcome.scaling = scaling::measure(&site, rounds, seconds)?;
            outcome.estimate = estimate::estimate(&outcome.scaling);
        }
        if is_soaked {
            note(&format!("{} minutes of mixed load", options.soak_minutes));
            outcome.soak = Some(soak::run(&site, Duration::from_secs(options.soak_minutes as u64 * 60))?);
        }
    }
    outcome.write(&path)?;
    for sheet in sheets(&outcome) {
        say(&report::markdown::table(&sheet));
    }
    say(&format!("\n{}\n", path.display()));
    let failures = outcome.failures();
    report::join(&workspace, |report| report.fleet = Some(outcome))?;
    if failures.is_empty() { Ok(()) } else { bail!("failed: {}", failures.join("; ")) }
}

/// Returns the results of the latest run.
///
/// # Errors
///
/// Fails if they have another schema.
pub(crate) fn latest(workspace: &Workspace) -> Result<Option<Outcome>> {
    Outcome::read(&workspace.report().join("fleet.json"))
}

/// Runs the fleet tests and returns their names and whether they passed.
fn tests(
    workspace: &Workspace,
    options: &Options,
    variables: &[(&str, Option<PathBuf>)],
) -> Result<Vec<(String, bool)>> {
    let mut command =
        cargo::command(workspace, &["test", "--package", "pypi-proxy", "--test", "it", "fleet::"]);
    // Run sequentially, because each test uses the whole machine.
    command.args(["--", "--test-threads=1"]).env("FLEET_SERVER", &options.server);
    command.env("FLEET_SCALE", if options.is_quick { "" } else { "full" });
    command.envs(variables.iter().filter_map(|(name, folder)| Some((name, folder.as_ref()?))));
    note("running the fleet tests");
    let finished = process::run(&mut command, &workspace.scratch().join("fleet"), TESTS)?;
    let verdicts = verdicts(&finished.stdout);
    if !finished.status.success() {
        note(&finished.stdout);
        ensure!(!verdicts.is_empty(), "the fleet tests cannot be run: {}", finished.complaint());
    }
    Ok(verdicts)
}

/// Parses test names and results from the output of the test harness.
fn verdicts(text: &str) -> Vec<(String, bool)> {
    let line = |line: &str| {
        let (name, verdict) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let name = name.rsplit("::").next().unwrap_or(name);
        Some((name.to_owned(), verdict.ends_with("ok")))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_results_are_parsed() {
        let text =
            "running 2 tests\ntest stops::a_b ... ok\ntest c ... FAILED\n\ntest result: FAILED. 1 passed\n";
        assert_eq!(verdicts(text), [("a_b".to_owned(), true), ("c".to_owned(), false)]);
    }
}
