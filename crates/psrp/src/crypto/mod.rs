//! Secrets on the wire: ciphers of strings and the exchange of their keys (MS-PSRP 2.2.5.1.24 and 3.1.2).

mod cipher;

pub use cipher::Cipher;
