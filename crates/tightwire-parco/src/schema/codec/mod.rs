//! Encodes and decodes values with a validated schema.

mod decode;

use self::decode::{Build, Walk};
use alloc::string::String;
use alloc::vec::Vec;

use super::compile::{Dynamic, Index, Int, Model, NodeKind};
use super::{Number, Schema, SchemaContext, Value};
use crate::error::{Exceeded, Fault, Limit, Segment};
use crate::options::{ElementSize, Levels, Mode};
use crate::read::{Input, Reader};
use crate::wire::{Endian, Get, Header as _, Put, TimeLocation, Varint, Wire};
use crate::write::Writer;

/// Levels of values, limited so that recursion cannot overflow the stack.
const NESTING: Levels = Levels(Dynamic::MAX_NESTING as u32);

fn read_integer<I: Input>(number: Number, endian: Endian, input: &mut I) -> Result<i128, Fault> {
    let mut bytes = [0; 8];
    match number.width() {
        1 => bytes[..1].copy_from_slice(&input.array::<1>()?),
        2 => bytes[..2].copy_from_slice(&input.array::<2>()?),
        4 => bytes[..4].copy_from_slice(&input.array::<4>()?),
        _ => bytes = input.array()?,
    }
    if endian == Endian::Big {
        bytes[..number.width()].reverse();
    }
    let bits = u64::from_le_bytes(bytes);
    let spare = 64 - 8 * number.width();
    let is_negative = number.is_signed() && (bits << spare) >> 63 == 1;
    Ok(i128::from(bits) - if is_negative { 1 << (8 * number.width()) } else { 0 })
}

fn write_bits(width: usize, endian: Endian, bits: u64, writer: &mut Writer<'_>) {
    let header = match endian {
        Endian::Little => bits.to_le_bytes(),
        Endian::Big => (bits << (64 - 8 * width)).to_be_bytes(),
    };
    writer.prefixed(header, width, &[]);
}

impl Int {
    fn read<I: Input>(self, input: &mut I) -> Result<i128, Fault> {
        match self {
            Self::Number(number, endian) => read_integer(number, endian, input),
            Self::Header(number, endian) => {
                let value = read_integer(number, endian, input)?;
                match i64::try_from(value) {
                    Ok(_) => Ok(value),
                    Err(_) if input.options().mode == Mode::Compat => Ok(value - (1 << 64)),
                    Err(_) => Err(input.rewind_fault(Fault::OVERFLOW, number.width())),
                }
            }
            Self::Varint => Ok(input.varint()?.into()),
        }
    }

    fn write(self, value: i128, writer: &mut Writer<'_>) -> Result<(), Fault> {
        let (min, max) = self.range();
        if !(min..=max).contains(&value) {
            return Err(Fault::OVERFLOW);
        }
        // The casts preserve the low bits in two's complement.
        match self {
            Self::Number(number, endian) | Self::Header(number, endian) => {
                write_bits(number.width(), endian, value as u64, writer);
            }
            Self::Varint => Varint::write(value as u64, writer),
        }
        Ok(())
    }

    fn read_length<I: Input>(self, input: &mut I) -> Result<usize, Fault> {
        match self {
            Self::Number(number, endian) | Self::Header(number, endian) => {
                let len = read_integer(number, endian, input)?;
                usize::try_from(len).map_err(|_| input.rewind_fault(Fault::OVERFLOW, number.width()))
            }
            Self::Varint => Varint::length(input),
        }
    }

    /// Reads the length of a string or blob.
    fn read_bytes<I: Input>(self, input: &mut I) -> Result<usize, Fault> {
        let len = self.read_length(input)?;
        input.check_bytes(len)?;
        Ok(len)
    }

    fn write_length(self, len: usize, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.write(len as i128, writer).map_err(|_| {
            let most = usize::try_from(self.range().1).unwrap_or(usize::MAX);
            writer.exceed(Exceeded::new(Limit::Header, len, most))
        })
    }
}

impl Dynamic {
    fn size_of_entry(&self, key: Index, value: Index) -> ElementSize {
        self.nodes[key].size.and(self.nodes[value].size)
    }

    /// Returns the encoded size of a value of a node.
    pub(super) fn size_of(&self, index: Index, value: &Value, levels: Levels) -> Result<usize, Fault> {
        levels.size_of(|writer| self.put_node(index, value, writer, NESTING))
    }

    /// Returns whether a value of this struct can have this number of fields.
    pub(super) fn has_fields(&self, index: Index, count: usize) -> bool {
        match &self.nodes[index].kind {
            NodeKind::Struct { required, fields } => {
                (required.unwrap_or(fields.len())..=fields.len()).contains(&count)
            }
            _ => false,
        }
    }
}

impl Wire for Dynamic {
    fn min_size(&self) -> usize {
        self.nodes[0].size.min
    }

    fn fixed_size(&self) -> Option<usize> {
        self.nodes[0].size.fixed
    }

    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        self.read::<Walk<I>>(0, input, NESTING).map(|_| ())
    }

    fn schema(&self, _: &mut SchemaContext) -> Schema {
        self.schema.clone()
    }
}

impl Put<Value> for Dynamic {
    fn put(&self, value: &Value, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.put_node(0, value, writer, NESTING)
    }

