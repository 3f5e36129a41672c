//! Secure strings and their key exchange (MS-PSRP 2.2.2.3, 2.2.2.4, 2.2.5.1.24).
//!
//! Both are used up to protocol 2.3. Since protocol 2.4 (PowerShell 7.6) there is no key: secure strings rely on the
//! encryption of the connection.
//!
//! A [`SecureString`](crate::value::SecureString) that was read stays encrypted until it is decrypted with a key, see
//! [`Value::decrypt`](crate::Value::decrypt). [`Cipher`] is a trait because files written by `Export-Clixml` use other
//! ciphers than sessions.
//!
//! The feature `crypto` adds the cipher of sessions. The client generates a `ClientKey` and sends the public key; the
//! server replies with its `SessionKey`, encrypted:
//!
#![cfg_attr(feature = "crypto", doc = "```")]
#![cfg_attr(not(feature = "crypto"), doc = "```ignore")]
//! use psrp::crypto::{ClientKey, SessionKey};
//! use psrp::value::{SecureString, Value};
//!
//! let client = ClientKey::generate()?;
//! let at_server = SessionKey::generate()?;
//! let encrypted = at_server.encrypt_for(&client.public_key_blob())?;
//! let at_client = client.decrypt_session_key(&encrypted)?;
//!
//! let wire = SecureString::new("secret").encrypt(&at_client)?;
//! let received = Value::from(SecureString::from_encrypted(wire));
//! received.decrypt(&at_server)?;
//! let Value::SecureString(text) = &received else { unreachable!() };
//! assert_eq!(text.reveal().unwrap().as_str(), "secret");
//! # Ok::<(), psrp::Error>(())
//! ```
//!
//! The protocol's encryption is deterministic and has no integrity protection. It hides the text from eavesdroppers,
//! but the channel itself must be secure.

mod cipher;
#[cfg(feature = "crypto")]
mod session_key;

pub use cipher::Cipher;
pub(crate) use cipher::ClearText;
#[cfg(feature = "crypto")]
pub use session_key::{ClientKey, SessionKey};
