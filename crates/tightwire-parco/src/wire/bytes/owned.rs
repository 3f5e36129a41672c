//! Strings and bytes of the types that allocate.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::path::{Path, PathBuf};

use super::{FromOctets, Octets};
#[cfg(feature = "std")]
use super::{Header, Put, Str};
use crate::error::Fault;
#[cfg(feature = "std")]
use crate::options::Levels;
use crate::text::{string, text};
#[cfg(feature = "std")]
use crate::write::Writer;

octets! {
    [] String: |value| value.as_bytes();
    [] Vec<u8>: |value| value;
    [] alloc::ffi::CString: |value| value.as_bytes();
    [T: Octets + ?Sized] Box<T>: |value| (**value).octets();
    [T: Octets + ?Sized] Rc<T>: |value| (**value).octets();
    [T: Octets + ?Sized] Arc<T>: |value| (**value).octets();
    [T: Octets + ToOwned + ?Sized] Cow<'_, T>: |value| (**value).octets();
}

#[cfg(feature = "compact_str")]
octets! {
    [] compact_str::CompactString: |value| value.as_bytes();
}

#[cfg(feature = "bytes")]
octets! {
    [] bytes::Bytes: |value| value;
    [] bytes::BytesMut: |value| value;
}

impl<'de> FromOctets<'de> for String {
    const OWNED: bool = true;

    #[inline(always)]
    fn from_octets(bytes: &'de [u8]) -> Result<Self, Fault> {
        string(bytes)
    }

    #[inline]
    fn replace(&mut self, bytes: &'de [u8]) -> Result<(), Fault> {
        let text = text(bytes)?;
        self.clear();
        self.push_str(text);
        Ok(())
    }
}

impl<'de> FromOctets<'de> for Vec<u8> {
    const OWNED: bool = true;

    #[inline]
    fn from_octets(bytes: &'de [u8]) -> Result<Self, Fault> {
        Ok(bytes.into())
    }

    #[inline]
    fn replace(&mut self, bytes: &'de [u8]) -> Result<(), Fault> {
        self.clear();
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Fails with [`Error::is_invalid_value`](crate::Error::is_invalid_value) if the bytes contain a zero.
impl<'de> FromOctets<'de> for alloc::ffi::CString {
    const OWNED: bool = true;

    #[inline]
    fn from_octets(bytes: &'de [u8]) -> Result<Self, Fault> {
        Self::new(bytes).map_err(|_| Fault::INVALID_VALUE)
    }
}

macro_rules! from_octets {
    ($($type:ty: $owned:literal, $borrowed:ty;)*) => {$(
        impl<'de> FromOctets<'de> for $type {
            const OWNED: bool = $owned;

            #[inline]
            fn from_octets(bytes: &'de [u8]) -> Result<Self, Fault> {
                <$borrowed>::from_octets(bytes).map(Into::into)
            }
        }
    )*};
}

from_octets! {
    Cow<'de, str>: false, &'de str;
    Cow<'de, [u8]>: false, &'de [u8];
    Box<str>: true, &'de str;
    Box<[u8]>: true, &'de [u8];
    Rc<str>: true, &'de str;
    Rc<[u8]>: true, &'de [u8];
    Arc<str>: true, &'de str;
    Arc<[u8]>: true, &'de [u8];
}

#[cfg(feature = "compact_str")]
from_octets! {
    compact_str::CompactString: true, &'de str;
}

#[cfg(feature = "std")]
from_octets! {
    PathBuf: true, &'de str;
}

#[cfg(feature = "bytes")]
from_octets! {
    bytes::BytesMut: true, &'de [u8];
}

#[cfg(feature = "bytes")]
impl<'de> FromOctets<'de> for bytes::Bytes {
    const OWNED: bool = true;

    #[inline]
    fn from_octets(bytes: &'de [u8]) -> Result<Self, Fault> {
        Ok(Self::copy_from_slice(bytes))
    }
}

#[cfg(feature = "std")]
impl<'de> FromOctets<'de> for &'de Path {
    const OWNED: bool = false;

    #[inline]
    fn from_octets(bytes: &'de [u8]) -> Result<Self, Fault> {
        text(bytes).map(Path::new)
    }
}

// Fails with `Error::is_invalid_utf8` if the path is not UTF-8.
#[cfg(feature = "std")]
put_as! {
    [H: Header] Path, Str<H>: |wire, path| path.to_str().ok_or(Fault::INVALID_UTF8)?, wire;
    [H: Header] &Path, Str<H>: |wire, path| path.to_str().ok_or(Fault::INVALID_UTF8)?, wire;
    [H: Header] PathBuf, Str<H>: |wire, path| path.to_str().ok_or(Fault::INVALID_UTF8)?, wire;
}
