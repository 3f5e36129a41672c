//! Sessions over SSH: with a server in the same process, and with the one of OpenSSH where there is one.
#![cfg(all(feature = "ssh", unix))]

mod files;
mod login;
mod openssh;
mod server;
mod sessions;
mod trust;
