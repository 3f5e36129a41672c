//! The encodings of integers, characters and tags in bincode and postcard.
//!
//! The dialect is a constant of the byte order, so that the branches on it are resolved at compile time.

use core::marker::PhantomData;

use super::adjust::Id;
use super::prelude::*;
use super::{Be, Endian, Format, Go, Header as _, Le, Order, U8, U32, U64, Varint};
use crate::error::ErrorKind;
use crate::options::Mode;
use crate::read::varint;

/// Returns the bytes of a number in a byte order.
macro_rules! to_bytes {
    ($endian:expr, $number:expr) => {
        match $endian {
            Endian::Little => ($number).to_le_bytes(),
            Endian::Big => ($number).to_be_bytes(),
        }
    };
}

/// Returns the number with these bytes in a byte order.
macro_rules! from_bytes {
    ($endian:expr, $number:ty, $bytes:expr) => {
        match $endian {
            Endian::Little => <$number>::from_le_bytes($bytes),
            Endian::Big => <$number>::from_be_bytes($bytes),
        }
    };
}
#[cfg(feature = "alloc")]
pub(super) use from_bytes;
pub(super) use to_bytes;

/// How integers of more than one byte, characters, lengths and tags are encoded: as in this crate, or as in another library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// The format of this crate: integers have a fixed width.
    Native,
    /// bincode with integers of fixed width: lengths have eight bytes, tags four.
    BincodeFixed,
    /// bincode with integers of variable width: one byte up to 250, or a byte for the width and two, four, eight or sixteen bytes.
    BincodeVariable,
    /// postcard: integers are varints.
    Postcard,
}

/// A format in which types of all crates have default wire types: [`Le`], [`Be`] and [`Go`]. In the formats of other libraries,
/// types that these encode in another way have none.
#[diagnostic::on_unimplemented(
    message = "the type has no default wire type in the format `{Self}`",
    label = "no default wire type in this format",
    note = "if the type derives the codec: add the attribute `#[parco(format = ..)]` of the outer type to it",
    note = "otherwise: add `#[parco(with = ..)]` to the field"
)]
pub trait Native: Format {}

impl Native for Le {}

impl Native for Be {}

impl<O: Order> Native for Go<O> {}

macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident $(<$endian:ident>)? = $dialect:ident, $order:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name $(<$endian = Le>(PhantomData<$endian>))?;

        impl $(<$endian: Order>)? Order for $name $(<$endian>)? {
            const ENDIAN: Endian = $order;
            const DIALECT: Dialect = Dialect::$dialect;
        }

        impl $(<$endian: Order>)? Format for $name $(<$endian>)? {
            type Order = Self;
            type Header = U64<Self>;
        }
    )*};
}

formats! {
    /// The format of bincode with integers of fixed width: `bincode::serialize` of version 1, and `config::legacy` of version 2.
    /// `#[parco(format = bincode1)]` selects it.
    Bincode1<E> = BincodeFixed, E::ENDIAN;
    /// The format of bincode with integers of variable width: `config::standard` of version 2, and `DefaultOptions` of version 1.
    /// `#[parco(format = bincode2)]` selects it.
    ///
    /// Lengths are at most 2^32 - 1.
    Bincode2<E> = BincodeVariable, E::ENDIAN;
    /// The format of postcard 1. `#[parco(format = postcard)]` selects it.
    Postcard = Postcard, Endian::Little;
}

impl Dialect {
    /// Returns whether the width of integers depends on their value.
    pub(crate) const fn is_variable(self) -> bool {
        matches!(self, Self::BincodeVariable | Self::Postcard)
    }

    /// Returns the width of an unsigned integer of variable width.
    #[inline(always)]
    pub(super) const fn width(self, number: u64) -> usize {
        match (self, number) {
            (Self::BincodeVariable, 0..=250) => 1,
            (Self::BincodeVariable, 251..=0xffff) => 3,
            (Self::BincodeVariable, 0x1_0000..=0xffff_ffff) => 5,
            (Self::BincodeVariable, _) => 9,
            _ => Varint::width_of(number),
        }
    }

