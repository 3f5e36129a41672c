//! Compares the client's state machine with a simple model of the state tables: allowed actions, resulting states, and
//! errors that name action and state.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::Error;
use psrp::client::{Config, Event, PipelineEvent, RunspacePool};
use psrp::fragment::Priority;
use psrp::host::{HostCall, HostRequest};
use psrp::message::{
    ApplicationPrivateData, Availability, CreatePipeline, Destination, Payload, PipelineState,
    PipelineStateInfo, PowerShell, RunspaceAvailability, RunspaceLimits, RunspacePoolState,
    RunspacePoolStateInfo, SessionCapability,
};
use psrp::outofproc::Packet;
use uuid::Uuid;

use crate::session::fragment;

#[derive(Clone, Debug)]
enum Action {
    Open,
    Connect,
    Disconnect,
    Reconnect,
    Close,
    End,
    SetMax(i32),
    SetMin(i32),
    GetAvailable,
    Reset,
    Create(u8, bool),
    ConnectPipeline(u8),
    Start(u8),
    Input(u8),
    EndInput(u8),
    Stop(u8),
    ClosePipeline(u8),
    ReconnectPipeline(u8),
    HearCapability,
    HearPrivateData,
    HearLimits(i32, i32),
    HearPoolState(RunspacePoolState),
    HearAnswer(i64, bool),
    HearOutput(u8),
    HearCall(Option<u8>),
    HearPipelineState(u8, PipelineState),
    HearCloseAck(Option<u8>),
    HearNonsense,
}

fn action() -> impl Strategy<Value = Action> {
    use Action::*;

    let id = || 0..3_u8;
    let pool_state = proptest::sample::select(RunspacePoolState::ALL);
    let pipeline_state = proptest::sample::select(PipelineState::ALL);
    let pool = prop_oneof![
        3 => Just(Open),
        1 => Just(Connect),
        1 => Just(Disconnect),
        2 => Just(Reconnect),
        1 => Just(Close),
        1 => (0..5).prop_map(SetMax),
        1 => (0..5).prop_map(SetMin),
        1 => Just(GetAvailable),
        1 => Just(Reset),
    ];
    let pipeline = prop_oneof![
        3 => (id(), any::<bool>()).prop_map(|(id, input)| Create(id, input)),
        1 => id().prop_map(ConnectPipeline),
        3 => id().prop_map(Start),
        2 => id().prop_map(Input),
        1 => id().prop_map(EndInput),
        1 => id().prop_map(Stop),
        1 => id().prop_map(ClosePipeline),
        1 => id().prop_map(ReconnectPipeline),
    ];
    let heard = prop_oneof![
        4 => Just(HearCapability),
        2 => Just(HearPrivateData),
        1 => (1..4, 1..4).prop_map(|(min, max)| HearLimits(min, max)),
        6 => Just(HearPoolState(RunspacePoolState::Opened)),
        1 => pool_state.prop_map(HearPoolState),
        1 => (0..5_i64, any::<bool>()).prop_map(|(id, yes)| HearAnswer(id, yes)),
        2 => id().prop_map(HearOutput),
        1 => proptest::option::of(id()).prop_map(HearCall),
        3 => (id(), pipeline_state).prop_map(|(id, state)| HearPipelineState(id, state)),
        2 => id().prop_map(|id| HearCloseAck(Some(id))),
    ];
    let rare = prop_oneof![Just(End), Just(HearNonsense), Just(HearCloseAck(None))];
    prop_oneof![10 => pool, 16 => pipeline, 14 => heard, 1 => rare]
}

/// Expected result of an action.
#[derive(Debug, PartialEq)]
enum Outcome {
    Done,
    /// Rejected with an error that contains these texts; nothing changes.
    Refused(Vec<String>),
    /// The server has violated the protocol.
    Breaks,
}

fn refused(action: &str, state: impl std::fmt::Display) -> Outcome {
    Outcome::Refused(vec![format!("can't {action}: "), format!(" is {state}")])
}

#[derive(Clone, Debug)]
struct Pipeline {
    state: PipelineState,
    before: Option<PipelineState>,
    /// `None` for a pipeline of another client.
    has_input: Option<bool>,
    is_input_open: bool,
    is_closing: bool,
}

impl Pipeline {
    fn is_terminal(&self) -> bool {
        use PipelineState::{Completed, Failed, Stopped};
        matches!(self.state, Completed | Failed | Stopped)
    }
}

#[derive(Clone, Copy, Debug)]
enum PendingRequest {
    Max(i32),
    Min(i32),
    Count,
    Reset,
}

