//! Messages of the key exchange.

use std::fmt;

use crate::b64;
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, Mismatch, object_struct};
use crate::value::{PsString, Value};

/// The public key that the server encrypts the session key with (MS-PSRP 2.2.2.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// The key as a PUBLICKEYBLOB.
    pub blob: Box<[u8]>,
}

/// The session key, encrypted with the client's public key (MS-PSRP 2.2.2.4).
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptedSessionKey {
    /// The key as a SIMPLEBLOB.
    pub blob: Box<[u8]>,
}

/// Does not show the key, even though it is encrypted.
impl fmt::Debug for EncryptedSessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptedSessionKey(..)")
    }
}

macro_rules! base64_member {
    ($($type:ident => $name:literal;)*) => {$(
        impl Field for $type {
            fn write(&self) -> Value {
                let mut out = MemberWriter::default();
                out.put($name, &PsString::from(b64::encode_to_string(&self.blob)));
                out.finish()
            }

            fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
                let text: PsString = MemberReader::new(value, budget)?.required($name)?;
                let blob = text.as_str().and_then(|text| b64::decode_to_box(text.as_bytes()));
                let blob = blob.ok_or_else(|| Mismatch::new("is not Base64").in_member($name))?;
                Ok(Self { blob })
            }
        }

        object_struct!(@values $type);
    )*};
}

base64_member! {
    PublicKey => "PublicKey";
    EncryptedSessionKey => "EncryptedSessionKey";
}
