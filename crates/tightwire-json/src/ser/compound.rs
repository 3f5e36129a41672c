//! Serializers of arrays and objects.

use serde::{Serialize, ser};

use super::Serializer;
use super::key::Key;
use super::raw::{self, RawText};
use super::sort::{self, Unsorted};
use super::style::Style;
use crate::error::{Error, Result};
use crate::scan::push_entry;

/// Bracket to write after the closing bracket of an array or object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    None,
    /// The object around the content of an enum variant.
    Brace,
}

/// Serializer of an array or object.
pub(crate) struct Compound<'s, S> {
    serializer: &'s mut Serializer<S>,
    first: bool,
    tail: Tail,
    /// Offset of the first entry of an object in the output.
    start: usize,
    /// Offset of the last key in the output.
    last_key: usize,
    /// Whether all keys so far are in byte order. Only maintained if the style sorts keys.
    in_order: bool,
    /// Number of unsorted maps recorded before this object.
    first_inner: usize,
}

impl<'s, S: Style> Compound<'s, S> {
    #[inline]
    pub(super) fn array(serializer: &'s mut Serializer<S>, tail: Tail) -> Self {
        serializer.out.push(b'[');
        Self { serializer, first: true, tail, start: 0, last_key: 0, in_order: true, first_inner: 0 }
    }

    #[inline]
    pub(super) fn object(serializer: &'s mut Serializer<S>, tail: Tail) -> Self {
        serializer.out.push(b'{');
        let (start, first_inner) = (serializer.out.len(), serializer.unsorted.len());
        Self { serializer, first: true, tail, start, last_key: start, in_order: true, first_inner }
    }

    #[inline]
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        if !self.first {
            self.serializer.out.push(b',');
        }
        self.first = false;
        value.serialize(&mut *self.serializer)
    }

    #[inline]
    fn close(self, bracket: u8) -> Result<()> {
        self.serializer.out.push(bracket);
        if self.tail == Tail::Brace {
            self.serializer.out.push(b'}');
        }
        Ok(())
    }
}

/// Implements the four traits of serde whose values are arrays in JSON.
macro_rules! arrays {
    ($($kind:ident::$element:ident)*) => {
        $(
            impl<S: Style> ser::$kind for Compound<'_, S> {
                type Ok = ();
                type Error = Error;

                #[inline]
                fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                    self.element(value)
                }

                #[inline]
                fn end(self) -> Result<()> {
                    self.close(b']')
                }
            }
        )*
    };
}

arrays! {
    SerializeSeq::serialize_element
    SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field
    SerializeTupleVariant::serialize_field
}

impl<S: Style> ser::SerializeMap for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let before = self.serializer.out.len();
        key.serialize(Key::new(&mut *self.serializer, !self.first))?;
        if S::SORTED {
            let key = before + usize::from(!self.first);
            if !self.first && self.in_order {
                self.in_order = sort::is_ordered(&self.serializer.out, self.last_key, key);
            }
            self.last_key = key;
        }
        self.first = false;
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        value.serialize(&mut *self.serializer)
    }

    #[inline]
    fn end(self) -> Result<()> {
        if S::SORTED && !self.in_order {
            let Serializer { out, unsorted, .. } = &mut *self.serializer;
            unsorted.push(Unsorted::new(out, self.start, unsorted, self.first_inner)?);
        }
        self.close(b'}')
    }
}

impl<S: Style> ser::SerializeStructVariant for Compound<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        push_entry::<S::Set>(&mut self.serializer.out, !self.first, key);
        self.first = false;
        value.serialize(&mut *self.serializer)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.close(b'}')
    }
}

/// Serializer of a struct, or of a raw value, which serde_json serializes as a struct.
pub(crate) struct Fields<'s, S> {
    serializer: &'s mut Serializer<S>,
    first: bool,
    raw: bool,
}

impl<'s, S: Style> Fields<'s, S> {
    #[inline(always)]
    pub(super) fn new(serializer: &'s mut Serializer<S>, name: &'static str) -> Self {
        let raw = raw::is_token(name);
        if !raw {
            serializer.out.push(b'{');
        }
        Self { serializer, first: true, raw }
    }
}

impl<S: Style> ser::SerializeStruct for Fields<'_, S> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        if self.raw {
            return value.serialize(RawText(&mut *self.serializer));
        }
        push_entry::<S::Set>(&mut self.serializer.out, !self.first, key);
        self.first = false;
        value.serialize(&mut *self.serializer)
    }

    #[inline(always)]
    fn end(self) -> Result<()> {
        if !self.raw {
            self.serializer.out.push(b'}');
        }
        Ok(())
    }
}
