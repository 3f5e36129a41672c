//! Text from the server as the terminal gets it.

use std::borrow::Cow;

use psrp::terminal_safe;

/// Makes remote text safe for the terminal. Colour sequences (SGR, as `$PSStyle` has them) are kept with `colors` and
/// removed without; all other control characters are [escaped](terminal_safe). Colours end with the text.
pub(crate) fn printable(text: &str, colors: bool) -> Cow<'_, str> {
    if !text.contains(START) {
        return terminal_safe(text);
    }
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut is_colored) = (text, false);
    while let Some((length, codes)) = next_sequence(rest) {
        let (before, after) = rest.split_at(length);
        out += &terminal_safe(before);
        rest = &after[START.len() + codes.len() + 1..];
        if colors {
            out.extend([START, codes, "m"]);
            is_colored = !matches!(codes.rsplit(';').next(), Some("" | "0"));
        }
    }
    out += &terminal_safe(rest);
    if is_colored {
        out += "\x1b[0m";
    }
    Cow::Owned(out)
}

const START: &str = "\x1b[";

/// Returns the offset and the codes of the first colour sequence.
fn next_sequence(text: &str) -> Option<(usize, &str)> {
    text.match_indices(START).find_map(|(at, _)| {
        let after = &text[at + START.len()..];
        let length = after.find(|char: char| !matches!(char, '0'..='9' | ';' | ':'))?;
        after[length..].starts_with('m').then(|| (at, &after[..length]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_kept_or_removed_and_the_rest_is_escaped() {
        for (text, plain, colored) in [
            ("plain", "plain", "plain"),
            ("\x1b[31;1mred\x1b[0m!", "red!", "\x1b[31;1mred\x1b[0m!"),
            ("\x1b[38;2;1;2;3mopen", "open", "\x1b[38;2;1;2;3mopen\x1b[0m"),
            ("\x1b[32ma\r\nb\x1b[m\r\n", "a\nb\n", "\x1b[32ma\nb\x1b[m\n"),
            ("\x1b[2J\x1b[4:3mx\x1b[1;0m", "\\u{1b}[2Jx", "\\u{1b}[2J\x1b[4:3mx\x1b[1;0m"),
            ("\x1b[31", "\\u{1b}[31", "\\u{1b}[31"),
            ("\u{9b}31mx", "\\u{9b}31mx", "\\u{9b}31mx"),
        ] {
            assert_eq!(printable(text, false), plain);
            assert_eq!(printable(text, true), colored);
        }
    }
}
