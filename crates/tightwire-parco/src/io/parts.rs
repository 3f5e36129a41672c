//! Messages that are long lists are written and read in parts, so that memory does not grow with the message.

use core::ops::Range;
use std::io::{Read, Write};

use super::{Decoder, Encoder};
use crate::default_wire::{DecodeAs, DecodeOwned};
use crate::error::{Error, ErrorKind, Exceeded, Limit, Trace};
use crate::message::WireExt as _;
use crate::options::ElementSize;
use crate::read::{Context, Input as _, Reader};
use crate::wire::{Get as _, Put, StaticWire as _, Wire as _};
use crate::write;

/// Minimum bytes of a part, except for the last one. Shorter messages are written and decoded at once.
const PART: usize = 64 << 10;

/// Size of an element that is assumed if not all have the same, to tell short lists from long ones.
const ASSUMED_SIZE: usize = 1 << 10;

/// Returns how many elements of the same size a part has.
fn step(size: ElementSize) -> Option<usize> {
    size.fixed.map(|size| (PART / size.max(1)).max(1))
}

/// Returns the error of a message that is too large.
fn too_large(bytes: usize, most: usize) -> Error {
    let mut trace = Trace::default();
    let fault = trace.exceed(Exceeded::new(Limit::Allocation, bytes, most));
    trace.into_error(fault, bytes)
}

impl<W: Write> Encoder<W> {
    /// Returns whether a value is encoded with [`encode_parts`](Self::encode_parts).
    pub(super) fn is_long<F: Put<T>, T: ?Sized>(wire: &F, value: &T) -> bool {
        let size = wire.part_size().fixed.unwrap_or(ASSUMED_SIZE);
        wire.parts(value).is_some_and(|count| count.saturating_mul(size) > PART)
    }

    /// Encodes a list after the contents of the buffer, and writes the buffer whenever it is long enough.
    pub(super) fn encode_parts<F: Put<T>, T: ?Sized>(&mut self, wire: &F, value: &T) -> Result<usize, Error> {
        let (count, most) = (wire.parts(value).unwrap_or(0), self.options.limits.allocation);
        let (mut bytes, mut memory, mut written) = (0, 0, 0);
        // The first part is the number of elements.
        let mut part = None;
        loop {
            let start = self.buffer.len();
            let (done, end) = part.as_ref().map_or((0, 0), |part: &Range<usize>| (part.start, part.end));
            let encoded = write::append(&mut self.buffer, &self.options, |writer| {
                writer.count(memory);
                wire.put_part(value, part, writer)?;
                memory = writer.counted();
                Ok(())
            });
            let encoded = encoded.map_err(|error| error.shift(done, bytes)).and_then(|()| {
                bytes += self.buffer.len() - start;
                if bytes <= most { Ok(()) } else { Err(too_large(bytes, most)) }
            });
            encoded.inspect_err(|_| self.has_failed = written > 0)?;
            if self.buffer.len() >= PART {
                written += self.write_buffer()?;
            }
            if end == count {
                return Ok(written + self.write_buffer()?);
            }
            // As many elements as have the size of a part, if they are as long as those before them, and not more than those.
            let step = step(wire.part_size())
                .unwrap_or_else(|| (PART.saturating_mul(end) / bytes).clamp(1, end.max(1)));
            part = Some(end..count.min(end + step));
        }
    }
}

impl<R: Read> Decoder<R> {
    /// Reads a message that is a list, and appends its elements to `list`, which is empty.
    pub(super) fn decode_parts<T: DecodeOwned>(&mut self, mut list: T) -> Result<T, Error> {
        let most = self.options.limits.allocation;
        let (mut left, mut done, mut bytes, mut available) = (None, 0, 0, most);
        loop {
            let wire = <T as DecodeAs<'_>>::Wire::NEW;
            let size = wire.part_size();
            // Elements of the same size are walked over together.
            let step = step(size).unwrap_or(1);
            let (mut head, mut count) = (0, 0);
            let read = self.read(|input| {
                let left = match left {
                    Some(left) => left,
                    None => wire.walk_count(input)?,
                };
                head = input.offset;
                input.announce(left.saturating_mul(size.min));
                while count < left && input.offset < PART {
                    let part = step.min(left - count);
                    input.start(part.saturating_mul(size.min));
                    wire.walk_part(part, input)?;
                    count += part;
                }
                Ok(left)
            });
            let read = read.map_err(|error| error.shift(done + count, bytes))?;
            let rest = read.ok_or_else(|| Error::at(ErrorKind::UnexpectedEnd, bytes))? - count;
            let message = self.message();
            if done == 0 && rest == 0 {
                return wire.decode_exact_with(self.options, message);
            }
            let part = &message[head..];
            let mut context = Context::new(part, self.options);
            context.state.available = available;
            let mut reader = Reader::new(part, &mut context);
            if let Err(fault) = wire.get_part(count, &mut reader, &mut list) {
                return Err(reader.into_error(fault).shift(done, bytes + head));
            }
            available = context.state.available;
            bytes += message.len();
            if bytes > most {
                return Err(too_large(bytes, most));
            }
            if rest == 0 {
                return Ok(list);
            }
            (left, done) = (Some(rest), done + count);
        }
    }
}
