//! PowerShell's client with a test server that writes every record with the minimum of fields that the types allow, and
//! calls every host method.

use psrp::host::{HostMethod, HostResult};
use psrp::io::Lines;
use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, serve};
use psrp::message::{ApplicationPrivateData, CreatePipeline, SessionCapability, UserEvent};
use psrp::outofproc::Role;
use psrp::record::{
    CommandInfo, CommandTypes, CommandVisibility, ErrorCategory, ErrorRecord, HostInformationMessage,
    InformationRecord, InformationalRecord, InvocationCall, InvocationInfo, ScriptExtent,
};
use psrp::server::Config;
use psrp::value::{Object, Progress, Value};
use test_support::optional;

use crate::host_calls::calls;

/// Set in the environment of the server process.
const SERVER: &str = "PSRP_TEST_SERVER";

/// Returns the command that starts this program as a server. Output of the test harness is not part of the session.
fn server() -> String {
    let program = std::env::current_exe().unwrap();
    let test = "powershell::client::server_process";
    format!("env {SERVER}=1 {} --exact {test} --nocapture 3>&1 >/dev/null 2>&1", program.display())
}

#[tokio::test]
async fn server_process() {
    if std::env::var_os(SERVER).is_none() {
        return;
    }
    let output = tokio::fs::OpenOptions::new().write(true).open("/dev/fd/3").await.unwrap();
    let capability = SessionCapability { time_zone: Some([0, 1, 2].into()), ..SessionCapability::default() };
    let data = [("number", Value::from(7)), ("list", Object::list([1, 2]).into()), ("none", Value::Nil)];
    let config =
        Config::new().capability(capability).application_private_data(ApplicationPrivateData::new(data));
    let lines = Lines::new(Role::Server, tokio::io::stdin(), output);
    let ended = serve(lines, Minimal, Options { config, ..Options::default() }).await;
    // A thread still reads standard input.
    std::process::exit(i32::from(ended.is_err()));
}

struct Minimal;

impl Handler for Minimal {
    async fn run(&self, create: CreatePipeline, pipeline: Pipeline, _: Input) -> Outcome {
        let script = create.power_shell.statements().flatten().next().unwrap().text.to_string();
        match &*script {
            "records" => records(&pipeline).await,
            "order" => order(&pipeline).await,
            "fail" => Err(ErrorRecord::of_exception(Value::Nil, ErrorCategory::NotSpecified).into()),
            _ => call_all(&pipeline).await,
        }
    }
}

/// Invocation records with as few fields as possible.
fn invocations() -> Vec<InvocationInfo> {
    let command = CommandInfo {
        command_type: CommandTypes::CMDLET,
        definition: None,
        name: None,
        visibility: CommandVisibility::Public,
    };
    let with_parameters = |bound_parameters: Value| InvocationInfo {
        call: InvocationCall {
            bound_parameters,
            unbound_arguments: vec![Value::Nil],
            ..InvocationCall::default()
        },
        ..InvocationInfo::default()
    };
    vec![
        InvocationInfo::default(),
        InvocationInfo {
            command: Some(command),
            extent: Some(ScriptExtent::default()),
            ..Default::default()
        },
        with_parameters(Value::from(1)),
        with_parameters(Object::list([1]).into()),
        with_parameters(Object::dictionary([(1, 1)]).into()),
        with_parameters(Object::dictionary([("name", 1)]).into()),
    ]
}

fn errors() -> Vec<ErrorRecord> {
    let error = |change: fn(&mut ErrorRecord)| {
        let mut record = ErrorRecord::new("", ErrorCategory::NotSpecified);
        change(&mut record);
        record
    };
    let mut errors = vec![
        error(|_| ()),
        error(|record| (record.exception, record.category_message, record.text) = (Value::Nil, None, None)),
        error(|record| record.exception = Value::from(1)),
        error(|record| record.exception = Object::list([1]).into()),
        error(|record| record.exception = Object::builder().adapted("Message", 5).build().into()),
        error(|record| record.category = ErrorCategory::Other(99)),
        error(|record| record.invocation_info = Value::from(1)),
        error(|record| record.pipeline_iteration_info = Some(vec![1])),
        error(|record| {
            (record.details_message, record.script_stack_trace) = (Some("".into()), Some("".into()))
        }),
    ];
    errors.extend(invocations().into_iter().map(|invocation| {
        let mut record = ErrorRecord::new("", ErrorCategory::NotSpecified);
        record.invocation = Some(Box::new(invocation));
        record
    }));
    errors
}

fn warnings() -> Vec<InformationalRecord> {
    let mut warnings = vec![InformationalRecord::new(""), InformationalRecord::new("")];
    warnings[1].text = None;
    warnings.extend(invocations().into_iter().map(|invocation| {
        let mut record = InformationalRecord::new("");
        record.invocation = Some(Box::new(invocation));
        record
    }));
    warnings
}

fn progress() -> Vec<Progress> {
    let mut own_parent = Progress::new(3, "activity", "status");
    (own_parent.parent_activity_id, own_parent.percent_complete) = (3, 101);
    vec![Progress::new(-1, "", ""), own_parent]
}

