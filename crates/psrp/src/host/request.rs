//! Host methods with typed parameters.

use super::table::methods;
use super::{
    BufferCell, CellBuffer, ChoiceDescription, ConsoleColor, Coordinates, CredentialTypes,
    CredentialUiOptions, FieldDescription, HostMethod, ReadKeyOptions, Rectangle, Size,
};
use crate::shape::{CopyBudget, Field, Mismatch};
use crate::value::{Progress, PsString, Value};

macro_rules! define {
    ($(
        $(#[$attr:meta])*
        $method:ident = $number:literal $(($($parameter:ident: $type:ty),* $(,)?))? => $shape:ident;
    )*) => {
        /// A host method with its parameters.
        ///
        /// Texts and lists that are `$null` are read as empty.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the names of the parameters say it")]
        pub enum HostRequest {
            $($(#[$attr])* $method $({ $($parameter: $type,)* })?,)*
            /// Unknown method.
            Other {
                /// Identifier of the method.
                method: i32,
                /// Untyped parameters.
                parameters: Vec<Value>,
            },
        }

        impl HostRequest {
            /// Returns the method.
            pub const fn method(&self) -> HostMethod {
                match self {
                    $(Self::$method $({ $($parameter: _,)* })? => HostMethod::$method,)*
                    Self::Other { method, .. } => HostMethod::from_number(*method),
                }
            }

            /// Returns the untyped parameters.
            pub fn to_parameters(&self) -> Vec<Value> {
                match self {
                    $(Self::$method $({ $($parameter,)* })? => vec![$($($parameter.write(),)*)?],)*
                    Self::Other { parameters, .. } => parameters.clone(),
                }
            }

            pub(super) fn read(
                method: HostMethod,
                parameters: &[Value],
                budget: &mut CopyBudget,
            ) -> Result<Self, Mismatch> {
                #[allow(unused_mut, unused_variables, reason = "for methods without parameters")]
                let mut from = Parameters { left: parameters.iter().enumerate(), count: parameters.len(), budget };
                Ok(match method {
                    $(HostMethod::$method => Self::$method $({ $($parameter: from.next()?,)* })?,)*
                    HostMethod::Other(method) => {
                        Self::Other { method, parameters: parameters.iter().map(|value| Value::read(value, from.budget)).collect::<Result<_, _>>()? }
                    }
                })
            }
        }
    };
}

methods!(define);

struct Parameters<'a, 'b> {
    left: std::iter::Enumerate<std::slice::Iter<'a, Value>>,
    count: usize,
    budget: &'b mut CopyBudget,
}

impl Parameters<'_, '_> {
    fn next<T: Field>(&mut self) -> Result<T, Mismatch> {
        let Some((index, value)) = self.left.next() else {
            return Err(Mismatch::new("is missing").in_item(self.count));
        };
        if value.is_nil()
            && let Some(empty) = T::from_nil()
        {
            return Ok(empty);
        }
        T::read(value, self.budget).map_err(|mismatch| mismatch.in_item(index))
    }
}
