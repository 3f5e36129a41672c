//! Secrets on the wire: what encrypts strings (MS-PSRP 2.2.5.1.24).

mod cipher;

pub use cipher::Cipher;
