//! What kind of failure a code stands for.

use super::GrpcStatus;

/// The kind of failure, the middle part of a [`Code`](super::Code).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Category {
    /// 1: the request is malformed.
    Request = 1,
    /// 2: the caller is not known.
    Auth = 2,
    /// 3: the caller may not do this.
    Permission = 3,
    /// 4: the thing asked for does not exist.
    NotFound = 4,
    /// 5: the request contradicts the present state.
    Conflict = 5,
    /// 6: the caller asks too often.
    RateLimit = 6,
    /// 7: the service failed.
    Internal = 7,
    /// 8: a database failed.
    Database = 8,
    /// 9: a cache failed.
    Cache = 9,
    /// 10: another service cannot be reached.
    Network = 10,
    /// 11: something took too long.
    Timeout = 11,
    /// 12: the service is configured wrongly.
    Config = 12,
}

impl Category {
    /// All categories, in the order of their numbers.
    pub const ALL: &'static [Self] = &[
        Self::Request,
        Self::Auth,
        Self::Permission,
        Self::NotFound,
        Self::Conflict,
        Self::RateLimit,
        Self::Internal,
        Self::Database,
        Self::Cache,
        Self::Network,
        Self::Timeout,
        Self::Config,
    ];

    /// The category of a number from 1 to 12.
    pub const fn from_number(number: i64) -> Option<Self> {
        if number < 1 || number > Self::ALL.len() as i64 {
            return None;
        }
        Some(Self::ALL[number as usize - 1])
    }

    /// The number of the category, 1 to 12.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// The HTTP status of an error that has none of its own.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::Request => 400,
            Self::Auth => 401,
            Self::Permission => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::RateLimit => 429,
            Self::Internal | Self::Database | Self::Cache | Self::Config => 500,
            Self::Network => 503,
            Self::Timeout => 504,
        }
    }

    /// The gRPC status of an error that has none of its own.
    pub const fn grpc_status(self) -> GrpcStatus {
        match self {
            Self::Request => GrpcStatus::InvalidArgument,
            Self::Auth => GrpcStatus::Unauthenticated,
            Self::Permission => GrpcStatus::PermissionDenied,
            Self::NotFound => GrpcStatus::NotFound,
            Self::Conflict => GrpcStatus::AlreadyExists,
            Self::RateLimit => GrpcStatus::ResourceExhausted,
            Self::Internal | Self::Database | Self::Cache | Self::Config => GrpcStatus::Internal,
            Self::Network => GrpcStatus::Unavailable,
            Self::Timeout => GrpcStatus::DeadlineExceeded,
        }
    }
}
