//! Host calls and prompts on an in-memory console.

use std::io::{self, BufRead, Cursor};
use std::sync::{Arc, Mutex};

use psrp::client::PipelineEvent;
use psrp::host::{
    ChoiceDescription, ConsoleColor, FieldDescription, HostRequest, HostResult, ReadKeyOptions,
};
use psrp::io::{Host, NullHost};
use psrp::message::HostInfo;
use psrp::record::{
    ErrorCategory, ErrorRecord, HostInformationMessage, InformationRecord, InformationalRecord,
};
use psrp::value::{Progress, SecureString};
use psrp::{Object, PsString, Value};

use super::terminal::{Cancel, Channel, Echo, Line, Terminal, read_line};
use super::{CallError, ConsoleHost, ConsoleOptions};

/// Terminal in memory without progress bars and keys.
struct TestTerminal {
    input: Box<dyn BufRead + Send>,
    /// With `None`, writing fails.
    output: Option<Written>,
}

/// Written text, shared with the terminal.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<String>>);

impl Written {
    fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl Terminal for TestTerminal {
    fn has_colors(&self, _: Channel) -> bool {
        false
    }

    fn write(&mut self, _: Channel, text: &str) -> io::Result<()> {
        let output = self.output.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        output.0.lock().unwrap().push_str(text);
        Ok(())
    }

    fn read_line(&mut self, _: &str, question: &str, _: Echo, _: &Cancel) -> io::Result<Line> {
        self.write(Channel::Messages, question)?;
        let line = read_line(&mut self.input)?;
        // Input is not echoed, so the next text starts a new line.
        self.write(Channel::Messages, "\n")?;
        Ok(line)
    }
}

fn host(colors: Option<bool>, input: impl BufRead + Send + 'static) -> (ConsoleHost, Written) {
    let written = Written::default();
    let terminal = TestTerminal { input: Box::new(input), output: Some(written.clone()) };
    (ConsoleOptions { colors, ..ConsoleOptions::default() }.at(Box::new(terminal)), written)
}

fn host_with_input(input: &'static str) -> (ConsoleHost, Written) {
    host(None, Cursor::new(input))
}

async fn call(host: &impl Host, request: HostRequest) -> Result<HostResult, ErrorCategory> {
    host.call(None, request).await.map_err(|error| error.category)
}

fn text(text: &str) -> PsString {
    text.into()
}

fn yes_no_all(default_choice: i32) -> HostRequest {
    HostRequest::PromptForChoice {
        caption: text("Delete"),
        message: text("Really?"),
        choices: vec![
            ChoiceDescription::new("&Yes", "does it"),
            ChoiceDescription::new("&No", "leaves it"),
            ChoiceDescription::new("Yes to &All", "does it for all"),
        ],
        default_choice,
    }
}

fn field(name: &str, type_name: &str) -> FieldDescription {
    FieldDescription {
        name: text(name),
        parameter_type_name: Some(text(type_name.rsplit('.').next().unwrap())),
        parameter_type_full_name: Some(text(type_name)),
        is_mandatory: true,
        ..FieldDescription::default()
    }
}

fn prompt(fields: Vec<FieldDescription>) -> HostRequest {
    HostRequest::Prompt { caption: text("New user"), message: text("Supply values"), fields }
}

#[tokio::test]
async fn script_output_is_written() {
    let (host, written) = host_with_input("");
    let (red, black) = (ConsoleColor::Red, ConsoleColor::Black);
    for request in [
        HostRequest::Write1 { text: text("a") },
        HostRequest::Write2 { foreground: red, background: black, text: text("b") },
        HostRequest::WriteLine1,
        HostRequest::WriteLine2 { text: text("c\r\nd") },
        HostRequest::WriteLine3 { foreground: red, background: black, text: text("e") },
        HostRequest::WriteErrorLine { text: text("f") },
        HostRequest::WriteDebugLine { text: text("g") },
        HostRequest::WriteVerboseLine { text: text("h") },
        HostRequest::WriteWarningLine { text: text("i") },
        HostRequest::WriteProgress { source_id: 1, record: Box::new(Progress::new(1, "copy", "running")) },
    ] {
        assert_eq!(call(&host, request).await, Ok(HostResult::Nothing));
    }
    assert_eq!(written.text(), "ab\nc\nd\ne\nf\nDEBUG: g\nVERBOSE: h\nWARNING: i\n");
}

#[tokio::test]
async fn scripts_set_colours() {
    let (host, written) = host(Some(true), io::empty());
    let line = |foreground, background| HostRequest::WriteLine3 { foreground, background, text: text("x") };
    // The console's default colours are not set explicitly.
    for request in [
        line(ConsoleColor::Green, ConsoleColor::Black),
        line(ConsoleColor::Gray, ConsoleColor::DarkBlue),
        line(ConsoleColor::Gray, ConsoleColor::Black),
        HostRequest::SetForegroundColor { color: ConsoleColor::Cyan },
        HostRequest::WriteLine2 { text: text("y") },
    ] {
        call(&host, request).await.unwrap();
    }
    assert_eq!(written.text(), "\x1b[92mx\x1b[0m\n\x1b[44mx\x1b[0m\nx\n\x1b[96my\x1b[0m\n");
    assert_eq!(call(&host, HostRequest::GetForegroundColor).await, Ok(HostResult::Color(ConsoleColor::Cyan)));
}

#[tokio::test]
async fn control_sequences_of_scripts_are_escaped() {
    const CONTROL_SEQUENCES: &str = "\x1b[2J\x1b]0;t\x07\u{9b}31m\u{202e}\rx";
    let evil = || text(CONTROL_SEQUENCES);
    let (host, written) = host(Some(true), Cursor::new("?\n\n!?\nx\nu\np\nq\n"));
    let choices = vec![ChoiceDescription::new(CONTROL_SEQUENCES, CONTROL_SEQUENCES)];
    let default_choice = 0;
    let evil_field = FieldDescription {
        label: Some(evil()),
        help_message: Some(evil()),
        parameter_type_name: Some(evil()),
        default_value: Some(CONTROL_SEQUENCES.into()),
        ..field(CONTROL_SEQUENCES, "System.String")
    };
    for request in [
        HostRequest::Write1 { text: evil() },
        HostRequest::WriteErrorLine { text: evil() },
        HostRequest::WriteWarningLine { text: evil() },
        HostRequest::PromptForChoice { caption: evil(), message: evil(), choices, default_choice },
        prompt(vec![evil_field]),
        HostRequest::PromptForCredential1 {
            caption: evil(),
            message: evil(),
            user_name: evil(),
            target_name: evil(),
        },
        HostRequest::SetWindowTitle { title: evil() },
    ] {
        call(&host, request).await.unwrap();
    }
    let mut error = ErrorRecord::new(CONTROL_SEQUENCES, ErrorCategory::InvalidData)
        .with_id(CONTROL_SEQUENCES)
        .with_reason(CONTROL_SEQUENCES);
    error.recommended_action = Some(evil());
    let information = InformationRecord::new(CONTROL_SEQUENCES);
    let object = Object::custom([
        (CONTROL_SEQUENCES, Value::from(CONTROL_SEQUENCES)),
        ("list", Object::list([CONTROL_SEQUENCES]).into()),
    ]);
    for event in [
        PipelineEvent::Output(CONTROL_SEQUENCES.into()),
        PipelineEvent::Output(object.into()),
        PipelineEvent::Output(Object::dictionary([(CONTROL_SEQUENCES, CONTROL_SEQUENCES)]).into()),
        PipelineEvent::Error(Box::new(error)),
        PipelineEvent::Warning(Box::new(InformationalRecord::new(CONTROL_SEQUENCES))),
        PipelineEvent::Information(Box::new(information)),
    ] {
        host.show(event).await.unwrap();
    }
    let mut text = written.text();
    assert!(text.contains("\\u{1b}[2J"));
    // Only the host's own colour sequences are allowed.
    for own in ["\x1b[91m", "\x1b[93m", "\x1b[97m", "\x1b[90m", "\x1b[33m", "\x1b[0m"] {
        text = text.replace(own, "");
    }
    assert!(!text.contains(|char: char| char.is_control() && char != '\n' || char == '\u{202e}'), "{text:?}");
}

#[tokio::test]
async fn prompts_read_lines_until_end_of_input() {
    let (host, _) = host_with_input("one\r\ntwo\nsecret\n");
    assert_eq!(call(&host, HostRequest::ReadLine).await, Ok(HostResult::Text(text("one"))));
    assert_eq!(call(&host, HostRequest::ReadLine).await, Ok(HostResult::Text(text("two"))));
    let secret = SecureString::new("secret");
    assert_eq!(call(&host, HostRequest::ReadLineAsSecureString).await, Ok(HostResult::Secure(secret)));
    // Missing input is an error and does not block.
    for request in [
        HostRequest::ReadLine,
        HostRequest::ReadLineAsSecureString,
        yes_no_all(-1),
        prompt(vec![field("a", "System.String")]),
    ] {
        assert_eq!(call(&host, request).await, Err(ErrorCategory::ReadError));
    }
    assert!(matches!(host.ask("Password: ".into(), Echo::Hidden).await, Err(CallError::End)));
}

#[tokio::test]
async fn choices_are_selected_by_key_label_or_default() {
    for (input, default, expected) in
        [("y\n", -1, 0), ("A\n", -1, 2), ("yes to all\n", 0, 2), ("\n", 1, 1), ("what\n?\n\nn\n", -1, 1)]
    {
        let (host, _) = host_with_input(input);
        assert_eq!(call(&host, yes_no_all(default)).await, Ok(HostResult::Number(expected)), "{input:?}");
    }
    let (host, written) = host_with_input("?\n\n");
    call(&host, yes_no_all(1)).await.unwrap();
    let question = "[Y] Yes  [N] No  [A] Yes to All  [?] Help (default is \"N\"): \n";
    let help = "Y - does it\nN - leaves it\nA - does it for all\n";
    assert_eq!(written.text(), format!("Delete\nReally?\n{question}{help}{question}"));

    let nothing = HostRequest::PromptForChoice {
        caption: text(""),
        message: text(""),
        choices: Vec::new(),
        default_choice: 0,
    };
    assert_eq!(call(&host, nothing).await, Err(ErrorCategory::InvalidArgument));
    // Prompts end after too many invalid answers.
    let (host, _) = self::host(None, io::BufReader::new(io::repeat(b'\n')));
    assert_eq!(call(&host, yes_no_all(-1)).await, Err(ErrorCategory::InvalidArgument));
}

#[tokio::test]
async fn several_choices_can_be_selected() {
    let HostRequest::PromptForChoice { caption, message, choices, .. } = yes_no_all(0) else { panic!() };
    let request = |default_choices: &[i32]| HostRequest::PromptForChoiceMultipleSelection {
        caption: caption.clone(),
        message: message.clone(),
        choices: choices.clone(),
        default_choices: default_choices.to_vec(),
    };
    for (input, defaults, expected) in [
        ("a\ny\ny\n\n", &[][..], &[2, 0][..]),
        ("\n", &[1, 2], &[1, 2]),
        ("\n", &[1, 99, -1], &[1]),
        ("n\n\n", &[0], &[1]),
        ("\n", &[], &[]),
    ] {
        let (host, _) = host_with_input(input);
        let chosen = call(&host, request(defaults)).await;
        assert_eq!(chosen, Ok(HostResult::Choices(expected.to_vec())), "{input:?}");
    }
    let (host, written) = host_with_input("n\n\n");
    call(&host, request(&[0, 2])).await.unwrap();
    assert!(written.text().contains("(default is \"Y,A\")\nChoice[0]: "), "{}", written.text());
}

#[tokio::test]
async fn prompt_fields_are_converted_to_their_types() {
    let (host, written) = host_with_input("Ada\nnine\n9\ntrue\none\ntwo\n\npw\nlovelace\npw2\n\n\n5\n\n");
    let optional = FieldDescription { is_mandatory: false, ..field("Limit", "System.Int32") };
    let with_default = FieldDescription { default_value: Some(80.into()), ..field("Port", "System.Int32") };
    let request = prompt(vec![
        field("Name", "System.String"),
        field("Age", "System.Int32"),
        field("Admin", "System.Boolean"),
        field("Groups", "System.String[]"),
        field("Password", "System.Security.SecureString"),
        field("Login", "System.Management.Automation.PSCredential"),
        optional,
        with_default,
        field("Numbers", "System.Int64[]"),
    ]);
    let Ok(HostResult::Answers(answers)) = call(&host, request).await else { panic!("{}", written.text()) };
    let names: Vec<String> = answers.iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["Name", "Age", "Admin", "Groups", "Password", "Login", "Limit", "Port", "Numbers"]);
    let values: Vec<Value> = answers.into_iter().map(|(_, value)| value).collect();
    assert_eq!(values[..3], [Value::from("Ada"), Value::Int32(9), Value::Bool(true)]);
    assert_eq!(values[3].items().unwrap(), [Value::from("one"), "two".into()]);
    assert_eq!(values[4], Value::from(SecureString::new("pw")));
    assert_eq!(values[5]["UserName"], "lovelace");
    assert_eq!(values[5]["Password"], Value::from(SecureString::new("pw2")));
    assert_eq!(values[6..8], [Value::Nil, Value::Int32(80)]);
    assert_eq!(values[8].items().unwrap(), [Value::Int64(5)]);

