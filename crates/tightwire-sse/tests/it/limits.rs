//! Limits: oversized blocks, recovery, and independence of the chunks.

use std::ops::ControlFlow;

use tightwire_sse::{Config, Decoder, Overflow};

use crate::reference_decoder::decode_limited;

/// Returns the data of each event or the offset of each error. `entry_points` compares the other methods with this one.
fn run(config: Config, input: &[u8], chunk_size: usize) -> Vec<Result<String, Option<u64>>> {
    decode_limited(config, input.chunks(chunk_size))
}

#[test]
fn an_oversized_block_is_dropped_and_decoding_continues_after_its_empty_line() {
    let config = Config::new().max_event_size(16);
    let input =
        b"id: 1\ndata: ok\n\nid: 2\nretry: 9\ndata: 0123456789abcdef\nid: 3\n: c\ndata: x\n\ndata: after\n\n";
    for size in 1..=input.len() {
        let expected = vec![Ok("ok".to_owned()), Err(Some(31)), Ok("after".to_owned())];
        assert_eq!(run(config, input, size), expected, "{size}");
        let mut decoder = Decoder::with_config(config);
        for chunk in input.chunks(size) {
            decoder.feed(chunk, |_| ControlFlow::Continue(()));
        }
        assert_eq!(decoder.last_event_id(), "1", "an id of a dropped block is dropped with it");
        assert_eq!(decoder.reconnection_time().map(|time| time.as_millis()), Some(9));
    }
}

#[test]
fn the_limit_applies_to_the_sum_of_all_lines() {
    let config = Config::new().max_event_size(60);
    let input = "data: 0123456789\n".repeat(5) + "data: x\n\ndata: next\n\n";
    for size in [1, 3, 17, input.len()] {
        let found = run(config, input.as_bytes(), size);
        assert_eq!(found, [Err(Some(85)), Ok("next".to_owned())], "{size}");
    }
}

#[test]
fn terminate_ignores_further_input() {
    let config = Config::new().max_event_size(8).overflow(Overflow::Terminate);
    for size in [1, 4, 100] {
        let input = b"data: a\n\ndata: 0123456789\n\ndata: b\n\n";
        assert_eq!(run(config, input, size), [Ok("a".to_owned()), Err(Some(9))], "{size}");
    }
    let mut decoder = Decoder::with_config(config);
    decoder.feed(b"data: 0123456789\n\n", |_| ControlFlow::Continue(()));
    assert!(decoder.is_terminated());
    decoder.reconnect();
    assert!(!decoder.is_terminated());
    let mut chunk: &[u8] = b"data: a\n\n";
    assert_eq!(decoder.next(&mut chunk).unwrap().unwrap().data(), "a");
}

#[test]
fn replacement_characters_count_towards_the_limit() {
    let mut input = b"data: ".to_vec();
    input.extend([0xff; 20]);
    input.extend(b"\n\ndata: ok\n\n");
    for size in [1, 7, input.len()] {
        for (limit, first) in [(59, Err(Some(0))), (60, Ok("\u{fffd}".repeat(20)))] {
            let found = run(Config::new().max_event_size(limit), &input, size);
            assert_eq!(found, [first, Ok("ok".to_owned())]);
        }
    }
}

#[test]
fn unknown_fields_and_comments_have_no_limit() {
    let config = Config::new().max_event_size(32);
    let mut input = format!(": {}\n", "c".repeat(1000)).into_bytes();
    input.extend(format!("{}: y\n", "x".repeat(1000)).bytes());
    input.extend(format!("datax{}\n", "x".repeat(1000)).bytes());
    input.extend(b"data: ok\n\n");
    for size in [1, 7, input.len()] {
        assert_eq!(run(config, &input, size), [Ok("ok".to_owned())]);
    }
}

#[test]
fn a_comment_past_the_limit_is_skipped() {
    let config = Config::new().max_event_size(8);
    let mut decoder = Decoder::with_config(config);
    for mut chunk in b": 0123456789\n:short\n".chunks(3) {
        while let Some(item) = decoder.next_item(&mut chunk).unwrap() {
            assert_eq!(item, tightwire_sse::Item::Comment("short"));
        }
    }
}

#[test]
fn the_limit_applies_to_a_lenient_end() {
    let mut decoder = Decoder::with_config(Config::new().max_event_size(9));
    let mut chunk: &[u8] = b"data: a\ndata: b";
    assert!(decoder.next(&mut chunk).unwrap().is_none());
    assert_eq!(decoder.finish_lenient().unwrap().unwrap().data(), "a\nb");
    let mut chunk: &[u8] = b"data: a\nid:01234";
    assert!(decoder.next(&mut chunk).is_err_and(|error| error.is_limit()));
    assert!(decoder.finish_lenient().unwrap().is_none());
    let mut chunk: &[u8] = b"data: b\n\n";
    assert_eq!(decoder.next(&mut chunk).unwrap().unwrap().data(), "b");
}
