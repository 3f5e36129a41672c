//! Results of host methods.

use uuid::Uuid;

use super::method::Shape;
use super::{CellBuffer, ConsoleColor, Coordinates, HostMethod, KeyInfo, Size};
use crate::Error;
use crate::record::PsCredential;
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, Field, Mismatch};
use crate::value::{Object, PsString, SecureString, Value, Version};

/// Result of a host method.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HostResult {
    /// No result: the method returns nothing, or the user entered nothing.
    Nothing,
    /// Text: an input line, a title, or a culture name.
    Text(PsString),
    /// Secure string.
    Secure(SecureString),
    /// Version of the host.
    Version(Version),
    /// Identifier.
    Guid(Uuid),
    /// Number: the index of a choice, or the cursor size in percent.
    Number(i32),
    /// Boolean.
    Bool(bool),
    /// Colour.
    Color(ConsoleColor),
    /// Position.
    Coordinates(Coordinates),
    /// Size.
    Size(Size),
    /// Key.
    Key(KeyInfo),
    /// Cells of the screen buffer.
    Cells(CellBuffer),
    /// User name and password.
    Credential(PsCredential),
    /// Names of a prompt's fields, and the values entered.
    Answers(Vec<(PsString, Value)>),
    /// Indexes of several choices.
    Choices(Vec<i32>),
    /// Result of an unknown method.
    Other(Value),
}

impl HostResult {
    /// Returns the value to send, `None` for [`HostResult::Nothing`].
    pub fn to_value(&self) -> Option<Value> {
        Some(match self {
            Self::Nothing => return None,
            Self::Text(text) => text.write(),
            Self::Secure(text) => text.write(),
            Self::Version(version) => version.write(),
            Self::Guid(id) => id.write(),
            Self::Number(number) => number.write(),
            Self::Bool(value) => value.write(),
            Self::Color(color) => color.write(),
            Self::Coordinates(place) => place.write(),
            Self::Size(size) => size.write(),
            Self::Key(key) => key.write(),
            Self::Cells(cells) => cells.write(),
            Self::Credential(credential) => credential.write(),
            Self::Answers(answers) => Object::dictionary(answers.iter().cloned()).into(),
            Self::Choices(choices) => choices.write(),
            Self::Other(value) => value.clone(),
        })
    }

    /// Reads the result of a method. `$null` is [`HostResult::Nothing`] for every method.
    ///
    /// # Errors
    ///
    /// Fails if the value does not have the method's result type ([`Error::is_mismatch`]).
    pub fn from_value(method: HostMethod, value: &Value) -> Result<Self, Error> {
        let mut budget = CopyBudget::new(DEFAULT_COPY_BUDGET);
        Ok(Self::read(method, value, &mut budget).map_err(|mismatch| mismatch.in_member("mr"))?)
    }

    fn read(method: HostMethod, value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        if value.is_nil() {
            return Ok(Self::Nothing);
        }
        Ok(match method.shape() {
            Shape::Text => Self::Text(Field::read(value, budget)?),
            Shape::Secure => Self::Secure(Field::read(value, budget)?),
            Shape::Version => Self::Version(Field::read(value, budget)?),
            Shape::Guid => Self::Guid(Field::read(value, budget)?),
            Shape::Number => Self::Number(Field::read(value, budget)?),
            Shape::Bool => Self::Bool(Field::read(value, budget)?),
            Shape::Color => Self::Color(Field::read(value, budget)?),
            Shape::Coordinates => Self::Coordinates(Field::read(value, budget)?),
            Shape::Size => Self::Size(Field::read(value, budget)?),
            Shape::Key => Self::Key(Field::read(value, budget)?),
            Shape::Cells => Self::Cells(Field::read(value, budget)?),
            Shape::Credential => Self::Credential(Field::read(value, budget)?),
            Shape::Answers => Self::Answers(answers(value, budget)?),
            Shape::Choices => Self::Choices(Field::read(value, budget)?),
            // An unexpected value is harmless.
            Shape::Nothing | Shape::Other => Self::Other(Field::read(value, budget)?),
        })
    }
}

fn answers(value: &Value, budget: &mut CopyBudget) -> Result<Vec<(PsString, Value)>, Mismatch> {
    let entries = value.entries().ok_or_else(|| Mismatch::new("is no dictionary"))?;
    budget.items::<(PsString, Value)>(entries.len())?;
    let mut answers = Vec::with_capacity(entries.len());
    for (index, (key, answer)) in entries.iter().enumerate() {
        let name = PsString::read(key, budget).map_err(|mismatch| mismatch.in_item(index))?;
        answers.push((name, Value::read(answer, budget)?));
    }
    Ok(answers)
}
