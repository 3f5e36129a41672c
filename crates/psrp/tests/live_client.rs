//! The client with a server of psrpcore as a child process.
//!
//! `PSRP_PYTHON` names a Python interpreter that has what `peers/requirements.txt` lists. Without it the tests say so and
//! pass.

#![cfg(feature = "tokio")]

use std::io::{self, Write};
use std::path::Path;

use psrp::io::{Child, Options, RunspacePool};
use psrp::message::{PipelineState, PowerShell};
use psrp::value::Value;

/// The stand-in for PowerShell, `None` with a line that is seen in spite of the captured output.
fn pwsh() -> Option<Child> {
    let Some(python) = std::env::var_os("PSRP_PYTHON").filter(|value| !value.is_empty()) else {
        writeln!(io::stderr(), "skipped: PSRP_PYTHON is not set").expect("standard error can be written");
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/pwsh.py");
    Some(Child::new(python).arg(script).env("PYTHONIOENCODING", "utf-8").env("PYTHONDONTWRITEBYTECODE", "1"))
}

#[tokio::test]
async fn a_range_of_numbers() {
    let Some(pwsh) = pwsh() else { return };
    let pool = RunspacePool::open(&pwsh, Options::new()).await.unwrap();
    let output = pool.invoke(PowerShell::script("1..3")).await.unwrap();
    assert_eq!(output.output, [1, 2, 3].map(Value::from));
    assert_eq!(output.state, PipelineState::Completed);
    pool.close().await.unwrap();
}
