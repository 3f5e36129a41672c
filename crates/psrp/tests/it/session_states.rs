//! The state tables of both sides: the result of every action in every situation.
//!
//! A line of a table is an action, with its results and the situations in which it has them: changes of the states after
//! `>`, events in brackets, `!` if the peer has violated the protocol, the text of an error in quotes, and `ok` if it has
//! none of these. In all other situations it is refused with an error that names the action and the state.

use psrp::client::PipelineEvent;
use psrp::fragment::Priority;
use psrp::host::{HostCall, HostRequest};
use psrp::message::{
    ApplicationPrivateData, Availability, ConnectRunspacePool, Destination, GetAvailableRunspaces, Payload,
    PipelineState, PipelineStateInfo, PowerShell, RunspaceAvailability, RunspaceLimits, RunspacePoolState,
    RunspacePoolStateInfo, SessionCapability, UserEvent,
};
use psrp::outofproc::Packet;
use psrp::record::{ErrorCategory, ErrorRecord, InformationalRecord};
use psrp::{Error, client, server};
use uuid::Uuid;

use crate::session::{Session, category, client_event, fragment, server_event, with_input};

const POOL_ID: Uuid = Uuid::from_u128(77);
const ID: Uuid = Uuid::from_u128(1);

/// An action: its name, which starts with `pipeline: ` or `<- ` for those of a pipeline and of the peer.
type Action<S> = (&'static str, fn(&mut S) -> Result<(), Error>);

/// A situation: its name, and the actions or other situations that lead to it.
type Situation = (&'static str, &'static str);

/// A pool of one side with at most one pipeline.
trait Side: Sized + 'static {
    const ACTIONS: &[Action<Self>];
    const SITUATIONS: &[Situation];

    fn new() -> Self;
    fn pool_state(&self) -> RunspacePoolState;
    fn pipeline_state(&self) -> Option<PipelineState>;
    /// Describes everything that an action can change.
    fn states(&mut self) -> String;
    /// Returns descriptions of all new events.
    fn events(&mut self) -> Vec<String>;

    /// Reaches a situation, or performs an action that is allowed.
    fn reach(&mut self, name: &str) {
        if let Some((_, actions)) = Self::SITUATIONS.iter().find(|(other, _)| *other == name) {
            return actions
                .split(", ")
                .filter(|action| !action.is_empty())
                .for_each(|action| self.reach(action));
        }
        let action = Self::ACTIONS.iter().find(|(other, _)| *other == name);
        action.unwrap_or_else(|| panic!("no action {name}")).1(self).unwrap();
    }

    /// Performs an action in a situation. Returns `None` if it is refused because of the state.
    fn result(situation: &str, (name, action): &Action<Self>) -> Option<String> {
        let mut side = Self::new();
        side.reach(situation);
        side.events();
        let before = side.states();
        let result = action(&mut side);
        let (after, events) = (side.states(), side.events());
        if let Some(error) = result.as_ref().err().filter(|error| error.is_state()) {
            assert!(before == after && events.is_empty(), "{situation}, {name}: {error}");
            let text = error.to_string();
            let start = match name.strip_prefix("<- ") {
                Some(_) => "can't process ".to_owned(),
                None => format!("can't {}: ", name.trim_start_matches("pipeline: ")),
            };
            let states =
                [Some(side.pool_state().to_string()), side.pipeline_state().map(|state| state.to_string())];
            let names_state = states.iter().flatten().any(|state| text.ends_with(&format!(" is {state}")));
            let is_plain = text.contains(&start) && names_state;
            return (!is_plain).then(|| format!("'{}'", text.rsplit(": ").next().unwrap()));
        }
        let mut parts = Vec::from_iter(result.err().map(|_| "!".to_owned()));
        parts.extend((before != after).then(|| format!("> {after}")));
        parts.extend(events.into_iter().map(|event| format!("[{event}]")));
        Some(if parts.is_empty() { "ok".to_owned() } else { parts.join(" ") })
    }

    /// Returns the table of the pool's actions, or those of pipelines.
    fn table(situations: &str, is_row: fn(&str) -> bool) -> String {
        let rows = Self::ACTIONS.iter().filter(|(name, _)| is_row(name)).map(|action| {
            let mut results: Vec<(String, Vec<&str>)> = Vec::new();
            for situation in situations.split(", ") {
                let Some(result) = Self::result(situation, action) else { continue };
                match results.iter_mut().find(|(other, _)| *other == result) {
                    Some((_, situations)) => situations.push(situation),
                    None => results.push((result, vec![situation])),
                }
            }
            let results = results.iter().map(|(result, of)| format!("{result}: {}", of.join(", ")));
            format!("{} = {}\n", action.0, results.collect::<Vec<_>>().join("; "))
        });
        rows.collect()
    }
}

