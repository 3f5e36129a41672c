//! Sessions over SSH: with an in-process server, and with OpenSSH.
//!
//! Without OpenSSH, its tests are skipped with a message and pass. `PSRP_PYTHON` names a Python interpreter with the
//! packages of `peers/requirements.txt`: with it, OpenSSH serves sessions of the fake PowerShell, `peers/pwsh.py`.
#![cfg(all(feature = "ssh", feature = "crypto", unix))]

mod files;
mod login;
mod openssh;
mod server;
mod sessions;
mod trust;
