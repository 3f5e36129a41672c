//! Decodes values, and walks over them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::super::compile::{Dynamic, Index, Length, NodeKind};
use super::super::{Number, Value};
use super::{Depth, model, read_header, read_integer};
use crate::error::{ErrorKind, Fault, Segment};
use crate::read::{Input, Reader};
use crate::time::ZonedTimestamp;
use crate::wire::{Get as _, TimeLocation, Wire as _};

/// Maximum number of elements reserved before they arrive.
const MAX_RESERVED: usize = 4096;

/// Path segment of a key, value or element.
type Step = fn(usize) -> Segment;

impl Dynamic {
    pub(super) fn walk_node<I: Input>(&self, index: Index, input: &mut I, depth: Depth) -> Result<(), Fault> {
        let depth = depth.deeper()?;
        match &self.nodes[index].kind {
            NodeKind::Bool => input.flag().map(|_| ()),
            NodeKind::Number(number, _) => input.skip(number.width()),
            NodeKind::Header(number, endian) => read_header(*number, *endian, input).map(|_| ()),
            NodeKind::Text(header) | NodeKind::Blob(header) => {
                let len = header.read_bytes(input)?;
                input.skip(len)
            }
            NodeKind::Slice(header, element) => {
                let count = header.read(input)?;
                input.check_elements(count, self.min_size(*element))?;
                self.walk_elements(*element, count, input, depth)
            }
            NodeKind::Array(len, element) => {
                if self.min_size(*element) == 0 {
                    input.check_elements(*len, 0)?;
                }
                self.walk_elements(*element, *len, input, depth)
            }
            NodeKind::Map { header, key, value } => {
                let count = header.read(input)?;
                input.check_elements(count, self.min_size(*key).saturating_add(self.min_size(*value)))?;
                input.walk_parts(count, |input, index| {
                    self.walk_part(*key, Segment::Key, index, input, depth)?;
                    self.walk_part(*value, Segment::Value, index, input, depth)
                })
            }
            NodeKind::Option(inner) => {
                if input.flag()? {
                    self.walk_node(*inner, input, depth)?;
                }
                Ok(())
            }
            NodeKind::Struct(fields) => {
                input.enter()?;
                input.walk_parts(fields.len(), |input, index| {
                    let (name, field) = &fields[index];
                    self.walk_node(*field, input, depth)
                        .map_err(|fault| input.locate(fault, Segment::Name(name.clone())))
                })?;
                input.leave();
                Ok(())
            }
            NodeKind::Skip(count) => input.skip(*count),
            NodeKind::TimeUtc => input.skip(8),
            NodeKind::TimeLocation => TimeLocation.walk(input),
            NodeKind::Multi { header, models } => {
                input.enter()?;
                input.walk_parts(1, |input, _| {
                    let id = self.walk_id(*header, input)?;
                    let inner =
                        model(models, &id).map_err(|fault| self.rewind_to_id(*header, &id, fault, input))?;
                    self.walk_node(inner, input, depth)
                })?;
                input.leave();
                Ok(())
            }
        }
    }

    /// Reads an id, the only value that a walk needs. An [`Input`] only returns arrays, so bytes are read one at a
    /// time.
    fn walk_id<I: Input>(&self, header: Index, input: &mut I) -> Result<Value, Fault> {
        Ok(match self.nodes[header].kind {
            NodeKind::Number(number, endian) => Value::Integer(read_integer(number, endian, input)?),
            NodeKind::Header(number, endian) => Value::Integer(read_header(number, endian, input)?),
            NodeKind::Text(header) => {
                let len = header.read_bytes(input)?;
                input.expect(len)?;
                let mut bytes = Vec::with_capacity(len.min(MAX_RESERVED));
                for _ in 0..len {
                    bytes.extend(input.array::<1>()?);
                }
                Value::Bytes(bytes)
            }
            _ => return Err(Fault::UNKNOWN_TYPE),
        })
    }

