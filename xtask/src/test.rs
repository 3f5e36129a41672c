//! `cargo xtask test`: everything that has to hold before a change lands, in one command.
//!
//! A step that cannot run on this machine is skipped, and the reason is printed; a step that fails does not keep the
//! others from running.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::args::Args;
use crate::instructions::Verdict;
use crate::workspace::Workspace;
use crate::{cargo, completeness, note, process, release, say, tidy};

pub(crate) const HELP: &str = "\
usage: cargo xtask test [STEP...]

Runs all steps, or the named ones: toolchain, fmt, tidy, clippy, features, system, tests, interop, deploy, docs,
benches, rows, load, conformance, peers, instructions, deny, machete, package, semver. A step that cannot run here says why
it is skipped.
";

pub(crate) enum Outcome {
    Passed,
    Skipped(String),
}

struct Step {
    name: &'static str,
    run: fn(&Workspace) -> Result<Outcome>,
}

const STEPS: &[Step] = &[
    Step { name: "toolchain", run: toolchain },
    Step { name: "fmt", run: |workspace| cargo(workspace, &["fmt", "--all", "--check"]) },
    Step { name: "tidy", run: |workspace| tidy::check(workspace).map(|()| Outcome::Passed) },
    Step { name: "clippy", run: clippy },
    Step { name: "features", run: features },
    Step { name: "system", run: system },
    Step { name: "tests", run: |workspace| whole(workspace, "test", &[]) },
    Step { name: "interop", run: interop },
    Step { name: "deploy", run: deploy },
    Step { name: "docs", run: docs },
    // A suite that is not told to measure runs every operation once and compares its result.
    Step { name: "benches", run: |workspace| whole(workspace, "test", &["--benches"]) },
    Step { name: "rows", run: |workspace| completeness::check(workspace).map(|()| Outcome::Passed) },
    Step { name: "load", run: load },
    Step { name: "conformance", run: conformance },
    Step { name: "peers", run: peers },
    Step { name: "instructions", run: instructions },
    Step { name: "deny", run: deny },
    Step { name: "machete", run: release::machete },
    Step { name: "package", run: release::package },
    Step { name: "semver", run: release::semver },
];

pub(crate) fn command(mut args: Args) -> Result<()> {
    let wanted = args.positionals()?;
    args.finish()?;
    for name in &wanted {
        ensure!(STEPS.iter().any(|step| step.name == name), "unknown step {name}\n\n{HELP}");
    }
    let workspace = Workspace::find()?;
    let (mut passed, mut skipped, mut failed) = (0, 0, Vec::new());
    let mut lines = String::new();
    for step in STEPS.iter().filter(|step| wanted.is_empty() || wanted.iter().any(|name| name == step.name)) {
        note(&format!("\n==> {}", step.name));
        let start = Instant::now();
        let outcome = (step.run)(&workspace);
        let seconds = start.elapsed().as_secs_f64();
        let text = match outcome {
            Ok(Outcome::Passed) => {
                passed += 1;
                "passed".to_owned()
            }
            Ok(Outcome::Skipped(reason)) => {
                skipped += 1;
                format!("skipped: {reason}")
            }
            Err(error) => {
                failed.push(step.name);
                format!("FAILED: {error:#}")
            }
        };
        note(&format!("==> {}: {text}", step.name));
        lines += &format!("{:<12} {seconds:>6.1} s  {text}\n", step.name);
    }
    say(&format!("\n{lines}steps: {passed} passed, {} failed, {skipped} skipped\n", failed.len()));
    if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
}

pub(crate) fn finish(mut command: Command) -> Result<Outcome> {
    command.stdin(Stdio::null());
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start {program}"))?;
    ensure!(status.success(), "{status}");
    Ok(Outcome::Passed)
}

pub(crate) fn cargo(workspace: &Workspace, arguments: &[&str]) -> Result<Outcome> {
    finish(cargo::command(workspace, arguments))
}