    /// Returns the maximum width of an integer of this fixed width.
    pub(super) const fn max_width(self, width: usize) -> usize {
        match self {
            Self::BincodeVariable => 1 + width,
            Self::Postcard => (8 * width).div_ceil(7),
            Self::Native | Self::BincodeFixed => width,
        }
    }

    /// Returns the maximum length of a header whose integer has this maximum. Headers have at most eight bytes.
    pub(super) const fn max(self, integer: u64) -> u64 {
        let most = match self {
            Self::BincodeVariable => 0xffff_ffff,
            Self::Postcard => (1 << 56) - 1,
            Self::Native | Self::BincodeFixed => integer,
        };
        if integer < most { integer } else { most }
    }

    /// Returns the maximum length of a header of minimum width.
    pub(super) const fn max_short(self, integer: u64) -> u64 {
        match self {
            Self::BincodeVariable => 250,
            Self::Postcard => 0x7f,
            Self::Native | Self::BincodeFixed => integer,
        }
    }

    /// Returns the header of a length in an encoding of variable width.
    #[inline(always)]
    pub(super) fn header(self, endian: Endian, len: u64) -> [u8; 8] {
        if self != Self::BincodeVariable {
            return Varint::head(len);
        }
        let mut header = [0; 8];
        match len {
            0..=250 => header[0] = len as u8,
            251..=0xffff => {
                header[0] = 251;
                header[1..3].copy_from_slice(&to_bytes!(endian, len as u16));
            }
            _ => {
                header[0] = 252;
                header[1..5].copy_from_slice(&to_bytes!(endian, len as u32));
            }
        }
        header
    }

    /// Writes an unsigned integer of variable width.
    #[inline]
    pub(super) fn write(self, endian: Endian, number: u64, writer: &mut Writer<'_>) {
        match (self, number) {
            (Self::BincodeVariable, 0x1_0000_0000..) => {
                writer.array([253]);
                writer.array(to_bytes!(endian, number));
            }
            (Self::BincodeVariable, _) => {
                writer.prefixed(self.header(endian, number), self.width(number), &[]);
            }
            _ => Varint::write(number, writer),
        }
    }

    /// Reads an unsigned integer of variable width.
    #[inline(always)]
    pub(super) fn read<I: Input>(self, endian: Endian, input: &mut I) -> Result<u64, Fault> {
        if self != Self::BincodeVariable {
            return input.varint();
        }
        let (number, width) = marked(endian, input)?;
        u64::try_from(number).map_err(|_| input.rewind_fault(Fault::OVERFLOW, width))
    }

    /// Returns the schema of an integer of variable width.
    #[cfg(feature = "alloc")]
    pub(super) fn schema(self, is_signed: bool) -> Schema {
        match (self, is_signed) {
            (Self::Postcard, false) => Schema::Varint,
            (Self::Postcard, true) => Schema::Logical { name: "zigzag".into(), inner: Schema::Varint.into() },
            _ => opaque(),
        }
    }
}

/// Returns the schema of a value that a run-time schema cannot describe, and thus not decode: an enum without variants.
#[cfg(feature = "alloc")]
fn opaque() -> Schema {
    let header = Schema::Varint.into();
    Schema::Logical { name: "bincode".into(), inner: Schema::Multi { header, models: [].into() }.into() }
}

/// Reads an integer of bincode's variable encoding. Returns also its width.
fn marked<I: Input>(endian: Endian, input: &mut I) -> Result<(u128, usize), Fault> {
    macro_rules! read {
        ($number:ty) => {{
            let bytes = input.array().map_err(|fault| input.rewind_fault(fault, 1))?;
            from_bytes!(endian, $number, bytes).into()
        }};
    }
    let [first] = input.array::<1>()?;
    let (number, width, least): (u128, usize, u128) = match first {
        251 => (read!(u16), 3, 251),
        252 => (read!(u32), 5, 1 << 16),
        253 => (read!(u64), 9, 1 << 32),
        254 => (read!(u128), 17, 1 << 64),
        255 => return Err(input.rewind_fault(Fault::INVALID_VALUE, 1)),
        byte => (byte.into(), 1, 0),
    };
    if number < least && input.options().mode == Mode::Strict {
        return Err(input.rewind_fault(Fault(ErrorKind::Overlong), width));
    }
    Ok((number, width))
}

