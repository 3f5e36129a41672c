//! A PowerShell remoting server on standard input and output, like `pwsh -s`. It runs a small language whose
//! statements are separated by line ends or semicolons:
//!
//!     Write-Output TEXT, Write-Error TEXT, Write-Warning TEXT, Write-Verbose TEXT, Write-Debug TEXT,
//!     Write-Information TEXT, Write-Progress TEXT     to the stream of that name
//!     Write-Host TEXT                                 shown by the client's host
//!     Read-Host, Read-Host -AsSecureString            the response of the client's host
//!     $input, $null, 1..3                             the input, null, a range of numbers
//!     Start-Sleep SECONDS, throw TEXT
//!
//! The client can redirect streams to the output or discard them. A command with parameters is returned as a table of
//! its name and parameters.
//!
//!     cargo run -p examples --example psrp_server
//!
//! A client starts the program. An SSH server can provide it as a subsystem with a line such as
//! `Subsystem powershell /usr/local/bin/psrp_server`.

use std::io::Write as _;
use std::time::Duration;

use psrp::Value;
use psrp::host::{HostRequest, HostResult};
use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, Session, serve_stdio};
use psrp::message::{Command, CommandMetadata, CreatePipeline, GetCommandMetadata, PipelineResultTypes};
use psrp::record::{
    CommandTypes, ErrorCategory, ErrorRecord, InformationRecord, InformationalRecord, RecordStream,
};
use psrp::value::{Object, Progress};

/// Exit code of PowerShell when a client violates the protocol.
const PROTOCOL_VIOLATION_EXIT_CODE: i32 = 4000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    if let Err(error) = serve_stdio(Shell, Options::default()).await {
        // If standard error is closed, nothing can be reported.
        let _ = writeln!(std::io::stderr(), "{error}");
        std::process::exit(PROTOCOL_VIOLATION_EXIT_CODE);
    }
}

pub(crate) struct Shell;

const COMMANDS: [&str; 10] = [
    "Read-Host",
    "Start-Sleep",
    "Write-Debug",
    "Write-Error",
    "Write-Host",
    "Write-Information",
    "Write-Output",
    "Write-Progress",
    "Write-Verbose",
    "Write-Warning",
];

impl Handler for Shell {
    async fn run(&self, create: CreatePipeline, pipeline: Pipeline, mut input: Input) -> Outcome {
        for command in create.power_shell.statements().flatten() {
            if !command.is_script {
                pipeline.output(command_table(command)).await?;
                continue;
            }
            let script = command.text.to_string();
            for text in script.split([';', '\n']).map(str::trim).filter(|text| !text.is_empty()) {
                run_statement(text, command, &pipeline, &mut input).await?;
            }
        }
        Ok(())
    }

    async fn commands(&self, get: GetCommandMetadata, _: Pipeline) -> Outcome<Vec<CommandMetadata>> {
        let is_requested =
            |name: &&str| get.names.iter().any(|pattern| matches(&pattern.to_string(), name.as_bytes()));
        let names = COMMANDS.into_iter().filter(is_requested);
        Ok(names.map(|name| CommandMetadata::new(name, CommandTypes::CMDLET)).collect())
    }

    async fn reset_runspace(&self, _: &Session) -> bool {
        // The language has no variables.
        true
    }
}

async fn run_statement(text: &str, command: &Command, pipeline: &Pipeline, input: &mut Input) -> Outcome {
    let (verb, argument) = text.split_once(' ').unwrap_or((text, ""));
    let record = || InformationalRecord::new(argument);
    let error = || ErrorRecord::new(argument, ErrorCategory::NotSpecified);
    let (target, value) = match verb {
        "Write-Error" => (command.merge_error, error().to_value()),
        "Write-Warning" => (command.merge_warning, record().to_value(RecordStream::Warning)),
        "Write-Verbose" => (command.merge_verbose, record().to_value(RecordStream::Verbose)),
        "Write-Debug" => (command.merge_debug, record().to_value(RecordStream::Debug)),
        "Write-Information" => (command.merge_information, InformationRecord::new(argument).to_value()),
        _ => (PipelineResultTypes::None, Value::Nil),
    };
    match target {
        PipelineResultTypes::Output => return Ok(pipeline.output(value).await?),
        PipelineResultTypes::Null => return Ok(()),
        _ => {}
    }
    match verb {
        "Write-Output" => pipeline.output(argument).await?,
        "Write-Error" => pipeline.error(error()).await?,
        "Write-Warning" => pipeline.warning(record()).await?,
        "Write-Verbose" => pipeline.verbose(record()).await?,
        "Write-Debug" => pipeline.debug(record()).await?,
        "Write-Information" => pipeline.information(InformationRecord::new(argument)).await?,
        "Write-Progress" => pipeline.progress(Progress::new(1, argument, "working")).await?,
        "Write-Host" => {
            pipeline.host(HostRequest::WriteLine2 { text: argument.into() }).await?;
        }
        "Read-Host" => {
            let request = match argument {
                "-AsSecureString" => HostRequest::ReadLineAsSecureString,
                _ => HostRequest::ReadLine,
            };
            let line = pipeline.host(request).await?;
            pipeline.output(HostResult::to_value(&line)).await?;
        }
        "Start-Sleep" => {
            let seconds = argument.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let invalid = || ErrorRecord::new("no number of seconds", ErrorCategory::InvalidArgument);
            tokio::time::sleep(seconds.ok_or_else(invalid)?).await;
        }
        "throw" => return Err(runtime_error(argument)),
        "$null" => pipeline.output(Value::Nil).await?,
        "$input" => {
            while let Some(value) = input.next().await {
                pipeline.output(value).await?;
            }
        }
        _ => {
            let range = text.split_once("..");
            let range = range.and_then(|(from, to)| Some(from.parse::<i32>().ok()?..=to.parse().ok()?));
            let unknown = || runtime_error(&format!("The term '{text}' is not recognized"));
            for number in range.ok_or_else(unknown)? {
                pipeline.output(number).await?;
            }
        }
    }
    Ok(())
}

fn runtime_error(message: &str) -> Box<ErrorRecord> {
    ErrorRecord::new(message, ErrorCategory::OperationStopped).with_id("RuntimeException").into()
}

/// Returns a command as a table.
fn command_table(command: &Command) -> Value {
    let parameters = command.parameters.iter().map(|parameter| {
        let name = parameter.name.clone().map_or(Value::Nil, Value::from);
        Value::from(Object::list([name, parameter.value.clone()]))
    });
    let parameters = Value::from(Object::list(parameters));
    Object::dictionary([("Command", command.text.clone().into()), ("Parameters", parameters)]).into()
}

/// Returns whether a name matches a pattern with `*`, ignoring case.
fn matches(pattern: &str, name: &[u8]) -> bool {
    let mut parts = pattern.as_bytes().split(|byte| *byte == b'*');
    let (Some(first), Some(last)) = (parts.next(), parts.next_back()) else {
        return pattern.as_bytes().eq_ignore_ascii_case(name);
    };
    let starts = |text: &[u8], part: &[u8]| {
        text.get(..part.len()).is_some_and(|start| start.eq_ignore_ascii_case(part))
    };
    if !starts(name, first) {
        return false;
    }
    let mut rest = &name[first.len()..];
    for part in parts {
        let Some(at) = (0..=rest.len()).find(|at| starts(&rest[*at..], part)) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.len() >= last.len() && starts(&rest[rest.len() - last.len()..], last)
}
