//! Converts terminal keys to PowerShell's key information.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use psrp::host::{ControlKeyStates, KeyInfo, ReadKeyOptions};

pub(super) fn is_interrupt(key: &KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'C'))
}

/// Converts a key. The virtual key code is that of Windows, 0 if there is none.
pub(super) fn key_info(key: &KeyEvent, options: ReadKeyOptions) -> KeyInfo {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    let (virtual_key_code, character) = match key.code {
        KeyCode::Char(char) => (char_code(char), char_unit(char, is_control)),
        KeyCode::Enter => (13, 13),
        KeyCode::Tab | KeyCode::BackTab => (9, 9),
        KeyCode::Backspace => (8, 8),
        KeyCode::Esc => (27, 27),
        KeyCode::PageUp => (33, 0),
        KeyCode::PageDown => (34, 0),
        KeyCode::End => (35, 0),
        KeyCode::Home => (36, 0),
        KeyCode::Left => (37, 0),
        KeyCode::Up => (38, 0),
        KeyCode::Right => (39, 0),
        KeyCode::Down => (40, 0),
        KeyCode::Insert => (45, 0),
        KeyCode::Delete => (46, 0),
        KeyCode::F(number @ 1..=24) => (111 + i32::from(number), 0),
        _ => (0, 0),
    };
    let mut state = ControlKeyStates::default();
    if is_control {
        state = state | ControlKeyStates::LEFT_CTRL;
    }
    if key.modifiers.contains(KeyModifiers::ALT) {
        state = state | ControlKeyStates::LEFT_ALT;
    }
    if key.modifiers.contains(KeyModifiers::SHIFT)
        || matches!(key.code, KeyCode::Char('A'..='Z') | KeyCode::BackTab)
    {
        state = state | ControlKeyStates::SHIFT;
    }
    // Most terminals report only key presses, so a press also counts as the release.
    let wants_down = options.contains(ReadKeyOptions::INCLUDE_KEY_DOWN);
    let key_down = key.kind != KeyEventKind::Release
        && (wants_down || !options.contains(ReadKeyOptions::INCLUDE_KEY_UP));
    KeyInfo { virtual_key_code, character, control_key_state: state, key_down }
}

fn char_code(char: char) -> i32 {
    match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' => i32::from(char.to_ascii_uppercase() as u8),
        ';' | ':' => 186,
        '=' | '+' => 187,
        ',' | '<' => 188,
        '-' | '_' => 189,
        '.' | '>' => 190,
        '/' | '?' => 191,
        '`' | '~' => 192,
        '[' | '{' => 219,
        '\\' | '|' => 220,
        ']' | '}' => 221,
        '\'' | '"' => 222,
        _ => 0,
    }
}

/// Returns the UTF-16 code unit of a character, U+FFFD if it needs two.
fn char_unit(char: char, is_control: bool) -> u16 {
    match char {
        'a'..='z' | 'A'..='Z' if is_control => u16::from(char.to_ascii_lowercase() as u8 - b'a' + 1),
        char => u16::try_from(u32::from(char)).unwrap_or(0xFFFD),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(code: KeyCode, modifiers: KeyModifiers) -> KeyInfo {
        key_info(&KeyEvent::new(code, modifiers), ReadKeyOptions::INCLUDE_KEY_DOWN)
    }

    #[test]
    fn keys_have_windows_key_codes() {
        let key = info(KeyCode::Char('a'), KeyModifiers::NONE);
        assert_eq!((key.virtual_key_code, key.character, key.key_down), (65, 97, true));
        let key = info(KeyCode::Char('A'), KeyModifiers::SHIFT);
        assert_eq!((key.virtual_key_code, key.character), (65, 65));
        assert!(key.control_key_state.contains(ControlKeyStates::SHIFT));
        let key = info(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!((key.virtual_key_code, key.character), (67, 3));
        assert!(is_interrupt(&KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
        assert_eq!(info(KeyCode::F(5), KeyModifiers::NONE).virtual_key_code, 116);
        assert_eq!(info(KeyCode::Up, KeyModifiers::NONE).virtual_key_code, 38);
        assert_eq!(info(KeyCode::Char('\u{1F600}'), KeyModifiers::NONE).character, 0xFFFD);
    }
}