    let written = written.text();
    assert!(written.contains("New user\nSupply values\nName: \n"), "{written}");
    assert!(written.contains("This is not a valid value of type Int32."), "{written}");
    assert!(written.contains("Groups[1]: "), "{written}");
    assert!(written.contains("Port [80]: "), "{written}");
    assert!(!written.contains("pw"), "a password was shown: {written}");
}

#[tokio::test]
async fn mandatory_fields_are_repeated_and_have_help() {
    let (host, written) = host_with_input("\n!?\nx\n");
    let field = FieldDescription { help_message: Some(text("any name")), ..field("Na&me", "System.String") };
    let Ok(HostResult::Answers(answers)) = call(&host, prompt(vec![field])).await else { panic!() };
    assert_eq!(answers, [(text("Na&me"), Value::from("x"))]);
    let expected = "New user\nSupply values\n(Type !? for help.)\nName: \nName: \nany name\nName: \n";
    assert_eq!(written.text(), expected);
}

#[tokio::test]
async fn prompts_end_after_too_many_invalid_answers() {
    let answer = async |line: &str, lines: usize, type_name: &str| {
        let (host, _) = host(None, Cursor::new(line.repeat(lines)));
        call(&host, prompt(vec![field("Value", type_name)])).await
    };
    let error_record = Err(ErrorCategory::InvalidArgument);
    assert_eq!(answer("nine\n", 200, "System.Int32").await, error_record);
    assert_eq!(answer("\n", 200, "System.String").await, error_record);
    assert_eq!(answer("\n", 200, "System.String[]").await, error_record);
    assert_eq!(answer("x\n", 20_000, "System.String[]").await, error_record);
}