/// Compares a table with the expected text, in which lines may be broken anywhere.
fn assert_table(table: &str, expected: &str) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words(table) == words(expected), "{table}");
}

/// The client's pool, and the number of its last host call.
type Client = (client::ClientPool, i64);

fn client_receives((pool, _): &mut Client, target: Option<Uuid>, payload: &Payload) -> Result<(), Error> {
    let data = &fragment(Destination::Client, pool.id(), target, payload);
    pool.handle_packet(Packet::Data { target, priority: Priority::Default, data })
}

fn receive_pool_state(client: &mut Client, state: RunspacePoolState) -> Result<(), Error> {
    client_receives(client, None, &Payload::RunspacePoolState(RunspacePoolStateInfo::new(state)))
}

fn receive_state(client: &mut Client, state: PipelineState) -> Result<(), Error> {
    client_receives(client, Some(ID), &Payload::PipelineState(PipelineStateInfo::new(state)))
}

fn receive_call(client: &mut Client, target: Option<Uuid>) -> Result<(), Error> {
    client.1 += 1;
    let call = HostCall::new(client.1, &HostRequest::ReadLine);
    let payload = match target {
        Some(_) => Payload::PipelineHostCall(call),
        None => Payload::RunspacePoolHostCall(call),
    };
    client_receives(client, target, &payload)
}

impl Side for Client {
    const ACTIONS: &[Action<Self>] = &[
        ("open", |(pool, _)| pool.open()),
        ("connect", |(pool, _)| pool.connect()),
        ("disconnect", |(pool, _)| pool.disconnect()),
        ("reconnect", |(pool, _)| pool.reconnect()),
        ("close", |(pool, _)| pool.close()),
        ("set the maximum number of runspaces", |(pool, _)| pool.set_max_runspaces(3).map(drop)),
        ("set the minimum number of runspaces", |(pool, _)| pool.set_min_runspaces(2).map(drop)),
        ("request the number of free runspaces", |(pool, _)| pool.get_available_runspaces().map(drop)),
        ("reset the runspace", |(pool, _)| pool.reset_runspace_state().map(drop)),
        ("end", |(pool, _)| {
            pool.handle_end();
            Ok(())
        }),
        ("<- capability", |client| {
            client_receives(client, None, &Payload::SessionCapability(SessionCapability::default()))
        }),
        ("<- private data", |client| {
            let data = ApplicationPrivateData::new([("a", 1)]);
            client_receives(client, None, &Payload::ApplicationPrivateData(data))
        }),
        ("<- limits", |client| {
            let limits = RunspaceLimits { min_runspaces: 2, max_runspaces: 1 };
            client_receives(client, None, &Payload::RunspacePoolInitData(limits))
        }),
        ("<- opened", |client| receive_pool_state(client, RunspacePoolState::Opened)),
        ("<- closing", |client| receive_pool_state(client, RunspacePoolState::Closing)),
        ("<- closed", |client| receive_pool_state(client, RunspacePoolState::Closed)),
        ("<- broken", |client| receive_pool_state(client, RunspacePoolState::Broken)),
        ("<- disconnected", |client| receive_pool_state(client, RunspacePoolState::Disconnected)),
        ("<- failed", |client| {
            let error = ErrorRecord::new("startup says no", ErrorCategory::OperationStopped);
            let info = PipelineStateInfo { state: PipelineState::Failed, error: Some(Box::new(error)) };
            client_receives(client, None, &Payload::PipelineState(info))
        }),
        ("<- yes", |client| {
            let answer = RunspaceAvailability { availability: Availability::Accepted(true), call_id: 1 };
            client_receives(client, None, &Payload::RunspaceAvailability(answer))
        }),
        ("<- call", |client| receive_call(client, None)),
        ("<- pool closed", |(pool, _)| pool.handle_packet(Packet::CloseAck(None))),
        ("<- nonsense", |client| client_receives(client, None, &Payload::EndOfPipelineInput)),
        ("pipeline: create a pipeline", |(pool, _)| pool.create_pipeline_with_id(ID, with_input("1"))),
        ("pipeline: create without input", |(pool, _)| {
            pool.create_pipeline_with_id(ID, PowerShell::script("1"))
        }),
        ("pipeline: connect to a pipeline", |(pool, _)| pool.connect_pipeline(ID)),
        ("pipeline: start", |(pool, _)| pool.pipeline(ID)?.start()),
        ("pipeline: send input", |(pool, _)| pool.pipeline(ID)?.send_input(1)),
        ("pipeline: end the input", |(pool, _)| pool.pipeline(ID)?.end_input()),
        ("pipeline: stop", |(pool, _)| pool.pipeline(ID)?.stop()),
        ("pipeline: close", |(pool, _)| pool.pipeline(ID)?.close()),
        ("pipeline: reconnect", |(pool, _)| pool.pipeline(ID)?.reconnect()),
        ("<- pipeline: output", |client| {
            client_receives(client, Some(ID), &Payload::PipelineOutput(1.into()))
        }),
        ("<- pipeline: call", |client| receive_call(client, Some(ID))),
        ("<- pipeline: running", |client| receive_state(client, PipelineState::Running)),
        ("<- pipeline: stopping", |client| receive_state(client, PipelineState::Stopping)),
        ("<- pipeline: completed", |client| receive_state(client, PipelineState::Completed)),
        ("<- pipeline: disconnected", |client| receive_state(client, PipelineState::Disconnected)),
        ("<- pipeline: closed", |(pool, _)| pool.handle_packet(Packet::CloseAck(Some(ID)))),
    ];

