//! `cargo xtask conformance CRATE PATH...`: runs files of test vectors through a crate.
//!
//! The cases run in the `conformance` program of the `benches` package, where the peers are at hand as well. This
//! command builds it with optimisation and hands its arguments on.

use anyhow::{Result, bail};

use crate::args::Args;
use crate::cargo;
use crate::workspace::Workspace;

pub(crate) const HELP: &str = "\
usage: cargo xtask conformance CRATE [--peers] PATH...

Prints the ids of the cases that fail and ends with `N passed, N failed`; the exit code is 0 if none failed.
With --peers the same cases run through the peers as well; their counts do not change the exit code.
";

pub(crate) fn command(mut args: Args) -> Result<()> {
    let peers = args.flag("--peers");
    let words = args.positionals()?;
    args.finish()?;
    if words.len() < 2 {
        bail!("{HELP}");
    }
    let workspace = Workspace::find()?;
    let (system, files) = (&words[0], &words[1..]);
    let mut cargo =
        cargo::command(&workspace, &["run", "--quiet", "--profile", "bench", "--package", "benches"]);
    cargo.args(["--all-features", "--bin", "conformance", "--", system]).args(peers.then_some("--peers"));
    // Named from where the caller stands, which is not where cargo is started.
    for file in files {
        cargo.arg(std::path::absolute(file)?);
    }
    if cargo.status()?.success() { Ok(()) } else { bail!("not every case passed") }
}