    /// Reports a fault at the first byte of the id that was just read.
    #[cold]
    fn rewind_to_id<I: Input>(&self, header: Index, id: &Value, fault: Fault, input: &mut I) -> Fault {
        let text = if let Value::Bytes(bytes) = id { bytes.len() } else { 0 };
        input.rewind_fault(fault, self.min_size(header) + text)
    }

    fn walk_part<I: Input>(
        &self,
        node: Index,
        step: Step,
        index: usize,
        input: &mut I,
        depth: Depth,
    ) -> Result<(), Fault> {
        self.walk_node(node, input, depth).map_err(|fault| input.locate(fault, step(index)))
    }

    fn walk_elements<I: Input>(
        &self,
        element: Index,
        count: usize,
        input: &mut I,
        depth: Depth,
    ) -> Result<(), Fault> {
        let node = &self.nodes[element];
        match (&node.kind, node.fixed_size) {
            // Any bytes are valid elements of these types.
            (NodeKind::Number(..) | NodeKind::Skip(_) | NodeKind::TimeUtc, Some(size)) => {
                input.skip(size.checked_mul(count).ok_or(Fault::OVERFLOW)?)
            }
            _ => input.walk_parts(count, |input, index| {
                self.walk_part(element, Segment::Index, index, input, depth)
            }),
        }
    }

    pub(super) fn get_node(
        &self,
        index: Index,
        reader: &mut Reader<'_, '_>,
        depth: Depth,
    ) -> Result<Value, Fault> {
        let depth = depth.deeper()?;
        Ok(match &self.nodes[index].kind {
            NodeKind::Bool => Value::Bool(reader.flag()?),
            NodeKind::Number(number @ (Number::Float32 | Number::Float64), endian) => {
                // The integer is unsigned, so the cast preserves the bits.
                let bits = read_integer(*number, *endian, reader)? as u64;
                if number.width() == 4 { Value::Float32(bits as u32) } else { Value::Float64(bits) }
            }
            NodeKind::Number(number, endian) => Value::Integer(read_integer(*number, *endian, reader)?),
            NodeKind::Header(number, endian) => Value::Integer(read_header(*number, *endian, reader)?),
            NodeKind::Text(header) | NodeKind::Blob(header) => {
                Value::Bytes(get_bytes(*header, reader)?.into())
            }
            NodeKind::Slice(header, element) => {
                let count = header.read(reader)?;
                reader.check_elements(count, self.min_size(*element))?;
                self.get_elements(*element, count, reader, depth)?
            }
            NodeKind::Array(len, element) => {
                if self.min_size(*element) == 0 {
                    reader.check_elements(*len, 0)?;
                }
                reader.expect(self.min_size(index))?;
                self.get_elements(*element, *len, reader, depth)?
            }
            NodeKind::Map { header, key, value } => {
                let count = header.read(reader)?;
                reader.check_elements(count, self.min_size(*key).saturating_add(self.min_size(*value)))?;
                self.get_entries(*key, *value, count, reader, depth)?
            }
            NodeKind::Option(inner) => {
                if reader.flag()? {
                    reader.count_allocation(size_of::<Value>())?;
                    Value::some(self.get_node(*inner, reader, depth)?)
                } else {
                    Value::NONE
                }
            }
            NodeKind::Struct(fields) => {
                reader.enter()?;
                reader.count_allocation(fields.len().saturating_mul(size_of::<Value>()))?;
                let mut values = Vec::with_capacity(fields.len());
                for (name, field) in fields {
                    match self.get_node(*field, reader, depth) {
                        Ok(value) => values.push(value),
                        Err(fault) => return Err(reader.locate(fault, Segment::Name(name.clone()))),
                    }
                }
                reader.leave();
                Value::Struct(values)
            }
            NodeKind::Skip(count) => {
                reader.skip(*count)?;
                Value::Skip
            }
            NodeKind::TimeUtc => Value::Integer(i64::from_le_bytes(reader.array()?).into()),
            NodeKind::TimeLocation => {
                let ZonedTimestamp { at, zone } = TimeLocation.get(reader)?;
                Value::TimeLocation { unix_nanos: at.as_nanos(), zone }
            }
            NodeKind::Multi { header, models } => {
                reader.enter()?;
                let id = self.get_node(*header, reader, depth)?;
                let inner =
                    model(models, &id).map_err(|fault| self.rewind_to_id(*header, &id, fault, reader))?;
                reader.count_allocation(2 * size_of::<Value>())?;
                let value = Box::new(self.get_node(inner, reader, depth)?);
                reader.leave();
                Value::Multi { id: Box::new(id), value }
            }
        })
    }

