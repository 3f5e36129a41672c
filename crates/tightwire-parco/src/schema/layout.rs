//! The encoding described by a schema: its canonical text and fingerprint.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{Number, Schema, of};
use crate::default_wire::Encode;
use crate::wire::Endian;

/// A 64-bit hash of an encoding, equal for schemas with the same encoding.
///
/// The names of fields and the grouping of fields into nested structs are not included, since neither is encoded. Two
/// peers can compare fingerprints, and a test can pin one.
///
/// It is the 64-bit FNV-1a hash (offset basis `cbf29ce484222325`, prime `100000001b3`, both hexadecimal) of the bytes
/// of [`Schema::canonical`]. Implementations in other languages can compute it from that text:
///
/// | Schema | text |
/// |---|---|
/// | bool | `bool` |
/// | one-byte integer | `u8`, `i8` |
/// | other integer | `u16le`, `i64be`, ...; `int` and `uint` are 64-bit integers; a header is its integer |
/// | float | `f32le`, `f32be`, `f64le`, `f64be` |
/// | string, blob | `bytes(H)`, with the header as an integer |
/// | slice, array, map | `slice(H T)`, `array(N T)`, `map(H K V)` |
/// | option | `option(T)` |
/// | reserved bytes | `skip(N)`; omitted if it is a field and `N` is 0 |
/// | time in UTC, time with a zone | `time`, `located` |
/// | struct | `(`, the fields separated by single spaces, `)` |
/// | struct as a field | its fields in place of the field |
/// | multi | `multi(H L:ID=T ...)`, with the ids in bytewise order and `L` the length of the id in bytes, in decimal |
/// | recursive struct or multi | `@` and its text, even if it is a field |
/// | reference to it | `^N`, where `N` counts the enclosing `@` outwards from 1 |
///
/// ```
/// use tightwire_parco::schema::{self, Schema};
///
/// let byte = || schema::of::<u8>();
/// let point = Schema::Struct(vec![("x".into(), byte()), ("y".into(), byte())]);
/// let pixel = Schema::Struct(vec![("at".into(), point), ("hue".into(), schema::of::<u16>())]);
/// assert_eq!(pixel.canonical(), "(u8 u8 u16le)");
/// assert_eq!(pixel.fingerprint().to_string(), "771914a7fa482743");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u64);

/// Returns the fingerprint of a type that can be encoded.
pub fn fingerprint<T: Encode + ?Sized>() -> Fingerprint {
    of::<T>().fingerprint()
}

impl Fingerprint {
    /// Returns the hash.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl From<u64> for Fingerprint {
    fn from(bits: u64) -> Self {
        Self(bits)
    }
}

/// Prints 16 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Schema {
    /// Returns the canonical text of the encoding; see [`Fingerprint`].
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = Layout::of(self).write(&mut text, &mut Vec::new());
        text
    }

    /// Returns the fingerprint of the encoding.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        // Writing to the hash never fails.
        let _ = Layout::of(self).write(&mut hash, &mut Vec::new());
        Fingerprint(hash.0)
    }
}

struct Fnv(u64);

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// A schema without the parts that do not affect the encoding.
pub(super) struct Layout {
    pub(super) kind: LayoutKind,
    /// Type name in the schema.
    pub(super) label: &'static str,
}

pub(super) enum LayoutKind {
    /// A type with its canonical text and fixed size.
    Leaf(String, u64),
    Bytes(String),
    Slice(String, Box<Layout>),
    Array(u64, Box<Layout>),
    Map(String, Box<Layout>, Box<Layout>),
    Option(Box<Layout>),
    Skip(u64),
    TimeLocation,
    /// Fields are named by their paths from here.
    Struct(Recursion, Vec<(String, Layout)>),
    Multi(Recursion, Box<Layout>, Vec<(String, Layout)>),
    /// A reference to the struct or multi at this level.
    Recursive(usize),
}

/// Nesting level of a struct or multi, and whether it contains itself.
#[derive(Clone, Copy)]
pub(super) struct Recursion {
    pub(super) level: usize,
    pub(super) is_recursive: bool,
}

impl Layout {
    pub(super) fn of(schema: &Schema) -> Self {
        Self::build(schema, &mut Vec::new())
    }

