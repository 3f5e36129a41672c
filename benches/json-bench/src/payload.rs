//! Values of the published rows.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::types::{
    ApiData, ApiResponse, Complex, ComplexMetadata, Page, PageResponse, Simple, TestData, TestMetadata,
    TestResponse, UserData, UserMetadata,
};

const TIME: i64 = 1_703_001_234_567;

const API: &str = r#"{
    "code": 0, "http_code": 200, "message": "success", "data": {
        "id": 12345, "name": "Test User", "email": "test@example.com", "status": "active", "score": 95.5,
        "count": 42, "tags": ["admin", "developer", "reviewer"],
        "settings": {"notifications": true, "theme_dark": false}
    },
    "request_id": "req-12345678-abcd-1234-efgh-123456789abc", "timestamp": 1703001234567
}"#;

const USER: &str = r#"{
    "id": 12345, "username": "johndoe", "email": "john.doe@example.com", "role": "admin", "active": true,
    "created_at": 1703001234567, "updated_at": 1703001234567, "metadata": {
        "last_login": 1703001234567, "login_count": 150,
        "permissions": ["read", "write", "delete", "admin", "audit"], "department": "Engineering",
        "preferred_lang": "en"
    }
}"#;

const TEST: &str = r#"{
    "code": 0, "message": "success", "data": {
        "id": 12345, "name": "John Doe", "email": "john.doe@example.com", "age": 30, "active": true,
        "score": 98.5, "role": "admin", "department": "Engineering"
    },
    "list": ["permission1", "permission2", "permission3", "permission4", "permission5"],
    "metadata": {"version": "1.0.0", "api_version": "v1", "region": "us-west-2"}
}"#;

const COMPLEX: &str = r#"{
    "id": 12345, "name": "John Doe", "email": "john.doe@example.com", "active": true, "score": 98.5,
    "tags": ["go", "performance", "json", "optimization"], "metadata": {
        "version": "1.0.0", "environment": "production", "region": "us-west-2", "count": 42, "ratio": 3.14159
    },
    "nested": {"id": 999, "name": "nested", "message": "nested message"}, "timestamp": 1703001234567
}"#;

fn parsed<T: DeserializeOwned>(document: &str) -> T {
    match serde_json::from_str(document) {
        Ok(value) => value,
        Err(error) => unreachable!("the documents have these types, as tests check: {error}"),
    }
}

/// Returns the API response with a tree of values as data.
pub fn api_dynamic() -> ApiResponse<String, Value> {
    parsed(API)
}

/// Returns the API response with a struct as data.
pub fn api_typed() -> ApiResponse<String, ApiData<String>> {
    parsed(API)
}

/// Returns a user.
pub fn user() -> UserData<String> {
    parsed(USER)
}

/// Size, number of users and length of pages like those of an API.
pub const PAGES: [(&str, i64, u64); 3] =
    [("10k", 37, 10_479), ("1m", 3_720, 1_049_921), ("4m", 14_840, 4_196_171)];

/// Returns a page of users.
pub fn page(users: i64) -> PageResponse<String> {
    let user = |i: i64| {
        let username = format!("user{}", char::from(b'A' + (i % 26) as u8));
        UserData {
            id: 10_000 + i,
            email: format!("{username}@example.com"),
            username,
            role: "user".to_owned(),
            active: i % 2 == 0,
            created_at: TIME + 1000 * i,
            updated_at: TIME + 2000 * i,
            metadata: UserMetadata {
                last_login: TIME + 3000 * i,
                login_count: 100 + 10 * i,
                permissions: vec!["read".to_owned(), "write".to_owned()],
                department: "Engineering".to_owned(),
                preferred_lang: "en".to_owned(),
            },
        }
    };
    PageResponse {
        code: 0,
        message: "success".to_owned(),
        data: Some(Page { list: (0..users).map(user).collect(), total_pages: 10 }),
        total: 200,
        page: 1,
        page_size: 20,
    }
}

/// Returns the test response with trees of values.
pub fn test_dynamic() -> TestResponse<String, Value, Value> {
    parsed(TEST)
}

/// Returns the test response with structs.
pub fn test_typed() -> TestResponse<String, TestData<String>, TestMetadata<String>> {
    parsed(TEST)
}

/// Returns the complex struct with a tree of values as metadata.
pub fn complex_dynamic() -> Complex<String, Value> {
    parsed(COMPLEX)
}

/// Returns the complex struct with a struct as metadata.
pub fn complex_typed() -> Complex<String, ComplexMetadata<String>> {
    parsed(COMPLEX)
}

/// Returns the small struct.
pub fn simple() -> Simple<String> {
    parsed(r#"{"id": 1, "name": "test", "message": "hello"}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn payloads_have_the_published_lengths() {
        assert_eq!(text(&api_dynamic()).len(), 329);
        assert_eq!(text(&user()).len(), 310);
        assert_eq!(text(&page(20)).len(), 5711);
        let lengths = PAGES.map(|(_, users, _)| text(&page(users)).len() as u64);
        assert_eq!(lengths, PAGES.map(|(_, _, length)| length));
        assert_eq!(text(&test_dynamic()).len(), 327);
        assert_eq!(text(&complex_dynamic()).len(), 333);
    }

    #[test]
    fn dynamic_and_typed_payloads_are_the_same_document() {
        assert_eq!(text(&api_dynamic()), text(&api_typed()));
        assert_eq!(text(&test_dynamic()), text(&test_typed()));
        assert_eq!(text(&complex_dynamic()), text(&complex_typed()));
    }
}