#[tokio::test]
async fn credential_prompts_read_user_and_password() {
    let request = |user: &str, target: &str| HostRequest::PromptForCredential1 {
        caption: text(""),
        message: text("Log in"),
        user_name: text(user),
        target_name: text(target),
    };
    for (input, user, target, expected) in [
        ("ada\npw\n", "", "", "ada"),
        ("pw\n", "bob", "", "bob"),
        ("pw\n", "bob", "SRV", "SRV\\bob"),
        ("pw\n", "DOM\\bob", "SRV", "DOM\\bob"),
    ] {
        let (host, written) = host_with_input(input);
        let Ok(HostResult::Credential(credential)) = call(&host, request(user, target)).await else {
            panic!()
        };
        assert_eq!(credential.user_name, expected);
        assert_eq!(credential.password, SecureString::new("pw"));
        assert!(written.text().starts_with("Log in\nA script on the server asks for this.\n"));
        assert!(!written.text().contains("pw"));
    }
    let (host, _) = host_with_input("\n");
    assert_eq!(call(&host, request("", "")).await, Ok(HostResult::Nothing));
}

#[tokio::test]
async fn screen_calls_fail_without_a_terminal() {
    let (host, _) = host_with_input("x");
    assert_eq!(host.info(), HostInfo::lines());
    assert_eq!(host.exit_code(), None);
    assert_eq!(call(&host, HostRequest::GetName).await, Ok(HostResult::Text(text("psrp"))));
    let library = NullHost::new().call(None, HostRequest::GetBufferSize).await;
    assert_eq!(host.call(None, HostRequest::GetBufferSize).await, library);
    for request in [
        HostRequest::GetBufferSize,
        HostRequest::GetCursorPosition,
        HostRequest::ReadKey { options: ReadKeyOptions::NO_ECHO },
        HostRequest::GetKeyAvailable,
        HostRequest::GetRunspace,
    ] {
        assert_eq!(call(&host, request).await, Err(ErrorCategory::NotImplemented));
    }
    assert_eq!(call(&host, HostRequest::FlushInputBuffer).await, Ok(HostResult::Nothing));
    assert_eq!(call(&host, HostRequest::GetIsRunspacePushed).await, Ok(HostResult::Bool(false)));
    call(&host, HostRequest::SetWindowTitle { title: text("t") }).await.unwrap();
    assert_eq!(call(&host, HostRequest::GetWindowTitle).await, Ok(HostResult::Text(text("t"))));
    assert_eq!(host.exit_code(), None);
    call(&host, HostRequest::SetShouldExit { exit_code: 7 }).await.unwrap();
    assert_eq!(host.exit_code(), Some(7));
}

