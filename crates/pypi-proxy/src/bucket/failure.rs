//! What goes wrong with the bucket.

use super::meter::{Ended, Operation};
use crate::Error;
use crate::error::Kind;

/// Why there is no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no such object.
    Missing,
    /// The object is there, or is another than it was.
    Refused,
    /// The bucket knows no conditions.
    Unable,
    /// The bucket could not be asked.
    Failed(Error),
}

impl Failure {
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::Missing => failed("an object is not there"),
            Self::Refused | Self::Unable => failed("a condition is not met"),
        }
    }
}

/// The bucket fails in this way.
#[cold]
pub(super) fn failed(reason: impl Into<Box<str>>) -> Error {
    Error::with(Kind::Bucket, reason)
}

/// What an error means for this operation.
pub(super) fn sort(operation: Operation, error: &object_store::Error) -> (Ended, Failure) {
    use Operation::{Create, Delete, Get, Update};
    use object_store::Error as E;

    let is_conditional = matches!(operation, Create | Update);
    let is_bucket_missing = error.to_string().contains("NoSuchBucket");
    match error {
        // Only the bucket can be missing when something is put there.
        E::NotFound { .. } if matches!(operation, Get | Delete | Update) && !is_bucket_missing => {
            (Ended::Missing, Failure::Missing)
        }
        E::AlreadyExists { .. } | E::Precondition { .. } => (Ended::Refused, Failure::Refused),
        E::NotImplemented { .. } | E::NotSupported { .. } if is_conditional => {
            (Ended::Failed, Failure::Unable)
        }
        error => match describe(error) {
            reason if is_conditional && (reason.contains("NotImplemented") || reason.contains("(501 ")) => {
                (Ended::Failed, Failure::Unable)
            }
            reason => (Ended::Failed, Failure::Failed(failed(reason))),
        },
    }
}

/// What has gone wrong. The whole text of an error may tell the name of the key and what was signed.
pub(super) fn describe(error: &object_store::Error) -> String {
    use object_store::Error as E;
    let text = error.to_string();
    let between = |before: &str, after: &str| Some(text.split_once(before)?.1.split_once(after)?.0);
    let what = match error {
        E::NotFound { .. } => "there is no such bucket",
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => "it does not accept the credentials",
        E::NotImplemented { .. } | E::NotSupported { .. } => "it can't do what is asked",
        _ if text.contains("non-2xx") || text.contains("<Code>") => "it refuses",
        _ => "it can't be reached, or breaks off",
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

    fn of_server(text: &str) -> E {
        E::Generic { store: "S3", source: format!("Server returned non-2xx status code: {text}").into() }
    }

    fn missing(text: &str) -> E {
        E::NotFound { path: "k".into(), source: text.into() }
    }

    #[test]
    fn what_is_told_is_a_code_and_nothing_that_is_secret() {
        let denied =
            "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>hunter2</AWSAccessKeyId></Error>";
        for (error, told) in [
            (of_server("507 Insufficient Storage: hunter2"), "it refuses (507 Insufficient Storage)"),
            (of_server("503 Slow Down: <Code>SlowDown</Code>"), "it refuses (SlowDown)"),
            (of_server("500 Oops: <Code>hunter2 & co</Code>"), "it refuses (500 Oops)"),
            (
                E::PermissionDenied { path: "k".into(), source: denied.into() },
                "it does not accept the credentials (SignatureDoesNotMatch)",
            ),
            (E::Generic { store: "S3", source: "hunter2".into() }, "it can't be reached, or breaks off"),
        ] {
            assert_eq!(describe(&error), told);
        }
    }

    #[test]
    fn an_object_may_be_missing_but_not_the_bucket() {
        let bucket = missing("<Code>NoSuchBucket</Code>");
        let is_missing = |operation, error: &E| matches!(sort(operation, error), (_, Failure::Missing));
        assert!(is_missing(Operation::Get, &missing("<Code>NoSuchKey</Code>")));
        assert!(!is_missing(Operation::Get, &bucket));
        assert!(!is_missing(Operation::Put, &missing("")));
        assert_eq!(describe(&bucket), "there is no such bucket (NoSuchBucket)");
    }

    #[test]
    fn a_server_without_conditions_is_no_server_that_fails() {
        for text in ["501 Not Implemented: <Code>NotImplemented</Code>", "501 Not Implemented: "] {
            let error = of_server(text);
            assert!(matches!(sort(Operation::Create, &error), (Ended::Failed, Failure::Unable)));
            assert!(matches!(sort(Operation::Put, &error), (Ended::Failed, Failure::Failed(_))));
        }
    }
}
