//! Functions that encode and decode whole messages.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use crate::default_wire::{Decode, DecodeAs, Encode};
use crate::error::{Error, ErrorKind, Fault};
#[cfg(doc)]
use crate::options::Limits;
use crate::options::Options;
use crate::read::{Context, Reader};
use crate::wire::{Get, Put, StaticWire, Wire};
use crate::write;
#[cfg(feature = "bytes")]
use crate::write::Reserve;

/// Encodes a value into a new vector.
///
/// # Errors
///
/// Fails if a value does not fit its wire type.
///
/// ```
/// assert_eq!(tightwire_parco::to_vec("hey")?, [3, b'h', b'e', b'y']);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
#[cfg(feature = "alloc")]
pub fn to_vec<T: Encode + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    T::Wire::NEW.to_vec(value)
}

/// Encodes a value and appends it to a vector.
///
/// A vector that is cleared and reused does not allocate once it has grown to the size of the messages.
///
/// # Errors
///
/// Fails if a value does not fit its wire type. The vector is unchanged on failure.
#[cfg(feature = "alloc")]
#[inline]
pub fn encode<T: Encode + ?Sized>(value: &T, vec: &mut Vec<u8>) -> Result<(), Error> {
    T::Wire::NEW.encode(value, vec)
}

/// Encodes a value to the start of a slice and returns the number of bytes written.
///
/// # Errors
///
/// Fails if a value does not fit its wire type, or if the message does not fit the slice. The contents of the slice are
/// then unspecified.
pub fn encode_to_slice<T: Encode + ?Sized>(value: &T, slice: &mut [u8]) -> Result<usize, Error> {
    T::Wire::NEW.encode_to_slice(value, slice)
}

/// Encodes a value and appends it to a buffer of the `bytes` crate, such as `BytesMut`.
///
/// A growable buffer is grown once, to the size of the message.
///
/// # Errors
///
/// Fails if a value does not fit its wire type, or if the buffer is full. The buffer is unchanged on failure.
#[cfg(feature = "bytes")]
pub fn encode_to_buf<T: Encode + ?Sized>(value: &T, buf: &mut impl Reserve) -> Result<(), Error> {
    T::Wire::NEW.encode_to_buf_with(Options::new(), value, buf)
}

/// Returns the exact encoded size of a value in bytes, without encoding it.
///
/// # Errors
///
/// Fails if encoding would fail, except for the limits other than [`Limits::max_depth`], which are not checked.
#[inline]
pub fn encoded_len<T: Encode + ?Sized>(value: &T) -> Result<usize, Error> {
    T::Wire::NEW.encoded_len(value)
}

/// Decodes a value from the start of a slice and returns the remaining bytes.
///
/// # Errors
///
/// Fails if the bytes are not a valid value.
#[inline]
pub fn decode<'de, T: Decode<'de>>(bytes: &'de [u8]) -> Result<(T, &'de [u8]), Error> {
    Options::new().decode(bytes)
}

/// Decodes a value that uses the whole slice.
///
/// # Errors
///
/// Fails if the bytes are not a valid value, or if bytes remain after it.
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

/// Decodes a value that uses the whole slice into an existing value and reuses its allocations.
///
/// # Errors
///
/// Same as [`decode_exact`]. After an error the contents of `value` are unspecified but valid.
#[inline]
pub fn decode_into<'de, T: Decode<'de>>(bytes: &'de [u8], value: &mut T) -> Result<(), Error> {
    Options::new().decode_into(bytes, value)
}

impl Options {
    /// Same as [`to_vec`], with these options.
    ///
    /// # Errors
    ///
    /// Fails if a value does not fit its wire type.
    #[cfg(feature = "alloc")]
    pub fn to_vec<T: Encode + ?Sized>(self, value: &T) -> Result<Vec<u8>, Error> {
        T::Wire::NEW.to_vec_with(self, value)
    }

