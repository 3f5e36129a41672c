//! The tests of the program, in one test program.

mod cli;
mod kerberos;
mod powershell;
mod wsman;
