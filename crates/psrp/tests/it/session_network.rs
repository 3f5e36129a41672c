//! A session over a network that keeps only the order of packets to the same target: the result does not depend on
//! delays. With `crypto`, the data includes secure strings, and the key exchange is delayed independently.

use std::collections::{BTreeMap, VecDeque};

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::client::{self, Event, PipelineEvent};
use psrp::host::{HostRequest, HostResponse, HostResult};
use psrp::message::{Availability, PipelineState, RunspacePoolState, UserEvent};
use psrp::outofproc::Packet;
use psrp::server;
use psrp::value::{SecureString, Value};
use uuid::Uuid;

use crate::session::{with_input, with_key};
#[cfg(feature = "crypto")]
use crate::vectors_wire as vectors;

const PIPELINES: usize = 3;
const INPUTS: i32 = 3;
const IS_SECRET: bool = cfg!(feature = "crypto");

fn line(packet: Packet<'_>) -> Vec<u8> {
    let mut line = Vec::new();
    packet.encode(&mut line).unwrap();
    line
}

/// Results of a pipeline received by the client.
#[derive(Clone, Debug, Default, PartialEq)]
struct Received {
    echoes: Vec<Value>,
    answer: Option<String>,
    is_completed: bool,
    is_closed: bool,
}

#[derive(Default)]
struct PipelineWork {
    has_input_ended: bool,
    is_answered: bool,
}

struct NetworkSimulation {
    client: client::RunspacePool,
    server: server::RunspacePool,
    /// Lines of packets in flight, by direction and target.
    network: BTreeMap<(bool, Option<Uuid>), VecDeque<Vec<u8>>>,
    received: BTreeMap<Uuid, Received>,
    work: BTreeMap<Uuid, PipelineWork>,
    has_answer: bool,
    has_event: bool,
}

impl NetworkSimulation {
    fn new() -> Self {
        let config = client::Config::new().capability(with_key()).fragment_size(150);
        #[cfg(feature = "crypto")]
        let config = {
            let file = vectors::load("conversation.json");
            let key = vectors::base64(&file["client_rsa_private_key_der_base64"]);
            config.key_pair(psrp::crypto::ClientKey::from_pkcs8(&key).unwrap())
        };
        let mut client = client::RunspacePool::new(config);
        client.open().unwrap();
        Self {
            client,
            server: server::RunspacePool::new(server::Config::new().fragment_size(150)),
            network: BTreeMap::new(),
            received: BTreeMap::new(),
            work: BTreeMap::new(),
            has_answer: false,
            has_event: false,
        }
    }

    /// Performs one possible step, chosen by a number. Returns false if there is none.
    fn step(&mut self, choice: usize) -> bool {
        let mut buffer = Vec::new();
        let ways = self.network.len();
        let choices = ways + 2;
        for offset in 0..choices {
            match (choice + offset) % choices {
                0 => {
                    let Some(packet) = self.client.poll_transmit(200, &mut buffer) else { continue };
                    self.network.entry((true, packet.target())).or_default().push_back(line(packet));
                }
                1 => {
                    let Some(packet) = self.server.poll_transmit(200, &mut buffer) else { continue };
                    self.network.entry((false, packet.target())).or_default().push_back(line(packet));
                }
                way => {
                    let key = *self.network.keys().nth(way - 2).unwrap();
                    let queue = self.network.get_mut(&key).unwrap();
                    let line = queue.pop_front().unwrap();
                    if queue.is_empty() {
                        self.network.remove(&key);
                    }
                    let packet = Packet::parse(&line, &mut buffer).unwrap();
                    match key.0 {
                        true => self.server.handle_packet(packet).unwrap(),
                        false => self.client.handle_packet(packet).unwrap(),
                    }
                    self.client_acts();
                    self.server_acts();
                }
            }
            return true;
        }
        false
    }

    fn client_acts(&mut self) {
        while let Some(event) = self.client.poll_event() {
            match event {
                Event::State(info) if info.state == RunspacePoolState::Opened => {
                    self.client.get_available_runspaces().unwrap();
                    for number in 0..PIPELINES {
                        let id = self.client.invoke(with_input(&number.to_string())).unwrap();
                        self.received.insert(id, Received::default());
                        let mut pipeline = self.client.pipeline(id).unwrap();
                        for input in 0..INPUTS {
                            pipeline.send_input(input).unwrap();
                        }
                        pipeline.end_input().unwrap();
                    }
                }
                Event::HostCall { pipeline, call } => {
                    let result = match call.request().unwrap() {
                        HostRequest::ReadLineAsSecureString => HostResult::Secure(SecureString::new("typed")),
                        _ => HostResult::Text("typed".into()),
                    };
                    self.client.respond(pipeline, HostResponse::new(&call, &result)).unwrap();
                }
                Event::RequestCompleted { availability, .. } => {
                    assert_eq!(availability, Availability::Count(1));
                    self.has_answer = true;
                }
                Event::UserEvent(_) => self.has_event = true,
                Event::Pipeline { id, event } => self.handle_client_event(id, event),
                _ => {}
            }
        }
        let is_done =
            self.received.len() == PIPELINES && self.received.values().all(|received| received.is_closed);
        // Pending events of the pool do not delay the end.
        if is_done && self.has_answer && self.has_event && self.client.state() == RunspacePoolState::Opened {
            self.client.close().unwrap();
        }
    }

