//! Progress on standard error: a bar on a terminal, otherwise a line from time to time.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

const BAR: usize = 24;
/// Interval between lines if standard error is not a terminal.
const PLAIN_INTERVAL: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub(crate) struct Progress {
    total: usize,
    done: usize,
    start: Instant,
    /// Duration of each side's latest run, because rounds repeat the same sides.
    durations: HashMap<String, Duration>,
    terminal: bool,
    printed: Option<Instant>,
}

impl Progress {
    /// Creates a progress display; `total` counts the steps of all rounds.
    pub(crate) fn new(total: usize) -> Self {
        Self {
            total,
            done: 0,
            start: Instant::now(),
            durations: HashMap::new(),
            terminal: io::stderr().is_terminal(),
            printed: None,
        }
    }

    /// Shows the step that begins. `rest` are the names of the following steps, for the estimate.
    pub(crate) fn begin<'a>(&mut self, label: &'a str, rest: impl Iterator<Item = &'a str>) {
        let left = self.left(label, rest);
        let due = self.printed.is_none_or(|at| at.elapsed() >= PLAIN_INTERVAL);
        if !self.terminal && !due {
            return;
        }
        self.printed = Some(Instant::now());
        let text = format!("{} {label}", bar(self.done, self.total, left));
        let mut stderr = io::stderr();
        // Measuring continues even if standard error is closed.
        let _ = if self.terminal {
            // Return to the start and clear the line.
            write!(stderr, "\r{}\x1b[K", shortened(&text)).and_then(|()| stderr.flush())
        } else {
            writeln!(stderr, "{text}")
        };
    }

    /// Counts a step that is not run.
    pub(crate) fn skip(&mut self) {
        self.done += 1;
    }

    pub(crate) fn end(&mut self, label: &str, took: Duration) {
        self.done += 1;
        self.durations.insert(label.to_owned(), took);
    }

    /// Ends the bar with a line break.
    pub(crate) fn finish(&self) {
        let newline = if self.terminal { "\r\x1b[K" } else { "" };
        let _ = writeln!(
            io::stderr(),
            "{newline}measured {} steps in {}",
            self.done,
            clock(self.start.elapsed())
        );
    }

    /// Estimates the remaining time from the known durations; the mean of these stands in for unknown ones.
    fn left<'a>(&self, label: &'a str, rest: impl Iterator<Item = &'a str>) -> Option<Duration> {
        let known = u32::try_from(self.durations.len()).ok().filter(|&known| known > 0)?;
        let mean = self.durations.values().sum::<Duration>() / known;
        Some(
            std::iter::once(label)
                .chain(rest)
                .map(|label| self.durations.get(label).copied().unwrap_or(mean))
                .sum(),
        )
    }
}

fn bar(done: usize, total: usize, left: Option<Duration>) -> String {
    let filled = (done * BAR).checked_div(total).unwrap_or(BAR);
    let left = left.map_or_else(|| "?".to_owned(), clock);
    format!("[{}{}] {done}/{total}, {left} left:", "#".repeat(filled), "-".repeat(BAR - filled))
}

fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds >= 60 { format!("{} min {:02} s", seconds / 60, seconds % 60) } else { format!("{seconds} s") }
}

/// A wrapped line could not be overwritten.
fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        assert_eq!(bar(0, 4, None), "[------------------------] 0/4, ? left:");
        assert_eq!(
            bar(2, 4, Some(Duration::from_secs(75))),
            "[############------------] 2/4, 1 min 15 s left:"
        );
        assert_eq!(bar(0, 0, None), "[########################] 0/0, ? left:");
    }

    #[test]
    fn the_estimate_uses_what_each_side_took() {
        let mut progress = Progress::new(3);
        assert_eq!(progress.left("a", ["b"].into_iter()), None);
        progress.end("a", Duration::from_secs(2));
        progress.end("b", Duration::from_secs(4));
        // a is known, c is unknown and gets the mean.
        assert_eq!(progress.left("a", ["c"].into_iter()), Some(Duration::from_secs(5)));
    }
}
