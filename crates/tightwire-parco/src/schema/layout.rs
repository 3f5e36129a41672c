//! The encoding described by a schema: its canonical text and fingerprint.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use super::{Number, Schema, Variant, of};
use crate::default_wire::Encode;
#[cfg(feature = "std")]
use crate::error::{Error, ErrorKind};
use crate::wire::Endian;

/// A 64-bit hash of an encoding, equal for schemas with the same encoding.
///
/// The names of fields and types and the grouping of fields into nested structs are not included, since none is encoded.
/// The names of variants and of logical types are included: variants that were swapped, and values with another meaning,
/// have the same bytes. Two peers can compare fingerprints, and a test can pin one.
///
/// It is the 64-bit FNV-1a hash (offset basis `cbf29ce484222325`, prime `100000001b3`, both hexadecimal) of the bytes
/// of [`Schema::canonical`]. Implementations in other languages can compute it from that text:
///
/// | Schema | text |
/// |---|---|
/// | bool | `bool` |
/// | one-byte integer | `u8`, `i8` |
/// | other integer | `u16le`, `i64be`, ...; `int` and `uint` are 64-bit integers; a header is its integer |
/// | varint | `varint` |
/// | float | `f32le`, `f32be`, `f64le`, `f64be` |
/// | string, blob | `bytes(H)`, with the header as an integer |
/// | slice, array, map | `slice(H T)`, `array(N T)`, `map(H K V)` |
/// | option | `option(T)` |
/// | reserved bytes | `skip(N)`; omitted if it is a field and `N` is 0 |
/// | time in UTC, time with a zone | `time`, `located` |
/// | struct | `(`, the fields separated by single spaces, `)` |
/// | struct as a field | its fields in place of the field |
/// | evolve struct, also as a field | `evolve` and its text as a struct; which fields are required is not included |
/// | multi | `multi(H L:ID,L:NAME=T ...)`, with the ids in bytewise order and `L` the length of the id or name in bytes, in decimal; without `,L:NAME` if there is no name |
/// | logical type | `NAME:` and the text of its encoding; as a field, it is not replaced by its fields |
/// | recursive struct, evolve struct or multi | `@` and its text, even if it is a field |
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

    /// Returns the header of a stream or frame: the hash, little endian.
    #[cfg(feature = "std")]
    pub(crate) const fn header(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    /// Removes a header from the start of `bytes`, and checks that it is this fingerprint.
    #[cfg(feature = "std")]
    pub(crate) fn strip(self, bytes: &[u8]) -> Result<&[u8], Error> {
        match bytes.split_first_chunk() {
            Some((header, rest)) if *header == self.header() => Ok(rest),
            Some(_) => Err(Error::at(ErrorKind::SchemaMismatch, 0)),
            None => Err(Error::at(ErrorKind::UnexpectedEnd, 0)),
        }
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
    /// Type name in the schema.
    pub(super) label: &'static str,
    /// Name in the canonical text.
    pub(super) name: String,
    /// Header or length in the canonical text.
    pub(super) argument: String,
    /// Elements, fields or models. Fields of nested structs are named by their paths from here; the id of a multi is
    /// its first part.
    pub(super) parts: Vec<(String, Self)>,
    pub(super) kind: LayoutKind,
    /// Name of the logical type, or empty.
    pub(super) logical: String,
    /// Name of the variant that this is the schema of, or empty.
    pub(super) variant: String,
}

#[derive(Clone, Copy)]
pub(super) enum LayoutKind {
    /// A type with this size and without arguments and parts.
    Leaf(u64),
    Skip(u64),
    Array(u64),
    /// A varint, string, slice, map, option or time with a zone.
    Variable,
    /// A struct; an evolve struct with the number of parts that every message has.
    Struct(Recursion, Option<usize>),
    Multi(Recursion),
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

    fn new<const N: usize>(
        label: &'static str,
        name: &str,
        argument: String,
        parts: [(&str, &Schema); N],
        ancestors: &mut Vec<bool>,
    ) -> Self {
        let parts = parts.map(|(step, schema)| (step.into(), Self::build(schema, ancestors))).into();
        let (logical, variant) = (String::new(), String::new());
        Self { label, name: name.into(), argument, parts, kind: LayoutKind::Variable, logical, variant }
    }

    /// `ancestors` contains for each enclosing struct or multi whether a reference to it was found.
    fn build(schema: &Schema, ancestors: &mut Vec<bool>) -> Self {
        let simple = |label, name: &str| Self::new(label, name, String::new(), [], &mut Vec::new());
        let leaf = |label, name: &str, size| Self { kind: LayoutKind::Leaf(size), ..simple(label, name) };
        match schema {
            Schema::Bool => leaf("bool", "bool", 1),
            // The layouts of a number and of a header are equal, as are those of strings and blobs: their bytes are.
            Schema::Number(number, endian) | Schema::Header(number, endian) => {
                leaf(number.name(), &token(*number, *endian), number.width() as u64)
            }
            Schema::Varint => simple("varint", "varint"),
            Schema::String { header } => Self::new("string", "bytes", header_token(header), [], ancestors),
            Schema::Blob { header } => Self::new("blob", "bytes", header_token(header), [], ancestors),
            Schema::Slice { header, element } => {
                Self::new("slice", "slice", header_token(header), [("[]", element)], ancestors)
            }
            Schema::Array { len, element } => Self {
                kind: LayoutKind::Array(*len),
                ..Self::new("array", "array", len.to_string(), [("[]", element)], ancestors)
            },
            Schema::Map { header, key, value } => {
                let parts = [("[key]", &**key), ("[value]", value)];
                Self::new("map", "map", header_token(header), parts, ancestors)
            }
            Schema::Option(inner) => Self::new("option", "option", String::new(), [("?", inner)], ancestors),
            Schema::Struct(fields) => simple("struct", "").structure(fields, None, ancestors),
            Schema::Evolve { required, fields } => {
                simple("evolve", "evolve").structure(fields, Some(*required), ancestors)
            }
            Schema::Skip(count) => Self {
                kind: LayoutKind::Skip(*count),
                ..Self::new("skip", "skip", count.to_string(), [], ancestors)
            },
            Schema::TimeUtc => leaf("time_utc", "time", 8),
            Schema::TimeLocation => simple("time_location", "located"),
            Schema::Multi { header, models } => {
                let mut layout = Self::new("multi", "multi", String::new(), [("[id]", header)], ancestors);
                let recursion = Recursion::find(ancestors, |ancestors| {
                    let models = models.iter().map(|Variant { id, name, schema }| {
                        (id.clone(), Self { variant: name.clone(), ..Self::build(schema, ancestors) })
                    });
                    layout.parts.extend(models);
                });
                // The first part is the id. The order of declaration is not encoded.
                layout.parts[1..].sort_by(|(one, _), (other, _)| one.cmp(other));
                Self { kind: LayoutKind::Multi(recursion), ..layout }
            }
            Schema::Logical { name, inner } => {
                Self { logical: name.clone(), ..Self::build(inner, ancestors) }
            }
            Schema::Named { inner, .. } => Self::build(inner, ancestors),
            Schema::Recursive(levels) => {
                let level = ancestors.len().saturating_sub(*levels);
                if let Some(is_recursive) = ancestors.get_mut(level) {
                    *is_recursive = true;
                }
                Self { kind: LayoutKind::Recursive(level), ..simple("recursive", "") }
            }
        }
    }

    /// Adds fields, the first `required` of which every message has.
    fn structure(
        mut self,
        fields: &[(String, Schema)],
        required: Option<usize>,
        ancestors: &mut Vec<bool>,
    ) -> Self {
        let mut required_parts = 0;
        let recursion = Recursion::find(ancestors, |ancestors| {
            for (index, (name, schema)) in fields.iter().enumerate() {
                self.add(name, Self::build(schema, ancestors));
                // A field can be several parts, or none.
                if required.is_some_and(|required| index < required) {
                    required_parts = self.parts.len();
                }
            }
        });
        Self { kind: LayoutKind::Struct(recursion, required.map(|_| required_parts)), ..self }
    }

    /// Appends a field. Structs are replaced by their fields, and empty skips are omitted.
    fn add(&mut self, name: &str, field: Self) {
        match field.kind {
            LayoutKind::Skip(0) => {}
            LayoutKind::Struct(Recursion { is_recursive: false, .. }, None) if field.logical.is_empty() => {
                let inside =
                    field.parts.into_iter().map(|(inner, part)| (alloc::format!("{name}.{inner}"), part));
                self.parts.extend(inside);
            }
            _ => self.parts.push((name.into(), field)),
        }
    }

    /// Returns the encoded size if it is fixed and zero bytes are a valid value.
    pub(super) fn fixed_size(&self) -> Option<u64> {
        let mut parts = self.parts.iter().map(|(_, part)| part.fixed_size());
        match self.kind {
            // There is no month zero.
            _ if self.logical.starts_with("date") => None,
            LayoutKind::Leaf(size) | LayoutKind::Skip(size) => Some(size),
            LayoutKind::Array(len) => parts.next()??.checked_mul(len),
            LayoutKind::Struct(_, None) => parts.try_fold(0, |sum: u64, size| sum.checked_add(size?)),
            _ => None,
        }
    }

    /// Writes the canonical text; `ancestors` contains the levels of the enclosing recursive types.
    fn write(&self, out: &mut impl fmt::Write, ancestors: &mut Vec<usize>) -> fmt::Result {
        let outside = ancestors.len();
        if !self.logical.is_empty() {
            write!(out, "{}:", self.logical)?;
        }
        match self.kind {
            LayoutKind::Recursive(level) => {
                let at = ancestors.iter().position(|ancestor| *ancestor == level);
                return write!(out, "^{}", at.map_or(0, |at| outside - at));
            }
            LayoutKind::Struct(recursion, _) | LayoutKind::Multi(recursion) if recursion.is_recursive => {
                out.write_char('@')?;
                ancestors.push(recursion.level);
            }
            LayoutKind::Struct(..) => {}
            _ if self.argument.is_empty() && self.parts.is_empty() => return out.write_str(&self.name),
            _ => {}
        }
        write!(out, "{}({}", self.name, self.argument)?;
        for (index, (name, part)) in self.parts.iter().enumerate() {
            if index > 0 || !self.argument.is_empty() {
                out.write_char(' ')?;
            }
            if matches!(self.kind, LayoutKind::Multi(_)) && index > 0 {
                write!(out, "{}:{name}", name.len())?;
                if !part.variant.is_empty() {
                    write!(out, ",{}:{}", part.variant.len(), part.variant)?;
                }
                out.write_char('=')?;
            }
            part.write(out, ancestors)?;
        }
        ancestors.truncate(outside);
        out.write_char(')')
    }
}

impl Recursion {
    /// Calls `inside` to build the contents of a struct or multi. Returns its level, and whether the contents refer
    /// to that level.
    fn find(ancestors: &mut Vec<bool>, inside: impl FnOnce(&mut Vec<bool>)) -> Self {
        let level = ancestors.len();
        ancestors.push(false);
        inside(ancestors);
        Self { level, is_recursive: ancestors.pop().unwrap_or(false) }
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
        Schema::Varint => "varint".into(),
        _ => String::new(),
    }
}
