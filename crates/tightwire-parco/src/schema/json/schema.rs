//! Schemas as JSON.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::error::Within as _;
use super::super::{Number, Schema, SchemaError, Variant};
use super::tree::{Members, Tree};
use crate::wire::Endian;

/// Parses a schema. The recursion depth is that of the tree, which the JSON parser limits.
pub(super) fn read(tree: Tree) -> Result<Schema, SchemaError> {
    let entries = tree.into_entries(SchemaError::invalid("a type must be an object"))?;
    let mut members: Members = entries.into_iter().collect();
    let Some(Tree::Text(name)) = members.remove("t") else {
        return Err(SchemaError::invalid("a type must have a name in the key `t`"));
    };
    let (logical, type_name) = (text(&mut members, "logical")?, text(&mut members, "name")?);
    let schema = match &*name {
        "bool" => Schema::Bool,
        "varint" => Schema::Varint,
        "string" => Schema::String { header: header(&mut members)? },
        "blob" => Schema::Blob { header: header(&mut members)? },
        "slice" => {
            Schema::Slice { header: header(&mut members)?, element: part(&mut members, "elem", "[element]")? }
        }
        "array" => Schema::Array {
            len: count(&mut members, "len")?,
            element: part(&mut members, "elem", "[element]")?,
        },
        "map" => Schema::Map {
            header: header(&mut members)?,
            key: part(&mut members, "key", "[key]")?,
            value: part(&mut members, "value", "[value]")?,
        },
        "option" => Schema::Option(part(&mut members, "inner", "[some]")?),
        "struct" => Schema::Struct(fields(member(&mut members, "fields")?)?),
        "evolve" => Schema::Evolve {
            required: count(&mut members, "required")?,
            fields: fields(member(&mut members, "fields")?)?,
        },
        "skip" => Schema::Skip(count(&mut members, "n")?),
        "time_utc" => Schema::TimeUtc,
        "time_location" => Schema::TimeLocation,
        "multi" => Schema::Multi {
            header: part(&mut members, "header", "[id]")?,
            models: models(member(&mut members, "models")?, members.remove("names"))?,
        },
        "recursive" => Schema::Recursive(count(&mut members, "n")?),
        _ => number(&name, &mut members)?,
    };
    if !members.is_empty() {
        return Err(SchemaError::invalid("the type has no such key"));
    }
    let named = match type_name {
        Some(name) => Schema::Named { name, inner: schema.into() },
        None => schema,
    };
    Ok(match logical {
        Some(name) => Schema::Logical { name, inner: named.into() },
        None => named,
    })
}

/// Parses a name that a type may have.
fn text(members: &mut Members, key: &str) -> Result<Option<String>, SchemaError> {
    match members.remove(key) {
        None => Ok(None),
        Some(Tree::Text(text)) => Ok(Some(text)),
        Some(_) => Err(SchemaError::invalid("a name must be a string").within(format_args!(".{key}"))),
    }
}

fn number(name: &str, members: &mut Members) -> Result<Schema, SchemaError> {
    let bare = name.strip_suffix("_header");
    let number = Number::ALL.iter().copied().find(|number| number.name() == bare.unwrap_or(name));
    let number = number.filter(|number| bare.is_none() || !number.is_float());
    let number = number.ok_or_else(|| SchemaError::invalid("unknown type name"))?;
    let endian = match (number.width(), members.remove("order")) {
        (1, None) => Endian::Little,
        (2.., Some(Tree::Text(order))) if order == "le" => Endian::Little,
        (2.., Some(Tree::Text(order))) if order == "be" => Endian::Big,
        (2.., None) => return Err(missing("order")),
        _ => {
            return Err(SchemaError::invalid(
                "`order` must be `le` or `be`, and absent for one-byte numbers",
            ));
        }
    };
    Ok(if bare.is_some() { Schema::Header(number, endian) } else { Schema::Number(number, endian) })
}

fn missing(name: &str) -> SchemaError {
    SchemaError::invalid("a key is missing").within(format_args!(".{name}"))
}

fn member(members: &mut Members, name: &str) -> Result<Tree, SchemaError> {
    members.remove(name).ok_or_else(|| missing(name))
}

fn part(members: &mut Members, name: &str, step: &str) -> Result<Box<Schema>, SchemaError> {
    read(member(members, name)?).within(step).map(Box::new)
}

/// Parses a header, which becomes a plain integer whatever its name.
fn header(members: &mut Members) -> Result<Box<Schema>, SchemaError> {
    let header = part(members, "header", "[header]")?;
    Ok(match *header {
        Schema::Header(number, endian) => Box::new(Schema::Number(number, endian)),
        _ => header,
    })
}

fn count<T: TryFrom<i128>>(members: &mut Members, name: &str) -> Result<T, SchemaError> {
    let Tree::Number(number) = member(members, name)? else { return Err(not_a_count()) };
    number.try_into().map_err(|_| not_a_count())
}

fn not_a_count() -> SchemaError {
    SchemaError::invalid("a count must be a number")
}

