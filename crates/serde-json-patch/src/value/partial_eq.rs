//! Comparisons of trees with other types.

use super::Value;

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<Value> for str {
    fn eq(&self, other: &Value) -> bool {
        other == self
    }
}

macro_rules! text {
    ($($type:ty)*) => {
        $(
            impl PartialEq<$type> for Value {
                fn eq(&self, other: &$type) -> bool {
                    self.as_str() == Some(&**other)
                }
            }

            impl PartialEq<Value> for $type {
                fn eq(&self, other: &Value) -> bool {
                    other == self
                }
            }
        )*
    };
}

text! { &str String }

impl Value {
    fn as_f32(&self) -> Option<f32> {
        self.as_number()?.as_f32()
    }
}

macro_rules! scalars {
    ($($method:ident: $($type:ty)*;)*) => {
        $($(
            impl PartialEq<$type> for Value {
                fn eq(&self, other: &$type) -> bool {
                    self.$method() == Some(*other as _)
                }
            }

            impl PartialEq<Value> for $type {
                fn eq(&self, other: &Value) -> bool {
                    other == self
                }
            }

            impl PartialEq<$type> for &Value {
                fn eq(&self, other: &$type) -> bool {
                    **self == *other
                }
            }

            impl PartialEq<$type> for &mut Value {
                fn eq(&self, other: &$type) -> bool {
                    **self == *other
                }
            }
        )*)*
    };
}

scalars! {
    as_i64: i8 i16 i32 i64 isize;
    as_u64: u8 u16 u32 u64 usize;
    as_f32: f32;
    as_f64: f64;
    as_bool: bool;
}
