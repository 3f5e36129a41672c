//! Validation of schemas and preparation for encoding and decoding.
//!
//! Types become nodes of a vector that refer to each other by index, so that recursive types are cycles.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::error::{SchemaError, SchemaErrorKind};
use super::{Number, Schema, Value, Variant};
use crate::wire::{Endian, Header as _, Varint};

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
    pub(super) min_size: usize,
    /// Encoded size if it is always the same.
    pub(super) fixed_size: Option<usize>,
    pub(super) kind: NodeKind,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    Bool,
    Number(Number, Endian),
    Varint,
    Header(Number, Endian),
    Text(Length),
    Blob(Length),
    Slice(Length, Index),
    Array(usize, Index),
    Map {
        header: Length,
        key: Index,
        value: Index,
    },
    Option(Index),
    Struct(Vec<(String, Index)>),
    Evolve {
        /// Number of fields that every message has, at most all.
        required: usize,
        fields: Vec<(String, Index)>,
    },
    Skip(usize),
    TimeUtc,
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
    pub(super) fn find<'a>(models: &'a [Self], id: &Value) -> Option<&'a Self> {
        models.binary_search_by(|model| model.id.cmp(id)).ok().map(|at| &models[at])
    }
}

/// An integer used as a length header.
#[derive(Clone, Copy, Debug)]
pub(super) enum Length {
    Number(Number, Endian),
    Varint,
}

impl Length {
    /// Returns the maximum length. Lengths in Go are signed 64-bit integers.
    pub(super) fn max(self) -> u64 {
        match self {
            Self::Number(number, _) => {
                u64::try_from(number.range().1).unwrap_or(u64::MAX).min(i64::MAX as u64)
            }
            Self::Varint => Varint::MAX,
        }
    }

    pub(super) fn min_width(self) -> usize {
        match self {
            Self::Number(number, _) => number.width(),
            Self::Varint => Varint::WIDTH,
        }
    }

    pub(super) fn width(self, len: usize) -> usize {
        match self {
            Self::Number(number, _) => number.width(),
            Self::Varint => Varint::width_of(len as u64),
        }
    }
}

