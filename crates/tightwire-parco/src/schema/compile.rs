//! From a schema, which may be wrong, to one that is checked and ready for use.
//!
//! Types become nodes of a vector, and parts of a type indices into it, so that a type that contains itself is a circle.

use alloc::string::String;
use alloc::vec::Vec;

use super::error::{Kind as Wrong, SchemaError};
use super::{Number, Schema, Value};
use crate::options::Limits;
use crate::wire::Endian;

/// A checked schema: a form whose values are [`Value`]s.
///
/// It encodes and decodes through [`WireExt`](crate::WireExt) like every form, and gives the same bytes as the static
/// form of the same schema, and as the Go library. It is many times slower, for it interprets the schema.
///
/// Types may be nested in values at most [`MAX_NESTING`](Self::MAX_NESTING) levels deep, whatever
/// [`Limits::max_depth`](crate::Limits::max_depth) says. Arrays keep to the limit of elements that take no bytes, as
/// slices do. A map that has a key twice keeps the last value, unless [`DuplicateKeys`](crate::DuplicateKeys) asks for
/// an error.
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
    /// The root is the first; every index in a node is below the length.
    pub(super) nodes: Vec<Node>,
}

pub(super) type Index = usize;

/// One type.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The fewest bytes of a value.
    pub(super) least: usize,
    /// The number of bytes, where all values have the same.
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
    /// The models in the order of their ids.
    Multi {
        header: Index,
        models: Vec<Model>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) id: Value,
    /// The id as it is in the schema.
    pub(super) name: String,
    pub(super) node: Index,
}

impl Model {
    /// The model with an id; `models` are in the order of their ids.
    pub(super) fn find<'a>(models: &'a [Self], id: &Value) -> Option<&'a Self> {
        models.binary_search_by(|model| model.id.cmp(id)).ok().map(|at| &models[at])
    }
}

/// An integer that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Length {
    pub(super) number: Number,
    pub(super) endian: Endian,
}

impl Length {
    /// The largest length: Go counts with signed numbers of 64 bits.
    pub(super) fn max(self) -> u64 {
        u64::try_from(self.number.range().1).unwrap_or(u64::MAX).min(i64::MAX as u64)
    }
}

impl Schema {
    /// Checks the schema and makes it ready to encode and decode.
    ///
    /// # Errors
    ///
    /// Fails if a header is no integer, an id is neither an integer nor a string, two models have one id, a struct
    /// contains itself without an end, the schema is larger or deeper than [`MAX_TYPES`](Self::MAX_TYPES) and
    /// [`MAX_DEPTH`](Self::MAX_DEPTH), or an array or a skip is longer than [`Limits::MAX_ELEMENTS`] and
    /// [`Limits::MAX_BYTES`].
    pub fn compile(&self) -> Result<Dynamic, SchemaError> {
        let mut compiler = Compiler::default();
        compiler.add(self, 1)?;
        measure(&mut compiler.nodes)?;
        Ok(Dynamic { schema: self.clone(), nodes: compiler.nodes })
    }
}

impl Dynamic {
    /// The most levels of types within types that values may have: 256.
    pub const MAX_NESTING: usize = 256;

    /// What this was made of.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

#[derive(Default)]
struct Compiler {
    nodes: Vec<Node>,
    /// The structs and multis around, outermost first.
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
                .ok_or_else(|| SchemaError::invalid("there is no type so far out to be repeated"));
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
            Schema::Header(..) => return Err(SchemaError::invalid("a float does not count")),
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
        let wrong = || SchemaError::invalid("an id is an integer or a string").within("[id]");
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
                        .map_err(|_| SchemaError::invalid("the id of a model is no integer").within(step))?,
                )
            };
            let node = self.add(schema, depth).map_err(|error| error.within(step))?;
            list.push(Model { id, name: name.clone(), node });
        }
        self.open.pop();
        list.sort_by(|one, other| one.id.cmp(&other.id));
        if let Some([model, _]) =
            list.windows(2).find(|pair| matches!(pair, [one, other] if one.id == other.id))
        {
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
        _ => Err(SchemaError::invalid("a header is an integer").within("[header]")),
    }
}

/// Finds the sizes. Parts come behind their wholes, so one pass from the end settles a schema without circles; every
/// further pass carries sizes around circles once more.
fn measure(nodes: &mut [Node]) -> Result<(), SchemaError> {
    /// More passes than any schema made by people or by a derive macro needs.
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
            let error = SchemaError::invalid("a type contains itself without an end, or is too large");
            return if endless { Err(error) } else { Ok(()) };
        }
    }
    Err(SchemaError::new(Wrong::Limit("the schema has too many circles")))
}

/// The least and the fixed size of a node, as far as those of its parts are known. `usize::MAX` is not known.
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
            // A field from further out makes a circle, which has no fixed size.
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
