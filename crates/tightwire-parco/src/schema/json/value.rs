//! Values as JSON.

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::super::compile::{Dynamic, Index, Int, Model, NodeKind};
use super::super::error::{SchemaErrorKind, Within as _};
use super::super::{Number, SchemaError, Value};
use super::tree::{Members, Tree};
use crate::options::Levels;

impl Dynamic {
    /// Parses a value of a node. The recursion depth is at most that of the tree, which the JSON parser limits.
    pub(super) fn read_node(&self, index: Index, tree: Tree) -> Result<Value, SchemaError> {
        match (&self.nodes[index].kind, tree) {
            (NodeKind::Bool, Tree::Bool(flag)) => Ok(Value::Bool(flag)),
            (NodeKind::Float(number, _), tree) => float(*number, tree),
            (NodeKind::Integer(_), tree) => integer(&tree).map(Value::Integer),
            (NodeKind::Blob(_), Tree::Null) => Ok(Value::Bytes(Vec::new())),
            (NodeKind::Text(_) | NodeKind::Blob(_), tree) => bytes(tree).map(Value::Bytes),
            (NodeKind::Slice(_, element) | NodeKind::Array(_, element), tree) => {
                self.read_list(*element, tree)
            }
            (NodeKind::Map { key, value, .. }, tree) => self.read_entries(*key, *value, tree),
            (NodeKind::Option(_), Tree::Null) => Ok(Value::NONE),
            (NodeKind::Option(inner), tree) => {
                let mut members = tree.into_members()?;
                let some = take(&mut members, "some")?;
                if !members.is_empty() {
                    return Err(SchemaError::mismatch(
                        "a present option must be an object with the single key `some`",
                    ));
                }
                self.read_node(*inner, some).within("[some]").map(Value::some)
            }
            (NodeKind::Struct { required, fields }, tree) => {
                self.read_fields(fields, required.unwrap_or(fields.len()), tree)
            }
            (NodeKind::Skip(_), Tree::Null) => Ok(Value::Skip),
            (NodeKind::TimeLocation, tree) => located(tree),
            (NodeKind::Multi { header, models }, tree) => self.read_multi(*header, models, tree),
            _ => Err(SchemaError::mismatch("the value does not match the schema")),
        }
    }

    /// Parses a struct. The fields after the first `required` ones may be missing at the end.
    fn read_fields(
        &self,
        fields: &[(String, Index)],
        required: usize,
        tree: Tree,
    ) -> Result<Value, SchemaError> {
        let mut members = tree.into_members()?;
        let mut values = Vec::with_capacity(fields.len());
        for (index, (name, field)) in fields.iter().enumerate() {
            if index >= required && members.is_empty() {
                break;
            }
            let value = take(&mut members, name).and_then(|tree| self.read_node(*field, tree));
            values.push(value.within(format_args!(".{name}"))?);
        }
        let all = members.is_empty().then_some(Value::Struct(values));
        all.ok_or_else(|| SchemaError::mismatch("the object has keys that are not fields"))
    }

    fn read_list(&self, element: Index, tree: Tree) -> Result<Value, SchemaError> {
        let trees = list(tree, "expected a list")?.into_iter().enumerate();
        let values =
            trees.map(|(index, tree)| self.read_node(element, tree).within(format_args!("[{index}]")));
        values.collect::<Result<_, _>>().map(Value::List)
    }

    fn read_entries(&self, key: Index, value: Index, tree: Tree) -> Result<Value, SchemaError> {
        let trees = list(tree, "expected a list of entries")?.into_iter().enumerate();
        let entries = trees.map(|(index, entry)| {
            let [a_key, a_value] = pair(entry)?;
            let a_key = self.read_node(key, a_key).within(format_args!("[key {index}]"))?;
            let a_value = self.read_node(value, a_value).within(format_args!("[value {index}]"))?;
            Ok((a_key, a_value))
        });
        entries.collect::<Result<_, _>>().map(Value::Map)
    }

    /// The id comes first, because it determines the type of the value.
    fn read_multi(&self, header: Index, models: &[Model], tree: Tree) -> Result<Value, SchemaError> {
        let [id, value] = pair(tree)?;
        let id = self.read_node(header, id)?;
        let Ok(model) = Model::find(models, &id) else {
            // Distinguish an unknown id from one that does not fit its wire type.
            return Err(match self.size_of(header, &id, Levels::default()) {
                Ok(_) => unknown_id(),
                Err(_) => SchemaError::new(SchemaErrorKind::OutOfRange, "an id does not fit its wire type"),
            });
        };
        let value = self.read_node(model.node, value).within(format_args!("[{}]", model.name))?;
        Ok(Value::Multi { id: Box::new(id), value: Box::new(value) })
    }
}

fn unknown_id() -> SchemaError {
    SchemaError::new(SchemaErrorKind::UnknownId, "unknown model id")
}

fn take(members: &mut Members, name: &str) -> Result<Tree, SchemaError> {
    members.remove(name).ok_or_else(|| SchemaError::mismatch("a key is missing"))
}

fn pair(tree: Tree) -> Result<[Tree; 2], SchemaError> {
    let Tree::List(list) = tree else { return Err(SchemaError::mismatch("expected a pair")) };
    list.try_into().map_err(|_| SchemaError::mismatch("expected a pair"))
}

/// Returns the elements of a list; `null` is an empty one.
fn list(tree: Tree, expected: &'static str) -> Result<Vec<Tree>, SchemaError> {
    match tree {
        Tree::List(list) => Ok(list),
        Tree::Null => Ok(Vec::new()),
        _ => Err(SchemaError::mismatch(expected)),
    }
}

