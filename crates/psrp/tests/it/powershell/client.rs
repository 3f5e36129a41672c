//! PowerShell's client with a test server that writes every record with the minimum of fields that the types allow, and
//! calls every host method.

use psrp::host::{
    BufferCell, CellBuffer, ChoiceDescription, ConsoleColor, ControlKeyStates, Coordinates, CredentialTypes,
    CredentialUiOptions, FieldDescription, HostMethod, HostRequest, HostResult, KeyInfo, ReadKeyOptions,
    Rectangle, Size,
};
use psrp::io::Lines;
use psrp::io::serve::{Handler, Input, Options, Outcome, Pipeline, serve};
use psrp::message::{ApplicationPrivateData, CreatePipeline, SessionCapability, UserEvent};
use psrp::outofproc::Role;
use psrp::record::{
    CommandInfo, CommandTypes, CommandVisibility, ErrorCategory, ErrorRecord, HostInformationMessage,
    InformationRecord, InformationalRecord, InvocationCall, InvocationInfo, PsCredential, ScriptExtent,
};
use psrp::server::Config;
use psrp::value::{Object, Progress, SecureString, Value, Version};
use test_support::optional;

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

/// A host call, what PowerShell's test host records of it, and its result; `None` for an error.
type Call = (HostRequest, &'static str, Option<HostResult>);

/// Every method at least once.
fn calls() -> Vec<Call> {
    use HostRequest::*;

    const READS_LINE: &str = "WriteWarningLine A script or application on the remote computer LOCALHOST is asking to read a \
        line securely. Enter sensitive information, such as your credentials, only if you trust the remote computer and the \
        application or script that is requesting it.\nReadLineAsSecureString";
    const PROMPTS: &str = "WriteWarningLine A script or application on the remote computer LOCALHOST is sending a prompt \
        request. When you are prompted, enter sensitive information, such as credentials or passwords, only if you trust the \
        remote computer and the application or script that is requesting the data.\n\
        Prompt [caption] [message] text:System.String:label:help:True,secret:System.Security.SecureString:::False";
    const CREDENTIAL: &str = "PromptForCredential [PowerShell Credential Request: caption] [Warning: A script or application on \
        the remote computer LOCALHOST is requesting your credentials. Enter your credentials only if you trust the remote \
        computer and the application or script that is requesting them.\n\nmessage] user target";
    const CREDENTIAL_OF_KIND: &str = "PromptForCredential [PowerShell Credential Request: caption] [Warning: A script or \
        application on the remote computer LOCALHOST is requesting your credentials. Enter your credentials only if you trust \
        the remote computer and the application or script that is requesting them.\n\nmessage] user target Domain AlwaysPrompt";
    const READS_BUFFER: &str = "WriteWarningLine A script or application on the remote computer LOCALHOST is attempting to \
        read the buffer contents on the PowerShell host. For security reasons, this is not allowed; the call has been \
        suppressed.";

    let text = || "text".into();
    let (caption, message) = (|| "caption".into(), || "message".into());
    let (user_name, target_name) = (|| "user".into(), || "target".into());
    let (foreground, background) = (ConsoleColor::Red, ConsoleColor::Blue);
    let rectangle = Rectangle { left: 1, top: 2, right: 3, bottom: 4 };
    let place = |x, y| Coordinates { x, y };
    let size = |width, height| Size { width, height };
    let at = place(5, 6);
    let fill = BufferCell { character: 66, foreground_color: foreground, ..BufferCell::default() };
    let choices = || vec![ChoiceDescription::new("&a", "first"), ChoiceDescription::new("&b", "second")];
    let fields = vec![
        FieldDescription {
            name: text(),
            label: Some("label".into()),
            help_message: Some("help".into()),
            is_mandatory: true,
            ..FieldDescription::default()
        },
        FieldDescription {
            name: "secret".into(),
            parameter_type_full_name: Some("System.Security.SecureString".into()),
            ..FieldDescription::default()
        },
    ];
    let credential = || Some(HostResult::Credential(PsCredential::new("ada", SecureString::new("pw"))));
    let answers = vec![
        ("text".into(), Value::from("answer")),
        ("secret".into(), Value::from(SecureString::new("hidden"))),
    ];
    let key = KeyInfo {
        virtual_key_code: 65,
        character: 65,
        control_key_state: ControlKeyStates::SHIFT,
        key_down: true,
    };
    let name = |text: &str| Some(HostResult::Text(text.into()));
    let color = |color| Some(HostResult::Color(color));
    let nothing = || Some(HostResult::Nothing);
    let position = |x, y| Some(HostResult::Coordinates(place(x, y)));
    let sized = |width, height| Some(HostResult::Size(size(width, height)));
    vec![
        (GetName, "", name("RealHost")),
        (GetVersion, "", Some(HostResult::Version(Version::new(1, 2).with_build(3)))),
        (GetInstanceId, "", None),
        (GetCurrentCulture, "", name("en-US")),
        (GetCurrentUICulture, "", name("en-US")),
        (SetShouldExit { exit_code: 3 }, "SetShouldExit 3", nothing()),
        (EnterNestedPrompt, "EnterNestedPrompt", nothing()),
        (ExitNestedPrompt, "ExitNestedPrompt", nothing()),
        (NotifyBeginApplication, "NotifyBeginApplication", nothing()),
        (NotifyEndApplication, "NotifyEndApplication", nothing()),
        (ReadLine, "ReadLine", name("typed")),
        (ReadLineAsSecureString, READS_LINE, Some(HostResult::Secure(SecureString::new("hidden")))),
        (Write1 { text: text() }, "Write text", nothing()),
        (Write2 { foreground, background, text: text() }, "Write Red Blue text", nothing()),
        (WriteLine1, "WriteLine", nothing()),
        (WriteLine2 { text: text() }, "WriteLine text", nothing()),
        (WriteLine3 { foreground, background, text: text() }, "WriteLine Red Blue text", nothing()),
        (WriteErrorLine { text: text() }, "WriteErrorLine text", nothing()),
        (WriteDebugLine { text: text() }, "WriteDebugLine text", nothing()),
        (
            WriteProgress { source_id: 9, record: Box::new(Progress::new(-1, "activity", "")) },
            "WriteProgress activity   -1 Processing",
            nothing(),
        ),
        (WriteVerboseLine { text: text() }, "WriteVerboseLine text", nothing()),
        (WriteWarningLine { text: text() }, "WriteWarningLine text", nothing()),
        (
            Prompt { caption: caption(), message: message(), fields },
            PROMPTS,
            Some(HostResult::Answers(answers)),
        ),
        (
            PromptForCredential1 {
                caption: caption(),
                message: message(),
                user_name: user_name(),
                target_name: target_name(),
            },
            CREDENTIAL,
            credential(),
        ),
        (
            PromptForCredential2 {
                caption: caption(),
                message: message(),
                user_name: user_name(),
                target_name: target_name(),
                allowed: CredentialTypes::DOMAIN,
                options: CredentialUiOptions::AlwaysPrompt,
            },
            CREDENTIAL_OF_KIND,
            credential(),
        ),
        (
            PromptForChoice { caption: caption(), message: message(), choices: choices(), default_choice: 0 },
            "PromptForChoice [caption] [message] &a:first,&b:second 0",
            Some(HostResult::Number(1)),
        ),
        (GetForegroundColor, "", color(ConsoleColor::Gray)),
        (SetForegroundColor { color: ConsoleColor::Green }, "", nothing()),
        (GetForegroundColor, "", color(ConsoleColor::Green)),
        (GetBackgroundColor, "", color(ConsoleColor::Black)),
        (SetBackgroundColor { color: ConsoleColor::Cyan }, "", nothing()),
        (GetBackgroundColor, "", color(ConsoleColor::Cyan)),
        (GetCursorPosition, "", position(3, 4)),
        (SetCursorPosition { position: at }, "", nothing()),
        (GetCursorPosition, "", position(5, 6)),
        (GetWindowPosition, "", position(0, 0)),
        (SetWindowPosition { position: at }, "", nothing()),
        (GetWindowPosition, "", position(5, 6)),
        (GetCursorSize, "", Some(HostResult::Number(25))),
        (SetCursorSize { size: 50 }, "", nothing()),
        (GetCursorSize, "", Some(HostResult::Number(50))),
        (GetBufferSize, "", sized(100, 50)),
        (SetBufferSize { size: size(90, 30) }, "", nothing()),
        (GetBufferSize, "", sized(90, 30)),
        (GetWindowSize, "", sized(100, 40)),
        (SetWindowSize { size: size(80, 20) }, "", nothing()),
        (GetWindowSize, "", sized(80, 20)),
        (GetWindowTitle, "", name("title")),
        (SetWindowTitle { title: text() }, "", nothing()),
        (GetWindowTitle, "", name("text")),
        (GetMaxWindowSize, "", sized(200, 60)),
        (GetMaxPhysicalWindowSize, "", sized(200, 60)),
        (GetKeyAvailable, "", Some(HostResult::Bool(true))),
        (
            ReadKey { options: ReadKeyOptions::INCLUDE_KEY_DOWN | ReadKeyOptions::NO_ECHO },
            "ReadKey NoEcho, IncludeKeyDown",
            Some(HostResult::Key(key)),
        ),
        (FlushInputBuffer, "FlushInputBuffer", nothing()),
        (SetBufferContents1 { rectangle, fill }, "SetBufferContents 1,2 ; 3,4 B", nothing()),
        (
            SetBufferContents2 { origin: at, contents: CellBuffer::new(2, 1, vec![fill, fill]).unwrap() },
            "SetBufferContents 5,6 2x1",
            nothing(),
        ),
        (GetBufferContents { rectangle }, READS_BUFFER, nothing()),
        (
            ScrollBufferContents { source: rectangle, destination: at, clip: rectangle, fill },
            "ScrollBufferContents 1,2 ; 3,4",
            nothing(),
        ),
        (PushRunspace { runspace: Value::Nil }, "PushRunspace", nothing()),
        (PopRunspace, "PopRunspace", nothing()),
        (GetIsRunspacePushed, "", Some(HostResult::Bool(false))),
        (GetRunspace, "", None),
        (
            PromptForChoiceMultipleSelection {
                caption: caption(),
                message: message(),
                choices: choices(),
                default_choices: vec![0, 1],
            },
            "PromptForChoices [caption] 0,1",
            Some(HostResult::Choices(vec![0, 1])),
        ),
    ]
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
    for method in HostMethod::ALL {
        assert!(calls.iter().any(|(request, ..)| request.method() == *method), "{method}");
    }
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
