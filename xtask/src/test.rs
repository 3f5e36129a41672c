//! `cargo xtask test`: the checks before a change; with `--full`, everything that CI runs.
//!
//! A step that cannot run on this machine is skipped, and the reason is printed. After a failed step the others
//! still run.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use When::{Always, Beside, Full};

use crate::interop::{self, Installed};
use crate::process::{Skipped, finish, joined, lacks, skip};
use crate::workspace::Workspace;
use crate::{cargo, cross, features, instructions, note, process, proxy, release, say, setup, tidy};

/// Run the checks before a change; with --full, all of CI
///
/// The checks before a change are toolchain, fmt, tidy, figures, clippy, tests (plain `cargo test`) and docs, without the
/// benchmark suites. A step that cannot run on this machine is skipped with the reason. `cargo xtask setup` installs the
/// tools of --full.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Run only these steps. A step of --full runs with the suites
    #[arg(value_name = "STEP", value_parser = STEPS.iter().map(|step| step.name).collect::<Vec<_>>())]
    steps: Vec<String>,
    /// Run everything that CI runs, including the suites and the programs in other languages
    #[arg(long)]
    full: bool,
}

struct Gate {
    workspace: Workspace,
    is_full: bool,
    /// Programs in other languages, for the tests of the full gate.
    installed: OnceLock<Installed>,
}

struct Step {
    name: &'static str,
    when: When,
    run: fn(&Gate) -> Result<Skipped>,
}

#[derive(Clone, Copy, PartialEq)]
enum When {
    /// Before a change, and with `--full`.
    Always,
    /// With `--full`.
    Full,
    /// With `--full`, in parallel with the other steps, which leave time of the processor: it needs none of their
    /// results. These steps run one after another, so that tests do not wait too long for the processor.
    Beside,
}

/// Runs a command as a step.
fn pass(command: Command) -> Result<Skipped> {
    finish(command).map(|()| None)
}

const fn step(name: &'static str, when: When, run: fn(&Gate) -> Result<Skipped>) -> Step {
    Step { name, when, run }
}

const STEPS: &[Step] = &[
    step("toolchain", Always, toolchain),
    step("fmt", Always, |gate| pass(cargo::command(&gate.workspace, &["fmt", "--all", "--check"]))),
    step("tidy", Always, |gate| tidy::check(&gate.workspace).map(|()| None)),
    step("figures", Always, |gate| crate::report::check(&gate.workspace)),
    step("tools", Full, |_| Ok(joined(&setup::missing()))),
    step("clippy", Always, |gate| pass(gate.cargo("clippy", &["--all-targets", "--", "-D", "warnings"]))),
    step("no-std", Full, no_std),
    step("cross", Full, |gate| cross::test(&gate.workspace)),
    step("interop", Beside, |gate| Ok(joined(&gate.installed().missing))),
    step("tests", Always, tests),
    step("deploy", Full, |gate| Ok(joined(&crate::deploy::test(&gate.workspace)?))),
    step("dist", Full, |gate| Ok(joined(&crate::dist::test(&gate.workspace)?))),
    step("docs", Always, docs),
    step("site", Beside, |gate| crate::site::test(&gate.workspace)),
    step("newcomer", Beside, |gate| pass(cargo::bench(&gate.workspace, &["--list"]))),
    // With the programs of `newcomer`.
    step("benches", Full, |gate| pass(cargo::bench(&gate.workspace, &["--test"]))),
    step("suites", Full, suites),
    step("rows", Full, |gate| crate::report::check_rows(&gate.workspace).map(|()| None)),
    step("load", Full, |gate| proxy::check(&gate.workspace)),
    step("conformance", Full, conformance),
    step("serde-json", Full, |gate| crate::json_suite::suite(&gate.workspace)),
    step("json-api", Full, |gate| crate::json_api::check(&gate.workspace)),
    step("peers", Beside, peers),
    step("instructions", Full, |gate| instructions::compare(&gate.workspace, &[])),
    step("linear", Full, |gate| instructions::check_growth(&gate.workspace)),
    step("deny", Full, deny),
    step("features", Beside, features),
    step("machete", Beside, |gate| release::machete(&gate.workspace)),
    step("package", Full, |gate| release::package(&gate.workspace)),
    step("semver", Full, |gate| release::semver(&gate.workspace)),
];