/// A number as the unsigned integer of variable encodings: zigzag if it is signed. Floats have no such encoding.
pub(crate) trait Scalar: Copy {
    /// Whether the type has a variable encoding.
    #[cfg(feature = "serde")]
    const IS_VARIABLE: bool;

    fn to_unsigned(self) -> u64;

    fn from_unsigned(number: u64) -> Option<Self>;

    /// Reads the encoding of fixed width.
    fn get_fixed<I: Input>(endian: Endian, input: &mut I) -> Result<Self, Fault>;
}

macro_rules! scalars {
    ($($type:ty, $is_variable:literal: |$value:ident| $to:expr, |$number:ident| $from:expr;)*) => {$(
        impl Scalar for $type {
            #[cfg(feature = "serde")]
            const IS_VARIABLE: bool = $is_variable;

            #[inline(always)]
            fn get_fixed<I: Input>(endian: Endian, input: &mut I) -> Result<Self, Fault> {
                let bytes = input.array()?;
                Ok(from_bytes!(endian, Self, bytes))
            }

            #[inline]
            fn to_unsigned(self) -> u64 {
                let $value = self;
                $to
            }

            #[inline]
            fn from_unsigned($number: u64) -> Option<Self> {
                $from
            }
        }
    )*};
}

scalars! {
    u8, false: |value| value.into(), |number| number.try_into().ok();
    u16, true: |value| value.into(), |number| number.try_into().ok();
    u32, true: |value| value.into(), |number| number.try_into().ok();
    u64, true: |value| value, |number| Some(number);
    i8, false: |value| zigzag(value.into()), |number| unzigzag(number).try_into().ok();
    i16, true: |value| zigzag(value.into()), |number| unzigzag(number).try_into().ok();
    i32, true: |value| zigzag(value.into()), |number| unzigzag(number).try_into().ok();
    i64, true: |value| zigzag(value), |number| Some(unzigzag(number));
    f32, false: |value| value.to_bits().into(), |number| number.try_into().ok().map(Self::from_bits);
    f64, false: |value| value.to_bits(), |number| Some(Self::from_bits(number));
}

#[inline]
const fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

#[inline]
const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Reads a number of a serde type.
#[cfg(feature = "serde")]
#[inline]
pub(crate) fn get_number<O: Order, T: Scalar>(input: &mut impl Input) -> Result<T, Fault> {
    if !T::IS_VARIABLE || !O::DIALECT.is_variable() {
        return T::get_fixed(O::ENDIAN, input);
    }
    let number = O::DIALECT.read(O::ENDIAN, input)?;
    T::from_unsigned(number).ok_or_else(|| input.rewind_fault(Fault::OVERFLOW, O::DIALECT.width(number)))
}

/// Writes an integer of 128 bits of a serde type, which is no level of nesting.
#[cfg(feature = "serde")]
pub(crate) fn put_wide<O: Order>(number: u128, writer: &mut Writer<'_>) {
    if O::DIALECT.is_variable() {
        U128::<O>::write(number, writer);
    } else {
        writer.array(to_bytes!(O::ENDIAN, number));
    }
}

/// Reads an integer of 128 bits of a serde type.
#[cfg(feature = "serde")]
pub(crate) fn get_wide<O: Order>(input: &mut impl Input) -> Result<u128, Fault> {
    if O::DIALECT.is_variable() {
        return U128::<O>::read(input);
    }
    let bytes = input.array()?;
    Ok(from_bytes!(O::ENDIAN, u128, bytes))
}

pub(crate) fn get_char<O: Order>(input: &mut impl Input) -> Result<char, Fault> {
    if O::DIALECT != Dialect::Native {
        return Char::<O>::read(input);
    }
    let number = u32::get_fixed(O::ENDIAN, input)?;
    char::from_u32(number).ok_or_else(|| input.rewind_fault(Fault::INVALID_VALUE, 4))
}

pub(super) const fn tag_width<O: Order>() -> usize {
    if matches!(O::DIALECT, Dialect::BincodeFixed) { 4 } else { 1 }
}

/// Writes the tag of a type with at most three alternatives.
#[inline]
pub(super) fn put_tag<O: Order>(tag: u8, writer: &mut Writer<'_>) -> Result<(), Fault> {
    if tag_width::<O>() == 1 { U8.put(&tag, writer) } else { U32::<O>::NEW.put(&u32::from(tag), writer) }
}

