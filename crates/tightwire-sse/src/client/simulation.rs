//! Simulation of the client on a paused clock: a server model sends the same history over connections that fail in many
//! ways. All decisions come from a seed.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Body, Request};
use test_support::simulation::{Random, simulate};
use tokio::time::{Instant, sleep, timeout};

use super::event_source::Options;
use super::request::RequestTemplate;
use super::transport::{Failure, Response, Transport};
use super::*;
use crate::Ending;
use crate::error::{Error, Kind};

/// Id, type and data of an event.
type Entry = (String, &'static str, String);

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Encoded part of the history.
#[derive(Default)]
struct Wire {
    bytes: Vec<u8>,
    /// Valid `retry` values, with the offsets at which they take effect.
    retries: Vec<(usize, Duration)>,
    /// Offsets at which the events are complete.
    events: Vec<usize>,
    /// Offsets at which the end of the response truncates no data: before the first data line of an event, before the end
    /// of its last one, and before its empty line.
    ends: Vec<usize>,
}

impl Wire {
    /// Appends a line. Returns the offset at which it is complete: after the first byte of its end.
    fn line(&mut self, text: &str, end: &str) -> usize {
        self.bytes.extend(text.as_bytes());
        self.bytes.extend(end.as_bytes());
        self.bytes.len() - end.len() + 1
    }

    /// Appends lines that are not part of an event.
    fn other_lines(&mut self, end: &str, random: &mut Random) {
        while random.chance(20) {
            if random.chance(50) {
                let millis = random.pick(&[0, 50, 700, 5000, u64::MAX]);
                let offset = self.line(&format!("retry: {millis}"), end);
                self.retries.push((offset, Duration::from_millis(millis)));
            } else {
                let line = [": ünï", ":", "datax: 1", "Data", "retry: 1s", "retry: 99999999999999999999"];
                self.line(random.pick(&line), end);
            }
        }
    }

    fn event(&mut self, (id, event_type, data): &Entry, id_first: bool, random: &mut Random) {
        let end = random.pick(&["\n", "\r", "\r\n"]);
        let id = format!("id: {id}");
        self.other_lines(end, random);
        if id_first {
            self.line(&id, end);
        }
        if *event_type != "message" || random.chance(20) {
            self.line(&format!("event:{event_type}"), end);
        }
        self.ends.push(self.bytes.len());
        for line in data.split('\n') {
            let name = match line.bytes().next() {
                None => "data",
                Some(b' ') => "data: ",
                Some(_) => random.pick(&["data: ", "data:"]),
            };
            self.line(&format!("{name}{line}"), end);
        }
        if !id_first {
            self.line(&id, end);
        }
        self.ends.push(self.bytes.len() - end.len());
        self.other_lines(end, random);
        self.ends.push(self.bytes.len());
        let complete = self.line("", end);
        self.events.push(complete);
    }
}

/// Reaction of the client to the last reply.
enum Expected {
    /// Reconnects after this delay or a longer one.
    Retry(Duration),
    Close,
}

struct Server {
    random: Random,
    history: Vec<Entry>,
    options: Options,
    /// Replies with a fault that are left.
    faults: usize,
    requests: Vec<Instant>,
    /// Id of the last event that the client returned.
    last_event_id: String,
    expected: Expected,
    /// Events sent again although the client has them.
    repeated: usize,
    /// Stream of the last reply, and the number of bytes that the client has read.
    stream: Wire,
    read: Arc<AtomicUsize>,
}

type Reply = Result<Response, Failure>;

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

impl Server {
    /// Returns the reply, `None` if there is none.
    fn reply(&mut self, request: &Request) -> Option<Reply> {
        let id = request.headers().get("last-event-id").map_or(&b""[..], |value| value.as_bytes());
        assert_eq!(str::from_utf8(id), Ok(&*self.last_event_id), "Last-Event-ID");
        assert!(self.requests.len() < 100, "requests without end");
        self.requests.push(Instant::now());
        self.expected = Expected::Retry(Duration::ZERO);
        (self.stream, self.read) = Default::default();
        let next = self.history.iter().position(|(id, ..)| *id == self.last_event_id).map_or(0, |at| at + 1);
        if self.faults == 0 {
            let is_complete = next == self.history.len();
            return Some(Ok(if is_complete { self.refuse(204, None) } else { self.stream(next, false) }));
        }
        self.faults -= 1;
        let failure = |is_permanent| {
            let error = Error::with_source(Kind::Transport, "reset");
            Some(Err(Failure { error, is_permanent }))
        };
        let has_timeout = self.options.read_timeout.or(self.options.event_timeout).is_some();
        match self.random.below(12) {
            0 if has_timeout => None,
            1 if self.random.chance(10) => {
                self.expected = Expected::Close;
                failure(true)
            }
            0 | 1 => failure(false),
            2 | 3 => {
                let status = self.random.pick(&[429, 503, 503, 500, 404, 204, 307, 200]);
                let retry_after = self.random.pick(&[None, Some(0), Some(7), Some(299), Some(301)]);
                let refused = self.refuse(status, retry_after);
                if matches!(self.expected, Expected::Close) && self.random.chance(80) {
                    self.expected = Expected::Retry(Duration::ZERO);
                    return failure(false);
                }
                Some(Ok(refused))
            }
            4 => {
                // A redirect, which reqwest follows with the same headers.
                self.requests.pop();
                self.reply(request)
            }
            _ => Some(Ok(self.stream(next, true))),
        }
    }

    /// Returns a response that is no event stream.
    fn refuse(&mut self, status: u16, retry_after: Option<u64>) -> Response {
        let is_temporary = matches!(status, 429 | 500 | 503);
        self.expected = match retry_after.filter(|_| matches!(status, 429 | 503)) {
            Some(seconds) if seconds <= 300 => Expected::Retry(Duration::from_secs(seconds)),
            None if is_temporary && self.options.retry_server_errors => Expected::Retry(Duration::ZERO),
            _ => Expected::Close,
        };
        let body = match self.random.below(3) {
            0 => Body::wrap_stream(stream::pending::<io::Result<Bytes>>()),
            1 => Body::wrap_stream(stream::iter([Ok("bu"), Err(reset())])),
            _ => Body::from("busy"),
        };
        let mut response = http::Response::builder().status(status).header(CONTENT_TYPE, "text/html");
        if let Some(seconds) = retry_after {
            response = response.header(RETRY_AFTER, seconds);
        }
        response.body(body).unwrap()
    }

    /// Returns an event stream with the history from this event on.
    fn stream(&mut self, mut next: usize, is_faulty: bool) -> Response {
        let random = &mut self.random;
        let is_lenient = self.options.ending == Ending::Lenient;
        if is_faulty && next > 0 && random.chance(20) {
            next -= 1;
            self.repeated += 1;
        }
        let mut wire = Wire::default();
        if random.chance(25) {
            wire.bytes.extend("\u{feff}".as_bytes());
        }
        for entry in &self.history[next..] {
            wire.event(entry, is_lenient || random.chance(70), random);
        }
        wire.other_lines("\n", random);
        let anywhere = random.below(wire.bytes.len() + 1);
        let (end, tail) = match random.below(4) {
            _ if !is_faulty => (wire.bytes.len(), stream::empty().boxed()),
            0 if self.options.read_timeout.is_some() => (anywhere, stream::pending().boxed()),
            1 if self.options.event_timeout.is_some() && !wire.events.is_empty() => {
                let comments = stream::repeat(()).then(|()| sleep(Duration::from_secs(1)));
                (random.pick(&wire.events), comments.map(|()| Ok(Bytes::from(":\n"))).boxed())
            }
            2 if is_lenient && wire.ends.is_empty() => (0, stream::empty().boxed()),
            2 if is_lenient => (random.pick(&wire.ends), stream::empty().boxed()),
            2 => (anywhere, stream::empty().boxed()),
            _ => (anywhere, stream::iter([Err(reset())]).boxed()),
        };
        let (mut rest, size) = (&wire.bytes[..end], random.pick(&[1, 7, 40, 1000]));
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            let chunk;
            (chunk, rest) = rest.split_at(random.below(size + 1).min(rest.len()));
            let millis = random.pick(&[0, 0, 0, 5, if is_faulty { 1000 } else { 0 }]);
            let is_slow = is_faulty && random.chance(2);
            let pause = Duration::from_millis(if is_slow { 20_000 } else { millis });
            chunks.push((pause, Bytes::copy_from_slice(chunk)));
        }
        let read = Arc::clone(&self.read);
        let chunks = stream::iter(chunks).then(move |(pause, chunk)| {
            let read = Arc::clone(&read);
            async move {
                sleep(pause).await;
                read.fetch_add(chunk.len(), Ordering::Relaxed);
                Ok(chunk)
            }
        });
        self.stream = wire;
        let response = http::Response::builder().header(CONTENT_TYPE, "text/event-stream");
        response.body(Body::wrap_stream(chunks.chain(tail))).unwrap()
    }

    /// Returns the last `retry` value before this offset of the stream.
    fn retry(&self, offset: usize) -> Option<Duration> {
        let before = self.stream.retries.iter().take_while(|(complete, _)| *complete <= offset);
        before.last().map(|(_, value)| *value)
    }
}

