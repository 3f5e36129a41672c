//! Converts values to JSON.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::super::compile::{Dynamic, Index, Model, NodeKind};
use super::super::error::SchemaErrorKind;
use super::super::{SchemaError, Value};
use super::read_value::hex;
use super::tree::Tree;

/// Converts a value. The depth is limited as for encoding.
pub(super) fn write(wire: &Dynamic, value: &Value) -> Result<Tree, SchemaError> {
    node(wire, 0, value, 0)
}

fn node(wire: &Dynamic, index: Index, value: &Value, depth: usize) -> Result<Tree, SchemaError> {
    if depth == Dynamic::MAX_NESTING {
        return Err(SchemaError::new(SchemaErrorKind::Limit("the value is too deep")));
    }
    let part = |index, value| node(wire, index, value, depth + 1);
    Ok(match (&wire.nodes[index].kind, value) {
        (NodeKind::Bool, Value::Bool(flag)) => Tree::Bool(*flag),
        (NodeKind::Number(number, _), Value::Integer(value)) if !number.is_float() => {
            Tree::digits(*value, number.width() < 8)
        }
        (NodeKind::Header(..), Value::Integer(value)) => Tree::digits(*value, i32::try_from(*value).is_ok()),
        (NodeKind::TimeUtc, Value::Integer(value)) => Tree::digits(*value, false),
        (NodeKind::Number(..), Value::Float32(bits)) => {
            float(alloc::format!("{bits:#010x}"), f32::from_bits(*bits).to_string())
        }
        (NodeKind::Number(..), Value::Float64(bits)) => {
            float(alloc::format!("{bits:#018x}"), f64::from_bits(*bits).to_string())
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
        (NodeKind::Struct(fields), Value::Struct(values)) if fields.len() == values.len() => {
            let members = fields.iter().zip(values).map(|((name, field), value)| {
                let tree = part(*field, value).map_err(|error| error.within(format_args!(".{name}")))?;
                Ok((name.clone(), tree))
            });
            Tree::Object(members.collect::<Result<_, SchemaError>>()?)
        }
        (NodeKind::TimeLocation, Value::TimeLocation { unix_nanos, zone }) => Tree::object([
            ("unix_nanos", Tree::digits((*unix_nanos).into(), false)),
            ("zone", Tree::text(&**zone)),
        ]),
        (NodeKind::Multi { header, models }, Value::Multi { id, value }) => {
            let model = Model::find(models, id);
            let model = model.ok_or_else(|| SchemaError::new(SchemaErrorKind::UnknownId))?;
            Tree::List([part(*header, id)?, part(model.node, value)?].into())
        }
        _ => return Err(SchemaError::mismatch("the value does not match the schema")),
    })
}

fn float(bits: String, text: String) -> Tree {
    Tree::object([("bits", Tree::Text(bits)), ("text", Tree::Text(text))])
}
