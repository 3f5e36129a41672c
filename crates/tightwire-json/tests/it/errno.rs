//! Codes, predefined errors, definitions and the registry.
#![cfg(feature = "envelope")]

use std::borrow::Cow;
use std::error::Error;
use std::io;
use std::thread;

use tightwire_json::errno::{
    Category, Code, Definition, Errno, GrpcStatus, Language, Registry, codes, services,
};

/// The predefined errors: code, HTTP status, gRPC status, English text.
const TABLE: &[(i64, u16, &str, &str)] = &[
    (0, 200, "OK", "Success"),
    (1000, 400, "InvalidArgument", "Bad request"),
    (1001, 400, "InvalidArgument", "Invalid parameter"),
    (1002, 400, "InvalidArgument", "Missing required parameter"),
    (1003, 400, "InvalidArgument", "Invalid format"),
    (1004, 400, "InvalidArgument", "Validation failed"),
    (1005, 413, "InvalidArgument", "Request entity too large"),
    (1006, 415, "InvalidArgument", "Unsupported media type"),
    (2000, 401, "Unauthenticated", "Unauthorized"),
    (2001, 401, "Unauthenticated", "Invalid token"),
    (2002, 401, "Unauthenticated", "Token expired"),
    (2003, 401, "Unauthenticated", "Invalid credentials"),
    (2004, 401, "Unauthenticated", "Token revoked"),
    (2005, 401, "Unauthenticated", "Session expired"),
    (3000, 403, "PermissionDenied", "Forbidden"),
    (3001, 403, "PermissionDenied", "No permission"),
    (3002, 423, "PermissionDenied", "Resource locked"),
    (3003, 403, "PermissionDenied", "Account disabled"),
    (3004, 403, "PermissionDenied", "IP blocked"),
    (4000, 404, "NotFound", "Resource not found"),
    (4001, 404, "NotFound", "User not found"),
    (4002, 404, "NotFound", "Record not found"),
    (4003, 404, "NotFound", "File not found"),
    (4004, 404, "NotFound", "Route not found"),
    (5000, 409, "AlreadyExists", "Resource conflict"),
    (5001, 409, "AlreadyExists", "Resource already exists"),
    (5002, 409, "AlreadyExists", "Duplicate key"),
    (5003, 409, "AlreadyExists", "Version conflict"),
    (6000, 429, "ResourceExhausted", "Too many requests"),
    (6001, 429, "ResourceExhausted", "Rate limit exceeded"),
    (6002, 429, "ResourceExhausted", "Quota exceeded"),
    (7000, 500, "Internal", "Internal server error"),
    (7001, 500, "Unknown", "Unknown error"),
    (7002, 500, "Internal", "Service panic"),
    (7003, 501, "Unimplemented", "Not implemented"),
    (8000, 500, "Internal", "Database error"),
    (8001, 500, "Unavailable", "Database connection failed"),
    (8002, 500, "Internal", "Database query failed"),
    (8003, 500, "Internal", "Database transaction failed"),
    (8004, 500, "Internal", "Database deadlock"),
    (9000, 500, "Internal", "Cache error"),
    (9001, 500, "Unavailable", "Cache connection failed"),
    (9002, 500, "NotFound", "Cache miss"),
    (9003, 500, "NotFound", "Cache expired"),
    (10000, 502, "Unavailable", "Network error"),
    (10001, 503, "Unavailable", "Service unavailable"),
    (10002, 502, "Unavailable", "Connection refused"),
    (10003, 502, "Unavailable", "DNS resolution failed"),
    (11000, 504, "DeadlineExceeded", "Operation timeout"),
    (11001, 408, "DeadlineExceeded", "Request timeout"),
    (11002, 504, "DeadlineExceeded", "Gateway timeout"),
    (11003, 499, "Canceled", "Context canceled"),
    (12000, 500, "Internal", "Configuration error"),
    (12001, 500, "Internal", "Configuration not found"),
    (12002, 500, "Internal", "Invalid configuration"),
    (2_001_001, 400, "InvalidArgument", "Invalid request parameters"),
    (2_001_002, 400, "InvalidArgument", "Invalid URL format"),
    (2_001_003, 400, "InvalidArgument", "Invalid directory path"),
    (2_004_001, 404, "NotFound", "No results found"),
    (2_007_001, 500, "Internal", "Query failed"),
    (2_007_002, 500, "Internal", "Document indexing failed"),
    (2_007_003, 500, "Internal", "Document processing failed"),
    (2_007_004, 500, "FailedPrecondition", "Evaluator not initialized"),
    (2_007_005, 500, "Internal", "Statistics unavailable"),
    (2_010_001, 500, "Internal", "Document download failed"),
    (2_010_002, 503, "Unavailable", "RAG service unavailable"),
    (2_011_001, 408, "DeadlineExceeded", "Query timeout"),
];

