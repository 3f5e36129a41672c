//! Compares the server's state machine with a simple model of the state tables: allowed actions, resulting states, and
//! errors that name action and state.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::Error;
use psrp::fragment::Priority;
use psrp::host::HostRequest;
use psrp::message::{
    Availability, ConnectRunspacePool, Destination, GetAvailableRunspaces, Payload, PipelineState,
    RunspacePoolState, SessionCapability, UserEvent,
};
use psrp::outofproc::Packet;
use psrp::record::{ErrorCategory, ErrorRecord};
use psrp::server::{Config, Event, PipelineEvent, RunspacePool};
use uuid::Uuid;

use crate::session::{fragment, with_input};

#[derive(Clone, Debug)]
enum Action {
    Disconnect,
    Reconnect,
    Close,
    Break,
    End,
    Call,
    SendEvent,
    Answer(i64, bool),
    Start(u8),
    Write(u8),
    CallOf(u8),
    Complete(u8),
    BeginStop(u8),
    Stop(u8),
    Fail(u8),
    ConnectPipeline(u8),
    HearCapability,
    HearInit,
    HearConnect,
    HearQuestion(i64),
    HearStart(u8),
    HearInput(u8),
    HearEndOfInput(u8),
    HearCommand(u8),
    HearSignal(u8),
    HearClose(Option<u8>),
    HearNonsense,
}

fn action() -> impl Strategy<Value = Action> {
    use Action::*;

    let id = || 0..3_u8;
    let own = prop_oneof![
        2 => Just(Disconnect),
        2 => Just(Reconnect),
        2 => Just(Call),
        1 => Just(SendEvent),
        2 => (0..5_i64, any::<bool>()).prop_map(|(id, is_count)| Answer(id, is_count)),
    ];
    let pipeline = prop_oneof![
        4 => id().prop_map(Start),
        3 => id().prop_map(Write),
        1 => id().prop_map(CallOf),
        2 => id().prop_map(Complete),
        1 => id().prop_map(BeginStop),
        1 => id().prop_map(Stop),
        1 => id().prop_map(Fail),
        1 => id().prop_map(ConnectPipeline),
    ];
    let heard = prop_oneof![
        3 => Just(HearCapability),
        2 => Just(HearInit),
        2 => Just(HearConnect),
        2 => (0..5_i64).prop_map(HearQuestion),
        3 => id().prop_map(HearStart),
        2 => id().prop_map(HearInput),
        1 => id().prop_map(HearEndOfInput),
        4 => id().prop_map(HearCommand),
        1 => id().prop_map(HearSignal),
        2 => id().prop_map(|id| HearClose(Some(id))),
    ];
    let rare = prop_oneof![Just(End), Just(Close), Just(Break), Just(HearClose(None)), Just(HearNonsense)];
    prop_oneof![8 => own, 16 => pipeline, 14 => heard, 1 => rare]
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Done,
    /// Rejected with an error that contains these texts; nothing changes.
    Refused(Vec<String>),
    /// The client has violated the protocol.
    Violates,
}

fn refused(action: &str, state: impl std::fmt::Display) -> Outcome {
    Outcome::Refused(vec![format!("can't {action}: "), format!(" is {state}")])
}

fn no_such(what: &str) -> Outcome {
    Outcome::Refused(vec![format!("no such {what}")])
}

#[derive(Clone, Debug)]
struct Pipeline {
    state: PipelineState,
    is_requested: bool,
    is_input_open: bool,
    is_connected: bool,
}

struct Model {
    state: RunspacePoolState,
    has_peer: bool,
    questions: BTreeSet<i64>,
    pipelines: BTreeMap<u8, Pipeline>,
    /// Input that the application is notified of.
    inputs: usize,
    /// Pipelines that were removed according to the events.
    closed: BTreeSet<u8>,
}

impl Model {
    fn new() -> Self {
        Self {
            state: RunspacePoolState::BeforeOpen,
            has_peer: false,
            questions: BTreeSet::new(),
            pipelines: BTreeMap::new(),
            inputs: 0,
            closed: BTreeSet::new(),
        }
    }

    fn is_running(&self) -> bool {
        use RunspacePoolState::{Connecting, Disconnected, Opened};
        matches!(self.state, Opened | Connecting | Disconnected)
    }

    fn while_running(&mut self, action: &str, change: impl FnOnce(&mut Self)) -> Outcome {
        if !self.is_running() {
            return refused(action, self.state);
        }
        change(self);
        Outcome::Done
    }

