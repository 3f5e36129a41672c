//! Encoding and decoding whole messages.

use alloc::vec::Vec;

use crate::error::{Error, Fault, Kind};
use crate::form::{Decode, DecodeForm, Encode};
use crate::options::Options;
use crate::read::{Context, Reader};
use crate::wire::{Get, Put, StaticWire, Wire};
#[cfg(feature = "bytes")]
use crate::write::Reserve;
use crate::write::{self, Filled};

/// Encodes into a new vector.
///
/// # Errors
///
/// Fails if a value does not fit its wire form.
///
/// ```
/// assert_eq!(tightwire_parco::to_vec("hey")?, [3, 0, b'h', b'e', b'y']);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub fn to_vec<T: Encode + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    T::Form::NEW.to_vec(value)
}

/// Encodes to the end of a vector.
///
/// A vector that is cleared and used again does not allocate once it has grown to the size of the messages.
///
/// # Errors
///
/// Fails if a value does not fit its wire form; the vector's contents are then as before.
#[inline]
pub fn encode<T: Encode + ?Sized>(value: &T, vec: &mut Vec<u8>) -> Result<(), Error> {
    T::Form::NEW.encode(value, vec)
}

/// Encodes to the start of a slice and returns how many bytes that took.
///
/// # Errors
///
/// Fails if a value does not fit its wire form, or if the message does not fit the slice, whose contents are then not
/// specified.
pub fn encode_to_slice<T: Encode + ?Sized>(value: &T, slice: &mut [u8]) -> Result<usize, Error> {
    T::Form::NEW.encode_to_slice(value, slice)
}

/// Encodes to the end of a buffer of the crate `bytes`, such as `BytesMut`.
///
/// A buffer that can grow is asked once for the size of the message, and the message is written there.
///
/// # Errors
///
/// Fails if a value does not fit its wire form, or if the buffer has no room; the buffer is then as before.
#[cfg(feature = "bytes")]
pub fn encode_to_buf<T: Encode + ?Sized>(value: &T, buf: &mut impl Reserve) -> Result<(), Error> {
    T::Form::NEW.encode_to_buf(value, buf)
}

/// The exact number of bytes that a value takes, counted without writing them.
///
/// # Errors
///
/// Fails where encoding would.
#[inline]
pub fn encoded_len<T: Encode + ?Sized>(value: &T) -> Result<usize, Error> {
    T::Form::NEW.encoded_len(value)
}

/// Decodes a value from the start of a slice and returns what follows it.
///
/// # Errors
///
/// Fails where no such value starts.
#[inline]
pub fn decode<'de, T: Decode<'de>>(bytes: &'de [u8]) -> Result<(T, &'de [u8]), Error> {
    Options::new().decode(bytes)
}

/// Decodes a value that takes a whole slice.
///
/// # Errors
///
/// Fails where no such value starts, and if bytes follow it.
///
/// ```
/// assert_eq!(tightwire_parco::decode_exact::<u16>(&[1, 2])?, 0x0201);
/// assert!(tightwire_parco::decode_exact::<u16>(&[1, 2, 3]).unwrap_err().is_trailing_bytes());
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
#[inline]
pub fn decode_exact<'de, T: Decode<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    Options::new().decode_exact(bytes)
}

/// Decodes a value that takes a whole slice over an older one, whose memory is used again.
///
/// # Errors
///
/// As [`decode_exact`]. After an error the value is not specified, but it is a value.
#[inline]
pub fn decode_into<'de, T: Decode<'de>>(bytes: &'de [u8], value: &mut T) -> Result<(), Error> {
    Options::new().decode_into(bytes, value)
}

impl Options {
    /// As [`to_vec`], with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails if a value does not fit its wire form.
    pub fn to_vec<T: Encode + ?Sized>(self, value: &T) -> Result<Vec<u8>, Error> {
        T::Form::NEW.to_vec_with(self, value)
    }

    /// As [`encode`], with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails if a value does not fit its wire form; the vector's contents are then as before.
    #[inline]
    pub fn encode<T: Encode + ?Sized>(self, value: &T, vec: &mut Vec<u8>) -> Result<(), Error> {
        T::Form::NEW.encode_with(self, value, vec)
    }

    /// As [`encoded_len`], with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails where encoding would.
    #[inline]
    pub fn encoded_len<T: Encode + ?Sized>(self, value: &T) -> Result<usize, Error> {
        T::Form::NEW.encoded_len_with(self, value)
    }