struct Model {
    state: RunspacePoolState,
    has_peer: bool,
    min: i32,
    max: i32,
    questions: BTreeMap<i64, PendingRequest>,
    next_question: i64,
    pipelines: BTreeMap<u8, Pipeline>,
    /// Pipelines whose end was reported with the end of the pool.
    ended: BTreeSet<u8>,
}

impl Model {
    fn new() -> Self {
        Self {
            state: RunspacePoolState::BeforeOpen,
            has_peer: false,
            min: 1,
            max: 1,
            questions: BTreeMap::new(),
            next_question: 1,
            pipelines: BTreeMap::new(),
            ended: BTreeSet::new(),
        }
    }

    fn only_in(&self, action: &str, states: &[RunspacePoolState]) -> Option<Outcome> {
        (!states.contains(&self.state)).then(|| refused(action, self.state))
    }

    fn end(&mut self, state: RunspacePoolState) -> Outcome {
        self.state = state;
        self.questions.clear();
        self.ended = self
            .pipelines
            .iter()
            .filter(|(_, pipeline)| pipeline.is_closing || !pipeline.is_terminal())
            .map(|(id, _)| *id)
            .collect();
        self.pipelines.clear();
        Outcome::Done
    }

    fn breaks(&mut self) -> Outcome {
        self.end(RunspacePoolState::Broken);
        Outcome::Breaks
    }

    fn resume(&mut self) {
        for pipeline in self.pipelines.values_mut() {
            if let Some(state) = pipeline.before.take() {
                pipeline.state = state;
            }
        }
    }

    fn opened(&mut self) -> Outcome {
        use RunspacePoolState::{Closing, Opened};

        if !self.has_peer {
            return self.breaks();
        }
        if !matches!(self.state, Closing | Opened) {
            self.state = Opened;
            self.resume();
        }
        Outcome::Done
    }

    fn ask(&mut self, question: PendingRequest) -> Outcome {
        self.questions.insert(self.next_question, question);
        self.next_question += 1;
        Outcome::Done
    }

    fn set(&mut self, count: i32, is_max: bool) -> Outcome {
        use RunspacePoolState::{BeforeOpen, Opened};

        let action = if is_max {
            "set the maximum number of runspaces"
        } else {
            "set the minimum number of runspaces"
        };
        if let Some(outcome) = self.only_in(action, &[BeforeOpen, Opened]) {
            return outcome;
        }
        let is_possible = if is_max { count >= self.min.max(1) } else { count >= 1 && count <= self.max };
        let now = if is_max { &mut self.max } else { &mut self.min };
        if !is_possible {
            return Outcome::Refused(vec!["the number of runspaces is out of range".to_owned()]);
        }
        if count == *now {
            return Outcome::Done;
        }
        if self.state == BeforeOpen {
            *now = count;
            return Outcome::Done;
        }
        self.ask(if is_max { PendingRequest::Max(count) } else { PendingRequest::Min(count) })
    }

    fn create(&mut self, action: &str, id: u8, pipeline: Pipeline) -> Outcome {
        if let Some(outcome) = self.only_in(action, &[RunspacePoolState::Opened]) {
            return outcome;
        }
        if self.pipelines.contains_key(&id) {
            return Outcome::Refused(vec!["the pipeline identifier is nil or in use".to_owned()]);
        }
        self.pipelines.insert(id, pipeline);
        Outcome::Done
    }

    /// Returns the pipeline if the states of both allow the action.
    fn allowed(&mut self, action: &str, id: u8, states: &[PipelineState]) -> Result<&mut Pipeline, Outcome> {
        if !self.pipelines.contains_key(&id) {
            return Err(Outcome::Refused(vec!["no such pipeline".to_owned()]));
        }
        if let Some(outcome) = self.only_in(action, &[RunspacePoolState::Opened]) {
            return Err(outcome);
        }
        let pipeline = self.pipelines.get_mut(&id).unwrap();
        if pipeline.is_closing {
            return Err(refused(action, "being closed"));
        }
        if states.contains(&pipeline.state) { Ok(pipeline) } else { Err(refused(action, pipeline.state)) }
    }

    fn with_pipeline(
        &mut self,
        action: &str,
        id: u8,
        states: &[PipelineState],
        change: impl FnOnce(&mut Pipeline) -> Outcome,
    ) -> Outcome {
        self.allowed(action, id, states).map_or_else(|outcome| outcome, change)
    }