#[inline(always)]
pub(super) fn put_tagged<O: Order, W: Put<T>, T>(
    tag: u8,
    wire: &W,
    value: &T,
    writer: &mut Writer<'_>,
) -> Result<(), Fault> {
    put_tag::<O>(tag, writer)?;
    wire.put(value, writer)
}

/// Reads the tag of a type with this number of alternatives.
#[inline]
pub(super) fn find_tag<O: Order, I: Input>(count: usize, input: &mut I) -> Result<usize, Fault> {
    if tag_width::<O>() == 1 {
        U8::find(&[0, 1, 2][..count], input)
    } else {
        U32::<O>::find(&[0, 1, 2][..count], input)
    }
}

#[cfg(feature = "alloc")]
pub(super) fn tag_schema<O: Order>(context: &mut SchemaContext) -> Schema {
    if tag_width::<O>() == 1 { U8.schema(context) } else { U32::<O>::NEW.schema(context) }
}

/// `char`: the Unicode scalar value as a [`U32`]. In the formats of bincode it is UTF-8, and in that of postcard a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Char<O>(PhantomData<O>);

impl<O: Order> Char<O> {
    /// Reads UTF-8.
    fn read<I: Input>(input: &mut I) -> Result<char, Fault> {
        let announced = if O::DIALECT == Dialect::Postcard { Some(Varint::length(input)?) } else { None };
        let [first] = input.array::<1>()?;
        let len = match first {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        };
        if announced.is_some_and(|announced| announced != len) {
            return Err(input.rewind_fault(Fault::INVALID_VALUE, 2));
        }
        let mut bytes = [first, 0, 0, 0];
        input.fill(&mut bytes[1..len])?;
        match core::str::from_utf8(&bytes[..len]).ok().and_then(|text| text.chars().next()) {
            Some(char) => Ok(char),
            None => Err(input.rewind_fault(Fault::INVALID_UTF8, len)),
        }
    }
}

impl<O: Order> Wire for Char<O> {
    #[inline]
    fn min_size(&self) -> usize {
        match O::DIALECT {
            Dialect::Native => 4,
            Dialect::Postcard => 2,
            Dialect::BincodeFixed | Dialect::BincodeVariable => 1,
        }
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        if O::DIALECT == Dialect::Native { Some(4) } else { None }
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        if O::DIALECT == Dialect::Native { input.skip(4) } else { Self::read(input).map(|_| ()) }
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        match O::DIALECT {
            Dialect::Native => U32::<O>::NEW.schema(context),
            Dialect::Postcard => Schema::String { header: Schema::Varint.into() },
            Dialect::BincodeFixed | Dialect::BincodeVariable => opaque(),
        }
    }
}

static_wire!([O: Order] Char<O> = Self(PhantomData));

impl<O: Order> Put<char> for Char<O> {
    #[inline]
    fn put(&self, value: &char, writer: &mut Writer<'_>) -> Result<(), Fault> {
        if O::DIALECT == Dialect::Native {
            return U32::<O>::NEW.put(&u32::from(*value), writer);
        }
        let mut buffer = [0; 4];
        let text = value.encode_utf8(&mut buffer);
        if O::DIALECT == Dialect::Postcard {
            writer.array([text.len() as u8]);
        }
        writer.bytes(text.as_bytes());
        Ok(())
    }

    #[inline]
    fn size(&self, value: &char, _: Levels) -> Result<usize, Fault> {
        Ok(match O::DIALECT {
            Dialect::Native => 4,
            Dialect::Postcard => 1 + value.len_utf8(),
            Dialect::BincodeFixed | Dialect::BincodeVariable => value.len_utf8(),
        })
    }
}

impl<O: Order> Get<'_, char> for Char<O> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<char, Fault> {
        get_char::<O>(reader)
    }
}

/// `u128` and `i128`: two [`U64`] in the byte order, or the integer of variable width of the dialect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct U128<O>(PhantomData<O>);

impl<O: Order> U128<O> {
    /// The wire type of an integer of fixed width.
    const HALVES: (U64<O>, U64<O>) = (U64::NEW, U64::NEW);

