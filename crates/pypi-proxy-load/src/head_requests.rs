//! Load generator for HEAD requests. `wrk` does not support them: it waits for the body announced by `Content-Length`.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::wrk::{Figures, Load};

/// Sends requests on persistent connections, each in a separate thread.
///
/// # Errors
///
/// Fails if no request succeeds.
pub(crate) fn run(address: SocketAddr, path: &str, load: Load) -> Result<Figures> {
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
