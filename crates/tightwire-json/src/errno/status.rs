//! The status codes of gRPC.

use std::fmt;

/// A gRPC status code. `as u32` gives its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GrpcStatus {
    /// The call succeeded.
    Ok = 0,
    /// The caller gave the call up.
    Canceled = 1,
    /// Nothing is known about the failure.
    #[default]
    Unknown = 2,
    /// An argument can never be accepted.
    InvalidArgument = 3,
    /// The deadline passed first.
    DeadlineExceeded = 4,
    /// The thing asked for does not exist.
    NotFound = 5,
    /// The thing to be made exists.
    AlreadyExists = 6,
    /// The caller is known and may not do this.
    PermissionDenied = 7,
    /// A quota is used up.
    ResourceExhausted = 8,
    /// The system is not in the state that the call needs.
    FailedPrecondition = 9,
    /// The call collided with another.
    Aborted = 10,
    /// A position lies past the end.
    OutOfRange = 11,
    /// The service does not have this call.
    Unimplemented = 12,
    /// An invariant of the service is broken.
    Internal = 13,
    /// The service cannot be reached for the moment.
    Unavailable = 14,
    /// Data was lost.
    DataLoss = 15,
    /// The caller is not known.
    Unauthenticated = 16,
}

impl GrpcStatus {
    /// The name that gRPC libraries print, such as `InvalidArgument`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Canceled => "Canceled",
            Self::Unknown => "Unknown",
            Self::InvalidArgument => "InvalidArgument",
            Self::DeadlineExceeded => "DeadlineExceeded",
            Self::NotFound => "NotFound",
            Self::AlreadyExists => "AlreadyExists",
            Self::PermissionDenied => "PermissionDenied",
            Self::ResourceExhausted => "ResourceExhausted",
            Self::FailedPrecondition => "FailedPrecondition",
            Self::Aborted => "Aborted",
            Self::OutOfRange => "OutOfRange",
            Self::Unimplemented => "Unimplemented",
            Self::Internal => "Internal",
            Self::Unavailable => "Unavailable",
            Self::DataLoss => "DataLoss",
            Self::Unauthenticated => "Unauthenticated",
        }
    }
}

impl fmt::Display for GrpcStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