fn bytes(tree: Tree) -> Result<Vec<u8>, SchemaError> {
    if let Tree::Text(text) = tree {
        return Ok(text.into_bytes());
    }
    match tree.into_members()?.remove("hex") {
        Some(Tree::Text(digits)) => {
            unhex(&digits).ok_or_else(|| SchemaError::mismatch("invalid hexadecimal digits"))
        }
        _ => Err(SchemaError::mismatch("expected a string or `hex`")),
    }
}

fn integer(tree: &Tree) -> Result<i128, SchemaError> {
    match tree {
        Tree::Number(number) => Some(*number),
        Tree::Text(digits) => digits.parse().ok(),
        _ => None,
    }
    .ok_or_else(|| SchemaError::mismatch("expected an integer"))
}

fn float(number: Number, tree: Tree) -> Result<Value, SchemaError> {
    let wrong = || SchemaError::mismatch("`bits` must be a string of hexadecimal digits after 0x");
    let Some(Tree::Text(bits)) = tree.into_members()?.remove("bits") else { return Err(wrong()) };
    let digits = bits.strip_prefix("0x").ok_or_else(wrong)?;
    let bits = u64::from_str_radix(digits, 16).map_err(|_| wrong())?;
    if number == Number::Float64 {
        return Ok(Value::Float64(bits));
    }
    u32::try_from(bits).map(Value::Float32).map_err(|_| wrong())
}

fn located(tree: Tree) -> Result<Value, SchemaError> {
    let mut members = tree.into_members()?;
    let nanos = integer(&take(&mut members, "unix_nanos")?)?;
    let unix_nanos =
        i64::try_from(nanos).map_err(|_| SchemaError::mismatch("`unix_nanos` does not fit 64 bits"))?;
    let Tree::Text(zone) = take(&mut members, "zone")? else {
        return Err(SchemaError::mismatch("`zone` must be a string"));
    };
    Ok(Value::TimeLocation { unix_nanos, zone })
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    // A digit is below 16, so the cast is lossless.
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// Converts a value. The depth is limited as for encoding.
pub(super) fn write(wire: &Dynamic, value: &Value) -> Result<Tree, SchemaError> {
    node(wire, 0, value, 0)
}

fn node(wire: &Dynamic, index: Index, value: &Value, depth: usize) -> Result<Tree, SchemaError> {
    if depth == Dynamic::MAX_NESTING {
        return Err(SchemaError::new(SchemaErrorKind::Limit, "the value is too deep"));
    }
    let part = |index, value| node(wire, index, value, depth + 1);
    Ok(match (&wire.nodes[index].kind, value) {
        (NodeKind::Bool, Value::Bool(flag)) => Tree::Bool(*flag),
        (NodeKind::Integer(int), Value::Integer(value)) => {
            let is_short = match int {
                Int::Number(number, _) => number.width() < 8,
                Int::Header(..) => i32::try_from(*value).is_ok(),
                Int::Varint => false,
            };
            Tree::digits(*value, is_short)
        }
        (NodeKind::Float(..), Value::Float32(bits)) => {
            float_tree(alloc::format!("{bits:#010x}"), f32::from_bits(*bits).to_string())
        }
        (NodeKind::Float(..), Value::Float64(bits)) => {
            float_tree(alloc::format!("{bits:#018x}"), f64::from_bits(*bits).to_string())
        }
        (NodeKind::Text(_), Value::Bytes(bytes)) => match core::str::from_utf8(bytes) {
            Ok(text) => Tree::text(text),
            Err(_) => Tree::object([("hex", Tree::Text(hex(bytes)))]),
        },
        (NodeKind::Blob(_), Value::Bytes(bytes)) => Tree::object([("hex", Tree::Text(hex(bytes)))]),
        (NodeKind::Slice(_, element) | NodeKind::Array(_, element), Value::List(values)) => {
            Tree::List(values.iter().map(|value| part(*element, value)).collect::<Result<_, _>>()?)
        }
        (NodeKind::Map { key, value, .. }, Value::Map(entries)) => {
            let entries = entries
                .iter()
                .map(|(a_key, a_value)| Ok(Tree::List([part(*key, a_key)?, part(*value, a_value)?].into())));
            Tree::List(entries.collect::<Result<Vec<_>, SchemaError>>()?)
        }
        (NodeKind::Option(_), Value::Option(None)) | (NodeKind::Skip(_), Value::Skip) => Tree::Null,
        (NodeKind::Option(inner), Value::Option(Some(value))) => {
            Tree::object([("some", part(*inner, value)?)])
        }
        (NodeKind::Struct { fields, .. }, Value::Struct(values)) if wire.has_fields(index, values.len()) => {
            let members = fields.iter().zip(values).map(|((name, field), value)| {
                Ok((name.clone(), part(*field, value).within(format_args!(".{name}"))?))
            });
            Tree::Object(members.collect::<Result<_, SchemaError>>()?)
        }
        (NodeKind::TimeLocation, Value::TimeLocation { unix_nanos, zone }) => Tree::object([
            ("unix_nanos", Tree::digits((*unix_nanos).into(), false)),
            ("zone", Tree::text(&**zone)),
        ]),
        (NodeKind::Multi { header, models }, Value::Multi { id, value }) => {
            let model = Model::find(models, id).map_err(|_| unknown_id())?;
            Tree::List([part(*header, id)?, part(model.node, value)?].into())
        }
        _ => return Err(SchemaError::mismatch("the value does not match the schema")),
    })
}

fn float_tree(bits: String, text: String) -> Tree {
    Tree::object([("bits", Tree::Text(bits)), ("text", Tree::Text(text))])
}
