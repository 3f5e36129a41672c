//! Types of the published payloads. `S` is the type of strings. `D` and `M` are a tree of values or a struct, where the
//! Go library has a map of any values.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::documents::{Catalogue, Coastline, Messages};

fn is_zero(number: &i64) -> bool {
    *number == 0
}

fn is_empty<S: AsRef<str>>(text: &S) -> bool {
    text.as_ref().is_empty()
}

/// Response envelope of the Go library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "S: Serialize + AsRef<str>, D: Serialize"))]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct ApiResponse<S, D> {
    pub code: i64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub http_code: i64,
    pub message: S,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<D>,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub request_id: S,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub timestamp: i64,
}

/// Data of an [`ApiResponse`], with its fields sorted like the keys of a map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct ApiData<S> {
    pub count: i64,
    pub email: S,
    pub id: i64,
    pub name: S,
    pub score: f64,
    pub settings: Settings,
    pub status: S,
    pub tags: Vec<S>,
}

/// Settings of [`ApiData`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct Settings {
    pub notifications: bool,
    pub theme_dark: bool,
}

/// User with metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct UserData<S> {
    pub id: i64,
    pub username: S,
    pub email: S,
    pub role: S,
    pub active: bool,
    pub created_at: i64,
    pub updated_at: i64,
    pub metadata: UserMetadata<S>,
}

/// Metadata of a [`UserData`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct UserMetadata<S> {
    pub last_login: i64,
    pub login_count: i64,
    pub permissions: Vec<S>,
    pub department: S,
    pub preferred_lang: S,
}

/// Page of the benchmarks of the Go library, with the totals outside of the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct PageResponse<S> {
    pub code: i64,
    pub message: S,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Page<S>>,
    pub total: i64,
    pub page: i64,
    pub page_size: i64,
}

/// Data of a [`PageResponse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct Page<S> {
    pub list: Vec<UserData<S>>,
    pub total_pages: i64,
}

/// Payload named `Response` in the first benchmarks of the Go library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct TestResponse<S, D, M> {
    pub code: i64,
    pub message: S,
    pub data: D,
    pub list: Vec<S>,
    pub metadata: M,
}

/// Data of a [`TestResponse`], with its fields sorted like the keys of a map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct TestData<S> {
    pub active: bool,
    pub age: i64,
    pub department: S,
    pub email: S,
    pub id: i64,
    pub name: S,
    pub role: S,
    pub score: f64,
}

/// Metadata of a [`TestResponse`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct TestMetadata<S> {
    pub api_version: S,
    pub region: S,
    pub version: S,
}

/// Struct with fields of all types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct Complex<S, M> {
    pub id: i64,
    pub name: S,
    pub email: S,
    pub active: bool,
    pub score: f64,
    pub tags: Vec<S>,
    pub metadata: M,
    pub nested: Simple<S>,
    pub timestamp: i64,
}

/// Metadata of a [`Complex`], with its fields sorted like the keys of a map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct ComplexMetadata<S> {
    pub count: i64,
    pub environment: S,
    pub ratio: f64,
    pub region: S,
    pub version: S,
}

/// Struct with three fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "field names are sufficient")]
pub struct Simple<S> {
    pub id: i64,
    pub name: S,
    pub message: S,
}

/// Check value of a decoded value. Computing it is part of the timed operation.
pub trait Check {
    /// Returns a number that depends on the first and the last part of the value.
    fn check(&self) -> u64;
}

/// Number of values in the root, where an array counts its elements.
impl Check for Value {
    fn check(&self) -> u64 {
        let members = self.as_object().into_iter().flat_map(|object| object.values());
        members.map(|member| member.as_array().map_or(1, Vec::len) as u64).sum()
    }
}

impl Check for Messages {
    fn check(&self) -> u64 {
        self.statuses.len() as u64 + self.search_metadata.count
    }
}

impl Check for Catalogue {
    fn check(&self) -> u64 {
        self.performances.len() as u64 + self.total
    }
}

impl Check for Coastline {
    fn check(&self) -> u64 {
        self.features.len() as u64 + self.kind.len() as u64
    }
}

impl<S: AsRef<str>, D> Check for ApiResponse<S, D> {
    fn check(&self) -> u64 {
        u64::from(self.data.is_some()) + self.request_id.as_ref().len() as u64 + self.timestamp as u64
    }
}

impl<S: AsRef<str>> Check for PageResponse<S> {
    fn check(&self) -> u64 {
        let users = self.data.iter().flat_map(|page| &page.list);
        let logins: i64 =
            users.map(|user| user.metadata.login_count + user.username.as_ref().len() as i64).sum();
        (logins + self.total + self.page_size) as u64
    }
}

impl<S: AsRef<str>, D, M> Check for TestResponse<S, D, M> {
    fn check(&self) -> u64 {
        (self.message.as_ref().len() + self.list.iter().map(|text| text.as_ref().len()).sum::<usize>()) as u64
    }
}
