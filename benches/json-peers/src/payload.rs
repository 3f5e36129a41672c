//! Values of the published rows.

use crate::types::{Page, PageResponse, UserData, UserMetadata};

const TIME: i64 = 1_703_001_234_567;

/// The API response, indented.
pub const API: &str = r#"{
    "code": 0, "http_code": 200, "message": "success", "data": {
        "id": 12345, "name": "Test User", "email": "test@example.com", "status": "active", "score": 95.5,
        "count": 42, "tags": ["admin", "developer", "reviewer"],
        "settings": {"notifications": true, "theme_dark": false}
    },
    "request_id": "req-12345678-abcd-1234-efgh-123456789abc", "timestamp": 1703001234567
}"#;

/// A user, indented.
pub const USER: &str = r#"{
    "id": 12345, "username": "johndoe", "email": "john.doe@example.com", "role": "admin", "active": true,
    "created_at": 1703001234567, "updated_at": 1703001234567, "metadata": {
        "last_login": 1703001234567, "login_count": 150,
        "permissions": ["read", "write", "delete", "admin", "audit"], "department": "Engineering",
        "preferred_lang": "en"
    }
}"#;

/// The test response, indented.
pub const TEST: &str = r#"{
    "code": 0, "message": "success", "data": {
        "id": 12345, "name": "John Doe", "email": "john.doe@example.com", "age": 30, "active": true,
        "score": 98.5, "role": "admin", "department": "Engineering"
    },
    "list": ["permission1", "permission2", "permission3", "permission4", "permission5"],
    "metadata": {"version": "1.0.0", "api_version": "v1", "region": "us-west-2"}
}"#;

/// The complex struct, indented.
pub const COMPLEX: &str = r#"{
    "id": 12345, "name": "John Doe", "email": "john.doe@example.com", "active": true, "score": 98.5,
    "tags": ["go", "performance", "json", "optimization"], "metadata": {
        "version": "1.0.0", "environment": "production", "region": "us-west-2", "count": 42, "ratio": 3.14159
    },
    "nested": {"id": 999, "name": "nested", "message": "nested message"}, "timestamp": 1703001234567
}"#;

/// The small struct.
pub const SIMPLE: &str = r#"{"id": 1, "name": "test", "message": "hello"}"#;

/// Returns the document of a page of users.
pub fn page_document(users: i64) -> Vec<u8> {
    serde_json::to_vec(&page(users)).unwrap_or_default()
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Input, Type};

    #[test]
    fn documents_have_the_published_lengths_in_all_types() {
        for (kinds, text, length) in [
            (&[Type::Api, Type::ApiTree][..], API, 329),
            (&[Type::User], USER, 310),
            (&[Type::Test, Type::TestTree], TEST, 327),
            (&[Type::ComplexStruct, Type::ComplexTree], COMPLEX, 333),
        ] {
            kinds
                .iter()
                .for_each(|kind| assert_eq!(Input::new(*kind, text).encoded().len(), length, "{kind:?}"));
        }
        assert_eq!([20, 37, 3_720].map(|users| page_document(users).len()), [5_711, 10_479, 1_049_921]);
    }
}