/// Cargo over all packages with all features.
fn whole(workspace: &Workspace, subcommand: &str, arguments: &[&str]) -> Result<Outcome> {
    cargo(workspace, &[&[subcommand], &cargo::WHOLE[..], arguments].concat())
}

/// Refuses to judge with another compiler than the pinned one: its lints and its code differ.
fn toolchain(workspace: &Workspace) -> Result<Outcome> {
    let file = fs::read_to_string(workspace.root.join("rust-toolchain.toml"))?;
    let file: toml::Table = file.parse()?;
    let pinned = file["toolchain"]["channel"].as_str().context("rust-toolchain.toml names no channel")?;
    let running = process::first_line("rustc", &["-V"]).context("rustc cannot be run")?;
    note(&running);
    ensure!(running.split(' ').nth(1) == Some(pinned), "the pinned toolchain is {pinned}");
    Ok(Outcome::Passed)
}

fn clippy(workspace: &Workspace) -> Result<Outcome> {
    whole(workspace, "clippy", &["--all-targets", "--", "-D", "warnings"])
}

/// Builds every library without default features, with each feature alone, and without any; and the suites with the
/// features that they are measured with.
fn features(workspace: &Workspace) -> Result<Outcome> {
    for package in tidy::packages(workspace)? {
        if !package.is_library() {
            continue;
        }
        let name = package.name.as_str();
        let build = |features: &[&str]| {
            let mut arguments = vec!["clippy", "--quiet", "--package", name, "--no-default-features"];
            arguments.extend(features);
            arguments.extend(["--", "-D", "warnings"]);
            cargo(workspace, &arguments).with_context(|| format!("{name} {features:?}"))
        };
        build(&[])?;
        for feature in package.features() {
            build(&["--features", &feature])?;
        }
    }
    cargo(workspace, &["clippy", "--quiet", "--package", "benches", "--benches", "--", "-D", "warnings"])
}

/// What the tests use but can do without: the package, where its program may be, and what skips without it.
const SYSTEM: [(&str, &[&str], &str); 5] = [
    ("chromium", &["chromium"], "the browser tests"),
    ("openssh-server", &["sshd", "/usr/sbin/sshd"], "the tests with OpenSSH"),
    // It is `promtool` that is used.
    ("prometheus", &["promtool"], "the checks of metrics and rules"),
    ("nginx-light", &["nginx"], "the tests behind nginx"),
    // It is its tools that are used.
    ("systemd", &["systemd-analyze", "systemd-socket-activate"], "the checks of units"),
];

/// Installs what the tests use but can do without. Only where nobody's own machine is changed by that: in CI.
fn system(_: &Workspace) -> Result<Outcome> {
    let is_missing =
        |(_, programs, _): &&(&str, &[&str], &str)| !programs.iter().any(|name| is_installed(name));
    let missing: Vec<_> = SYSTEM.iter().filter(is_missing).collect();
    if missing.is_empty() {
        return Ok(Outcome::Passed);
    }
    let without = |why: &str| {
        let list: Vec<_> =
            missing.iter().map(|(package, _, what)| format!("no {package} for {what}")).collect();
        Ok(Outcome::Skipped(format!("{}; {why}", list.join(", "))))
    };
    if std::env::var_os("CI").is_none() {
        return without("outside CI nothing is installed");
    }
    if process::first_line("id", &["-u"]).as_deref() != Some("0") || !is_installed("apt-get") {
        return without("there is no way to install it here");
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(["-qq", "-y", "-o", "DPkg::Lock::Timeout=120", "--no-install-recommends"])
            .args(arguments);
        command.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        finish(command)
    };
    let packages = missing.iter().map(|(package, _, _)| *package);
    let install: Vec<_> = ["install"].into_iter().chain(packages).collect();
    match apt(&["update"]).and_then(|_| apt(&install)) {
        Ok(_) => Ok(Outcome::Passed),
        Err(error) => without(&format!("it cannot be installed: {error:#}")),
    }
}