    /// Same as [`encode`], with these options.
    ///
    /// # Errors
    ///
    /// Fails if a value does not fit its wire type. The vector is unchanged on failure.
    #[cfg(feature = "alloc")]
    #[inline]
    pub fn encode<T: Encode + ?Sized>(self, value: &T, vec: &mut Vec<u8>) -> Result<(), Error> {
        T::Wire::NEW.encode_with(self, value, vec)
    }

    /// Same as [`encoded_len`], with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails if encoding would fail.
    #[inline]
    pub fn encoded_len<T: Encode + ?Sized>(self, value: &T) -> Result<usize, Error> {
        T::Wire::NEW.encoded_len_with(self, value)
    }

    /// Same as [`decode`], with these options.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid value.
    #[inline]
    pub fn decode<'de, T: Decode<'de>>(self, bytes: &'de [u8]) -> Result<(T, &'de [u8]), Error> {
        <T as DecodeAs<'de>>::Wire::NEW.decode_with(self, bytes)
    }

    /// Same as [`decode_exact`], with these options.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid value, or if bytes remain after it.
    #[inline]
    pub fn decode_exact<'de, T: Decode<'de>>(self, bytes: &'de [u8]) -> Result<T, Error> {
        <T as DecodeAs<'de>>::Wire::NEW.decode_exact_with(self, bytes)
    }

    /// Same as [`decode_into`], with these options.
    ///
    /// # Errors
    ///
    /// Same as [`decode_exact`].
    #[inline]
    pub fn decode_into<'de, T: Decode<'de>>(self, bytes: &'de [u8], value: &mut T) -> Result<(), Error> {
        <T as DecodeAs<'de>>::Wire::NEW.decode_into_with(self, bytes, value)
    }
}

