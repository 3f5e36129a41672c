//! `cargo xtask load` and `cargo xtask fleet`: run the program `pypi-proxy-load`, which measures the proxy.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Context, Result, ensure};
use bench_report::machine;

use crate::interop::{self, FLEET, PROXIES, VERSITYGW};
use crate::process::{Skipped, lacks, skip, succeed};
use crate::workspace::Workspace;
use crate::{cargo, report, say};

const PROGRAM: &str = "pypi-proxy-load";

/// Options of the program.
#[derive(clap::Args)]
pub(crate) struct Options {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

/// Load test of our proxy, its peers and nginx with the same requests.
pub(crate) fn load(words: &[String], workspace: &Workspace) -> Result<()> {
    let is_check = words.iter().any(|word| word == "--check");
    let has_only = words.iter().any(|word| word.starts_with("--only"));
    let is_named = |suite: &str| !has_only || words.iter().any(|word| word.ends_with(suite));
    let is_wanted = |suite: &str| !is_check && PROXIES.contains(&suite) && is_named(suite);
    run(workspace, "load", words, !is_check, is_wanted)
}

/// Tests and measures several instances of our proxy that share a bucket.
pub(crate) fn fleet(words: &[String], workspace: &Workspace) -> Result<()> {
    let is_versitygw = words.iter().any(|word| word.ends_with(VERSITYGW));
    run(workspace, "fleet", words, true, |suite| suite == FLEET || suite == VERSITYGW && is_versitygw)
}

/// Returns the keys of the rows of a load run.
pub(crate) fn keys(workspace: &Workspace) -> Result<Vec<String>> {
    let rows = succeed(Command::new(cargo::tested_program(workspace, PROGRAM)?).arg("rows"))?.stdout;
    Ok(rows.lines().map(str::to_owned).collect())
}

/// Sends every request of the load run once and checks the responses. Fails if a response is wrong.
pub(crate) fn check(workspace: &Workspace) -> Result<Skipped> {
    skip!(lacks("gzip"));
    if !cfg!(target_os = "linux") {
        return Ok(Some("processor time and memory are read as Linux reports them".into()));
    }
    load(&["--check".to_owned()], workspace).map(|()| None)
}

fn run(
    workspace: &Workspace,
    part: &str,
    words: &[String],
    is_measured: bool,
    needs_suite: impl Fn(&str) -> bool,
) -> Result<()> {
    let build = if is_measured { cargo::released_program } else { cargo::tested_program };
    let mut command = Command::new(build(workspace, PROGRAM)?);
    command.arg(part).args(words);
    if words.iter().any(|word| matches!(word.as_str(), "--help" | "-h")) {
        command.status()?;
        return Ok(());
    }
    command.envs(interop::install_suites(workspace, needs_suite).variables);
    let machine = machine::describe();
    let mut about = format!("{}, {} ({} cores)", machine::date(), machine.cpu, machine.cores);
    if !words.iter().any(|word| word.starts_with("--ours")) {
        // The commit of a program that was not built here is unknown.
        about += &format!(", commit {}", machine::commit(&workspace.root).as_deref().unwrap_or("unknown"));
        let inline = words.iter().filter_map(|word| word.strip_prefix("--only="));
        let next = words.windows(2).filter(|pair| pair[0] == "--only").map(|pair| pair[1].as_str());
        let parts: Vec<&str> = inline.chain(next).collect();
        // The tests of `fleet` build the proxy themselves.
        let is_needed = part == "load" || parts.is_empty() || parts.iter().any(|part| *part != "tests");
        command.arg("--ours").arg(if is_needed {
            build(workspace, "pypi-proxy")?
        } else {
            workspace.program("release", "pypi-proxy")
        });
    }
    let name = format!("{part}.json");
    let out = workspace.report().join(&name);
    command.arg("--about").arg(about).arg("--folder").arg(workspace.target.join(part)).arg("--out").arg(&out);
    let before = modified(&out);
    let status = command.status().with_context(|| format!("cannot start {PROGRAM}"))?;
    if modified(&out) != before {
        let run = report::proxy_run(&workspace.report(), &name)?.context("the program wrote no results")?;
        for sheet in run.tables.iter().filter(|sheet| !sheet.title.ends_with("rows")) {
            say(&sheet.text());
        }
        say(&format!("\n{}\n", out.display()));
        report::update(workspace)?;
    }
    ensure!(status.success(), "{PROGRAM} {part}: {status}");
    Ok(())
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|metadata| metadata.modified()).ok()
}
