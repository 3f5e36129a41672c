//! Arrays and objects.

use serde::{Serialize, ser};

use super::Serializer;
use super::form::Form;
use super::key::Key;
use super::raw::{self, RawText};
use super::sort::{self, Unsorted};
use crate::error::{Error, Result};
use crate::scan::push_entry;

/// What closes beside the array or object itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    None,
    /// The object around the content of an enum variant.
    Brace,
}

/// An array or an object that is being written.
pub(crate) struct Compound<'s, F> {
    serializer: &'s mut Serializer<F>,
    first: bool,
    tail: Tail,
    /// Where the entries of an object begin.
    start: usize,
    /// Where the text of the last key begins.
    last_key: usize,
    /// Whether the keys came in the order of their bytes so far. Only kept up to date where keys are sorted.
    in_order: bool,
    /// How many unsorted maps had been noted when the object began.
    first_inner: usize,
}

impl<'s, F: Form> Compound<'s, F> {
    #[inline]
    pub(super) fn array(serializer: &'s mut Serializer<F>, tail: Tail) -> Self {
        serializer.out.push(b'[');
        Self { serializer, first: true, tail, start: 0, last_key: 0, in_order: true, first_inner: 0 }
    }

    #[inline]
    pub(super) fn object(serializer: &'s mut Serializer<F>, tail: Tail) -> Self {
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

/// serde has a trait per kind of Rust value; in JSON all four are arrays.
macro_rules! arrays {
    ($($kind:ident::$element:ident)*) => {
        $(
            impl<F: Form> ser::$kind for Compound<'_, F> {
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

impl<F: Form> ser::SerializeMap for Compound<'_, F> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let before = self.serializer.out.len();
        key.serialize(Key::new(&mut *self.serializer, !self.first))?;
        if F::SORTED {
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
        if F::SORTED && !self.in_order {
            let Serializer { out, unsorted, .. } = &mut *self.serializer;
            unsorted.push(Unsorted::new(out, self.start, unsorted, self.first_inner)?);
        }
        self.close(b'}')
    }
}

impl<F: Form> ser::SerializeStructVariant for Compound<'_, F> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        push_entry::<F::Set>(&mut self.serializer.out, !self.first, key);
        self.first = false;
        value.serialize(&mut *self.serializer)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.close(b'}')
    }
}

/// A struct that is being written, or a raw value that comes in the guise of one.
pub(crate) struct Fields<'s, F> {
    serializer: &'s mut Serializer<F>,
    first: bool,
    raw: bool,
}

impl<'s, F: Form> Fields<'s, F> {
    #[inline(always)]
    pub(super) fn new(serializer: &'s mut Serializer<F>, name: &'static str) -> Self {
        let raw = raw::is_token(name);
        if !raw {
            serializer.out.push(b'{');
        }
        Self { serializer, first: true, raw }
    }
}

impl<F: Form> ser::SerializeStruct for Fields<'_, F> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        if self.raw {
            return value.serialize(RawText(&mut *self.serializer));
        }
        push_entry::<F::Set>(&mut self.serializer.out, !self.first, key);
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