    fn receive(&mut self, action: &Action) -> Outcome {
        use RunspacePoolState::*;

        match self.state {
            Closed => return Outcome::Done,
            BeforeOpen | Broken => return refused("process input", self.state),
            _ => {}
        }
        match *action {
            Action::HearCapability if matches!(self.state, Opening | Connecting) => {
                self.has_peer = true;
                Outcome::Done
            }
            Action::HearCapability => self.breaks(),
            Action::HearPrivateData if !matches!(self.state, Opening | Opened | Connecting) => self.breaks(),
            Action::HearPrivateData if self.state == Connecting => self.opened(),
            Action::HearPrivateData => Outcome::Done,
            Action::HearLimits(min, max) => {
                (self.min, self.max) = (min, max);
                Outcome::Done
            }
            Action::HearPoolState(state) => match state {
                Closed | Broken => self.end(state),
                Opened => self.opened(),
                _ if self.state == Closing => Outcome::Done,
                state => {
                    self.state = state;
                    Outcome::Done
                }
            },
            Action::HearAnswer(id, yes) => {
                match self.questions.remove(&id) {
                    Some(PendingRequest::Max(count)) if yes => self.max = count,
                    Some(PendingRequest::Min(count)) if yes => self.min = count,
                    Some(PendingRequest::Count) => return self.breaks(),
                    _ => {}
                }
                Outcome::Done
            }
            Action::HearPipelineState(id, state) => {
                let Some(pipeline) = self.pipelines.get_mut(&id) else { return Outcome::Done };
                let is_deaf = pipeline.is_closing
                    || pipeline.is_terminal()
                    || pipeline.state == PipelineState::NotStarted;
                match state {
                    _ if is_deaf => {}
                    PipelineState::Running if pipeline.state == PipelineState::Stopping => {}
                    PipelineState::Disconnected => {
                        if pipeline.state != PipelineState::Disconnected {
                            pipeline.before = Some(pipeline.state);
                            pipeline.state = state;
                        }
                    }
                    state => {
                        pipeline.before = None;
                        pipeline.state = state;
                    }
                }
                Outcome::Done
            }
            Action::HearNonsense => self.breaks(),
            _ => Outcome::Done,
        }
    }

