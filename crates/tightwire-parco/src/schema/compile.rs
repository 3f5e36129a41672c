//! Validation of schemas and preparation for encoding and decoding.
//!
//! Types become nodes of a vector that refer to each other by index, so that recursive types are cycles.

use alloc::string::String;
use alloc::vec::Vec;

use super::error::{Kind as Wrong, SchemaError};
use super::{Number, Schema, Value};
use crate::options::Limits;
use crate::wire::Endian;

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
/// let form = Schema::Struct(vec![("name".into(), text), ("age".into(), tightwire_parco::schema::of::<u8>())]).compile()?;
///
/// let value = Value::Struct(vec!["cat".into(), 3u8.into()]);
/// let bytes = form.to_vec(&value)?;
/// assert_eq!(bytes, b"\x03cat\x03");
/// assert_eq!(form.decode_exact::<Value>(&bytes)?, value);
///
/// let error = form.decode_exact::<Value>(b"\x03cat").unwrap_err();
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
    /// Minimum encoded size.
    pub(super) least: usize,
    /// Encoded size if it is always the same.
    pub(super) fixed: Option<usize>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Bool,
    Number(Number, Endian),
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
pub(super) struct Length {
    pub(super) number: Number,
    pub(super) endian: Endian,
}

impl Length {
    /// Returns the maximum length. Lengths in Go are signed 64-bit integers.
    pub(super) fn max(self) -> u64 {
        u64::try_from(self.number.range().1).unwrap_or(u64::MAX).min(i64::MAX as u64)
    }
}

impl Schema {
    /// Validates the schema and prepares it for encoding and decoding.
    ///
    /// # Errors
    ///
    /// Fails if a header is not an integer, an id is neither an integer nor a string, two models have the same id, a
    /// struct contains itself without an option or collection in between, the schema exceeds
    /// [`MAX_TYPES`](Self::MAX_TYPES) or [`MAX_DEPTH`](Self::MAX_DEPTH), or an array or skip exceeds
    /// [`Limits::MAX_ELEMENTS`] or [`Limits::MAX_BYTES`].
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
            return Err(SchemaError::new(Wrong::Limit("the schema is too deep")));
        }
        if self.nodes.len() == Schema::MAX_TYPES {
            return Err(SchemaError::new(Wrong::Limit("the schema has too many types")));
        }
        if let Schema::Recursive(levels) = schema {
            let at = self.open.len().checked_sub(*levels).filter(|_| *levels > 0);
            return at
                .map(|at| self.open[at])
                .ok_or_else(|| SchemaError::invalid("`recursive` refers to a level that does not exist"));
        }
        let index = self.nodes.len();
        self.nodes.push(Node { least: usize::MAX, fixed: None, kind: Kind::Bool });
        self.nodes[index].kind = self.kind(index, schema, depth + 1)?;
        Ok(index)
    }

    fn kind(&mut self, index: Index, schema: &Schema, depth: usize) -> Result<Kind, SchemaError> {
        Ok(match schema {
            Schema::Bool => Kind::Bool,
            Schema::Number(number, endian) => Kind::Number(*number, *endian),
            Schema::Header(number, endian) if !number.is_float() => Kind::Header(*number, *endian),
            Schema::Header(..) => return Err(SchemaError::invalid("a header cannot be a float")),
            Schema::String { header } => Kind::Text(length(header)?),
            Schema::Blob { header } => Kind::Blob(length(header)?),
            Schema::Slice { header, element } => {
                Kind::Slice(length(header)?, self.part(element, depth, "[element]")?)
            }
            Schema::Array { len, element } => {
                let len = usize::try_from(*len).ok().filter(|len| *len <= Limits::MAX_ELEMENTS);
                let len = len.ok_or_else(|| SchemaError::new(Wrong::Limit("the array is too long")))?;
                Kind::Array(len, self.part(element, depth, "[element]")?)
            }
            Schema::Map { header, key, value } => Kind::Map {
                header: length(header)?,
                key: self.part(key, depth, "[key]")?,
                value: self.part(value, depth, "[value]")?,
            },
            Schema::Option(inner) => Kind::Option(self.part(inner, depth, "[some]")?),
            Schema::Struct(fields) => {
                self.open.push(index);
                let fields = fields.iter().map(|(name, schema)| {
                    let node =
                        self.add(schema, depth).map_err(|error| error.within(format_args!(".{name}")))?;
                    Ok((name.clone(), node))
                });
                let fields = fields.collect::<Result<_, SchemaError>>()?;
                self.open.pop();
                Kind::Struct(fields)
            }
            Schema::Skip(count) => {
                let count = usize::try_from(*count).ok().filter(|count| *count <= Limits::MAX_BYTES);
                Kind::Skip(
                    count.ok_or_else(|| SchemaError::new(Wrong::Limit("too many bytes are reserved")))?,
                )
            }
            Schema::TimeUtc => Kind::TimeUtc,
            Schema::TimeLocation => Kind::TimeLocation,
            Schema::Multi { header, models } => self.multi(index, header, models, depth)?,
            Schema::Recursive(_) => unreachable!("`add` has resolved it"),
        })
    }

    fn part(&mut self, schema: &Schema, depth: usize, step: &str) -> Result<Index, SchemaError> {
        self.add(schema, depth).map_err(|error| error.within(step))
    }

    fn multi(
        &mut self,
        index: Index,
        header: &Schema,
        models: &[(String, Schema)],
        depth: usize,
    ) -> Result<Kind, SchemaError> {
        let wrong = || SchemaError::invalid("an id must be an integer or a string").within("[id]");
        let is_text = match header {
            Schema::Number(number, _) | Schema::Header(number, _) if !number.is_float() => false,
            Schema::String { .. } => true,
            _ => return Err(wrong()),
        };
        let header = self.part(header, depth, "[id]")?;
        self.open.push(index);
        let mut list = Vec::with_capacity(models.len());
        for (name, schema) in models {
            let step = format_args!("[{name}]");
            let id = if is_text {
                Value::from(name.as_str())
            } else {
                Value::Integer(
                    name.parse()
                        .map_err(|_| SchemaError::invalid("the id of a model is not an integer").within(step))?,
                )
            };
            let node = self.add(schema, depth).map_err(|error| error.within(step))?;
            list.push(Model { id, name: name.clone(), node });
        }
        self.open.pop();
        list.sort_by(|one, other| one.id.cmp(&other.id));
        if let Some([model, _]) = list.array_windows().find(|[one, other]| one.id == other.id) {
            return Err(SchemaError::new(Wrong::Duplicate).within(format_args!("[{}]", model.name)));
        }
        Ok(Kind::Multi { header, models: list })
    }
}

