//! Everything beyond cargo. One file per command.

fn main() {}