async fn records(pipeline: &Pipeline) -> Outcome {
    for record in errors() {
        pipeline.error(record).await?;
    }
    for record in warnings() {
        pipeline.warning(record.clone()).await?;
        pipeline.verbose(record.clone()).await?;
        pipeline.debug(record).await?;
    }
    for record in progress() {
        pipeline.progress(record).await?;
    }
    pipeline.information(InformationRecord::default()).await?;
    pipeline.information(InformationRecord::new(HostInformationMessage::default().to_value())).await?;
    pipeline.session().send_event(UserEvent::default()).await?;
    pipeline.output(Value::Nil).await?;
    Ok(())
}

#[test]
fn minimal_records_are_accepted() {
    let script = format!(
        r#"$r = [Real]::Open('{}')
        $data = $r.GetApplicationPrivateData(); "$($data.number) $($data.list.Count) $($data.ContainsKey('none'))"
        $ps = [powershell]::Create(); $ps.Runspace = $r; [void]$ps.AddScript('records'); $output = $ps.Invoke()
        $s = $ps.Streams; "$($s.Error.Count) $($s.Warning.Count) $($s.Verbose.Count) $($s.Debug.Count) $($s.Progress.Count) $($s.Information.Count)"
        "$($output.Count) $($r.Events.ReceivedEvents.Count) $($ps.InvocationStateInfo.State)"
        $s.Progress[0].ToString(); $s.Progress[1].ToString()
        $ps = [powershell]::Create(); $ps.Runspace = $r; [void]$ps.AddScript('fail')
        try {{ $ps.Invoke() }} catch {{ $_.Exception.InnerException.GetType().Name }}
        $session = [System.Management.Automation.Runspaces.PSSession]::Create($r, 'Process', $null)
        Invoke-Command -Session $session -ScriptBlock {{ order }} *>&1 | ForEach-Object {{ "$($_.GetType().Name) $_" }}
        $r.Close(); $r.RunspaceStateInfo.State"#,
        server()
    );
    let Some(printed) = optional::powershell_output(&["-Command", &script]) else { return };
    let (errors, warnings) = (errors().len(), warnings().len());
    let counts = format!("{errors} {warnings} {warnings} {warnings} 2 2");
    let expected = [
        "7 2 True",
        &counts,
        "1 1 Completed",
        "parent = -1 id = 0 act =   stat =   cur =  pct = -1 sec = -1 type = Processing",
        "parent = -1 id = 3 act = activity stat = status cur =  pct = 100 sec = -1 type = Processing",
        "RemoteException",
        "RemotingErrorRecord first",
        "Int32 1",
        "InformationRecord second",
        "Int32 2",
        "RemotingErrorRecord third",
        "Int32 3",
        "Closed",
    ];
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
}

/// Alternates between streams. `Invoke-Command` shows neither warnings nor verbose and debug messages here.
async fn order(pipeline: &Pipeline) -> Outcome {
    let error = |text: &str| ErrorRecord::new(text, ErrorCategory::NotSpecified);
    pipeline.error(error("first")).await?;
    pipeline.output(1).await?;
    pipeline.information(InformationRecord::new("second")).await?;
    pipeline.output(2).await?;
    pipeline.error(error("third")).await?;
    Ok(pipeline.output(3).await?)
}

/// Fails at the first unexpected result.
async fn call_all(pipeline: &Pipeline) -> Outcome {
    for (request, _, expected) in calls() {
        let method = request.method();
        let result = match (method, pipeline.host(request).await) {
            (HostMethod::GetInstanceId, Ok(HostResult::Guid(_))) | (HostMethod::GetRunspace, Err(_)) => None,
            // A hashtable has no order.
            (_, Ok(HostResult::Answers(mut answers))) => {
                answers.sort_by_key(|(name, _)| std::cmp::Reverse(name.to_string()));
                Some(HostResult::Answers(answers))
            }
            (_, result) => Some(result?),
        };
        if result != expected {
            let message = format!("{method:?}: {result:?} instead of {expected:?}");
            return Err(ErrorRecord::new(message, ErrorCategory::InvalidResult).into());
        }
    }
    Ok(())
}

#[test]
fn powershell_accepts_every_host_call() {
    let calls = calls();
    let Some(printed) = optional::powershell_output(&["-client", &server(), "host", "call"]) else { return };
    let expected = calls.iter().filter(|(_, recorded, _)| !recorded.is_empty());
    let expected: Vec<_> = expected
        .map(|(_, recorded, _)| {
            recorded.replace("\nReadLine", "\ncall ReadLine").replace("\nPrompt [", "\ncall Prompt [")
        })
        .collect();
    let recorded = printed.strip_prefix("opened Opened\n> call\n").unwrap_or_else(|| panic!("{printed}"));
    let recorded =
        recorded.strip_suffix("\nstate Completed \nclosed Closed \n").unwrap_or_else(|| panic!("{printed}"));
    let recorded: Vec<_> = recorded.strip_prefix("call ").unwrap().split("\ncall ").collect();
    assert_eq!(recorded, expected.iter().flat_map(|recorded| recorded.split("\ncall ")).collect::<Vec<_>>());
}
