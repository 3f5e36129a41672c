//! Large collections on streams, in constant memory.

use core::fmt;
use core::marker::PhantomData;
use std::io::{Read, Write};

use super::{CHUNK, Decoder, Encoder};
use crate::default_wire::{DecodeAs, DecodeOwned, Encode, EncodeAs};
use crate::error::{Error, ErrorKind, Fault, Segment};
use crate::options::ElementSize;
use crate::read::{Context, Input as _, Reader};
use crate::wire::{Get as _, Header as _, Put as _, StaticWire as _, Varint, Wire as _};
use crate::write;

impl<W: Write> Encoder<W> {
    /// Writes a collection, one element at a time, and returns the number of bytes written. Memory is constant: the buffer
    /// is written whenever it has 8 KiB.
    ///
    /// The bytes are those of a `Vec` of the elements, or of a map if they are pairs of key and value. A large collection
    /// can also be the last field of a struct without `evolve`: write the fields before it as a tuple.
    ///
    /// [`Limits::max_allocation`](crate::Limits::max_allocation) applies to each element instead of the whole message.
    ///
    /// # Errors
    ///
    /// Fails if an element does not fit its wire type, if the iterator returns another number of elements than it
    /// announces ([`Error::is_invalid_length`]), and if writing fails. If a part of the message was written, all later
    /// calls fail as well.
    ///
    /// ```
    /// let mut encoder = tightwire_parco::Encoder::new(Vec::new());
    /// encoder.encode_elements((0..1000u16).map(|number| number * 2))?;
    /// let numbers: Vec<u16> = tightwire_parco::decode_exact(&encoder.into_inner())?;
    /// assert_eq!(numbers[999], 1998);
    /// # Ok::<(), tightwire_parco::Error>(())
    /// ```
    pub fn encode_elements<I>(&mut self, elements: I) -> Result<usize, Error>
    where
        I: IntoIterator<Item: Encode, IntoIter: ExactSizeIterator>,
    {
        self.begin()?;
        let mut elements = elements.into_iter();
        let count = elements.len();
        let wire = <I::Item as EncodeAs>::Wire::NEW;
        write::append(&mut self.buffer, &self.options, |writer| {
            writer.check_elements(count, ElementSize::of(&wire), 0)?;
            Varint::put_length(count, writer)
        })?;
        let mut written = 0;
        // One more than announced, to see that there is none.
        for index in 0..=count {
            let element = elements.next();
            let encoded = write::append(&mut self.buffer, &self.options, |writer| match &element {
                Some(element) if index < count => {
                    wire.put(element, writer).map_err(|fault| writer.locate(fault, Segment::Index(index)))
                }
                None if index == count => Ok(()),
                _ => Err(Fault::INVALID_LENGTH),
            });
            encoded.inspect_err(|_| self.has_failed = written > 0)?;
            if self.buffer.len() >= CHUNK {
                written += self.write_buffer()?;
            }
        }
        Ok(written + self.write_buffer()?)
    }
}

impl<R: Read> Decoder<R> {
    /// Reads a collection, one element at a time. Returns `None` at the end of the stream.
    ///
    /// The message is that of a `Vec` or map, as [`Encoder::encode_elements`] writes it. Memory is constant: elements of
    /// 8 KiB in all are buffered, or one if it is longer. They are returned after all of them have arrived.
    /// [`Limits::max_allocation`](crate::Limits::max_allocation) applies to each element instead of the whole message.
    ///
    /// # Errors
    ///
    /// Fails if there are more elements than the limits permit, if the stream ends inside the number of elements, and if
    /// reading fails.
    ///
    /// ```
    /// let stream = tightwire_parco::to_vec(&vec!["a", "b", "c"])?;
    /// let mut decoder = tightwire_parco::Decoder::new(&*stream);
    /// let mut text = String::new();
    /// for element in decoder.decode_elements::<String>()?.into_iter().flatten() {
    ///     text += &element?;
    /// }
    /// assert_eq!(text, "abc");
    /// # Ok::<(), tightwire_parco::Error>(())
    /// ```
    pub fn decode_elements<T: DecodeOwned>(&mut self) -> Result<Option<Elements<'_, R, T>>, Error> {
        if !self.begin()? {
            return Ok(None);
        }
        let size = ElementSize::of(&<T as DecodeAs<'_>>::Wire::NEW);
        let count = self.read(|input| {
            let count = Varint::length(input)?;
            match input.options().limits.exceeded(count, size) {
                None => Ok(count),
                Some(exceeded) => Err(input.state_mut().trace.exceed(exceeded)),
            }
        })?;
        self.was_empty = false;
        let Some(left) = count else { return Ok(None) };
        Ok(Some(Elements {
            decoder: self,
            left,
            returned: 0,
            offset: 0,
            buffered: 0,
            at: 0,
            element: PhantomData,
        }))
    }
}