/// Backoff as documented.
struct Policy {
    base: Duration,
    reset_after: Duration,
    max_attempts: Option<u32>,
    jitter: Jitter,
    failures: u32,
}

impl Policy {
    /// Records the end of a connection or attempt.
    fn record(&mut self, open_for: Option<Duration>, retry: Option<Duration>) {
        if open_for.is_some_and(|open_for| open_for >= self.reset_after) {
            self.failures = 0;
        }
        self.base = retry.map_or(self.base, |retry| retry.min(HOUR));
    }

    /// Returns the bounds of the next delay, `None` if there is no further attempt.
    fn bounds(&mut self) -> Option<(Duration, Duration)> {
        if self.max_attempts.is_some_and(|max| self.failures >= max) {
            return None;
        }
        let least = self.base.max(Duration::from_millis(100));
        let most = (least * 2_u32.pow(self.failures.min(10))).min(Duration::from_secs(60)).max(least);
        self.failures += 1;
        Some(if self.jitter == Jitter::None { (most, most) } else { (least.max(most / 2), most) })
    }
}

thread_local! {
    static JITTER: std::cell::RefCell<Random> = const { std::cell::RefCell::new(Random::new(0)) };
}

fn history(random: &mut Random) -> Vec<Entry> {
    let line = |random: &mut Random| {
        random.pick(&["", "x", "{\"a\": 1}", "ünï\u{1f600}", " indented", "data: y", ":"])
    };
    let entries = (0..random.below(12)).map(|index| {
        let mut data = line(random).to_owned();
        while random.chance(30) {
            data = data + "\n" + line(random);
        }
        if random.chance(10) {
            data += &"long ".repeat(40);
        }
        (format!("{}{index}", random.pick(&["", "é-"])), random.pick(&["message", "message", "delta"]), data)
    });
    entries.collect()
}

