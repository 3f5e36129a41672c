//! Connections to servers.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use psrp::Error;
use psrp::io::{Child, ConsoleHost, Host, Options, RunspacePool};

use crate::Failure;
use crate::args::TargetArgs;
use crate::interrupts::Interrupts;

/// Opens a pool at the server.
pub(crate) async fn open(
    target: &TargetArgs,
    host: &Arc<ConsoleHost>,
    interrupts: &Interrupts,
) -> Result<RunspacePool, Failure> {
    let options = Options::new()
        .host(Arc::<ConsoleHost>::clone(host))
        .host_info(host.info())
        .open_timeout(Duration::from_secs(target.connect_timeout));
    tokio::select! {
        pool = connect(target, host, options) => pool,
        () = interrupts.wait() => Err(Failure::interrupted()),
    }
}

async fn connect(
    target: &TargetArgs,
    _host: &ConsoleHost,
    options: Options,
) -> Result<RunspacePool, Failure> {
    let child = child(target).map_err(Failure::usage)?;
    opened(RunspacePool::open(&child, options).await, "the server could not be started")
}

fn opened(pool: Result<RunspacePool, Error>, context: &'static str) -> Result<RunspacePool, Failure> {
    pool.context(context).map_err(Failure::connection)
}

/// A command of its own, or PowerShell on this machine.
fn child(target: &TargetArgs) -> anyhow::Result<Child> {
    let child = match &target.child {
        None => Child::default(),
        Some(command) => {
            let words = shlex::split(command).context("a quotation mark of --child is never closed")?;
            ensure!(!words.is_empty(), "--child has no command");
            Child::new(&words[0]).args(&words[1..])
        }
    };
    Ok(if target.foreground { child } else { child.own_process_group() })
}
