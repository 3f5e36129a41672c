//! Load test of pypi-proxy, and tests of proxies that share a bucket. `cargo xtask load` and `cargo xtask fleet` build
//! and run this program.

mod client;
mod data;
mod fleet;
mod load;
mod measure;
mod procfs;
mod programs;
mod results;
mod rows;
mod servers;
mod single;
mod upstream;
mod verify;
mod wrk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread::ScopedJoinHandle;

use anyhow::{Context, Result};
use bench_report::model::ProxyRun;
use bench_report::program::{exit, note, say};
use clap::{Args, Parser};

/// Load test of pypi-proxy
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
enum Command {
    Load(load::Options),
    Fleet(fleet::Options),
    /// List the keys of all rows of a load run
    Rows,
}

/// Paths that `cargo xtask` sets.
#[derive(Debug, Args)]
struct Paths {
    /// Use this pypi-proxy program instead of building it
    #[arg(long, value_name = "FILE")]
    ours: PathBuf,
    /// Folder of generated files
    #[arg(long, hide = true)]
    folder: PathBuf,
    /// File of the results
    #[arg(long, hide = true)]
    out: PathBuf,
    /// Date, machine and commit of the run
    #[arg(long, hide = true, default_value = "")]
    about: String,
}

fn main() -> ExitCode {
    exit(match Command::parse() {
        Command::Load(options) => load::run(&options),
        Command::Fleet(options) => fleet::run(&options),
        Command::Rows => {
            load::keys().for_each(|key| say(&format!("{key}\n")));
            Ok(())
        }
    })
}

fn save(path: &Path, mut results: ProxyRun) -> Result<()> {
    results.tables.retain(|sheet| !sheet.lines.is_empty());
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let text = serde_json::to_string_pretty(&results)? + "\n";
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Runs `task` in a thread for each item. A panic is an error of its item.
fn in_threads<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    task: impl Fn(I) -> Result<T> + Sync,
) -> Vec<Result<T>> {
    let task = &task;
    std::thread::scope(|scope| {
        let threads: Vec<_> = items.into_iter().map(|item| scope.spawn(move || task(item))).collect();
        let join = |thread: ScopedJoinHandle<'_, Result<T>>| {
            thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked")))
        };
        threads.into_iter().map(join).collect()
    })
}

#[allow(clippy::disallowed_methods, reason = "a blocking tool without an executor")]
fn pause(duration: std::time::Duration) {
    std::thread::sleep(duration);
}
