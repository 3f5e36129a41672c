//! `instructions NAME TIMES`: prepares one row and performs its operation so many times.
//!
//! `cargo xtask bench --instructions` runs it under callgrind twice, with more and with fewer operations; the
//! difference is the cost of the operations alone. `--list` prints the rows, `--machine` what the counts depend on.

mod json;
mod parco;
mod perplexity;
mod psrp;
mod pypi_proxy;
mod sse;

use std::env;
use std::io::{self, Write as _};

use anyhow::{Context as _, Result, ensure};

/// One operation. Returns the same number each time, or 0 if it fails.
type Operation = Box<dyn FnMut() -> u64>;

/// Name of an operation, and function that creates its input.
type Row = (&'static str, fn() -> Operation);

macro_rules! rows {
    ($($system:ident: $($row:ident)+;)+) => {
        &[$($((concat!(stringify!($system), "/", stringify!($row)), || Box::new($system::$row())),)+)+]
    };
}

const ROWS: &[Row] = rows! {
    json: envelope_encode envelope_decode;
    parco: encode decode decode_view;
    perplexity: chunk_decode request_encode;
    psrp: serialize deserialize fragment assemble packet_parse;
    pypi_proxy: page_scan list_scan negotiate;
    sse: decode decode_tiny_chunks encode;
};

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().context("usage: instructions NAME TIMES | --list | --machine")?;
    let mut out = io::stdout().lock();
    match &*name {
        "--list" => ROWS.iter().try_for_each(|(name, _)| writeln!(out, "{name}"))?,
        "--machine" => writeln!(out, "{}", machine())?,
        _ => {
            let (_, prepare) =
                ROWS.iter().find(|(known, _)| *known == name).context("there is no such row")?;
            let times: u64 = arguments.next().context("how many times?")?.parse()?;
            let mut operation = prepare();
            let first = operation();
            ensure!(first > 0, "the operation failed");
            for _ in 1..times {
                ensure!(operation() == first, "the operation gave something else");
            }
        }
    }
    Ok(())
}

/// Returns the processor features: several crates choose their instructions at run time.
fn machine() -> String {
    #[cfg(target_arch = "x86_64")]
    let vectors = match (is_x86_feature_detected!("avx512bw"), is_x86_feature_detected!("avx2")) {
        (true, _) => "avx512",
        (false, true) => "avx2",
        (false, false) => "sse2",
    };
    #[cfg(not(target_arch = "x86_64"))]
    let vectors = "baseline";
    format!("{}-{} {vectors}", env::consts::ARCH, env::consts::OS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_gives_the_same_again() {
        for (name, prepare) in ROWS {
            let mut operation = prepare();
            let first = operation();
            assert!(first > 0, "{name}");
            assert_eq!(operation(), first, "{name}");
        }
    }
}
