//! Decodes values, and walks over them.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::marker::PhantomData;

use super::super::Value;
use super::super::compile::{Dynamic, Index, Int, Model, NodeKind};
use super::read_integer;
use crate::error::{ErrorKind, Fault, Segment};
use crate::options::{DuplicateKeys, Levels};
use crate::read::{Input, Reader, check_order, level, walk_level};
use crate::time::ZonedTimestamp;
use crate::wire::{Get as _, TimeLocation, Wire as _};

/// Maximum number of elements reserved before they arrive.
const MAX_RESERVED: usize = 4096;

/// How values are read: built, or only walked over.
pub(super) trait Reading {
    type Input: Input;

    /// Bytes of the input.
    type Bytes: AsRef<[u8]>;

    const IS_BUILDING: bool;

    /// Returns the unread part of the input, if values are built.
    fn rest(input: &Self::Input) -> Self::Bytes;

    /// Reads a string or blob of this length.
    fn bytes(len: usize, input: &mut Self::Input) -> Result<Value, Fault>;

    /// Reads a time with a zone.
    fn zoned(input: &mut Self::Input) -> Result<Value, Fault>;
}

/// Builds values.
pub(super) struct Build<'c, 'de>(PhantomData<Reader<'c, 'de>>);

impl<'c, 'de> Reading for Build<'c, 'de> {
    type Input = Reader<'c, 'de>;
    type Bytes = &'de [u8];

    const IS_BUILDING: bool = true;

    fn rest(reader: &Reader<'c, 'de>) -> &'de [u8] {
        reader.rest()
    }

    fn bytes(len: usize, reader: &mut Reader<'c, 'de>) -> Result<Value, Fault> {
        reader.count_allocation(len)?;
        reader.bytes(len).map(|bytes| Value::Bytes(bytes.into()))
    }

    fn zoned(reader: &mut Reader<'c, 'de>) -> Result<Value, Fault> {
        let ZonedTimestamp { at, zone } = TimeLocation.get(reader)?;
        Ok(Value::TimeLocation { unix_nanos: at.as_nanos(), zone })
    }
}

/// Walks over values without allocations. The returned values have no contents.
pub(super) struct Walk<I>(PhantomData<I>);

impl<I: Input> Reading for Walk<I> {
    type Input = I;
    type Bytes = [u8; 0];

    const IS_BUILDING: bool = false;

    fn rest(_: &I) -> [u8; 0] {
        []
    }

    fn bytes(len: usize, input: &mut I) -> Result<Value, Fault> {
        input.skip(len).map(|()| Value::Skip)
    }

    fn zoned(input: &mut I) -> Result<Value, Fault> {
        TimeLocation.walk(input).map(|()| Value::Skip)
    }
}

