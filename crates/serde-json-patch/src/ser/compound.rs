//! Arrays and objects that are being written.

use std::io::Write;

use serde::ser::{self, Serialize};

use super::key::Key;
#[cfg(any(feature = "arbitrary_precision", feature = "raw_value"))]
use super::only_text::{OnlyText, Target};
use super::{Formatter, Serializer};
use crate::error::{Error, Result};

/// Array or object that is being written.
#[doc(hidden)]
pub enum Compound<'a, W: 'a, F: 'a> {
    Map {
        ser: &'a mut Serializer<W, F>,
        state: State,
    },
    /// Number with all digits.
    #[cfg(feature = "arbitrary_precision")]
    Number {
        ser: &'a mut Serializer<W, F>,
    },
    /// Raw value.
    #[cfg(feature = "raw_value")]
    Raw {
        ser: &'a mut Serializer<W, F>,
    },
}

#[doc(hidden)]
#[derive(PartialEq, Eq)]
pub enum State {
    /// The closing bracket was written.
    Closed,
    First,
    Rest,
}

impl<'a, W: Write, F: Formatter> Compound<'a, W, F> {
    #[inline]
    pub(super) fn new(ser: &'a mut Serializer<W, F>, is_closed: bool) -> Self {
        Self::Map { ser, state: if is_closed { State::Closed } else { State::First } }
    }

    /// Returns the serializer of elements and entries, and its state.
    #[inline(always)]
    fn parts(&mut self) -> (&mut Serializer<W, F>, &mut State) {
        match self {
            Self::Map { ser, state } => (ser, state),
            // Only fields of a struct can be written there.
            #[cfg(feature = "arbitrary_precision")]
            Self::Number { .. } => unreachable!(),
            #[cfg(feature = "raw_value")]
            Self::Raw { .. } => unreachable!(),
        }
    }

    /// Writes a closing bracket. Returns the serializer.
    #[inline]
    fn close(
        self,
        end: impl FnOnce(&mut F, &mut W) -> std::io::Result<()>,
    ) -> Result<&'a mut Serializer<W, F>> {
        match self {
            Self::Map { ser, state } => {
                if state != State::Closed {
                    ser.write(end)?;
                }
                Ok(ser)
            }
            #[cfg(feature = "arbitrary_precision")]
            Self::Number { ser } => Ok(ser),
            #[cfg(feature = "raw_value")]
            Self::Raw { ser } => Ok(ser),
        }
    }

    #[inline]
    fn element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        let (ser, state) = self.parts();
        let is_first = std::mem::replace(state, State::Rest) == State::First;
        ser.write(|formatter, writer| formatter.begin_array_value(writer, is_first))?;
        value.serialize(&mut *ser)?;
        ser.write(F::end_array_value)
    }

    #[inline]
    fn field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        let (ser, state) = self.parts();
        let is_first = std::mem::replace(state, State::Rest) == State::First;
        ser.write(|formatter, writer| formatter.__write_key(writer, is_first, key))?;
        value.serialize(&mut *ser)?;
        ser.write(F::end_object_value)
    }
}

macro_rules! arrays {
    ($($trait:ident $method:ident)*) => {
        $(
            impl<W: Write, F: Formatter> ser::$trait for Compound<'_, W, F> {
                type Ok = ();
                type Error = Error;

                #[inline]
                fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
                    self.element(value)
                }

                #[inline]
                fn end(self) -> Result<()> {
                    self.close(F::end_array).map(drop)
                }
            }
        )*
    };
}

arrays! { SerializeSeq serialize_element SerializeTuple serialize_element SerializeTupleStruct serialize_field }

impl<W: Write, F: Formatter> ser::SerializeTupleVariant for Compound<'_, W, F> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        self.element(value)
    }

    fn end(self) -> Result<()> {
        self.close(F::end_array)?.end_variant()
    }
}

impl<W: Write, F: Formatter> ser::SerializeMap for Compound<'_, W, F> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<()> {
        let (ser, state) = self.parts();
        let is_first = std::mem::replace(state, State::Rest) == State::First;
        key.serialize(Key { ser, is_first })
    }

    #[inline]
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        let (ser, _) = self.parts();
        value.serialize(&mut *ser)?;
        ser.write(F::end_object_value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.close(F::end_object).map(drop)
    }
}

impl<W: Write, F: Formatter> ser::SerializeStruct for Compound<'_, W, F> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        match self {
            Self::Map { .. } => self.field(key, value),
            #[cfg(feature = "arbitrary_precision")]
            Self::Number { ser } if key == crate::number::TOKEN => value.serialize(OnlyText(NumberText(ser))),
            #[cfg(feature = "arbitrary_precision")]
            Self::Number { .. } => Err(Error::of(crate::error::Reason::NUMBER)),
            #[cfg(feature = "raw_value")]
            Self::Raw { ser } if key == crate::raw::TOKEN => value.serialize(OnlyText(RawText(ser))),
            #[cfg(feature = "raw_value")]
            Self::Raw { .. } => Err(Error::of(crate::error::Reason::VALUE)),
        }
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.close(F::end_object).map(drop)
    }
}

impl<W: Write, F: Formatter> ser::SerializeStructVariant for Compound<'_, W, F> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        self.field(key, value)
    }

    fn end(self) -> Result<()> {
        self.close(F::end_object)?.end_variant()
    }
}

#[cfg(feature = "arbitrary_precision")]
struct NumberText<'a, W, F>(&'a mut Serializer<W, F>);

#[cfg(feature = "arbitrary_precision")]
impl<W: Write, F: Formatter> Target for NumberText<'_, W, F> {
    type Ok = ();

    fn text(self, text: &str) -> Result<()> {
        self.0.write(|formatter, writer| formatter.write_number_str(writer, text))
    }

    fn other() -> Error {
        Error::of(crate::error::Reason::NUMBER)
    }
}

#[cfg(feature = "raw_value")]
struct RawText<'a, W, F>(&'a mut Serializer<W, F>);

#[cfg(feature = "raw_value")]
impl<W: Write, F: Formatter> Target for RawText<'_, W, F> {
    type Ok = ();

    fn text(self, text: &str) -> Result<()> {
        self.0.write(|formatter, writer| formatter.write_raw_fragment(writer, text))
    }

    fn other() -> Error {
        ser::Error::custom("expected RawValue")
    }
}