fn fields(tree: Tree) -> Result<Vec<(String, Schema)>, SchemaError> {
    let wrong = || SchemaError::invalid("`fields` must be a list of pairs of name and type");
    let Tree::List(list) = tree else { return Err(wrong()) };
    let fields = list.into_iter().map(|field| {
        let Tree::List(pair) = field else { return Err(wrong()) };
        let Ok([Tree::Text(name), schema]) = <[Tree; 2]>::try_from(pair) else { return Err(wrong()) };
        let schema = read(schema).within(format_args!(".{name}"))?;
        Ok((name, schema))
    });
    fields.collect()
}

fn models(tree: Tree, names: Option<Tree>) -> Result<Vec<Variant>, SchemaError> {
    let members = tree.into_entries(SchemaError::invalid("`models` must be an object"))?;
    let names = names.unwrap_or(Tree::Object(Vec::new()));
    let names = names.into_entries(SchemaError::invalid("`names` must be an object"))?;
    let mut names: Members = names.into_iter().collect();
    let models = members.into_iter().map(|(id, schema)| {
        let schema = read(schema).within(format_args!("[{id}]"))?;
        let name = match names.remove(&id) {
            None => String::new(),
            Some(Tree::Text(name)) => name,
            Some(_) => return Err(SchemaError::invalid("the name of a model must be a string")),
        };
        Ok(Variant { id, name, schema })
    });
    let models = models.collect::<Result<_, _>>()?;
    let wrong = || SchemaError::invalid("`names` has an id that is not in `models`");
    names.is_empty().then_some(models).ok_or_else(wrong)
}

/// Converts a schema to JSON.
pub(super) fn write(schema: &Schema) -> Tree {
    let name = |name: &str| ("t", Tree::text(name));
    match schema {
        Schema::Bool => Tree::object([name("bool")]),
        Schema::Varint => Tree::object([name("varint")]),
        Schema::Number(number, endian) => write_number(number.name().into(), *number, *endian),
        Schema::Header(number, endian) => {
            write_number(alloc::format!("{}_header", number.name()), *number, *endian)
        }
        Schema::String { header } => Tree::object([name("string"), ("header", write_header(header))]),
        Schema::Blob { header } => Tree::object([name("blob"), ("header", write_header(header))]),
        Schema::Slice { header, element } => {
            Tree::object([name("slice"), ("header", write_header(header)), ("elem", write(element))])
        }
        Schema::Array { len, element } => {
            Tree::object([name("array"), ("len", Tree::Number((*len).into())), ("elem", write(element))])
        }
        Schema::Map { header, key, value } => Tree::object([
            name("map"),
            ("header", write_header(header)),
            ("key", write(key)),
            ("value", write(value)),
        ]),
        Schema::Option(inner) => Tree::object([name("option"), ("inner", write(inner))]),
        Schema::Struct(fields) => Tree::object([name("struct"), ("fields", write_fields(fields))]),
        Schema::Evolve { required, fields } => Tree::object([
            name("evolve"),
            ("required", Tree::Number(*required as i128)),
            ("fields", write_fields(fields)),
        ]),
        Schema::Skip(count) => Tree::object([name("skip"), ("n", Tree::Number((*count).into()))]),
        Schema::TimeUtc => Tree::object([name("time_utc")]),
        Schema::TimeLocation => Tree::object([name("time_location")]),
        Schema::Multi { header, models } => {
            let named = models.iter().filter(|model| !model.name.is_empty());
            let names: Vec<_> = named.map(|model| (model.id.clone(), Tree::text(&*model.name))).collect();
            let models = models.iter().map(|model| (model.id.clone(), write(&model.schema)));
            let models =
                [name("multi"), ("header", write(header)), ("models", Tree::Object(models.collect()))];
            let names = (!names.is_empty()).then_some(("names", Tree::Object(names)));
            Tree::Object(models.into_iter().chain(names).map(|(key, tree)| (key.into(), tree)).collect())
        }
        Schema::Logical { name, inner } => write_named("logical", name, inner),
        Schema::Named { name, inner } => write_named("name", name, inner),
        Schema::Recursive(levels) => Tree::object([name("recursive"), ("n", Tree::Number(*levels as i128))]),
    }
}

/// Converts a schema and adds a name after its type.
fn write_named(key: &str, name: &str, inner: &Schema) -> Tree {
    let mut tree = write(inner);
    if let Tree::Object(members) = &mut tree {
        members.insert(1, (key.into(), Tree::text(name)));
    }
    tree
}

fn write_fields(fields: &[(String, Schema)]) -> Tree {
    let pairs = fields.iter().map(|(name, field)| Tree::List([Tree::text(&**name), write(field)].into()));
    Tree::List(pairs.collect())
}

fn write_number(name: String, number: Number, endian: Endian) -> Tree {
    let order = match endian {
        Endian::Little => "le",
        Endian::Big => "be",
    };
    let name = ("t", Tree::Text(name));
    if number.width() == 1 {
        Tree::object([name])
    } else {
        Tree::object([name, ("order", Tree::text(order))])
    }
}

/// Converts a header: integers get the name of a header.
fn write_header(header: &Schema) -> Tree {
    match header {
        Schema::Number(number, endian) if !number.is_float() => write(&Schema::Header(*number, *endian)),
        _ => write(header),
    }
}
