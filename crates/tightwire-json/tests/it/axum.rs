//! Extractors and responses behind an axum router.
#![cfg(all(feature = "axum", feature = "validation"))]

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use garde::Validate;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use serde::ser::{Error as _, Serialize, Serializer};
use serde::{Deserialize, Serialize as DeriveSerialize};
use tightwire_json::axum::{
    DEFAULT_BODY_LIMIT, Envelope, Json, MAX_REQUEST_ID, RequestContext, ValidJson, not_found,
};
use tightwire_json::errno::{Errno, Language, codes};
use tightwire_json::validation::rules;
use tower::ServiceExt;

#[derive(Debug, Deserialize, DeriveSerialize, Validate)]
struct NewUser {
    #[garde(custom(rules::username))]
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
            post(async |context: RequestContext, Json(user): Json<NewUser>| {
                Envelope(context.responder().ok(user))
            }),
        )
        .route("/valid", post(async |ValidJson(user): ValidJson<NewUser>| Json(user)))
        .route(
            "/small",
            post(async |Json(text): Json<String>| Json(text.len())).layer(DefaultBodyLimit::max(16)),
        )
        .route("/text", post(async |Json(text): Json<String>| Json(text.len())))
        .route("/broken", get(async |context: RequestContext| Envelope(context.responder().ok(Unencodable))))
        .route("/broken-body", get(async || Json(Unencodable)))
        .route("/errno", get(async || Err::<Json<()>, Errno>(codes::RESOURCE_LOCKED.with_cause("secret"))))
        .fallback(not_found)
}

/// Status, content type and body of an answer.
async fn parts(response: Response<Body>) -> (u16, String, String) {
    let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, content_type, String::from_utf8(body.to_vec()).unwrap())
}

async fn send(request: Request<Body>) -> (u16, String) {
    let (status, content_type, body) = parts(app().oneshot(request).await.unwrap()).await;
    assert_eq!(content_type, "application/json; charset=utf-8");
    (status, body)
}

async fn post_to(path: &str, content_type: &str, body: impl Into<Body>) -> (u16, String) {
    let request = Request::post(path).header("content-type", content_type).body(body.into()).unwrap();
    send(request).await
}

const JSON: &str = "application/json";
const ADA: &str = r#"{"name":"ada","age":36}"#;

#[tokio::test]
async fn json_goes_in_and_an_envelope_comes_out() {
    let expected = r#"{"code":0,"http_code":200,"message":"success","data":{"name":"ada","age":36}}"#;
    for content_type in
        [JSON, "application/json; charset=utf-8", "application/vnd.api+json", "APPLICATION/JSON"]
    {
        assert_eq!(post_to("/users", content_type, ADA).await, (200, expected.to_owned()), "{content_type}");
    }
    assert_eq!(post_to("/valid", JSON, ADA).await, (200, ADA.to_owned()));
}

#[tokio::test]
async fn other_content_types_are_refused() {
    let expected = (415, r#"{"code":1006,"http_code":415,"message":"Unsupported media type"}"#.to_owned());
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "text/json", "application/jsonx"]
    {
        assert_eq!(post_to("/users", content_type, ADA).await, expected, "{content_type}");
    }
    assert_eq!(send(Request::post("/users").body(ADA.into()).unwrap()).await, expected, "no content type");
}

#[tokio::test]
async fn empty_bodies_are_named() {
    for body in ["", " \r\n\t"] {
        assert_eq!(
            post_to("/users", JSON, body).await,
            (
                400,
                r#"{"code":1001,"http_code":400,"message":"invalid request body: request body is empty"}"#
                    .to_owned()
            )
        );
    }
}