    const SITUATIONS: &[Situation] = &[
        ("new", ""),
        ("wide", "set the maximum number of runspaces"),
        ("opening", "open"),
        ("negotiated", "opening, <- capability"),
        ("connecting", "connect"),
        ("greeted", "connecting, <- capability"),
        ("opened", "negotiated, <- opened"),
        ("asked", "opened, request the number of free runspaces"),
        ("growing", "opened, set the maximum number of runspaces"),
        ("limited", "opened, <- limits"),
        ("away", "asked, disconnect"),
        ("closing", "opened, close"),
        ("closed", "closing, <- pool closed"),
        ("broken", "opened, end"),
        ("created", "opened, pipeline: create a pipeline"),
        ("running", "created, pipeline: start"),
        ("mute", "opened, pipeline: create without input, pipeline: start"),
        ("ended", "running, pipeline: end the input"),
        ("attached", "opened, pipeline: connect to a pipeline"),
        ("stopping", "running, pipeline: stop"),
        ("completed", "running, <- pipeline: completed"),
        ("leaving", "stopping, pipeline: close"),
        ("detached", "running, <- pipeline: disconnected"),
        ("detached stopping", "stopping, <- pipeline: disconnected"),
        ("far", "running, disconnect"),
        ("far stopping", "stopping, disconnect"),
    ];

    fn new() -> Self {
        (client::ClientPool::new(client::Config::new()), 0)
    }

    fn pool_state(&self) -> RunspacePoolState {
        self.0.state()
    }

    fn pipeline_state(&self) -> Option<PipelineState> {
        self.0.pipelines().next().map(|(_, state)| state)
    }

    fn states(&mut self) -> String {
        let pipeline = self.pipeline_state().map(|state| format!(" {state}")).unwrap_or_default();
        let runspaces = (self.0.min_runspaces(), self.0.max_runspaces());
        let runspaces = if runspaces == (1, 1) { String::new() } else { format!(" {runspaces:?}") };
        format!("{}{pipeline}{runspaces}", self.pool_state())
    }

    fn events(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.0.poll_event()).map(|event| client_event(event, category).1).collect()
    }
}

#[test]
fn the_client_follows_the_state_tables() {
    let pools = "new, wide, opening, negotiated, connecting, greeted, opened, asked, growing, limited, away, \
        closing, closed, broken, running, far";
    let pools = Client::table(pools, |name| !name.contains("pipeline: "));
    let pipelines = "opened, closing, created, running, mute, ended, attached, stopping, completed, leaving, detached, \
        detached stopping, far, far stopping";
    let is_row = |name: &str| {
        name.contains("pipeline: ") || ["end", "disconnect", "reconnect", "<- opened"].contains(&name)
    };
    assert_table(&(pools + &Client::table(pipelines, is_row)), CLIENT);
}

