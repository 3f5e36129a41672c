//! Enums: a name, or an object or dictionary with one member named after the variant.

use serde::de::{self, DeserializeSeed, EnumAccess, IntoDeserializer, Unexpected, VariantAccess, Visitor};

use super::text::text;
use super::view::View;
use super::{Deserializer as _, ValueDeserializer};
use crate::Value;
use crate::serde::budget::Meter;
use crate::serde::fault::{Fault, Result, Step, mismatch};

pub(super) fn visit<'de, V: Visitor<'de>>(
    deserializer: ValueDeserializer<'_>,
    variants: &'static [&'static str],
    visitor: V,
) -> Result<V::Value> {
    let ValueDeserializer { value, meter } = deserializer;
    let only = View::of(value).and_then(|view| view.only());
    if let Some((name, inner)) = only
        && let Some(variant) = name.as_str().and_then(|name| find(name, variants))
    {
        return meter
            .nested(|| visitor.visit_enum(Variant { variant, inner: Some(inner), meter }))
            .map_err(|fault| fault.below(Step::Member(variant)));
    }
    match text(value) {
        Some(text) => match text.as_str().and_then(|name| find(name, variants)) {
            Some(variant) => visitor.visit_enum(Variant { variant, inner: None, meter }),
            None => Err(de::Error::unknown_variant("", variants)),
        },
        None if only.is_some() => Err(de::Error::unknown_variant("", variants)),
        None => Err(mismatch(value, &visitor)),
    }
}

/// The variant of this name, exactly or but for the case of ASCII letters.
fn find(name: &str, variants: &'static [&'static str]) -> Option<&'static str> {
    let exact = variants.iter().find(|variant| **variant == name);
    exact.or_else(|| variants.iter().find(|variant| variant.eq_ignore_ascii_case(name))).copied()
}

struct Variant<'v> {
    variant: &'static str,
    inner: Option<&'v Value>,
    meter: &'v Meter,
}

impl<'de, 'v> EnumAccess<'de> for Variant<'v> {
    type Error = Fault;
    type Variant = Content<'v>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Content<'v>)> {
        let variant =
            seed.deserialize(self.variant.into_deserializer() as de::value::StrDeserializer<'_, Fault>)?;
        Ok((variant, Content { inner: self.inner, meter: self.meter }))
    }
}

/// What a variant carries.
struct Content<'v> {
    inner: Option<&'v Value>,
    meter: &'v Meter,
}

impl<'v> Content<'v> {
    fn inner(self, expected: &dyn de::Expected) -> Result<ValueDeserializer<'v>> {
        match self.inner {
            Some(inner) => ValueDeserializer::new(inner, self.meter),
            None => Err(de::Error::invalid_type(Unexpected::UnitVariant, expected)),
        }
    }
}

impl<'de> VariantAccess<'de> for Content<'_> {
    type Error = Fault;

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
