//! Session features independent of pipelines, and the order of streams.

use psrp::client::Config;
use psrp::io::{Options, PoolEvent};
use psrp::message::{
    GetCommandMetadata, InitRunspacePool, PowerShell, PrimitiveDictionary, SessionCapability,
};
use psrp::record::CommandTypes;
use psrp::value::{Object, Value};

use super::{HANG, open, run, texts};
use crate::session::{category, pipeline_event};

#[tokio::test]
async fn session_settings_are_exchanged() {
    let inner = PrimitiveDictionary::new([("deep", "value")]);
    let arguments = PrimitiveDictionary::new([
        ("number", Value::from(1)),
        ("list", Object::list([1, 2]).into()),
        ("inner", inner.into()),
        ("none", Value::Nil),
    ]);
    let config = Config::new()
        .capability(SessionCapability { time_zone: Some([0, 1, 2].into()), ..SessionCapability::default() })
        .init(InitRunspacePool { application_arguments: Some(arguments), ..InitRunspacePool::default() });
    let Some(pool) = open(Options::new().config(config)).await else { return };
    let output = run(
        &pool,
        "$a = $PSSenderInfo.ApplicationArguments; foreach ($x in $a, $a.number, $a.list, $a.inner) { $x.GetType().Name }; \
         $a.inner.deep; \"$($a.list)\"; \"$($a.ContainsKey('none'))\"",
    );
    let expected =
        ["PSPrimitiveDictionary", "Int32", "ArrayList", "PSPrimitiveDictionary", "value", "1 2", "True"];
    assert_eq!(texts(&output.await.output), expected);

    let mut events = pool.events();
    let output = run(
        &pool,
        "[void]$ExecutionContext.Events.SubscribeEvent($null, $null, 'Mine', $null, $null, $true, $true); \
         [void]$ExecutionContext.Events.GenerateEvent('Mine', 7, @(1, 'b'), 'extra')",
    );
    assert!(output.await.output.is_empty());
    let event = tokio::time::timeout(HANG, events.next()).await.expect("the event comes");
    let Some(PoolEvent::User(event)) = event else { panic!("not an event: {event:?}") };
    assert_eq!(event.source_identifier.unwrap(), "Mine");
    assert_eq!((event.sender, event.message_data), (Value::from(7), Value::from("extra")));
    assert_eq!(event.source_args, [Value::from(1), Value::from("b")]);
    assert!(event.time_generated.is_some() && event.runspace_id.is_some());

    let mut get = GetCommandMetadata::new(["Write-Deb*", "Get-Command", "No-Such"]);
    get.namespaces = Some(vec!["Microsoft.PowerShell.Utility".into()]);
    let commands = pool.get_command_metadata(get).await.unwrap();
    let [command] = &commands[..] else { panic!("not one command: {commands:?}") };
    assert_eq!(command.name, "Write-Debug");
    assert_eq!(command.namespace.as_ref().unwrap(), &"Microsoft.PowerShell.Utility");
    assert_eq!(command.command_type, CommandTypes::CMDLET);
    let parameter = |name: &str| command.parameters.iter().find(|parameter| parameter.name == name).unwrap();
    assert_eq!(parameter("Message").parameter_type.as_ref().unwrap(), &"System.String");
    assert_eq!((parameter("Verbose").is_switch, &*parameter("Verbose").aliases), (true, &["vb".into()][..]));
    assert!(pool.get_command_metadata(GetCommandMetadata::new(["No-Such"])).await.unwrap().is_empty());

    const STREAMS: &str = "1; Write-Error e; 2; Write-Warning w; 3; Write-Verbose v -Verbose; 4; \
        Write-Information i; 5; Write-Debug d -Debug; 6; Write-Progress a -Status s; 7";
    let mut run = pool.start(PowerShell::script(STREAMS)).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(pipeline_event(event.unwrap(), category));
    }
    let expected = "Int32(1) | error NotSpecified | Int32(2) | warning w | Int32(3) | verbose v | Int32(4) | \
        information String(\"i\") | Int32(5) | debug d | Int32(6) | progress a -1 | Int32(7) | Completed";
    assert_eq!(events.join(" | "), expected);
    pool.close().await.unwrap();
}