impl Dynamic {
    pub(super) fn read<R: Reading>(
        &self,
        index: Index,
        input: &mut R::Input,
        depth: Levels,
    ) -> Result<Value, Fault> {
        let depth = depth.deeper()?;
        Ok(match &self.nodes[index].kind {
            NodeKind::Bool => Value::Bool(input.flag()?),
            NodeKind::Float(number, endian) => {
                // The integer is unsigned, so the cast preserves the bits.
                let bits = read_integer(*number, *endian, input)? as u64;
                if number.width() == 4 { Value::Float32(bits as u32) } else { Value::Float64(bits) }
            }
            NodeKind::Integer(int) => Value::Integer(int.read(input)?),
            NodeKind::Text(header) | NodeKind::Blob(header) => R::bytes(header.read_bytes(input)?, input)?,
            NodeKind::Slice(header, element) => {
                let count = header.read_length(input)?;
                input.check_elements(count, self.nodes[*element].size)?;
                self.read_elements::<R>(*element, count, input, depth)?
            }
            NodeKind::Array(len, element) => {
                // The number of bytes bounds the number of other elements.
                if self.nodes[*element].size.min == 0 {
                    input.check_elements(*len, self.nodes[*element].size)?;
                }
                // Fails before a list is allocated for elements that are missing.
                if R::IS_BUILDING {
                    input.expect(self.nodes[index].size.min)?;
                }
                self.read_elements::<R>(*element, *len, input, depth)?
            }
            NodeKind::Map { header, key, value } => {
                let count = header.read_length(input)?;
                input.check_elements(count, self.size_of_entry(*key, *value))?;
                self.read_map::<R>((*key, *value), count, input, depth)?
            }
            NodeKind::Option(inner) => {
                if !input.flag()? {
                    return Ok(Value::NONE);
                }
                count_allocation::<R>(size_of::<Value>(), input)?;
                let value = self.read::<R>(*inner, input, depth)?;
                Value::Option(R::IS_BUILDING.then(|| Box::new(value)))
            }
            NodeKind::Struct { required: None, fields } => level(input, |input| {
                let mut values = list::<R, _>(fields.len(), input)?;
                input.walk_parts(fields.len(), |input, index| {
                    values.extend(self.read_field::<R>(&fields[index], input, depth)?);
                    Ok(())
                })?;
                Ok(Value::Struct(values))
            })?,
            NodeKind::Struct { required: Some(required), fields } => {
                let mut values = Vec::new();
                walk_level(input, |input| {
                    input.walk_sized(|input| {
                        values = list::<R, _>(fields.len(), input)?;
                        for (index, field) in fields.iter().enumerate() {
                            // A field that takes no bytes is never missing.
                            if index >= *required && self.nodes[field.1].size.min > 0 && input.at_end()? {
                                break;
                            }
                            values.extend(self.read_field::<R>(field, input, depth)?);
                        }
                        Ok(())
                    })
                })?;
                Value::Struct(values)
            }
            NodeKind::Skip(count) => {
                input.skip(*count)?;
                Value::Skip
            }
            NodeKind::TimeLocation => R::zoned(input)?,
            NodeKind::Multi { header, models } => {
                let mut message = Value::Skip;
                walk_level(input, |input| {
                    let id = match self.nodes[*header].kind {
                        NodeKind::Text(header) => read_text_id::<R>(header, input)?,
                        _ => self.read::<R>(*header, input, depth)?,
                    };
                    let model = Model::find(models, &id).map_err(|fault| {
                        // Reported at the first byte of the id.
                        let width = self.size_of(*header, &id, Levels::default());
                        input.rewind_fault(fault, width.unwrap_or(self.nodes[*header].size.min))
                    })?;
                    count_allocation::<R>(2 * size_of::<Value>(), input)?;
                    let value = self.read::<R>(model.node, input, depth)?;
                    if R::IS_BUILDING {
                        message = Value::Multi { id: Box::new(id), value: Box::new(value) };
                    }
                    Ok(())
                })?;
                message
            }
        })
    }

    /// Reads a field. Returns it if values are built.
    fn read_field<R: Reading>(
        &self,
        (name, field): &(String, Index),
        input: &mut R::Input,
        depth: Levels,
    ) -> Result<Option<Value>, Fault> {
        let value = self.read_part::<R>(*field, || Segment::Name(name.clone()), input, depth)?;
        Ok(R::IS_BUILDING.then_some(value))
    }

    fn read_part<R: Reading>(
        &self,
        node: Index,
        step: impl FnOnce() -> Segment,
        input: &mut R::Input,
        depth: Levels,
    ) -> Result<Value, Fault> {
        self.read::<R>(node, input, depth).map_err(|fault| input.locate(fault, step()))
    }

    fn read_elements<R: Reading>(
        &self,
        element: Index,
        count: usize,
        input: &mut R::Input,
        depth: Levels,
    ) -> Result<Value, Fault> {
        let node = &self.nodes[element];
        // Any bytes are valid elements of these types.
        if let (
            NodeKind::Float(..) | NodeKind::Integer(Int::Number(..)) | NodeKind::Skip(_),
            Some(size),
            false,
        ) = (&node.kind, node.size.fixed, R::IS_BUILDING)
        {
            return input.skip(size.checked_mul(count).ok_or(Fault::OVERFLOW)?).map(|()| Value::Skip);
        }
        let mut values = list::<R, _>(count, input)?;
        input.walk_parts(count, |input, index| {
            let value = self.read_part::<R>(element, || Segment::Index(index), input, depth)?;
            values.extend(R::IS_BUILDING.then_some(value));
            Ok(())
        })?;
        Ok(Value::List(values))
    }

