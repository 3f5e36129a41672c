//! Executes a program of bytes: anything that two applications, a network and a malicious peer can do to a client and a
//! server, with invariants checked after each step. Also used by a fuzz target.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use psrp::client::{self, Event};
use psrp::fragment::{Fragmenter, Priority};
use psrp::host::{HostRequest, HostResponse, HostResult};
use psrp::message::{
    Availability, CreatePipeline, Destination, Message, MessageHeader, MessageType, PowerShell,
    RunspacePoolState, SessionCapability,
};
use psrp::outofproc::Packet;
use psrp::record::{ErrorCategory, ErrorRecord};
use psrp::value::Version;
use psrp::{Error, SessionLimits, server};
use uuid::Uuid;

const MAX_PENDING: usize = 20_000;

/// Message data that the program selects from and modifies.
const DATA: [&str; 12] = [
    "",
    "<Nil />",
    "<S>text</S>",
    "<Obj RefId=\"0\"><MS><Version N=\"PSVersion\">2.0</Version><Version N=\"protocolversion\">2.3</Version><Version N=\"SerializationVersion\">1.1.0.1</Version></MS></Obj>",
    "<Obj RefId=\"0\"><MS><I32 N=\"MinRunspaces\">1</I32><I32 N=\"MaxRunspaces\">2</I32><Obj N=\"ApplicationArguments\" RefId=\"1\"><DCT></DCT></Obj></MS></Obj>",
    "<Obj RefId=\"0\"><MS><I32 N=\"RunspaceState\">2</I32></MS></Obj>",
    "<Obj RefId=\"0\"><MS><I32 N=\"PipelineState\">4</I32></MS></Obj>",
    "<Obj RefId=\"0\"><MS><I64 N=\"ci\">1</I64><I32 N=\"mi\">11</I32><Obj N=\"mp\" RefId=\"1\"><LST></LST></Obj></MS></Obj>",
    "<Obj RefId=\"0\"><MS><I64 N=\"ci\">1</I64><I32 N=\"MaxRunspaces\">3</I32><I64 N=\"SetMinMaxRunspacesResponse\">3</I64></MS></Obj>",
    "<Obj RefId=\"0\"><MS><Nil N=\"ApplicationPrivateData\" /></MS></Obj>",
    "<Obj RefId=\"0\"><MS><I32 N=\"PSEventArgs.EventIdentifier\">1</I32></MS></Obj>",
    "<Obj RefId=\"0\"><MS><Nil N=\"Exception\" /><S N=\"InformationalRecord_Message\">m</S></MS></Obj>",
];

struct FuzzSession<'p> {
    client: client::ClientPool,
    server: server::ServerPool,
    program: &'p [u8],
    /// Lines of the last packets to the server and the client.
    last: [Vec<u8>; 2],
    calls: Vec<(Option<Uuid>, psrp::host::HostCall)>,
    requests: Vec<i64>,
}

const fn pipeline_id(number: u8) -> Uuid {
    Uuid::from_u128(number as u128 % 4 + 1)
}

