//! Our client with the server of the real PowerShell.
//!
//! `PSRP_TEST_PWSH` names the program; without it `pwsh` is looked for on the search path. Where there is none the tests say
//! so and pass. The other direction is tested with the example `psrp_server`.

#![cfg(all(feature = "tokio", feature = "cli"))]

mod display;
mod input;
mod large;
mod open;
mod stop;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use psrp::client::PipelineRequest;
use psrp::io::{Child, Options, Output, RunspacePool};
use psrp::message::{CreatePipeline, PowerShell};
use psrp::value::Value;

/// Ends a test that hangs.
const HANG: Duration = Duration::from_secs(120);

fn pwsh() -> Option<PathBuf> {
    let named = std::env::var_os("PSRP_TEST_PWSH").filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = named.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join("pwsh")).find(|file| file.is_file())
    });
    if found.is_none() {
        // Seen in spite of the captured output.
        let skipped = writeln!(io::stderr(), "skipped: neither PSRP_TEST_PWSH nor pwsh on the search path");
        skipped.expect("standard error can be written");
    }
    found
}

/// The program, if it is the engine alone, which has options of its own for tests.
fn engine() -> Option<PathBuf> {
    let engine = pwsh()?;
    let version = std::process::Command::new(&engine).arg("-Version").output().unwrap();
    if String::from_utf8_lossy(&version.stdout).contains("engine alone") {
        return Some(engine);
    }
    writeln!(io::stderr(), "skipped: PSRP_TEST_PWSH is not the engine alone").expect("as above");
    None
}

async fn open(options: Options) -> Option<RunspacePool> {
    let server = Child::new(pwsh()?).args(["-s", "-NoLogo", "-NoProfile"]);
    Some(RunspacePool::open(&server, options).await.unwrap())
}

async fn run(pool: &RunspacePool, script: &str) -> Output {
    let output = tokio::time::timeout(HANG, pool.invoke(PowerShell::script(script)));
    output.await.expect("the script ends").unwrap()
}

/// A script with input.
fn with_input(script: &str) -> PipelineRequest {
    let mut create = CreatePipeline::new(PowerShell::script(script));
    create.no_input = false;
    create.into()
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| value.as_ps_string().unwrap().to_string()).collect()
}