#[tokio::test]
async fn pipeline_events_are_shown_as_text() {
    let (host, written) = host_with_input("");
    let message = HostInformationMessage {
        message: text("no end, "),
        no_new_line: Some(true),
        ..HostInformationMessage::default()
    };
    let mut written_by_host = InformationRecord::new(message.to_value());
    written_by_host.tags = vec![text("PSHOST")];
    let object = Object::custom([("Name", Value::from("sshd")), ("Id", 4.into())]);
    let file = Object::builder()
        .type_names(["System.IO.FileInfo"])
        .to_string("a.txt")
        .adapted("Length", 3_i64)
        .build();
    let error = ErrorRecord::new("file not found", ErrorCategory::ObjectNotFound).with_id("PathNotFound");
    for event in [
        PipelineEvent::Output("text".into()),
        PipelineEvent::Output(Value::Nil),
        PipelineEvent::Output(Value::Bool(true)),
        PipelineEvent::Output(1.5.into()),
        PipelineEvent::Output(object.clone().into()),
        PipelineEvent::Output(file.into()),
        PipelineEvent::Output(Object::list([1, 2]).into()),
        PipelineEvent::Output(Object::dictionary([("key", object)]).into()),
        PipelineEvent::Information(Box::new(written_by_host)),
        PipelineEvent::Information(Box::new(InformationRecord::new("told"))),
        PipelineEvent::Verbose(Box::new(InformationalRecord::new("v"))),
        PipelineEvent::Error(Box::new(error)),
    ] {
        host.show(event).await.unwrap();
    }
    let expected = "text\nTrue\n1.5\n\nName : sshd\nId : 4\n\na.txt\n1\n2\n\n\
        key : @{Name=sshd; Id=4}\nno end, told\nVERBOSE: v\n\
        error: file not found\n  ObjectNotFound\n  PathNotFound\n";
    assert_eq!(written.text(), expected);
}