impl<'p> FuzzSession<'p> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.program.split_first().unwrap_or((&0, &[]));
        self.program = rest;
        *first
    }

    fn target(&mut self) -> Option<Uuid> {
        let number = self.byte();
        (!number.is_multiple_of(5)).then(|| pipeline_id(number % 5 - 1))
    }

    fn deliver(&mut self, to_client: bool, packet: Packet<'_>) {
        let state = |session: &Self| if to_client { session.client.state() } else { session.server.state() };
        let before = state(self);
        let result = match to_client {
            true => self.client.handle_packet(packet),
            false => self.server.handle_packet(packet),
        };
        check_result(result, before, state(self));
    }

    /// Delivers a packet of either side. Returns whether there is one.
    fn exchange(&mut self, max: usize) -> bool {
        let mut buffer = Vec::new();
        let mut is_active = false;
        for to_client in [false, true] {
            let packet = match to_client {
                true => self.server.poll_transmit(max, &mut buffer),
                false => self.client.poll_transmit(max, &mut buffer),
            };
            let Some(packet) = packet else { continue };
            is_active = true;
            let last = &mut self.last[usize::from(to_client)];
            last.clear();
            packet.encode(last).expect("a packet with data");
            self.deliver(to_client, packet);
        }
        is_active
    }

    /// Returns the target and the fragments of a message with a valid header, whose data the program selects and
    /// modifies.
    fn message(&mut self) -> (Option<Uuid>, Vec<u8>) {
        let to_client = self.byte().is_multiple_of(2);
        let target = self.target();
        let number = usize::from(self.byte());
        let kinds = MessageType::ALL;
        let message_type = kinds.get(number % (kinds.len() + 1)).copied().unwrap_or(MessageType::Other(7));
        let mut data = DATA[usize::from(self.byte()) % DATA.len()].as_bytes().to_vec();
        let (place, value) = (usize::from(self.byte()), self.byte());
        if value > 0
            && let Some(byte) = data.get_mut(place)
        {
            *byte = value;
        }
        let header = MessageHeader {
            destination: if to_client { Destination::Client } else { Destination::Server },
            message_type,
            pool_id: self.client.id(),
            pipeline_id: target,
        };
        let (mut message, mut fragments) = (Vec::new(), Vec::new());
        Message { header, data: &data }.encode(&mut message);
        let mut fragmenter = Fragmenter::new().fragment_size(usize::from(self.byte()) + 22);
        fragmenter.encode(&message, &mut fragments);
        if self.byte().is_multiple_of(8) {
            fragments.truncate(place);
        }
        (target, fragments)
    }

    /// A packet of any kind for either side, with bytes of the program.
    fn garbage(&mut self) -> Packet<'p> {
        let target = self.target();
        match self.byte() % 8 {
            0 => Packet::DataAck(target),
            1 => Packet::CommandAck(target),
            2 => Packet::SignalAck(target),
            3 => Packet::CloseAck(target),
            4 => Packet::Command(target),
            5 => Packet::Signal(target),
            6 => Packet::Close(target),
            _ => {
                let len = usize::from(self.byte()).min(self.program.len());
                let (data, rest) = self.program.split_at(len);
                self.program = rest;
                Packet::Data { target, priority: Priority::PromptResponse, data }
            }
        }
    }

    fn act_as_client(&mut self) -> Result<(), Error> {
        let action = self.byte();
        let id = pipeline_id(self.byte());
        let pool = &mut self.client;
        match action % 18 {
            0 => pool.open(),
            1 => pool.connect(),
            2 => pool.disconnect(),
            3 => pool.reconnect(),
            4 => pool.close(),
            5 => pool.set_max_runspaces(i32::from(action)).map(drop),
            6 => pool.get_available_runspaces().map(drop),
            7 => pool.reset_runspace_state().map(drop),
            8 => {
                let mut create = CreatePipeline::new(PowerShell::script("x"));
                create.no_input = action > 127;
                pool.create_pipeline_with_id(id, create)
            }
            9 => pool.connect_pipeline(id),
            10 => pool.pipeline(id)?.start(),
            11 => pool.pipeline(id)?.send_input("x".repeat(usize::from(action) * 20)),
            12 => pool.pipeline(id)?.end_input(),
            13 => pool.pipeline(id)?.stop(),
            14 => pool.pipeline(id)?.close(),
            15 => pool.pipeline(id)?.reconnect(),
            16 => match self.calls.pop() {
                Some((pipeline, call)) => {
                    pool.respond(pipeline, HostResponse::new(&call, &HostResult::Text("x".into())))
                }
                None => Ok(()),
            },
            _ => {
                if action > 200 {
                    pool.handle_end();
                }
                Ok(())
            }
        }
    }

    fn act_as_server(&mut self) -> Result<(), Error> {
        let action = self.byte();
        let id = pipeline_id(self.byte());
        let pool = &mut self.server;
        match action % 14 {
            0 => pool.disconnect(),
            1 => pool.reconnect(),
            2 => pool.close(),
            3 if action > 200 => pool.set_broken(ErrorRecord::new("x", ErrorCategory::CloseError)),
            3 | 4 => pool.host_call(&HostRequest::ReadLine).map(drop),
            5 => match self.requests.pop() {
                Some(call_id) => pool
                    .respond(call_id, Availability::Accepted(true))
                    .or_else(|_| pool.respond(call_id, Availability::Count(1))),
                None => Ok(()),
            },
            6 => pool.pipeline(id)?.start(),
            7 => pool.pipeline(id)?.write_output("x".repeat(usize::from(action) * 20)),
            8 => pool.pipeline(id)?.host_call(&HostRequest::ReadLine).map(drop),
            9 => pool.pipeline(id)?.complete(),
            10 => pool.pipeline(id)?.stop(),
            11 => pool.pipeline(id)?.fail(ErrorRecord::new("x", ErrorCategory::CloseError)),
            12 => pool.pipeline(id)?.connect(),
            _ => {
                if action > 200 {
                    pool.handle_end();
                }
                Ok(())
            }
        }
    }

    fn take_events(&mut self) {
        while let Some(event) = self.client.poll_event() {
            if let Event::HostCall { pipeline, call } = event {
                self.calls.push((pipeline, call));
            }
        }
        while let Some(event) = self.server.poll_event() {
            if let server::Event::Request { call_id, .. } = event {
                self.requests.push(call_id);
            }
        }
    }

    fn step(&mut self) {
        let mut result = Ok(());
        match self.byte() {
            0..=99 => {
                let count = self.byte() % 32;
                for _ in 0..count {
                    self.exchange(usize::from(count) * 20);
                }
            }
            100..=149 => result = self.act_as_client(),
            150..=199 => result = self.act_as_server(),
            200..=219 => self.take_events(),
            number @ 220..=239 => {
                let (target, data) = self.message();
                let packet = Packet::Data { target, priority: Priority::Default, data: &data };
                self.deliver(number % 2 == 0, packet);
            }
            number @ 240..=249 => {
                let packet = self.garbage();
                self.deliver(number % 2 == 0, packet);
            }
            // A packet arrives twice.
            number => {
                let to_client = number > 252;
                let line = self.last[usize::from(to_client)].clone();
                if !line.is_empty() {
                    let mut buffer = Vec::new();
                    self.deliver(to_client, Packet::parse(&line, &mut buffer).expect("an encoded packet"));
                }
            }
        }
        if let Err(error) = result {
            let is_known = error.is_state() || error.is_limit() || error.is_unwritable() || error.is_no_key();
            assert!(is_known, "{error}");
        }
        self.check();
    }

    fn check(&self) {
        use RunspacePoolState::{Broken, Closed};

        let (client, server) = (&self.client, &self.server);
        for (state, pipelines) in
            [(client.state(), client.pipelines().len()), (server.state(), server.pipelines().len())]
        {
            assert!(RunspacePoolState::ALL.contains(&state), "{state}");
            assert!(!matches!(state, Broken | Closed) || pipelines == 0, "{state} with pipelines");
        }
        assert!(client.pending_bytes() <= MAX_PENDING * 4);
        assert!(server.pending_bytes() <= MAX_PENDING * 4);
        let targets = || std::iter::once(None).chain((0..4).map(|number| Some(pipeline_id(number))));
        assert_eq!(client.pending_bytes(), targets().map(|of| client.pending_bytes_of(of)).sum::<usize>());
        assert_eq!(server.pending_bytes(), targets().map(|of| server.pending_bytes_of(of)).sum::<usize>());
        if matches!(client.state(), Broken | Closed) {
            assert_eq!(client.pending_bytes(), 0);
        }
    }

    /// Delivers packets until there are no more, and checks that this ends.
    fn deliver_all(&mut self) {
        for _ in 0..100_000 {
            let is_active = self.exchange(1000);
            self.take_events();
            if !is_active {
                return;
            }
        }
        panic!("packets without an end");
    }

    /// Delivers all packets, ends the connection, and checks that everything ends.
    fn finish(&mut self) {
        use RunspacePoolState::{BeforeOpen, Broken, Closed, Disconnected};

        self.deliver_all();
        self.client.handle_end();
        self.server.handle_end();
        self.take_events();
        for state in [self.client.state(), self.server.state()] {
            assert!(matches!(state, Broken | Closed | BeforeOpen | Disconnected), "{state}");
        }
        self.check();
    }
}