const CLIENT: &str = "
    open = > Opening: new; > Opening (1, 3): wide; ok: opened, asked, growing, limited, running
    connect = > Connecting: new; > Connecting (1, 3): wide; > Connecting [RequestCancelled { call_id: 1
        }]: away; > Connecting Disconnected: far
    disconnect = > Disconnected: opened, asked, growing; > Disconnected (2, 1): limited; > Disconnected
        Disconnected: running
    reconnect = > Opened: away; > Opened Running: far
    close = > Closing: opened, asked, growing; > Closing (2, 1): limited; ok: closing, closed; 'the pool
        has pipelines': running
    set the maximum number of runspaces = > BeforeOpen (1, 3): new; ok: wide, opened, asked, growing,
        limited, running
    set the minimum number of runspaces = 'the number of runspaces is out of range': new, opened, asked,
        growing, limited, running; > BeforeOpen (2, 3): wide
    request the number of free runspaces = ok: opened, asked, growing, limited, running
    reset the runspace = ok: opened, asked, growing, limited, running
    end = ok: new, wide, away, closed, broken, far; > Broken [pool Broken: ConnectionError]: opening,
        negotiated, connecting, greeted, opened, asked, growing; > Broken (2, 1) [pool Broken:
        ConnectionError]: limited; > Closed [pool Closed]: closing; > Broken [Failed: ConnectionError]
        [pool Broken: ConnectionError]: running
    <- capability = [protocol 2.4]: opening, negotiated, connecting, greeted; ! > Broken [pool Broken:
        ProtocolError]: opened, asked, growing, away, closing; ! > Broken (2, 1) [pool Broken:
        ProtocolError]: limited; ok: closed; ! > Broken [Failed: ProtocolError] [pool Broken:
        ProtocolError]: running, far
    <- private data = [data 2]: opening, negotiated, opened, asked, growing, limited, running; ! >
        Broken [data 2] [pool Broken: ProtocolError]: connecting; > Opened [data 2] [pool Opened]:
        greeted; ! > Broken [pool Broken: ProtocolError]: away, closing; ok: closed; ! > Broken [Failed:
        ProtocolError] [pool Broken: ProtocolError]: far
    <- limits = > Opening (2, 1) [limits 2..=1]: opening, negotiated; > Connecting (2, 1) [limits
        2..=1]: connecting, greeted; > Opened (2, 1) [limits 2..=1]: opened, asked, growing; [limits
        2..=1]: limited; > Disconnected (2, 1) [limits 2..=1]: away; > Closing (2, 1) [limits 2..=1]:
        closing; ok: closed; > Opened Running (2, 1) [limits 2..=1]: running; > Disconnected
        Disconnected (2, 1) [limits 2..=1]: far
    <- opened = ! > Broken [pool Broken: ProtocolError]: opening, connecting; > Opened [pool Opened]:
        negotiated, greeted, away; ok: opened, asked, growing, limited, closing, closed, running; >
        Opened Running [pool Opened]: far
    <- closing = > Closing [pool Closing]: opening, negotiated, connecting, greeted, opened, asked,
        growing, away; > Closing (2, 1) [pool Closing]: limited; ok: closing, closed; > Closing Running
        [pool Closing]: running; > Closing Disconnected [pool Closing]: far
    <- closed = > Closed [pool Closed]: opening, negotiated, connecting, greeted, opened, asked,
        growing, away, closing; > Closed (2, 1) [pool Closed]: limited; ok: closed; > Closed [Failed]
        [pool Closed]: running, far
    <- broken = > Broken [pool Broken]: opening, negotiated, connecting, greeted, opened, asked,
        growing, away, closing; > Broken (2, 1) [pool Broken]: limited; ok: closed; > Broken [Failed]
        [pool Broken]: running, far
    <- disconnected = > Disconnected [pool Disconnected]: opening, negotiated, connecting, greeted,
        opened, asked, growing; > Disconnected (2, 1) [pool Disconnected]: limited; [pool Disconnected]:
        away, far; ok: closing, closed; > Disconnected Running [pool Disconnected]: running
    <- failed = > Broken [pool Broken: OperationStopped]: opening, negotiated, connecting, greeted,
        opened, asked, growing, away, closing; > Broken (2, 1) [pool Broken: OperationStopped]:
        limited; ok: closed; > Broken [Failed: OperationStopped] [pool Broken: OperationStopped]:
        running, far
    <- yes = ok: opening, negotiated, connecting, greeted, opened, limited, closing, closed, running,
        far; ! > Broken [pool Broken: ProtocolError]: asked, away; > Opened (1, 3) [Accepted(true)]:
        growing
    <- call = [call ReadLine]: opening, negotiated, connecting, greeted, opened, asked, growing,
        limited, away, closing, running, far; ok: closed
    <- pool closed = ok: new, wide, opening, negotiated, connecting, greeted, opened, asked, growing,
        limited, away, closed, broken, running, far; > Closed [pool Closed]: closing
    <- nonsense = ! > Broken [pool Broken: ProtocolError]: opening, negotiated, connecting, greeted,
        opened, asked, growing, away, closing; ! > Broken (2, 1) [pool Broken: ProtocolError]: limited;
        ok: closed; ! > Broken [Failed: ProtocolError] [pool Broken: ProtocolError]: running, far
    disconnect = > Disconnected: opened; > Disconnected NotStarted: created; > Disconnected
        Disconnected: running, mute, ended, attached, stopping, leaving, detached, detached stopping; >
        Disconnected Completed: completed
    reconnect = > Opened Running: far; > Opened Stopping: far stopping
    end = > Broken [pool Broken: ConnectionError]: opened, completed; > Closed [pool Closed]: closing; >
        Broken [Failed: ConnectionError] [pool Broken: ConnectionError]: created, running, mute, ended,
        attached, stopping, detached, detached stopping; > Broken [Closed] [pool Broken:
        ConnectionError]: leaving; ok: far, far stopping
    <- opened = ok: opened, closing, created, running, mute, ended, attached, stopping, completed,
        leaving, detached, detached stopping; > Opened Running [pool Opened]: far; > Opened Stopping
        [pool Opened]: far stopping
    pipeline: create a pipeline = > Opened NotStarted: opened; 'the pipeline identifier is nil or in
        use': created, running, mute, ended, attached, stopping, completed, leaving, detached, detached
        stopping
    pipeline: create without input = > Opened NotStarted: opened; 'the pool is Closing': closing; 'the
        pipeline identifier is nil or in use': created, running, mute, ended, attached, stopping,
        completed, leaving, detached, detached stopping; 'the pool is Disconnected': far, far stopping
    pipeline: connect to a pipeline = > Opened Running: opened; 'the pipeline identifier is nil or in
        use': created, running, mute, ended, attached, stopping, completed, leaving, detached, detached
        stopping
    pipeline: start = 'no such pipeline': opened, closing; > Opened Running: created; 'the pipeline is
        being closed': leaving
    pipeline: send input = 'no such pipeline': opened, closing; ok: running, attached; 'the pipeline is
        without input (set `CreatePipeline::no_input` to false to have one)': mute; 'the pipeline is at
        the end of its input': ended; 'the pipeline is being closed': leaving
    pipeline: end the input = 'no such pipeline': opened, closing; ok: running, attached; 'the pipeline
        is without input (set `CreatePipeline::no_input` to false to have one)': mute; 'the pipeline is
        at the end of its input': ended; 'the pipeline is being closed': leaving
    pipeline: stop = 'no such pipeline': opened, closing; > Opened Stopping: running, mute, ended,
        attached; ok: stopping; 'the pipeline is being closed': leaving
    pipeline: close = 'no such pipeline': opened, closing; ok: created, stopping, completed; 'the
        pipeline is being closed': leaving
    pipeline: reconnect = 'no such pipeline': opened, closing; 'the pipeline is being closed': leaving;
        > Opened Running: detached; > Opened Stopping: detached stopping
    <- pipeline: output = ok: opened, closing, created, completed, leaving; [Int32(1)]: running, mute,
        ended, attached, stopping, detached, detached stopping, far, far stopping
    <- pipeline: call = ok: opened, closing, created, completed, leaving; [call ReadLine]: running,
        mute, ended, attached, stopping, detached, detached stopping, far, far stopping
    <- pipeline: running = ok: opened, closing, created, stopping, completed, leaving; [Running]:
        running, mute, ended, attached; > Opened Running [Running]: detached, detached stopping; >
        Disconnected Running [Running]: far, far stopping
    <- pipeline: stopping = ok: opened, closing, created, completed, leaving; > Opened Stopping
        [Stopping]: running, mute, ended, attached, detached, detached stopping; [Stopping]: stopping; >
        Disconnected Stopping [Stopping]: far, far stopping
    <- pipeline: completed = ok: opened, closing, created, completed, leaving; > Opened Completed
        [Completed]: running, mute, ended, attached, stopping, detached, detached stopping; >
        Disconnected Completed [Completed]: far, far stopping
    <- pipeline: disconnected = ok: opened, closing, created, completed, leaving; > Opened Disconnected
        [Disconnected]: running, mute, ended, attached, stopping; [Disconnected]: detached, detached
        stopping, far, far stopping
    <- pipeline: closed = ok: opened, closing, created, running, mute, ended, attached, stopping,
        completed, detached, detached stopping, far, far stopping; > Opened [Closed]: leaving