/// Encodes and decodes values with an explicit wire type instead of the default one.
///
/// Use it to write a single value with another wire type, and for schemas made by a builder.
///
/// ```
/// use tightwire_parco::wire::{Le, Slice, StaticWire, U8, U16};
/// use tightwire_parco::WireExt;
///
/// let wire = Slice::<U8, U16<Le>>::NEW;
/// assert_eq!(wire.to_vec(&vec![1u16, 2])?, [2, 1, 0, 2, 0]);
/// assert_eq!(wire.decode_exact::<Vec<u16>>(&[1, 7, 0])?, [7]);
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub trait WireExt {
    /// Same as [`to_vec`].
    ///
    /// # Errors
    ///
    /// Fails if the wire type cannot carry the value.
    #[cfg(feature = "alloc")]
    fn to_vec<T: ?Sized>(&self, value: &T) -> Result<Vec<u8>, Error>
    where
        Self: Put<T>,
    {
        write::to_vec(Options::DEFAULT, |writer| self.put(value, writer))
    }

    /// Same as [`to_vec`](Self::to_vec), with these options.
    ///
    /// # Errors
    ///
    /// Fails if the wire type cannot carry the value.
    #[cfg(feature = "alloc")]
    fn to_vec_with<T: ?Sized>(&self, options: Options, value: &T) -> Result<Vec<u8>, Error>
    where
        Self: Put<T>,
    {
        write::to_vec(&options, |writer| self.put(value, writer))
    }

    /// Same as [`encode`].
    ///
    /// # Errors
    ///
    /// Fails if the wire type cannot carry the value. The vector is unchanged on failure.
    #[cfg(feature = "alloc")]
    #[inline]
    fn encode<T: ?Sized>(&self, value: &T, vec: &mut Vec<u8>) -> Result<(), Error>
    where
        Self: Put<T>,
    {
        write::append(vec, Options::DEFAULT, |writer| self.put(value, writer))
    }

    /// Same as [`encode`](Self::encode), with these options.
    ///
    /// # Errors
    ///
    /// Fails if the wire type cannot carry the value. The vector is unchanged on failure.
    #[cfg(feature = "alloc")]
    #[inline]
    fn encode_with<T: ?Sized>(&self, options: Options, value: &T, vec: &mut Vec<u8>) -> Result<(), Error>
    where
        Self: Put<T>,
    {
        write::append(vec, &options, |writer| self.put(value, writer))
    }

    /// Same as [`encode_to_slice`].
    ///
    /// # Errors
    ///
    /// Fails if the wire type cannot carry the value, or the slice is too small.
    fn encode_to_slice<T: ?Sized>(&self, value: &T, slice: &mut [u8]) -> Result<usize, Error>
    where
        Self: Put<T>,
    {
        write::to_slice(slice, |writer| self.put(value, writer))
    }

    /// Same as [`encode_to_buf`], with these options.
    ///
    /// # Errors
    ///
    /// Fails if the wire type cannot carry the value, or the buffer is full.
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
        // If the size cannot be computed, encoding fails below and reports the path.
        let size = self.size(value, options.levels()).unwrap_or(0);
        write::append_to_buf(buf, size, &options, |writer| self.put(value, writer))
    }

    /// Same as [`encoded_len`].
    ///
    /// # Errors
    ///
    /// Fails if encoding would fail.
    #[inline]
    fn encoded_len<T: ?Sized>(&self, value: &T) -> Result<usize, Error>
    where
        Self: Put<T>,
    {
        self.encoded_len_with(Options::new(), value)
    }

    /// Same as [`encoded_len`](Self::encoded_len), with the maximum depth of these options.
    ///
    /// # Errors
    ///
    /// Fails if encoding would fail.
    #[inline]
    fn encoded_len_with<T: ?Sized>(&self, options: Options, value: &T) -> Result<usize, Error>
    where
        Self: Put<T>,
    {
        self.size(value, options.levels()).map_err(|fault| Error::bare(fault.0))
    }

    /// Same as [`decode`].
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid value.
    #[inline]
    fn decode<'de, T>(&self, bytes: &'de [u8]) -> Result<(T, &'de [u8]), Error>
    where
        Self: Get<'de, T>,
    {
        self.decode_with(Options::new(), bytes)
    }

    /// Same as [`decode_exact`].
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid value, or if bytes remain after it.
    #[inline]
    fn decode_exact<'de, T>(&self, bytes: &'de [u8]) -> Result<T, Error>
    where
        Self: Get<'de, T>,
    {
        self.decode_exact_with(Options::new(), bytes)
    }

    /// Same as [`decode`](Self::decode), with these options.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid value.
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

    /// Same as [`decode_exact`](Self::decode_exact), with these options.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are not a valid value, or if bytes remain after it.
    #[inline]
    fn decode_exact_with<'de, T>(&self, options: Options, bytes: &'de [u8]) -> Result<T, Error>
    where
        Self: Get<'de, T>,
    {
        exact(options, bytes, |reader| self.get(reader))
    }

    /// Same as [`decode_into`].
    ///
    /// # Errors
    ///
    /// Same as [`decode_exact`](Self::decode_exact). After an error the contents of `value` are unspecified but valid.
    #[inline]
    fn decode_into<'de, T>(&self, bytes: &'de [u8], value: &mut T) -> Result<(), Error>
    where
        Self: Get<'de, T>,
    {
        self.decode_into_with(Options::new(), bytes, value)
    }

    /// Same as [`decode_into`](Self::decode_into), with options.
    ///
    /// # Errors
    ///
    /// Same as [`decode_into`](Self::decode_into).
    #[inline]
    fn decode_into_with<'de, T>(&self, options: Options, bytes: &'de [u8], value: &mut T) -> Result<(), Error>
    where
        Self: Get<'de, T>,
    {
        exact(options, bytes, |reader| self.get_into(reader, value))
    }
}

impl<W: Wire> WireExt for W {}

#[inline(always)]
fn exact<'de, T>(
    options: Options,
    bytes: &'de [u8],
    get: impl FnOnce(&mut Reader<'_, 'de>) -> Result<T, Fault>,
) -> Result<T, Error> {
    let mut context = Context::new(bytes, options);
    let mut reader = Reader::new(bytes, &mut context);
    match get(&mut reader) {
        Ok(value) if reader.rest().is_empty() => Ok(value),
        Ok(_) => Err(Error::at(ErrorKind::TrailingBytes, reader.offset())),
        Err(fault) => Err(reader.into_error(fault)),
    }
}
