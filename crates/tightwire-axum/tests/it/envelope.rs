//! Envelopes: encoding, status and constructors.

use std::time::{SystemTime, UNIX_EPOCH};

use tightwire_axum::{Envelope, Page};
use tightwire_json::{Value, from_str, to_string};

fn text(value: &impl serde::Serialize) -> String {
    to_string(value).unwrap()
}

#[test]
fn fields_are_encoded_in_order_and_empty_ones_are_omitted() {
    let full = Envelope::success(7).with_request_id("req-1").with_timestamp(1_703_001_234_567);
    assert_eq!(
        text(&full),
        r#"{"code":0,"http_code":200,"message":"success","data":7,"request_id":"req-1","timestamp":1703001234567}"#
    );
    let bare = Envelope::<Value> {
        code: 0,
        http_code: 0,
        message: "".into(),
        data: None,
        request_id: "".into(),
        timestamp: 0,
    };
    assert_eq!(text(&bare), r#"{"code":0,"message":""}"#);
    assert_eq!(text(&Envelope::empty()), r#"{"code":0,"http_code":200,"message":"success"}"#);
    assert_eq!(
        text(&Envelope::success("x").with_message("created")),
        r#"{"code":0,"http_code":200,"message":"created","data":"x"}"#
    );
    assert_eq!(
        text(&Envelope::error(423, 3002, "locked")),
        r#"{"code":3002,"http_code":423,"message":"locked"}"#
    );
    assert_eq!(
        text(&Envelope::error_with_data(409, 5001, "taken", ["name"])),
        r#"{"code":5001,"http_code":409,"message":"taken","data":["name"]}"#
    );
}

#[test]
fn envelopes_round_trip() {
    let full = Envelope::success(vec![1, 2]).with_request_id("r").with_timestamp(5);
    assert_eq!(from_str::<Envelope<Vec<i32>>>(&text(&full)).unwrap(), full);
    let bare: Envelope<Vec<i32>> = from_str(r#"{"code":4001,"message":"m"}"#).unwrap();
    assert_eq!((bare.http_code, bare.data, &*bare.request_id, bare.timestamp), (0, None, "", 0));
    assert!(from_str::<Envelope<Value>>(r#"{"message":"m"}"#).is_err(), "code is required");
    assert!(from_str::<Envelope<Value>>(r#"{"code":1}"#).is_err(), "message is required");
}

#[test]
fn the_status_is_the_http_code_or_follows_from_the_code() {
    assert_eq!(Envelope::error(418, 1, "m").http_status(), 418);
    assert_eq!(Envelope::error(0, 1, "m").http_status(), 500);
    assert_eq!(Envelope::error(0, 0, "m").http_status(), 200);
}

#[test]
fn the_number_of_pages_is_rounded_up() {
    for (total, size, pages) in [
        (0, 20, 0),
        (1, 20, 1),
        (20, 20, 1),
        (21, 20, 2),
        (200, 20, 10),
        (5, 0, 0),
        (0, 0, 0),
        (u64::MAX, 1, u64::MAX),
        (u64::MAX, 2, 1 << 63),
    ] {
        assert_eq!(Page::new((), total, 1, size).total_pages, pages, "{total} by {size}");
    }
    let empty: [u8; 0] = [];
    assert_eq!(
        text(&Page::new(&empty[..], 0, 1, 0)),
        r#"{"list":[],"total":0,"page":1,"page_size":0,"total_pages":0}"#
    );
}

#[test]
fn the_current_timestamp_is_in_milliseconds() {
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let timestamp = Envelope::success(()).with_current_timestamp().timestamp;
    // The clock may be set during the test. A wrong unit or epoch differs by more than a day.
    const DAY: u64 = 24 * 60 * 60 * 1000;
    assert!(timestamp.abs_diff(now) < DAY);
}