    fn halves(number: u128) -> (u64, u64) {
        let (low, high) = (number as u64, (number >> 64) as u64);
        match O::ENDIAN {
            Endian::Little => (low, high),
            Endian::Big => (high, low),
        }
    }

    fn whole((one, other): (u64, u64)) -> u128 {
        let (low, high) = match O::ENDIAN {
            Endian::Little => (one, other),
            Endian::Big => (other, one),
        };
        u128::from(high) << 64 | u128::from(low)
    }

    /// Writes an integer of variable width.
    fn write(number: u128, writer: &mut Writer<'_>) {
        match (O::DIALECT, u64::try_from(number)) {
            (dialect, Ok(number)) => dialect.write(O::ENDIAN, number, writer),
            (Dialect::BincodeVariable, _) => {
                writer.array([254]);
                writer.array(to_bytes!(O::ENDIAN, number));
            }
            _ => {
                let mut rest = number;
                while rest >= 0x80 {
                    writer.array([rest as u8 | 0x80]);
                    rest >>= 7;
                }
                writer.array([rest as u8]);
            }
        }
    }

    /// Reads an integer of variable width.
    fn read<I: Input>(input: &mut I) -> Result<u128, Fault> {
        if O::DIALECT == Dialect::BincodeVariable {
            return marked(O::ENDIAN, input).map(|(number, _)| number);
        }
        varint(input)
    }
}

impl<O: Order> Wire for U128<O> {
    #[inline]
    fn min_size(&self) -> usize {
        if O::DIALECT.is_variable() { 1 } else { 16 }
    }

    #[inline]
    fn fixed_size(&self) -> Option<usize> {
        if O::DIALECT.is_variable() { None } else { Some(16) }
    }

    #[inline]
    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        if O::DIALECT.is_variable() { Self::read(input).map(|_| ()) } else { Self::HALVES.walk(input) }
    }

    #[cfg(feature = "alloc")]
    fn schema(&self, context: &mut SchemaContext) -> Schema {
        if O::DIALECT.is_variable() { opaque() } else { Self::HALVES.schema(context) }
    }
}

static_wire!([O: Order] U128<O> = Self(PhantomData));

impl<O: Order> Put<u128> for U128<O> {
    #[inline]
    fn put(&self, value: &u128, writer: &mut Writer<'_>) -> Result<(), Fault> {
        if !O::DIALECT.is_variable() {
            return Self::HALVES.put(&Self::halves(*value), writer);
        }
        Self::write(*value, writer);
        Ok(())
    }

    #[inline]
    fn size(&self, value: &u128, levels: Levels) -> Result<usize, Fault> {
        if !O::DIALECT.is_variable() {
            return Self::HALVES.size(&Self::halves(*value), levels);
        }
        Ok(match (O::DIALECT, u64::try_from(*value)) {
            (dialect, Ok(number)) => dialect.width(number),
            (Dialect::BincodeVariable, _) => 17,
            _ => (128 - value.leading_zeros() as usize).div_ceil(7),
        })
    }
}

impl<O: Order> Get<'_, u128> for U128<O> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<u128, Fault> {
        if O::DIALECT.is_variable() {
            Self::read(reader)
        } else {
            Get::<(u64, u64)>::get(&Self::HALVES, reader).map(Self::whole)
        }
    }
}

// The integer is encoded as an unsigned one: in two's complement if the width is fixed, and otherwise as zigzag.
put_as! { [O: Order] i128, U128<O>: |wire, value| &unsigned::<O>(*value), wire; }

impl<O: Order> Get<'_, i128> for U128<O> {
    #[inline]
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<i128, Fault> {
        Ok(signed::<O>(self.get(reader)?))
    }
}

/// Returns the unsigned form of a signed integer: zigzag in dialects with variable integers, the same bits otherwise.
#[inline]
pub(crate) const fn unsigned<O: Order>(number: i128) -> u128 {
    if O::DIALECT.is_variable() { (number << 1 ^ number >> 127) as u128 } else { number as u128 }
}

/// Reverses [`unsigned`].
#[inline]
pub(crate) const fn signed<O: Order>(number: u128) -> i128 {
    if O::DIALECT.is_variable() { (number >> 1) as i128 ^ -((number & 1) as i128) } else { number as i128 }
}
