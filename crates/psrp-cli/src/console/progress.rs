//! Progress bars.

use std::ops::Range;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use psrp::value::Progress;

use crate::printable::printable;

/// Maximum number of bars. Further operations are not shown.
const MAX_BARS: usize = 32;
/// Maximum depth of nested bars.
const MAX_DEPTH: usize = 8;
/// Maximum characters shown of each text.
const MAX_TEXT_CHARS: usize = 200;

/// Identifier of an operation: source and activity.
type Id = (i64, i32);

/// Active operations in display order: nested operations follow their parent.
pub(super) struct ProgressBars {
    multi: Option<MultiProgress>,
    bars: Vec<ActiveBar>,
}

struct ActiveBar {
    id: Id,
    depth: usize,
    bar: ProgressBar,
}

impl ProgressBars {
    /// Creates bars on a draw target, or invisible ones.
    pub(super) fn new(target: Option<ProgressDrawTarget>) -> Self {
        Self { multi: target.map(MultiProgress::with_draw_target), bars: Vec::new() }
    }

    /// Clears the bars from the screen so that text can be written.
    pub(super) fn hide(&self) {
        if let Some(multi) = self.multi.as_ref().filter(|_| !self.bars.is_empty()) {
            // A drawing error is ignored, as bars are optional.
            let _ = multi.clear();
        }
    }

    /// Redraws the bars. The cursor must be at the start of a line.
    pub(super) fn show(&self) {
        self.bars.iter().for_each(|bar| bar.bar.tick());
    }

    /// Processes a progress record. Draws the bars only if `visible`.
    pub(super) fn update(&mut self, source: i64, record: &Progress, visible: bool) {
        let id = (source, record.activity_id);
        let at = match self.position(id) {
            Some(at) if record.completed => return self.remove(at..self.end_of(at)),
            Some(at) => {
                self.bars[at].update(record);
                at
            }
            None if record.completed || self.bars.len() >= MAX_BARS => return,
            None => {
                let (at, depth) = match self.position((source, record.parent_activity_id)) {
                    Some(parent) => (self.end_of(parent), (self.bars[parent].depth + 1).min(MAX_DEPTH)),
                    None => (self.bars.len(), 0),
                };
                let bar = ProgressBar::hidden().with_prefix("  ".repeat(depth));
                bar.set_length(100);
                let mut new = ActiveBar { id, depth, bar };
                // Drawn only after its text is set.
                new.update(record);
                if let Some(multi) = &self.multi {
                    new.bar = multi.insert(at, new.bar);
                }
                self.bars.insert(at, new);
                at
            }
        };
        if visible {
            self.bars[at].bar.tick();
        }
    }

    pub(super) fn clear(&mut self) {
        self.remove(0..self.bars.len());
    }

    fn position(&self, id: Id) -> Option<usize> {
        self.bars.iter().position(|bar| bar.id == id)
    }

    /// Returns the index after an operation and those nested in it.
    fn end_of(&self, at: usize) -> usize {
        let depth = self.bars[at].depth;
        at + 1 + self.bars[at + 1..].iter().take_while(|bar| bar.depth > depth).count()
    }

    fn remove(&mut self, range: Range<usize>) {
        for ActiveBar { bar, .. } in self.bars.drain(range) {
            bar.finish_and_clear();
            if let Some(multi) = &self.multi {
                multi.remove(&bar);
            }
        }
    }

    /// Returns the displayed lines without the bars.
    #[cfg(test)]
    fn lines(&self) -> Vec<String> {
        self.bars.iter().map(|bar| bar.bar.prefix() + &bar.bar.message()).collect()
    }
}

impl ActiveBar {
    /// Shows a record. Each change may redraw the bar.
    fn update(&self, record: &Progress) {
        let percent = u64::try_from(record.percent_complete).ok().map(|percent| percent.min(100));
        let template = match percent {
            Some(_) => "{prefix}[{bar:24}] {percent:>3}% {msg}",
            None => "{prefix}{msg}",
        };
        // Both templates are valid, so this cannot fail.
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        let line = line(record);
        if line != self.bar.message() {
            self.bar.set_message(line);
        }
        let position = percent.unwrap_or_default();
        if position != self.bar.position() {
            self.bar.set_position(position);
        }
    }
}

/// Returns the text of a bar: activity, status, current operation and remaining time.
fn line(record: &Progress) -> String {
    let mut parts = vec![short(&record.activity.to_str_lossy())];
    let status = short(&record.status_description.to_str_lossy());
    if !status.is_empty() {
        parts.push(status);
    }
    if let Some(current) = &record.current_operation {
        parts.push(short(&current.to_str_lossy()));
    }
    if record.seconds_remaining >= 0 {
        let seconds = record.seconds_remaining;
        parts.push(format!("{}:{:02}:{:02} left", seconds / 3600, seconds / 60 % 60, seconds % 60));
    }
    parts.retain(|part| !part.is_empty());
    parts.join(": ")
}

/// Escapes and truncates a text from the server.
fn short(text: &str) -> String {
    let end = text.char_indices().nth(MAX_TEXT_CHARS).map_or(text.len(), |(at, _)| at);
    let mut short = printable(&text[..end], false).replace(['\n', '\t'], " ");
    if end < text.len() {
        short.push('\u{2026}');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: i32, parent: i32) -> Progress {
        Progress { parent_activity_id: parent, ..Progress::new(id, format!("act {id}"), "status") }
    }

    #[test]
    fn nested_operations_follow_and_end_with_their_parent() {
        let mut bars = ProgressBars::new(None);
        for (id, parent) in [(1, -1), (2, -1), (3, 1), (4, 3), (5, 1)] {
            bars.update(0, &record(id, parent), true);
        }
        let expected =
            ["act 1: status", "  act 3: status", "    act 4: status", "  act 5: status", "act 2: status"];
        assert_eq!(bars.lines(), expected);
        bars.update(0, &Progress { completed: true, ..record(3, 1) }, true);
        assert_eq!(bars.lines(), ["act 1: status", "  act 5: status", "act 2: status"]);
        bars.update(0, &Progress { completed: true, ..record(1, -1) }, true);
        assert_eq!(bars.lines(), ["act 2: status"]);
        bars.clear();
        assert!(bars.lines().is_empty());
    }

    #[test]
    fn bar_texts_are_complete_and_escaped() {
        let mut record = record(1, -1);
        record.activity = "a\x1b[2J\nb".into();
        record.current_operation = Some("file".into());
        record.seconds_remaining = 3725;
        assert_eq!(line(&record), "a\\u{1b}[2J b: status: file: 1:02:05 left");
        record.activity = "x".repeat(1000).into();
        assert!(line(&record).chars().count() < 300);
    }

    #[test]
    fn the_number_of_bars_is_limited() {
        let mut bars = ProgressBars::new(None);
        for id in 0..1000 {
            bars.update(0, &record(id, id - 1), true);
        }
        assert_eq!(bars.lines().len(), MAX_BARS);
    }
}
