//! Errors of bucket operations.

use super::metrics::{Operation, Outcome};
use crate::Error;
use crate::error::Kind;

/// Error of an operation.
#[derive(Debug)]
pub(super) enum OperationError {
    /// The object does not exist.
    NotFound,
    /// The condition of a write is not met: the object exists, or has another version.
    PreconditionFailed,
    /// The server does not support conditional writes.
    Unsupported,
    /// Any other error.
    Failed(Error),
}

impl OperationError {
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::NotFound => failed("an object does not exist"),
            Self::PreconditionFailed | Self::Unsupported => failed("the condition of a write is not met"),
        }
    }
}

/// Creates a bucket error.
#[cold]
pub(super) fn failed(reason: impl Into<Box<str>>) -> Error {
    Error::with(Kind::Bucket, reason)
}

/// Classifies an error of an operation.
pub(super) fn classify(operation: Operation, error: &object_store::Error) -> (Outcome, OperationError) {
    use Operation::{Create, Delete, Get, Update};
    use object_store::Error as E;

    let is_conditional = matches!(operation, Create | Update);
    let is_bucket_missing = error.to_string().contains("NoSuchBucket");
    match error {
        // A write fails with "not found" only if the bucket does not exist.
        E::NotFound { .. } if matches!(operation, Get | Delete | Update) && !is_bucket_missing => {
            (Outcome::Missing, OperationError::NotFound)
        }
        E::AlreadyExists { .. } | E::Precondition { .. } => {
            (Outcome::Refused, OperationError::PreconditionFailed)
        }
        E::NotImplemented { .. } | E::NotSupported { .. } if is_conditional => {
            (Outcome::Failed, OperationError::Unsupported)
        }
        error => match describe(error) {
            reason if is_conditional && (reason.contains("NotImplemented") || reason.contains("(501 ")) => {
                (Outcome::Failed, OperationError::Unsupported)
            }
            reason => (Outcome::Failed, OperationError::Failed(failed(reason))),
        },
    }
}

/// Describes an error by its kind and code. Its full text may contain the access key ID and the signed request.
pub(super) fn describe(error: &object_store::Error) -> String {
    use object_store::Error as E;
    let text = error.to_string();
    let between = |before: &str, after: &str| Some(text.split_once(before)?.1.split_once(after)?.0);
    let what = match error {
        E::NotFound { .. } => "bucket does not exist",
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => "credentials rejected",
        E::NotImplemented { .. } | E::NotSupported { .. } => "operation not supported",
        _ if text.contains("non-2xx") || text.contains("<Code>") => "request rejected",
        _ => "connection failed",
    };
    let code = between("<Code>", "</Code>").filter(|code| code.chars().all(|c| c.is_ascii_alphanumeric()));
    let status = || between("status code: ", ":").filter(|status| status.len() < 64);
    match code.or_else(status) {
        Some(code) => format!("{what} ({code})"),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use object_store::Error as E;

    use super::*;

    fn server_error(text: &str) -> E {
        E::Generic { store: "S3", source: format!("Server returned non-2xx status code: {text}").into() }
    }

    fn missing(text: &str) -> E {
        E::NotFound { path: "k".into(), source: text.into() }
    }

    #[test]
    fn description_has_the_error_code_and_no_secrets() {
        let denied =
            "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>hunter2</AWSAccessKeyId></Error>";
        for (error, expected) in [
            (
                server_error("507 Insufficient Storage: hunter2"),
                "request rejected (507 Insufficient Storage)",
            ),
            (server_error("503 Slow Down: <Code>SlowDown</Code>"), "request rejected (SlowDown)"),
            (server_error("500 Oops: <Code>hunter2 & co</Code>"), "request rejected (500 Oops)"),
            (
                E::PermissionDenied { path: "k".into(), source: denied.into() },
                "credentials rejected (SignatureDoesNotMatch)",
            ),
            (E::Generic { store: "S3", source: "hunter2".into() }, "connection failed"),
        ] {
            assert_eq!(describe(&error), expected);
        }
    }

    #[test]
    fn missing_object_differs_from_missing_bucket() {
        let bucket = missing("<Code>NoSuchBucket</Code>");
        let is_missing =
            |operation, error: &E| matches!(classify(operation, error), (_, OperationError::NotFound));
        assert!(is_missing(Operation::Get, &missing("<Code>NoSuchKey</Code>")));
        assert!(!is_missing(Operation::Get, &bucket));
        assert!(!is_missing(Operation::Put, &missing("")));
        assert_eq!(describe(&bucket), "bucket does not exist (NoSuchBucket)");
    }

    #[test]
    fn missing_support_for_conditions_is_not_a_failure() {
        for text in ["501 Not Implemented: <Code>NotImplemented</Code>", "501 Not Implemented: "] {
            let error = server_error(text);
            assert!(matches!(
                classify(Operation::Create, &error),
                (Outcome::Failed, OperationError::Unsupported)
            ));
            assert!(matches!(classify(Operation::Put, &error), (Outcome::Failed, OperationError::Failed(_))));
        }
    }
}
