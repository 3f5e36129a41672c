//! Enum variants: a name, or an object or dictionary with one member named after the variant.

use serde::de::{self, DeserializeSeed, EnumAccess, Unexpected, VariantAccess, Visitor};

use super::access::name_of;
use super::{Deserializer as _, ValueDeserializer};
use crate::serde::error::{Result, mismatch};
use crate::serde::functions::RemainingBudget;
use crate::serde::view::{ObjectView, text};
use crate::{Error, Value};

pub(super) fn visit<'de, V: Visitor<'de>>(
    deserializer: ValueDeserializer<'_>,
    variants: &'static [&'static str],
    visitor: V,
) -> Result<V::Value> {
    let ValueDeserializer { value, budget } = deserializer;
    let only = ObjectView::of(value).and_then(|view| view.single_member());
    if let Some((name, inner)) = only
        && let Some(variant) = name.as_str().and_then(|name| find(name, variants))
    {
        return budget
            .nested(|| visitor.visit_enum(Variant { variant, inner: Some(inner), budget }))
            .map_err(|error| error.at(variant));
    }
    match text(value) {
        Some(text) => match text.as_str().and_then(|name| find(name, variants)) {
            Some(variant) => visitor.visit_enum(Variant { variant, inner: None, budget }),
            None => Err(de::Error::unknown_variant("", variants)),
        },
        None if only.is_some() => Err(de::Error::unknown_variant("", variants)),
        None => Err(mismatch(value, &visitor)),
    }
}

/// Returns the variant with this name; an exact match has priority over one that ignores the case of ASCII letters.
fn find(name: &str, variants: &'static [&'static str]) -> Option<&'static str> {
    let exact = variants.iter().find(|variant| **variant == name);
    exact.or_else(|| variants.iter().find(|variant| variant.eq_ignore_ascii_case(name))).copied()
}

/// A variant and its content.
struct Variant<'v> {
    variant: &'static str,
    inner: Option<&'v Value>,
    budget: &'v RemainingBudget,
}

impl<'v> Variant<'v> {
    fn inner(self, expected: &dyn de::Expected) -> Result<ValueDeserializer<'v>> {
        match self.inner {
            Some(inner) => ValueDeserializer::new(inner, self.budget),
            None => Err(de::Error::invalid_type(Unexpected::UnitVariant, expected)),
        }
    }
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        Ok((seed.deserialize(name_of(self.variant))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.inner {
            None | Some(Value::Nil) => Ok(()),
            Some(value) => Err(mismatch(value, &"a variant without value")),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self.inner(&"a variant with a value")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        self.inner(&visitor)?.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.inner(&visitor)?.deserialize_struct("", fields, visitor)
    }
}
