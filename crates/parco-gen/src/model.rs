//! The types of a schema as the generators see them: a list of structs and enums that refer to each other.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};
use tightwire_parco::schema::{Number, Schema, Variant as SchemaVariant};
use tightwire_parco::wire::Endian;

use crate::names::{pascal, snake, unique};

/// The structs and enums of a schema; the first one is the message.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) types: Vec<Type>,
}

/// A struct or enum.
#[derive(Debug)]
pub(crate) struct Type {
    /// A unique name in Pascal case.
    pub(crate) name: String,
    /// Whether its length precedes it.
    pub(crate) evolves: bool,
    pub(crate) body: Body,
}

#[derive(Debug)]
pub(crate) enum Body {
    /// Its fields are not known yet.
    Open,
    Struct(Vec<Field>),
    Enum {
        /// An integer or a string.
        id: Kind,
        variants: Vec<Variant>,
    },
}

/// A field, or reserved bytes.
#[derive(Debug)]
pub(crate) struct Field {
    /// The name in the schema; a number in a tuple.
    pub(crate) name: String,
    pub(crate) shape: Shape,
    /// Whether an evolve struct may end before it.
    pub(crate) is_optional: bool,
}

#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) id: String,
    /// A unique name in Pascal case.
    pub(crate) name: String,
    pub(crate) contents: Contents,
}

#[derive(Debug)]
pub(crate) enum Contents {
    Fields(Vec<Field>),
    /// A value that is not a struct of this variant.
    Value(Shape),
}

/// A type of values.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) kind: Kind,
    /// The element of a slice or array, the value of an option, key and value of a map.
    pub(crate) parts: Vec<Self>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int(Int),
    Float(Number, Endian),
    Char(Endian),
    Int128 {
        is_signed: bool,
        endian: Endian,
    },
    String(Int),
    /// A byte string, or a slice of `uint8`.
    Blob(Int),
    /// An array of `uint8`.
    Octets(u64),
    Slice(Int),
    Array(u64),
    Map(Int),
    Option,
    Skip(u64),
    TimeLocation,
    /// The struct or enum with this index.
    Type(usize),
}

/// An integer that is a value, a length or an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Int {
    Fixed(Number, Endian),
    /// An unsigned integer of 64 bits that is an `int` in Go: below 2^63.
    Header(Endian),
    Varint,
}

impl Int {
    fn of(schema: &Schema) -> Option<Self> {
        match schema {
            Schema::Number(number, endian) | Schema::Header(number, endian) if !number.is_float() => {
                Some(Self::Fixed(*number, *endian))
            }
            Schema::Varint => Some(Self::Varint),
            _ => None,
        }
    }

    /// Returns the integer that is a length.
    fn header(schema: &Schema) -> Result<Self> {
        Self::of(schema).context("a header is not an integer")
    }

    /// Returns the integer that is a value or an id.
    fn value(schema: &Schema) -> Result<Self> {
        match schema {
            Schema::Header(Number::Uint64 | Number::Uint, endian) => Ok(Self::Header(*endian)),
            _ => Self::header(schema),
        }
    }

    fn min_size(self) -> u64 {
        match self {
            Self::Fixed(number, _) => number.width() as u64,
            Self::Header(_) => 8,
            Self::Varint => 1,
        }
    }

    /// Returns whether it has more than 32 bits.
    pub(crate) fn is_long(self) -> bool {
        self == Self::Varint || self.min_size() == 8
    }

    /// Returns the name of the methods of the run-time files that read and write it, such as `u16le`.
    pub(crate) fn method(self) -> String {
        match self {
            Self::Fixed(number, endian) => method(number, endian),
            Self::Header(endian) => format!("u63{}", suffix(endian)),
            Self::Varint => "varint".into(),
        }
    }
}

/// Returns the name of the methods that read and write a number.
pub(crate) fn method(number: Number, endian: Endian) -> String {
    let kind = match (number.is_float(), number.is_signed()) {
        (true, _) => 'f',
        (_, true) => 'i',
        _ => 'u',
    };
    let order = if number.width() == 1 { "" } else { suffix(endian) };
    format!("{kind}{}{order}", 8 * number.width())
}

/// Returns the name of the methods that read and write a 128-bit integer.
pub(crate) fn int128(is_signed: bool, endian: Endian) -> String {
    format!("{}128{}", if is_signed { 'i' } else { 'u' }, suffix(endian))
}

