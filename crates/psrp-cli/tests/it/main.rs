//! The tests of the program, in one test program.

mod cli;
mod powershell;
mod wsman;
