//! `psrp run --hosts`: one script on many servers at the same time.

use std::io::Write;
use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, bail, ensure};
use psrp::message::Command;
use tokio::task::{JoinSet, LocalSet};

use crate::args::{JsonStreams, RunArgs, TargetArgs};
use crate::console::{Channel, ConsoleOptions};
use crate::exit::{Exit, Failure};
use crate::interrupts::Interrupts;
use crate::printable::printable;
use crate::run::{PipelineRunner, run_script};
use crate::{connect, encoding, json};

/// A line of the file, and the options of its server.
#[derive(Debug)]
struct Server {
    name: String,
    target: TargetArgs,
}

/// Runs the script on all servers of the file. Prints a summary.
pub(crate) async fn run(
    args: RunArgs,
    script: Command,
    options: &ConsoleOptions,
    interrupts: &Interrupts,
) -> Result<Exit, Failure> {
    let servers = servers(&args).map_err(Failure::usage)?;
    let args = Rc::new(args);
    let all = run_all(&args, servers, &script, options, interrupts);
    let mut results = LocalSet::new().run_until(all).await?;
    results.sort_by(|(a, _), (b, _)| a.cmp(b));
    // Standard error may be closed.
    let _ = summarize(&results);
    Ok(overall(&results))
}

/// Reads the file of servers.
fn servers(args: &RunArgs) -> anyhow::Result<Vec<Server>> {
    let file = args.hosts.as_deref().unwrap_or(Path::new(""));
    let read = || {
        let bytes = std::fs::read(file).context("can't be read")?;
        let text = encoding::decode(&bytes).context("is not valid UTF-8 or UTF-16")?;
        parse(&text, &args.target)
    };
    let servers = read().with_context(|| file.display().to_string())?;
    let has_wsman = servers.iter().any(|server| server.target.wsman.is_some());
    // A prompt per server could not be answered.
    ensure!(
        !has_wsman || connect::has_password(&args.target)?,
        "WSMan hosts need --password-file or the variable {}",
        connect::PASSWORD_VARIABLE
    );
    Ok(servers)
}

fn parse(text: &str, base: &TargetArgs) -> anyhow::Result<Vec<Server>> {
    let mut servers = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let name = line.trim();
        if name.is_empty() || name.starts_with('#') {
            continue;
        }
        let mut target = base.clone();
        if name.contains("://") {
            let has_login = base.user.is_some() || base.certificate.is_some();
            ensure!(has_login, "line {}: WSMan hosts need --user or --certificate", index + 1);
            target.wsman = Some(name.to_owned());
        } else if base.buffer_mode.is_some() {
            bail!("line {}: --disconnect needs WSMan", index + 1);
        } else if name.contains('/') {
            target.socket = Some(name.into());
        } else {
            target.ssh = Some(name.to_owned());
        }
        servers.push(Server { name: printable(name, false).into_owned(), target });
    }
    ensure!(!servers.is_empty(), "there are no hosts");
    Ok(servers)
}

/// Runs the script on at most [`RunArgs::parallel`] servers at a time.
async fn run_all(
    args: &Rc<RunArgs>,
    servers: Vec<Server>,
    script: &Command,
    options: &ConsoleOptions,
    interrupts: &Interrupts,
) -> Result<Vec<(String, Exit)>, Failure> {
    let (mut waiting, mut running) = (servers.into_iter(), JoinSet::new());
    let (mut results, mut started, mut is_interrupted) = (Vec::new(), Vec::new(), false);
    loop {
        while running.len() < args.parallel.get()
            && !is_interrupted
            && let Some(server) = waiting.next()
        {
            let own = Interrupts::default();
            started.push(own.clone());
            let console = options.clone().prefixed(format!("{}: ", server.name));
            let runner = PipelineRunner::new(console, own).options(&args.output);
            let runner = PipelineRunner { name: Some(server.name), ..runner };
            running.spawn_local(run_one(Rc::clone(args), server.target, script.clone(), runner));
        }
        tokio::select! {
            ended = running.join_next() => match ended {
                None => break,
                Some(result) => results.push(result.map_err(Failure::usage)??),
            },
            () = interrupts.wait() => {
                is_interrupted = true;
                started.iter().for_each(Interrupts::raise);
            }
        }
    }
    results.extend(waiting.map(|server| (server.name, Exit::Interrupted)));
    Ok(results)
}