#[tokio::test]
async fn nested_lists_are_truncated() {
    let (host, written) = host_with_input("");
    let mut deep = Value::from("x");
    for level in 0..20 {
        deep = Object::list([Value::from(level), deep]).into();
    }
    host.show(PipelineEvent::Output(deep)).await.unwrap();
    assert_eq!(written.text(), "19\n18\n17\n16\n15\n14\n13\n12\n\u{2026}\n");
}

#[tokio::test]
async fn write_errors_do_not_break_the_console() {
    let terminal = TestTerminal { input: Box::new(io::empty()), output: None };
    let host = ConsoleOptions::default().at(Box::new(terminal));
    assert_eq!(
        call(&host, HostRequest::WriteLine2 { text: text("x") }).await,
        Err(ErrorCategory::DeviceError)
    );
    assert!(matches!(host.print(Channel::Output, "x".into()).await, Err(CallError::Io(_))));
}

#[tokio::test]
async fn objects_named_like_their_type_show_properties() {
    for (name, text, expected) in [
        ("A.Service", "A.Service", "Name : x\n"),
        ("Deserialized.A.Service", "A.Service", "Name : x\n"),
        ("A.Service", "", "Name : x\n"),
        ("A.Service", "spooler", "spooler\n"),
    ] {
        let (host, written) = host_with_input("");
        let object =
            Object::builder().type_names([name, "System.Object"]).to_string(text).adapted("Name", "x");
        host.show(PipelineEvent::Output(object.build().into())).await.unwrap();
        assert_eq!(written.text(), expected);
    }
}