pub(crate) fn command(Options { steps: wanted, full: is_full }: &Options) -> Result<()> {
    let steps: Vec<&Step> = STEPS
        .iter()
        .filter(|step| match wanted.is_empty() {
            true => *is_full || step.when == Always,
            false => wanted.iter().any(|name| name == step.name),
        })
        .collect();
    let workspace = Workspace { is_incremental: !is_full, ..Workspace::find()? };
    let is_full = *is_full || steps.iter().any(|step| step.when != Always);
    let gate = Gate { workspace, is_full, installed: OnceLock::new() };
    thread::scope(|scope| {
        let run = |step: &'static Step| timed(|| (step.run)(&gate));
        let (sender, beside) = mpsc::channel();
        let others: Vec<&Step> = steps.iter().copied().filter(|step| step.when == Beside).collect();
        scope.spawn(move || {
            // Commands inherit the priority of the thread that starts them: tests with timeouts come first.
            #[cfg(target_os = "linux")]
            let _ = rustix::process::setpriority_process(None, 10);
            others.into_iter().try_for_each(|step| sender.send(run(step)))
        });
        report(steps.iter().map(|&step| {
            let beside = &beside;
            (step.name, move || match step.when {
                Beside => beside.recv().expect("a step does not panic"),
                Always | Full => run(step),
            })
        }))
    })
}

/// Outcome and duration of a step.
type Timed = (Result<Skipped>, Duration);

pub(crate) fn timed(run: impl FnOnce() -> Result<Skipped>) -> Timed {
    let start = Instant::now();
    (run(), start.elapsed())
}

