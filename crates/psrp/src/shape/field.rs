//! The [`Field`] trait: types of message members.

use uuid::Uuid;

use super::{CopyBudget, Mismatch};
use crate::value::{DateTime, Object, PsString, SecureString, TypeNames, Value, Version};

/// A type that can be a member of a message.
pub(crate) trait Field: Sized {
    fn write(&self) -> Value;

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch>;

    /// The meaning of `$null` as a parameter of a host call, for types where .NET allows it: strings and lists.
    fn from_nil() -> Option<Self> {
        None
    }
}

impl Field for Value {
    fn write(&self) -> Value {
        self.clone()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
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

            fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Mismatch> {
                let get: fn(&Value) -> Option<Self> = $get;
                get(value).ok_or_else(|| Mismatch::new($what))
            }
        }
    )*};
}

copied! {
    bool, Value::as_bool, "is not a boolean";
    i32, Value::as_i32, "is not a 32-bit integer";
    i64, Value::as_i64, "is not a 64-bit integer";
    u32, |value| value.as_u64().and_then(|number| u32::try_from(number).ok()), "is not an unsigned 32-bit integer";
    Version, |value| match value.base() { Value::Version(version) => Some(*version), _ => None }, "is not a version";
    Uuid, |value| match value.base() { Value::Guid(id) => Some(*id), _ => None }, "is not a GUID";
    DateTime, |value| match value.base() { Value::DateTime(time) => Some(*time), _ => None }, "is not a date";
}

/// A UTF-16 code unit, `<C>`. No message contains an unsigned 16-bit integer.
impl Field for u16 {
    fn write(&self) -> Value {
        Value::Char(*self)
    }

    fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Mismatch> {
        let unit = match value.base() {
            Value::Char(unit) => Some(*unit),
            other => other.as_i64().and_then(|number| Self::try_from(number).ok()),
        };
        unit.ok_or_else(|| Mismatch::new("is not a character"))
    }
}

impl Field for PsString {
    fn write(&self) -> Value {
        Value::String(self.clone())
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let text = value.as_ps_string().ok_or_else(|| Mismatch::new("is not a string"))?;
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

    fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Mismatch> {
        match value.base() {
            Value::SecureString(secret) => Ok(secret.clone()),
            _ => Err(Mismatch::new("is not a secure string")),
        }
    }
}

impl Field for Box<[u8]> {
    fn write(&self) -> Value {
        Value::Bytes(self.clone())
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let bytes = value.as_bytes().ok_or_else(|| Mismatch::new("is not a byte array"))?;
        budget.blob(bytes)?;
        Ok(bytes.into())
    }
}

impl<T: Field> Field for Box<T> {
    fn write(&self) -> Value {
        (**self).write()
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        budget.items::<T>(1)?;
        T::read(value, budget).map(Self::new)
    }
}

impl<T: Field> Field for Option<T> {
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Nil, T::write)
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        if value.is_nil() { Ok(None) } else { T::read(value, budget).map(Some) }
    }
}

/// Written as `System.Collections.ArrayList`, which receivers accept for any list; read from any container.
impl<T: Field> Field for Vec<T> {
    fn write(&self) -> Value {
        list(self.iter().map(T::write))
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let items = value.items().ok_or_else(|| Mismatch::new("is not a list"))?;
        budget.items::<T>(items.len())?;
        let mut read = Self::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            read.push(T::read(item, budget).map_err(|mismatch| mismatch.in_item(index))?);
        }
        Ok(read)
    }

    fn from_nil() -> Option<Self> {
        Some(Self::default())
    }
}

/// Creates a list; all lists share one allocation of type names.
fn list(items: impl IntoIterator<Item = Value>) -> Value {
    use std::sync::LazyLock;

    use crate::value::ContainerKind;

    static NAMES: LazyLock<TypeNames> =
        LazyLock::new(|| TypeNames::new(["System.Collections.ArrayList", "System.Object"]));
    Object::builder().shared_type_names(NAMES.clone()).list(ContainerKind::List, items).build().into()
}
