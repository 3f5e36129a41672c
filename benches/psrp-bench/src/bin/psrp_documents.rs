//! Writes the CLIXML document of a row to standard output, for peers that are separate programs.
//!
//!     cargo run -p psrp-bench --bin psrp_documents -- ROW

use std::io::Write as _;

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let row = std::env::args().nth(1).context("usage: psrp_documents ROW")?;
    let document =
        psrp_bench::powershell::document(&row)?.with_context(|| format!("{row} has no document"))?;
    std::io::stdout().lock().write_all(document.as_bytes())?;
    Ok(())
}
