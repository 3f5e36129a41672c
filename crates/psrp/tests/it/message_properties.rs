//! Round trips of arbitrary messages.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use psrp::PsString;
use psrp::clixml::Writer;
use psrp::host::{ConsoleColor, Coordinates, HostCall, HostMethod, HostOutcome, HostResponse, Size};
use psrp::message::{
    ApartmentState, ApplicationPrivateData, Availability, Command, ConnectRunspacePool, CreatePipeline,
    EncryptedSessionKey, GetAvailableRunspaces, GetCommandMetadata, HostDefaultData, HostInfo,
    InitRunspacePool, MergeTarget, MessageType, Payload, PipelineResultTypes, PipelineState,
    PipelineStateInfo, PowerShell, PrimitiveDictionary, PublicKey, RemoteStreamOptions, ResetRunspaceState,
    RunspaceAvailability, RunspaceLimits, RunspacePoolState, RunspacePoolStateInfo, SessionCapability,
    SetMaxRunspaces, SetMinRunspaces, ThreadOptions, UserEvent,
};
use psrp::record::{
    CommandInfo, CommandOrigin, CommandTypes, CommandVisibility, ErrorCategory, ErrorRecord,
    InformationRecord, InformationalRecord, InvocationCall, InvocationInfo, ScriptExtent, exception,
};
use psrp::value::{Members, Object, Progress, Version};

use crate::support::values::{any_primitive, any_text, any_value};

fn text() -> impl Strategy<Value = Option<PsString>> {
    option::of(any_text())
}

fn blob() -> impl Strategy<Value = Box<[u8]>> {
    vec(any::<u8>(), 0..40).prop_map(Into::into)
}

fn version() -> impl Strategy<Value = Version> {
    (0..9_u32, 0..9_u32).prop_map(|(major, minor)| Version::new(major, minor))
}

/// Names that no message uses.
fn extra() -> impl Strategy<Value = Members> {
    vec(("Extra[A-Z]{1,3}", any_value()), 0..3).prop_map(|members| members.into_iter().collect())
}

fn dictionary() -> impl Strategy<Value = Option<PrimitiveDictionary>> {
    option::of(vec((any_text(), any_primitive()), 0..4).prop_map(PrimitiveDictionary::new))
}

fn error() -> impl Strategy<Value = Box<ErrorRecord>> {
    let texts = (text(), text(), text(), text(), text(), text());
    let details = (text(), text(), text(), text());
    let objects = (any_text(), any_value(), any_value(), extra());
    let call = option::of((invocation(), vec(any::<i32>(), 0..3)));
    (any::<i32>(), texts, details, objects, call).prop_map(|(category, texts, details, objects, call)| {
        let exception = exception(["System.SystemException"], objects.0);
        let mut record = ErrorRecord::of_exception(exception, ErrorCategory::from_number(category % 40));
        (record.target_object, record.invocation_info, record.extra) = (objects.1, objects.2, objects.3);
        record.fully_qualified_error_id = texts.0;
        (record.activity, record.reason, record.target_name) = (texts.1, texts.2, texts.3);
        (record.target_type, record.category_message) = (texts.4, texts.5);
        (record.details_message, record.recommended_action) = (details.0, details.1);
        (record.script_stack_trace, record.text) = (details.2, details.3);
        if let Some((invocation, iteration)) = call {
            (record.invocation, record.pipeline_iteration_info) = (Some(invocation), Some(iteration));
        }
        Box::new(record)
    })
}

fn invocation() -> impl Strategy<Value = Box<InvocationInfo>> {
    let texts = (text(), text(), text(), text(), text(), text());
    let numbers = (any::<i32>(), any::<i64>(), any::<i32>(), any::<i32>(), any::<i32>());
    let lists = (vec(any::<i32>(), 0..3), vec(any_value(), 0..3), vec((any_text(), any_value()), 0..3));
    let extent =
        (text(), any::<i32>(), any::<i32>(), any::<i32>(), any::<i32>()).prop_map(|parts| ScriptExtent {
            file: parts.0,
            start_line: parts.1,
            start_column: parts.2,
            end_line: parts.3,
            end_column: parts.4,
        });
    let command = (any::<i32>(), text(), text(), 0..3_i32).prop_map(|parts| CommandInfo {
        command_type: CommandTypes::from_number(parts.0),
        definition: parts.1,
        name: parts.2.filter(|name| !name.is_empty()),
        visibility: CommandVisibility::from_number(parts.3),
    });
    let parts = (option::of(extent), option::of(command), any::<bool>(), 0..3_i32);
    (texts, numbers, lists, parts).prop_map(|(texts, numbers, lists, parts)| {
        let mut call = InvocationCall::default();
        (call.invocation_name, call.line, call.script_root) = (texts.0, texts.1, texts.2);
        (call.command_path, call.position_message, call.script_name) = (texts.3, texts.4, texts.5);
        (call.offset_in_line, call.history_id, call.pipeline_length) = (numbers.0, numbers.1, numbers.2);
        (call.pipeline_position, call.script_line_number) = (numbers.3, numbers.4);
        (call.pipeline_iteration_info, call.unbound_arguments) = (lists.0, lists.1);
        (call.bound_parameters, call.expecting_input) = (Object::dictionary(lists.2).into(), parts.2);
        call.command_origin = CommandOrigin::from_number(parts.3);
        Box::new(InvocationInfo { call, extent: parts.0, command: parts.1 })
    })
}