#[test]
fn predefined_errors_are_those_of_the_table() {
    let found: Vec<_> = codes::ALL
        .iter()
        .map(|errno| {
            (
                errno.code().get(),
                errno.http_status(),
                errno.grpc_status().name(),
                errno.message(Language::English),
            )
        })
        .collect();
    assert_eq!(found, TABLE);
}

#[test]
fn every_predefined_error_speaks_chinese() {
    for errno in codes::ALL {
        let text = errno.message(Language::Chinese);
        assert!(text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{errno}: {text}");
    }
    assert_eq!(codes::NOT_FOUND.message(Language::Chinese), "资源不存在");
    assert_eq!(codes::INVALID_PARAMETER.message(Language::Chinese), "参数无效");
    assert_eq!(codes::SUCCESS.message(Language::Chinese), "成功");
}

#[test]
fn codes_come_apart_and_together() {
    const TIMEOUT: Option<Code> = Code::from_parts(20, 11, 1);
    assert_eq!(TIMEOUT, Some(Code::new(2_011_001)));
    assert_eq!(Code::new(2_011_001).parts(), (20, 11, 1));
    assert_eq!(Code::from_parts(99, 99, 999).map(Code::get), Some(9_999_999));
    for (service, category, sequence) in
        [(100, 0, 0), (0, 100, 0), (0, 0, 1000), (u32::MAX, u32::MAX, u32::MAX)]
    {
        assert_eq!(Code::from_parts(service, category, sequence), None);
    }
}

#[test]
fn parts_are_undone_by_composing() {
    for number in (0..10_000_000).step_by(997) {
        let code = Code::new(number);
        let parts =
            [code.service(), code.category(), code.sequence()].map(|part| u32::try_from(part).unwrap());
        assert_eq!(Code::from_parts(parts[0], parts[1], parts[2]), Some(code));
    }
}

#[test]
fn codes_tell_who_is_to_blame() {
    for (code, success, client, server) in [
        (0, true, false, false),
        (400, false, false, false),
        (1000, false, true, false),
        (6999, false, true, false),
        (7000, false, false, true),
        (12_999, false, false, true),
        (13_000, false, false, false),
        (2_010_002, false, false, true),
        (-1001, false, false, false),
        (i64::MIN, false, false, false),
    ] {
        let code = Code::new(code);
        assert_eq!(
            (code.is_success(), code.is_client_error(), code.is_server_error()),
            (success, client, server),
            "{code}"
        );
    }
}

#[test]
fn status_follows_from_the_category() {
    for (code, status) in [
        (0, 200),
        (400, 500),
        (1999, 400),
        (2999, 401),
        (3999, 403),
        (4999, 404),
        (5999, 409),
        (6999, 429),
        (7999, 500),
        (8999, 500),
        (9999, 500),
        (10_999, 503),
        (11_999, 504),
        (12_999, 500),
        (13_999, 500),
        (9_904_999, 404),
        (-4001, 500),
        (i64::MIN, 500),
        (i64::MAX, 500),
    ] {
        assert_eq!(Code::new(code).http_status(), status, "{code}");
        assert_eq!(Registry::new().http_status(Code::new(code)), status, "{code}");
    }
}

#[test]
fn registered_status_comes_before_the_category() {
    let registry = Registry::new();
    for (code, http, ..) in TABLE {
        assert_eq!(registry.http_status(Code::new(*code)), *http, "{code}");
    }
}

#[test]
fn categories_have_numbers_and_statuses() {
    let grpc: Vec<_> = Category::ALL.iter().map(|category| category.grpc_status().name()).collect();
    assert_eq!(
        grpc,
        [
            "InvalidArgument",
            "Unauthenticated",
            "PermissionDenied",
            "NotFound",
            "AlreadyExists",
            "ResourceExhausted",
            "Internal",
            "Internal",
            "Internal",
            "Unavailable",
            "DeadlineExceeded",
            "Internal"
        ]
    );
    for &category in Category::ALL {
        assert_eq!(Category::from_number(category.number().into()), Some(category));
    }
    for number in [i64::MIN, -1, 0, 13, i64::MAX] {
        assert_eq!(Category::from_number(number), None);
    }
    assert_eq!(GrpcStatus::Unauthenticated as u32, 16);
}

#[test]
fn texts_for_logs() {
    let plain = codes::NOT_FOUND;
    assert_eq!(plain.to_string(), "errno 4000: Resource not found");
    assert_eq!(
        plain.verbose().to_string(),
        "errno 4000 [HTTP 404, gRPC NotFound]: Resource not found (资源不存在)"
    );
    let caused = plain.with_cause("no row");
    assert_eq!(caused.to_string(), "errno 4000: Resource not found: no row");
    assert_eq!(
        caused.with_message_zh("").verbose().to_string(),
        "errno 4000 [HTTP 404, gRPC NotFound]: Resource not found\ncaused by: no row"
    );
}

#[test]
fn changed_copies_leave_the_original_alone() {
    let changed = codes::CONFLICT.with_messages("taken", "已占用").with_cause("index");
    assert_eq!(changed.message(Language::English), "taken");
    assert_eq!(changed.message(Language::Chinese), "已占用");
    assert_eq!(&changed, codes::CONFLICT);
    assert_eq!(codes::CONFLICT.message(Language::English), "Resource conflict");
    assert!(codes::CONFLICT.cause().is_none());

    let renamed = codes::CONFLICT.with_message("taken");
    assert_eq!(renamed.message(Language::Chinese), "资源冲突");
    assert_ne!(codes::CONFLICT, codes::ALREADY_EXISTS);
}

#[test]
fn english_stands_in_for_missing_chinese() {
    let errno = codes::CONFLICT.with_message_zh("");
    assert_eq!(errno.message(Language::Chinese), "Resource conflict");
}

#[test]
fn wire_form_has_no_statuses_and_no_cause() {
    let caused = codes::USER_NOT_FOUND.with_cause("password=hunter2");
    assert_eq!(
        tightwire_json::to_string(&caused).unwrap(),
        r#"{"code":4001,"message":"User not found","message_zh":"用户不存在"}"#
    );
    assert_eq!(
        tightwire_json::to_string(&caused.with_message_zh("")).unwrap(),
        r#"{"code":4001,"message":"User not found"}"#
    );
}

#[derive(Debug)]
struct Wrapped(Errno);

impl std::fmt::Display for Wrapped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("while loading")
    }
}

