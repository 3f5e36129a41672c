//! Progress records.

use super::PsString;

/// Progress of a long-running operation (`System.Management.Automation.ProgressRecord`, MS-PSRP 2.2.5.1.25).
///
/// [`to_value`](Self::to_value) returns the object that represents it in messages (MS-PSRP 2.2.2.25). Values that
/// PowerShell rejects are replaced there: an empty activity or status by a space, a negative `activity_id` by 0, a
/// parent that is the activity itself by none, and percentages above 100 by 100.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Name of the operation.
    pub activity: PsString,
    /// Identifies the operation among concurrent ones.
    pub activity_id: i32,
    /// Status text.
    pub status_description: PsString,
    /// The current step, if known.
    pub current_operation: Option<PsString>,
    /// Id of the parent operation, -1 for none.
    pub parent_activity_id: i32,
    /// Percentage of completion, -1 if unknown.
    pub percent_complete: i32,
    /// Whether the record is the last of the operation.
    pub completed: bool,
    /// Remaining seconds, -1 if unknown.
    pub seconds_remaining: i32,
}

impl Progress {
    /// Creates a record of a running operation without parent, percentage or remaining time.
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