    /// `ancestors` contains for each enclosing struct or multi whether a reference to it was found.
    fn build(schema: &Schema, ancestors: &mut Vec<bool>) -> Self {
        let (label, kind) = match schema {
            Schema::Bool => ("bool", LayoutKind::Leaf("bool".into(), 1)),
            Schema::Number(number, endian) | Schema::Header(number, endian) => {
                (number.name(), LayoutKind::Leaf(token(*number, *endian), number.width() as u64))
            }
            Schema::String { header } => ("string", LayoutKind::Bytes(header_token(header))),
            Schema::Blob { header } => ("blob", LayoutKind::Bytes(header_token(header))),
            Schema::Slice { header, element } => {
                ("slice", LayoutKind::Slice(header_token(header), Self::boxed(element, ancestors)))
            }
            Schema::Array { len, element } => {
                ("array", LayoutKind::Array(*len, Self::boxed(element, ancestors)))
            }
            Schema::Map { header, key, value } => {
                let key = Self::boxed(key, ancestors);
                ("map", LayoutKind::Map(header_token(header), key, Self::boxed(value, ancestors)))
            }
            Schema::Option(inner) => ("option", LayoutKind::Option(Self::boxed(inner, ancestors))),
            Schema::Struct(fields) => {
                let level = ancestors.len();
                ancestors.push(false);
                let mut list = Vec::with_capacity(fields.len());
                for (name, schema) in fields {
                    Self::add(name.clone(), Self::build(schema, ancestors), &mut list);
                }
                let is_recursive = ancestors.pop().unwrap_or(false);
                ("struct", LayoutKind::Struct(Recursion { level, is_recursive }, list))
            }
            Schema::Skip(count) => ("skip", LayoutKind::Skip(*count)),
            Schema::TimeUtc => ("time_utc", LayoutKind::Leaf("time".into(), 8)),
            Schema::TimeLocation => ("time_location", LayoutKind::TimeLocation),
            Schema::Multi { header, models } => {
                let header = Self::boxed(header, ancestors);
                let level = ancestors.len();
                ancestors.push(false);
                let mut list: Vec<_> =
                    models.iter().map(|(id, schema)| (id.clone(), Self::build(schema, ancestors))).collect();
                list.sort_by(|(one, _), (other, _)| one.cmp(other));
                let is_recursive = ancestors.pop().unwrap_or(false);
                ("multi", LayoutKind::Multi(Recursion { level, is_recursive }, header, list))
            }
            Schema::Recursive(levels) => {
                let level = ancestors.len().saturating_sub(*levels);
                if let Some(is_recursive) = ancestors.get_mut(level) {
                    *is_recursive = true;
                }
                ("recursive", LayoutKind::Recursive(level))
            }
        };
        Self { kind, label }
    }

    fn boxed(schema: &Schema, ancestors: &mut Vec<bool>) -> Box<Self> {
        Box::new(Self::build(schema, ancestors))
    }

    /// Appends a field. Structs are replaced by their fields, and empty skips are omitted.
    fn add(name: String, layout: Self, list: &mut Vec<(String, Self)>) {
        match layout.kind {
            LayoutKind::Skip(0) => {}
            LayoutKind::Struct(Recursion { is_recursive: false, .. }, fields) => {
                list.extend(
                    fields.into_iter().map(|(inner, layout)| (alloc::format!("{name}.{inner}"), layout)),
                );
            }
            _ => list.push((name, layout)),
        }
    }

    /// Returns the encoded size if it is fixed and zero bytes are a valid value.
    pub(super) fn fixed_size(&self) -> Option<u64> {
        match &self.kind {
            LayoutKind::Leaf(_, size) | LayoutKind::Skip(size) => Some(*size),
            LayoutKind::Array(len, element) => element.fixed_size()?.checked_mul(*len),
            LayoutKind::Struct(_, fields) => {
                fields.iter().try_fold(0, |sum: u64, (_, field)| sum.checked_add(field.fixed_size()?))
            }
            _ => None,
        }
    }

    /// Writes the canonical text; `ancestors` contains the levels of the enclosing recursive types.
    fn write(&self, out: &mut impl fmt::Write, ancestors: &mut Vec<usize>) -> fmt::Result {
        match &self.kind {
            LayoutKind::Leaf(text, _) => out.write_str(text),
            LayoutKind::Bytes(header) => write!(out, "bytes({header})"),
            LayoutKind::Slice(header, element) => {
                write!(out, "slice({header} ")?;
                element.write(out, ancestors)?;
                out.write_char(')')
            }
            LayoutKind::Array(len, element) => {
                write!(out, "array({len} ")?;
                element.write(out, ancestors)?;
                out.write_char(')')
            }
            LayoutKind::Map(header, key, value) => {
                write!(out, "map({header} ")?;
                key.write(out, ancestors)?;
                out.write_char(' ')?;
                value.write(out, ancestors)?;
                out.write_char(')')
            }
            LayoutKind::Option(inner) => {
                out.write_str("option(")?;
                inner.write(out, ancestors)?;
                out.write_char(')')
            }
            LayoutKind::Skip(count) => write!(out, "skip({count})"),
            LayoutKind::TimeLocation => out.write_str("located"),
            LayoutKind::Struct(recursion, fields) => {
                recursion.write_recursive(out, ancestors, |out, ancestors| {
                    out.write_char('(')?;
                    for (index, (_, field)) in fields.iter().enumerate() {
                        if index > 0 {
                            out.write_char(' ')?;
                        }
                        field.write(out, ancestors)?;
                    }
                    out.write_char(')')
                })
            }
            LayoutKind::Multi(recursion, header, models) => {
                recursion.write_recursive(out, ancestors, |out, ancestors| {
                    out.write_str("multi(")?;
                    header.write(out, ancestors)?;
                    for (id, model) in models {
                        write!(out, " {}:{id}=", id.len())?;
                        model.write(out, ancestors)?;
                    }
                    out.write_char(')')
                })
            }
            LayoutKind::Recursive(level) => {
                let at = ancestors.iter().position(|ancestors| ancestors == level);
                write!(out, "^{}", at.map_or(0, |at| ancestors.len() - at))
            }
        }
    }
}