impl Error for Wrapped {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn any_error_has_a_place() {
    let passed = Errno::from_error(codes::TIMEOUT.clone());
    assert_eq!((&passed, passed.cause().is_none()), (codes::TIMEOUT, true));

    let foreign = Errno::from_error(io::Error::other("disk is full"));
    assert_eq!(&foreign, codes::INTERNAL);
    assert_eq!(foreign.cause().unwrap().to_string(), "disk is full");
    assert_eq!(foreign.message(Language::English), "Internal server error");

    let wrapped = Wrapped(codes::TIMEOUT.clone());
    assert_eq!(Errno::code_of(&wrapped), Some(Code::new(11_000)));
    assert!(Errno::is_code(&wrapped, codes::TIMEOUT.code()));
    assert!(!Errno::is_code(&wrapped, codes::INTERNAL.code()));
    assert_eq!(Errno::code_of(&io::Error::other("x")), None);
}

#[test]
fn chain_goes_on_beneath_the_cause() {
    let errno = codes::INTERNAL.with_cause(Wrapped(codes::TIMEOUT.clone()));
    assert_eq!(errno.to_string(), "errno 7000: Internal server error: while loading");
    assert_eq!(errno.source().unwrap().to_string(), "errno 11000: Operation timeout");
}

#[test]
fn definitions_are_checked() {
    let errno = Definition::new(21, Category::Conflict, 7).message("Twice").build().unwrap();
    assert_eq!(
        (errno.code().get(), errno.http_status(), errno.grpc_status()),
        (2_105_007, 409, GrpcStatus::AlreadyExists)
    );

    let own = Definition::with_category_number(1, 42, 3).message("Own").build().unwrap();
    assert_eq!((own.code().get(), own.http_status(), own.grpc_status()), (142_003, 500, GrpcStatus::Unknown));
    let known = Definition::with_category_number(1, 4, 3).message("Known").build().unwrap();
    assert_eq!((known.http_status(), known.grpc_status()), (404, GrpcStatus::NotFound));

    let refused = |definition: Definition| definition.build().unwrap_err();
    let named = |service, sequence| Definition::new(service, Category::Auth, sequence).message("x");
    assert!(refused(named(100, 1)).is_out_of_range());
    assert!(refused(named(1, 1000)).is_out_of_range());
    assert!(refused(Definition::with_category_number(1, 100, 1).message("x")).is_out_of_range());
    assert!(refused(named(1, 1).http_status(42)).is_out_of_range());
    assert!(refused(Definition::new(1, Category::Auth, 1).message_zh("仅中文")).is_missing_message());
}

#[test]
fn registering_twice_is_an_error_value() {
    let registry = Registry::new();
    let before = registry.len();
    let errno = Definition::new(30, Category::Internal, 1).message("First").build().unwrap();
    registry.register(errno.clone()).unwrap();
    let refused = registry.register(errno.with_message("Second")).unwrap_err();
    assert!(refused.is_duplicate());
    assert_eq!(refused.to_string(), "error 3007001 is registered already");
    assert!(registry.register(codes::BAD_REQUEST.clone()).unwrap_err().is_duplicate());
    assert_eq!(registry.lookup(errno.code()).unwrap().message(Language::English), "First");
    assert_eq!(registry.len(), before + 1);
    assert!(registry.lookup(Code::new(3_007_002)).is_none());
    assert!(registry.errors().is_sorted_by_key(Errno::code));
}

#[test]
fn services_have_one_name() {
    let registry = Registry::new();
    assert_eq!(registry.service_name(services::RAG), Some(Cow::Borrowed("rag")));
    assert_eq!(registry.service_name(21), None);
    registry.register_service(21, "search").unwrap();
    registry.register_service(21, "search").unwrap();
    assert!(registry.register_service(21, "find").unwrap_err().is_duplicate());
    assert!(registry.register_service(services::USER, "people").unwrap_err().is_duplicate());
    assert!(registry.register_service(100, "x").unwrap_err().is_out_of_range());
    assert_eq!(registry.service_name(21).unwrap(), "search");
}

#[test]
fn threads_share_a_registry() {
    let registry = Registry::new();
    let registered: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    (0..200)
                        .filter(|&sequence| {
                            let definition = Definition::new(31, Category::Cache, sequence).message("x");
                            registry.register(definition.build().unwrap()).is_ok()
                        })
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(registered, 200, "each code is registered by exactly one thread");
}

#[test]
fn languages_are_recognised() {
    for tag in ["zh", "zh-CN", "zh_CN"] {
        assert_eq!(Language::from_tag(tag), Language::Chinese);
    }
    for tag in ["en", "", "ZH", "zh-TW", "fr"] {
        assert_eq!(Language::from_tag(tag), Language::English, "{tag}");
    }
    for header in ["zh", "zh-TW,en", "ZH-cn;q=0.8", " zh;q=1, en"] {
        assert_eq!(Language::from_accept_language(header), Language::Chinese, "{header}");
    }
    for header in ["en,zh", "", "*", "z", "fr,zh"] {
        assert_eq!(Language::from_accept_language(header), Language::English, "{header}");
    }
    assert_eq!((Language::English.tag(), Language::Chinese.tag()), ("en", "zh"));
}
