//! Limit on the memory that typed messages copy out of one value.

use super::Mismatch;
use crate::value::{Members, PsString, Value};

/// Default limit on bytes copied out of one value: 64 MiB.
///
/// Objects inside a value are shared, but their typed forms are copies: without a limit, a document of a few kilobytes
/// with many references to one long string could take any amount of memory.
pub(crate) const DEFAULT_COPY_BUDGET: usize = 64 << 20;

/// Bytes charged for an item of a list or a member, besides its text.
const ITEM: usize = 32;

/// Remaining bytes that may be copied.
#[derive(Debug)]
pub(crate) struct CopyBudget(usize);

impl CopyBudget {
    pub(crate) fn new(max_size: usize) -> Self {
        Self(max_size)
    }

    fn bytes(&mut self, count: usize) -> Result<(), Mismatch> {
        self.0 = self.0.checked_sub(count).ok_or_else(Mismatch::limit)?;
        Ok(())
    }

    /// Returns the remaining bytes.
    pub(crate) fn remaining(&self) -> usize {
        self.0
    }

    pub(crate) fn item(&mut self) -> Result<(), Mismatch> {
        self.bytes(ITEM)
    }

    /// Charges the items of a list or a boxed struct, without the memory that they own.
    pub(crate) fn items<T>(&mut self, count: usize) -> Result<(), Mismatch> {
        self.bytes(count.saturating_mul(size_of::<T>().max(ITEM)))
    }

    pub(crate) fn text(&mut self, text: &PsString) -> Result<(), Mismatch> {
        self.bytes(text.size())
    }

    pub(crate) fn blob(&mut self, bytes: &[u8]) -> Result<(), Mismatch> {
        self.bytes(bytes.len())
    }

    /// Charges the bytes that a clone of the value copies; objects are shared.
    pub(crate) fn value(&mut self, value: &Value) -> Result<(), Mismatch> {
        match value {
            Value::String(text) | Value::Uri(text) | Value::Xml(text) | Value::ScriptBlock(text) => {
                self.text(text)
            }
            Value::Bytes(bytes) => self.blob(bytes),
            Value::Progress(record) => {
                self.text(&record.activity)?;
                self.text(&record.status_description)?;
                record.current_operation.as_ref().map_or(Ok(()), |text| self.text(text))
            }
            Value::MemberSet(members) => self.members(members),
            _ => Ok(()),
        }
    }

    fn members(&mut self, members: &Members) -> Result<(), Mismatch> {
        let mut sets = vec![members];
        while let Some(members) = sets.pop() {
            for (name, value) in members.iter() {
                self.item()?;
                self.text(name)?;
                match value {
                    Value::MemberSet(inner) => sets.push(inner),
                    value => self.value(value)?,
                }
            }
        }
        Ok(())
    }
}
