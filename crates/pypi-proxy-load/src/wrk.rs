//! The load generator `wrk`, with a script that prints the figures as JSON.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Prints the figures at the end. Latencies are in microseconds.
const HOOK: &str = r#"
local line = '{"requests":%d,"duration_us":%d,"bytes":%d,"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d,' ..
  '"p50":%d,"p75":%d,"p90":%d,"p99":%d,"max":%d}\n'
done = function(summary, latency, requests)
  local e = summary.errors
  io.write('\nfigures ' .. string.format(line, summary.requests, summary.duration, summary.bytes, e.connect, e.read,
    e.write, e.status, e.timeout, latency:percentile(50), latency:percentile(75), latency:percentile(90), latency:percentile(99),
    latency.max))
end
"#;

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
pub(crate) struct Figures {
    pub(crate) requests: u64,
    pub(crate) duration_us: u64,
    pub(crate) bytes: u64,
    pub(crate) connect: u64,
    pub(crate) read: u64,
    pub(crate) write: u64,
    /// Responses with a status of 400 or above.
    pub(crate) status: u64,
    pub(crate) timeout: u64,
    pub(crate) p50: u64,
    pub(crate) p75: u64,
    pub(crate) p90: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

impl Figures {
    /// Returns the number of failed requests.
    pub(crate) fn errors(&self) -> u64 {
        self.connect + self.read + self.write + self.status + self.timeout
    }
}

/// Parameters of the load generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) threads: usize,
    pub(crate) connections: usize,
    pub(crate) seconds: usize,
}

#[derive(Debug)]
pub(crate) struct Wrk {
    hook: PathBuf,
}

impl Wrk {
    /// Writes the script.
    ///
    /// # Errors
    ///
    /// Fails if `scratch` cannot be written.
    pub(crate) fn new(scratch: &Path) -> Result<Self> {
        let hook = scratch.join("hook.lua");
        fs::write(&hook, HOOK).with_context(|| format!("cannot write {}", hook.display()))?;
        Ok(Self { hook })
    }

    /// Sends the same request repeatedly.
    ///
    /// # Errors
    ///
    /// Fails if `wrk` fails.
    pub(crate) fn run(&self, url: &str, headers: &[(String, String)], load: Load) -> Result<Figures> {
        let mut command = Command::new("wrk");
        command
            .arg(format!("-t{}", load.threads.min(load.connections)))
            .arg(format!("-c{}", load.connections))
            .arg(format!("-d{}s", load.seconds))
            .args(["--timeout", "30s", "-s"])
            .arg(&self.hook);
        for (name, value) in headers {
            command.args(["-H", &format!("{name}: {value}")]);
        }
        let output = command.arg(url).output().context("cannot start wrk")?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "wrk: {}: {}", output.status, text.trim());
        parse(&String::from_utf8_lossy(&output.stdout))
    }
}

fn parse(text: &str) -> Result<Figures> {
    let line =
        text.lines().find_map(|line| line.strip_prefix("figures ")).context("wrk printed no figures")?;
    serde_json::from_str(line).with_context(|| format!("unexpected figures of wrk: {line}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_parsed_from_wrk_output() {
        let text = "Running 1s test\n  1 threads\n\nfigures {\"requests\":10,\"duration_us\":1000,\"bytes\":9,\"connect\":0,\
                    \"read\":1,\"write\":0,\"status\":2,\"timeout\":0,\"p50\":1,\"p75\":2,\"p90\":2,\"p99\":3,\"max\":4}\n";
        let figures = parse(text).unwrap();
        assert_eq!((figures.requests, figures.errors(), figures.p99), (10, 3, 3));
        assert!(parse("Requests/sec: 1").is_err());
    }
}