/// Checks that a failed packet breaks the pool, unless the error reports that the pool's state does not allow
/// packets, or a client that is connecting was refused.
fn check_result(result: Result<(), Error>, before: RunspacePoolState, after: RunspacePoolState) {
    use RunspacePoolState::{Broken, Connecting, Disconnected};

    match result {
        Ok(()) => {}
        Err(error) if error.is_state() => assert_eq!(before, after, "{error}"),
        Err(error) => {
            let is_refused = matches!(before, Connecting | Disconnected) && after == Disconnected;
            assert!(after == Broken || is_refused, "{error}: {before} to {after}");
        }
    }
}

/// The configurations of both ends. An odd byte selects small limits.
fn configs(number: u8) -> (client::Config, server::Config) {
    // Protocol 2.4 has no key for secure strings.
    let protocol_version = Version::new(2, 3 + u32::from(number / 2 % 2));
    let capability = SessionCapability { protocol_version, ..SessionCapability::default() };
    let mut limits = SessionLimits {
        max_pending_bytes: MAX_PENDING,
        max_event_bytes: 100_000,
        max_data_per_command: 50_000,
        ..SessionLimits::default()
    };
    let mut client_limits = SessionLimits { max_data_per_command: usize::MAX, ..limits };
    if !number.is_multiple_of(2) {
        let (few, bytes) = (usize::from(number % 4), usize::from(number) * 16);
        limits = SessionLimits {
            max_object_size: bytes * 2,
            max_decoded_size: bytes * 4,
            max_event_bytes: bytes * 8,
            max_partial_bytes: bytes,
            max_data_per_command: bytes * 8,
            max_pipelines: few,
            max_host_calls: few,
            max_requests: few,
            max_pending_bytes: MAX_PENDING,
        };
        client_limits = SessionLimits { max_object_size: bytes, ..limits };
    }
    let client = client::Config::new().pool_id(Uuid::from_u128(99)).capability(capability);
    (client.limits(client_limits), server::Config::new().limits(limits))
}