    /// As [`decode`], with these options.
    ///
    /// # Errors
    ///
    /// Fails where no such value starts.
    #[inline]
    pub fn decode<'de, T: Decode<'de>>(self, bytes: &'de [u8]) -> Result<(T, &'de [u8]), Error> {
        <T as DecodeForm<'de>>::Form::NEW.decode_with(self, bytes)
    }

    /// As [`decode_exact`], with these options.
    ///
    /// # Errors
    ///
    /// Fails where no such value starts, and if bytes follow it.
    #[inline]
    pub fn decode_exact<'de, T: Decode<'de>>(self, bytes: &'de [u8]) -> Result<T, Error> {
        <T as DecodeForm<'de>>::Form::NEW.decode_exact_with(self, bytes)
    }

    /// As [`decode_into`], with these options.
    ///
    /// # Errors
    ///
    /// As [`decode_exact`].
    #[inline]
    pub fn decode_into<'de, T: Decode<'de>>(self, bytes: &'de [u8], value: &mut T) -> Result<(), Error> {
        <T as DecodeForm<'de>>::Form::NEW.decode_into_with(self, bytes, value)
    }
}

/// Encoding and decoding with a form that is given, rather than the one that the type has by itself.
///
/// It is how single values are written in another form, and how schemas made by a builder are used.
///
/// ```
/// use tightwire_parco::wire::{Le, Slice, StaticWire, U8, U16};
/// use tightwire_parco::WireExt;
///
/// let form = Slice::<U8, U16<Le>>::NEW;
/// assert_eq!(form.to_vec(&vec![1u16, 2])?, [2, 1, 0, 2, 0]);
/// assert_eq!(form.decode_exact::<Vec<u16>>(&[1, 7, 0])?, [7]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub trait WireExt {
    /// As [`to_vec`].
    ///
    /// # Errors
    ///
    /// Fails if the form cannot carry the value.
    fn to_vec<T: ?Sized>(&self, value: &T) -> Result<Vec<u8>, Error>
    where
        Self: Put<T>,
    {
        self.to_vec_with(Options::new(), value)
    }

    /// As [`to_vec`](Self::to_vec), with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails if the form cannot carry the value.
    fn to_vec_with<T: ?Sized>(&self, options: Options, value: &T) -> Result<Vec<u8>, Error>
    where
        Self: Put<T>,
    {
        let mut vec = Vec::new();
        self.encode_with(options, value, &mut vec)?;
        Ok(vec)
    }

    /// As [`encode`].
    ///
    /// # Errors
    ///
    /// Fails if the form cannot carry the value; the vector's contents are then as before.
    #[inline]
    fn encode<T: ?Sized>(&self, value: &T, vec: &mut Vec<u8>) -> Result<(), Error>
    where
        Self: Put<T>,
    {
        self.encode_with(Options::new(), value, vec)
    }

    /// As [`encode`](Self::encode), with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails if the form cannot carry the value; the vector's contents are then as before.
    #[inline]
    fn encode_with<T: ?Sized>(&self, options: Options, value: &T, vec: &mut Vec<u8>) -> Result<(), Error>
    where
        Self: Put<T>,
    {
        write::append(vec, options.levels(), |writer| self.put(value, writer))
    }

    /// As [`encode_to_slice`].
    ///
    /// # Errors
    ///
    /// Fails if the form cannot carry the value, or the slice is too small.
    fn encode_to_slice<T: ?Sized>(&self, value: &T, slice: &mut [u8]) -> Result<usize, Error>
    where
        Self: Put<T>,
    {
        self.encode_to_slice_with(Options::new(), value, slice)
    }

    /// As [`encode_to_slice`](Self::encode_to_slice), with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails if the form cannot carry the value, or the slice is too small.
    fn encode_to_slice_with<T: ?Sized>(
        &self,
        options: Options,
        value: &T,
        slice: &mut [u8],
    ) -> Result<usize, Error>
    where
        Self: Put<T>,
    {
        let room = slice.len();
        match write::fill(write::as_uninit(slice), options.levels(), |writer| self.put(value, writer))? {
            Filled::InPlace(written) => Ok(written),
            Filled::Spilled(message) if message.len() <= room => {
                slice[..message.len()].copy_from_slice(&message);
                Ok(message.len())
            }
            Filled::Spilled(_) => Err(Error::at(Kind::BufferFull, room)),
        }
    }

    /// As [`encode_to_buf`].
    ///
    /// # Errors
    ///
    /// Fails if the form cannot carry the value, or the buffer has no room.
    #[cfg(feature = "bytes")]
    fn encode_to_buf<T: ?Sized>(&self, value: &T, buf: &mut impl Reserve) -> Result<(), Error>
    where
        Self: Put<T>,
    {
        self.encode_to_buf_with(Options::new(), value, buf)
    }

    /// As [`encode_to_buf`](Self::encode_to_buf), with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails if the form cannot carry the value, or the buffer has no room.
    #[cfg(feature = "bytes")]
    fn encode_to_buf_with<T: ?Sized>(
        &self,
        options: Options,
        value: &T,
        buf: &mut impl Reserve,
    ) -> Result<(), Error>
    where
        Self: Put<T>,
    {
        // A value that has no size fails below, with the path to what is wrong.
        let size = self.size(value, options.levels()).unwrap_or(0);
        write::append_to_buf(buf, size, options.levels(), |writer| self.put(value, writer))
    }

    /// As [`encoded_len`].
    ///
    /// # Errors
    ///
    /// Fails where encoding would.
    #[inline]
    fn encoded_len<T: ?Sized>(&self, value: &T) -> Result<usize, Error>
    where
        Self: Put<T>,
    {
        self.encoded_len_with(Options::new(), value)
    }

    /// As [`encoded_len`](Self::encoded_len), with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails where encoding would.
    #[inline]
    fn encoded_len_with<T: ?Sized>(&self, options: Options, value: &T) -> Result<usize, Error>
    where
        Self: Put<T>,
    {
        self.size(value, options.levels()).map_err(|fault| Error::bare(fault.0))
    }

    /// As [`decode`].
    ///
    /// # Errors
    ///
    /// Fails where no such value starts.
    #[inline]
    fn decode<'de, T>(&self, bytes: &'de [u8]) -> Result<(T, &'de [u8]), Error>
    where
        Self: Get<'de, T>,
    {
        self.decode_with(Options::new(), bytes)
    }

    /// As [`decode_exact`].
    ///
    /// # Errors
    ///
    /// Fails where no such value starts, and if bytes follow it.
    #[inline]
    fn decode_exact<'de, T>(&self, bytes: &'de [u8]) -> Result<T, Error>
    where
        Self: Get<'de, T>,
    {
        self.decode_exact_with(Options::new(), bytes)
    }

    /// As [`decode_into`].
    ///
    /// # Errors
    ///
    /// As [`decode_exact`](Self::decode_exact). After an error the value is not specified, but it is a value.
    #[inline]
    fn decode_into<'de, T>(&self, bytes: &'de [u8], value: &mut T) -> Result<(), Error>
    where
        Self: Get<'de, T>,
    {
        self.decode_into_with(Options::new(), bytes, value)
    }

    /// As [`decode`](Self::decode), with options.
    ///
    /// # Errors
    ///
    /// Fails where no such value starts.
    #[inline]
    fn decode_with<'de, T>(&self, options: Options, bytes: &'de [u8]) -> Result<(T, &'de [u8]), Error>
    where
        Self: Get<'de, T>,
    {
        let mut context = Context::new(bytes, options);
        let mut reader = Reader::new(bytes, &mut context);
        match self.get(&mut reader) {
            Ok(value) => Ok((value, reader.rest())),
            Err(fault) => Err(reader.into_error(fault)),
        }
    }

    /// As [`decode_exact`](Self::decode_exact), with options.
    ///
    /// # Errors
    ///
    /// Fails where no such value starts, and if bytes follow it.
    #[inline]
    fn decode_exact_with<'de, T>(&self, options: Options, bytes: &'de [u8]) -> Result<T, Error>
    where
        Self: Get<'de, T>,
    {
        let mut context = Context::new(bytes, options);
        let mut reader = Reader::new(bytes, &mut context);
        let value = self.get(&mut reader);
        exact(reader, value)
    }

    /// As [`decode_into`](Self::decode_into), with options.
    ///
    /// # Errors
    ///
    /// As [`decode_into`](Self::decode_into).
    #[inline]
    fn decode_into_with<'de, T>(&self, options: Options, bytes: &'de [u8], value: &mut T) -> Result<(), Error>
    where
        Self: Get<'de, T>,
    {
        let mut context = Context::new(bytes, options);
        let mut reader = Reader::new(bytes, &mut context);
        let result = self.get_into(&mut reader, value);
        exact(reader, result)
    }
}

impl<W: Wire> WireExt for W {}

#[inline]
fn exact<T>(reader: Reader<'_, '_>, result: Result<T, Fault>) -> Result<T, Error> {
    match result {
        Ok(value) if reader.rest().is_empty() => Ok(value),
        Ok(_) => Err(Error::at(Kind::TrailingBytes, reader.offset())),
        Err(fault) => Err(reader.into_error(fault)),
    }
}
