//! Results of host methods.

use uuid::Uuid;

use super::{CellBuffer, ConsoleColor, Coordinates, HostMethod, KeyInfo, Size};
use crate::Error;
use crate::record::PsCredential;
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, Field, Mismatch};
use crate::value::{Object, PsString, SecureString, Value, Version};

/// Defines [`HostResult`] and [`Shape`] from the results that are read and written like a member of a message; the
/// others are listed in the macro.
macro_rules! host_results {
    ($($(#[$doc:meta])* $name:ident($type:ty),)*) => {
        /// Result of a host method.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum HostResult {
            /// No result: the method returns nothing, or the user entered nothing.
            Nothing,
            $($(#[$doc])* $name($type),)*
            /// Names of a prompt's fields, and the values entered.
            Answers(Vec<(PsString, Value)>),
            /// Result of an unknown method.
            Other(Value),
        }

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Shape {
            Nothing,
            $($name,)*
            Answers,
            Other,
        }

        impl HostResult {
            /// Returns the value to send, `None` for [`HostResult::Nothing`].
            pub fn to_value(&self) -> Option<Value> {
                match self {
                    Self::Nothing => None,
                    $(Self::$name(result) => Some(result.write()),)*
                    Self::Answers(answers) => Some(Object::dictionary(answers.iter().cloned()).into()),
                    Self::Other(value) => Some(value.clone()),
                }
            }

            fn read(shape: Shape, value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
                Ok(match shape {
                    $(Shape::$name => Self::$name(Field::read(value, budget)?),)*
                    Shape::Answers => Self::Answers(answers(value, budget)?),
                    // An unexpected value is harmless.
                    Shape::Nothing | Shape::Other => Self::Other(Field::read(value, budget)?),
                })
            }
        }
    };
}

host_results! {
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
    /// Indexes of several choices.
    Choices(Vec<i32>),
}

impl HostResult {
    /// Reads the result of a method. `$null` is [`HostResult::Nothing`] for every method.
    ///
    /// # Errors
    ///
    /// Fails if the value does not have the method's result type ([`Error::is_mismatch`]).
    pub fn from_value(method: HostMethod, value: &Value) -> Result<Self, Error> {
        if value.is_nil() {
            return Ok(Self::Nothing);
        }
        let mut budget = CopyBudget::new(DEFAULT_COPY_BUDGET);
        Ok(Self::read(method.shape(), value, &mut budget).map_err(|mismatch| mismatch.in_member("mr"))?)
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
