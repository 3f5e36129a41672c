//! Machine, date and commit of a report.

use std::fs;
use std::path::Path;

use crate::model::Machine;
use crate::program::first_line;

/// Describes the machine, as far as the system does.
pub fn describe() -> Machine {
    let unknown = || "unknown".to_owned();
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu_line(&cpuinfo, "model name")
        .or_else(|| first_line("sysctl", &["-n", "machdep.cpu.brand_string"]));
    Machine {
        cpu: cpu.unwrap_or_else(unknown),
        flags: cpu_line(&cpuinfo, "flags").unwrap_or_default(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        kernel: first_line("uname", &["-sr"]).unwrap_or_else(unknown),
    }
}

fn cpu_line(cpuinfo: &str, name: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Returns the last processor that this process may use, if the system reports it. Interrupts usually arrive at the
/// first one.
pub fn last_processor() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    list.rsplit([',', '-']).next()?.trim().parse().ok()
}

/// Measures the part of the processors' time that other programs use, from its start on.
#[derive(Debug)]
pub struct Busy(Option<[f64; 3]>);

impl Busy {
    /// Starts measuring. From now on, programs whose parent has ended are child processes of this one, so that the
    /// programs that peers started count as well.
    pub fn start() -> Self {
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Self(Self::times())
    }

    /// Returns the part, without this process and its child processes, if the system reports it. All child processes must
    /// end soon: this waits for them.
    pub fn of_others(&self) -> Option<f64> {
        #[cfg(target_os = "linux")]
        await_children();
        let ([total, idle, own], before) = (Self::times()?, self.0?);
        let (total, idle, own) = (total - before[0], idle - before[1], own - before[2]);
        Some(((total - idle - own) / total).max(0.0))
    }

    /// Returns the total and idle times of all processors and the time of this process, in ticks.
    fn times() -> Option<[f64; 3]> {
        let (total, idle) = processor_times(&fs::read_to_string("/proc/stat").ok()?)?;
        Some([total, idle, own_time(&fs::read_to_string("/proc/self/stat").ok()?)?])
    }
}

/// Waits a few seconds until all child processes have ended: only then, their time is known.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "suites measure on no executor")]
fn await_children() {
    for _ in 0..30 {
        loop {
            match rustix::process::wait(rustix::process::WaitOptions::NOHANG) {
                Ok(Some(_ended)) => {}
                // All others are running.
                Ok(None) => break,
                // There is none.
                Err(_) => return,
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

/// Returns the user and system time of a process and of its children from its `stat` file.
fn own_time(stat: &str) -> Option<f64> {
    // The name of the program may contain spaces and brackets.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    fields.get(11..15)?.iter().map(|field| field.parse::<f64>().ok()).sum()
}

/// Returns the sum of the times of programs and of the idle ones, and the idle ones (idle, and waiting for input or output).
///
/// Interrupts and the time that a virtual machine waits for its processors belong to no program.
fn processor_times(stat: &str) -> Option<(f64, f64)> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    let times: Vec<f64> = fields.take(5).map(|field| field.parse().ok()).collect::<Option<_>>()?;
    Some((times.iter().sum(), times.get(3)? + times.get(4)?))
}

/// Returns the time in UTC.
pub fn date() -> String {
    first_line("date", &["-u", "+%Y-%m-%dT%H:%M:%SZ"]).unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the checked-out commit, with a mark if files differ from it.
pub fn commit(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| first_line("git", &[&["-C", root.to_str()?], arguments].concat());
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let clean = git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if clean { commit } else { format!("{commit} with local changes") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_found_among_other_lines() {
        let text = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Intel(R) Xeon(R) Processor @ 2.50GHz\nstepping: 7\n";
        assert_eq!(cpu_line(text, "model name").as_deref(), Some("Intel(R) Xeon(R) Processor @ 2.50GHz"));
        assert_eq!(cpu_line("Features: fp asimd", "model name"), None);
    }

    #[test]
    fn idle_time_includes_waiting_for_a_disk() {
        let stat = "cpu  10 1 2 80 5 1 1 0 7 0\ncpu0 5 0 1 40 3 0 0 0 0 0\n";
        assert_eq!(processor_times(stat), Some((98.0, 85.0)), "time of guests is part of the first field");
        assert_eq!(processor_times("intr 1"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_whose_parent_ended_is_a_child() {
        let _busy = Busy::start();
        let id = first_line("sh", &["-c", "sleep 60 > /dev/null 2>&1 & echo $!"]).unwrap();
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        let parent = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap();
        assert_eq!(parent, std::process::id().to_string());
        assert!(std::process::Command::new("kill").arg(id).status().unwrap().success());
    }

    #[test]
    fn time_of_children_counts() {
        let stat = "12 (a) b) S 1 12 12 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 5";
        assert_eq!(own_time(stat), Some(100.0));
    }
}
