//! Resource usage of a server: processor time, memory and descriptors of its process and all child processes.

use std::fs;

use anyhow::{Result, ensure};

/// Returns the process and all its descendants.
fn family(root: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
            && let Some(fields) = stat(pid)
        {
            parents.push((pid, number(&fields, 1)));
        }
    }
    let mut family = vec![root];
    let mut index = 0;
    while index < family.len() {
        let parent = u64::from(family[index]);
        family.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        index += 1;
    }
    family
}

/// Returns the fields after the program name, which may contain any characters. The first field is the state.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn number(fields: &[String], index: usize) -> u64 {
    fields.get(index).and_then(|field| field.parse().ok()).unwrap_or(0)
}

/// Returns the user and system time used so far, in seconds.
pub(crate) fn cpu_seconds(root: u32) -> f64 {
    let ticks: u64 = family(root)
        .into_iter()
        .filter_map(stat)
        .map(|fields| number(&fields, 11) + number(&fields, 12))
        .sum();
    // Linux reports hundredths of a second to programs, whatever its own clock does.
    ticks as f64 / 100.0
}

/// Returns the peak memory in bytes; for several processes, the sum of their peaks.
pub(crate) fn peak_memory(root: u32) -> u64 {
    family(root).into_iter().map(|pid| memory(pid, "VmHWM:")).sum()
}

/// Returns the current memory in bytes.
pub(crate) fn memory_now(root: u32) -> u64 {
    family(root).into_iter().map(|pid| memory(pid, "VmRSS:")).sum()
}

/// Returns the number of open file descriptors.
pub(crate) fn descriptors(root: u32) -> usize {
    family(root)
        .into_iter()
        .map(|pid| fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count))
        .sum()
}

fn memory(pid: u32, field: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap_or_default();
    let kib: u64 = line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
    kib * 1024
}

/// Fails if this system does not provide `/proc`.
pub(crate) fn ensure_supported() -> Result<()> {
    let is_supported = stat(std::process::id()).is_some();
    ensure!(is_supported, "processor time and memory are read from /proc, which this system does not have");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn current_process_has_a_parent_and_memory() {
        if ensure_supported().is_ok() {
            assert!(family(std::process::id()).contains(&std::process::id()));
            assert!(number(&stat(std::process::id()).unwrap(), 1) > 0);
            assert!(peak_memory(std::process::id()) > 0 && memory_now(std::process::id()) > 0);
            // Only this process: other tests start processes that may end between two reads.
            let own = |field| memory(std::process::id(), field);
            assert!(own("VmHWM:") >= own("VmRSS:") / 2);
        }
    }
}
