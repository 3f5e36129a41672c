//! Values whose type is only known from a schema.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A value of any schema, as encoded and decoded by [`Dynamic`](super::Dynamic).
///
/// Values are equal if their encodings are equal; floats are therefore stored and compared as bits. Field names are
/// only in the schema: a struct contains its fields in the order of the schema.
///
/// ```
/// use tightwire_parco::schema::Value;
///
/// let pet = Value::Struct(vec!["cat".into(), 3u8.into()]);
/// assert_eq!(pet.as_struct().unwrap()[0].as_str(), Some("cat"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Value {
    /// A flag.
    Bool(bool),
    /// An integer, header, or time in UTC (nanoseconds since 1970). The range is checked when encoding.
    Integer(i128),
    /// The bits of a 32-bit float.
    Float32(u32),
    /// The bits of a 64-bit float.
    Float64(u64),
    /// A string or blob. Strings need not be UTF-8.
    Bytes(Vec<u8>),
    /// The elements of a slice or array.
    List(Vec<Self>),
    /// The entries of a map, in wire order.
    Map(Vec<(Self, Self)>),
    /// A value that may be absent (`None`).
    Option(Option<Box<Self>>),
    /// The fields of a struct, in the order of the schema. An evolve struct may have fewer at the end.
    Struct(Vec<Self>),
    /// Reserved bytes.
    Skip,
    /// A point in time and the name of a time zone.
    TimeLocation {
        /// Nanoseconds since 1970.
        unix_nanos: i64,
        /// Name of the zone, such as `UTC` or `Europe/Madrid`.
        zone: String,
    },
    /// One of the models of a registry.
    Multi {
        /// Id of the model.
        id: Box<Self>,
        /// Value of the model.
        value: Box<Self>,
    },
}

impl Value {
    /// Creates a present option.
    pub fn some(value: impl Into<Self>) -> Self {
        Self::Option(Some(Box::new(value.into())))
    }

    /// [`Value::Option`] without a value.
    pub const NONE: Self = Self::Option(None);

    /// Returns the bytes of a string or blob.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// Returns the text of a string, if it is UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(self.as_bytes()?).ok()
    }

    /// Returns the elements of a slice or array.
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(values) = self { Some(values) } else { None }
    }

    /// Returns the fields of a struct.
    pub fn as_struct(&self) -> Option<&[Self]> {
        if let Self::Struct(fields) = self { Some(fields) } else { None }
    }
}

macro_rules! from {
    ($($($type:ty),+: |$value:ident| $made:expr;)*) => {$($(
        impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $made
            }
        }
    )+)*};
}

from! {
    bool: |flag| Self::Bool(flag);
    u8, i8, u16, i16, u32, i32, u64, i64: |number| Self::Integer(number.into());
    f32: |number| Self::Float32(number.to_bits());
    f64: |number| Self::Float64(number.to_bits());
    &str: |text| Self::Bytes(text.into());
    String: |text| Self::Bytes(text.into_bytes());
    &[u8]: |bytes| Self::Bytes(bytes.into());
}
