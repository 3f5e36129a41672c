//! Extractors and responses in an axum router.

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Extension, Router};
use garde::Validate;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde::ser::{Error as _, Serialize, Serializer};
use serde::{Deserialize, Serialize as DeriveSerialize};
use tightwire_axum::{DEFAULT_BODY_LIMIT, Envelope, Json, MAX_REQUEST_ID, RequestId, RouterCodec, ValidJson};
use tightwire_json::{Codec, ErrorDetails as _, Limits, Value};
use tower::ServiceExt;

#[derive(Debug, Deserialize, DeriveSerialize, Validate)]
struct NewUser {
    #[garde(length(min = 2))]
    name: String,
    #[garde(range(min = 18))]
    age: u8,
}

struct Unencodable;

impl Serialize for Unencodable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("password=hunter2"))
    }
}

fn app() -> Router {
    Router::new()
        .route(
            "/users",
            post(async |id: RequestId, Json(user): Json<NewUser>| {
                Envelope::success(user).with_request_id(id)
            }),
        )
        .route("/valid", post(async |ValidJson(user): ValidJson<NewUser>| Json(user)))
        .route(
            "/small",
            post(async |Json(text): Json<String>| Json(text.len())).layer(DefaultBodyLimit::max(16)),
        )
        .route("/text", post(async |Json(text): Json<String>| Json(text.len())))
        .route("/optional", post(async |json: Option<Json<NewUser>>| Json(json.map(|json| json.age))))
        .route(
            "/optional-valid",
            post(async |json: Option<ValidJson<NewUser>>| Json(json.map(|json| json.age))),
        )
        .route("/broken", get(async |id: RequestId| Envelope::success(Unencodable).with_request_id(id)))
        .route("/broken-body", get(async || Json(Unencodable)))
        .route("/locked", get(async || Err::<Json<()>, _>(Envelope::error(423, 3002, "Resource locked"))))
}

/// Returns status, content type and body of a response.
async fn parts(response: Response<Body>) -> (u16, String, String) {
    let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, content_type, String::from_utf8(body.to_vec()).unwrap())
}

async fn send(request: Request<Body>) -> (u16, String) {
    send_to(app(), request).await
}

async fn send_to(app: Router, request: Request<Body>) -> (u16, String) {
    let (status, content_type, body) = parts(app.oneshot(request).await.unwrap()).await;
    assert_eq!(content_type, "application/json; charset=utf-8");
    (status, body)
}

async fn post_to(path: &str, content_type: &str, body: impl Into<Body>) -> (u16, String) {
    let request = Request::post(path).header("content-type", content_type).body(body.into()).unwrap();
    send(request).await
}