    fn end(&mut self, state: RunspacePoolState) {
        self.state = state;
        self.questions.clear();
        self.closed = self.pipelines.keys().copied().collect();
        self.pipelines.clear();
    }

    fn violated(&mut self) -> Outcome {
        if self.state == RunspacePoolState::Connecting {
            self.give_up();
        } else {
            self.end(RunspacePoolState::Broken);
        }
        Outcome::Violates
    }

    fn give_up(&mut self) {
        self.state = RunspacePoolState::Disconnected;
        self.has_peer = true;
    }

    fn pipeline(
        &mut self,
        action: &str,
        id: u8,
        states: &[PipelineState],
        change: impl FnOnce(&mut Pipeline) -> Outcome,
    ) -> Outcome {
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return no_such("pipeline") };
        if states.contains(&pipeline.state) { change(pipeline) } else { refused(action, pipeline.state) }
    }

    fn change_state(&mut self, action: &str, id: u8, from: &[PipelineState], to: PipelineState) -> Outcome {
        self.pipeline(action, id, from, |pipeline| {
            pipeline.state = to;
            if to != PipelineState::Stopping {
                pipeline.is_input_open = false;
            }
            Outcome::Done
        })
    }

    fn receive_pool_message(&mut self, action: &Action) -> Outcome {
        use RunspacePoolState::*;

        match self.state {
            Broken | Closed => return refused("process input", self.state),
            BeforeOpen => self.state = Opening,
            Disconnected => {
                self.state = Connecting;
                self.has_peer = false;
            }
            _ => {}
        }
        match (action, self.state) {
            (Action::HearCapability, Opening | Connecting) if !self.has_peer => self.has_peer = true,
            (Action::HearInit, Opening) if self.has_peer => self.state = Opened,
            (Action::HearConnect, Opening | Connecting) if self.has_peer => {
                self.state = Opened;
                self.questions.clear();
                for pipeline in self.pipelines.values_mut() {
                    pipeline.is_connected = false;
                }
            }
            (Action::HearQuestion(id), Opened) if self.questions.insert(*id) => {}
            _ => return self.violated(),
        }
        Outcome::Done
    }

    fn receive_pipeline_message(&mut self, action: &Action, id: u8) -> Outcome {
        use PipelineState::{Completed, NotStarted, Stopped};
        use RunspacePoolState::*;

        match self.state {
            Broken | Closed => return refused("process input", self.state),
            Disconnected | Connecting => return refused("process pipeline input", self.state),
            BeforeOpen => self.state = Opening,
            _ => {}
        }
        let Some(pipeline) = self.pipelines.get_mut(&id) else { return Outcome::Done };
        match action {
            Action::HearStart(_) => {
                if pipeline.is_requested || !matches!(pipeline.state, NotStarted | Stopped | Completed) {
                    return self.violated();
                }
                pipeline.is_requested = true;
                pipeline.is_input_open = true;
            }
            _ if pipeline.is_input_open => {
                pipeline.is_input_open = matches!(action, Action::HearInput(_));
                self.inputs += 1;
            }
            _ => {}
        }
        Outcome::Done
    }

    fn receive_packet(&mut self, action: &Action) -> Outcome {
        use RunspacePoolState::*;

        match (action, self.state) {
            (_, Broken | Closed) => refused("process packets", self.state),
            (Action::HearClose(None), _) => {
                self.end(Closed);
                Outcome::Done
            }
            (_, Disconnected | Connecting) => refused("process pipeline packets", self.state),
            (Action::HearCommand(id), Opened) if !self.pipelines.contains_key(id) => {
                let pipeline = Pipeline {
                    state: PipelineState::NotStarted,
                    is_requested: false,
                    is_input_open: false,
                    is_connected: true,
                };
                self.pipelines.insert(*id, pipeline);
                Outcome::Done
            }
            (Action::HearCommand(_) | Action::HearNonsense, _) => self.violated(),
            (Action::HearClose(Some(id)), _) => {
                if self.pipelines.remove(id).is_some() {
                    self.closed.insert(*id);
                }
                Outcome::Done
            }
            _ => Outcome::Done,
        }
    }

    fn apply(&mut self, action: &Action) -> Outcome {
        use PipelineState as P;
        use RunspacePoolState::*;

        self.inputs = 0;
        self.closed.clear();
        match *action {
            Action::Disconnect => match self.state {
                Opened => {
                    self.state = Disconnected;
                    Outcome::Done
                }
                Connecting => {
                    self.give_up();
                    Outcome::Done
                }
                state => refused("disconnect", state),
            },
            Action::Reconnect if self.state == Disconnected => {
                self.state = Opened;
                Outcome::Done
            }
            Action::Reconnect => refused("reconnect", self.state),
            Action::Close if self.state == Closed => Outcome::Done,
            Action::Close => self.while_running("close", |model| model.end(Closed)),
            Action::Break if self.state == Broken => Outcome::Done,
            Action::Break => self.while_running("break the pool", |model| model.end(Broken)),
            Action::End => {
                match self.state {
                    Closed | Broken | Disconnected => {}
                    BeforeOpen => self.state = Closed,
                    _ => self.end(Broken),
                }
                Outcome::Done
            }
            Action::Call => self.while_running("call the host", |_| {}),
            Action::SendEvent => self.while_running("forward an event", |_| {}),
            Action::Answer(_, _) if self.state != Opened => refused("respond to a request", self.state),
            Action::Answer(id, _) if !self.questions.contains(&id) => no_such("request"),
            Action::Answer(_, false) => {
                Outcome::Refused(vec!["the response does not fit the request".to_owned()])
            }
            Action::Answer(id, true) => {
                self.questions.remove(&id);
                Outcome::Done
            }
            Action::Start(id) => {
                self.pipeline("start", id, &[P::NotStarted, P::Stopped, P::Completed], |pipeline| {
                    if !std::mem::take(&mut pipeline.is_requested) {
                        return refused("start", "without a task");
                    }
                    pipeline.state = P::Running;
                    Outcome::Done
                })
            }
            Action::Write(id) => self.pipeline("write output", id, &[P::Running], |_| Outcome::Done),
            Action::CallOf(id) => self.pipeline("call the host", id, &[P::Running], |_| Outcome::Done),
            Action::Complete(id) => self.change_state("complete", id, &[P::Running], P::Completed),
            Action::BeginStop(id) => self.change_state("begin to stop", id, &[P::Running], P::Stopping),
            Action::Stop(id) => self.change_state("stop", id, &[P::Running, P::Stopping], P::Stopped),
            Action::Fail(id) => self.change_state("fail", id, &[P::Running, P::Stopping], P::Failed),
            Action::ConnectPipeline(id) => {
                let state = self.state;
                match self.pipelines.get_mut(&id) {
                    None => no_such("pipeline"),
                    Some(_) if state != Opened => refused("connect to a pipeline", state),
                    Some(pipeline) => {
                        pipeline.is_connected = true;
                        Outcome::Done
                    }
                }
            }
            Action::HearCapability | Action::HearInit | Action::HearConnect | Action::HearQuestion(_) => {
                self.receive_pool_message(action)
            }
            Action::HearStart(id) | Action::HearInput(id) | Action::HearEndOfInput(id) => {
                self.receive_pipeline_message(action, id)
            }
            ref packet => self.receive_packet(packet),
        }
    }
}