/// Returns the end of the name of a method.
pub(crate) fn suffix(endian: Endian) -> &'static str {
    match endian {
        Endian::Little => "le",
        Endian::Big => "be",
    }
}

impl Shape {
    pub(crate) fn leaf(kind: Kind) -> Self {
        Self { kind, parts: Vec::new() }
    }

    /// Returns whether values can be null, so that an option of them needs a wrapper in some languages.
    pub(crate) fn is_nullable(&self) -> bool {
        matches!(self.kind, Kind::Option | Kind::Skip(_))
    }

    /// Returns whether values are keys of the maps of all languages; others are in lists of entries.
    pub(crate) fn is_key(&self) -> bool {
        matches!(self.kind, Kind::Int(_) | Kind::String(_) | Kind::Char(_))
    }
}

impl Field {
    /// Returns whether an absent value needs a type of its own.
    pub(crate) fn adds_option(&self) -> bool {
        self.is_optional && self.shape.kind != Kind::Option
    }

    pub(crate) fn is_skip(&self) -> bool {
        matches!(self.shape.kind, Kind::Skip(_))
    }
}

/// Names of types in the run-time files, and of types of the languages that generated code uses.
const RESERVED: [&str; 16] = [
    "Array",
    "Entry",
    "Error",
    "False",
    "Map",
    "None",
    "Number",
    "Object",
    "ParcoError",
    "Reader",
    "Some",
    "String",
    "True",
    "Uint8Array",
    "Writer",
    "ZonedTime",
];

/// Names of the fields of logical types, which are tuples in the schema.
const LOGICAL_FIELDS: [(&str, &[&str]); 9] = [
    ("duration", &["seconds", "nanos"]),
    ("signed_duration", &["seconds", "nanos"]),
    ("instant", &["seconds", "nanos"]),
    ("offset_time", &["seconds", "nanos", "offset"]),
    ("date", &["year", "month", "day"]),
    ("time_of_day", &["hour", "minute", "second", "nano"]),
    ("date_time", &["date", "time"]),
    ("socket_v4", &["address", "port"]),
    ("socket_v6", &["address", "port", "flow_info", "scope_id"]),
];

impl Model {
    /// Creates the model of a valid schema. A message that is no struct or enum becomes a struct with the field `value`.
    ///
    /// # Errors
    ///
    /// Fails if a type refers to the fields of a variant, or to an enum without its length, which are not types.
    pub(crate) fn of(schema: &Schema) -> Result<Self> {
        let mut builder = Builder { types: Vec::new(), open: Vec::new() };
        let shape = builder.shape(schema, "Message")?;
        if shape.kind != Kind::Type(0) {
            // References inside count from the types that they are in, so the message is built again below a new root.
            builder.types.clear();
            builder.types.push(Type { name: "Message".into(), evolves: false, body: Body::Open });
            let shape = builder.shape(schema, "Value")?;
            let field = Field { name: "value".into(), shape, is_optional: false };
            builder.types[0].body = Body::Struct(vec![field]);
        }
        let mut model = Self { types: builder.types };
        model.require_empty_fields();
        model.rename();
        Ok(model)
    }

    /// Marks optional fields that take no bytes as required: they are never absent.
    fn require_empty_fields(&mut self) {
        for index in 0..self.types.len() {
            let Body::Struct(fields) = &self.types[index].body else { continue };
            let optional = fields
                .iter()
                .map(|field| field.is_optional && (field.is_skip() || self.min_size(&field.shape) > 0));
            let optional: Vec<bool> = optional.collect();
            if let Body::Struct(fields) = &mut self.types[index].body {
                fields
                    .iter_mut()
                    .zip(optional)
                    .for_each(|(field, is_optional)| field.is_optional = is_optional);
            }
        }
    }

    /// Makes the names of types, variants and exported functions unique, also in snake case.
    fn rename(&mut self) {
        let mut used: BTreeSet<String> = RESERVED.map(snake).into();
        for item in &mut self.types {
            let base = item.name.clone();
            for number in 2.. {
                let variants = item.variants().iter().map(|variant| format!("{}{}", item.name, variant.name));
                let names: Vec<String> = variants.map(|name| snake(&name)).collect();
                let own = ["", "Decode", "Encode"].map(|verb| snake(&format!("{verb}{}", item.name)));
                if !own.iter().any(|name| names.contains(name))
                    && names.iter().chain(&own).all(|name| !used.contains(name))
                {
                    used.extend(names.into_iter().chain(own));
                    break;
                }
                item.name = format!("{base}{number}");
            }
        }
    }

