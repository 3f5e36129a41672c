//! Validation of schemas and preparation for encoding and decoding.
//!
//! Types become nodes of a vector that refer to each other by index, so that recursive types are cycles.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::error::{SchemaError, SchemaErrorKind, Within as _};
use super::{Number, Schema, Value, Variant};
use crate::error::Fault;
use crate::options::ElementSize;
use crate::wire::{Endian, Varint};

/// A validated schema. It is a wire type for [`Value`]s.
///
/// It encodes and decodes through [`WireExt`](crate::WireExt) like every wire type, with the same bytes as the static
/// wire type of the same schema and as the Go library. It is many times slower, because it interprets the schema.
///
/// Values may be nested at most [`MAX_NESTING`](Self::MAX_NESTING) levels deep, independent of
/// [`Limits::max_depth`](crate::Limits::max_depth). The limit on elements that take no bytes applies to arrays as well
/// as slices. If a map contains a key twice, the last value wins, unless [`DuplicateKeys`](crate::DuplicateKeys)
/// rejects it.
///
/// ```
/// use tightwire_parco::WireExt;
/// use tightwire_parco::schema::{Schema, Value};
///
/// let text = Schema::String { header: Box::new(tightwire_parco::schema::of::<u8>()) };
/// let wire = Schema::Struct(vec![("name".into(), text), ("age".into(), tightwire_parco::schema::of::<u8>())]).compile()?;
///
/// let value = Value::Struct(vec!["cat".into(), 3u8.into()]);
/// let bytes = wire.to_vec(&value)?;
/// assert_eq!(bytes, b"\x03cat\x03");
/// assert_eq!(wire.decode_exact::<Value>(&bytes)?, value);
///
/// let error = wire.decode_exact::<Value>(b"\x03cat").unwrap_err();
/// assert_eq!(error.to_string(), "the input ends inside a value at .age (byte 4)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dynamic {
    pub(super) schema: Schema,
    /// The root is at index 0; every index in a node is in bounds.
    pub(super) nodes: Vec<Node>,
}

pub(super) type Index = usize;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) size: ElementSize,
    pub(super) kind: NodeKind,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    Bool,
    Float(Number, Endian),
    /// An integer, or a time in UTC.
    Integer(Int),
    Text(Int),
    Blob(Int),
    Slice(Int, Index),
    Array(usize, Index),
    Map {
        header: Int,
        key: Index,
        value: Index,
    },
    Option(Index),
    Struct {
        /// For an evolve struct, the number of fields that every message has, at most all.
        required: Option<usize>,
        fields: Vec<(String, Index)>,
    },
    Skip(usize),
    TimeLocation,
    /// Models, sorted by id.
    Multi {
        header: Index,
        models: Vec<Model>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) id: Value,
    /// The id as written in the schema.
    pub(super) name: String,
    pub(super) node: Index,
}

impl Model {
    /// Returns the model with this id. `models` must be sorted by id.
    pub(super) fn find<'a>(models: &'a [Self], id: &Value) -> Result<&'a Self, Fault> {
        let at = models.binary_search_by(|model| model.id.cmp(id)).map_err(|_| Fault::UNKNOWN_TYPE)?;
        Ok(&models[at])
    }
}

/// An integer: a value, a length or an id.
#[derive(Clone, Copy, Debug)]
pub(super) enum Int {
    Number(Number, Endian),
    /// A length, or a value that is an `int` in Go.
    Header(Number, Endian),
    Varint,
}

impl Int {
    /// Returns the integer that this schema is, if it is one.
    fn of(schema: &Schema) -> Option<Self> {
        match schema {
            Schema::Number(number, _) | Schema::Header(number, _) if number.is_float() => None,
            Schema::Number(number, endian) => Some(Self::Number(*number, *endian)),
            Schema::Header(number, endian) => Some(Self::Header(*number, *endian)),
            Schema::Varint => Some(Self::Varint),
            _ => None,
        }
    }