const POOL: Uuid = Uuid::from_u128(77);

const fn uuid(id: u8) -> Uuid {
    Uuid::from_u128(id as u128 + 1)
}

fn receive(pool: &mut RunspacePool, target: Option<u8>, payload: &Payload) -> Result<(), Error> {
    let target = target.map(uuid);
    let bytes = fragment(Destination::Server, POOL, target, payload);
    pool.handle_packet(Packet::Data { target, priority: Priority::Default, data: &bytes })
}

fn record() -> ErrorRecord {
    ErrorRecord::new("failed", ErrorCategory::InvalidOperation)
}

fn apply(pool: &mut RunspacePool, action: &Action) -> Result<(), Error> {
    match *action {
        Action::Disconnect => pool.disconnect(),
        Action::Reconnect => pool.reconnect(),
        Action::Close => pool.close(),
        Action::Break => pool.set_broken(record()),
        Action::End => {
            pool.handle_end();
            Ok(())
        }
        Action::Call => pool.host_call(&HostRequest::WriteLine1).map(drop),
        Action::SendEvent => pool.send_event(UserEvent::default()),
        Action::Answer(id, true) => pool.respond(id, Availability::Count(1)),
        Action::Answer(id, false) => pool.respond(id, Availability::Accepted(true)),
        Action::Start(id) => pool.pipeline(uuid(id))?.start(),
        Action::Write(id) => pool.pipeline(uuid(id))?.write_output(1),
        Action::CallOf(id) => pool.pipeline(uuid(id))?.host_call(&HostRequest::WriteLine1).map(drop),
        Action::Complete(id) => pool.pipeline(uuid(id))?.complete(),
        Action::BeginStop(id) => pool.pipeline(uuid(id))?.begin_stop(),
        Action::Stop(id) => pool.pipeline(uuid(id))?.stop(),
        Action::Fail(id) => pool.pipeline(uuid(id))?.fail(record()),
        Action::ConnectPipeline(id) => pool.pipeline(uuid(id))?.connect(),
        Action::HearCapability => {
            receive(pool, None, &Payload::SessionCapability(SessionCapability::default()))
        }
        Action::HearInit => receive(pool, None, &Payload::InitRunspacePool(Box::default())),
        Action::HearConnect => {
            receive(pool, None, &Payload::ConnectRunspacePool(ConnectRunspacePool::default()))
        }
        Action::HearQuestion(call_id) => {
            receive(pool, None, &Payload::GetAvailableRunspaces(GetAvailableRunspaces { call_id }))
        }
        Action::HearStart(id) => {
            let create = with_input("1");
            receive(pool, Some(id), &Payload::CreatePipeline(Box::new(create)))
        }
        Action::HearInput(id) => receive(pool, Some(id), &Payload::PipelineInput(1.into())),
        Action::HearEndOfInput(id) => receive(pool, Some(id), &Payload::EndOfPipelineInput),
        Action::HearCommand(id) => pool.handle_packet(Packet::Command(Some(uuid(id)))),
        Action::HearSignal(id) => pool.handle_packet(Packet::Signal(Some(uuid(id)))),
        Action::HearClose(id) => pool.handle_packet(Packet::Close(id.map(uuid))),
        Action::HearNonsense => pool.handle_packet(Packet::DataAck(None)),
    }
}

