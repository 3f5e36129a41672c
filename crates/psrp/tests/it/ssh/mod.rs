//! Sessions over SSH: with a server in the same process, and with the one of OpenSSH.
//!
//! Where there is no OpenSSH, its tests say so and pass. `PSRP_PYTHON` names a Python interpreter that has what
//! `peers/requirements.txt` lists: with it, OpenSSH serves sessions of the stand-in for PowerShell, `peers/pwsh.py`.
#![cfg(all(feature = "ssh", unix))]

mod files;
mod login;
mod openssh;
mod server;
mod sessions;
mod trust;
