//! `cargo xtask fleet`: tests several instances of our proxy that share a bucket.

#[path = "../../../pypi-proxy/tests/support/s3.rs"]
mod s3;
mod scaling;
mod site;
mod soak;

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bench_report::model::ProxyRun;
use bench_report::read_json;
use bench_report::table::Sheet;
use clap::{Args, ValueEnum};

use self::s3::Kind;
use self::site::{Programs, Site};
use crate::{Paths, note, procfs, programs};

/// Test several instances of our proxy that share a bucket
///
/// Starts an S3 server, an index and the instances on loopback; runs the fleet tests with 100 clients and 200 files;
/// measures 1, 2 and 4 instances; and runs a mixed load on three instances while watching their memory and descriptors.
/// Writes target/report/fleet.json; parts that are not selected keep the results of the latest run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Fleet tests as in CI, one round of one second, and no soak unless --soak is given
    #[arg(long)]
    quick: bool,
    /// Duration of the soak test in minutes [default: 30]
    #[arg(long = "soak", value_name = "MINUTES")]
    soak_minutes: Option<u64>,
    /// S3 server; versitygw is built once, which takes minutes, and rclone has no conditional writes
    #[arg(long, value_name = "NAME", value_enum, default_value = "s3proxy")]
    server: Kind,
    /// Run only this part
    #[arg(long = "only", value_name = "PART", value_enum)]
    parts: Vec<Part>,
    #[command(flatten)]
    paths: Paths,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Tests,
    Scaling,
    Soak,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    procfs::ensure_supported()?;
    let server = options.server;
    // `cargo xtask` installs the programs and sets the variables.
    let installed = env::var_os(server.variable()).map(PathBuf::from);
    let installed = installed.with_context(|| format!("{} is not installed", server.name()))?;
    let Paths { folder, ours, out, about } = &options.paths;
    let about = format!("{about}, bucket on {}", server.name());
    let (mut sheets, mut failures) = (Vec::new(), Vec::new());
    if options.wants(Part::Tests) {
        let scenarios = tests(options)?;
        failures.extend(scenarios.iter().filter(|(_, passed)| !passed).map(|(name, _)| name.clone()));
        let scale = if options.quick { "fewer clients and files" } else { "100 clients, 200 files" };
        let lines = scenarios.iter().map(|(name, passed)| {
            vec![name.replace('_', " "), if *passed { "passed" } else { "FAILED" }.to_owned()]
        });
        let sheet = Sheet::new("Fleet: scenarios", "Scenario | Verdict", lines);
        sheets.push(sheet.with_notes(vec![format!("{about}; {scale}.")]));
    }
    let is_measured = options.wants(Part::Scaling);
    let soak_minutes = options.soak_minutes.unwrap_or(if options.quick { 0 } else { 30 });
    let is_soaked = options.wants(Part::Soak) && soak_minutes > 0;
    if is_measured || is_soaked {
        let ours = ours.canonicalize().with_context(|| format!("cannot find {}", ours.display()))?;
        let programs = Programs { ours, server, installed };
        let site = Site::start(&programs, folder)?;
        if is_measured {
            programs::ensure("wrk")?;
            let (rounds, seconds) = if options.quick { (1, 1) } else { (3, 3) };
            let scaling = scaling::measure(&site, rounds, Duration::from_secs(seconds))?;
            failures.extend_from_slice(&scaling.failures);
            sheets.extend(scaling.sheets(&about));
        }
        if is_soaked {
            note(&format!("{soak_minutes} minutes of mixed load"));
            let soak = soak::run(&site, Duration::from_secs(soak_minutes * 60))?;
            failures.extend((!soak.is_passed).then(|| "the soak".to_owned()));
            sheets.push(soak.sheet(&about));
        }
    }
    // Parts that are not selected keep the results of an earlier run.
    let is_new = |sheet: &Sheet| sheets.iter().any(|new: &Sheet| new.title == sheet.title);
    let earlier = if out.exists() { read_json::<ProxyRun>(out)?.tables } else { Vec::new() };
    let earlier: Vec<Sheet> = earlier.into_iter().filter(|sheet| !is_new(sheet)).collect();
    crate::save(out, ProxyRun { tables: [sheets, earlier].concat(), ..ProxyRun::default() })?;
    if failures.is_empty() { Ok(()) } else { bail!("failed: {}", failures.join("; ")) }
}

/// Runs the fleet tests and returns their names and whether they passed.
fn tests(options: &Options) -> Result<Vec<(String, bool)>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["test", "--package", "pypi-proxy", "--test", "it", "fleet::"]);
    // Run sequentially, because each test uses the whole machine.
    command.args(["--", "--test-threads=1"]).env("FLEET_SERVER", options.server.name());
    command.env("FLEET_SCALE", if options.quick { "" } else { "full" });
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    note("running the fleet tests");
    let output = command.output().context("cannot start cargo")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let verdicts = verdicts(&text);
    if !output.status.success() {
        note(&text);
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(!verdicts.is_empty(), "the fleet tests cannot be run: {}", errors.trim());
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