fn write_host(message: &str, no_new_line: bool) -> PipelineEvent {
    let message = HostInformationMessage {
        message: text(message),
        no_new_line: Some(no_new_line),
        foreground_color: Some(ConsoleColor::Red),
        ..HostInformationMessage::default()
    };
    let mut record = InformationRecord::new(message.to_value());
    record.tags = vec![text("PSHOST")];
    PipelineEvent::Information(Box::new(record))
}

#[tokio::test]
async fn a_record_suppresses_only_its_own_call() {
    let line = |line: &str| HostRequest::WriteLine2 { text: text(line) };
    let warning = |line: &str| HostRequest::WriteWarningLine { text: text(line) };
    let information = |data: Value| PipelineEvent::Information(Box::new(InformationRecord::new(data)));
    let warned = || PipelineEvent::Warning(Box::new(InformationalRecord::new("w")));
    let date = Value::from("2020-01-02T03:04:05".parse::<psrp::value::DateTime>().unwrap());
    let cases: Vec<(PipelineEvent, Vec<HostRequest>, &str)> = vec![
        (write_host("a", false), vec![line("a")], "a\n"),
        (write_host("a", false), vec![line("a"), line("a")], "a\na\n"),
        (write_host("a", true), vec![line("a")], "aa\n"),
        (write_host("", false), vec![HostRequest::WriteLine1], "\n"),
        // Another thread writes between the record and its call.
        (write_host("a", false), vec![line("b"), line("a")], "a\nb\n"),
        (warned(), vec![warning("w"), warning("w")], "WARNING: w\nWARNING: w\n"),
        (warned(), vec![line("w")], "WARNING: w\nw\n"),
        (information("i".into()), vec![line("i"), line("i")], "i\ni\n"),
        // Without the preference `Continue` there is no call.
        (information("i".into()), vec![line("b"), line("i")], "i\nb\ni\n"),
        (information(1.5.into()), vec![line("1,5")], "1.5\n"),
        (information((-1_i32).into()), vec![line("\u{2212}1"), line("1")], "-1\n1\n"),
        (information(f64::INFINITY.into()), vec![line("\u{221e}")], "Infinity\n"),
        (information(Value::Bytes([1, 2].into())), vec![line("System.Byte[]")], "1 2\n"),
        (information(Object::custom::<&str, Value>([]).into()), vec![line("")], "\n"),
        (information(Object::custom([("a", 1)]).into()), vec![line("@{a=1}")], "a : 1\n"),
        (information(Object::custom([("a", 1)]).into()), vec![line("")], "a : 1\n\n"),
        (information(1.into()), vec![line("\u{221e}")], "1\n\u{221e}\n"),
        (information(date.clone()), vec![line("1/2/2563 5.04.05")], "2020-01-02T03:04:05\n"),
        (information(date), vec![line("b2020")], "2020-01-02T03:04:05\nb2020\n"),
        (PipelineEvent::Output("o".into()), vec![line("o")], "o\no\n"),
    ];
    for (event, calls, expected) in cases {
        let (host, written) = host_with_input("");
        host.show(event.clone()).await.unwrap();
        for request in calls {
            call(&host, request).await.unwrap();
        }
        assert_eq!(written.text(), expected, "{event:?}");
    }
}

#[test]
fn numbers_and_nested_objects_have_the_text_of_dotnet() {
    let (host, _) = host_with_input("");
    let custom = Object::custom([("g", 1)]);
    let object = Object::custom([("f", Value::from(custom.clone())), ("l", Object::list([custom]).into())]);
    for (value, expected) in [
        (Value::Double(1e300), "1E+300"),
        (Value::Double(1e16), "10000000000000000"),
        (Value::Double(1e17), "1E+17"),
        (Value::Double(-1.5e-10), "-1.5E-10"),
        (Value::Double(0.0001), "0.0001"),
        (Value::Double(f64::NAN), "NaN"),
        (Value::Single(f32::NEG_INFINITY), "-Infinity"),
        (Value::Single(f32::MAX), "3.4028235E+38"),
        (object.into(), "\nf : @{g=1}\nl : {@{g=1}}"),
    ] {
        assert_eq!(host.text(&value).as_deref(), Some(expected));
    }
}
