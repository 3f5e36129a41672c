//! Encodes values.

use super::super::compile::{Dynamic, Index, NodeKind};
use super::super::{Number, Value};
use super::{Depth, model, write_bits};
use crate::error::{Fault, Segment};
use crate::wire::{Endian, TimeLocation};
use crate::write::Writer;

/// Returns the width and byte order of a type that is encoded as a single number.
fn layout(kind: &NodeKind) -> Option<(usize, Endian)> {
    match kind {
        NodeKind::Bool => Some((1, Endian::Little)),
        NodeKind::Number(number, endian) | NodeKind::Header(number, endian) => {
            Some((number.width(), *endian))
        }
        NodeKind::TimeUtc => Some((8, Endian::Little)),
        _ => None,
    }
}

/// Returns the bits of that number.
fn bits(kind: &NodeKind, value: &Value) -> Result<u64, Fault> {
    match (kind, value) {
        (NodeKind::Bool, Value::Bool(flag)) => Ok((*flag).into()),
        (NodeKind::Number(Number::Float32, _), Value::Float32(bits)) => Ok((*bits).into()),
        (NodeKind::Number(Number::Float64, _), Value::Float64(bits)) => Ok(*bits),
        (NodeKind::Number(number, _), Value::Integer(value)) if !number.is_float() => {
            to_bits(*number, *value)
        }
        (NodeKind::Header(number, _), Value::Integer(value)) => {
            to_bits(Number::Int, *value)?;
            to_bits(*number, *value)
        }
        (NodeKind::TimeUtc, Value::Integer(nanos)) => to_bits(Number::Int64, *nanos),
        _ => Err(Fault::UNKNOWN_TYPE),
    }
}

/// Returns the bits of an integer, after a range check.
fn to_bits(number: Number, value: i128) -> Result<u64, Fault> {
    let (min, max) = number.range();
    // The cast preserves the low bits in two's complement.
    if (min..=max).contains(&value) { Ok(value as u64) } else { Err(Fault::OVERFLOW) }
}

impl Dynamic {
    pub(super) fn put_node(
        &self,
        index: Index,
        value: &Value,
        writer: &mut Writer<'_>,
        depth: Depth,
    ) -> Result<(), Fault> {
        let depth = depth.deeper()?;
        let kind = &self.nodes[index].kind;
        if let Some((width, endian)) = layout(kind) {
            write_bits(width, endian, bits(kind, value)?, writer);
            return Ok(());
        }
        match (kind, value) {
            (NodeKind::Text(header) | NodeKind::Blob(header), Value::Bytes(bytes)) => {
                header.write(bytes.len(), writer)?;
                writer.bytes(bytes);
            }
            (NodeKind::Slice(header, element), Value::List(values)) => {
                header.write(values.len(), writer)?;
                self.put_elements(*element, values, writer, depth)?;
            }
            (NodeKind::Array(len, element), Value::List(values)) => {
                if values.len() != *len {
                    return Err(Fault::INVALID_LENGTH);
                }
                self.put_elements(*element, values, writer, depth)?;
            }
            (NodeKind::Map { header, key, value }, Value::Map(entries)) => {
                header.write(entries.len(), writer)?;
                for (index, (a_key, a_value)) in entries.iter().enumerate() {
                    self.put_part(*key, a_key, Segment::Key(index), writer, depth)?;
                    self.put_part(*value, a_value, Segment::Value(index), writer, depth)?;
                }
            }
            (NodeKind::Option(inner), Value::Option(value)) => {
                writer.array([u8::from(value.is_some())]);
                if let Some(value) = value {
                    self.put_node(*inner, value, writer, depth)?;
                }
            }
            (NodeKind::Struct(fields), Value::Struct(values)) if fields.len() == values.len() => {
                writer.enter()?;
                for ((name, field), value) in fields.iter().zip(values) {
                    if let Err(fault) = self.put_node(*field, value, writer, depth) {
                        return Err(writer.locate(fault, Segment::Name(name.clone())));
                    }
                }
                writer.leave();
            }
            (NodeKind::Skip(count), Value::Skip) => writer.zeros(*count),
            (NodeKind::TimeLocation, Value::TimeLocation { unix_nanos, zone }) => {
                TimeLocation::put_parts(unix_nanos, zone.as_bytes(), writer)?;
            }
            (NodeKind::Multi { header, models }, Value::Multi { id, value }) => {
                writer.enter()?;
                self.put_node(*header, id, writer, depth)?;
                self.put_node(model(models, id)?, value, writer, depth)?;
                writer.leave();
            }
            _ => return Err(Fault::UNKNOWN_TYPE),
        }
        Ok(())
    }

    fn put_part(
        &self,
        node: Index,
        value: &Value,
        step: Segment,
        writer: &mut Writer<'_>,
        depth: Depth,
    ) -> Result<(), Fault> {
        self.put_node(node, value, writer, depth).map_err(|fault| writer.locate(fault, step))
    }

    fn put_elements(
        &self,
        element: Index,
        values: &[Value],
        writer: &mut Writer<'_>,
        depth: Depth,
    ) -> Result<(), Fault> {
        for (index, value) in values.iter().enumerate() {
            self.put_part(element, value, Segment::Index(index), writer, depth)?;
        }
        Ok(())
    }
}