    /// Returns the smallest and the largest value. An `int` of Go has 64 bits.
    pub(super) fn range(self) -> (i128, i128) {
        match self {
            Self::Number(number, _) => number.range(),
            Self::Header(number, _) => (number.range().0, number.range().1.min(i64::MAX.into())),
            Self::Varint => Number::Uint64.range(),
        }
    }

    /// Returns the encoded size of a value.
    pub(super) const fn width(self, value: u64) -> usize {
        match self {
            Self::Number(number, _) | Self::Header(number, _) => number.width(),
            Self::Varint => Varint::width_of(value),
        }
    }
}

impl Schema {
    /// Validates the schema and prepares it for encoding and decoding.
    ///
    /// # Errors
    ///
    /// Fails if a header is not an integer, an id is neither an integer nor a string or does not fit its type, two models
    /// have the same id, two fields of a struct have the same name, a struct contains itself without an option, a
    /// collection or an optional field of an evolve struct in between, an evolve struct requires more fields than it has,
    /// the schema exceeds [`MAX_TYPES`](Self::MAX_TYPES) or [`MAX_DEPTH`](Self::MAX_DEPTH), or an array or skip exceeds
    /// [`MAX_ARRAY`](Self::MAX_ARRAY) or [`MAX_SKIP`](Self::MAX_SKIP).
    pub fn compile(&self) -> Result<Dynamic, SchemaError> {
        let mut compiler = Compiler::default();
        compiler.add(self, 1)?;
        measure(&mut compiler.nodes)?;
        Ok(Dynamic { schema: self.clone(), nodes: compiler.nodes })
    }
}

impl Dynamic {
    /// Maximum nesting depth of values: 256.
    pub const MAX_NESTING: usize = 256;

    /// Returns the schema that this was compiled from.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

#[derive(Default)]
struct Compiler {
    nodes: Vec<Node>,
    /// Enclosing structs and multis, outermost first.
    open: Vec<Index>,
}

impl Compiler {
    fn add(&mut self, schema: &Schema, depth: usize) -> Result<Index, SchemaError> {
        if depth > Schema::MAX_DEPTH {
            return Err(SchemaError::new(SchemaErrorKind::Limit, "the schema is too deep"));
        }
        if self.nodes.len() == Schema::MAX_TYPES {
            return Err(SchemaError::new(SchemaErrorKind::Limit, "the schema has too many types"));
        }
        match schema {
            Schema::Recursive(levels) => {
                let at = self.open.len().checked_sub(*levels).filter(|_| *levels > 0);
                let wrong = || SchemaError::invalid("`recursive` refers to a level that does not exist");
                at.map(|at| self.open[at]).ok_or_else(wrong)
            }
            Schema::Logical { name, inner } => {
                if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    let wrong = "the name of a logical type is not letters, digits and underscores";
                    return Err(SchemaError::invalid(wrong));
                }
                self.add(inner, depth + 1)
            }
            Schema::Named { name, inner } => {
                let is_type =
                    matches!(**inner, Schema::Struct(_) | Schema::Evolve { .. } | Schema::Multi { .. });
                if name.is_empty() || !is_type {
                    let wrong = "the name of a type is empty, or the type is no struct or multi";
                    return Err(SchemaError::invalid(wrong));
                }
                self.add(inner, depth)
            }
            _ => {
                let index = self.nodes.len();
                self.nodes.push(Node { size: UNKNOWN, kind: NodeKind::Bool });
                self.nodes[index].kind = self.kind(index, schema, depth + 1)?;
                Ok(index)
            }
        }
    }