";

fn server_receives(
    pool: &mut server::ServerPool,
    target: Option<Uuid>,
    payload: &Payload,
) -> Result<(), Error> {
    let data = &fragment(Destination::Server, POOL_ID, target, payload);
    pool.handle_packet(Packet::Data { target, priority: Priority::Default, data })
}

impl Side for server::ServerPool {
    const ACTIONS: &[Action<Self>] = &[
        ("disconnect", |pool| pool.disconnect()),
        ("reconnect", |pool| pool.reconnect()),
        ("close", |pool| pool.close()),
        ("break the pool", |pool| pool.set_broken(ErrorRecord::new("x", ErrorCategory::CloseError))),
        ("end", |pool| {
            pool.handle_end();
            Ok(())
        }),
        ("call the host", |pool| pool.host_call(&HostRequest::WriteLine1).map(drop)),
        ("forward an event", |pool| pool.send_event(UserEvent::default())),
        ("respond to a request", |pool| pool.respond(1, Availability::Count(1))),
        ("respond to a request", |pool| pool.respond(1, Availability::Accepted(true))),
        ("<- capability", |pool| {
            server_receives(pool, None, &Payload::SessionCapability(SessionCapability::default()))
        }),
        ("<- init", |pool| server_receives(pool, None, &Payload::InitRunspacePool(Box::default()))),
        ("<- connect", |pool| {
            server_receives(pool, None, &Payload::ConnectRunspacePool(ConnectRunspacePool::default()))
        }),
        ("<- request", |pool| {
            let request = GetAvailableRunspaces { call_id: 1 };
            server_receives(pool, None, &Payload::GetAvailableRunspaces(request))
        }),
        ("<- close", |pool| pool.handle_packet(Packet::Close(None))),
        ("<- nonsense", |pool| pool.handle_packet(Packet::DataAck(None))),
        ("pipeline: start", |pool| pool.pipeline(ID)?.start()),
        ("pipeline: write output", |pool| pool.pipeline(ID)?.write_output(1)),
        ("pipeline: call the host", |pool| pool.pipeline(ID)?.host_call(&HostRequest::WriteLine1).map(drop)),
        ("pipeline: complete", |pool| pool.pipeline(ID)?.complete()),
        ("pipeline: begin to stop", |pool| pool.pipeline(ID)?.begin_stop()),
        ("pipeline: stop", |pool| pool.pipeline(ID)?.stop()),
        ("pipeline: fail", |pool| pool.pipeline(ID)?.fail(ErrorRecord::new("x", ErrorCategory::ReadError))),
        ("pipeline: connect to a pipeline", |pool| pool.pipeline(ID)?.connect()),
        ("<- pipeline: start", |pool| {
            server_receives(pool, Some(ID), &Payload::CreatePipeline(Box::new(with_input("1"))))
        }),
        ("<- pipeline: input", |pool| server_receives(pool, Some(ID), &Payload::PipelineInput(1.into()))),
        ("<- pipeline: end", |pool| server_receives(pool, Some(ID), &Payload::EndOfPipelineInput)),
        ("<- pipeline: command", |pool| pool.handle_packet(Packet::Command(Some(ID)))),
        ("<- pipeline: signal", |pool| pool.handle_packet(Packet::Signal(Some(ID)))),
        ("<- pipeline: close", |pool| pool.handle_packet(Packet::Close(Some(ID)))),
    ];

