//! Sessions over SSH: with an in-process server, and with OpenSSH.
//!
//! Without OpenSSH or PowerShell, their tests are skipped with a message and pass.
#![cfg(all(feature = "ssh", feature = "crypto", unix))]

mod config;
mod files;
mod known_hosts;
mod login;
mod openssh;
mod server;
mod sessions;
mod trust;
