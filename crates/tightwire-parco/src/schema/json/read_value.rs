//! Parses values from JSON.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::compile::{Dynamic, Index, Model, NodeKind};
use super::super::error::SchemaErrorKind;
use super::super::{Number, SchemaError, Value};
use super::tree::{Members, Tree};
use crate::message::WireExt as _;

/// Parses a value. The depth is at most that of the tree, which the parser limits.
pub(super) fn read(wire: &Dynamic, tree: Tree) -> Result<Value, SchemaError> {
    Reading { wire, left: Dynamic::MAX_REPEATED }.node(0, tree)
}

struct Reading<'a> {
    wire: &'a Dynamic,
    /// Remaining bytes that repetitions may create.
    left: usize,
}

impl Reading<'_> {
    fn node(&mut self, index: Index, tree: Tree) -> Result<Value, SchemaError> {
        let wire = self.wire;
        match (&wire.nodes[index].kind, tree) {
            (NodeKind::Bool, Tree::Bool(flag)) => Ok(Value::Bool(flag)),
            (NodeKind::Number(number, _), tree) if number.is_float() => float(*number, tree),
            (NodeKind::Number(..) | NodeKind::Header(..) | NodeKind::TimeUtc, tree) => {
                integer(&tree).map(Value::Integer)
            }
            (NodeKind::Blob(_), Tree::Null) => Ok(Value::Bytes(Vec::new())),
            (NodeKind::Text(_) | NodeKind::Blob(_), tree) => self.bytes(tree).map(Value::Bytes),
            (NodeKind::Slice(_, element) | NodeKind::Array(_, element), tree) => self.list(*element, tree),
            (NodeKind::Map { key, value, .. }, tree) => self.entries(*key, *value, tree),
            (NodeKind::Option(_), Tree::Null) => Ok(Value::NONE),
            (NodeKind::Option(inner), tree) => {
                let mut members = tree.into_members()?;
                let some = take(&mut members, "some")?;
                if !members.is_empty() {
                    return Err(SchemaError::mismatch(
                        "a present option must be an object with the single key `some`",
                    ));
                }
                Ok(Value::some(self.node(*inner, some).map_err(|error| error.within("[some]"))?))
            }
            (NodeKind::Struct(fields), tree) => {
                let mut members = tree.into_members()?;
                let mut values = Vec::with_capacity(fields.len());
                for (name, field) in fields {
                    let value = take(&mut members, name).and_then(|tree| self.node(*field, tree));
                    values.push(value.map_err(|error| error.within(format_args!(".{name}")))?);
                }
                let all = members.is_empty().then_some(Value::Struct(values));
                all.ok_or_else(|| SchemaError::mismatch("the object has keys that are not fields"))
            }
            (NodeKind::Skip(_), Tree::Null) => Ok(Value::Skip),
            (NodeKind::TimeLocation, tree) => located(tree),
            (NodeKind::Multi { header, models }, tree) => self.multi(*header, models, tree),
            _ => Err(SchemaError::mismatch("the value does not match the schema")),
        }
    }

    /// Subtracts the size of a repetition from the budget.
    fn repeat(&mut self, count: usize, size: usize) -> Result<(), SchemaError> {
        let left = count.checked_mul(size.max(1)).and_then(|size| self.left.checked_sub(size));
        self.left =
            left.ok_or_else(|| SchemaError::new(SchemaErrorKind::Limit("the repetition exceeds 100 MiB")))?;
        Ok(())
    }

    fn bytes(&mut self, tree: Tree) -> Result<Vec<u8>, SchemaError> {
        if let Tree::Text(text) = tree {
            return Ok(text.into_bytes());
        }
        let mut members = tree.into_members()?;
        if let Some(Tree::Text(digits)) = members.take("hex") {
            return unhex(&digits).ok_or_else(|| SchemaError::mismatch("invalid hexadecimal digits"));
        }
        match (members.take("repeat"), count(&mut members)) {
            (Some(Tree::Text(text)), Some(count)) => {
                self.repeat(count, text.len())?;
                Ok(text.repeat(count).into_bytes())
            }
            _ => Err(SchemaError::mismatch("expected a string, `hex` or `repeat`")),
        }
    }

    fn list(&mut self, element: Index, tree: Tree) -> Result<Value, SchemaError> {
        let list = match tree {
            Tree::List(list) => list,
            Tree::Null => Vec::new(),
            tree => {
                let mut members = tree.into_members()?;
                let (Some(unit), Some(count)) = (members.take("repeat"), count(&mut members)) else {
                    return Err(SchemaError::mismatch("expected a list or `repeat`"));
                };
                let before = self.left;
                let unit = self.node(element, unit)?;
                // The repeated unit may contain repetitions, whose cost is multiplied as well.
                self.repeat(count, (before - self.left).max(weight(&unit)))?;
                return Ok(Value::List(alloc::vec![unit; count]));
            }
        };
        let values = list.into_iter().enumerate().map(|(index, tree)| {
            self.node(element, tree).map_err(|error| error.within(format_args!("[{index}]")))
        });
        values.collect::<Result<_, _>>().map(Value::List)
    }

    fn entries(&mut self, key: Index, value: Index, tree: Tree) -> Result<Value, SchemaError> {
        let list = match tree {
            Tree::List(list) => list,
            Tree::Null => Vec::new(),
            tree => {
                // Maps of integers can be given as a count: the keys count up from zero, and all values are zero.
                let mut members = tree.into_members()?;
                let count =
                    count(&mut members).ok_or_else(|| SchemaError::mismatch("expected a list of entries"))?;
                self.repeat(count, size_of::<(Value, Value)>())?;
                let entries = (0..count).map(|key| (Value::Integer(key as i128), Value::Integer(0)));
                return Ok(Value::Map(entries.collect()));
            }
        };
        let entries = list.into_iter().enumerate().map(|(index, entry)| {
            let [a_key, a_value] = pair(entry)?;
            let a_key = self.node(key, a_key).map_err(|error| error.within(format_args!("[key {index}]")))?;
            let a_value =
                self.node(value, a_value).map_err(|error| error.within(format_args!("[value {index}]")))?;
            Ok((a_key, a_value))
        });
        entries.collect::<Result<_, _>>().map(Value::Map)
    }

    /// The id comes first, because it determines the type of the value.
    fn multi(&mut self, header: Index, models: &[Model], tree: Tree) -> Result<Value, SchemaError> {
        let [id, value] = pair(tree)?;
        let id = self.node(header, id)?;
        let Some(model) = Model::find(models, &id) else {
            // Distinguish an unknown id from one that does not fit its wire type.
            let wire =
                Dynamic { schema: self.wire.schema.clone(), nodes: [self.wire.nodes[header].clone()].into() };
            let error = if wire.encoded_len(&id).is_ok() {
                SchemaErrorKind::UnknownId
            } else {
                SchemaErrorKind::OutOfRange
            };
            return Err(SchemaError::new(error));
        };
        let value =
            self.node(model.node, value).map_err(|error| error.within(format_args!("[{}]", model.name)))?;
        Ok(Value::Multi { id: Box::new(id), value: Box::new(value) })
    }
}