    const SITUATIONS: &[Situation] = &[
        ("new", ""),
        ("negotiated", "<- capability"),
        ("opened", "negotiated, <- init"),
        ("asked", "opened, <- request"),
        ("away", "asked, disconnect"),
        ("connecting", "away, <- capability"),
        ("connected", "connecting, <- connect"),
        ("closed", "opened, close"),
        ("broken", "opened, break the pool"),
        ("created", "opened, <- pipeline: command"),
        ("requested", "created, <- pipeline: start"),
        ("running", "requested, pipeline: start"),
        ("ended", "running, <- pipeline: end"),
        ("stopping", "running, pipeline: begin to stop"),
        ("stopped", "running, pipeline: stop"),
        ("completed", "running, pipeline: complete"),
        ("again", "completed, <- pipeline: start"),
        ("failed", "running, pipeline: fail"),
        ("far", "running, disconnect"),
        ("taken", "far, <- capability, <- connect"),
    ];

    fn new() -> Self {
        Self::new(server::Config::new())
    }

    fn pool_state(&self) -> RunspacePoolState {
        self.state()
    }

    fn pipeline_state(&self) -> Option<PipelineState> {
        self.pipelines().next().map(|(_, state)| state)
    }

    fn states(&mut self) -> String {
        let pipeline = self.pipeline_state().map(|state| format!(" {state}")).unwrap_or_default();
        let is_alone = self.pipeline(ID).is_ok_and(|pipeline| !pipeline.is_connected());
        format!("{}{pipeline}{}", self.pool_state(), if is_alone { " without client" } else { "" })
    }

