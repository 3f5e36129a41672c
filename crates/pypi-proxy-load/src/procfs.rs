//! Resource usage of a server: processor time, memory and descriptors of its process and all child processes.

use std::fs;

use anyhow::{Result, ensure};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;

fn family(root: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let parents: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut family = vec![root];
    let mut index = 0;
    while let Some(of) = family.get(index).copied() {
        family.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
        index += 1;
    }
    family
}

fn parent(pid: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program name before it may contain any characters.
    text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the user and system time used so far, in nanoseconds.
pub(crate) fn cpu_time(root: u32) -> f64 {
    let of_process = |pid: u32| -> Option<f64> {
        let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(pid.try_into().ok()?)).ok()?;
        Some(std::time::Duration::from(clock_gettime(clock).ok()?).as_nanos() as f64)
    };
    family(root).into_iter().filter_map(of_process).sum()
}

/// Returns the peak memory in bytes; for several processes, the sum of their peaks.
pub(crate) fn peak_memory(root: u32) -> f64 {
    family(root).into_iter().map(|pid| memory(pid, "VmHWM:")).sum()
}

/// Returns the current memory in bytes.
pub(crate) fn memory_now(root: u32) -> f64 {
    family(root).into_iter().map(|pid| memory(pid, "VmRSS:")).sum()
}

pub(crate) fn descriptors(root: u32) -> usize {
    let of_process = |pid| fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
    family(root).into_iter().map(of_process).sum()
}

/// Returns the number of connections that are established at a local port.
pub(crate) fn connections(port: u16) -> usize {
    let text = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let local = format!(":{port:04X}");
    let is_established = |line: &&str| {
        let mut words = line.split_whitespace().skip(1);
        words.next().is_some_and(|address| address.ends_with(&local)) && words.nth(1) == Some("01")
    };
    text.lines().filter(is_established).count()
}

fn memory(pid: u32, field: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    let kib: Option<f64> = line.split_whitespace().next().and_then(|word| word.parse().ok());
    kib.unwrap_or(0.0) * 1024.0
}

/// Fails if this system does not provide `/proc`.
pub(crate) fn ensure_supported() -> Result<()> {
    let is_supported = parent(std::process::id()).is_some();
    ensure!(is_supported, "memory is read from /proc, which this system does not have");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn current_process_uses_resources() {
        if ensure_supported().is_ok() {
            let pid = std::process::id();
            assert!(cpu_time(pid) > 0.0 && peak_memory(pid) > 0.0 && memory_now(pid) > 0.0);
            assert!(family(parent(pid).unwrap()).contains(&pid));
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let _clients = [(); 2].map(|()| TcpStream::connect(address).unwrap());
            assert_eq!(connections(address.port()), 2);
        }
    }
}
