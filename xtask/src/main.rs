//! Task runner of the workspace: `cargo xtask COMMAND`. One file per command.

mod bench;
mod cargo;
mod compare;
mod conformance;
mod cross;
mod deploy;
mod dist;
mod features;
mod fuzz;
mod instructions;
mod interop;
mod json_api;
mod json_suite;
mod peers;
mod process;
mod proxy;
mod release;
mod report;
mod setup;
mod site;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use bench_report::program::exit;
pub(crate) use bench_report::program::{note, say};
use clap::Parser;

use crate::workspace::Workspace;

/// Task runner of the workspace
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    Bench(bench::Options),
    /// Measure the proxy under load beside nginx and other proxies
    #[command(disable_help_flag = true)]
    Load(proxy::Options),
    /// Test and measure proxies that share a bucket
    #[command(disable_help_flag = true)]
    Fleet(proxy::Options),
    Report(report::Options),
    Conformance(conformance::Options),
    Test(test::Options),
    /// Install the tools of `test --full`
    ///
    /// These are Debian packages (as root), cargo-deb, cargo-deny, cargo-machete and mdBook. Lists the tools that it
    /// cannot install; the steps that need them are skipped. Go, Node.js, Python, Java and Maven are used if they are installed.
    Setup {
        /// Also install the compilers and emulators of the step `cross`
        #[arg(long)]
        cross: bool,
    },
    Dist(dist::Options),
    /// Build the web site in target/site
    ///
    /// It has the README files, guides and benchmark pages, with search. `cargo xtask setup` installs mdBook, which it needs.
    /// Fails on dead links.
    Site,
    Release(release::Options),
    Fuzz(fuzz::Options),
    /// Check the rules of the repository
    Tidy,
    /// Build the peers in other languages, and list those that are missing
    Peers {
        #[arg(value_parser = ["check"])]
        action: String,
        /// Run each implementation of each row once
        #[arg(long)]
        run: bool,
    },
}

impl Command {
    fn run(self, workspace: &Workspace) -> Result<()> {
        match self {
            Self::Bench(options) => bench::command(&options, workspace),
            Self::Load(options) => proxy::load(&options.words, workspace),
            Self::Fleet(options) => proxy::fleet(&options.words, workspace),
            Self::Report(options) => report::command(&options, workspace),
            Self::Conformance(options) => conformance::command(&options, workspace),
            Self::Test(options) => test::command(&options),
            Self::Setup { cross } => setup::command(workspace, cross),
            Self::Dist(options) => dist::command(&options, workspace),
            Self::Site => site::command(workspace),
            Self::Release(options) => release::command(&options, workspace),
            Self::Fuzz(options) => fuzz::command(&options, workspace),
            Self::Tidy => tidy::check(workspace),
            Self::Peers { run, .. } => peers::check(workspace, run),
        }
    }
}

fn main() -> ExitCode {
    let command = Command::parse();
    exit(Workspace::find().and_then(|workspace| command.run(&workspace)))
}
