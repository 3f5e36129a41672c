//! Escaping of remote text for terminals.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Makes remote text safe for a terminal: replaces control characters by visible escapes.
///
/// Escape sequences in remote text could recolour or clear the screen, rename the window, or make one line look like
/// another. All control characters except tab and line feed become `\u{1b}` and the like, and so do the characters that
/// change the direction of writing. The carriage return of CR LF is dropped. PowerShell colours its own output with
/// such sequences (`$PSStyle`); these become visible as text too.
///
/// ```
/// assert_eq!(psrp::terminal_safe("done\r\n\x1b]0;title\x07"), "done\n\\u{1b}]0;title\\u{7}");
/// assert!(matches!(psrp::terminal_safe("plain"), std::borrow::Cow::Borrowed("plain")));
/// ```
pub fn terminal_safe(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_unsafe) else { return Cow::Borrowed(text) };
    let mut safe = String::with_capacity(text.len() + 16);
    safe.push_str(&text[..first]);
    let mut chars = text[first..].chars().peekable();
    while let Some(char) = chars.next() {
        if char == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        if is_unsafe(char) {
            let _ = write!(safe, "\\u{{{:x}}}", u32::from(char));
        } else {
            safe.push(char);
        }
    }
    Cow::Owned(safe)
}

fn is_unsafe(char: char) -> bool {
    match char {
        '\t' | '\n' => false,
        // Bidirectional marks, embeddings, overrides and isolates; line and paragraph separators.
        '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        _ => char.is_control(),
    }
}
