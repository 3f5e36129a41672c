//! Types of the published payloads. `S` is the type of strings. `D` and `M` are a tree of values or a struct, where the
//! Go library has a map of any values.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// String that borrows from the document unless it has escapes.
///
/// A `Cow` as type parameter always copies, because `#[serde(borrow)]` is an attribute of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lazy<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl AsRef<str> for Lazy<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

fn is_empty<S: AsRef<str>>(text: &S) -> bool {
    text.as_ref().is_empty()
}

/// Declares structs with public fields: required ones, then optional ones, which are not written if they are absent.
macro_rules! structs {
    ($($(#[$meta:meta])* $name:ident $(<$($parameter:ident),+>)? {
        $($(#[$field_meta:meta])* $field:ident: $ty:ty,)*
        $(; $($(#[$optional_meta:meta])* $optional:ident: $optional_ty:ty,)+)?
    })+) => {
        $(
            #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
            $(#[$meta])*
            #[allow(missing_docs, reason = "field names are sufficient")]
            pub struct $name $(<$($parameter),+>)? {
                $($(#[$field_meta])* pub $field: $ty,)*
                $($(
                    $(#[$optional_meta])*
                    #[serde(skip_serializing_if = "Option::is_none")]
                    pub $optional: Option<$optional_ty>,
                )+)?
            }
        )+
    };
}

#[cfg(feature = "peers")]
pub(crate) use structs;

structs! {
    /// Response envelope of the Go library.
    #[serde(bound(serialize = "S: Serialize + AsRef<str>, D: Serialize"))]
    ApiResponse<S, D> {
        code: i64,
        #[serde(default, skip_serializing_if = "is_zero")]
        http_code: i64,
        message: S,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<D>,
        #[serde(default, skip_serializing_if = "is_empty")]
        request_id: S,
        #[serde(default, skip_serializing_if = "is_zero")]
        timestamp: i64,
    }

    /// Data of an [`ApiResponse`], with its fields sorted like the keys of a map.
    ApiData<S> {
        count: i64,
        email: S,
        id: i64,
        name: S,
        score: f64,
        settings: Settings,
        status: S,
        tags: Vec<S>,
    }

    /// Settings of [`ApiData`].
    Settings {
        notifications: bool,
        theme_dark: bool,
    }

    /// User with metadata.
    UserData<S> {
        id: i64,
        username: S,
        email: S,
        role: S,
        active: bool,
        created_at: i64,
        updated_at: i64,
        metadata: UserMetadata<S>,
    }

    /// Metadata of a [`UserData`].
    UserMetadata<S> {
        last_login: i64,
        login_count: i64,
        permissions: Vec<S>,
        department: S,
        preferred_lang: S,
    }

    /// Page of the benchmarks of the Go library, with the totals outside of the data.
    PageResponse<S> {
        code: i64,
        message: S,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<Page<S>>,
        total: i64,
        page: i64,
        page_size: i64,
    }

    /// Data of a [`PageResponse`].
    Page<S> {
        list: Vec<UserData<S>>,
        total_pages: i64,
    }

    /// Payload named `Response` in the first benchmarks of the Go library.
    TestResponse<S, D, M> {
        code: i64,
        message: S,
        data: D,
        list: Vec<S>,
        metadata: M,
    }

    /// Data of a [`TestResponse`], with its fields sorted like the keys of a map.
    TestData<S> {
        active: bool,
        age: i64,
        department: S,
        email: S,
        id: i64,
        name: S,
        role: S,
        score: f64,
    }

    /// Metadata of a [`TestResponse`].
    TestMetadata<S> {
        api_version: S,
        region: S,
        version: S,
    }

    /// Struct with fields of all types.
    Complex<S, M> {
        id: i64,
        name: S,
        email: S,
        active: bool,
        score: f64,
        tags: Vec<S>,
        metadata: M,
        nested: Simple<S>,
        timestamp: i64,
    }

    /// Metadata of a [`Complex`], with its fields sorted like the keys of a map.
    ComplexMetadata<S> {
        count: i64,
        environment: S,
        ratio: f64,
        region: S,
        version: S,
    }

    /// Struct with three fields.
    Simple<S> {
        id: i64,
        name: S,
        message: S,
    }
}

/// Check value of a decoded value. Computing it is part of the timed operation.
pub trait Check {
    /// Returns a number that depends on the first and the last part of the value.
    fn check(&self) -> u64;
}

impl Check for Value {
    /// Returns the number of values in the root, where an array counts its elements.
    fn check(&self) -> u64 {
        let fields = self.as_object().into_iter().flatten();
        fields.map(|(_, field)| field.as_array().map_or(1, Vec::len) as u64).sum()
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
