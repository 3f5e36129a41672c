//! Progress bars.

use std::collections::HashMap;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use psrp::terminal_safe;
use psrp::value::Progress;

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
    order: Vec<Id>,
    shown: HashMap<Id, ActiveBar>,
}

struct ActiveBar {
    bar: ProgressBar,
    depth: usize,
    line: String,
}

impl ProgressBars {
    /// Creates bars on a draw target, or invisible ones.
    pub(super) fn new(target: Option<ProgressDrawTarget>) -> Self {
        let multi = target.map(MultiProgress::with_draw_target);
        Self { multi, order: Vec::new(), shown: HashMap::new() }
    }

    /// Returns whether there are no bars.
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Clears the bars from the screen so that text can be written.
    pub(super) fn hide(&self) {
        if let Some(multi) = self.multi.as_ref().filter(|_| !self.is_empty()) {
            // A drawing error is ignored, as bars are optional.
            let _ = multi.clear();
        }
    }

    /// Redraws the bars. The cursor must be at the start of a line.
    pub(super) fn show(&self) {
        for shown in self.order.iter().filter_map(|id| self.shown.get(id)) {
            shown.bar.tick();
        }
    }

    /// Processes a progress record. Draws the bars only if `visible`.
    pub(super) fn update(&mut self, source: i64, record: &Progress, visible: bool) {
        let id = (source, record.activity_id);
        if record.completed {
            self.remove(id);
            return;
        }
        if !self.shown.contains_key(&id) {
            let Some((index, depth)) = self.place(id, record.parent_activity_id) else { return };
            // Drawn only after its text is set.
            let bar = ProgressBar::hidden().with_prefix("  ".repeat(depth));
            bar.set_length(100);
            self.order.insert(index, id);
            self.shown.insert(id, ActiveBar { bar, depth, line: String::new() });
            self.update_bar(id, record);
            if let (Some(multi), Some(shown)) = (&self.multi, self.shown.get_mut(&id)) {
                shown.bar = multi.insert(index, shown.bar.clone());
            }
        } else {
            self.update_bar(id, record);
        }
        if visible && let Some(shown) = self.shown.get(&id) {
            shown.bar.tick();
        }
    }

    /// Removes all bars.
    pub(super) fn clear(&mut self) {
        for id in std::mem::take(&mut self.order) {
            self.drop_bar(id);
        }
    }

    /// Updates a bar. Each change may redraw it.
    fn update_bar(&mut self, id: Id, record: &Progress) {
        let Some(ActiveBar { bar, line, .. }) = self.shown.get_mut(&id) else { return };
        let percent = u64::try_from(record.percent_complete).ok().map(|percent| percent.min(100));
        let template = match percent {
            Some(_) => "{prefix}[{bar:24}] {percent:>3}% {msg}",
            None => "{prefix}{msg}",
        };
        // Both templates are valid, so this cannot fail.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        let new = self::line(record);
        if new != *line {
            bar.set_message(new.clone());
            *line = new;
        }
        let position = percent.unwrap_or_default();
        if position != bar.position() {
            bar.set_position(position);
        }
    }

    /// Returns the index and depth of a new operation, `None` if there are too many.
    fn place(&self, (source, _): Id, parent: i32) -> Option<(usize, usize)> {
        if self.order.len() >= MAX_BARS {
            return None;
        }
        let parent = (source, parent);
        let Some(at) = self.order.iter().position(|id| *id == parent) else {
            return Some((self.order.len(), 0));
        };
        let depth = self.depth(parent);
        let behind = self.order[at + 1..].iter().take_while(|id| self.depth(**id) > depth).count();
        Some((at + 1 + behind, (depth + 1).min(MAX_DEPTH)))
    }

    fn depth(&self, id: Id) -> usize {
        self.shown.get(&id).map_or(0, |shown| shown.depth)
    }

    /// Removes an operation and its nested operations.
    fn remove(&mut self, id: Id) {
        let Some(at) = self.order.iter().position(|other| *other == id) else { return };
        let depth = self.depth(id);
        let parts = self.order[at + 1..].iter().take_while(|id| self.depth(**id) > depth).count();
        let ended: Vec<Id> = self.order.drain(at..=at + parts).collect();
        for id in ended {
            self.drop_bar(id);
        }
    }

    fn drop_bar(&mut self, id: Id) {
        if let Some(ActiveBar { bar, .. }) = self.shown.remove(&id) {
            bar.finish_and_clear();
            if let Some(multi) = &self.multi {
                multi.remove(&bar);
            }
        }
    }

    /// Returns the displayed lines without the bars.
    #[cfg(test)]
    pub(super) fn lines(&self) -> Vec<String> {
        self.order
            .iter()
            .map(|id| {
                let shown = &self.shown[id];
                format!("{}{}", "  ".repeat(shown.depth), shown.line)
            })
            .collect()
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
    let mut short = terminal_safe(&text[..end]).replace(['\n', '\t'], " ");
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
        assert!(bars.is_empty());
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