/// Runs a client until it ends.
async fn run(mut random: Random) {
    let mut policy = Policy {
        base: Duration::from_millis(random.pick(&[0, 300, 3000])),
        reset_after: Duration::from_secs(random.pick(&[0, 20, 60])),
        max_attempts: random.pick(&[None, None, None, Some(0), Some(3), Some(8)]),
        jitter: random.pick(&[Jitter::None, Jitter::Half]),
        failures: 0,
    };
    let backoff = Backoff::new().base(policy.base).reset_after(policy.reset_after).jitter(policy.jitter);
    JITTER.set(random.clone());
    let options = Options {
        backoff: policy.max_attempts.map_or(backoff, |attempts| backoff.max_attempts(attempts)),
        read_timeout: random.pick(&[None, Some(Duration::from_secs(30))]),
        event_timeout: random.pick(&[None, Some(Duration::from_secs(100))]),
        comments: random.chance(50),
        retry_server_errors: random.chance(50),
        ending: random.pick(&[Ending::Strict, Ending::Lenient]),
        random: || JITTER.with_borrow_mut(|random| random.number() as u32),
        ..Options::default()
    };
    let history = history(&mut random);
    let faults = random.below(12);
    let server = Arc::new(Mutex::new(Server {
        random: Random::new(random.number()),
        history: history.clone(),
        options,
        faults,
        requests: Vec::new(),
        last_event_id: String::new(),
        expected: Expected::Close,
        repeated: 0,
        stream: Wire::default(),
        read: Arc::default(),
    }));
    let shared = Arc::clone(&server);
    let transport = Transport::new(move |request| {
        let reply = shared.lock().unwrap().reply(&request);
        Box::pin(async move {
            sleep(Duration::from_millis(10)).await;
            match reply {
                Some(reply) => reply,
                None => std::future::pending().await,
            }
        })
    });
    let request = Request::new(http::Method::GET, "http://example.org/".parse().unwrap());
    let mut source =
        EventSource::new(RequestTemplate::new(request).unwrap(), transport, options, String::new());

    let (mut received, mut due, mut restarts) = (Vec::new(), Vec::new(), 0);
    // Time since which the connection is open, and the number of its events.
    let (mut opened, mut events) = (None::<Instant>, 0);
    loop {
        // Dropping the future loses nothing.
        let message = if random.chance(20) {
            timeout(Duration::from_millis(random.number() % 2000), source.next()).await.ok()
        } else {
            Some(source.next().await)
        };
        {
            let mut server = server.lock().unwrap();
            let read = server.read.load(Ordering::Relaxed);
            let open_for = opened.map(|opened| opened.elapsed());
            // Offset up to which the stream is decoded.
            let mut decoded = read;
            match message {
                None => {}
                Some(Some(Ok(Message::Open { .. }))) => {
                    assert_eq!((source.state(), opened), (ReadyState::Open, None));
                    (opened, events) = (Some(Instant::now()), 0);
                    continue;
                }
                Some(Some(Ok(Message::Event(event)))) => {
                    decoded = read.min(server.stream.events[events]);
                    events += 1;
                    event.last_event_id().clone_into(&mut server.last_event_id);
                    let event_type = if event.event_type() == "delta" { "delta" } else { "message" };
                    received.push((event.last_event_id().to_owned(), event_type, event.into_data()));
                }
                Some(Some(Ok(Message::Comment(_)))) => {
                    assert!(options.comments);
                    continue;
                }
                Some(Some(Ok(Message::Reconnecting { error, delay }))) => {
                    let Expected::Retry(requested) = server.expected else { panic!("{error} is final") };
                    policy.record(open_for, server.retry(read));
                    let (least, most) = policy.bounds().expect("another attempt");
                    let is_expected = delay >= least.max(requested) && delay <= most.max(requested);
                    assert!(is_expected, "{delay:?} is not between {least:?} and {most:?}");
                    due.push((server.requests.len(), Instant::now() + delay));
                    opened = None;
                    continue;
                }
                Some(last) => {
                    policy.record(open_for, server.retry(read));
                    let is_closed = matches!(server.expected, Expected::Close);
                    assert!(last.is_some() || policy.max_attempts == Some(0), "an end without an error");
                    assert!(is_closed || policy.bounds().is_none(), "{last:?}");
                    break;
                }
            }
            if restarts < 3 && random.chance(3) {
                source.restart();
                restarts += 1;
                policy.record(open_for, server.retry(decoded));
                opened = None;
                // Ends the delay.
                if due.last().is_some_and(|(request, _)| *request == server.requests.len()) {
                    due.pop();
                }
            }
        }
        if random.chance(5) && source.state() == ReadyState::Open {
            sleep(Duration::from_millis(random.number() % 40_000)).await;
        }
    }
    assert_eq!(source.state(), ReadyState::Closed);
    assert!(source.next().await.is_none());

    let server = server.lock().unwrap();
    assert!(server.requests.len() <= 1 + due.len() + restarts, "a request without a reason");
    assert!(server.requests.len() <= faults + 2 + restarts, "more requests than replies with faults");
    for (request, due) in due {
        let sent = server.requests[request];
        assert!(sent >= due && sent <= due + Duration::from_millis(2), "request {request}");
    }
    let count = received.len();
    received.dedup();
    assert!(count - received.len() <= server.repeated, "repeated events");
    assert_eq!(received[..], history[..received.len()]);
}

#[test]
fn events_are_those_of_the_history_in_order_and_once() {
    simulate(60, |random| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            timeout(24 * HOUR, run(random)).await.expect("the client does not hang");
        });
    });
}