/// The elements of a collection on a stream, returned by [`Decoder::decode_elements`].
///
/// After an error of the stream ([`Error::is_io`]), such as a timeout, the next call continues. All other errors end the
/// iteration. If it is dropped before the last element, the decoder is inside of a message, and all of its later calls fail.
#[must_use = "iterators do nothing unless consumed"]
pub struct Elements<'a, R, T> {
    decoder: &'a mut Decoder<R>,
    /// Number of elements that are not returned yet.
    left: usize,
    returned: usize,
    /// Number of bytes of the message before the buffer.
    offset: usize,
    /// Number of elements in the buffer that are not returned yet.
    buffered: usize,
    /// Position in the buffer of the next element.
    at: usize,
    element: PhantomData<fn() -> T>,
}

impl<R: Read, T: DecodeOwned> Elements<'_, R, T> {
    /// Reads the elements that the next 8 KiB contain, at least one.
    fn fill(&mut self) -> Result<(), Error> {
        let wire = <T as DecodeAs<'_>>::Wire::NEW;
        let (left, returned, size) = (self.left, self.returned, wire.min_size());
        // The buffer has the number of elements, or those that were returned; or nothing, if reading failed.
        self.offset += self.decoder.message;
        let walked = self.decoder.read(|input| {
            input.announce(left.saturating_mul(size));
            let mut count = 0;
            while count < left && input.offset < CHUNK {
                let start = input.offset;
                input.start(size);
                match wire.walk(input) {
                    Ok(()) => count += 1,
                    // The complete elements are returned first. The next call finds the same fault.
                    Err(fault) if count > 0 && fault != Fault(ErrorKind::Io) => {
                        input.offset = start;
                        break;
                    }
                    Err(fault) => return Err(input.locate(fault, Segment::Index(returned))),
                }
            }
            Ok(count)
        });
        let walked = walked.map_err(|error| error.shift(0, self.offset))?;
        self.buffered = walked.ok_or_else(|| Error::at(ErrorKind::UnexpectedEnd, self.offset))?;
        self.at = 0;
        Ok(())
    }

    /// Decodes the next element of the buffer.
    fn decode(&mut self) -> Result<T, Error> {
        if self.buffered == 0 {
            self.fill()?;
        }
        let wire = <T as DecodeAs<'_>>::Wire::NEW;
        let bytes = &self.decoder.message()[self.at..];
        let mut context = Context::new(bytes, self.decoder.options);
        let mut reader = Reader::new(bytes, &mut context);
        match wire.get(&mut reader) {
            Ok(element) => {
                self.at += reader.offset();
                self.buffered -= 1;
                self.returned += 1;
                self.left -= 1;
                Ok(element)
            }
            Err(fault) => {
                let fault = reader.locate(fault, Segment::Index(self.returned));
                Err(reader.into_error(fault).shift(0, self.offset + self.at))
            }
        }
    }
}

impl<R: Read, T: DecodeOwned> Iterator for Elements<'_, R, T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let result = self.decode();
        if let Err(error) = &result
            && !error.is_io()
        {
            self.left = 0;
            self.decoder.failed = Some((error.fault(), error.offset().unwrap_or(0)));
        }
        Some(result)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // An error ends the iteration, or is returned in addition.
        (usize::from(self.left > 0), None)
    }
}

impl<R, T> Drop for Elements<'_, R, T> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.decoder.failed = Some((Fault(ErrorKind::TrailingBytes), 0));
        }
    }
}

impl<R, T> fmt::Debug for Elements<'_, R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elements").field("left", &self.left).finish_non_exhaustive()
    }
}