    fn handle_client_event(&mut self, id: Uuid, event: PipelineEvent) {
        let received = self.received.get_mut(&id).unwrap();
        match event {
            PipelineEvent::Output(Value::SecureString(text)) => {
                let text = text.reveal().expect("the key came before");
                received.answer = Some(text.to_string());
            }
            PipelineEvent::Output(Value::Int32(number)) => received.echoes.push(number.into()),
            PipelineEvent::Output(value) => received.answer = Some(value.as_str().unwrap().to_string()),
            PipelineEvent::State(info) if info.state == PipelineState::Completed => {
                received.is_completed = true;
                self.client.pipeline(id).unwrap().close().unwrap();
            }
            PipelineEvent::Closed => received.is_closed = true,
            _ => {}
        }
    }

    fn server_acts(&mut self) {
        while let Some(event) = self.server.poll_event() {
            match event {
                server::Event::Opened(_) => self.server.send_event(UserEvent::default()).unwrap(),
                server::Event::Request { call_id, .. } => {
                    self.server.respond(call_id, Availability::Count(1)).unwrap();
                }
                server::Event::HostResponse { pipeline: Some(id), response } => {
                    let value = match response.result().unwrap() {
                        HostResult::Secure(text) => Value::from(text),
                        HostResult::Text(text) => Value::from(text),
                        other => panic!("{other:?}"),
                    };
                    self.server.pipeline(id).unwrap().write_output(value).unwrap();
                    self.work.get_mut(&id).unwrap().is_answered = true;
                    self.complete(id);
                }
                server::Event::Pipeline { id, event } => self.handle_server_event(id, event),
                _ => {}
            }
        }
    }

    fn handle_server_event(&mut self, id: Uuid, event: server::PipelineEvent) {
        match event {
            server::PipelineEvent::Start(_) => {
                let is_secret = IS_SECRET && self.work.len() % 2 == 1;
                self.work.insert(id, PipelineWork::default());
                let mut pipeline = self.server.pipeline(id).unwrap();
                pipeline.start().unwrap();
                let request =
                    if is_secret { HostRequest::ReadLineAsSecureString } else { HostRequest::ReadLine };
                pipeline.host_call(&request).unwrap();
            }
            server::PipelineEvent::Input(value) => {
                self.server.pipeline(id).unwrap().write_output(value).unwrap();
            }
            server::PipelineEvent::EndOfInput => {
                self.work.get_mut(&id).unwrap().has_input_ended = true;
                self.complete(id);
            }
            _ => {}
        }
    }

    fn complete(&mut self, id: Uuid) {
        let work = &self.work[&id];
        if work.has_input_ended && work.is_answered {
            self.server.pipeline(id).unwrap().complete().unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn delays_between_targets_do_not_matter(choices in vec(any::<u8>(), 1..400)) {
        let mut world = NetworkSimulation::new();
        let mut steps = choices.iter().cycle().map(|choice| usize::from(*choice));
        let mut count = 0;
        while world.client.state() != RunspacePoolState::Closed {
            prop_assert!(world.step(steps.next().unwrap()), "nothing is left to do");
            count += 1;
            prop_assert!(count < 10_000, "it takes no end");
        }
        let expected = Received {
            echoes: (0..INPUTS).map(Value::from).collect(),
            answer: Some("typed".to_owned()),
            is_completed: true,
            is_closed: true,
        };
        prop_assert_eq!(world.received.len(), PIPELINES);
        for received in world.received.values() {
            prop_assert_eq!(received, &expected);
        }
        prop_assert!(world.has_answer && world.has_event);
        prop_assert_eq!(world.server.state(), RunspacePoolState::Closed);
    }

    #[test]
    fn a_lost_connection_ends_both_ends(choices in vec(any::<u8>(), 1..400), cut in 0..400_usize) {
        let mut world = NetworkSimulation::new();
        for choice in choices.iter().cycle().take(cut) {
            world.step(usize::from(*choice));
        }
        world.client.handle_end();
        world.server.handle_end();
        let over = [RunspacePoolState::Broken, RunspacePoolState::Closed];
        prop_assert!(over.contains(&world.client.state()) && over.contains(&world.server.state()));
        prop_assert_eq!(world.client.pipelines().len() + world.server.pipelines().len(), 0);
    }
}
