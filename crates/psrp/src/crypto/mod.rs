//! Encrypted strings, and the exchange of the key for them (MS-PSRP 2.2.2.3, 2.2.2.4, 2.2.5.1.24).
//!
//! Both are used up to protocol 2.3. Since protocol 2.4 (PowerShell 7.6) there is no key: secure strings rely on the
//! encryption of the connection.
//!
//! A [`SecureString`](crate::value::SecureString) stays encrypted when it is read and is decrypted when there is a key,
//! see [`Value::decrypt`](crate::Value::decrypt). The cipher is a trait, for the files of `Export-Clixml` and the like have
//! others than a session.
//!
//! With the feature `crypto` there is the cipher of a session. The client makes a `ClientKey` and sends its public half;
//! the server answers with its `SessionKey`, encrypted:
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
//! The encryption is the protocol's: it hides the text from whoever reads the traffic, but it is deterministic and does
//! not notice changes. The channel has to be safe by itself.

mod cipher;
#[cfg(feature = "crypto")]
mod exchange;
#[cfg(feature = "crypto")]
mod session_key;
mod tree;

pub use cipher::Cipher;
pub(crate) use cipher::ClearText;
#[cfg(feature = "crypto")]
pub use exchange::ClientKey;
#[cfg(feature = "crypto")]
pub use session_key::SessionKey;