impl Schema {
    /// Validates the schema and prepares it for encoding and decoding.
    ///
    /// # Errors
    ///
    /// Fails if a header is not an integer, an id is neither an integer nor a string, two models have the same id, a
    /// struct contains itself without an option, a collection or an optional field of an evolve struct in between, an
    /// evolve struct requires more fields than it has, the schema exceeds
    /// [`MAX_TYPES`](Self::MAX_TYPES) or [`MAX_DEPTH`](Self::MAX_DEPTH), or an array or skip exceeds
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
            return Err(SchemaError::limit("the schema is too deep"));
        }
        if self.nodes.len() == Schema::MAX_TYPES {
            return Err(SchemaError::limit("the schema has too many types"));
        }
        if let Schema::Recursive(levels) = schema {
            let at = self.open.len().checked_sub(*levels).filter(|_| *levels > 0);
            return at
                .map(|at| self.open[at])
                .ok_or_else(|| SchemaError::invalid("`recursive` refers to a level that does not exist"));
        }
        if let Schema::Logical { name, inner } = schema {
            let is_valid =
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let wrong =
                || SchemaError::invalid("the name of a logical type is not letters, digits and underscores");
            return if is_valid { self.add(inner, depth + 1) } else { Err(wrong()) };
        }
        if let Schema::Named { name, inner } = schema {
            let is_type = matches!(**inner, Schema::Struct(_) | Schema::Evolve { .. } | Schema::Multi { .. });
            return if is_type && !name.is_empty() {
                self.add(inner, depth)
            } else {
                Err(SchemaError::invalid("the name of a type is empty, or the type is no struct or multi"))
            };
        }
        let index = self.nodes.len();
        self.nodes.push(Node { min_size: usize::MAX, fixed_size: None, kind: NodeKind::Bool });
        self.nodes[index].kind = self.kind(index, schema, depth + 1)?;
        Ok(index)
    }

    fn kind(&mut self, index: Index, schema: &Schema, depth: usize) -> Result<NodeKind, SchemaError> {
        Ok(match schema {
            Schema::Bool => NodeKind::Bool,
            Schema::Number(number, endian) => NodeKind::Number(*number, *endian),
            Schema::Varint => NodeKind::Varint,
            Schema::Header(number, endian) if !number.is_float() => NodeKind::Header(*number, *endian),
            Schema::Header(..) => return Err(SchemaError::invalid("a header cannot be a float")),
            Schema::String { header } => NodeKind::Text(length(header)?),
            Schema::Blob { header } => NodeKind::Blob(length(header)?),
            Schema::Slice { header, element } => {
                NodeKind::Slice(length(header)?, self.part(element, depth, "[element]")?)
            }
            Schema::Array { len, element } => {
                let len = usize::try_from(*len).ok().filter(|len| *len <= Schema::MAX_ARRAY);
                let len = len.ok_or_else(|| SchemaError::limit("the array is too long"))?;
                NodeKind::Array(len, self.part(element, depth, "[element]")?)
            }
            Schema::Map { header, key, value } => NodeKind::Map {
                header: length(header)?,
                key: self.part(key, depth, "[key]")?,
                value: self.part(value, depth, "[value]")?,
            },
            Schema::Option(inner) => NodeKind::Option(self.part(inner, depth, "[some]")?),
            Schema::Struct(fields) => NodeKind::Struct(self.fields(index, fields, depth)?),
            Schema::Evolve { required, fields } if *required <= fields.len() => {
                NodeKind::Evolve { required: *required, fields: self.fields(index, fields, depth)? }
            }
            Schema::Evolve { .. } => {
                return Err(SchemaError::invalid("more fields are required than the struct has"));
            }
            Schema::Skip(count) => {
                let count = usize::try_from(*count).ok().filter(|count| *count <= Schema::MAX_SKIP);
                NodeKind::Skip(count.ok_or_else(|| SchemaError::limit("too many bytes are reserved"))?)
            }
            Schema::TimeUtc => NodeKind::TimeUtc,
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
        self.open.push(index);
        let fields = fields
            .iter()
            .map(|(name, schema)| Ok((name.clone(), self.part(schema, depth, format_args!(".{name}"))?)));
        let fields = fields.collect::<Result<_, SchemaError>>()?;
        self.open.pop();
        Ok(fields)
    }

    fn part(&mut self, schema: &Schema, depth: usize, step: impl fmt::Display) -> Result<Index, SchemaError> {
        self.add(schema, depth).map_err(|error| error.within(step))
    }

    fn multi(
        &mut self,
        index: Index,
        header: &Schema,
        models: &[Variant],
        depth: usize,
    ) -> Result<NodeKind, SchemaError> {
        let wrong = || SchemaError::invalid("an id must be an integer or a string").within("[id]");
        let is_text = match header {
            Schema::Number(number, _) | Schema::Header(number, _) if !number.is_float() => false,
            Schema::Varint => false,
            Schema::String { .. } => true,
            _ => return Err(wrong()),
        };
        let header = self.part(header, depth, "[id]")?;
        self.open.push(index);
        let mut list = Vec::with_capacity(models.len());
        for Variant { id: name, schema, .. } in models {
            let step = format_args!("[{name}]");
            let id =
                if is_text {
                    Value::from(name.as_str())
                } else {
                    Value::Integer(name.parse().map_err(|_| {
                        SchemaError::invalid("the id of a model is not an integer").within(step)
                    })?)
                };
            list.push(Model { id, name: name.clone(), node: self.part(schema, depth, step)? });
        }
        self.open.pop();
        list.sort_by(|one, other| one.id.cmp(&other.id));
        if let Some([model, _]) =
            list.windows(2).find(|pair| matches!(pair, [one, other] if one.id == other.id))
        {
            return Err(SchemaError::new(SchemaErrorKind::Duplicate).within(format_args!("[{}]", model.name)));
        }
        Ok(NodeKind::Multi { header, models: list })
    }
}

fn length(header: &Schema) -> Result<Length, SchemaError> {
    match header {
        Schema::Number(number, endian) | Schema::Header(number, endian) if !number.is_float() => {
            Ok(Length::Number(*number, *endian))
        }
        Schema::Varint => Ok(Length::Varint),
        _ => Err(SchemaError::invalid("a header must be an integer").within("[header]")),
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
            let (min_size, fixed_size) = sizes(nodes, index);
            changed |= min_size != nodes[index].min_size;
            nodes[index].min_size = min_size;
            nodes[index].fixed_size = fixed_size;
        }
        if !changed {
            let endless = nodes.iter().any(|node| node.min_size == usize::MAX);
            let error = SchemaError::invalid(
                "a type contains itself without an option or collection, or is too large",
            );
            return if endless { Err(error) } else { Ok(()) };
        }
    }
    Err(SchemaError::limit("the schema has too many recursive types"))
}

/// Returns the minimum and fixed size of a node from those of its children. `usize::MAX` means unknown.
fn sizes(nodes: &[Node], index: Index) -> (usize, Option<usize>) {
    match &nodes[index].kind {
        NodeKind::Bool => (1, Some(1)),
        NodeKind::Number(number, _) | NodeKind::Header(number, _) => (number.width(), Some(number.width())),
        NodeKind::Varint => (1, None),
        NodeKind::Text(header)
        | NodeKind::Blob(header)
        | NodeKind::Slice(header, _)
        | NodeKind::Map { header, .. } => (header.min_width(), None),
        NodeKind::Array(0, _) => (0, Some(0)),
        NodeKind::Array(len, element) => {
            let Node { min_size, fixed_size, .. } = &nodes[*element];
            (min_size.saturating_mul(*len), fixed_size.and_then(|fixed_size| fixed_size.checked_mul(*len)))
        }
        NodeKind::Option(_) => (1, None),
        NodeKind::Struct(fields) => fields.iter().fold((0, Some(0)), |(min_size, fixed_size), (_, field)| {
            // A child that comes before its parent closes a cycle, which has no fixed size.
            let size = if *field > index { nodes[*field].fixed_size } else { None };
            let fixed_size =
                fixed_size.zip(size).and_then(|(one, other): (usize, usize)| one.checked_add(other));
            (min_size.saturating_add(nodes[*field].min_size), fixed_size)
        }),
        NodeKind::Evolve { required, fields } => {
            let fields = fields[..*required].iter().map(|(_, field)| nodes[*field].min_size);
            (fields.fold(1, usize::saturating_add), None)
        }
        NodeKind::Skip(count) => (*count, Some(*count)),
        NodeKind::TimeUtc => (8, Some(8)),
        NodeKind::TimeLocation => (9, None),
        NodeKind::Multi { header, models } => {
            let model = models.iter().map(|model| nodes[model.node].min_size).min().unwrap_or(0);
            (nodes[*header].min_size.saturating_add(model), None)
        }
    }
}
