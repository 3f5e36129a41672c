//! How a service defines errors of its own.

use std::borrow::Cow;
use std::fmt;

use super::{Category, Code, Errno, GrpcStatus};

/// The parts of an error that is about to be defined.
///
/// ```
/// use tightwire_json::errno::{Category, Definition, Registry};
///
/// let quota = Definition::new(21, Category::RateLimit, 1)
///     .message("Daily quota of exports used up")
///     .message_zh("今日导出次数已用完")
///     .build()?;
/// assert_eq!(quota.code().get(), 2_106_001);
/// assert_eq!(quota.http_status(), 429);
/// Registry::global().register(quota)?;
/// # Ok::<(), tightwire_json::errno::DefinitionError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a definition defines nothing before `build`"]
pub struct Definition {
    service: u32,
    category: u32,
    sequence: u32,
    http: u16,
    grpc: GrpcStatus,
    message: Cow<'static, str>,
    message_zh: Cow<'static, str>,
}

impl Definition {
    /// Starts with the statuses of a known category. `service` is 0 to 99, `sequence` 0 to 999.
    pub const fn new(service: u32, category: Category, sequence: u32) -> Self {
        Self::of(service, category.number(), sequence, category.http_status(), category.grpc_status())
    }

    const fn of(service: u32, category: u32, sequence: u32, http: u16, grpc: GrpcStatus) -> Self {
        let (message, message_zh) = (Cow::Borrowed(""), Cow::Borrowed(""));
        Self { service, category, sequence, http, grpc, message, message_zh }
    }

    /// Starts with a category number of one's own, 0 to 99, with HTTP status 500 and gRPC status `Unknown` where
    /// the number has no meaning.
    pub const fn with_category_number(service: u32, category: u32, sequence: u32) -> Self {
        match Category::from_number(category as i64) {
            Some(category) => Self::new(service, category, sequence),
            None => Self::of(service, category, sequence, 500, GrpcStatus::Unknown),
        }
    }

    /// Sets the HTTP status. Default: that of the category.
    pub fn http_status(mut self, status: u16) -> Self {
        self.http = status;
        self
    }

    /// Sets the gRPC status. Default: that of the category.
    pub fn grpc_status(mut self, status: GrpcStatus) -> Self {
        self.grpc = status;
        self
    }

    /// Sets the English text, which every error needs.
    pub fn message(mut self, english: impl Into<Cow<'static, str>>) -> Self {
        self.message = english.into();
        self
    }

    /// Sets the Chinese text. Default: none.
    pub fn message_zh(mut self, chinese: impl Into<Cow<'static, str>>) -> Self {
        self.message_zh = chinese.into();
        self
    }

    /// Checks the parts and makes the error.
    ///
    /// # Errors
    ///
    /// When a part of the code or the HTTP status (100 to 999) is out of range, or the English text is empty.
    pub fn build(self) -> Result<Errno, DefinitionError> {
        let code = Code::from_parts(self.service, self.category, self.sequence)
            .ok_or(DefinitionError(Kind::PartOutOfRange(self.service, self.category, self.sequence)))?;
        if !(100..=999).contains(&self.http) {
            return Err(DefinitionError(Kind::StatusOutOfRange(self.http)));
        }
        if self.message.is_empty() {
            return Err(DefinitionError(Kind::NoMessage(code)));
        }
        Ok(Errno::from_checked(code, self.http, self.grpc, self.message, self.message_zh))
    }
}

/// Why an error or a service cannot be defined. This is a mistake of the program, found when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionError(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    PartOutOfRange(u32, u32, u32),
    StatusOutOfRange(u16),
    NoMessage(Code),
    CodeTaken(Code),
    ServiceTaken(u32, Cow<'static, str>),
}

impl DefinitionError {
    pub(super) fn code_taken(code: Code) -> Self {
        Self(Kind::CodeTaken(code))
    }

    pub(super) fn service_taken(service: u32, by: Cow<'static, str>) -> Self {
        Self(Kind::ServiceTaken(service, by))
    }

    pub(super) fn service_out_of_range(service: u32) -> Self {
        Self(Kind::PartOutOfRange(service, 0, 0))
    }

    /// Whether the code or the service is defined already.
    pub fn is_duplicate(&self) -> bool {
        matches!(self.0, Kind::CodeTaken(_) | Kind::ServiceTaken(..))
    }

    /// Whether a part of the code or the HTTP status is out of its range.
    pub fn is_out_of_range(&self) -> bool {
        matches!(self.0, Kind::PartOutOfRange(..) | Kind::StatusOutOfRange(_))
    }

    /// Whether the English text is missing.
    pub fn is_missing_message(&self) -> bool {
        matches!(self.0, Kind::NoMessage(_))
    }
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::PartOutOfRange(service, category, sequence) => write!(
                f,
                "service {service}, category {category}, sequence {sequence}: at most 99, 99 and 999 make a code"
            ),
            Kind::StatusOutOfRange(status) => write!(f, "{status} is no HTTP status"),
            Kind::NoMessage(code) => write!(f, "error {code} has no English text"),
            Kind::CodeTaken(code) => write!(f, "error {code} is registered already"),
            Kind::ServiceTaken(service, name) => write!(f, "service {service} is registered as {name}"),
        }
    }
}

impl std::error::Error for DefinitionError {}