/// Whether there is a program, on the search path or at a place.
pub(crate) fn is_installed(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|path| path.join(name).is_file())
}

/// What could not be had is told; with the rest the tests have passed.
fn interop(workspace: &Workspace) -> Result<Outcome> {
    let missing = crate::interop::test(workspace)?;
    Ok(if missing.is_empty() { Outcome::Passed } else { Outcome::Skipped(missing.join("; ")) })
}

/// As with the peers, what could not be had is told.
fn deploy(workspace: &Workspace) -> Result<Outcome> {
    let missing = crate::deploy::test(workspace)?;
    Ok(if missing.is_empty() { Outcome::Passed } else { Outcome::Skipped(missing.join("; ")) })
}

fn docs(workspace: &Workspace) -> Result<Outcome> {
    let mut command = cargo::command(workspace, &["doc", "--no-deps"]);
    command.args(cargo::WHOLE).env("RUSTDOCFLAGS", "-D warnings");
    finish(command)
}

/// Asks the proxy for all that is measured under load, and times nothing.
fn load(_: &Workspace) -> Result<Outcome> {
    for program in ["gzip", "zstd", "sha256sum"] {
        if !is_installed(program) {
            return Ok(Outcome::Skipped(format!("there is no {program} here")));
        }
    }
    if !cfg!(target_os = "linux") {
        return Ok(Outcome::Skipped("processor time and memory are read as Linux tells them".into()));
    }
    crate::load::command(Args::new(["--check".to_owned()]))?;
    Ok(Outcome::Passed)
}

fn conformance(workspace: &Workspace) -> Result<Outcome> {
    let program = cargo::tested_program(workspace, "conformance")?;
    for (system, files) in [
        ("json", "crates/json/tests/data/json-test-suite/test_parsing"),
        ("parco", "crates/parco/tests/data/parco-vectors.json"),
        ("perplexity", "crates/perplexity/tests/data/perplexity-wire.jsonl"),
        ("psrp", "crates/psrp/tests/data/clixml-values.json"),
        ("psrp", "crates/psrp/tests/data/clixml-decode.json"),
        ("psrp", "crates/psrp/tests/data/messages.json"),
        ("psrp", "crates/psrp/tests/data/fragments.json"),
        ("psrp", "crates/psrp/tests/data/outofproc.json"),
        ("psrp", "crates/psrp/tests/data/crypto.json"),
        ("psrp", "crates/psrp/tests/data/conversation.json"),
        ("sse", "crates/sse/tests/data/sse-cases.json"),
    ] {
        crate::conformance::run(&program, system, true, &[workspace.root.join(files)])?;
    }
    Ok(Outcome::Passed)
}

/// Peers may be missing; what is there has to build, and to pass the tests that it has of its own.
fn peers(workspace: &Workspace) -> Result<Outcome> {
    crate::peers::command(Args::new(["check".to_owned()]))?;
    if process::first_line("go", &["version"]).is_none() {
        return Ok(Outcome::Skipped(
            "the peers that can be had are ready; no go, whose peers have tests".into(),
        ));
    }
    for arguments in [["vet", "./..."], ["test", "./..."]] {
        let mut command = Command::new("go");
        command.args(arguments).current_dir(workspace.root.join("benches/peers/go"));
        finish(command)?;
    }
    Ok(Outcome::Passed)
}

/// Compares how many instructions hot paths take.
fn instructions(workspace: &Workspace) -> Result<Outcome> {
    Ok(match crate::instructions::compare(workspace, &[])? {
        Verdict::Same => Outcome::Passed,
        Verdict::Incomparable(reason) => Outcome::Skipped(reason),
    })
}

fn deny(workspace: &Workspace) -> Result<Outcome> {
    if process::first_line("cargo-deny", &["--version"]).is_none() {
        return Ok(Outcome::Skipped("cargo-deny is not installed".into()));
    }
    cargo(workspace, &["deny", "check", "bans", "licenses", "sources"])
}
