//! Progress records as messages.

use crate::Error;
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, object_struct, open_enum};
use crate::value::{Progress, PsString, Value};

open_enum! {
    /// State of an operation (`System.Management.Automation.ProgressRecordType`).
    pub enum ProgressRecordType as "System.Management.Automation.ProgressRecordType" {
        /// The operation is running.
        Processing = 0,
        /// The operation has ended.
        Completed = 1,
    }
}

/// The object that represents progress in messages; the element `<PR>` is also read.
///
/// PowerShell rejects a record with an empty text, a negative id, itself as its parent, or more than 100 percent, and
/// fails the pipeline.
impl Field for Progress {
    fn write(&self) -> Value {
        let text = |text: &PsString| if text.is_empty() { PsString::from_static(" ") } else { text.clone() };
        let id = self.activity_id.max(0);
        let mut out = MemberWriter::default();
        out.put("Activity", &text(&self.activity));
        out.put("ActivityId", &id);
        out.put("StatusDescription", &text(&self.status_description));
        out.put("CurrentOperation", &self.current_operation);
        out.put(
            "ParentActivityId",
            &Some(self.parent_activity_id).filter(|parent| *parent != id).unwrap_or(-1),
        );
        out.put("PercentComplete", &self.percent_complete.min(100));
        out.put("Type", &ProgressRecordType::from_number(self.completed.into()));
        out.put("SecondsRemaining", &self.seconds_remaining);
        out.finish()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        if let Value::Progress(record) = value {
            budget.value(value)?;
            return Ok((**record).clone());
        }
        let mut from = MemberReader::new(value, budget)?;
        Ok(Self {
            activity: from.optional("Activity")?.unwrap_or_default(),
            activity_id: from.required("ActivityId")?,
            status_description: from.optional("StatusDescription")?.unwrap_or_default(),
            current_operation: from.optional("CurrentOperation")?,
            parent_activity_id: from.optional("ParentActivityId")?.unwrap_or(-1),
            percent_complete: from.optional("PercentComplete")?.unwrap_or(-1),
            completed: from.optional("Type")? == Some(ProgressRecordType::Completed),
            seconds_remaining: from.optional("SecondsRemaining")?.unwrap_or(-1),
        })
    }
}

object_struct!(@values Progress);