    fn kind(&mut self, index: Index, schema: &Schema, depth: usize) -> Result<NodeKind, SchemaError> {
        Ok(match schema {
            Schema::Bool => NodeKind::Bool,
            Schema::Number(number, endian) if number.is_float() => NodeKind::Float(*number, *endian),
            Schema::Number(..) | Schema::Header(..) | Schema::Varint => {
                let wrong = || SchemaError::invalid("a header cannot be a float");
                NodeKind::Integer(Int::of(schema).ok_or_else(wrong)?)
            }
            Schema::String { header } => NodeKind::Text(length(header)?),
            Schema::Blob { header } => NodeKind::Blob(length(header)?),
            Schema::Slice { header, element } => {
                NodeKind::Slice(length(header)?, self.part(element, depth, "[element]")?)
            }
            Schema::Array { len, element } => {
                let len = usize::try_from(*len).ok().filter(|len| *len <= Schema::MAX_ARRAY);
                let len =
                    len.ok_or_else(|| SchemaError::new(SchemaErrorKind::Limit, "the array is too long"))?;
                NodeKind::Array(len, self.part(element, depth, "[element]")?)
            }
            Schema::Map { header, key, value } => NodeKind::Map {
                header: length(header)?,
                key: self.part(key, depth, "[key]")?,
                value: self.part(value, depth, "[value]")?,
            },
            Schema::Option(inner) => NodeKind::Option(self.part(inner, depth, "[some]")?),
            Schema::Struct(fields) => {
                NodeKind::Struct { required: None, fields: self.fields(index, fields, depth)? }
            }
            Schema::Evolve { required, fields } if *required <= fields.len() => {
                NodeKind::Struct { required: Some(*required), fields: self.fields(index, fields, depth)? }
            }
            Schema::Evolve { .. } => {
                return Err(SchemaError::invalid("more fields are required than the struct has"));
            }
            Schema::Skip(count) => {
                let count = usize::try_from(*count).ok().filter(|count| *count <= Schema::MAX_SKIP);
                NodeKind::Skip(
                    count.ok_or_else(|| {
                        SchemaError::new(SchemaErrorKind::Limit, "too many bytes are reserved")
                    })?,
                )
            }
            Schema::TimeUtc => NodeKind::Integer(Int::Number(Number::Int64, Endian::Little)),
            Schema::TimeLocation => NodeKind::TimeLocation,
            Schema::Multi { header, models } => self.multi(index, header, models, depth)?,
            Schema::Logical { .. } | Schema::Named { .. } | Schema::Recursive(_) => {
                unreachable!("`add` has resolved it")
            }
        })
    }

    fn fields(
        &mut self,
        index: Index,
        fields: &[(String, Schema)],
        depth: usize,
    ) -> Result<Vec<(String, Index)>, SchemaError> {
        let mut names = BTreeSet::new();
        self.open.push(index);
        let fields = fields.iter().map(|(name, schema)| {
            let step = format_args!(".{name}");
            if !names.insert(name) {
                let what = "two fields of a struct have the same name";
                return Err(SchemaError::new(SchemaErrorKind::Duplicate, what).within(step));
            }
            Ok((name.clone(), self.part(schema, depth, step)?))
        });
        let fields = fields.collect::<Result<_, _>>()?;
        self.open.pop();
        Ok(fields)
    }

    fn part(&mut self, schema: &Schema, depth: usize, step: impl fmt::Display) -> Result<Index, SchemaError> {
        self.add(schema, depth).within(step)
    }

    fn multi(
        &mut self,
        index: Index,
        header: &Schema,
        models: &[Variant],
        depth: usize,
    ) -> Result<NodeKind, SchemaError> {
        let int = Int::of(header);
        if int.is_none() && !matches!(header, Schema::String { .. }) {
            return Err(SchemaError::invalid("an id must be an integer or a string").within("[id]"));
        }
        let header = self.part(header, depth, "[id]")?;
        self.open.push(index);
        let mut list = Vec::with_capacity(models.len());
        for Variant { id: name, schema, .. } in models {
            let step = format_args!("[{name}]");
            let id = match int {
                None => Value::from(name.as_str()),
                Some(int) => integer_id(name, int).within(step)?,
            };
            list.push(Model { id, name: name.clone(), node: self.part(schema, depth, step)? });
        }
        self.open.pop();
        list.sort_by(|one, other| one.id.cmp(&other.id));
        if let Some(pair) = list.windows(2).find(|pair| pair[0].id == pair[1].id) {
            let error = SchemaError::new(SchemaErrorKind::Duplicate, "duplicate model id or key");
            return Err(error.within(format_args!("[{}]", pair[0].name)));
        }
        Ok(NodeKind::Multi { header, models: list })
    }
}