fn length(header: &Schema) -> Result<Length, SchemaError> {
    match header {
        Schema::Number(number, endian) | Schema::Header(number, endian) if !number.is_float() => {
            Ok(Length { number: *number, endian: *endian })
        }
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
            let (least, fixed) = sizes(nodes, index);
            changed |= least != nodes[index].least;
            nodes[index].least = least;
            nodes[index].fixed = fixed;
        }
        if !changed {
            let endless = nodes.iter().any(|node| node.least == usize::MAX);
            let error = SchemaError::invalid("a type contains itself without an option or collection, or is too large");
            return if endless { Err(error) } else { Ok(()) };
        }
    }
    Err(SchemaError::new(Wrong::Limit("the schema has too many recursive types")))
}

/// Returns the minimum and fixed size of a node from those of its children. `usize::MAX` means unknown.
fn sizes(nodes: &[Node], index: Index) -> (usize, Option<usize>) {
    match &nodes[index].kind {
        Kind::Bool => (1, Some(1)),
        Kind::Number(number, _) | Kind::Header(number, _) => (number.width(), Some(number.width())),
        Kind::Text(header) | Kind::Blob(header) | Kind::Slice(header, _) | Kind::Map { header, .. } => {
            (header.number.width(), None)
        }
        Kind::Array(0, _) => (0, Some(0)),
        Kind::Array(len, element) => {
            let Node { least, fixed, .. } = &nodes[*element];
            (least.saturating_mul(*len), fixed.and_then(|fixed| fixed.checked_mul(*len)))
        }
        Kind::Option(_) => (1, None),
        Kind::Struct(fields) => fields.iter().fold((0, Some(0)), |(least, fixed), (_, field)| {
            // A child that comes before its parent closes a cycle, which has no fixed size.
            let size = if *field > index { nodes[*field].fixed } else { None };
            let fixed = fixed.zip(size).and_then(|(one, other): (usize, usize)| one.checked_add(other));
            (least.saturating_add(nodes[*field].least), fixed)
        }),
        Kind::Skip(count) => (*count, Some(*count)),
        Kind::TimeUtc => (8, Some(8)),
        Kind::TimeLocation => (9, None),
        Kind::Multi { header, models } => {
            let model = models.iter().map(|model| nodes[model.node].least).min().unwrap_or(0);
            (nodes[*header].least.saturating_add(model), None)
        }
    }
}
