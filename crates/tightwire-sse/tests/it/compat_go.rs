//! The Go-compatible decoder: its deviations from the standard, one by one.
#![cfg(feature = "compat-go")]

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Read};

use tightwire_sse::compat::go::{Event, GoDecoder};

use crate::cases;

/// The decoder cases in which the Go decoder differs in type, data or id from the standard, by the first
/// deviation that explains it. Numbers are those of the module's documentation.
const DIFFERENCES: &[(u8, &[&str])] = &[
    (
        1,
        &[
            "nl-cr-1",
            "nl-cr-2",
            "nl-cr-3",
            "nl-cr-4",
            "nl-cr-5",
            "nl-cr-6",
            "nl-cr-7",
            "nl-mix-2",
            "nl-mix-5",
            "nl-mix-6",
            "nl-mix-7",
            "nl-mix-8",
            "nl-mix-9",
            "nl-eof-1",
            "nl-split-3",
            "nl-split-5",
            "nl-lead-2",
            "field-01",
            "comment-01",
            "comment-08",
        ],
    ),
    (2, &["bom-01", "bom-02", "bom-04", "bom-06", "bom-07", "bom-08", "bom-10", "bom-11", "bom-19"]),
    (
        3,
        &[
            "basic-09",
            "basic-22",
            "empty-02",
            "empty-03",
            "empty-05",
            "field-02",
            "field-03",
            "event-03",
            "nl-mix-1",
            "nl-split-4",
            "chunk-06",
        ],
    ),
    (4, &["empty-09", "empty-10", "empty-11", "empty-15", "id-17", "id-18", "nl-lf-7", "nl-crlf-7"]),
    (5, &["id-02", "id-03", "id-19", "empty-14"]),
    (6, &["id-07", "id-08", "id-09"]),
    (8, &["eof-02", "eof-03", "eof-07", "id-16", "llm-04"]),
    (
        9,
        &[
            "utf8-07", "utf8-08", "utf8-09", "utf8-10", "utf8-11", "utf8-12", "utf8-13", "utf8-14",
            "utf8-15", "utf8-16", "utf8-17", "utf8-18", "utf8-22", "utf8-23", "utf8-24", "utf8-25",
        ],
    ),
];

fn decode(input: &[u8]) -> Vec<Event> {
    let (events, end) = GoDecoder::new(input).decode_all();
    end.expect("a byte slice does not fail");
    events
}

fn event(event: &str, data: &str, id: &str) -> Event {
    Event { event: event.into(), data: data.into(), id: id.into(), retry: 0 }
}

#[test]
fn exactly_the_known_cases_differ() {
    let known: BTreeSet<String> =
        DIFFERENCES.iter().flat_map(|(_, ids)| ids.iter().map(|id| (*id).to_owned())).collect();
    let mut different = BTreeSet::new();
    for case in cases::load() {
        let found: Vec<Event> = decode(&case.input)
            .into_iter()
            .map(|mut event| {
                // Deviation 10 is one of presentation.
                if event.event.is_empty() {
                    event.event = b"message".to_vec();
                }
                event
            })
            .collect();
        let expected: Vec<Event> = case.events.iter().map(|e| event(&e.event_type, &e.data, &e.id)).collect();
        if found != expected {
            different.insert(case.id);
        }
    }
    assert_eq!(different, known);
}

#[test]
fn chunks_make_no_difference() {
    struct Chunks<'a>(VecDeque<&'a [u8]>);
    impl Read for Chunks<'_> {
        fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
            while self.0.front().is_some_and(|chunk| chunk.is_empty()) {
                self.0.pop_front();
            }
            self.0.front_mut().map_or(Ok(0), |chunk| chunk.read(target))
        }
    }
    for case in cases::load() {
        let whole = decode(&case.input);
        for chunks in case.chunkings() {
            let (events, end) = GoDecoder::new(Chunks(chunks.into())).decode_all();
            end.unwrap();
            assert_eq!(events, whole, "{}", case.id);
        }
    }
}

#[test]
fn deviation_1_cr_is_no_line_end() {
    assert_eq!(decode(b"data: a\r\rdata: b\r\n\r\n"), [event("", "a\r\rdata: b", "")]);
}

#[test]
fn deviation_2_a_byte_order_mark_hides_the_first_line() {
    assert_eq!(decode("\u{feff}data: a\ndata: b\n\n".as_bytes()), [event("", "b", "")]);
}

#[test]
fn deviation_3_lines_without_a_colon_are_ignored() {
    assert_eq!(decode(b"data\n\nevent: e\nevent\ndata: x\n\n"), [event("e", "x", "")]);
}

#[test]
fn deviation_4_type_or_id_alone_gives_an_event() {
    assert_eq!(decode(b"event: e\n\nid: 1\n\n: c\n\n\n"), [event("e", "", ""), event("", "", "1")]);
}

