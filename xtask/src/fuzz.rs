//! `cargo xtask fuzz [TARGET...]`: runs the fuzz targets.
//!
//! libFuzzer and the sanitizer need unstable flags, which `RUSTC_BOOTSTRAP` enables for the pinned compiler.

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;
use crate::{cargo, note};

/// Run the fuzz targets
///
/// Builds them with the address sanitizer. Failing inputs are written to fuzz/artifacts, new inputs to fuzz/corpus.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Targets to run [default: all]
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// Time for each target
    #[arg(long, value_name = "N", default_value = "60")]
    seconds: u64,
}

/// Coverage for libFuzzer, and the address sanitizer.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Zsanitizer=address -Ccodegen-units=1";

pub(crate) fn command(options: &Options, workspace: &Workspace) -> Result<()> {
    let Options { targets: wanted, seconds } = options;
    let directory = workspace.root.join("fuzz");
    let manifest: toml::Table = std::fs::read_to_string(directory.join("Cargo.toml"))?.parse()?;
    let bins = manifest["bin"].as_array().context("the fuzz package has no targets")?;
    let targets: Vec<&str> = bins.iter().filter_map(|bin| bin["name"].as_str()).collect();
    for name in wanted {
        ensure!(targets.contains(&name.as_str()), "unknown target {name}; there are {}", targets.join(", "));
    }
    let host = cargo::host_triple()?;
    let out = workspace.target.join("fuzz");
    let mut build = cargo::command(workspace, &["build", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    // An explicit target, so that build scripts are not instrumented.
    build.args(["--target", &host, "--target-dir"]).arg(&out);
    // The targets of other crates take long to link.
    build.args(wanted.iter().flat_map(|name| ["--bin", name]));
    build.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FLAGS);
    ensure!(build.status()?.success(), "the fuzz targets do not build");
    for target in
        targets.into_iter().filter(|target| wanted.is_empty() || wanted.iter().any(|name| name == target))
    {
        note(&format!("==> {target}: {seconds} s"));
        let corpus = directory.join("corpus").join(target);
        let artifacts = directory.join("artifacts").join(target);
        std::fs::create_dir_all(&corpus)?;
        std::fs::create_dir_all(&artifacts)?;
        let mut run = std::process::Command::new(out.join(&host).join("release").join(target));
        run.arg(format!("-max_total_time={seconds}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .args(["-max_len=4096", "-print_final_stats=1"])
            .arg(&corpus);
        ensure!(
            run.status()?.success(),
            "{target} found an input that fails; it lies in {}",
            artifacts.display()
        );
    }
    Ok(())
}
