//! Serializer that accepts only strings, for the text of numbers and raw values.

use serde::ser::Serializer;

use super::reject::reject;
use crate::error::{Error, Result};

/// Receiver of the string.
pub(crate) trait Target {
    type Ok;

    fn text(self, text: &str) -> Result<Self::Ok>;

    /// Returns the error for any other value.
    fn other() -> Error;
}

pub(crate) struct OnlyText<T>(pub(crate) T);

impl<T: Target> OnlyText<T> {
    fn rejected(self) -> Error {
        T::other()
    }
}

impl<T: Target> Serializer for OnlyText<T> {
    type Ok = T::Ok;
    type Error = Error;

    fn serialize_str(self, text: &str) -> Result<T::Ok> {
        self.0.text(text)
    }

    reject! { T::Ok; scalars unit_variant newtype_struct some }
}