    fn apply(&mut self, action: &Action) -> Outcome {
        use PipelineState as P;
        use RunspacePoolState::*;

        self.ended.clear();
        match *action {
            Action::Open if self.state == Opened => Outcome::Done,
            Action::Open => self.only_in("open", &[BeforeOpen]).unwrap_or_else(|| {
                // The server may have set an invalid number of runspaces.
                if self.min < 1 || self.max < self.min {
                    let limits = format!("{} to {} is not a valid number of runspaces", self.min, self.max);
                    return Outcome::Refused(vec![limits]);
                }
                self.state = Opening;
                Outcome::Done
            }),
            Action::Connect => self.only_in("connect", &[BeforeOpen, Disconnected]).unwrap_or_else(|| {
                self.state = Connecting;
                self.questions.clear();
                Outcome::Done
            }),
            Action::Disconnect => self.only_in("disconnect", &[Opened]).unwrap_or_else(|| {
                self.state = Disconnected;
                for pipeline in self.pipelines.values_mut() {
                    if matches!(pipeline.state, P::Running | P::Stopping) {
                        pipeline.before = Some(pipeline.state);
                        pipeline.state = P::Disconnected;
                    }
                }
                Outcome::Done
            }),
            Action::Reconnect => self.only_in("reconnect", &[Disconnected]).unwrap_or_else(|| {
                self.state = Opened;
                self.resume();
                Outcome::Done
            }),
            Action::Close => {
                if let Some(outcome) = self.only_in("close", &[Opened, Closing, Closed]) {
                    return outcome;
                }
                if !self.pipelines.is_empty() {
                    return Outcome::Refused(vec!["can't close: the pool has pipelines".to_owned()]);
                }
                if self.state == Opened {
                    self.state = Closing;
                }
                Outcome::Done
            }
            Action::End => match self.state {
                BeforeOpen | Closed | Broken | Disconnected => Outcome::Done,
                Closing => self.end(Closed),
                _ => self.end(Broken),
            },
            Action::SetMax(count) => self.set(count, true),
            Action::SetMin(count) => self.set(count, false),
            Action::GetAvailable => self
                .only_in("request the number of free runspaces", &[Opened])
                .unwrap_or_else(|| self.ask(PendingRequest::Count)),
            Action::Reset => self
                .only_in("reset the runspace", &[Opened])
                .unwrap_or_else(|| self.ask(PendingRequest::Reset)),
            Action::Create(id, has_input) => {
                let pipeline = Pipeline {
                    state: P::NotStarted,
                    before: None,
                    has_input: Some(has_input),
                    is_input_open: false,
                    is_closing: false,
                };
                self.create("create a pipeline", id, pipeline)
            }
            Action::ConnectPipeline(id) => {
                let pipeline = Pipeline {
                    state: P::Running,
                    before: None,
                    has_input: None,
                    is_input_open: true,
                    is_closing: false,
                };
                self.create("connect to a pipeline", id, pipeline)
            }
            Action::Start(id) => self.with_pipeline("start", id, &[P::NotStarted], |pipeline| {
                let Some(has_input) = pipeline.has_input else {
                    return refused("start", "another client's");
                };
                pipeline.state = P::Running;
                pipeline.is_input_open = has_input;
                Outcome::Done
            }),
            Action::Input(id) | Action::EndInput(id) => {
                let is_end = matches!(action, Action::EndInput(_));
                let name = if is_end { "end the input" } else { "send input" };
                self.with_pipeline(name, id, &[P::Running], |pipeline| {
                    if !pipeline.is_input_open {
                        return match pipeline.has_input {
                            Some(false) => refused(name, "without input"),
                            _ => refused(name, "at the end of its input"),
                        };
                    }
                    pipeline.is_input_open = !is_end;
                    Outcome::Done
                })
            }
            Action::Stop(id) => self.with_pipeline("stop", id, &[P::Running, P::Stopping], |pipeline| {
                pipeline.state = P::Stopping;
                Outcome::Done
            }),
            Action::ClosePipeline(id) => {
                let states = [P::NotStarted, P::Stopped, P::Stopping, P::Completed, P::Failed];
                self.with_pipeline("close", id, &states, |pipeline| {
                    pipeline.is_closing = true;
                    Outcome::Done
                })
            }
            Action::ReconnectPipeline(id) => {
                self.with_pipeline("reconnect", id, &[P::Disconnected], |pipeline| {
                    pipeline.state = pipeline.before.take().unwrap_or(P::Running);
                    Outcome::Done
                })
            }
            Action::HearCloseAck(Some(id)) => {
                if self.pipelines.get(&id).is_some_and(|pipeline| pipeline.is_closing) {
                    self.pipelines.remove(&id);
                }
                Outcome::Done
            }
            Action::HearCloseAck(None) if self.state == Closing => self.end(Closed),
            Action::HearCloseAck(None) => Outcome::Done,
            ref heard => self.receive(heard),
        }
    }
}

const fn uuid(id: u8) -> Uuid {
    Uuid::from_u128(id as u128 + 1)
}

struct Subject {
    pool: RunspacePool,
    next_call: i64,
}

impl Subject {
    fn receive(&mut self, target: Option<u8>, payload: &Payload) -> Result<(), Error> {
        let target = target.map(uuid);
        let bytes = fragment(Destination::Client, self.pool.id(), target, payload);
        self.pool.handle_packet(Packet::Data { target, priority: Priority::Default, data: &bytes })
    }