/// Runs the script on one server. Fails only if the output cannot be written.
async fn run_one(
    args: Rc<RunArgs>,
    target: TargetArgs,
    script: Command,
    runner: PipelineRunner,
) -> Result<(String, Exit), Failure> {
    let exit = match run_script(&args, &target, script, &runner).await {
        Ok(exit) => exit,
        Err(failure) if failure.is_output => return Err(failure),
        Err(failure) => {
            let text = format!("psrp: {}", failure.text());
            runner.host.print_error(text).await.map_err(Failure::output)?;
            failure.exit
        }
    };
    let name = runner.name.unwrap_or_default();
    if args.output.json == Some(JsonStreams::All) {
        let line = json::line("exit", &exit.code().to_string());
        let line = line.and_then(|line| json::with_host(&name, JsonStreams::All, &line));
        runner.host.print(Channel::Program, line.map_err(Failure::output)?).await.map_err(Failure::output)?;
    }
    Ok((name, exit))
}

/// Prints the number of servers and the exit codes of those that failed.
fn summarize(results: &[(String, Exit)]) -> std::io::Result<()> {
    let failed: Vec<_> = results.iter().filter(|(_, exit)| exit.code() != 0).collect();
    let mut text = format!("psrp: {} of {} hosts succeeded\n", results.len() - failed.len(), results.len());
    for (name, exit) in failed {
        text += &format!("  {name}: exit code {}\n", exit.code());
    }
    std::io::stderr().write_all(text.as_bytes())
}

/// Returns the exit status of the program.
fn overall(results: &[(String, Exit)]) -> Exit {
    let any = |exit| results.iter().any(|(_, other)| *other == exit);
    match () {
        () if any(Exit::Interrupted) => Exit::Interrupted,
        () if any(Exit::Connection) => Exit::Connection,
        () if results.iter().any(|(_, exit)| exit.code() != 0) => Exit::Errors,
        () => Exit::Ok,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args;

    #[test]
    fn each_line_is_a_server() {
        let base = |line: &str| {
            let words = ["psrp", "run", "--hosts", "a", "1"].into_iter().chain(line.split_whitespace());
            let cli = args::Cli::try_parse_from(words).unwrap();
            let args::Command::Run(args) = cli.command else { panic!() };
            args.target
        };
        let text = "# web\r\nada@web1:2222\n\n  https://web2\n./web3\n";
        let servers = parse(text, &base("--user ada")).unwrap();
        let names: Vec<_> = servers.iter().map(|server| &*server.name).collect();
        assert_eq!(names, ["ada@web1:2222", "https://web2", "./web3"]);
        assert_eq!(servers[0].target.ssh.as_deref(), Some("ada@web1:2222"));
        assert_eq!(servers[1].target.wsman.as_deref(), Some("https://web2"));
        assert_eq!(servers[2].target.socket.as_deref(), Some(Path::new("./web3")));
        assert!(parse(text, &base("")).unwrap_err().to_string().contains("line 4"));
        assert!(parse("#\n", &base("")).is_err());
    }

    #[test]
    fn the_exit_status_is_the_worst() {
        let of =
            |exits: &[Exit]| overall(&exits.iter().map(|exit| (String::new(), *exit)).collect::<Vec<_>>());
        assert_eq!(of(&[Exit::Ok, Exit::Code(0)]), Exit::Ok);
        assert_eq!(of(&[Exit::Ok, Exit::Code(7), Exit::Usage]), Exit::Errors);
        assert_eq!(of(&[Exit::Errors, Exit::Connection]), Exit::Connection);
        assert_eq!(of(&[Exit::Connection, Exit::Interrupted]), Exit::Interrupted);
    }
}
