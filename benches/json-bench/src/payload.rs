//! Values of the published rows.

use serde_json::{Value, json};

use super::types::{
    ApiData, ApiResponse, Complex, ComplexMetadata, Page, PageResponse, Settings, Simple, TestData,
    TestMetadata, TestResponse, UserData, UserMetadata,
};

const REQUEST_ID: &str = "req-12345678-abcd-1234-efgh-123456789abc";
const TIME: i64 = 1_703_001_234_567;

/// String type of all payloads.
type Text = String;

fn text(text: &str) -> Text {
    text.to_owned()
}

fn texts(texts: &[&str]) -> Vec<Text> {
    texts.iter().copied().map(text).collect()
}

fn api<D>(data: D) -> ApiResponse<Text, D> {
    ApiResponse {
        code: 0,
        http_code: 200,
        message: text("success"),
        data: Some(data),
        request_id: text(REQUEST_ID),
        timestamp: TIME,
    }
}

/// Returns the API response with a tree of values as data.
pub fn api_dynamic() -> ApiResponse<Text, Value> {
    api(json!({
        "id": 12345,
        "name": "Test User",
        "email": "test@example.com",
        "status": "active",
        "score": 95.5,
        "count": 42,
        "tags": ["admin", "developer", "reviewer"],
        "settings": {"notifications": true, "theme_dark": false},
    }))
}

/// Returns the API response with a struct as data.
pub fn api_typed() -> ApiResponse<Text, ApiData<Text>> {
    api(ApiData {
        count: 42,
        email: text("test@example.com"),
        id: 12345,
        name: text("Test User"),
        score: 95.5,
        settings: Settings { notifications: true, theme_dark: false },
        status: text("active"),
        tags: texts(&["admin", "developer", "reviewer"]),
    })
}

/// Returns a user.
pub fn user() -> UserData<Text> {
    UserData {
        id: 12345,
        username: text("johndoe"),
        email: text("john.doe@example.com"),
        role: text("admin"),
        active: true,
        created_at: TIME,
        updated_at: TIME,
        metadata: UserMetadata {
            last_login: TIME,
            login_count: 150,
            permissions: texts(&["read", "write", "delete", "admin", "audit"]),
            department: text("Engineering"),
            preferred_lang: text("en"),
        },
    }
}

/// Returns the page of 20 users.
pub fn page() -> PageResponse<Text> {
    let user = |i: i64| {
        let username = format!("user{}", char::from(b'A' + i as u8));
        UserData {
            id: 10_000 + i,
            email: format!("{username}@example.com"),
            username,
            role: text("user"),
            active: i % 2 == 0,
            created_at: TIME + 1000 * i,
            updated_at: TIME + 2000 * i,
            metadata: UserMetadata {
                last_login: TIME + 3000 * i,
                login_count: 100 + 10 * i,
                permissions: texts(&["read", "write"]),
                department: text("Engineering"),
                preferred_lang: text("en"),
            },
        }
    };
    PageResponse {
        code: 0,
        message: text("success"),
        data: Some(Page { list: (0..20).map(user).collect(), total_pages: 10 }),
        total: 200,
        page: 1,
        page_size: 20,
    }
}

fn test<D, M>(data: D, metadata: M) -> TestResponse<Text, D, M> {
    let list = texts(&["permission1", "permission2", "permission3", "permission4", "permission5"]);
    TestResponse { code: 0, message: text("success"), data, list, metadata }
}

/// Returns the test response with trees of values.
pub fn test_dynamic() -> TestResponse<Text, Value, Value> {
    let data = json!({
        "id": 12345,
        "name": "John Doe",
        "email": "john.doe@example.com",
        "age": 30,
        "active": true,
        "score": 98.5,
        "role": "admin",
        "department": "Engineering",
    });
    test(data, json!({"version": "1.0.0", "api_version": "v1", "region": "us-west-2"}))
}

/// Returns the test response with structs.
pub fn test_typed() -> TestResponse<Text, TestData<Text>, TestMetadata<Text>> {
    let data = TestData {
        active: true,
        age: 30,
        department: text("Engineering"),
        email: text("john.doe@example.com"),
        id: 12345,
        name: text("John Doe"),
        role: text("admin"),
        score: 98.5,
    };
    let metadata =
        TestMetadata { api_version: text("v1"), region: text("us-west-2"), version: text("1.0.0") };
    test(data, metadata)
}

fn complex<M>(metadata: M) -> Complex<Text, M> {
    Complex {
        id: 12345,
        name: text("John Doe"),
        email: text("john.doe@example.com"),
        active: true,
        score: 98.5,
        tags: texts(&["go", "performance", "json", "optimization"]),
        metadata,
        nested: Simple { id: 999, name: text("nested"), message: text("nested message") },
        timestamp: TIME,
    }
}

/// Returns the complex struct with a tree of values as metadata.
pub fn complex_dynamic() -> Complex<Text, Value> {
    complex(json!({
        "version": "1.0.0",
        "environment": "production",
        "region": "us-west-2",
        "count": 42,
        "ratio": RATIO,
    }))
}

/// Returns the complex struct with a struct as metadata.
pub fn complex_typed() -> Complex<Text, ComplexMetadata<Text>> {
    complex(ComplexMetadata {
        count: 42,
        environment: text("production"),
        ratio: RATIO,
        region: text("us-west-2"),
        version: text("1.0.0"),
    })
}

/// Value in the payload of the Go library.
#[allow(clippy::approx_constant, reason = "must equal the published payload")]
const RATIO: f64 = 3.14159;

/// Returns the small struct.
pub fn simple() -> Simple<Text> {
    Simple { id: 1, name: text("test"), message: text("hello") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_have_the_published_lengths() {
        let length = |document: serde_json::Result<Vec<u8>>| document.unwrap().len();
        assert_eq!(length(serde_json::to_vec(&api_dynamic())), 329);
        assert_eq!(length(serde_json::to_vec(&user())), 310);
        assert_eq!(length(serde_json::to_vec(&page())), 5711);
        assert_eq!(length(serde_json::to_vec(&test_dynamic())), 327);
        assert_eq!(length(serde_json::to_vec(&complex_dynamic())), 333);
    }

    #[test]
    fn dynamic_and_typed_payloads_are_the_same_document() {
        let text = |document: serde_json::Result<String>| document.unwrap();
        assert_eq!(text(serde_json::to_string(&api_dynamic())), text(serde_json::to_string(&api_typed())));
        assert_eq!(text(serde_json::to_string(&test_dynamic())), text(serde_json::to_string(&test_typed())));
        assert_eq!(
            text(serde_json::to_string(&complex_dynamic())),
            text(serde_json::to_string(&complex_typed()))
        );
    }
}