pub(crate) fn report<Run: FnOnce() -> Timed>(steps: impl Iterator<Item = (&'static str, Run)>) -> Result<()> {
    let (mut passed, mut skipped, mut failed) = (0, 0, Vec::new());
    let mut lines = String::new();
    for (name, run) in steps {
        note(&format!("\n==> {name}"));
        let (outcome, time) = run();
        let text = match outcome {
            Ok(None) => {
                passed += 1;
                "passed".to_owned()
            }
            Ok(Some(reason)) => {
                skipped += 1;
                format!("skipped: {reason}")
            }
            Err(error) => {
                failed.push(name);
                format!("FAILED: {error:#}")
            }
        };
        note(&format!("==> {name}: {text}"));
        lines += &format!("{name:<12} {:>6.1} s  {text}\n", time.as_secs_f64());
    }
    say(&format!("\n{lines}steps: {passed} passed, {} failed, {skipped} skipped\n", failed.len()));
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

impl Gate {
    /// Returns `cargo SUBCOMMAND ARGUMENTS` for the default members, in the full gate for all with all features.
    fn cargo(&self, subcommand: &str, arguments: &[&str]) -> Command {
        let whole: &[&str] = if self.is_full { &["--workspace", "--all-features"] } else { &[] };
        cargo::command(&self.workspace, &[&[subcommand], whole, arguments].concat())
    }

    fn installed(&self) -> &Installed {
        self.installed.get_or_init(|| interop::install_suites(&self.workspace, interop::is_for_tests))
    }
}

/// Fails if the compiler is not the pinned one, because other versions have other lints.
fn toolchain(gate: &Gate) -> Result<Skipped> {
    let file = fs::read_to_string(gate.workspace.root.join("rust-toolchain.toml"))?;
    let file: toml::Table = file.parse()?;
    let pinned = file["toolchain"]["channel"].as_str().context("rust-toolchain.toml names no channel")?;
    let running = process::first_line("rustc", &["-V"]).context("rustc cannot be run")?;
    note(&running);
    ensure!(running.split(' ').nth(1) == Some(pinned), "the pinned toolchain is {pinned}");
    Ok(None)
}

/// Checks every library with each feature set of [`features::sets`]. Clippy checks them with all features.
fn features(gate: &Gate) -> Result<Skipped> {
    for package in tidy::packages(&gate.workspace)?.iter().filter(|package| package.is_library()) {
        for set in features::sets(&gate.workspace, package)? {
            let list = set.iter().map(String::as_str).collect::<Vec<_>>().join(",");
            let mut command =
                cargo::command(&gate.workspace, &["check", "--quiet", "--package", &package.name]);
            let output = command.args(["--no-default-features", "--features", &list]).output()?;
            let messages = String::from_utf8_lossy(&output.stderr);
            let is_clean = output.status.success() && messages.is_empty();
            ensure!(is_clean, "{} with the features {list:?}: {messages}", package.name);
        }
    }
    Ok(None)
}

/// Runs the program that uses `tightwire-parco` without std and without an allocator. It does not link if one is used.
fn no_std(gate: &Gate) -> Result<Skipped> {
    if !cfg!(target_os = "linux") {
        return Ok(Some("the program links the C library of Linux".into()));
    }
    let manifest = "crates/tightwire-parco/tests/no-std/Cargo.toml";
    let mut command =
        cargo::command(&gate.workspace, &["run", "--quiet", "--locked", "--manifest-path", manifest]);
    command.arg("--target-dir").arg(gate.workspace.target.join("no-std"));
    pass(command)
}

/// Runs `cargo test`, the full gate with the installed programs in other languages and with more simulations. The error
/// has the output of the tests that failed: it may be all that is left of a long log.
fn tests(gate: &Gate) -> Result<Skipped> {
    let mut command = cargo::command(&gate.workspace, &["test", "--no-fail-fast"]);
    // Most tests of servers and timeouts wait.
    let threads = 2 * thread::available_parallelism()?.get();
    command.env("RUST_TEST_THREADS", threads.to_string());
    if gate.is_full {
        command.env("SIMULATION_SEEDS", "2000");
        command.envs(gate.installed().variables.iter().map(|(variable, path)| (variable, path)));
    }
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let (mut is_failure, mut failures) = (false, String::new());
    for line in BufReader::new(child.stdout.take().context("cargo has no output")?).lines() {
        let line = line?;
        say(&format!("{line}\n"));
        is_failure = (is_failure || line == "failures:") && !line.starts_with("test result:");
        if is_failure {
            failures += &format!("{line}\n");
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "cargo: {status}\n{failures}");
    Ok(None)
}

fn docs(gate: &Gate) -> Result<Skipped> {
    // An example, so that cargo selects the features of development dependencies, with which clippy was built.
    // Programs named like a library start with "p" and are left out: two runs of rustdoc would write the same pages.
    let mut command = gate.cargo("doc", &["--no-deps", "--lib", "--bin", "[!p]*", "--example", "sse_chat"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    pass(command)
}

/// Runs the tests of the suites and of their peers, without the operations.
fn suites(gate: &Gate) -> Result<Skipped> {
    let arguments = ["test", "--profile", "bench", "--lib", "--bins", "--tests"];
    let mut command = cargo::unmeasured(cargo::command(&gate.workspace, &arguments));
    for package in tidy::packages(&gate.workspace)? {
        if package.is_suite() || ["compat", "json-peers"].contains(&&*package.name) {
            command.args(["--package", &package.name]);
        }
    }
    pass(command)
}

fn conformance(gate: &Gate) -> Result<Skipped> {
    let program = cargo::tested_program(&gate.workspace, "conformance")?;
    for (system, files) in [
        ("json", "crates/tightwire-json/tests/data/json-test-suite/test_parsing"),
        ("parco", "crates/tightwire-parco/tests/data/parco-vectors.json"),
        ("perplexity", "crates/tightwire-perplexity/tests/data/perplexity-wire.jsonl"),
        ("psrp", "crates/psrp/tests/data/clixml-values.json"),
        ("psrp", "crates/psrp/tests/data/clixml-decode.json"),
        ("psrp", "crates/psrp/tests/data/messages.json"),
        ("psrp", "crates/psrp/tests/data/fragments.json"),
        ("psrp", "crates/psrp/tests/data/outofproc.json"),
        ("sse", "crates/tightwire-sse/tests/data/sse-cases.json"),
    ] {
        crate::conformance::run(&program, system, &[gate.workspace.root.join(files)])?;
    }
    Ok(None)
}

/// Builds the available peers in other languages, and runs their own tests.
fn peers(gate: &Gate) -> Result<Skipped> {
    crate::peers::check(&gate.workspace, false)?;
    if process::first_line("go", &["version"]).is_none() {
        return Ok(Some("the available peers are ready; there is no go, whose peers have tests".into()));
    }
    for subcommand in ["vet", "test"] {
        let mut command = Command::new("go");
        command.args([subcommand, "./..."]).current_dir(gate.workspace.root.join("benches/peers/go"));
        finish(command)?;
    }
    Ok(None)
}

fn deny(gate: &Gate) -> Result<Skipped> {
    skip!(lacks("cargo-deny"));
    let arguments = ["deny", "check", "--hide-inclusion-graph", "bans", "licenses", "sources"];
    pass(cargo::command(&gate.workspace, &arguments))
}