#[test]
fn deviation_5_ids_do_not_persist() {
    assert_eq!(decode(b"id: 1\ndata: a\n\ndata: b\n\n"), [event("", "a", "1"), event("", "b", "")]);
}

#[test]
fn deviation_6_ids_may_contain_nul() {
    assert_eq!(decode(b"id: 1\0\ndata: a\n\n"), [event("", "a", "1\0")]);
}

#[test]
fn deviation_7_retry_is_never_parsed() {
    assert_eq!(decode(b"retry: 500\ndata: a\n\nretry: 7\n\n"), [event("", "a", "")]);
}

#[test]
fn deviation_8_complete_data_lines_are_flushed_at_the_end() {
    assert_eq!(decode(b"data: a\ndata: b"), [event("", "a", "")]);
    assert_eq!(decode(b"data: a"), []);
    assert_eq!(decode(b"event: e\nid: 1\n"), []);
}

#[test]
fn deviation_9_bytes_are_passed_on() {
    let events = decode(b"event: \xff\ndata: a\xe2\x82\nid: \xc0\n\n");
    assert_eq!(events[0].data, b"a\xe2\x82");
    assert_eq!(events[0].data_lossy(), "a\u{fffd}");
    assert_eq!((events[0].event_lossy(), events[0].id_lossy()), ("\u{fffd}".into(), "\u{fffd}".into()));
}

#[test]
fn deviation_10_the_default_type_is_empty() {
    assert_eq!(decode(b"data: a\n\n")[0].event, b"");
}

#[test]
fn deviation_11_size_is_unlimited_on_demand() {
    let size = tightwire_sse::DEFAULT_MAX_EVENT_SIZE;
    let mut input = b"data: ".to_vec();
    input.resize(size + 7, b'x');
    input.extend_from_slice(b"\n\ndata: y\n\n");

    let mut decoder = GoDecoder::new(&input[..]).with_max_event_size(usize::MAX);
    assert_eq!(decoder.decode().unwrap().unwrap().data.len(), size + 1);
    assert_eq!(decoder.decode().unwrap().unwrap().data, b"y");

    let (events, end) = GoDecoder::new(&input[..]).decode_all();
    let error = end.unwrap_err();
    assert_eq!((events.len(), error.is_limit(), error.limit()), (0, true, Some(size)));
}

#[test]
fn the_limit_counts_the_whole_block_and_ends_the_decoding() {
    let input = b"data: 123\ndata: 456\n\ndata: 1\n\n";
    let mut decoder = GoDecoder::new(&input[..]).with_max_event_size(11);
    assert!(decoder.decode().unwrap_err().is_limit());
    assert_eq!(decoder.decode().unwrap(), None);
    let mut decoder = GoDecoder::new(&input[..]).with_max_event_size(12);
    assert_eq!(decoder.decode().unwrap(), Some(event("", "123\n456", "")));
}

#[test]
fn a_failed_read_loses_the_block_in_progress_and_nothing_else() {
    struct Failing(u8);
    impl Read for Failing {
        fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            let text: &[u8] = match self.0 {
                1 => b"data: a\n\ndata: lost\nda",
                2 => return Err(io::ErrorKind::Interrupted.into()),
                3 => return Err(io::ErrorKind::TimedOut.into()),
                4 => b"data: b\n\n",
                _ => b"",
            };
            target[..text.len()].copy_from_slice(text);
            Ok(text.len())
        }
    }
    let mut decoder = GoDecoder::new(Failing(0));
    let (events, end) = decoder.decode_all();
    assert_eq!(events, [event("", "a", "")]);
    assert!(end.unwrap_err().is_transport());
    let (events, end) = decoder.decode_all();
    assert_eq!((events, end.is_ok()), (vec![event("", "b", "")], true));
}

#[test]
fn accessors_answer_as_the_go_client_does() {
    let empty = event("error", "", "7");
    let error = empty.parse_json().unwrap_err();
    assert_eq!((error.to_string().as_str(), error.is_json()), ("event data is empty", true));
    assert!(empty.is_error() && !empty.is_done());
    let done = event("", "[DONE] extra", "");
    assert!(done.is_done() && !done.is_error());
    assert_eq!(done.parse_json().unwrap(), b"[DONE] extra");
}

#[test]
fn the_string_form_leaves_out_empty_parts() {
    assert_eq!(event("e", "a\nb", "7").to_string(), "event: e\nid: 7\ndata: a\ndata: b\n");
    assert_eq!(event("", "\n", "").to_string(), "data: \ndata: \n");
    assert_eq!(event("", "", "").to_string(), "");
    let raw = Event { data: b"\xff".to_vec(), ..Event::default() };
    assert_eq!((raw.to_bytes(), raw.to_string()), (b"data: \xff\n".to_vec(), "data: \u{fffd}\n".to_owned()));
}