    fn events(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.poll_event()).map(|event| server_event(event, category).1).collect()
    }
}

#[test]
fn the_server_follows_the_state_tables() {
    let pools = "new, negotiated, opened, asked, away, connecting, connected, closed, broken, running, far";
    let pools = server::ServerPool::table(pools, |name| !name.contains("pipeline: "));
    let pipelines = "negotiated, opened, connecting, created, requested, running, ended, stopping, stopped, completed, \
        again, failed, far, taken";
    let is_row = |name: &str| name.contains("pipeline: ") || name == "end";
    assert_table(&(pools + &server::ServerPool::table(pipelines, is_row)), SERVER);
}

const SERVER: &str = "
    disconnect = > Disconnected: opened, asked, connecting, connected; > Disconnected Running: running
    reconnect = > Opened: away; > Opened Running: far
    close = > Closed [Closed]: opened, asked, away, connecting, connected; ok: closed; > Closed [Closed]
        [Closed]: running, far
    break the pool = > Broken [Broken: CloseError]: opened, asked, away, connecting, connected; ok:
        broken; > Broken [Closed] [Broken: CloseError]: running, far
    end = > Closed [Closed]: new; > Broken [Broken: ConnectionError]: negotiated, opened, asked,
        connecting, connected; ok: away, closed, broken, far; > Broken [Closed] [Broken:
        ConnectionError]: running
    call the host = ok: opened, asked, away, connecting, connected, running, far
    forward an event = ok: opened, asked, away, connecting, connected, running, far
    respond to a request = 'no such request is pending': opened, connected, running; ok: asked
    respond to a request = 'no such request is pending': opened, connected, running; 'the response does
        not fit the request': asked
    <- capability = > Opening [protocol 2.4]: new; ! > Broken [Broken: ProtocolError]: negotiated,
        opened, asked, connected; > Connecting [protocol 2.4]: away; ! > Disconnected: connecting; ! >
        Broken [Closed] [Broken: ProtocolError]: running; > Connecting Running [protocol 2.4]: far
    <- init = ! > Broken [Broken: ProtocolError]: new, opened, asked, connected; > Opened [opened
        1..=1]: negotiated; !: away, far; ! > Disconnected: connecting; ! > Broken [Closed] [Broken:
        ProtocolError]: running
    <- connect = ! > Broken [Broken: ProtocolError]: new, opened, asked, connected; > Opened
        [connected]: negotiated, connecting; !: away, far; ! > Broken [Closed] [Broken: ProtocolError]:
        running
    <- request = ! > Broken [Broken: ProtocolError]: new, negotiated, asked; [Request { call_id: 1,
        request: GetAvailableRunspaces }]: opened, connected, running; !: away, far; ! > Disconnected:
        connecting
    <- close = > Closed [Closed]: new, negotiated, opened, asked, away, connecting, connected; > Closed
        [Closed] [Closed]: running, far
    <- nonsense = ! > Broken [Broken: ProtocolError]: new, negotiated, opened, asked, connected; ! >
        Broken [Closed] [Broken: ProtocolError]: running
    end = > Broken [Broken: ConnectionError]: negotiated, opened, connecting; > Broken [Closed] [Broken:
        ConnectionError]: created, requested, running, ended, stopping, stopped, completed, again,
        failed, taken; ok: far
    pipeline: start = 'no such pipeline': negotiated, opened, connecting; 'the pipeline is without a
        task': created, stopped, completed; > Opened Running: requested, again
    pipeline: write output = 'no such pipeline': negotiated, opened, connecting; ok: running, ended,
        far, taken
    pipeline: call the host = 'no such pipeline': negotiated, opened, connecting; ok: running, ended,
        far, taken
    pipeline: complete = 'no such pipeline': negotiated, opened, connecting; > Opened Completed:
        running, ended; > Disconnected Completed: far; > Opened Completed without client: taken
    pipeline: begin to stop = 'no such pipeline': negotiated, opened, connecting; > Opened Stopping:
        running, ended; > Disconnected Stopping: far; > Opened Stopping without client: taken
    pipeline: stop = 'no such pipeline': negotiated, opened, connecting; > Opened Stopped: running,
        ended, stopping; > Disconnected Stopped: far; > Opened Stopped without client: taken
    pipeline: fail = 'no such pipeline': negotiated, opened, connecting; > Opened Failed: running,
        ended, stopping; > Disconnected Failed: far; > Opened Failed without client: taken
    pipeline: connect to a pipeline = 'no such pipeline': negotiated, opened, connecting; ok: created,
        requested, running, ended, stopping, stopped, completed, again, failed; > Opened Running: taken
    <- pipeline: start = ok: negotiated, opened; [run 1]: created, stopped, completed; ! > Broken
        [Closed] [Broken: ProtocolError]: requested, running, ended, stopping, again, failed, taken
    <- pipeline: input = ok: negotiated, opened, created, ended, stopped, completed, failed;
        [Input(Int32(1))]: requested, running, stopping, again, taken
    <- pipeline: end = ok: negotiated, opened, created, ended, stopped, completed, failed; [EndOfInput]:
        requested, running, stopping, again, taken
    <- pipeline: command = ! > Broken [Broken: ProtocolError]: negotiated; > Opened NotStarted: opened;
        ! > Broken [Closed] [Broken: ProtocolError]: created, requested, running, ended, stopping,
        stopped, completed, again, failed, taken
    <- pipeline: signal = ok: negotiated, opened, created, stopped, completed, failed; [Stop]:
        requested, running, ended, stopping, again, taken
    <- pipeline: close = ok: negotiated, opened; > Opened [Closed]: created, requested, running, ended,
        stopping, stopped, completed, again, failed, taken
";

#[test]
fn messages_without_a_pipeline_are_events_of_the_pool() {
    let record = || Box::new(InformationalRecord::new("careful"));
    let completed = PipelineStateInfo::new(PipelineState::Completed);
    let failed = PipelineStateInfo { state: PipelineState::Failed, error: None };
    for is_open in [false, true] {
        let mut session = Session::new();
        session.client.open().unwrap();
        if is_open {
            session.exchange();
        }
        while session.client.poll_event().is_some() {}
        let mut client = (session.client, 0);
        for (payload, event) in [
            (Payload::WarningRecord(record()), PipelineEvent::Warning(record())),
            (Payload::VerboseRecord(record()), PipelineEvent::Verbose(record())),
            (Payload::PipelineOutput("hello".into()), PipelineEvent::Output("hello".into())),
            (Payload::PipelineState(completed.clone()), PipelineEvent::State(completed.clone())),
        ] {
            client_receives(&mut client, None, &payload).unwrap();
            assert_eq!(client.0.poll_event(), Some(client::Event::PoolRecord(event)));
        }
        client_receives(&mut client, None, &Payload::PipelineState(failed.clone())).unwrap();
        assert_eq!(client.0.state(), RunspacePoolState::Broken);
    }
}
