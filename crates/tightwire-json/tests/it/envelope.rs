//! Envelopes: their bytes, their statuses, and how they are made.
#![cfg(feature = "envelope")]

use std::time::{SystemTime, UNIX_EPOCH};

use tightwire_json::Value;
use tightwire_json::envelope::{PageData, Responder, Response};
use tightwire_json::errno::{Category, Code, Definition, Errno, Language, Registry, codes};

fn text(value: &impl serde::Serialize) -> String {
    tightwire_json::to_string(value).unwrap()
}

#[test]
fn fields_come_in_order_and_empty_ones_stay_out() {
    let full = Response::success(7).with_request_id("req-1").with_timestamp(1_703_001_234_567);
    assert_eq!(
        text(&full),
        r#"{"code":0,"http_code":200,"message":"success","data":7,"request_id":"req-1","timestamp":1703001234567}"#
    );
    let bare = Response::<Value> {
        code: Code::SUCCESS,
        http_code: 0,
        message: "".into(),
        data: None,
        request_id: "".into(),
        timestamp: 0,
    };
    assert_eq!(text(&bare), r#"{"code":0,"message":""}"#);
    assert_eq!(text(&Response::empty()), r#"{"code":0,"http_code":200,"message":"success"}"#);
}

#[test]
fn envelopes_are_read_back() {
    let full = Response::success(vec![1, 2]).with_request_id("r").with_timestamp(5);
    assert_eq!(tightwire_json::from_str::<Response<Vec<i32>>>(&text(&full)).unwrap(), full);
    let bare: Response<Vec<i32>> = tightwire_json::from_str(r#"{"code":4001,"message":"m"}"#).unwrap();
    assert_eq!((bare.http_code, bare.data, &*bare.request_id, bare.timestamp), (0, None, "", 0));
    assert!(
        tightwire_json::from_str::<Response<Value>>(r#"{"message":"m"}"#).is_err(),
        "the code is always there"
    );
    assert!(
        tightwire_json::from_str::<Response<Value>>(r#"{"code":1}"#).is_err(),
        "the message is always there"
    );
}

#[test]
fn constructors() {
    assert_eq!(
        text(&Response::success_with_message("created", "x")),
        r#"{"code":0,"http_code":200,"message":"created","data":"x"}"#
    );
    assert_eq!(
        text(&Response::error(codes::RESOURCE_LOCKED)),
        r#"{"code":3002,"http_code":423,"message":"Resource locked"}"#
    );
    assert_eq!(
        text(&Response::error_in(codes::NOT_FOUND, Language::Chinese)),
        r#"{"code":4000,"http_code":404,"message":"资源不存在"}"#
    );
    assert_eq!(
        text(&Response::with_code(400, "odd")),
        r#"{"code":400,"http_code":500,"message":"odd"}"#,
        "400 is sequence 400 of no category"
    );
    assert_eq!(
        text(&Response::with_code_and_data(5001, "taken", ["name"])),
        r#"{"code":5001,"http_code":409,"message":"taken","data":["name"]}"#
    );
}

#[test]
fn results_become_envelopes() {
    let found: Response<i32> = Ok(1).into();
    assert!(found.is_success());
    let missing: Response<i32> = Response::from_result(Err(codes::USER_NOT_FOUND.clone()));
    assert_eq!((missing.code.get(), missing.http_status(), missing.data), (4001, 404, None));
}

#[test]
fn status_is_the_set_one_or_follows_from_the_code() {
    let of = |code: i64, http_code: u16| Response::<()> { http_code, ..Response::with_code(code, "m") };
    assert_eq!(of(4001, 418).http_status(), 418);
    assert_eq!(of(0, 0).http_status(), 200);
    assert_eq!(of(11_003, 0).http_status(), 499, "registered");
    assert_eq!(of(4999, 0).http_status(), 404, "by category");
    assert_eq!(of(-7, 0).http_status(), 500);

    let own = Definition::new(33, Category::Request, 1).http_status(422).message("Own").build().unwrap();
    let code = own.code();
    assert_eq!(Response::with_code(code, "m").http_code, 400);
    Registry::global().register(own).unwrap();
    assert_eq!(Response::with_code(code, "m").http_code, 422);
}

#[test]
fn pages_are_counted() {
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
        assert_eq!(PageData::new((), total, 1, size).total_pages, pages, "{total} by {size}");
    }
    assert_eq!(
        text(&Response::page(PageData::new([1, 2], 3, 1, 2))),
        r#"{"code":0,"http_code":200,"message":"success","data":{"list":[1,2],"total":3,"page":1,"page_size":2,"total_pages":2}}"#
    );
    let empty: [u8; 0] = [];
    assert_eq!(
        text(&PageData::new(&empty[..], 0, 1, 0)),
        r#"{"list":[],"total":0,"page":1,"page_size":0,"total_pages":0}"#
    );
}

#[test]
fn current_time_is_that_of_the_clock() {
    let milliseconds =
        || i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let stamped = Response::success(()).with_current_timestamp().timestamp;
    // The clock may be set meanwhile. A day is far less than a wrong unit or epoch would make.
    const DAY: u64 = 24 * 60 * 60 * 1000;
    assert!(stamped.abs_diff(milliseconds()) < DAY);
}

#[test]
fn responder_marks_every_answer() {
    let responder = Responder::new().request_id("req-9").language(Language::Chinese).timestamps();
    let marked = |id: &str, timestamp: i64| id == "req-9" && timestamp > 0;
    let ok = responder.ok(1);
    assert!(marked(&ok.request_id, ok.timestamp) && ok.is_success());
    let page = responder.page_ok(vec![1], 1, 1, 1);
    assert!(marked(&page.request_id, page.timestamp));
    let failed = responder.fail(codes::INVALID_PARAMETER);
    assert!(marked(&failed.request_id, failed.timestamp));
    assert_eq!(failed.message, "参数无效");
    assert_eq!(responder.fail_in(codes::INVALID_PARAMETER, Language::English).message, "Invalid parameter");
    assert_eq!(responder.fail_with_code(9002, "cold").http_code, 500);
    assert_eq!(responder.ok_with_message("made", ()).message, "made");
    assert_eq!(text(&Responder::new().request_id("").ok(1)), text(&Response::success(1)));
}

#[test]
fn causes_stay_in_the_service() {
    let responder = Responder::new();
    let secret = std::io::Error::other("password=hunter2");
    let failed = responder.fail_with_error(secret);
    assert_eq!(text(&failed), r#"{"code":7000,"http_code":500,"message":"Internal server error"}"#);

    let errno = codes::DATABASE_QUERY.with_cause("password=hunter2");
    let failed: Response<i32> = responder.result(Err::<i32, Errno>(errno));
    assert_eq!(text(&failed), r#"{"code":8002,"http_code":500,"message":"Database query failed"}"#);
    assert_eq!(responder.result(Ok::<i32, Errno>(3)).data, Some(3));
}