/// Runs a program. The first byte selects whether the pool is open at the start, the second one the limits.
pub fn check(program: &[u8]) {
    let Some((&[first, second], program)) = program.split_first_chunk() else { return };
    let size = 22 + usize::from(first);
    let (client, server) = configs(second);
    let mut session = FuzzSession {
        client: client::ClientPool::new(client.fragment_size(size)),
        server: server::ServerPool::new(server.fragment_size(size)),
        program,
        last: [Vec::new(), Vec::new()],
        calls: Vec::new(),
        requests: Vec::new(),
    };
    if first % 2 == 0 {
        let _ = session.client.open();
        session.deliver_all();
        for number in 0..2 {
            let mut create = CreatePipeline::new(PowerShell::script("x"));
            create.no_input = false;
            let id = pipeline_id(number);
            if session.client.create_pipeline_with_id(id, create).is_ok()
                && let Ok(mut pipeline) = session.client.pipeline(id)
            {
                let _ = pipeline.start();
            }
        }
        session.deliver_all();
        let started = session.server.pipeline(pipeline_id(0)).and_then(|mut pipeline| pipeline.start());
        assert!(started.is_ok() || !second.is_multiple_of(2), "nothing but a limit prevents it");
    }
    session.check();
    while !session.program.is_empty() {
        session.step();
    }
    session.finish();
}