/// Returns the response with an envelope for an error.
fn error(status: u16, code: u16, message: &str) -> (u16, String) {
    (status, format!(r#"{{"code":{code},"http_code":{status},"message":"{message}"}}"#))
}

const JSON: &str = "application/json";
const ADA: &str = r#"{"name":"ada","age":36}"#;

#[tokio::test]
async fn json_is_extracted_and_an_envelope_is_returned() {
    let expected = r#"{"code":0,"http_code":200,"message":"success","data":{"name":"ada","age":36}}"#;
    for content_type in
        [JSON, "application/json; charset=utf-8", "application/vnd.api+json", "APPLICATION/JSON"]
    {
        assert_eq!(post_to("/users", content_type, ADA).await, (200, expected.to_owned()), "{content_type}");
    }
    assert_eq!(post_to("/valid", JSON, ADA).await, (200, ADA.to_owned()));
}

#[tokio::test]
async fn other_content_types_are_rejected() {
    let expected = error(415, 1006, "Unsupported media type");
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "text/json", "application/jsonx"]
    {
        assert_eq!(post_to("/users", content_type, ADA).await, expected, "{content_type}");
    }
    assert_eq!(send(Request::post("/users").body(ADA.into()).unwrap()).await, expected, "no content type");
}

#[tokio::test]
async fn an_empty_body_has_its_own_message() {
    for body in ["", " \r\n\t"] {
        let expected = error(400, 1001, "invalid request body: request body is empty");
        assert_eq!(post_to("/users", JSON, body).await, expected);
    }
}

#[tokio::test]
async fn a_body_must_be_one_document_of_the_type() {
    for body in [
        "{",
        "nul",
        r#"{"name":"ada","age":36}{"#,
        r#"{"name":"ada","age":36} trailing"#,
        r#"{"name":"ada","age":"36"}"#,
        r#"{"name":"ada"}"#,
        "\u{feff}{}",
    ] {
        let (status, response) = post_to("/users", JSON, body).await;
        assert_eq!(status, 400, "{body}");
        assert!(
            response.starts_with(r#"{"code":1001,"http_code":400,"message":"invalid request body: "#),
            "{body}: {response}"
        );
    }
    let (status, _) = post_to("/text", JSON, &b"\"\xff\""[..]).await;
    assert_eq!(status, 400, "the body is not UTF-8");
}

#[tokio::test]
async fn rejections_have_path_line_and_column() {
    for path in ["/users", "/valid", "/optional", "/optional-valid"] {
        for (body, message) in [
            (
                "{\"name\":\"ada\",\n \"age\":\"secret\"}",
                "age: expected an unsigned 8-bit integer, found a string (line 2, column 8)",
            ),
            ("{\"name\":\"ada\",\n \"age\":3,}", "comma before a closing bracket (line 2, column 10)"),
            ("{\"name\":\"ada", "name: unexpected end of the document (line 1, column 13)"),
        ] {
            let expected = error(400, 1001, &format!("invalid request body: {message}"));
            assert_eq!(post_to(path, JSON, body).await, expected, "{path}");
        }
    }
}

#[tokio::test]
async fn an_optional_body_is_none_without_a_content_type() {
    for path in ["/optional", "/optional-valid"] {
        assert_eq!(send(Request::post(path).body(ADA.into()).unwrap()).await, (200, "null".to_owned()));
        assert_eq!(post_to(path, JSON, ADA).await, (200, "36".to_owned()));
        assert_eq!(post_to(path, "text/plain", ADA).await, error(415, 1006, "Unsupported media type"));
        assert_eq!(
            post_to(path, JSON, "").await,
            error(400, 1001, "invalid request body: request body is empty")
        );
    }
}

#[derive(Clone)]
struct AppState {
    codec: Codec,
}

#[derive(Debug, Deserialize, DeriveSerialize, Validate)]
#[serde(transparent)]
struct Anything(#[garde(skip)] Value);

/// Returns routes for a router with any type of state.
fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route(
            "/json",
            post(async |RouterCodec(codec): RouterCodec, Json(value): Json<Value>| {
                Json(value).into_response_with(&codec)
            }),
        )
        .route("/valid", post(async |ValidJson(value): ValidJson<Anything>| Json(value)))
        .route("/optional", post(async |value: Option<Json<Value>>| Json(value.is_some())))
        .route(
            "/envelope",
            post(async |RouterCodec(codec): RouterCodec, Json(value): Json<Value>| {
                Envelope::success(value).into_response_with(&codec)
            }),
        )
        .route(
            "/broken",
            post(async |RouterCodec(codec): RouterCodec| Json(Unencodable).into_response_with(&codec)),
        )
}

#[tokio::test]
async fn a_router_has_a_codec() {
    let limits = Limits::new().max_depth(2).max_document(20).max_string(5);
    let state = AppState { codec: Codec::compat().with_limits(limits) };
    let with_codec: Router = routes().layer(Extension(state.codec)).with_state(state);
    let request = |path: &str, body: &str| {
        Request::post(path).header("content-type", JSON).body(Body::from(body.to_owned())).unwrap()
    };
    let text = r#"{"b":"<","a":1.0}"#;
    for (path, compat, standard) in [
        ("/json", r#"{"a":1,"b":"\u003c"}"#, r#"{"b":"<","a":1.0}"#),
        (
            "/envelope",
            r#"{"code":0,"http_code":200,"message":"success","data":{"a":1,"b":"\u003c"}}"#,
            r#"{"code":0,"http_code":200,"message":"success","data":{"b":"<","a":1.0}}"#,
        ),
        // `IntoResponse` does not know the codec.
        ("/valid", r#"{"b":"<","a":1.0}"#, r#"{"b":"<","a":1.0}"#),
        ("/optional", "true", "true"),
    ] {
        assert_eq!(
            send_to(with_codec.clone(), request(path, text)).await,
            (200, compat.to_owned()),
            "{path}"
        );
        assert_eq!(send_to(routes(), request(path, text)).await, (200, standard.to_owned()), "{path}");
        for (body, expected) in [
            (
                "[[[]]]",
                error(
                    400,
                    1001,
                    "invalid request body: [0][0]: the document is nested deeper than 2 levels (line 1, column 3)",
                ),
            ),
            (
                "[\"123456\"]",
                error(
                    400,
                    1001,
                    "invalid request body: [0]: the string is longer than 5 bytes (line 1, column 2)",
                ),
            ),
            ("[                    ]", error(413, 1005, "Request entity too large")),
        ] {
            assert_eq!(send_to(with_codec.clone(), request(path, body)).await, expected, "{path}");
            assert_eq!(send_to(routes(), request(path, body)).await.0, 200, "{path}");
        }
    }
    let failure = error(500, 7000, "Internal server error");
    assert_eq!(send_to(with_codec, request("/broken", "")).await, failure);
}

#[test]
fn the_wrapper_gives_access_to_the_value() {
    let mut json = Json::from(vec![1]);
    json.push(2);
    assert_eq!((json.len(), json.into_inner()), (2, vec![1, 2]));
    assert_eq!(Json::<Vec<u8>>::from_bytes(b"[1]").unwrap(), Json(vec![1]));
    assert!(Json::<Vec<u8>>::from_bytes(b" ").unwrap_err().is_empty());
    let rejection = Json::<Vec<u8>>::from_bytes(b"[true]").unwrap_err();
    let error = rejection.json_error().unwrap();
    assert_eq!((error.path().unwrap().to_string(), error.line(), error.column()), ("[0]".to_owned(), 1, 2));
    assert_eq!(rejection.to_envelope().message, format!("invalid request body: {error}"));
}

#[tokio::test]
async fn bodies_have_a_limit() {
    let rejected = error(413, 1005, "Request entity too large");
    let text = |len: usize| format!("\"{}\"", "a".repeat(len - 2));
    assert_eq!(post_to("/small", JSON, text(16)).await, (200, "14".to_owned()));
    assert_eq!(post_to("/small", JSON, text(17)).await, rejected);
    assert_eq!(
        post_to("/text", JSON, text(DEFAULT_BODY_LIMIT)).await,
        (200, (DEFAULT_BODY_LIMIT - 2).to_string())
    );
    assert_eq!(post_to("/text", JSON, text(DEFAULT_BODY_LIMIT + 1)).await, rejected);
}

#[tokio::test]
async fn truncated_bodies_are_client_errors() {
    let chunks = [Ok("{\"na"), Err(std::io::Error::other("reset"))];
    let body = Body::from_stream(futures_util::stream::iter(chunks));
    let expected = error(400, 1001, "invalid request body: request body cannot be read");
    assert_eq!(post_to("/users", JSON, body).await, expected);
}

#[tokio::test]
async fn validation_errors_are_listed() {
    let (status, response) = post_to("/valid", JSON, r#"{"name":"1","age":3}"#).await;
    assert_eq!(status, 400);
    assert_eq!(
        response,
        concat!(
            r#"{"code":1004,"http_code":400,"message":"age: lower than 18","data":{"errors":["#,
            r#"{"field":"age","message":"lower than 18"},"#,
            r#"{"field":"name","message":"length is lower than 2"}],"count":2}}"#
        )
    );
    let (status, response) = post_to("/valid", JSON, "").await;
    assert_eq!((status, response.contains("1001")), (400, true), "{response}");
}

#[tokio::test]
async fn responses_echo_the_request_id() {
    let with_id = |id: &str| {
        Request::post("/users")
            .header("x-request-id", id)
            .header("content-type", JSON)
            .body(ADA.into())
            .unwrap()
    };
    let (_, response) = send(with_id("req-1")).await;
    assert!(response.ends_with(r#","request_id":"req-1"}"#), "{response}");
    let longest = "a".repeat(MAX_REQUEST_ID);
    assert!(send(with_id(&longest)).await.1.contains(&longest));
    for invalid in [format!("{longest}a"), "a b".to_owned(), String::new()] {
        assert!(!send(with_id(&invalid)).await.1.contains("request_id"), "{invalid:?}");
    }
    let rejected = Request::post("/users").header("x-request-id", "req-2").body(Body::empty()).unwrap();
    assert!(send(rejected).await.1.ends_with(r#","request_id":"req-2"}"#));
}

#[tokio::test]
async fn values_that_cannot_be_encoded_are_internal_errors() {
    let request = Request::get("/broken").header("x-request-id", "req-3").body(Body::empty()).unwrap();
    assert_eq!(
        send(request).await,
        (
            500,
            r#"{"code":7000,"http_code":500,"message":"Internal server error","request_id":"req-3"}"#
                .to_owned()
        )
    );
    let response = send(Request::get("/broken-body").body(Body::empty()).unwrap()).await;
    assert_eq!(response, error(500, 7000, "Internal server error"));
}

#[tokio::test]
async fn an_error_envelope_is_a_response() {
    let response = send(Request::get("/locked").body(Body::empty()).unwrap()).await;
    assert_eq!(response, error(423, 3002, "Resource locked"));
}

#[tokio::test]
async fn an_invalid_status_becomes_500() {
    let response = Envelope::error(99, 1, "m").into_response();
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[tokio::test]
async fn rejections_implement_error() {
    let request = |body: Body| Request::post("/").header("content-type", JSON).body(body).unwrap();
    let failing = futures_util::stream::iter([Err::<&str, _>(std::io::Error::other("reset"))]);
    let rejection =
        Json::<NewUser>::from_request(request(Body::from_stream(failing)), &()).await.unwrap_err();
    assert!(
        rejection.is_io() && !rejection.is_empty() && !rejection.is_limit() && !rejection.is_media_type()
    );
    for (body, expected) in [
        ("", "request body is empty"),
        (r#"{"name":"ada","age":3}"#, "validation failed: age: lower than 18"),
    ] {
        let rejection = ValidJson::<NewUser>::from_request(request(body.into()), &()).await.unwrap_err();
        assert_eq!(rejection.to_string(), expected);
        assert!(std::error::Error::source(&rejection).is_none());
        assert!(rejection.json_error().is_none());
    }
}
