//! A session over a network that keeps only the order of packets to the same target: the result does not depend on
//! delays. With `crypto`, the data includes secure strings, and the key exchange is delayed independently.

use std::collections::{BTreeMap, VecDeque};

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::client::{self, Event};
use psrp::host::{HostRequest, HostResponse, HostResult};
use psrp::message::{Availability, RunspacePoolState, UserEvent};
use psrp::outofproc::Packet;
use psrp::server;
use psrp::value::{SecureString, Value};
use uuid::Uuid;

use crate::session::{category, pipeline_event, with_input, with_key};
use crate::session_fuzz;
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

struct NetworkSimulation {
    client: client::ClientPool,
    server: server::ServerPool,
    /// Lines of packets in flight, by direction and target.
    network: BTreeMap<(bool, Option<Uuid>), VecDeque<Vec<u8>>>,
    /// Descriptions of the client's events, by pipeline.
    received: BTreeMap<Uuid, Vec<String>>,
    /// Number of host responses and ends of input, by pipeline of the server.
    done: BTreeMap<Uuid, usize>,
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
        let mut client = client::ClientPool::new(config);
        client.open().unwrap();
        Self {
            client,
            server: server::ServerPool::new(server::Config::new().fragment_size(150)),
            network: BTreeMap::new(),
            received: BTreeMap::new(),
            done: BTreeMap::new(),
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
                        self.received.insert(id, Vec::new());
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
                Event::Pipeline { id, event } => {
                    let text = pipeline_event(event, category);
                    if text == "Completed" {
                        self.client.pipeline(id).unwrap().close().unwrap();
                    }
                    self.received.get_mut(&id).unwrap().push(text);
                }
                _ => {}
            }
        }
        let is_closed = |events: &Vec<String>| events.last().is_some_and(|event| event == "Closed");
        let is_done = self.received.len() == PIPELINES && self.received.values().all(is_closed);
        // Pending events of the pool do not delay the end.
        if is_done && self.has_answer && self.has_event && self.client.state() == RunspacePoolState::Opened {
            self.client.close().unwrap();
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
                    self.finish_part(id);
                }
                server::Event::Pipeline { id, event } => self.handle_server_event(id, event),
                _ => {}
            }
        }
    }

    fn handle_server_event(&mut self, id: Uuid, event: server::PipelineEvent) {
        match event {
            server::PipelineEvent::Start(_) => {
                let is_secret = IS_SECRET && self.done.len() % 2 == 1;
                self.done.insert(id, 0);
                let mut pipeline = self.server.pipeline(id).unwrap();
                pipeline.start().unwrap();
                let request =
                    if is_secret { HostRequest::ReadLineAsSecureString } else { HostRequest::ReadLine };
                pipeline.host_call(&request).unwrap();
            }
            server::PipelineEvent::Input(value) => {
                self.server.pipeline(id).unwrap().write_output(value).unwrap();
            }
            server::PipelineEvent::EndOfInput => self.finish_part(id),
            _ => {}
        }
    }

    /// Completes a pipeline after the end of its input and the host response.
    fn finish_part(&mut self, id: Uuid) {
        let done = self.done.get_mut(&id).unwrap();
        *done += 1;
        if *done == 2 {
            self.server.pipeline(id).unwrap().complete().unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

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
        prop_assert_eq!(world.received.len(), PIPELINES);
        for mut events in world.received.into_values() {
            let answer = events.iter().position(|event| event.contains("typed")).unwrap();
            let answer = events.remove(answer);
            prop_assert!(answer == "String(\"typed\")" || answer == "secret typed", "{}", answer);
            let expected = ["Running", "Int32(0)", "Int32(1)", "Int32(2)", "Completed", "Closed"];
            prop_assert_eq!(events, expected);
        }
        prop_assert!(world.has_answer && world.has_event);
        prop_assert_eq!(world.server.state(), RunspacePoolState::Closed);
    }

    /// Random programs of all events of a session.
    #[test]
    fn random_programs_keep_all_invariants(program in vec(any::<u8>(), 0..600)) {
        session_fuzz::check(&program);
    }
}