#[tokio::test]
async fn bodies_hold_one_document_of_the_type() {
    for body in [
        "{",
        "nul",
        r#"{"name":"ada","age":36}{"#,
        r#"{"name":"ada","age":36} trailing"#,
        r#"{"name":"ada","age":"36"}"#,
        r#"{"name":"ada"}"#,
        "\u{feff}{}",
    ] {
        let (status, answer) = post_to("/users", JSON, body).await;
        assert_eq!(status, 400, "{body}");
        assert!(
            answer.starts_with(r#"{"code":1001,"http_code":400,"message":"invalid request body: "#),
            "{body}: {answer}"
        );
    }
    let (status, _) = post_to("/text", JSON, &b"\"\xff\""[..]).await;
    assert_eq!(status, 400, "the body is not UTF-8");
}

#[tokio::test]
async fn bodies_have_a_limit() {
    let refused = (413, r#"{"code":1005,"http_code":413,"message":"Request entity too large"}"#.to_owned());
    let text = |len: usize| format!("\"{}\"", "a".repeat(len - 2));
    assert_eq!(post_to("/small", JSON, text(16)).await, (200, "14".to_owned()));
    assert_eq!(post_to("/small", JSON, text(17)).await, refused);
    assert_eq!(
        post_to("/text", JSON, text(DEFAULT_BODY_LIMIT)).await,
        (200, (DEFAULT_BODY_LIMIT - 2).to_string())
    );
    assert_eq!(post_to("/text", JSON, text(DEFAULT_BODY_LIMIT + 1)).await, refused);
}

#[tokio::test]
async fn broken_off_bodies_are_the_callers_fault() {
    let chunks = [Ok("{\"na"), Err(std::io::Error::other("reset"))];
    let body = Body::from_stream(futures_util::stream::iter(chunks));
    let (status, answer) = post_to("/users", JSON, body).await;
    assert_eq!(status, 400);
    assert_eq!(
        answer,
        r#"{"code":1001,"http_code":400,"message":"invalid request body: request body cannot be read"}"#
    );
}

#[tokio::test]
async fn rejected_fields_are_listed_in_the_language_of_the_request() {
    let (status, answer) = post_to("/valid", JSON, r#"{"name":"1","age":3}"#).await;
    assert_eq!(status, 400);
    assert_eq!(
        answer,
        concat!(
            r#"{"code":1004,"http_code":400,"message":"name must start with a letter and contain only letters, "#,
            r#"numbers, and underscores (3-32 characters)","data":{"errors":[{"field":"name","tag":"username","#,
            r#""message":"name must start with a letter and contain only letters, numbers, and underscores "#,
            r#"(3-32 characters)"},{"field":"age","tag":"gte","param":"18","message":"age must be 18 or greater"}],"#,
            r#""count":2}}"#
        )
    );
    let (_, answer) = post_to("/valid?lang=zh", JSON, r#"{"name":"ada","age":3}"#).await;
    assert!(answer.contains(r#""message":"age不能小于 18""#), "{answer}");
    let (status, answer) = post_to("/valid", JSON, "").await;
    assert_eq!((status, answer.contains("1001")), (400, true), "{answer}");
}

#[tokio::test]
async fn answers_carry_the_request_id() {
    let with_id = |id: &str| {
        Request::post("/users")
            .header("x-request-id", id)
            .header("content-type", JSON)
            .body(ADA.into())
            .unwrap()
    };
    let (_, answer) = send(with_id("req-1")).await;
    assert!(answer.ends_with(r#","request_id":"req-1"}"#), "{answer}");
    let longest = "a".repeat(MAX_REQUEST_ID);
    assert!(send(with_id(&longest)).await.1.contains(&longest));
    for dropped in [format!("{longest}a"), "a b".to_owned(), String::new()] {
        assert!(!send(with_id(&dropped)).await.1.contains("request_id"), "{dropped:?}");
    }
    let refused = Request::post("/users").header("x-request-id", "req-2").body(Body::empty()).unwrap();
    assert!(send(refused).await.1.ends_with(r#","request_id":"req-2"}"#));
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
    assert_eq!(
        send(Request::get("/broken-body").body(Body::empty()).unwrap()).await,
        (500, r#"{"code":7000,"http_code":500,"message":"Internal server error"}"#.to_owned())
    );
}

#[tokio::test]
async fn errors_are_responses() {
    assert_eq!(
        send(Request::get("/errno").body(Body::empty()).unwrap()).await,
        (423, r#"{"code":3002,"http_code":423,"message":"Resource locked"}"#.to_owned())
    );
}

#[tokio::test]
async fn unknown_routes() {
    let request = Request::get("/nowhere").body(Body::empty()).unwrap();
    assert_eq!(send(request).await, (404, r#"{"code":4004,"message":"Route not found"}"#.to_owned()));
}

#[tokio::test]
async fn odd_statuses_are_answered_with_500() {
    let mut response = tightwire_json::envelope::Response::empty();
    response.http_code = 99;
    let answer = Envelope(response).into_response();
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
}

#[test]
fn language_of_a_request() {
    let language = |uri: &str, header: Option<&str>, extension: Option<Language>| {
        let mut request = Request::get(uri);
        if let Some(header) = header {
            request = request.header("accept-language", header);
        }
        if let Some(extension) = extension {
            request = request.extension(extension);
        }
        RequestContext::from_parts(&request.body(()).unwrap().into_parts().0).language
    };
    let (english, chinese) = (Language::English, Language::Chinese);
    assert_eq!(language("/", None, None), english);
    assert_eq!(language("/", Some("zh-TW,en"), None), chinese);
    assert_eq!(language("/", Some("en-GB,zh"), None), english);
    assert_eq!(language("/?a=b&lang=zh_CN", Some("en"), None), chinese);
    assert_eq!(language("/?lang=zh%2DCN", None, None), chinese);
    assert_eq!(
        language("/?lang=zh-TW", Some("zh"), None),
        english,
        "the parameter is taken as it is spelled"
    );
    assert_eq!(language("/?lang=", Some("zh"), None), chinese);
    assert_eq!(language("/?lang=zh", Some("zh"), Some(english)), english, "chosen by the service");
}

#[tokio::test]
async fn rejections_are_errors() {
    let request = |body: Body| Request::post("/").header("content-type", JSON).body(body).unwrap();
    let broken = futures_util::stream::iter([Err::<&str, _>(std::io::Error::other("reset"))]);
    let rejection = Json::<NewUser>::from_request(request(Body::from_stream(broken)), &()).await.unwrap_err();
    assert!(
        rejection.is_io() && !rejection.is_empty() && !rejection.is_limit() && !rejection.is_media_type()
    );
    for (body, expected) in [
        ("", "request body is empty"),
        (r#"{"name":"ada","age":3}"#, "validation failed: age must be 18 or greater"),
    ] {
        let rejection = ValidJson::<NewUser>::from_request(request(body.into()), &()).await.unwrap_err();
        assert_eq!(rejection.to_string(), expected);
        assert!(std::error::Error::source(&rejection).is_none());
    }
}
