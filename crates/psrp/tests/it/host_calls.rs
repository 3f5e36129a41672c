//! Host calls in both directions, and a table of calls of every method.

use psrp::clixml::{from_slice, to_vec};
use psrp::host::{
    BufferCell, BufferCellType, CellBuffer, ChoiceDescription, ConsoleColor, ControlKeyStates, Coordinates,
    CredentialTypes, CredentialUiOptions, FieldDescription, HostCall, HostMethod, HostRequest, HostResponse,
    HostResult, KeyInfo, ReadKeyOptions, Rectangle, Size,
};
use psrp::record::PsCredential;
use psrp::value::{Progress, SecureString, Version};
use psrp::{PsString, Value};

fn cells() -> CellBuffer {
    let cell = BufferCell {
        character: 0x41,
        foreground_color: ConsoleColor::White,
        background_color: ConsoleColor::Blue,
        buffer_cell_type: BufferCellType::Complete,
    };
    CellBuffer::new(2, 3, vec![cell; 6]).unwrap()
}

/// A host call, what PowerShell's test host records of it, and its result; `None` for an error.
pub(crate) type Call = (HostRequest, &'static str, Option<HostResult>);

/// Returns calls of every method, each at least once.
pub(crate) fn calls() -> Vec<Call> {
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

fn requests() -> impl Iterator<Item = HostRequest> {
    calls().into_iter().map(|(request, ..)| request)
}

#[test]
fn host_calls_survive_a_round_trip() {
    for method in HostMethod::ALL {
        assert!(requests().any(|request| request.method() == *method), "{method}");
    }
    let color = ConsoleColor::Other(77);
    let unknown = HostRequest::SetForegroundColor { color };
    for request in requests().chain([unknown]) {
        let call = HostCall::new(5, &request);
        assert_eq!(call.is_void(), call.method.is_void(), "{request:?}");
        assert_eq!(call.call_id, if call.method.is_void() { -100 } else { 5 });
        let data = to_vec(&call.to_value()).unwrap();
        let read = HostCall::from_value(&from_slice(&data).unwrap()).unwrap();
        assert_eq!(read, call);
        // Defaults of missing fields are written.
        assert_eq!(HostCall::new(5, &read.request().unwrap()), call);
    }
}

#[test]
fn missing_parameters_are_named_and_excess_ones_ignored() {
    for request in requests() {
        let mut call = HostCall::new(5, &request);
        let expected = call.request().unwrap();
        call.parameters.push(Value::Nil);
        assert_eq!(call.request().unwrap(), expected);
        call.parameters.pop();
        if call.parameters.pop().is_some() {
            let error = call.request().unwrap_err();
            let place = format!("mp[{}]: missing", call.parameters.len());
            assert!(error.is_mismatch() && error.to_string().contains(&place), "{error}");
        }
    }
}

#[test]
fn null_texts_are_empty() {
    let call = HostCall { call_id: -100, method: HostMethod::WriteLine2, parameters: vec![Value::Nil] };
    assert_eq!(call.request().unwrap(), HostRequest::WriteLine2 { text: PsString::default() });
    let call = HostCall { call_id: -100, method: HostMethod::SetCursorSize, parameters: vec![Value::Nil] };
    assert!(call.request().unwrap_err().is_mismatch());
}

#[test]
fn unknown_methods_are_preserved() {
    let request = HostRequest::Other { method: 1000, parameters: vec![Value::from("x")] };
    let call = HostCall::new(3, &request);
    assert_eq!((call.call_id, call.method), (3, HostMethod::Other(1000)));
    let read = HostCall::from_value(&call.to_value()).unwrap();
    assert_eq!(read.request().unwrap(), request);
    let response = HostResponse::new(&read, &HostResult::Other(Value::from(1)));
    assert_eq!(response.result().unwrap(), HostResult::Other(Value::from(1)));
}

#[test]
fn results_survive_a_round_trip() {
    let key = KeyInfo {
        virtual_key_code: 65,
        character: 0xD83D,
        control_key_state: ControlKeyStates::SHIFT | ControlKeyStates::NUM_LOCK,
        key_down: true,
    };
    let secret = SecureString::from_encrypted([0; 16]);
    let credential = PsCredential::new("user", secret.clone());
    let more = [
        (HostMethod::GetInstanceId, HostResult::Guid(uuid::Uuid::from_u128(7))),
        (HostMethod::ReadLine, HostResult::Nothing),
        (HostMethod::ReadLineAsSecureString, HostResult::Secure(secret)),
        (HostMethod::PromptForCredential2, HostResult::Credential(credential)),
        (HostMethod::PromptForCredential1, HostResult::Nothing),
        (HostMethod::ReadKey, HostResult::Key(key)),
        (HostMethod::GetBufferContents, HostResult::Cells(cells())),
    ];
    let results = calls().into_iter().filter_map(|(request, _, result)| Some((request.method(), result?)));
    for (method, result) in results.filter(|(method, _)| !method.is_void()).chain(more) {
        let call = HostCall { call_id: 9, method, parameters: Vec::new() };
        let response = HostResponse::new(&call, &result);
        let value = response.to_value();
        let value = match to_vec(&value) {
            Ok(data) => from_slice(&data).unwrap(),
            Err(error) => {
                assert!(error.is_no_key(), "{method}: {error}");
                value
            }
        };
        let read = HostResponse::from_value(&value).unwrap();
        assert_eq!(read, response);
        assert_eq!(read.result().unwrap(), result);
    }
    let wrong = HostResponse::from_value(
        &from_slice(b"<Obj><MS><I64 N='ci'>1</I64><I32 N='mi'>26</I32><S N='mr'>x</S></MS></Obj>").unwrap(),
    );
    assert!(wrong.unwrap().result().unwrap_err().to_string().contains("mr: not a 32-bit integer"));
}

#[test]
fn cell_dimensions_must_match() {
    assert!(CellBuffer::new(2, 2, vec![BufferCell::default(); 3]).unwrap_err().is_mismatch());
    assert!(CellBuffer::new(usize::MAX, 2, Vec::new()).unwrap_err().is_mismatch());
    let buffer = cells();
    assert!(buffer.get(1, 2).is_some() && buffer.get(1, 3).is_none() && buffer.get(2, 0).is_none());
    for lengths in ["<I32>2</I32>", "<I32>-1</I32><I32>-1</I32>", "<I32>1</I32><I32>0</I32><I32>9</I32>", ""]
    {
        let text = format!(
            "<Obj><MS><Obj N='mae'><LST><Obj><MS><C N='character'>65</C><I32 N='foregroundColor'>1</I32>\
             <I32 N='backgroundColor'>1</I32></MS></Obj></LST></Obj><Obj N='mal'><LST>{lengths}</LST></Obj></MS></Obj>"
        );
        let value = from_slice(text.as_bytes()).unwrap();
        assert!(HostResult::from_value(HostMethod::GetBufferContents, &value).unwrap_err().is_mismatch());
    }
}

#[test]
fn the_numbers_have_no_gap() {
    let numbers: Vec<i32> = HostMethod::ALL.iter().map(|method| method.number()).collect();
    assert_eq!(numbers, (1..=56).collect::<Vec<_>>());
}

#[test]
fn these_methods_return_nothing() {
    let void: Vec<i32> =
        HostMethod::ALL.iter().filter(|method| method.is_void()).map(|method| method.number()).collect();
    let expected = [6..=10, 13..=22, 28..=28, 30..=30, 32..=32, 34..=34, 36..=36, 38..=38, 40..=40, 42..=42];
    let expected = expected.into_iter().chain([47..=49, 51..=53]).flatten().collect::<Vec<_>>();
    assert_eq!(void, expected);
}