    /// Returns the minimum encoded size of a value. That of an enum is the size of its id.
    pub(crate) fn min_size(&self, shape: &Shape) -> u64 {
        match &shape.kind {
            Kind::Bool | Kind::Option => 1,
            Kind::Int(int) | Kind::String(int) | Kind::Blob(int) | Kind::Slice(int) | Kind::Map(int) => {
                int.min_size()
            }
            Kind::Float(number, _) => number.width() as u64,
            Kind::Char(_) => 4,
            Kind::Int128 { .. } => 16,
            Kind::Octets(count) | Kind::Skip(count) => *count,
            Kind::Array(len) => self.min_size_of_parts(shape).saturating_mul(*len),
            Kind::TimeLocation => 9,
            Kind::Type(index) => {
                let item = &self.types[*index];
                let size = match &item.body {
                    Body::Open => 0,
                    Body::Struct(fields) => {
                        let required = fields.iter().filter(|field| !field.is_optional);
                        required.map(|field| self.min_size(&field.shape)).fold(0, u64::saturating_add)
                    }
                    Body::Enum { id, .. } => self.min_size(&Shape::leaf(id.clone())),
                };
                size.saturating_add(item.evolves.into())
            }
        }
    }

    /// Returns the minimum encoded size of an element of a slice or array, or of an entry of a map.
    pub(crate) fn min_size_of_parts(&self, shape: &Shape) -> u64 {
        shape.parts.iter().map(|part| self.min_size(part)).fold(0, u64::saturating_add)
    }

    /// Returns whether a type contains such a value.
    pub(crate) fn has(&self, is: impl Fn(&Shape) -> bool) -> bool {
        let mut open: Vec<&Shape> = self.types.iter().flat_map(Type::shapes).collect();
        while let Some(shape) = open.pop() {
            if is(shape) {
                return true;
            }
            open.extend(&shape.parts);
        }
        false
    }

    /// Returns whether a type can contain itself.
    pub(crate) fn is_recursive(&self, index: usize) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![index]);
        while let Some(next) = open.pop() {
            for found in self.types[next].shapes().flat_map(Shape::types) {
                if found == index {
                    return true;
                }
                if seen.insert(found) {
                    open.push(found);
                }
            }
        }
        false
    }
}

impl Type {
    pub(crate) fn variants(&self) -> &[Variant] {
        if let Body::Enum { variants, .. } = &self.body { variants } else { &[] }
    }

    fn shapes(&self) -> impl Iterator<Item = &Shape> {
        let fields: &[Field] = if let Body::Struct(fields) = &self.body { fields } else { &[] };
        let of_variants = self.variants().iter().flat_map(|variant| match &variant.contents {
            Contents::Fields(fields) => fields.iter().map(|field| &field.shape).collect::<Vec<_>>(),
            Contents::Value(shape) => vec![shape],
        });
        fields.iter().map(|field| &field.shape).chain(of_variants)
    }
}

impl Shape {
    /// Returns the types that it refers to.
    fn types(&self) -> Vec<usize> {
        let own = if let Kind::Type(index) = self.kind { Some(index) } else { None };
        own.into_iter().chain(self.parts.iter().flat_map(Self::types)).collect()
    }
}

struct Builder {
    /// Types whose names are not unique yet.
    types: Vec<Type>,
    /// The enclosing structs and multis of the schema; without an index if they are no types.
    open: Vec<Option<usize>>,
}

