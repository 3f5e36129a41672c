//! Strings and bytes of the types that allocate.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::path::{Path, PathBuf};

use super::*;
use crate::text::string;

octets! {
    [] String: |value| value.as_bytes();
    [] Vec<u8>: |value| value;
    [] alloc::ffi::CString: |value| value.as_bytes();
    [T: Octets + ?Sized] Box<T>: |value| (**value).octets();
    [T: Octets + ?Sized] Rc<T>: |value| (**value).octets();
    [T: Octets + ?Sized] Arc<T>: |value| (**value).octets();
    [T: Octets + ToOwned + ?Sized] Cow<'_, T>: |value| (**value).octets();
    #[cfg(feature = "compact_str")]
    [] compact_str::CompactString: |value| value.as_bytes();
    #[cfg(feature = "bytes")]
    [] bytes::Bytes: |value| value;
    #[cfg(feature = "bytes")]
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

from_octets! {
    [] Cow<'de, str>: false, |bytes| text(bytes).map(Into::into);
    [] Cow<'de, [u8]>: false, |bytes| Ok(bytes.into());
    [] Box<str>: true, |bytes| text(bytes).map(Into::into);
    [] Box<[u8]>: true, |bytes| Ok(bytes.into());
    [] Rc<str>: true, |bytes| text(bytes).map(Into::into);
    [] Rc<[u8]>: true, |bytes| Ok(bytes.into());
    [] Arc<str>: true, |bytes| text(bytes).map(Into::into);
    [] Arc<[u8]>: true, |bytes| Ok(bytes.into());
    // The bytes contain no zero.
    [] alloc::ffi::CString: true, |bytes| Self::new(bytes).map_err(|_| Fault::INVALID_VALUE);
    #[cfg(feature = "compact_str")]
    [] compact_str::CompactString: true, |bytes| text(bytes).map(Into::into);
    #[cfg(feature = "bytes")]
    [] bytes::Bytes: true, |bytes| Ok(Self::copy_from_slice(bytes));
    #[cfg(feature = "bytes")]
    [] bytes::BytesMut: true, |bytes| Ok(bytes.into());
    #[cfg(feature = "std")]
    [] PathBuf: true, |bytes| text(bytes).map(Into::into);
    #[cfg(feature = "std")]
    [] &'de Path: false, |bytes| text(bytes).map(Path::new);
}

// Fails with `Error::is_invalid_utf8` if the path is not UTF-8.
#[cfg(feature = "std")]
put_as! {
    [H: Header] Path, Str<H>: |wire, path| path.to_str().ok_or(Fault::INVALID_UTF8)?, wire;
    [H: Header] &Path, Str<H>: |wire, path| path.to_str().ok_or(Fault::INVALID_UTF8)?, wire;
    [H: Header] PathBuf, Str<H>: |wire, path| path.to_str().ok_or(Fault::INVALID_UTF8)?, wire;
}
