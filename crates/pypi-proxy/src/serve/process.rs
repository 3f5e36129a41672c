//! Resource usage of the process.

/// Resource usage of this process. Fields are `None` if the system does not provide them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    pub(super) cpu_seconds: Option<f64>,
    pub(super) resident_bytes: Option<u64>,
    pub(super) virtual_bytes: Option<u64>,
    pub(super) open_fds: Option<u64>,
    pub(super) max_fds: Option<u64>,
    pub(super) threads: Option<u64>,
}

#[cfg(target_os = "linux")]
impl Process {
    /// Reads the values, in some tens of microseconds.
    pub(super) fn read() -> Self {
        let mut process = Self::default();
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        #[expect(clippy::cast_precision_loss, reason = "nobody reads that many digits")]
        let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
        process.cpu_seconds = Some(seconds);
        process.max_fds = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        // Subtract the handle of the folder that is being read.
        process.open_fds =
            std::fs::read_dir("/proc/self/fd").ok().map(|fds| (fds.count() as u64).saturating_sub(1));
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        for line in status.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let number = || value.split_whitespace().next()?.parse::<u64>().ok();
            match name {
                "VmRSS" => process.resident_bytes = number().map(|kib| kib * 1024),
                "VmSize" => process.virtual_bytes = number().map(|kib| kib * 1024),
                "Threads" => process.threads = number(),
                _ => {}
            }
        }
        process
    }
}

#[cfg(not(target_os = "linux"))]
impl Process {
    /// Not implemented for this system.
    pub(super) fn read() -> Self {
        Self::default()
    }
}
