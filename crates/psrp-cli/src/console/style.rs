//! Text colours.

use std::fmt::Write as _;

use psrp::host::ConsoleColor;

/// Returns whether terminals may get colours. Consoles of Windows interpret escape sequences only after this call.
pub(crate) fn allows_colors() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let is_supported = {
        #[cfg(windows)]
        {
            crossterm::ansi_support::supports_ansi()
        }
        #[cfg(not(windows))]
        true
    };
    is_supported && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) foreground: Option<ConsoleColor>,
    pub(super) background: Option<ConsoleColor>,
}

impl Style {
    pub(super) const PLAIN: Self = Self { foreground: None, background: None };
    pub(super) const ERROR: Self = Self::of(ConsoleColor::Red);
    pub(super) const WARNING: Self = Self::of(ConsoleColor::Yellow);
    pub(super) const DETAIL: Self = Self::of(ConsoleColor::DarkYellow);
    pub(super) const CAPTION: Self = Self::of(ConsoleColor::White);
    pub(super) const FAINT: Self = Self::of(ConsoleColor::DarkGray);

    const fn of(foreground: ConsoleColor) -> Self {
        Self { foreground: Some(foreground), background: None }
    }

    /// Appends the text in its colours, line by line: a background colour that spans a line end would fill the whole
    /// next line.
    pub(super) fn paint(self, text: &str, out: &mut String) {
        let [foreground, background] = [(self.foreground, 30), (self.background, 40)]
            .map(|(color, base)| color.and_then(|color| code(color, base)));
        if foreground.is_none() && background.is_none() {
            out.push_str(text);
            return;
        }
        for line in text.split_inclusive('\n') {
            let content = line.strip_suffix('\n').unwrap_or(line);
            if !content.is_empty() {
                for code in [foreground, background].into_iter().flatten() {
                    let _ = write!(out, "\x1b[{code}m");
                }
                out.push_str(content);
                out.push_str("\x1b[0m");
            }
            if content.len() < line.len() {
                out.push('\n');
            }
        }
    }
}

/// Returns the ANSI colour code: dark colours start at `base`, bright ones at `base` + 60.
fn code(color: ConsoleColor, base: u8) -> Option<u8> {
    // Blue and red are swapped compared to the console colours.
    const ORDER: [u8; 8] = [0, 4, 2, 6, 1, 5, 3, 7];
    let number = usize::try_from(color.number()).ok()?;
    match number {
        // Terminals call light gray white, and dark gray bright black.
        0..=7 => Some(base + ORDER[number]),
        8..=15 => Some(base + 60 + ORDER[number - 8]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(style: Style, text: &str) -> String {
        let mut out = String::new();
        style.paint(text, &mut out);
        out
    }

    #[test]
    fn each_line_is_coloured_separately() {
        assert_eq!(painted(Style::ERROR, "a\n\nb"), "\x1b[91ma\x1b[0m\n\n\x1b[91mb\x1b[0m");
        assert_eq!(painted(Style::PLAIN, "a\n"), "a\n");
        let both = Style { foreground: Some(ConsoleColor::DarkBlue), background: Some(ConsoleColor::Gray) };
        assert_eq!(painted(both, "x"), "\x1b[34m\x1b[47mx\x1b[0m");
        let unknown = Style { foreground: Some(ConsoleColor::from_number(-1)), background: None };
        assert_eq!(painted(unknown, "x"), "x");
    }
}