fn informational() -> impl Strategy<Value = Box<InformationalRecord>> {
    let call = option::of((invocation(), vec(any::<i32>(), 0..3)));
    (any_text(), text(), extra(), call).prop_map(|(message, text, extra, call)| {
        let mut record = InformationalRecord::new(message);
        (record.text, record.extra) = (text, extra);
        if let Some((invocation, iteration)) = call {
            (record.invocation, record.pipeline_iteration_info) = (Some(invocation), Some(iteration));
        }
        Box::new(record)
    })
}

fn information() -> impl Strategy<Value = Box<InformationRecord>> {
    (any_value(), vec(any_text(), 0..3), (text(), text(), text()), any::<[u32; 3]>(), extra()).prop_map(
        |(data, tags, texts, ids, extra)| {
            let mut record = InformationRecord::new(data);
            (record.source, record.user, record.computer) = texts;
            [record.process_id, record.native_thread_id, record.managed_thread_id] = ids;
            (record.tags, record.extra) = (tags, extra);
            Box::new(record)
        },
    )
}

fn progress() -> impl Strategy<Value = Box<Progress>> {
    let number = (0..i32::MAX, i32::MIN..0, ..=100, any::<i32>());
    (any_text(), any_text(), text(), number, any::<bool>()).prop_map(
        |(activity, status, operation, numbers, completed)| {
            let text = |text: PsString| if text.is_empty() { " ".into() } else { text };
            let mut record = Progress::new(numbers.0, text(activity), text(status));
            (record.current_operation, record.completed) = (operation, completed);
            record.parent_activity_id = numbers.1;
            record.percent_complete = numbers.2;
            record.seconds_remaining = numbers.3;
            Box::new(record)
        },
    )
}

fn host_info() -> impl Strategy<Value = HostInfo> {
    let data = (any::<[i32; 8]>(), any_text()).prop_map(|(numbers, window_title)| {
        let coordinates = Coordinates { x: numbers[0], y: numbers[1] };
        let size = Size { width: numbers[2], height: numbers[3] };
        HostDefaultData {
            foreground_color: ConsoleColor::from_number(numbers[4] % 20),
            background_color: ConsoleColor::from_number(numbers[5] % 20),
            cursor_position: coordinates,
            cursor_size: numbers[6],
            buffer_size: size,
            max_window_size: Size { width: numbers[7], height: 1 },
            window_title,
            ..HostDefaultData::default()
        }
    });
    (any::<[bool; 4]>(), option::of(data)).prop_map(|(flags, default_data)| HostInfo {
        is_host_null: flags[0],
        is_host_ui_null: flags[1],
        is_host_raw_ui_null: flags[2],
        use_runspace_host: flags[3],
        default_data,
    })
}

fn command() -> impl Strategy<Value = Command> {
    let parameters = vec((text(), any_value()), 0..4);
    let target = || option::of(prop_oneof![Just(MergeTarget::Output), Just(MergeTarget::Null)]);
    let merges = (target(), target(), target(), target(), target(), 0..10_i32);
    (any_text(), any::<bool>(), option::of(any::<bool>()), parameters, merges).prop_map(
        |(text, is_script, scope, parameters, merges)| {
            let mut command = if is_script { Command::script(text) } else { Command::new(text) };
            for (name, value) in parameters {
                command = match name {
                    Some(name) => command.parameter(name, value),
                    None => command.argument(value),
                };
            }
            command.use_local_scope = scope;
            if let Some(target) = merges.0 {
                command = command.redirect_errors(target);
            }
            if let Some(target) = merges.1 {
                command = command.redirect_warnings(target);
            }
            if let Some(target) = merges.2 {
                command = command.redirect_verbose(target);
            }
            if let Some(target) = merges.3 {
                command = command.redirect_debug(target);
            }
            if let Some(target) = merges.4 {
                command = command.redirect_information(target);
            }
            command.merge_previous_results = PipelineResultTypes::from_number(merges.5);
            command
        },
    )
}

