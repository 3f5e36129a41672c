//! Runs the modules `compat` and the crates that they replace on the same servers and chunks, and compares items, texts of
//! errors and requests. Differences that the documentation of a module lists are not part of the cases.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use reqwest_eventsource as replaced;

/// Items of a client, and the headers of its requests.
type Exchange = (Vec<String>, Vec<String>);

/// Defines a function that runs a case of `requests`, with the names of reqwest-eventsource in a module.
macro_rules! run_client {
    ($name:ident, $($module:ident)::+) => {
        fn $name(responses: &'static [&'static str]) -> Exchange {
            use std::time::Duration;

            use futures_util::StreamExt as _;
            use $($module)::+ as client;

            let (url, requests) = serve(responses);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let items = runtime.block_on(async {
                let mut source = client::EventSource::get(&url);
                source.set_retry_policy(Box::new(client::retry::Constant::new(Duration::from_millis(1), None)));
                let (mut items, mut opened) = (Vec::new(), 0);
                while let Some(item) = source.next().await {
                    items.push(match item {
                        Ok(client::Event::Open) => {
                            opened += 1;
                            "open".to_owned()
                        }
                        Ok(client::Event::Message(event)) => format!("{event:?}"),
                        Err(error) => {
                            let is_last = opened == responses.len();
                            if is_last {
                                source.close();
                            }
                            // The URL, and the text for a body that is cut off, are documented differences.
                            let text = error.to_string().replace(&format!(" for url ({url})"), "");
                            text.replace("request or response body error", "error decoding response body")
                        }
                    });
                    items.push(format!("{:?} {:?}", source.ready_state(), source.last_event_id()));
                }
                items
            });
            (items, requests.join().unwrap())
        }
    };
}

run_client!(ours, tightwire_sse::compat::reqwest_eventsource);
run_client!(original, replaced);

/// Starts a server that sends one response per connection, and returns its URL and the headers of the requests.
fn serve(responses: &'static [&'static str]) -> (String, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let serve = move |response: &&str| {
        let (mut socket, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        socket.write_all(response.as_bytes()).unwrap();
        let head = String::from_utf8(head).unwrap();
        // The features of reqwest, of which there are two versions, decide about compression.
        let is_other = |line: &&str| !line.starts_with("host:") && !line.starts_with("accept-encoding:");
        let mut lines: Vec<&str> = head.lines().filter(is_other).collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    (url, thread::spawn(move || responses.iter().map(serve).collect()))
}

#[test]
fn requests_items_and_errors_are_those_of_reqwest_eventsource() {
    let cases: &[&[&str]] = &[
        &[
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
             event: add\nid: 7\nretry: 5\ndata: a\ndata: b\n\n: comment\n\nid: 8\ndata\n\ndata: incomplete",
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nid: 9\ndata: c\n\n",
        ],
        &[
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99\r\n\r\nid: 1\ndata: a\n\ndata",
        ],
        &["HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n"],
        &["HTTP/1.1 404 Not Found\r\ncontent-type: text/event-stream\r\ncontent-length: 0\r\n\r\n"],
        &["HTTP/1.1 204 No Content\r\n\r\n"],
        &["HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 4\r\n\r\nbusy"],
        &["HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n"],
        &["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"],
    ];
    for case in cases {
        assert_eq!(ours(case), original(case), "{case:?}");
    }
}

/// Defines a function that decodes chunks, with the names of eventsource-stream in a module.
macro_rules! decode {
    ($name:ident, $($module:ident)::+) => {
        fn $name(chunks: &[Result<&'static str, &'static str>]) -> Vec<String> {
            use futures_util::{FutureExt as _, StreamExt as _, stream};
            use $($module)::+::Eventsource as _;

            let events = stream::iter(chunks.to_vec()).eventsource();
            let events = events.map(|event| match event {
                Ok(event) => format!("{event:?}"),
                Err(error) => error.to_string(),
            });
            events.collect().now_or_never().unwrap()
        }
    };
}

decode!(decode_ours, tightwire_sse::compat::eventsource_stream);
decode!(decode_original, eventsource_stream);

#[test]
fn events_and_errors_are_those_of_eventsource_stream() {
    let inputs = [
        "data: a\n\ndata: b\ndata:c\n\n",
        "event: add\nid: 1\nretry: 10\ndata: {\"ü\": 1}\n\nevent:\ndata: x\n\n",
        ": comment\n\ndata\n\ndata:\ndata\n\nid\ndata: x\n\n",
        "data: a\r\ndata: b\r\n\r\nid: 2\r\ndata:  c\r\n\r\n",
        "unknown: 1\nretry: x\nid: a\0b\ndata: x\n\ndata: incomplete",
        "id: 1\n\ndata: y\n\n\n\n\nevent: empty\n\ndata: z\n\n",
    ];
    for input in inputs {
        for size in [1, 3, 1000] {
            let mut chunks = Vec::new();
            let mut rest = input;
            while !rest.is_empty() {
                let end = (size.min(rest.len())..).find(|&end| rest.is_char_boundary(end)).unwrap();
                chunks.push(Ok(&rest[..end]));
                rest = &rest[end..];
            }
            assert_eq!(decode_ours(&chunks), decode_original(&chunks), "{input:?} in chunks of {size}");
            // An event is complete with its CR, which is a documented difference.
            let is_after_cr = |&at: &usize| at > 0 && chunks[at - 1].is_ok_and(|chunk| chunk.ends_with('\r'));
            let middle = (chunks.len() / 2..).find(|at| !is_after_cr(at)).unwrap();
            chunks.insert(middle, Err("broken"));
            assert_eq!(decode_ours(&chunks), decode_original(&chunks), "{input:?}, broken");
        }
    }
}