impl Builder {
    /// Returns the shape of a schema. `place` is the name of a type that has none.
    fn shape(&mut self, schema: &Schema, place: &str) -> Result<Shape> {
        let mut parts = Vec::new();
        let kind = match schema {
            Schema::Bool => Kind::Bool,
            Schema::Number(number, endian) if number.is_float() => Kind::Float(*number, *endian),
            Schema::Number(..) | Schema::Header(..) | Schema::Varint => Kind::Int(Int::value(schema)?),
            Schema::String { header } => Kind::String(Int::header(header)?),
            Schema::Blob { header } => Kind::Blob(Int::header(header)?),
            Schema::Slice { header, element } if is_byte(element) => Kind::Blob(Int::header(header)?),
            // Go rejects a type that contains an array of itself, even without elements.
            Schema::Array { len, element } if *len == 0 || is_byte(element) => Kind::Octets(*len),
            Schema::Slice { header, element } => {
                parts.push(self.shape(element, place)?);
                Kind::Slice(Int::header(header)?)
            }
            Schema::Array { len, element } => {
                parts.push(self.shape(element, place)?);
                Kind::Array(*len)
            }
            Schema::Map { header, key, value } => {
                parts.push(self.shape(key, &format!("{place}Key"))?);
                parts.push(self.shape(value, &format!("{place}Value"))?);
                Kind::Map(Int::header(header)?)
            }
            Schema::Option(inner) => {
                parts.push(self.shape(inner, place)?);
                Kind::Option
            }
            Schema::Skip(count) => Kind::Skip(*count),
            Schema::TimeUtc => Kind::Int(Int::Fixed(Number::Int64, Endian::Little)),
            Schema::TimeLocation => Kind::TimeLocation,
            Schema::Struct(_) | Schema::Evolve { .. } | Schema::Multi { .. } => {
                self.add(schema, place, "")?
            }
            Schema::Named { name, inner } => self.add(inner, &pascal(name), "")?,
            Schema::Logical { name, inner } => return self.logical(name, inner, place),
            Schema::Recursive(levels) => {
                let at = self.open.len().checked_sub(*levels).and_then(|at| *self.open.get(at)?);
                Kind::Type(
                    at.context("a type refers to the fields of a variant, or to an enum without its length")?,
                )
            }
            _ => bail!("the schema has a type that this version does not know"),
        };
        Ok(Shape { kind, parts })
    }

    fn logical(&mut self, logical: &str, inner: &Schema, place: &str) -> Result<Shape> {
        Ok(Shape::leaf(match (logical, inner) {
            ("char", Schema::Number(Number::Uint32, endian)) => Kind::Char(*endian),
            ("u128" | "i128", Schema::Struct(halves)) => match &**halves {
                [(_, Schema::Number(Number::Uint64, endian)), (_, other)]
                    if *other == Schema::Number(Number::Uint64, *endian) =>
                {
                    Kind::Int128 { is_signed: logical == "i128", endian: *endian }
                }
                _ => self.add(inner, &pascal(logical), logical)?,
            },
            (_, Schema::Named { name, inner }) => self.add(inner, &pascal(name), logical)?,
            (_, Schema::Struct(_) | Schema::Evolve { .. } | Schema::Multi { .. }) => {
                self.add(inner, &pascal(logical), logical)?
            }
            _ => return self.shape(inner, place),
        }))
    }

    /// Adds a struct or enum, unless there is an equal one with the same name.
    fn add(&mut self, schema: &Schema, name: &str, logical: &str) -> Result<Kind> {
        let index = self.types.len();
        let name = if name.is_empty() { "Anonymous" } else { name };
        self.types.push(Type { name: name.into(), evolves: false, body: Body::Open });
        self.open.push(Some(index));
        let (evolves, body) = match schema {
            Schema::Evolve { required: 1, fields } => match &**fields {
                [(variant, multi @ Schema::Multi { .. })] if variant == "variant" => {
                    // A reference to the enum without its length is none to the type.
                    self.open.push(None);
                    let body = self.body(multi, name, logical)?;
                    self.open.pop();
                    (true, body)
                }
                _ => (true, Body::Struct(self.fields(fields, 1, name, logical)?)),
            },
            Schema::Evolve { required, fields } => {
                (true, Body::Struct(self.fields(fields, *required, name, logical)?))
            }
            _ => (false, self.body(schema, name, logical)?),
        };
        self.open.pop();
        self.types[index].evolves = evolves;
        self.types[index].body = body;
        let same = (0..index).find(|other| self.is_same_type(*other, index, &mut Vec::new()));
        if same.is_some() {
            // The types after it are only used in it.
            self.types.truncate(index);
        }
        Ok(Kind::Type(same.unwrap_or(index)))
    }

    /// Creates the body of the type `of`.
    fn body(&mut self, schema: &Schema, of: &str, logical: &str) -> Result<Body> {
        match schema {
            Schema::Struct(fields) => Ok(Body::Struct(self.fields(fields, fields.len(), of, logical)?)),
            Schema::Multi { header, models } => {
                let id = match &**header {
                    Schema::String { header } => Kind::String(Int::header(header)?),
                    header => Kind::Int(Int::value(header)?),
                };
                if models.is_empty() {
                    bail!("{of}: an enum without variants has no values");
                }
                let names: Vec<String> = models.iter().map(|model| variant_name(model, logical)).collect();
                let names = unique(names.iter().map(|name| &**name), str::to_owned, &[]);
                let variants = models.iter().zip(names).map(|(model, name)| self.variant(model, name, of));
                Ok(Body::Enum { id, variants: variants.collect::<Result<_>>()? })
            }
            _ => bail!("a type with a name is no struct or multi"),
        }
    }