fn pipeline() -> impl Strategy<Value = Box<CreatePipeline>> {
    let statements = vec(vec(command(), 0..3), 0..3);
    (statements, text(), any::<[bool; 5]>(), any::<[i32; 2]>(), host_info()).prop_map(
        |(statements, history, flags, numbers, host_info)| {
            let mut shell = PowerShell::new();
            for statement in statements {
                shell = statement.into_iter().fold(shell.statement(), PowerShell::command);
            }
            shell.history = history;
            (shell.is_nested, shell.redirect_shell_error_output_pipe) = (flags[0], flags[1]);
            let mut message = CreatePipeline::new(shell);
            (message.no_input, message.add_to_history, message.is_nested) = (flags[2], flags[3], flags[4]);
            message.apartment_state = ApartmentState::from_number(numbers[0] % 4);
            message.remote_stream_options = RemoteStreamOptions::from_number(numbers[1] % 40);
            message.host_info = host_info;
            Box::new(message)
        },
    )
}

fn init() -> impl Strategy<Value = Box<InitRunspacePool>> {
    (any::<[i32; 4]>(), host_info(), dictionary()).prop_map(|(numbers, host_info, application_arguments)| {
        Box::new(InitRunspacePool {
            min_runspaces: numbers[0],
            max_runspaces: numbers[1],
            thread_options: ThreadOptions::from_number(numbers[2] % 5),
            apartment_state: ApartmentState::from_number(numbers[3] % 4),
            host_info,
            application_arguments,
        })
    })
}

fn user_event() -> impl Strategy<Value = Box<UserEvent>> {
    let values = (any_value(), any_value(), vec(any_value(), 0..3));
    (any::<i32>(), text(), values, text(), option::of(any::<u128>())).prop_map(
        |(number, source, values, computer, runspace)| {
            Box::new(UserEvent {
                event_identifier: number,
                source_identifier: source.filter(|source| !source.is_empty()),
                time_generated: None,
                sender: values.0,
                message_data: values.1,
                source_args: values.2,
                computer_name: computer,
                runspace_id: runspace.map(uuid::Uuid::from_u128),
            })
        },
    )
}

fn call() -> impl Strategy<Value = HostCall> {
    (any::<i64>(), any::<i32>(), vec(any_value(), 0..4)).prop_map(|(call_id, method, parameters)| HostCall {
        call_id,
        method: HostMethod::from_number(method % 60),
        parameters,
    })
}

fn response() -> impl Strategy<Value = HostResponse> {
    let outcome = prop_oneof![
        Just(HostOutcome::Nothing),
        any_value().prop_map(HostOutcome::Value),
        error().prop_map(HostOutcome::Error),
    ];
    (any::<i64>(), any::<i32>(), outcome).prop_map(|(call_id, method, outcome)| HostResponse {
        call_id,
        method: HostMethod::from_number(method % 60),
        outcome,
    })
}

