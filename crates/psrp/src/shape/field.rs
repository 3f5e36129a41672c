//! What a member of a message can hold.

use uuid::Uuid;

use super::{Budget, Mismatch};
use crate::value::{DateTime, Object, PsString, SecureString, TypeNames, Value, Version};

/// A type that is a value of a message or a part of one.
pub(crate) trait Field: Sized {
    fn write(&self) -> Value;

    fn read(value: &Value, budget: &mut Budget) -> Result<Self, Mismatch>;

    /// What `$null` means as a parameter of a host call, where .NET allows it for strings and lists.
    fn from_nil() -> Option<Self> {
        None
    }
}

impl Field for Value {
    fn write(&self) -> Value {
        self.clone()
    }

    fn read(value: &Value, budget: &mut Budget) -> Result<Self, Mismatch> {
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

            fn read(value: &Value, _: &mut Budget) -> Result<Self, Mismatch> {
                let get: fn(&Value) -> Option<Self> = $get;
                get(value).ok_or_else(|| Mismatch::new($what))
            }
        }
    )*};
}

copied! {
    bool, Value::as_bool, "is no boolean";
    i32, Value::as_i32, "is no integer of 32 bits";
    i64, Value::as_i64, "is no integer of 64 bits";
    u32, |value| value.as_u64().and_then(|number| u32::try_from(number).ok()), "is no unsigned integer of 32 bits";
    Version, |value| match value.base() { Value::Version(version) => Some(*version), _ => None }, "is no version";
    Uuid, |value| match value.base() { Value::Guid(id) => Some(*id), _ => None }, "is no GUID";
    DateTime, |value| match value.base() { Value::DateTime(time) => Some(*time), _ => None }, "is no date";
}

/// A code unit of UTF-16, `<C>`; no message has an unsigned integer of 16 bits.
impl Field for u16 {
    fn write(&self) -> Value {
        Value::Char(*self)
    }

    fn read(value: &Value, _: &mut Budget) -> Result<Self, Mismatch> {
        let unit = match value.base() {
            Value::Char(unit) => Some(*unit),
            other => other.as_i64().and_then(|number| Self::try_from(number).ok()),
        };
        unit.ok_or_else(|| Mismatch::new("is no character"))
    }
}

impl Field for PsString {
    fn write(&self) -> Value {
        Value::String(self.clone())
    }

    fn read(value: &Value, budget: &mut Budget) -> Result<Self, Mismatch> {
        let text = value.as_ps_string().ok_or_else(|| Mismatch::new("is no string"))?;
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

    fn read(value: &Value, _: &mut Budget) -> Result<Self, Mismatch> {
        match value.base() {
            Value::SecureString(secret) => Ok(secret.clone()),
            _ => Err(Mismatch::new("is no secure string")),
        }
    }
}

impl Field for Box<[u8]> {
    fn write(&self) -> Value {
        Value::Bytes(self.clone())
    }

    fn read(value: &Value, budget: &mut Budget) -> Result<Self, Mismatch> {
        let bytes = value.as_bytes().ok_or_else(|| Mismatch::new("is no array of bytes"))?;
        budget.blob(bytes)?;
        Ok(bytes.into())
    }
}

impl<T: Field> Field for Box<T> {
    fn write(&self) -> Value {
        (**self).write()
    }

    fn read(value: &Value, budget: &mut Budget) -> Result<Self, Mismatch> {
        budget.items::<T>(1)?;
        T::read(value, budget).map(Self::new)
    }
}

impl<T: Field> Field for Option<T> {
    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Nil, T::write)
    }

    fn read(value: &Value, budget: &mut Budget) -> Result<Self, Mismatch> {
        if value.is_nil() { Ok(None) } else { T::read(value, budget).map(Some) }
    }
}

/// Written as `System.Collections.ArrayList`, which every receiver takes for any list; read from any container.
impl<T: Field> Field for Vec<T> {
    fn write(&self) -> Value {
        list(self.iter().map(T::write))
    }

    fn read(value: &Value, budget: &mut Budget) -> Result<Self, Mismatch> {
        let items = value.items().ok_or_else(|| Mismatch::new("is no list"))?;
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

/// A list whose type names are shared by all lists.
fn list(items: impl IntoIterator<Item = Value>) -> Value {
    use std::sync::LazyLock;

    use crate::value::ContainerKind;

    static NAMES: LazyLock<TypeNames> =
        LazyLock::new(|| TypeNames::new(["System.Collections.ArrayList", "System.Object"]));
    Object::builder().shared_type_names(NAMES.clone()).list(ContainerKind::List, items).build().into()
}
