//! Methods of a host and their identifiers.

use super::result::Shape;
use super::table::methods;
use crate::shape::open_enum;

macro_rules! define {
    ($(
        $(#[$attr:meta])*
        $method:ident = $number:literal $(($($parameter:ident: $type:ty),* $(,)?))? => $shape:ident;
    )*) => {
        open_enum! {
            /// A method of a host (`System.Management.Automation.Remoting.RemoteHostMethodId`, MS-PSRP 2.2.3.17).
            pub enum HostMethod as "System.Management.Automation.Remoting.RemoteHostMethodId" {
                $($(#[$attr])* $method = $number,)*
            }
        }

        impl HostMethod {
            pub(super) const fn shape(self) -> Shape {
                match self {
                    $(Self::$method => Shape::$shape,)*
                    Self::Other(_) => Shape::Other,
                }
            }
        }
    };
}

methods!(define);

impl HostMethod {
    /// Returns whether the method has no result, so that a call of it has no response.
    pub const fn is_void(self) -> bool {
        matches!(self.shape(), Shape::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_have_no_gap() {
        let numbers: Vec<i32> = HostMethod::ALL.iter().map(|method| method.number()).collect();
        assert_eq!(numbers, (1..=56).collect::<Vec<_>>());
    }

    #[test]
    fn these_methods_return_nothing() {
        let void: Vec<i32> =
            HostMethod::ALL.iter().filter(|method| method.is_void()).map(|method| method.number()).collect();
        let expected =
            [6..=10, 13..=22, 28..=28, 30..=30, 32..=32, 34..=34, 36..=36, 38..=38, 40..=40, 42..=42];
        let expected = expected.into_iter().chain([47..=49, 51..=53]).flatten().collect::<Vec<_>>();
        assert_eq!(void, expected);
    }
}