fn payloads() -> Vec<BoxedStrategy<Payload>> {
    let limits = || {
        any::<[i32; 2]>()
            .prop_map(|[min_runspaces, max_runspaces]| RunspaceLimits { min_runspaces, max_runspaces })
    };
    let capability =
        (version(), version(), version(), option::of(blob())).prop_map(|parts| SessionCapability {
            ps_version: parts.0,
            protocol_version: parts.1,
            serialization_version: parts.2,
            time_zone: parts.3,
        });
    let availability = prop_oneof![
        any::<bool>().prop_map(Availability::Accepted),
        any::<i64>().prop_map(Availability::Count)
    ];
    let pool_state = (any::<i32>(), option::of(error())).prop_map(|(state, error)| RunspacePoolStateInfo {
        state: RunspacePoolState::from_number(state % 10),
        error,
    });
    let state = (any::<i32>(), option::of(error())).prop_map(|(state, error)| PipelineStateInfo {
        state: PipelineState::from_number(state % 10),
        error,
    });
    let lists = (
        vec(any_text(), 0..3),
        any::<i32>(),
        option::of(vec(any_text(), 0..3)),
        option::of(vec(any_value(), 0..3)),
    );
    let metadata = lists.prop_map(|(names, kind, namespaces, argument_list)| {
        let mut message = GetCommandMetadata::new(names);
        message.command_type = CommandTypes::from_number(kind);
        (message.namespaces, message.argument_list) = (namespaces, argument_list);
        Box::new(message)
    });
    vec![
        capability.prop_map(Payload::SessionCapability).boxed(),
        init().prop_map(Payload::InitRunspacePool).boxed(),
        blob().prop_map(|blob| Payload::PublicKey(PublicKey { blob })).boxed(),
        blob().prop_map(|blob| Payload::EncryptedSessionKey(EncryptedSessionKey { blob })).boxed(),
        Just(Payload::PublicKeyRequest).boxed(),
        option::of(limits())
            .prop_map(|limits| Payload::ConnectRunspacePool(ConnectRunspacePool { limits }))
            .boxed(),
        any::<(i32, i64)>()
            .prop_map(|(max_runspaces, call_id)| {
                Payload::SetMaxRunspaces(SetMaxRunspaces { max_runspaces, call_id })
            })
            .boxed(),
        any::<(i32, i64)>()
            .prop_map(|(min_runspaces, call_id)| {
                Payload::SetMinRunspaces(SetMinRunspaces { min_runspaces, call_id })
            })
            .boxed(),
        (availability, any::<i64>())
            .prop_map(|(availability, call_id)| {
                Payload::RunspaceAvailability(RunspaceAvailability { availability, call_id })
            })
            .boxed(),
        pool_state.prop_map(Payload::RunspacePoolState).boxed(),
        pipeline().prop_map(Payload::CreatePipeline).boxed(),
        any::<i64>()
            .prop_map(|call_id| Payload::GetAvailableRunspaces(GetAvailableRunspaces { call_id }))
            .boxed(),
        user_event().prop_map(Payload::UserEvent).boxed(),
        dictionary()
            .prop_map(|data| Payload::ApplicationPrivateData(ApplicationPrivateData { data }))
            .boxed(),
        metadata.prop_map(Payload::GetCommandMetadata).boxed(),
        limits().prop_map(Payload::RunspacePoolInitData).boxed(),
        any::<i64>().prop_map(|call_id| Payload::ResetRunspaceState(ResetRunspaceState { call_id })).boxed(),
        call().prop_map(Payload::RunspacePoolHostCall).boxed(),
        response().prop_map(Payload::RunspacePoolHostResponse).boxed(),
        any_value().prop_map(Payload::PipelineInput).boxed(),
        Just(Payload::EndOfPipelineInput).boxed(),
        any_value().prop_map(Payload::PipelineOutput).boxed(),
        error().prop_map(Payload::ErrorRecord).boxed(),
        state.prop_map(Payload::PipelineState).boxed(),
        informational().prop_map(Payload::DebugRecord).boxed(),
        informational().prop_map(Payload::VerboseRecord).boxed(),
        informational().prop_map(Payload::WarningRecord).boxed(),
        progress().prop_map(Payload::ProgressRecord).boxed(),
        information().prop_map(Payload::InformationRecord).boxed(),
        call().prop_map(Payload::PipelineHostCall).boxed(),
        response().prop_map(Payload::PipelineHostResponse).boxed(),
    ]
}

#[test]
fn all_message_types_are_generated() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let types: BTreeSet<u32> = payloads()
        .iter()
        .map(|strategy| strategy.new_tree(&mut runner).expect("a message").current().message_type().id())
        .collect();
    assert_eq!(types, MessageType::ALL.iter().map(|message_type| message_type.id()).collect());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn messages_survive_a_round_trip(payload in proptest::strategy::Union::new(payloads())) {
        let value = payload.to_value();
        prop_assert_eq!(&Payload::from_value(payload.message_type(), value.clone()).unwrap(), &payload);

        let mut writer = Writer::new();
        let data = payload.encode(&mut writer).unwrap().to_vec();
        let read = Payload::decode(payload.message_type(), &data).unwrap();
        prop_assert_eq!(&read, &payload);
        prop_assert_eq!(read.to_value(), value);
    }

    #[test]
    fn any_value_is_read_or_rejected(value in any_value(), index in any::<prop::sample::Index>()) {
        let message_type = *index.get(MessageType::ALL);
        if let Err(error) = Payload::from_value(message_type, Some(value)) {
            prop_assert!(error.is_mismatch());
        }
    }
}
