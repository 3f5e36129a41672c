//! `psrp sessions` and `psrp receive`: sessions of a WSMan service that have no client.

use std::fmt::Write;
use std::time::Duration;

use psrp::io::WsmanShell;
use serde_json::json;

use crate::args::{ReceiveArgs, SessionsArgs};
use crate::connect;
use crate::console::{Channel, ConsoleOptions};
use crate::exit::{Exit, Failure};
use crate::interrupts::Interrupts;
use crate::run::{PipelineRunner, console};

const COLUMNS: [&str; 6] = ["ID", "STATE", "IDLE", "OWNER", "CONFIGURATION", "NAME"];

/// Lists the PowerShell sessions.
pub(crate) async fn sessions(args: SessionsArgs) -> Result<Exit, Failure> {
    let interrupts = Interrupts::catch().map_err(Failure::usage)?;
    let host = ConsoleOptions::default().stdio();
    let mut shells = connect::shells(&args.target, &host, &interrupts).await?;
    shells.retain(WsmanShell::is_power_shell);
    let text = if args.json { lines(&shells) } else { table(&shells) };
    if !text.is_empty() {
        host.print(Channel::Program, text).await.map_err(Failure::output)?;
    }
    Ok(Exit::Ok)
}

fn lines(shells: &[WsmanShell]) -> String {
    let line = |shell: &WsmanShell| {
        let WsmanShell { id, name, state, owner, .. } = shell;
        let (idle, configuration) = (shell.idle.map(|idle| idle.as_secs()), configuration(shell));
        json!({ "id": id.to_string(), "name": name, "state": state, "owner": owner, "idle": idle, "configuration": configuration })
            .to_string()
    };
    shells.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn table(shells: &[WsmanShell]) -> String {
    let row = |shell: &WsmanShell| {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let idle = shell.idle.map(duration).unwrap_or_default();
        let configuration = configuration(shell).unwrap_or_default().to_owned();
        let (state, owner, name) = (text(&shell.state), text(&shell.owner), text(&shell.name));
        [shell.id.to_string(), state, idle, owner, configuration, name]
    };
    let rows: Vec<_> =
        std::iter::once(COLUMNS.map(ToOwned::to_owned)).chain(shells.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(text, "{cell:width$}  ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text.pop();
    text
}

/// Session configuration of a PowerShell session.
fn configuration(shell: &WsmanShell) -> Option<&str> {
    shell.resource.as_deref()?.rsplit('/').next()
}

/// Hours, minutes and seconds.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Connects to a session, shows the output of its scripts, and closes it.
pub(crate) async fn receive(args: ReceiveArgs) -> Result<Exit, Failure> {
    let interrupts = Interrupts::catch().map_err(Failure::usage)?;
    let options = ConsoleOptions { text_to_errors: args.output.json.is_some(), ..console(&args.display) };
    let runner = PipelineRunner::new(options.stdio(), interrupts).options(&args.output);
    let (session, pipelines) =
        connect::attach(&args.target, args.id, &runner.host, &runner.interrupts).await?;
    if pipelines.is_empty() {
        let _ = session.disconnect().await;
        let error = anyhow::anyhow!("session {} has no running script (see `psrp shell --session`)", args.id);
        return Err(Failure::connection(error));
    }
    let exit = runner.receive(&session, pipelines).await;
    runner.finish(&session, exit).await
}