    fn apply(&mut self, action: &Action) -> Result<(), Error> {
        let pool = &mut self.pool;
        match *action {
            Action::Open => pool.open(),
            Action::Connect => pool.connect(),
            Action::Disconnect => pool.disconnect(),
            Action::Reconnect => pool.reconnect(),
            Action::Close => pool.close(),
            Action::End => {
                pool.handle_end();
                Ok(())
            }
            Action::SetMax(count) => pool.set_max_runspaces(count).map(drop),
            Action::SetMin(count) => pool.set_min_runspaces(count).map(drop),
            Action::GetAvailable => pool.get_available_runspaces().map(drop),
            Action::Reset => pool.reset_runspace_state().map(drop),
            Action::Create(id, has_input) => {
                let mut create = CreatePipeline::new(PowerShell::script("1"));
                create.no_input = !has_input;
                pool.create_pipeline_with_id(uuid(id), create)
            }
            Action::ConnectPipeline(id) => pool.connect_pipeline(uuid(id)),
            Action::Start(id) => pool.pipeline(uuid(id))?.start(),
            Action::Input(id) => pool.pipeline(uuid(id))?.send_input(1),
            Action::EndInput(id) => pool.pipeline(uuid(id))?.end_input(),
            Action::Stop(id) => pool.pipeline(uuid(id))?.stop(),
            Action::ClosePipeline(id) => pool.pipeline(uuid(id))?.close(),
            Action::ReconnectPipeline(id) => pool.pipeline(uuid(id))?.reconnect(),
            Action::HearCapability => {
                self.receive(None, &Payload::SessionCapability(SessionCapability::default()))
            }
            Action::HearPrivateData => {
                self.receive(None, &Payload::ApplicationPrivateData(ApplicationPrivateData { data: None }))
            }
            Action::HearLimits(min_runspaces, max_runspaces) => {
                let limits = RunspaceLimits { min_runspaces, max_runspaces };
                self.receive(None, &Payload::RunspacePoolInitData(limits))
            }
            Action::HearPoolState(state) => {
                self.receive(None, &Payload::RunspacePoolState(RunspacePoolStateInfo::new(state)))
            }
            Action::HearAnswer(call_id, yes) => {
                let availability = Availability::Accepted(yes);
                let answer = RunspaceAvailability { availability, call_id };
                self.receive(None, &Payload::RunspaceAvailability(answer))
            }
            Action::HearOutput(id) => self.receive(Some(id), &Payload::PipelineOutput(1.into())),
            Action::HearCall(id) => {
                self.next_call += 1;
                let call = HostCall::new(self.next_call, &HostRequest::ReadLine);
                let payload = match id {
                    Some(_) => Payload::PipelineHostCall(call),
                    None => Payload::RunspacePoolHostCall(call),
                };
                self.receive(id, &payload)
            }
            Action::HearPipelineState(id, state) => {
                self.receive(Some(id), &Payload::PipelineState(PipelineStateInfo::new(state)))
            }
            Action::HearCloseAck(id) => pool.handle_packet(Packet::CloseAck(id.map(uuid))),
            Action::HearNonsense => self.receive(None, &Payload::EndOfPipelineInput),
        }
    }

    /// Pipelines whose end the events report.
    fn ended(&mut self) -> BTreeSet<u8> {
        std::iter::from_fn(|| self.pool.poll_event())
            .filter_map(|event| match event {
                Event::Pipeline { id, event: PipelineEvent::Closed } => Some(id),
                Event::Pipeline { id, event: PipelineEvent::State(info) }
                    if info.state == PipelineState::Failed =>
                {
                    Some(id)
                }
                _ => None,
            })
            .map(|id| id.as_u128() as u8 - 1)
            .collect()
    }
}

fn run(actions: &[Action]) -> Result<(), TestCaseError> {
    let mut model = Model::new();
    let mut subject = Subject { pool: RunspacePool::new(Config::new()), next_call: 0 };
    for action in actions {
        let was_over = matches!(model.state, RunspacePoolState::Broken | RunspacePoolState::Closed);
        let expected = model.apply(action);
        let result = subject.apply(action);
        match (&expected, &result) {
            (Outcome::Done, Ok(())) => {}
            (Outcome::Refused(words), Err(error)) => {
                prop_assert!(error.is_state(), "{action:?}: {error}");
                let text = error.to_string();
                prop_assert!(words.iter().all(|word| text.contains(&**word)), "{text} without {words:?}");
            }
            (Outcome::Breaks, Err(error)) => prop_assert!(error.is_protocol(), "{action:?}: {error}"),
            _ => prop_assert!(false, "{action:?} is {expected:?} and not {result:?}"),
        }
        prop_assert_eq!(subject.pool.state(), model.state, "{:?}", action);
        prop_assert_eq!(subject.pool.min_runspaces(), model.min);
        prop_assert_eq!(subject.pool.max_runspaces(), model.max);
        let states: BTreeMap<_, _> =
            subject.pool.pipelines().map(|(id, state)| (id.as_u128() as u8 - 1, state)).collect();
        let model_states: BTreeMap<_, _> =
            model.pipelines.iter().map(|(id, pipeline)| (*id, pipeline.state)).collect();
        prop_assert_eq!(states, model_states, "{:?}", action);
        let ended = subject.ended();
        let is_over = matches!(model.state, RunspacePoolState::Broken | RunspacePoolState::Closed);
        if is_over && !was_over {
            prop_assert_eq!(ended, model.ended.clone(), "{:?}", action);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_client_follows_the_state_tables(actions in vec(action(), 0..60)) {
        run(&actions)?;
    }

    #[test]
    fn an_open_client_follows_the_state_tables(actions in vec(action(), 0..60)) {
        let opened = Action::HearPoolState(RunspacePoolState::Opened);
        let mut all = vec![Action::Open, Action::HearCapability, opened, Action::Create(0, true), Action::Start(0)];
        all.extend(actions);
        run(&all)?;
    }
}
