//! Progress records.

use super::PsString;

/// The state of a lengthy operation (`System.Management.Automation.ProgressRecord`, MS-PSRP 2.2.5.1.25).
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is done.
    pub activity: PsString,
    /// Which of several operations this is about.
    pub activity_id: i32,
    /// How it stands.
    pub status_description: PsString,
    /// What is being worked on, if known.
    pub current_operation: Option<PsString>,
    /// The operation that this one is a part of, -1 for none.
    pub parent_activity_id: i32,
    /// Percentage of completion, -1 if not known.
    pub percent_complete: i32,
    /// Whether the operation has ended.
    pub completed: bool,
    /// Seconds that are left, -1 if not known.
    pub seconds_remaining: i32,
}

impl Progress {
    /// A record of an operation that goes on, without a parent, percentage or remaining time.
    pub fn new(
        activity_id: i32,
        activity: impl Into<PsString>,
        status_description: impl Into<PsString>,
    ) -> Self {
        Self {
            activity: activity.into(),
            activity_id,
            status_description: status_description.into(),
            current_operation: None,
            parent_activity_id: -1,
            percent_complete: -1,
            completed: false,
            seconds_remaining: -1,
        }
    }
}
