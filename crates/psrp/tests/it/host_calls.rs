//! Host calls in both directions.

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

/// A call of every method.
fn requests() -> Vec<HostRequest> {
    use HostRequest::*;

    let text = || PsString::from("text");
    let (caption, message) = (text(), text());
    let color = ConsoleColor::Red;
    let position = Coordinates { x: 1, y: -2 };
    let size = Size { width: 80, height: 25 };
    let rectangle = Rectangle { left: 0, top: 1, right: 2, bottom: 3 };
    let fill = BufferCell::default();
    let choices = vec![ChoiceDescription::new("&Yes", "y"), ChoiceDescription::default()];
    let fields = vec![FieldDescription { name: text(), label: Some(text()), ..FieldDescription::default() }];
    let record = Box::new(Progress::new(1, "a", "b"));
    let (user_name, target_name) = (text(), text());
    vec![
        GetName,
        GetVersion,
        GetInstanceId,
        GetCurrentCulture,
        GetCurrentUICulture,
        SetShouldExit { exit_code: -1 },
        EnterNestedPrompt,
        ExitNestedPrompt,
        NotifyBeginApplication,
        NotifyEndApplication,
        ReadLine,
        ReadLineAsSecureString,
        Write1 { text: text() },
        Write2 { foreground: color, background: color, text: text() },
        WriteLine1,
        WriteLine2 { text: text() },
        WriteLine3 { foreground: color, background: ConsoleColor::Other(77), text: text() },
        WriteErrorLine { text: text() },
        WriteDebugLine { text: text() },
        WriteProgress { source_id: 1 << 40, record },
        WriteVerboseLine { text: text() },
        WriteWarningLine { text: text() },
        Prompt { caption: caption.clone(), message: message.clone(), fields },
        PromptForCredential1 {
            caption: caption.clone(),
            message: message.clone(),
            user_name: user_name.clone(),
            target_name: target_name.clone(),
        },
        PromptForCredential2 {
            caption: caption.clone(),
            message: message.clone(),
            user_name,
            target_name,
            allowed: CredentialTypes::DEFAULT,
            options: CredentialUiOptions::AlwaysPrompt,
        },
        PromptForChoice {
            caption: caption.clone(),
            message: message.clone(),
            choices: choices.clone(),
            default_choice: -1,
        },
        GetForegroundColor,
        SetForegroundColor { color },
        GetBackgroundColor,
        SetBackgroundColor { color },
        GetCursorPosition,
        SetCursorPosition { position },
        GetWindowPosition,
        SetWindowPosition { position },
        GetCursorSize,
        SetCursorSize { size: 100 },
        GetBufferSize,
        SetBufferSize { size },
        GetWindowSize,
        SetWindowSize { size },
        GetWindowTitle,
        SetWindowTitle { title: text() },
        GetMaxWindowSize,
        GetMaxPhysicalWindowSize,
        GetKeyAvailable,
        ReadKey { options: ReadKeyOptions::NO_ECHO | ReadKeyOptions::INCLUDE_KEY_DOWN },
        FlushInputBuffer,
        SetBufferContents1 { rectangle, fill },
        SetBufferContents2 { origin: position, contents: cells() },
        GetBufferContents { rectangle },
        ScrollBufferContents { source: rectangle, destination: position, clip: rectangle, fill },
        PushRunspace { runspace: Value::Nil },
        PopRunspace,
        GetIsRunspacePushed,
        GetRunspace,
        PromptForChoiceMultipleSelection { caption, message, choices, default_choices: vec![0, 1] },
    ]
}

#[test]
fn host_calls_survive_a_round_trip() {
    let requests = requests();
    let methods: Vec<HostMethod> = requests.iter().map(HostRequest::method).collect();
    assert_eq!(methods, HostMethod::ALL);
    for request in requests {
        let call = HostCall::new(5, &request);
        assert_eq!(call.is_void(), call.method.is_void(), "{request:?}");
        assert_eq!(call.call_id, if call.method.is_void() { -100 } else { 5 });
        let data = to_vec(&call.to_value()).unwrap();
        let read = HostCall::from_value(&from_slice(&data).unwrap()).unwrap();
        assert_eq!(read, call);
        assert_eq!(read.request().unwrap(), request);
    }
}

#[test]
fn missing_parameters_are_named_and_excess_ones_ignored() {
    for request in requests() {
        let mut call = HostCall::new(5, &request);
        call.parameters.push(Value::Nil);
        assert_eq!(call.request().unwrap(), request);
        call.parameters.pop();
        if call.parameters.pop().is_some() {
            let error = call.request().unwrap_err();
            let place = format!("mp[{}] is missing", call.parameters.len());
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
    let results = [
        (HostMethod::GetName, HostResult::Text("n".into())),
        (HostMethod::GetVersion, HostResult::Version(Version::new(1, 0))),
        (HostMethod::GetInstanceId, HostResult::Guid(uuid::Uuid::from_u128(7))),
        (HostMethod::ReadLine, HostResult::Nothing),
        (HostMethod::ReadLineAsSecureString, HostResult::Secure(secret)),
        (HostMethod::Prompt, HostResult::Answers(vec![("a".into(), Value::from("b"))])),
        (HostMethod::PromptForCredential2, HostResult::Credential(credential)),
        (HostMethod::PromptForCredential1, HostResult::Nothing),
        (HostMethod::PromptForChoice, HostResult::Number(1)),
        (HostMethod::GetForegroundColor, HostResult::Color(ConsoleColor::Gray)),
        (HostMethod::GetCursorPosition, HostResult::Coordinates(Coordinates { x: 1, y: 2 })),
        (HostMethod::GetBufferSize, HostResult::Size(Size { width: 1, height: 2 })),
        (HostMethod::GetKeyAvailable, HostResult::Bool(true)),
        (HostMethod::ReadKey, HostResult::Key(key)),
        (HostMethod::GetBufferContents, HostResult::Cells(cells())),
        (HostMethod::PromptForChoiceMultipleSelection, HostResult::Choices(vec![0, 2])),
    ];
    for (method, result) in results {
        let call = HostCall { call_id: 9, method, parameters: Vec::new() };
        let response = HostResponse::new(&call, &result);
        let data = to_vec(&response.to_value()).unwrap();
        let read = HostResponse::from_value(&from_slice(&data).unwrap()).unwrap();
        assert_eq!(read, response);
        assert_eq!(read.result().unwrap(), result);
    }
    let wrong = HostResponse::from_value(
        &from_slice(b"<Obj><MS><I64 N='ci'>1</I64><I32 N='mi'>26</I32><S N='mr'>x</S></MS></Obj>").unwrap(),
    );
    assert!(wrong.unwrap().result().unwrap_err().to_string().contains("mr is not a 32-bit integer"));
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