    fn size(&self, value: &Value, levels: Levels) -> Result<usize, Fault> {
        self.size_of(0, value, levels)
    }
}

impl Get<'_, Value> for Dynamic {
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<Value, Fault> {
        self.read::<Build<'_, '_>>(0, reader, NESTING)
    }
}

impl Dynamic {
    fn put_node(
        &self,
        index: Index,
        value: &Value,
        writer: &mut Writer<'_>,
        depth: Levels,
    ) -> Result<(), Fault> {
        let depth = depth.deeper()?;
        match (&self.nodes[index].kind, value) {
            (NodeKind::Bool, Value::Bool(flag)) => writer.array([u8::from(*flag)]),
            (NodeKind::Float(Number::Float32, endian), Value::Float32(bits)) => {
                write_bits(4, *endian, (*bits).into(), writer);
            }
            (NodeKind::Float(Number::Float64, endian), Value::Float64(bits)) => {
                write_bits(8, *endian, *bits, writer);
            }
            (NodeKind::Integer(int), Value::Integer(value)) => int.write(*value, writer)?,
            (NodeKind::Text(header) | NodeKind::Blob(header), Value::Bytes(bytes)) => {
                writer.check_bytes(bytes.len())?;
                header.write_length(bytes.len(), writer)?;
                writer.bytes(bytes);
            }
            (NodeKind::Slice(header, element), Value::List(values)) => {
                writer.check_elements(values.len(), self.nodes[*element].size, size_of::<Value>())?;
                header.write_length(values.len(), writer)?;
                self.put_elements(*element, values, writer, depth)?;
            }
            (NodeKind::Array(len, element), Value::List(values)) => {
                if values.len() != *len {
                    return Err(Fault::INVALID_LENGTH);
                }
                writer.count(len.saturating_mul(size_of::<Value>()));
                // The number of bytes bounds the number of other elements.
                if self.nodes[*element].size.min == 0 {
                    writer.check_elements(*len, self.nodes[*element].size, 0)?;
                }
                self.put_elements(*element, values, writer, depth)?;
            }
            (NodeKind::Map { header, key, value }, Value::Map(entries)) => {
                writer.check_elements(
                    entries.len(),
                    self.size_of_entry(*key, *value),
                    size_of::<(Value, Value)>(),
                )?;
                header.write_length(entries.len(), writer)?;
                // The canonical form sorts the entries by their encoded keys.
                let mut keys = Vec::new();
                for (index, (a_key, a_value)) in entries.iter().enumerate() {
                    let start = writer.position();
                    self.put_part(*key, a_key, || Segment::Key(index), writer, depth)?;
                    keys.extend(writer.is_canonical().then(|| start..writer.position()));
                    self.put_part(*value, a_value, || Segment::Value(index), writer, depth)?;
                }
                writer.sort_parts(&keys, Segment::Key)?;
            }
            (NodeKind::Option(inner), Value::Option(value)) => {
                writer.array([u8::from(value.is_some())]);
                if let Some(value) = value {
                    writer.count(size_of::<Value>());
                    self.put_node(*inner, value, writer, depth)?;
                }
            }
            (NodeKind::Struct { required, fields }, Value::Struct(values))
                if self.has_fields(index, values.len()) =>
            {
                let put_fields = |writer: &mut Writer<'_>| self.put_fields(fields, values, writer, depth);
                writer.level(|writer| match required {
                    Some(_) => writer.put_sized(put_fields),
                    None => put_fields(writer),
                })?;
            }
            (NodeKind::Skip(count), Value::Skip) => writer.zeros(*count),
            (NodeKind::TimeLocation, Value::TimeLocation { unix_nanos, zone }) => {
                TimeLocation::put_parts(unix_nanos, zone.as_bytes(), writer)?;
            }
            (NodeKind::Multi { header, models }, Value::Multi { id, value }) => {
                writer.level(|writer| {
                    // The decoder allocates a box for the id and another one for the value.
                    writer.count(2 * size_of::<Value>());
                    self.put_node(*header, id, writer, depth)?;
                    self.put_node(Model::find(models, id)?.node, value, writer, depth)
                })?;
            }
            _ => return Err(Fault::UNKNOWN_TYPE),
        }
        Ok(())
    }

    fn put_fields(
        &self,
        fields: &[(String, Index)],
        values: &[Value],
        writer: &mut Writer<'_>,
        depth: Levels,
    ) -> Result<(), Fault> {
        writer.count(fields.len() * size_of::<Value>());
        for ((name, field), value) in fields.iter().zip(values) {
            self.put_part(*field, value, || Segment::Name(name.clone()), writer, depth)?;
        }
        Ok(())
    }

    fn put_part(
        &self,
        node: Index,
        value: &Value,
        step: impl FnOnce() -> Segment,
        writer: &mut Writer<'_>,
        depth: Levels,
    ) -> Result<(), Fault> {
        self.put_node(node, value, writer, depth).map_err(|fault| writer.locate(fault, step()))
    }

    fn put_elements(
        &self,
        element: Index,
        values: &[Value],
        writer: &mut Writer<'_>,
        depth: Levels,
    ) -> Result<(), Fault> {
        for (index, value) in values.iter().enumerate() {
            self.put_part(element, value, || Segment::Index(index), writer, depth)?;
        }
        Ok(())
    }
}
