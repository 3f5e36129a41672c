//! Hosts without a user, and hosts for tests.

#![cfg(all(feature = "tokio", feature = "crypto"))]

use psrp::PsString;
use psrp::host::{ChoiceDescription, ConsoleColor, HostMethod, HostRequest, HostResult};
use psrp::io::{Host, NullHost, ScriptedHost};
use psrp::record::{ErrorCategory, ErrorRecord};
use psrp::value::Version;
use uuid::Uuid;

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

#[tokio::test]
async fn the_null_host_only_has_an_identity() {
    let id = Uuid::from_u128(7);
    let host = NullHost::new().name("job").version(Version::new(3, 1)).instance_id(id).culture("de-DE");
    assert_eq!(call(&host, HostRequest::GetName).await, Ok(HostResult::Text(text("job"))));
    assert_eq!(call(&host, HostRequest::GetVersion).await, Ok(HostResult::Version(Version::new(3, 1))));
    assert_eq!(call(&host, HostRequest::GetInstanceId).await, Ok(HostResult::Guid(id)));
    assert_eq!(call(&host, HostRequest::GetCurrentCulture).await, Ok(HostResult::Text(text("de-DE"))));
    assert_eq!(call(&host, HostRequest::GetCurrentUICulture).await, Ok(HostResult::Text(text("de-DE"))));
    assert_eq!(call(&host, HostRequest::WriteLine2 { text: text("lost") }).await, Ok(HostResult::Nothing));
    assert_eq!(call(&host, HostRequest::SetShouldExit { exit_code: 3 }).await, Ok(HostResult::Nothing));
    for request in [HostRequest::ReadLine, HostRequest::GetBufferSize, yes_no_all(0)] {
        let method = request.method();
        let error = host.call(None, request).await.unwrap_err();
        assert_eq!(error.category, ErrorCategory::NotImplemented);
        assert!(error.message().unwrap().to_string().contains(&method.to_string()));
    }
    let info = host.info();
    assert_eq!((info.is_host_null, info.is_host_ui_null, info.use_runspace_host), (false, true, false));
}

#[tokio::test]
async fn the_scripted_host_responds_in_order_and_records_calls() {
    let host = ScriptedHost::new()
        .answer(HostMethod::ReadLine, HostResult::Text(text("first")))
        .fail(HostMethod::ReadLine, ErrorRecord::new("no", ErrorCategory::ReadError))
        .always(HostMethod::GetWindowTitle, |_| Ok(HostResult::Text(text("title"))));
    let pipeline = Some(Uuid::from_u128(1));
    let calls = [
        HostRequest::Write1 { text: text("a") },
        HostRequest::WriteLine3 {
            foreground: ConsoleColor::Red,
            background: ConsoleColor::Black,
            text: text("b"),
        },
        HostRequest::ReadLine,
        HostRequest::GetWindowTitle,
        HostRequest::ReadLine,
        HostRequest::GetName,
    ];
    let mut results = Vec::new();
    for request in &calls {
        results.push(host.call(pipeline, request.clone()).await.map_err(|error| error.category));
    }
    assert_eq!(results[2], Ok(HostResult::Text(text("first"))));
    assert_eq!(results[3], Ok(HostResult::Text(text("title"))));
    assert_eq!(results[4], Err(ErrorCategory::ReadError));
    assert_eq!(results[5], Ok(HostResult::Text(text("psrp"))));
    host.verify().unwrap();
    assert_eq!(host.written(), "ab\n");
    let seen: Vec<_> = host.calls().into_iter().map(|call| (call.pipeline, call.request)).collect();
    assert_eq!(seen, calls.map(|request| (pipeline, request)));
}

#[tokio::test]
async fn the_scripted_host_reports_mismatches() {
    let host = ScriptedHost::new().answer(HostMethod::ReadLine, HostResult::Text(text("left")));
    assert_eq!(call(&host, HostRequest::GetBufferSize).await, Err(ErrorCategory::InvalidOperation));
    let error = host.verify().unwrap_err();
    assert!(error.is_mismatch());
    let told = error.to_string();
    assert!(told.contains("unexpected calls: GetBufferSize"), "{told}");
    assert!(told.contains("unused results: ReadLine"), "{told}");
    // Results are not shown: they may be secret.
    assert!(!format!("{host:?}").contains("left"));
}