    fn read_map<R: Reading>(
        &self,
        (key, value): (Index, Index),
        count: usize,
        input: &mut R::Input,
        depth: Levels,
    ) -> Result<Value, Fault> {
        let mut entries = list::<R, _>(count, input)?;
        // The lengths of the rest before the entries, recorded only if duplicates are rejected.
        let mut starts = Vec::new();
        let is_rejecting = R::IS_BUILDING && input.options().duplicates == DuplicateKeys::Reject;
        let is_canonical = R::IS_BUILDING && input.options().canonical;
        // The rest of the input before the last key, and the length of the key.
        let mut last: Option<(R::Bytes, usize)> = None;
        input.walk_parts(count, |input, index| {
            let rest = R::rest(input);
            let before = rest.as_ref().len();
            starts.extend(is_rejecting.then_some(before));
            let key = self.read_part::<R>(key, || Segment::Key(index), input, depth)?;
            if is_canonical {
                let len = before - R::rest(input).as_ref().len();
                if let Some((last, last_len)) = &last
                    && let Err(fault) = check_order(&last.as_ref()[..*last_len], &rest.as_ref()[..len])
                {
                    let fault = input.rewind_fault(fault, len);
                    return Err(input.locate(fault, Segment::Key(index)));
                }
                last = Some((rest, len));
            }
            let value = self.read_part::<R>(value, || Segment::Value(index), input, depth)?;
            entries.extend(R::IS_BUILDING.then_some((key, value)));
            Ok(())
        })?;
        let repeated = repeated(&entries);
        if let Some((_, index)) = repeated.first().copied()
            && let Some(start) = starts.get(index)
        {
            let consumed = start - R::rest(input).as_ref().len();
            let fault = input.rewind_fault(Fault(ErrorKind::DuplicateKey), consumed);
            return Err(input.locate(fault, Segment::Key(index)));
        }
        // The first entry remains, with the last value.
        for (first, later) in &repeated {
            entries[*first].1 = core::mem::replace(&mut entries[*later].1, Value::Skip);
        }
        let mut later = repeated.iter().map(|(_, later)| *later).peekable();
        let mut indices = 0..entries.len();
        entries.retain(|_| indices.next().is_none_or(|index| later.next_if_eq(&index).is_none()));
        Ok(Value::Map(entries))
    }
}

/// Reads an id that is a string. Other strings are skipped while values are only walked over, but the contents of an
/// id select the model. An [`Input`] only returns arrays, so the bytes are read one at a time.
fn read_text_id<R: Reading>(header: Int, input: &mut R::Input) -> Result<Value, Fault> {
    let len = header.read_bytes(input)?;
    input.expect(len)?;
    let mut bytes = list::<R, u8>(len, input)?;
    for _ in 0..len {
        bytes.extend(input.array::<1>()?);
    }
    Ok(Value::Bytes(bytes))
}

/// Counts memory that is about to be allocated for values, if they are built.
fn count_allocation<R: Reading>(bytes: usize, input: &mut R::Input) -> Result<(), Fault> {
    if R::IS_BUILDING { input.state_mut().count_allocation(bytes) } else { Ok(()) }
}

/// Creates a list for `count` values. Reserves memory if they are built.
fn list<R: Reading, T>(count: usize, input: &mut R::Input) -> Result<Vec<T>, Fault> {
    count_allocation::<R>(count.saturating_mul(size_of::<T>()), input)?;
    Ok(Vec::with_capacity(if R::IS_BUILDING { count.min(MAX_RESERVED) } else { 0 }))
}

/// Returns the entries with duplicate keys in wire order, each after the first entry that has the key.
fn repeated(entries: &[(Value, Value)]) -> Vec<(usize, usize)> {
    let mut firsts = BTreeMap::new();
    let keys = entries.iter().enumerate();
    let firsts = keys.map(|(index, (key, _))| (*firsts.entry(key).or_insert(index), index));
    firsts.filter(|(first, index)| first != index).collect()
}
