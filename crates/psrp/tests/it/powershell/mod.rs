//! Our client with the server of the real PowerShell, and its client with our server.
//!
//! `PSRP_TEST_PWSH` names the program; without it `pwsh` is looked up on the search path. Without either the tests are
//! skipped with a message and pass. PowerShell's client is also tested with the example `psrp_server`.

#![cfg(all(feature = "tokio", feature = "crypto"))]

mod client;
mod copy;
mod input;
mod open;
mod secrets;
mod session;
mod stop;
mod values;

use std::time::Duration;

use psrp::io::{Child, Options, Output, Session};
use psrp::message::PowerShell;
use psrp::value::Value;
use test_support::optional;

/// Timeout of a test that hangs.
const HANG: Duration = Duration::from_secs(120);

async fn open(options: Options) -> Option<Session> {
    let server = Child::new(optional::powershell()?).args(["-s", "-NoLogo", "-NoProfile"]);
    Some(Session::open(&server, options).await.unwrap())
}

async fn run(pool: &Session, script: &str) -> Output {
    let output = tokio::time::timeout(HANG, pool.invoke(PowerShell::script(script)));
    output.await.expect("the script ends").unwrap()
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(|value| value.as_ps_string().unwrap().to_string()).collect()
}