/// Approximate memory size of a value.
fn weight(value: &Value) -> usize {
    let inside = match value {
        Value::Bytes(bytes) => bytes.len(),
        Value::List(values) | Value::Struct(values) => values.iter().map(weight).sum(),
        Value::Map(entries) => entries.iter().map(|(key, value)| weight(key) + weight(value)).sum(),
        Value::Option(Some(value)) => weight(value),
        Value::TimeLocation { zone, .. } => zone.len(),
        Value::Multi { id, value } => weight(id) + weight(value),
        _ => 0,
    };
    size_of::<Value>() + inside
}

fn take(members: &mut Members, name: &str) -> Result<Tree, SchemaError> {
    members.take(name).ok_or_else(|| SchemaError::mismatch("a key is missing"))
}

fn pair(tree: Tree) -> Result<[Tree; 2], SchemaError> {
    let Tree::List(list) = tree else { return Err(SchemaError::mismatch("expected a pair")) };
    list.try_into().map_err(|_| SchemaError::mismatch("expected a pair"))
}

fn count(members: &mut Members) -> Option<usize> {
    match members.take("count")? {
        Tree::Number(count) => usize::try_from(count).ok(),
        _ => None,
    }
}

fn integer(tree: &Tree) -> Result<i128, SchemaError> {
    match tree {
        Tree::Number(number) => Some((*number).into()),
        Tree::Large(number) => Some((*number).into()),
        Tree::Text(digits) => digits.parse().ok(),
        _ => None,
    }
    .ok_or_else(|| SchemaError::mismatch("expected an integer"))
}

fn float(number: Number, tree: Tree) -> Result<Value, SchemaError> {
    let wrong = || SchemaError::mismatch("`bits` must be a string of hexadecimal digits after 0x");
    let Some(Tree::Text(bits)) = tree.into_members()?.take("bits") else { return Err(wrong()) };
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

/// Returns the bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
