//! The [`Field`] trait: types of message members, and the limit on the memory that they copy.

use uuid::Uuid;

use crate::Error;
use crate::error::Kind;
use crate::value::{DateTime, Members, Object, PsString, SecureString, Value, Version};

/// A type that can be a member of a message.
pub(crate) trait Field: Sized {
    fn write(&self) -> Value;

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error>;

    /// The meaning of `$null` as a parameter of a host call, for types where .NET allows it: strings and lists.
    fn from_nil() -> Option<Self> {
        None
    }
}

impl Field for Value {
    fn write(&self) -> Value {
        self.clone()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        budget.value(value)?;
        Ok(value.clone())
    }
}

macro_rules! copied {
    ($($type:ty, $get:expr, $what:literal;)*) => {$(
        impl Field for $type {
            fn write(&self) -> Value {
                Value::from(*self)
            }

            fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Error> {
                let get: fn(&Value) -> Option<Self> = $get;
                get(value).ok_or_else(|| Error::mismatch($what))
            }
        }
    )*};
}

copied! {
    bool, Value::as_bool, "not a boolean";
    i32, Value::as_i32, "not a 32-bit integer";
    i64, Value::as_i64, "not a 64-bit integer";
    u32, |value| value.as_u64().and_then(|number| u32::try_from(number).ok()), "not an unsigned 32-bit integer";
    Version, |value| match value.base() { Value::Version(version) => Some(*version), _ => None }, "not a version";
    Uuid, |value| match value.base() { Value::Guid(id) => Some(*id), _ => None }, "not a GUID";
    DateTime, |value| match value.base() { Value::DateTime(time) => Some(*time), _ => None }, "not a date";
}

/// A UTF-16 code unit, `<C>`. No message contains an unsigned 16-bit integer.
impl Field for u16 {
    fn write(&self) -> Value {
        Value::Char(*self)
    }

    fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Error> {
        let unit = match value.base() {
            Value::Char(unit) => Some(*unit),
            other => other.as_i64().and_then(|number| Self::try_from(number).ok()),
        };
        unit.ok_or_else(|| Error::mismatch("not a character"))
    }
}

impl Field for PsString {
    fn write(&self) -> Value {
        Value::String(self.clone())
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let text = value.as_ps_string().ok_or_else(|| Error::mismatch("not a string"))?;
        budget.text(text)?;
        Ok(text.clone())
    }

    fn from_nil() -> Option<Self> {
        Some(Self::default())
    }
}

impl Field for SecureString {
    fn write(&self) -> Value {
        Value::SecureString(self.clone())
    }

    fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Error> {
        match value.base() {
            Value::SecureString(secret) => Ok(secret.clone()),
            _ => Err(Error::mismatch("not a secure string")),
        }
    }
}

impl Field for Box<[u8]> {
    fn write(&self) -> Value {
        Value::Bytes(self.clone())
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let bytes = value.as_bytes().ok_or_else(|| Error::mismatch("not a byte array"))?;
        budget.blob(bytes)?;
        Ok(bytes.into())
    }
}

impl<T: Field> Field for Box<T> {
    fn write(&self) -> Value {
        (**self).write()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        budget.items::<T>(1)?;
        T::read(value, budget).map(Self::new)
    }
}

impl<T: Field> Field for Option<T> {
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Nil, T::write)
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        if value.is_nil() { Ok(None) } else { T::read(value, budget).map(Some) }
    }
}

/// Written as `System.Collections.ArrayList`, which receivers accept for any list; read from any container.
impl<T: Field> Field for Vec<T> {
    fn write(&self) -> Value {
        Object::list(self.iter().map(T::write)).into()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let items = value.items().ok_or_else(|| Error::mismatch("not a list"))?;
        budget.items::<T>(items.len())?;
        let mut read = Self::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            read.push(T::read(item, budget).map_err(|error| error.at(index))?);
        }
        Ok(read)
    }

    fn from_nil() -> Option<Self> {
        Some(Self::default())
    }
}

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

    fn bytes(&mut self, count: usize) -> Result<(), Error> {
        self.0 =
            self.0.checked_sub(count).ok_or_else(|| Error::with(Kind::Limit, "too much memory to copy"))?;
        Ok(())
    }

    /// Returns the remaining bytes.
    pub(crate) fn remaining(&self) -> usize {
        self.0
    }

    pub(crate) fn item(&mut self) -> Result<(), Error> {
        self.bytes(ITEM)
    }

    /// Charges the items of a list or a boxed struct, without the memory that they own.
    pub(crate) fn items<T>(&mut self, count: usize) -> Result<(), Error> {
        self.bytes(count.saturating_mul(size_of::<T>().max(ITEM)))
    }

    pub(crate) fn text(&mut self, text: &PsString) -> Result<(), Error> {
        self.bytes(text.size())
    }

    pub(crate) fn blob(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.bytes(bytes.len())
    }

    /// Charges the bytes that a clone of the value copies; objects are shared.
    pub(crate) fn value(&mut self, value: &Value) -> Result<(), Error> {
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

    fn members(&mut self, members: &Members) -> Result<(), Error> {
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