    /// Creates a variant of the enum `of`.
    fn variant(&mut self, model: &SchemaVariant, name: String, of: &str) -> Result<Variant> {
        let place = format!("{of}{name}");
        let contents = if let Schema::Struct(fields) = &model.schema {
            self.open.push(None);
            let fields = self.fields(fields, fields.len(), &place, "")?;
            self.open.pop();
            Contents::Fields(fields)
        } else {
            Contents::Value(self.shape(&model.schema, &format!("{place}Value"))?)
        };
        Ok(Variant { id: model.id.clone(), name, contents })
    }

    fn fields(
        &mut self,
        fields: &[(String, Schema)],
        required: usize,
        of: &str,
        logical: &str,
    ) -> Result<Vec<Field>> {
        let known =
            LOGICAL_FIELDS.iter().find(|(name, names)| *name == logical && names.len() == fields.len());
        let mut list = Vec::with_capacity(fields.len());
        for (index, (name, schema)) in fields.iter().enumerate() {
            let name = known.map_or(&**name, |(_, names)| names[index]);
            let shape = self.shape(schema, &format!("{of}{}", pascal(name)))?;
            if shape.kind != Kind::Skip(0) {
                list.push(Field { name: name.into(), shape, is_optional: index >= required });
            }
        }
        Ok(list)
    }

    /// Returns whether two types are equal, assuming that these pairs of types are.
    fn is_same_type(&self, one: usize, other: usize, assumed: &mut Vec<(usize, usize)>) -> bool {
        if one == other || assumed.contains(&(one, other)) {
            return true;
        }
        assumed.push((one, other));
        let (one, other) = (&self.types[one], &self.types[other]);
        let is_same_body = match (&one.body, &other.body) {
            (Body::Struct(one), Body::Struct(other)) => self.are_same_fields(one, other, assumed),
            (Body::Enum { id, variants: one }, Body::Enum { id: other_id, variants: other }) => {
                let mut pairs = one.iter().zip(other);
                id == other_id
                    && one.len() == other.len()
                    && pairs.all(|(one, other)| {
                        let is_same = match (&one.contents, &other.contents) {
                            (Contents::Fields(one), Contents::Fields(other)) => {
                                self.are_same_fields(one, other, assumed)
                            }
                            (Contents::Value(one), Contents::Value(other)) => {
                                self.is_same_shape(one, other, assumed)
                            }
                            _ => false,
                        };
                        is_same && (&one.id, &one.name) == (&other.id, &other.name)
                    })
            }
            _ => false,
        };
        is_same_body && (&one.name, one.evolves) == (&other.name, other.evolves)
    }

    fn are_same_fields(&self, one: &[Field], other: &[Field], assumed: &mut Vec<(usize, usize)>) -> bool {
        one.len() == other.len()
            && one.iter().zip(other).all(|(one, other)| {
                (&one.name, one.is_optional) == (&other.name, other.is_optional)
                    && self.is_same_shape(&one.shape, &other.shape, assumed)
            })
    }

    fn is_same_shape(&self, one: &Shape, other: &Shape, assumed: &mut Vec<(usize, usize)>) -> bool {
        let is_same_kind = match (&one.kind, &other.kind) {
            (Kind::Type(one), Kind::Type(other)) => self.is_same_type(*one, *other, assumed),
            (one, other) => one == other,
        };
        is_same_kind
            && one.parts.len() == other.parts.len()
            && one.parts.iter().zip(&other.parts).all(|(one, other)| self.is_same_shape(one, other, assumed))
    }
}

/// Returns the name of a variant, which may not be unique. A variant without a name has that of its id.
fn variant_name(model: &SchemaVariant, logical: &str) -> String {
    match (logical, pascal(&model.name)) {
        ("ip" | "socket", name) if name == "Ok" => "V4".to_owned(),
        ("ip" | "socket", name) if name == "Err" => "V6".to_owned(),
        (_, name) if name.is_empty() => pascal(&format!("id_{}", model.id.replace('-', "minus_"))),
        (_, name) => name,
    }
}

