//! Line editor for prompts.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use zeroize::Zeroizing;

/// Maximum length of a typed line in bytes.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// A line edited key by key. Editing is possible only at its end.
#[derive(Debug)]
pub(super) struct Editor {
    /// Allocated with its maximum capacity, because growing would leave a copy of the content in memory.
    line: Zeroizing<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    None,
    /// A character was appended.
    Added,
    /// Characters were removed.
    Changed,
    /// The line is complete.
    Done,
    /// End of input.
    End,
    /// Ctrl+C.
    Interrupted,
}

impl Editor {
    pub(super) fn new() -> Self {
        Self { line: Zeroizing::new(String::with_capacity(MAX_LINE_BYTES)) }
    }

    pub(super) fn line(&self) -> &str {
        &self.line
    }

    pub(super) fn into_line(self) -> Zeroizing<String> {
        self.line
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Edit {
        if key.kind == KeyEventKind::Release {
            return Edit::None;
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) && !key.modifiers.contains(KeyModifiers::ALT) {
            return match key.code {
                KeyCode::Char('c' | 'C') => Edit::Interrupted,
                KeyCode::Char('d' | 'D') if self.line.is_empty() => Edit::End,
                KeyCode::Char('u' | 'U') => self.cut(0),
                KeyCode::Char('w' | 'W') => self.cut(self.last_word()),
                KeyCode::Char('h' | 'H') => self.backspace(),
                KeyCode::Char('j' | 'J' | 'm' | 'M') => Edit::Done,
                _ => Edit::None,
            };
        }
        match key.code {
            KeyCode::Char(char) => self.push(char),
            KeyCode::Tab => self.push('\t'),
            KeyCode::Enter => Edit::Done,
            KeyCode::Backspace => self.backspace(),
            KeyCode::Esc => self.cut(0),
            _ => Edit::None,
        }
    }

    fn push(&mut self, char: char) -> Edit {
        if self.line.len() + char.len_utf8() > MAX_LINE_BYTES {
            return Edit::None;
        }
        self.line.push(char);
        Edit::Added
    }

    fn backspace(&mut self) -> Edit {
        match self.line.pop() {
            Some(_) => Edit::Changed,
            None => Edit::None,
        }
    }

    fn cut(&mut self, at: usize) -> Edit {
        self.line.truncate(at);
        Edit::Changed
    }

    fn last_word(&self) -> usize {
        let text = self.line.trim_end();
        text.rfind(char::is_whitespace)
            .map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_keys(editor: &mut Editor, text: &str) {
        for char in text.chars() {
            assert_eq!(editor.key(KeyEvent::new(KeyCode::Char(char), KeyModifiers::NONE)), Edit::Added);
        }
    }

    fn control(editor: &mut Editor, char: char) -> Edit {
        editor.key(KeyEvent::new(KeyCode::Char(char), KeyModifiers::CONTROL))
    }

    #[test]
    fn the_end_of_the_line_is_editable() {
        let mut editor = Editor::new();
        type_keys(&mut editor, "one tw\u{e4}");
        assert_eq!(editor.key(KeyCode::Backspace.into()), Edit::Changed);
        assert_eq!(editor.line(), "one tw");
        assert_eq!(control(&mut editor, 'w'), Edit::Changed);
        assert_eq!(editor.line(), "one ");
        assert_eq!(control(&mut editor, 'u'), Edit::Changed);
        assert_eq!(editor.key(KeyCode::Backspace.into()), Edit::None);
        type_keys(&mut editor, "x");
        assert_eq!(editor.key(KeyCode::Enter.into()), Edit::Done);
        assert_eq!(**editor.into_line(), *"x");
    }

    #[test]
    fn control_keys_end_the_prompt() {
        let mut editor = Editor::new();
        assert_eq!(control(&mut editor, 'd'), Edit::End);
        type_keys(&mut editor, "x");
        assert_eq!(control(&mut editor, 'd'), Edit::None);
        assert_eq!(control(&mut editor, 'c'), Edit::Interrupted);
    }

    #[test]
    fn the_line_length_is_limited() {
        let mut editor = Editor::new();
        type_keys(&mut editor, &"x".repeat(MAX_LINE_BYTES));
        assert_eq!(editor.key(KeyCode::Char('x').into()), Edit::None);
    }
}
