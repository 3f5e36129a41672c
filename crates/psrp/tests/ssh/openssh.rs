//! With the server of OpenSSH.