    fn get_part(
        &self,
        node: Index,
        step: Step,
        index: usize,
        reader: &mut Reader<'_, '_>,
        depth: Depth,
    ) -> Result<Value, Fault> {
        self.get_node(node, reader, depth).map_err(|fault| reader.locate(fault, step(index)))
    }

    fn get_elements(
        &self,
        element: Index,
        count: usize,
        reader: &mut Reader<'_, '_>,
        depth: Depth,
    ) -> Result<Value, Fault> {
        reader.count_allocation(count.saturating_mul(size_of::<Value>()))?;
        let mut values = Vec::with_capacity(count.min(MAX_RESERVED));
        for index in 0..count {
            values.push(self.get_part(element, Segment::Index, index, reader, depth)?);
        }
        Ok(Value::List(values))
    }

    fn get_entries(
        &self,
        key: Index,
        value: Index,
        count: usize,
        reader: &mut Reader<'_, '_>,
        depth: Depth,
    ) -> Result<Value, Fault> {
        reader.count_allocation(count.saturating_mul(size_of::<(Value, Value)>()))?;
        let mut entries = Vec::with_capacity(count.min(MAX_RESERVED));
        // Offsets of the entries, recorded only if duplicates are rejected.
        let mut starts = Vec::new();
        for index in 0..count {
            if reader.rejects_duplicates() {
                starts.push(reader.offset());
            }
            let key = self.get_part(key, Segment::Key, index, reader, depth)?;
            let value = self.get_part(value, Segment::Value, index, reader, depth)?;
            entries.push((key, value));
        }
        let repeated = repeated(&entries);
        let first = repeated.iter().map(|(_, index)| *index).min();
        if let Some((index, start)) = first.and_then(|index| Some((index, starts.get(index)?))) {
            let fault = reader.rewind_fault(Fault(ErrorKind::DuplicateKey), reader.offset() - start);
            return Err(reader.locate(fault, Segment::Key(index)));
        }
        Ok(Value::Map(last_wins(entries, &repeated)))
    }
}

fn get_bytes<'de>(header: Length, reader: &mut Reader<'_, 'de>) -> Result<&'de [u8], Fault> {
    let len = header.read_bytes(reader)?;
    reader.count_allocation(len)?;
    reader.bytes(len)
}

/// Returns the entries with duplicate keys, each with the first entry that has the key.
fn repeated(entries: &[(Value, Value)]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    // A stable sort preserves wire order among equal keys.
    order.sort_by(|one, other| entries[*one].0.cmp(&entries[*other].0));
    let mut repeated = Vec::new();
    for same in order.chunk_by(|one, other| entries[*one].0 == entries[*other].0) {
        repeated.extend(same[1..].iter().map(|index| (same[0], *index)));
    }
    repeated
}

/// Removes duplicate keys: the first entry remains, with the last value.
fn last_wins(mut entries: Vec<(Value, Value)>, repeated: &[(usize, usize)]) -> Vec<(Value, Value)> {
    if repeated.is_empty() {
        return entries;
    }
    let mut kept = alloc::vec![true; entries.len()];
    for (first, later) in repeated {
        entries[*first].1 = core::mem::replace(&mut entries[*later].1, Value::Skip);
        kept[*later] = false;
    }
    let mut kept = kept.into_iter();
    entries.retain(|_| kept.next().unwrap_or(true));
    entries
}
