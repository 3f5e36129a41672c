//! `pypi-proxy`: a caching proxy for Python package indexes.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
