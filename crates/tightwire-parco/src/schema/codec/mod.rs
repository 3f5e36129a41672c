//! Encodes and decodes values with a validated schema.

mod decode;
mod encode;

use super::compile::{Dynamic, Index, Length, Model};
use super::{Number, Schema, SchemaContext, Value};
use crate::error::Fault;
use crate::options::{Levels, Mode};
use crate::read::{Input, Reader};
use crate::wire::{Endian, Get, Put, Wire};
use crate::write::{self, Writer};

/// Nesting depth of the value, limited so that recursion cannot overflow the stack.
#[derive(Clone, Copy)]
struct Depth(usize);

impl Depth {
    fn deeper(self) -> Result<Self, Fault> {
        if self.0 < Dynamic::MAX_NESTING { Ok(Self(self.0 + 1)) } else { Err(Fault::LIMIT) }
    }
}

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

/// Reads a header as a value, which is an `int` in Go and has at most 63 bits.
fn read_header<I: Input>(number: Number, endian: Endian, input: &mut I) -> Result<i128, Fault> {
    let value = read_integer(number, endian, input)?;
    match i64::try_from(value) {
        Ok(_) => Ok(value),
        Err(_) if input.options().mode == Mode::Compat => Ok(value - (1 << 64)),
        Err(_) => Err(input.rewind_fault(Fault::OVERFLOW, number.width())),
    }
}

impl Length {
    fn read<I: Input>(self, input: &mut I) -> Result<usize, Fault> {
        let len = read_integer(self.number, self.endian, input)?;
        usize::try_from(len).map_err(|_| input.rewind_fault(Fault::OVERFLOW, self.number.width()))
    }

    /// Reads the length of a string or blob.
    fn read_bytes<I: Input>(self, input: &mut I) -> Result<usize, Fault> {
        let len = self.read(input)?;
        input.check_bytes(len)?;
        Ok(len)
    }

    fn write(self, len: usize, writer: &mut Writer<'_>) -> Result<(), Fault> {
        if len as u64 > self.max() {
            return Err(Fault::OVERFLOW);
        }
        write_bits(self.number.width(), self.endian, len as u64, writer);
        Ok(())
    }
}

impl Dynamic {
    fn min_size(&self, index: Index) -> usize {
        self.nodes[index].min_size
    }
}

/// Returns the node of the model with this id.
fn model(models: &[Model], id: &Value) -> Result<Index, Fault> {
    Model::find(models, id).map(|model| model.node).ok_or(Fault::UNKNOWN_TYPE)
}

impl Wire for Dynamic {
    fn min_size(&self) -> usize {
        self.min_size(0)
    }

    fn fixed_size(&self) -> Option<usize> {
        self.nodes[0].fixed_size
    }

    fn walk<I: Input>(&self, input: &mut I) -> Result<(), Fault> {
        self.walk_node(0, input, Depth(0))
    }

    fn schema(&self, _: &mut SchemaContext) -> Schema {
        self.schema.clone()
    }
}

impl Put<Value> for Dynamic {
    fn put(&self, value: &Value, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.put_node(0, value, writer, Depth(0))
    }

    fn size(&self, value: &Value, levels: Levels) -> Result<usize, Fault> {
        write::measure(levels, |writer| self.put(value, writer))
    }
}

impl Get<'_, Value> for Dynamic {
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<Value, Fault> {
        self.get_node(0, reader, Depth(0))
    }
}
