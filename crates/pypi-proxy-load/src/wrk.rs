//! The load generator `wrk`, with a script that prints the figures as JSON, and one for HEAD requests.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bench_report::quantity::Quantity;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::Deserialize;

use crate::client::Header;
use crate::pause;

/// Prints the figures at the end. wrk measures latencies in microseconds.
const HOOK: &str = r#"
local line = '{"requests":%d,"duration_us":%d,"bytes":%d,"errors":%d,"p50":%d000,"p75":%d000,"p90":%d000,"p99":%d000,"longest":%d000}\n'
done = function(summary, latency, requests)
  local e = summary.errors
  io.write('\nfigures ' .. string.format(line, summary.requests, summary.duration, summary.bytes,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(75),
    latency:percentile(90), latency:percentile(99), latency.max))
end
"#;

#[derive(Debug, Deserialize)]
pub(crate) struct Figures {
    pub(crate) requests: u64,
    pub(crate) duration_us: u64,
    pub(crate) bytes: u64,
    /// Failed requests: no connection, no response in time, or a status of 400 or above.
    pub(crate) errors: u64,
    /// Latencies in nanoseconds.
    #[serde(flatten)]
    pub(crate) latencies: BTreeMap<Quantity, f64>,
}

impl Figures {
    pub(crate) fn rate(&self) -> f64 {
        self.requests as f64 * 1e6 / self.duration_us as f64
    }
}

/// Parameters of the load generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) threads: usize,
    pub(crate) connections: usize,
    pub(crate) time: Duration,
}

#[derive(Debug)]
pub(crate) struct Wrk {
    hook: PathBuf,
}

impl Wrk {
    pub(crate) fn new(scratch: &Path) -> Result<Self> {
        let hook = scratch.join("hook.lua");
        fs::write(&hook, HOOK).with_context(|| format!("cannot write {}", hook.display()))?;
        Ok(Self { hook })
    }

    /// Sends the same request repeatedly, and calls `observe` before the end.
    pub(crate) fn run(
        &self,
        address: SocketAddr,
        path: &str,
        headers: &[Header],
        load: Load,
        observe: impl FnOnce(),
    ) -> Result<Figures> {
        let mut command = Command::new("wrk");
        command
            .arg(format!("-t{}", load.threads.min(load.connections)))
            .arg(format!("-c{}", load.connections))
            // It ends at the signal, but takes only whole seconds.
            .arg(format!("-d{}s", load.time.as_secs() + 2))
            .args(["--timeout", "30s", "-s"])
            .arg(&self.hook);
        for (name, value) in headers {
            command.args(["-H", &format!("{name}: {value}")]);
        }
        command.arg(format!("http://{address}{path}")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().context("cannot start wrk")?;
        pause(load.time);
        observe();
        kill(Pid::from_raw(child.id().try_into()?), Signal::SIGINT)?;
        let output = child.wait_with_output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "wrk: {}: {}", output.status, text.trim());
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find_map(|line| line.strip_prefix("figures "));
        let line = line.context("wrk printed no figures")?;
        serde_json::from_str(line).with_context(|| format!("unexpected figures of wrk: {line}"))
    }
}

/// Sends HEAD requests on persistent connections, each in a separate thread. `wrk` does not support them: it waits
/// for the body announced by `Content-Length`.
pub(crate) fn head_requests(address: SocketAddr, path: &str, load: Load) -> Result<Figures> {
    let start = Instant::now();
    let request = format!("HEAD {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let ask = |_| -> Result<(Vec<u128>, u64)> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let (mut times, mut bytes) = (Vec::new(), 0);
        let mut buffer = [0; 4096];
        while start.elapsed() < load.time {
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
            times.push(asked.elapsed().as_nanos());
        }
        Ok((times, bytes))
    };
    let results: Vec<_> = crate::in_threads(0..load.connections, ask).into_iter().collect::<Result<_>>()?;
    let bytes = results.iter().map(|(_, bytes)| bytes).sum();
    let mut times: Vec<u128> = results.into_iter().flat_map(|(times, _)| times).collect();
    times.sort_unstable();
    let last = times.len().checked_sub(1).context("no response")?;
    let parts = [
        (Quantity::P50, 50),
        (Quantity::P75, 75),
        (Quantity::P90, 90),
        (Quantity::P99, 99),
        (Quantity::Longest, 100),
    ];
    Ok(Figures {
        requests: times.len() as u64,
        duration_us: u64::try_from(start.elapsed().as_micros())?,
        bytes,
        errors: 0,
        latencies: parts.map(|(quantity, percent)| (quantity, times[last * percent / 100] as f64)).into(),
    })
}