fn run(actions: &[Action]) -> Result<(), TestCaseError> {
    let mut model = Model::new();
    let mut pool = RunspacePool::new(Config::new());
    let mut buffer = Vec::new();
    for action in actions {
        let expected = model.apply(action);
        let result = apply(&mut pool, action);
        match (&expected, &result) {
            (Outcome::Done, Ok(())) => {}
            (Outcome::Refused(words), Err(error)) => {
                prop_assert!(error.is_state(), "{action:?}: {error}");
                let text = error.to_string();
                prop_assert!(words.iter().all(|word| text.contains(&**word)), "{text} without {words:?}");
            }
            (Outcome::Violates, Err(error)) => prop_assert!(error.is_protocol(), "{action:?}: {error}"),
            _ => prop_assert!(false, "{action:?} is {expected:?} and not {result:?}"),
        }
        prop_assert_eq!(pool.state(), model.state, "{:?}", action);
        let states: BTreeMap<_, _> =
            pool.pipelines().map(|(id, state)| (id.as_u128() as u8 - 1, state)).collect();
        let model_states: BTreeMap<_, _> =
            model.pipelines.iter().map(|(id, pipeline)| (*id, pipeline.state)).collect();
        prop_assert_eq!(states, model_states, "{:?}", action);
        for (id, pipeline) in &model.pipelines {
            prop_assert_eq!(pool.pipeline(uuid(*id)).unwrap().is_connected(), pipeline.is_connected);
        }
        let (mut inputs, mut closed) = (0, BTreeSet::new());
        while let Some(event) = pool.poll_event() {
            if let Event::Pipeline { id, event } = event {
                match event {
                    PipelineEvent::Input(_) | PipelineEvent::EndOfInput => inputs += 1,
                    PipelineEvent::Closed => {
                        closed.insert(id.as_u128() as u8 - 1);
                    }
                    _ => {}
                }
            }
        }
        prop_assert_eq!(inputs, model.inputs, "{:?}", action);
        prop_assert_eq!(&closed, &model.closed, "{:?}", action);
        // Sending does not change the allowed actions.
        while pool.poll_transmit(1000, &mut buffer).is_some() {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_server_follows_the_state_tables(actions in vec(action(), 0..60)) {
        run(&actions)?;
    }

    #[test]
    fn an_open_server_follows_the_state_tables(actions in vec(action(), 0..60)) {
        let mut all = vec![
            Action::HearCapability,
            Action::HearInit,
            Action::HearCommand(0),
            Action::HearStart(0),
            Action::Start(0),
        ];
        all.extend(actions);
        run(&all)?;
    }
}
