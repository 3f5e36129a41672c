//! Decoding of messages, their errors, and encoding for older peers.

use psrp::clixml::from_slice;
use psrp::host::{ConsoleColor, ControlKeyStates, HostCall, HostOutcome, HostRequest, HostResponse, KeyInfo};
use psrp::message::{
    ApartmentState, Command, ConnectRunspacePool, CreatePipeline, InitRunspacePool, MergeTarget, MessageType,
    Payload, PipelineResultTypes, PipelineState, PipelineStateInfo, PowerShell, RemoteStreamOptions,
    RunspaceLimits, RunspacePoolState, RunspacePoolStateInfo, SessionCapability,
};
use psrp::record::{
    CommandTypes, ErrorCategory, ErrorRecord, HostInformationMessage, InformationRecord, InvocationCall,
    InvocationInfo,
};
use psrp::value::Version;
use psrp::{Error, Object, Value};

fn read(message_type: MessageType, members: &str) -> Result<Payload, Error> {
    Payload::decode(message_type, format!("<Obj RefId=\"0\"><MS>{members}</MS></Obj>").as_bytes())
}

#[test]
fn errors_name_the_member() {
    use MessageType::*;

    let call = r#"<I64 N="ci">1</I64><I32 N="mi">26</I32>"#;
    let cases = [
        (SessionCapability, "", "protocolversion: missing"),
        (SessionCapability, r#"<S N="protocolversion">2.3</S>"#, "protocolversion: not a version"),
        (InitRunspacePool, r#"<I32 N="MinRunspaces">1</I32>"#, "MaxRunspaces: missing"),
        (InitRunspacePool, r#"<I64 N="MinRunspaces">9999999999</I64>"#, "MinRunspaces: not a 32-bit integer"),
        (PublicKey, r#"<S N="PublicKey">*</S>"#, "PublicKey: not Base64"),
        (
            RunspaceAvailability,
            r#"<S N="SetMinMaxRunspacesResponse">1</S>"#,
            "SetMinMaxRunspacesResponse: neither",
        ),
        (RunspacePoolState, r#"<S N="RunspaceState">Ajar</S>"#, "RunspaceState: not an enumeration"),
        (
            PipelineState,
            r#"<I32 N="PipelineState">5</I32><S N="ExceptionAsErrorRecord">x</S>"#,
            "ExceptionAsErrorRecord: not an object with members",
        ),
        (CreatePipeline, "", "PowerShell: missing"),
        (
            CreatePipeline,
            r#"<Obj N="PowerShell"><MS><Obj N="Cmds"><LST><Obj><MS><S N="Cmd">a</S></MS></Obj><Obj /></LST></Obj></MS></Obj>"#,
            "PowerShell.Cmds[1].Cmd: missing",
        ),
        (
            ApplicationPrivateData,
            r#"<S N="ApplicationPrivateData">x</S>"#,
            "ApplicationPrivateData: not a dictionary",
        ),
        (GetCommandMetadata, r#"<S N="Name">x</S>"#, "Name: not a list"),
        (PipelineHostCall, r#"<I64 N="ci">1</I64>"#, "mi: missing"),
        (
            PipelineHostResponse,
            r#"<I64 N="ci">1</I64><I32 N="mi">11</I32><I32 N="me">1</I32>"#,
            "me: not an object with members",
        ),
        (InformationRecord, "", "MessageData: missing"),
        (ProgressRecord, "", "ActivityId: missing"),
        (DebugRecord, "", "InformationalRecord_Message: missing"),
        (UserEvent, "", "PSEventArgs.EventIdentifier: missing"),
    ];
    for (message_type, members, expected) in cases {
        let error = read(message_type, members).unwrap_err();
        assert!(error.is_mismatch(), "{message_type:?}: {error}");
        assert!(error.to_string().contains(expected), "{message_type:?}: {error}");
    }

    let parameters = r#"<Obj N="mp"><LST><S>c</S><S>m</S><Obj><LST><Obj><MS><I32 N="label">1</I32></MS></Obj></LST></Obj></LST></Obj>"#;
    let Payload::PipelineHostCall(call) = read(PipelineHostCall, &format!("{call}{parameters}")).unwrap()
    else {
        panic!("another message")
    };
    let error = call.request().unwrap_err();
    assert!(error.to_string().contains("mp[2][0].label: not a string"), "{error}");
}

#[test]
fn missing_data_is_an_error() {
    for message_type in MessageType::ALL {
        let empty = Payload::decode(*message_type, b"");
        match message_type {
            MessageType::PublicKeyRequest
            | MessageType::EndOfPipelineInput
            | MessageType::PipelineInput
            | MessageType::PipelineOutput => assert_eq!(empty.unwrap().message_type(), *message_type),
            _ => assert!(empty.unwrap_err().is_mismatch(), "{message_type:?}"),
        }
    }
    assert!(Payload::decode(MessageType::PipelineInput, b"<S>a</S><S>b</S>").unwrap_err().is_structure());
}

#[test]
fn null_output_is_empty_or_a_nil_element() {
    for data in [b"".as_slice(), b"<Nil />", b"\xEF\xBB\xBF"] {
        let payload = Payload::decode(MessageType::PipelineOutput, data).unwrap();
        assert_eq!(payload, Payload::PipelineOutput(Value::Nil));
        assert_eq!(payload.to_value(), None);
    }
}

#[test]
fn unknown_message_types_preserve_their_data() {
    let payload = Payload::decode(MessageType::from_id(0x0004_1012), b"anything").unwrap();
    assert_eq!(payload, Payload::Other(0x0004_1012, b"anything".as_slice().into()));
    assert_eq!(payload.encode(&mut psrp::clixml::Writer::new()).unwrap(), b"anything");
}

#[test]
fn order_case_type_names_and_extra_members_are_ignored() {
    let text = r#"<Obj><TN><T>System.Object</T></TN><Props><I32 N="MaxRunspaces">2</I32></Props><MS><S N="Future">x</S>
        <Obj N="apartmentstate"><I64>1</I64></Obj><By N="PSTHREADOPTIONS">7</By><I32 N="MinRunspaces">1</I32>
        <Nil N="HostInfo" /><Nil N="ApplicationArguments" /></MS></Obj>"#;
    let init = InitRunspacePool::from_value(&from_slice(text.as_bytes()).unwrap()).unwrap();
    assert_eq!((init.min_runspaces, init.max_runspaces), (1, 2));
    assert_eq!(init.apartment_state, ApartmentState::Mta);
    assert_eq!(init.thread_options.number(), 7);
    assert_eq!(init.thread_options.to_string(), "7");
    assert_eq!(InitRunspacePool::from_value(&init.to_value()).unwrap(), init);
}

#[test]
fn connect_messages_may_omit_limits() {
    for data in ["<S />", "<Nil />"] {
        let value = from_slice(data.as_bytes()).unwrap();
        assert_eq!(ConnectRunspacePool::from_value(&value).unwrap(), ConnectRunspacePool::default());
    }
    let message = ConnectRunspacePool { limits: Some(RunspaceLimits { min_runspaces: 1, max_runspaces: 4 }) };
    assert_eq!(ConnectRunspacePool::from_value(&message.to_value()).unwrap(), message);
    assert_eq!(ConnectRunspacePool::default().to_value(), "");
}

#[test]
fn states_have_powershells_numbers() {
    let numbers: Vec<i32> = RunspacePoolState::ALL.iter().map(|state| state.number()).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(RunspacePoolState::from_number(3), RunspacePoolState::Closed);
    assert_eq!(RunspacePoolState::from_number(4), RunspacePoolState::Closing);
    let info = RunspacePoolStateInfo::new(RunspacePoolState::Other(99));
    assert_eq!(RunspacePoolStateInfo::from_value(&info.to_value()).unwrap(), info);
    assert_eq!(PipelineStateInfo::stopped().state, PipelineState::Stopped);
    assert_eq!(ErrorCategory::from_number(31), ErrorCategory::NotEnabled);
}

#[test]
fn enumerations_are_read_in_every_form() {
    let wrapped = |text: &str, number: i32| Value::from(Object::enumeration("E", text, number));
    let named = |text: &str| Value::from(Object::builder().type_names(["E"]).to_string(text).build());
    let information = |color: Value| {
        let message = Object::builder().adapted("Message", "x").adapted("ForegroundColor", color).build();
        HostInformationMessage::from_value(&message.into()).unwrap().foreground_color
    };
    for color in [
        Value::from(12),
        Value::Byte(12),
        Value::Int64(12),
        "Red".into(),
        "red".into(),
        "12".into(),
        wrapped("Red", 12),
        wrapped("Rot", 12),
        named("Red"),
        Object::builder().wrap("Red").build().into(),
    ] {
        assert_eq!(information(color.clone()), Some(ConsoleColor::Red), "{color:?}");
    }
    for color in ["", "Infrared", "Red Green"] {
        assert_eq!(information(color.into()), None, "{color}");
    }
    let error = |category: Value| {
        let record = Object::builder().extended("ErrorCategory_Category", category).build();
        ErrorRecord::from_value(&record.into()).map(|record| record.category)
    };
    assert_eq!(error("ObjectNotFound".into()).unwrap(), ErrorCategory::ObjectNotFound);
    assert_eq!(error(99.into()).unwrap(), ErrorCategory::Other(99));
    assert!(error("NoSuchCategory".into()).unwrap_err().is_mismatch());
    let state = |state: Value| {
        let state = Object::builder().extended("PipelineState", state).build();
        PipelineStateInfo::from_value(&state.into()).unwrap().state
    };
    assert_eq!(state("Completed".into()), PipelineState::Completed);
    let key = |flags: Value| {
        let key = Object::builder().extended("virtualKeyCode", 0).extended("character", Value::Char(0));
        let key = key.extended("controlKeyState", flags).extended("keyDown", true).build();
        KeyInfo::from_value(&key.into()).unwrap().control_key_state
    };
    for flags in [
        24.into(),
        Value::UInt32(24),
        "LeftCtrlPressed, ShiftPressed".into(),
        "shiftpressed,leftctrlpressed".into(),
        "8, ShiftPressed".into(),
        wrapped("LeftCtrlPressed, ShiftPressed", 24),
        named("LeftCtrlPressed, ShiftPressed"),
    ] {
        assert_eq!(key(flags.clone()), ControlKeyStates::LEFT_CTRL | ControlKeyStates::SHIFT, "{flags:?}");
    }
    assert_eq!(key(Value::UInt32(1 << 31)), ControlKeyStates::from_number(i32::MIN));
}

#[test]
fn errors_have_positions_in_both_forms() {
    let call = InvocationCall {
        script_line_number: 4,
        offset_in_line: 3,
        line: Some("  throw 1".into()),
        ..InvocationCall::default()
    };
    let mut record = ErrorRecord::new("x", ErrorCategory::NotSpecified);
    assert_eq!(record.invocation_call(), None);
    let names =
        [("ScriptLineNumber", Value::from(4)), ("OffsetInLine", 3.into()), ("Line", "  throw 1".into())];
    let info = names.into_iter().fold(Object::builder(), |info, (name, value)| info.adapted(name, value));
    record.invocation_info =
        info.adapted("CommandOrigin", "Runspace").adapted("MyCommand", Value::Nil).build().into();
    let back = ErrorRecord::from_value(&record.to_value()).unwrap();
    assert_eq!(back.invocation_call().as_deref(), Some(&call));
    record.invocation_info = Value::Nil;
    record.invocation = Some(Box::new(InvocationInfo { call: call.clone(), ..InvocationInfo::default() }));
    assert_eq!(record.invocation_call().as_deref(), Some(&call));
}

#[test]
fn flags_are_named_as_in_dotnet() {
    for (flags, name) in
        [(0, "None"), (1, "AddInvocationInfoToErrorRecord"), (15, "AddInvocationInfo"), (16, "16")]
    {
        assert_eq!(RemoteStreamOptions::from_number(flags).to_string(), name);
    }
    assert_eq!((CommandTypes::FUNCTION | CommandTypes::CMDLET).to_string(), "Function, Cmdlet");
    assert_eq!(CommandTypes::from_number(0).to_string(), "0");
    assert!(CommandTypes::ALL.contains(CommandTypes::ALIAS));
}

#[test]
fn older_peers_get_only_supported_members() {
    let members = |message: &CreatePipeline, peer| {
        let value = message.to_value_for(peer).unwrap();
        let names = value["PowerShell"]["Cmds"].items().unwrap()[0].as_object().unwrap();
        names.extended().iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>()
    };
    let message = CreatePipeline::new(
        PowerShell::new().command(Command::new("a").redirect_errors(MergeTarget::Output).merge_unclaimed()),
    );
    let oldest = "Cmd Args IsScript UseLocalScope MergeMyResult MergeToResult MergePreviousResults";
    assert_eq!(members(&message, Version::new(2, 1)).join(" "), oldest);
    let newer = members(&message, Version::new(2, 2));
    assert_eq!(newer[7..], ["MergeError", "MergeWarning", "MergeVerbose", "MergeDebug"]);
    assert_eq!(members(&message, Version::new(2, 3))[11..], ["MergeInformation"]);
    let command = &message.power_shell.statements().next().unwrap()[0];
    assert_eq!(command.merge_my_result, PipelineResultTypes::Error);
    assert_eq!(command.merge_to_result, PipelineResultTypes::Output);
    assert_eq!(command.merge_error, PipelineResultTypes::Output);
    assert_eq!(command.merge_previous_results.number(), 3);

    let refused = |command: Command, peer| {
        CreatePipeline::new(PowerShell::new().command(command))
            .to_value_for(peer)
            .unwrap_err()
            .is_unwritable()
    };
    assert!(refused(Command::new("a").redirect_warnings(MergeTarget::Output), Version::new(2, 1)));
    assert!(refused(Command::new("a").redirect_errors(MergeTarget::Null), Version::new(2, 1)));
    assert!(refused(Command::new("a").redirect_information(MergeTarget::Null), Version::new(2, 2)));
    let two = PowerShell::script("1").statement().command(Command::script("2"));
    assert!(CreatePipeline::new(two.clone()).to_value_for(Version::new(2, 1)).unwrap_err().is_unwritable());

    let value = CreatePipeline::new(two).to_value();
    assert_eq!(value["PowerShell"]["ExtraCmds"].items().unwrap().len(), 2);
    assert_eq!(value["PowerShell"]["Cmds"].items().unwrap().len(), 1);
}

#[test]
fn shared_objects_are_not_copied_without_bound() {
    // A document of 60 kilobytes that represents billions of arguments.
    let refs = |id: &str| format!("<Ref RefId=\"{id}\" />").repeat(1000);
    let args = format!(
        r#"<Obj N="Args"><LST><Obj RefId="a"><MS><S N="V">x</S></MS></Obj>{}</LST></Obj>"#,
        refs("a")
    );
    let commands = format!(
        r#"<Obj N="Cmds"><LST><Obj RefId="c"><MS><S N="Cmd">x</S>{args}</MS></Obj>{}</LST></Obj>"#,
        refs("c")
    );
    let extra = format!(
        r#"<Obj N="ExtraCmds"><LST><Obj RefId="s"><MS>{commands}</MS></Obj>{}</LST></Obj>"#,
        refs("s")
    );
    let error = read(MessageType::CreatePipeline, &format!("<Obj N=\"PowerShell\"><MS>{extra}</MS></Obj>"))
        .unwrap_err();
    assert!(error.is_limit(), "{error}");

    let long = "x".repeat(1 << 20);
    let tags = format!("<Obj RefId=\"t\"><S>{long}</S></Obj>{}", refs("t"));
    let members = format!(r#"<Nil N="MessageData" /><Obj N="Tags"><LST>{tags}</LST></Obj>"#);
    assert!(read(MessageType::InformationRecord, &members).unwrap_err().is_limit());

    let value =
        from_slice(b"<Obj><MS><Nil N='MessageData' /><S N='Source'>0123456789</S></MS></Obj>").unwrap();
    let within = |size| Payload::from_value_within(MessageType::InformationRecord, Some(value.clone()), size);
    let record = size_of::<InformationRecord>();
    assert!(within(record + 41).unwrap_err().is_limit());
    assert!(within(record + 42).is_ok());
}

#[test]
fn error_messages_are_found_in_all_places() {
    let mut record = ErrorRecord::new("of the exception", ErrorCategory::ReadError);
    record.text = Some("of ToString".into());
    assert_eq!(record.message().unwrap(), &"of the exception");
    record.details_message = Some("of the details".into());
    assert_eq!(record.message().unwrap(), &"of the details");
    (record.details_message, record.exception) = (None, Value::Nil);
    assert_eq!(record.message().unwrap(), &"of ToString");
    assert_eq!(record.category_message.as_ref().unwrap(), &"ReadError (:) [], ");

    let text = "<Obj><MS><S N='FullyQualifiedErrorId'>x</S><S N='OriginInfo'>there</S></MS></Obj>";
    let record = ErrorRecord::from_value(&from_slice(text.as_bytes()).unwrap()).unwrap();
    assert_eq!(record.extra.get("origininfo").unwrap(), &"there");
    assert_eq!(ErrorRecord::from_value(&record.to_value()).unwrap(), record);
}

#[test]
fn write_host_messages_are_recognized() {
    let message = HostInformationMessage {
        message: "hi".into(),
        no_new_line: Some(true),
        foreground_color: Some(ConsoleColor::Green),
        background_color: None,
    };
    assert_eq!(HostInformationMessage::from_value(&message.to_value()).unwrap(), message);
    assert_eq!(
        message.to_value()["ForegroundColor"].as_object().unwrap().to_string_text().unwrap(),
        &"Green"
    );
    assert_eq!(InformationRecord::new(message.to_value()).message().unwrap(), &"hi");
    assert_eq!(InformationRecord::new("text").message().unwrap(), &"text");
    let other = Object::builder().extended("Message", "no").to_string("yes").build();
    assert_eq!(InformationRecord::new(other).message().unwrap(), &"yes");
}

#[test]
fn failed_calls_have_powershells_error() {
    let call = HostCall::new(7, &HostRequest::ReadLine);
    let response = HostResponse::failed(&call, "no user");
    let value = response.to_value();
    assert_eq!(value["ci"].as_i64(), Some(7));
    assert_eq!(value["mi"].as_i32(), Some(11));
    assert_eq!(value["me"]["FullyQualifiedErrorId"], "RemoteHostExecutionException");
    let read = HostResponse::from_value(&value).unwrap();
    assert!(read.result().unwrap_err().is_mismatch());
    let HostOutcome::Error(record) = read.outcome else { panic!("no error") };
    assert_eq!(record.message().unwrap(), &"no user");
}

#[test]
fn the_default_capabilities_are_those_implemented() {
    let data = Payload::SessionCapability(SessionCapability::default());
    let mut writer = psrp::clixml::Writer::new();
    assert_eq!(
        str::from_utf8(data.encode(&mut writer).unwrap()).unwrap(),
        "<Obj RefId=\"0\"><MS><Version N=\"PSVersion\">2.0</Version><Version N=\"protocolversion\">2.4</Version>\
         <Version N=\"SerializationVersion\">1.1.0.1</Version></MS></Obj>"
    );
}