fn is_byte(schema: &Schema) -> bool {
    matches!(schema, Schema::Number(Number::Uint8, _))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(fields: &str) -> Model {
        let text = format!(r#"{{"t":"struct","name":"Root","fields":[{fields}]}}"#);
        Model::of(&Schema::from_json(&text).unwrap()).unwrap()
    }

    fn names(model: &Model) -> Vec<&str> {
        model.types.iter().map(|item| &*item.name).collect()
    }

    #[test]
    fn equal_types_are_one() {
        let point =
            |field| format!(r#"{{"t":"struct","name":"Point","fields":[["{field}",{{"t":"bool"}}]]}}"#);
        let fields = [("a", "x"), ("b", "x"), ("c", "y")]
            .map(|(name, field)| format!("[\"{name}\",{}]", point(field)));
        let model = model(&fields.join(","));
        assert_eq!(names(&model), ["Root", "Point", "Point2"]);
        let Body::Struct(fields) = &model.types[0].body else { panic!("a struct") };
        let kinds: Vec<_> = fields.iter().map(|field| &field.shape.kind).collect();
        assert_eq!(kinds, [&Kind::Type(1), &Kind::Type(1), &Kind::Type(2)]);
    }

    /// Each of two types contains the other one, and both are reached first.
    #[test]
    fn references_of_equal_types_may_differ() {
        let option = |inner: &str| format!(r#"{{"t":"option","inner":{inner}}}"#);
        let item = |name: &str, field: &str, inner: &str| {
            format!(r#"{{"t":"struct","name":"{name}","fields":[["{field}",{}]]}}"#, option(inner))
        };
        let outer = r#"{"t":"recursive","n":2}"#;
        let (one, other) = (item("A", "b", &item("B", "a", outer)), item("B", "a", &item("A", "b", outer)));
        let model = model(&format!(r#"["a",{one}],["b",{other}]"#));
        assert_eq!(names(&model), ["Root", "A", "B"]);
        assert_eq!([0, 1, 2].map(|index| model.is_recursive(index)), [false, true, true]);
    }

    #[test]
    fn types_without_a_name_are_named_by_their_place() {
        let pair = r#"{"t":"struct","fields":[["0",{"t":"bool"}],["1",{"t":"varint"}]]}"#;
        let wait = r#"{"t":"struct","logical":"duration","fields":[["0",{"t":"uint64","order":"le"}],["1",{"t":"uint32","order":"le"}]]}"#;
        let model = model(&format!(
            r#"["rows",{{"t":"slice","header":{{"t":"varint"}},"elem":{pair}}}],["wait",{wait}]"#
        ));
        assert_eq!(names(&model), ["Root", "RootRows", "Duration"]);
        let Body::Struct(fields) = &model.types[2].body else { panic!("a struct") };
        assert_eq!((&*fields[0].name, &*fields[1].name), ("seconds", "nanos"));
        let Body::Struct(fields) = &model.types[0].body else { panic!("a struct") };
        assert_eq!(model.min_size(&fields[0].shape), 1);
        assert_eq!(model.min_size_of_parts(&fields[0].shape), 2);
        assert_eq!(model.min_size(&fields[1].shape), 12);
    }

    #[test]
    fn an_enum_without_its_length_is_no_type() {
        let model = |levels| {
            let part = format!(r#"{{"t":"option","inner":{{"t":"recursive","n":{levels}}}}}"#);
            let multi = format!(r#"{{"t":"multi","header":{{"t":"varint"}},"models":{{"0":{part}}}}}"#);
            let text = format!(r#"{{"t":"evolve","required":1,"fields":[["variant",{multi}]]}}"#);
            Model::of(&Schema::from_json(&text).unwrap())
        };
        assert!(model(2).is_ok() && model(1).is_err());
    }

    #[test]
    fn unusual_types_have_the_bytes_of_their_encoding() {
        let empty = r#"["a",{"t":"array","len":0,"elem":{"t":"recursive","n":1}}]"#;
        assert!(!model(empty).is_recursive(0));
        let halves = r#"["0",{"t":"uint64","order":"le"}],["1",{"t":"uint64","order":"be"}]"#;
        let mixed = format!(r#"["a",{{"t":"struct","logical":"u128","fields":[{halves}]}}]"#);
        assert_eq!(names(&model(&mixed)), ["Root", "U128"]);
    }

    #[test]
    fn a_message_that_is_no_struct_is_the_field_of_one() {
        let schema = Schema::from_json(r#"{"t":"option","inner":{"t":"bool"}}"#).unwrap();
        let model = Model::of(&schema).unwrap();
        assert_eq!(names(&model), ["Message"]);
        let text = r#"{"t":"multi","header":{"t":"varint"},"models":{}}"#;
        assert!(Model::of(&Schema::from_json(text).unwrap()).is_err());
    }
}