fn integer_id(digits: &str, int: Int) -> Result<Value, SchemaError> {
    let id: i128 = digits.parse().map_err(|_| SchemaError::invalid("the id of a model is not an integer"))?;
    let (min, max) = int.range();
    if id < min || id > max {
        return Err(SchemaError::new(SchemaErrorKind::OutOfRange, "an id does not fit its wire type"));
    }
    Ok(Value::Integer(id))
}

fn length(header: &Schema) -> Result<Int, SchemaError> {
    match Int::of(header) {
        Some(Int::Number(number, endian)) => Ok(Int::Header(number, endian)),
        Some(header) => Ok(header),
        None => Err(SchemaError::invalid("a header must be an integer").within("[header]")),
    }
}

/// Computes the sizes of all nodes. Children come after their parents, so one pass from the end is enough for a schema
/// without recursive types; each further pass propagates sizes once more around the cycles.
fn measure(nodes: &mut [Node]) -> Result<(), SchemaError> {
    /// Maximum number of passes, more than any realistic schema needs.
    const PASSES: usize = 256;

    for _ in 0..PASSES {
        let mut changed = false;
        for index in (0..nodes.len()).rev() {
            let (min, fixed) = sizes(nodes, index);
            changed |= min != nodes[index].size.min;
            nodes[index].size = ElementSize { min, fixed };
        }
        if !changed {
            let endless = nodes.iter().any(|node| node.size.min == UNKNOWN.min);
            let error = SchemaError::invalid(
                "a type contains itself without an option or collection, or is too large",
            );
            return if endless { Err(error) } else { Ok(()) };
        }
    }
    Err(SchemaError::new(SchemaErrorKind::Limit, "the schema has too many recursive types"))
}

/// The size of a type before it is measured, or of one that contains itself.
const UNKNOWN: ElementSize = ElementSize { min: usize::MAX, fixed: None };

/// Returns the minimum and fixed size of a node from those of its children.
fn sizes(nodes: &[Node], index: Index) -> (usize, Option<usize>) {
    match &nodes[index].kind {
        NodeKind::Bool => (1, Some(1)),
        NodeKind::Float(number, _) => (number.width(), Some(number.width())),
        NodeKind::Integer(int @ (Int::Number(..) | Int::Header(..))) => (int.width(0), Some(int.width(0))),
        NodeKind::Integer(header)
        | NodeKind::Text(header)
        | NodeKind::Blob(header)
        | NodeKind::Slice(header, _)
        | NodeKind::Map { header, .. } => (header.width(0), None),
        NodeKind::Array(0, _) => (0, Some(0)),
        NodeKind::Array(len, element) => {
            let ElementSize { min, fixed } = nodes[*element].size;
            (min.saturating_mul(*len), fixed.and_then(|fixed| fixed.checked_mul(*len)))
        }
        NodeKind::Option(_) => (1, None),
        NodeKind::Struct { required, fields } => {
            let needed = fields[..required.unwrap_or(fields.len())].iter();
            let length = usize::from(required.is_some());
            let min_size =
                needed.map(|(_, field)| nodes[*field].size.min).fold(length, usize::saturating_add);
            // A child that comes before its parent closes a cycle, which has no fixed size.
            let size = |field: Index| if field > index { nodes[field].size.fixed } else { None };
            let mut sizes = fields.iter().map(|(_, field)| size(*field));
            let fixed_size = sizes.try_fold(0, |sum: usize, size| sum.checked_add(size?));
            (min_size, fixed_size.filter(|_| required.is_none()))
        }
        NodeKind::Skip(count) => (*count, Some(*count)),
        NodeKind::TimeLocation => (9, None),
        NodeKind::Multi { header, models } => {
            let model = models.iter().map(|model| nodes[model.node].size.min).min().unwrap_or(0);
            (nodes[*header].size.min.saturating_add(model), None)
        }
    }
}
