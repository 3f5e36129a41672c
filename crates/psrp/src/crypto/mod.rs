//! Secrets on the wire: what encrypts strings (MS-PSRP 2.2.5.1.24).

mod cipher;
#[cfg(feature = "crypto")]
mod exchange;
#[cfg(feature = "crypto")]
mod session_key;
mod tree;

pub use cipher::Cipher;
#[cfg(feature = "crypto")]
pub use exchange::ClientKey;
#[cfg(feature = "crypto")]
pub use session_key::SessionKey;