impl Recursion {
    fn write_recursive<W: fmt::Write>(
        self,
        out: &mut W,
        ancestors: &mut Vec<usize>,
        inside: impl FnOnce(&mut W, &mut Vec<usize>) -> fmt::Result,
    ) -> fmt::Result {
        if !self.is_recursive {
            return inside(out, ancestors);
        }
        out.write_char('@')?;
        ancestors.push(self.level);
        inside(out, ancestors)?;
        ancestors.pop();
        Ok(())
    }
}

fn token(number: Number, endian: Endian) -> String {
    let kind = match (number.is_float(), number.is_signed()) {
        (true, _) => 'f',
        (_, true) => 'i',
        _ => 'u',
    };
    let order = match endian {
        _ if number.width() == 1 => "",
        Endian::Little => "le",
        Endian::Big => "be",
    };
    alloc::format!("{kind}{}{order}", 8 * number.width())
}

/// Returns the canonical text of a header, or an empty string if the type cannot be a header.
fn header_token(header: &Schema) -> String {
    match header {
        Schema::Number(number, endian) | Schema::Header(number, endian) => token(*number, *endian),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use core::fmt::Write as _;

    use super::*;

    fn byte() -> Schema {
        Schema::Number(Number::Uint8, Endian::Little)
    }

    fn structure(fields: Vec<Schema>) -> Schema {
        let name = |index| alloc::format!("f{index}");
        Schema::Struct(fields.into_iter().enumerate().map(|(index, field)| (name(index), field)).collect())
    }

    #[test]
    fn equal_encodings_have_equal_canonical_texts() {
        let header = || Box::new(byte());
        let counting = || Box::new(Schema::Header(Number::Uint8, Endian::Little));
        for (one, other) in [
            (Schema::String { header: header() }, Schema::Blob { header: counting() }),
            (Schema::Number(Number::Int, Endian::Big), Schema::Number(Number::Int64, Endian::Big)),
            (
                structure(
                    [byte(), structure([byte(), Schema::Skip(0)].into()), structure(Vec::new())].into(),
                ),
                structure([byte(), byte()].into()),
            ),
        ] {
            assert_eq!(one.canonical(), other.canonical());
            assert_eq!(one.fingerprint(), other.fingerprint());
        }
    }

    #[test]
    fn references_count_only_recursive_types() {
        let list = structure([byte(), Schema::Option(Box::new(Schema::Recursive(1)))].into());
        assert_eq!(list.canonical(), "@(u8 option(^1))");
        // The struct in between is not recursive, so it is not counted.
        let inner = structure([Schema::Option(Box::new(Schema::Recursive(2)))].into());
        let outer = structure([inner, list.clone()].into());
        assert_eq!(outer.canonical(), "@(option(^1) @(u8 option(^1)))");
        let inner = structure([list, Schema::Option(Box::new(Schema::Recursive(2)))].into());
        assert_eq!(structure([inner].into()).canonical(), "@(@(u8 option(^1)) option(^1))");
    }

    #[test]
    fn ids_are_sorted_and_delimited() {
        let multi = Schema::Multi {
            header: Box::new(Schema::String { header: Box::new(byte()) }),
            models: [("b c".into(), structure([byte()].into())), ("a".into(), Schema::Bool)].into(),
        };
        assert_eq!(multi.canonical(), "multi(bytes(u8) 1:a=bool 3:b c=(u8))");
    }

    #[test]
    fn hash_is_fnv_1a() {
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        hash.write_str("foobar").unwrap();
        assert_eq!(hash.0, 0x8594_4171_f739_67e8);
    }
}
