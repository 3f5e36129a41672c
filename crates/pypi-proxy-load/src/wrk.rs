//! The load generator `wrk`, with a script that prints the figures as JSON.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

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

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
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
    pub(crate) fn new(scratch: &Path) -> Result<Self> {
        let hook = scratch.join("hook.lua");
        fs::write(&hook, HOOK).with_context(|| format!("cannot write {}", hook.display()))?;
        Ok(Self { hook })
    }

    /// Sends the same request repeatedly.
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

/// Sends HEAD requests on persistent connections, each in a separate thread. `wrk` does not support them: it waits
/// for the body announced by `Content-Length`.
pub(crate) fn head_requests(address: SocketAddr, path: &str, load: Load) -> Result<Figures> {
    let end = Instant::now() + Duration::from_secs(load.seconds as u64);
    let start = Instant::now();
    let request = format!("HEAD {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let ask = |_| -> Result<(Vec<u64>, u64)> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let (mut times, mut bytes) = (Vec::new(), 0);
        let mut buffer = [0; 4096];
        while Instant::now() < end {
            let asked = Instant::now();
            stream.write_all(request.as_bytes())?;
            let mut filled = 0;
            while !buffer[..filled].ends_with(b"\r\n\r\n") {
                let count = stream.read(&mut buffer[filled..])?;
                ensure!(count > 0, "the connection was closed");
                filled += count;
            }
            ensure!(buffer.starts_with(b"HTTP/1.1 200"), "the status is not 200");
            bytes += filled as u64;
            times.push(u64::try_from(asked.elapsed().as_micros()).unwrap_or(u64::MAX));
        }
        Ok((times, bytes))
    };
    let (mut times, mut bytes) = (Vec::new(), 0);
    for result in crate::in_threads(0..load.connections, ask) {
        let (more, count) = result?;
        times.extend(more);
        bytes += count;
    }
    times.sort_unstable();
    let last = times.len().checked_sub(1).context("no response")?;
    Ok(Figures {
        requests: times.len() as u64,
        duration_us: u64::try_from(start.elapsed().as_micros())?,
        bytes,
        p50: times[last / 2],
        p75: times[last * 3 / 4],
        p90: times[last * 9 / 10],
        p99: times[last * 99 / 100],
        max: times[last],
        ..Figures::default()
    })
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
