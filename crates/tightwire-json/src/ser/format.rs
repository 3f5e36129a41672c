//! White space, escapes and floats as a program wants them.

use std::fmt::Write as _;

use crate::grammar::{is_delimiter, is_space, string_len};
use crate::scan::{Structure, Tokens};

/// Format of a document: its white space, the escapes of its strings, and the text of its floats.
///
/// [`Codec::to_string_formatted`](crate::Codec::to_string_formatted) encodes a value in a format. The document is first
/// encoded without white space, then copied. The methods are called for each part of it, in the order of the text.
///
/// # Examples
///
/// ```
/// use tightwire_json::{Codec, Format, json};
///
/// struct Report;
///
/// impl Format for Report {
///     fn is_on_one_line(&self, compact: &str) -> bool {
///         compact.starts_with('[') && compact.len() <= 40
///     }
///
///     fn is_ascii(&self) -> bool {
///         true
///     }
///
///     fn push_float(&self, out: &mut String, text: &str) {
///         out.push_str(&format!("{:.2}", text.parse::<f64>().unwrap_or_default()));
///     }
/// }
///
/// let value = json!({"city": "Zürich", "point": [47.3769, 8.5417, 408]});
/// let expected = r#"{
///   "city": "Z\u00fcrich",
///   "point": [47.38, 8.54, 408]
/// }"#;
/// assert_eq!(Codec::strict().to_string_formatted(&value, &Report)?, expected);
/// # Ok::<(), tightwire_json::Error>(())
/// ```
pub trait Format {
    /// Returns the indentation of one level. It must be white space as defined by RFC 8259. Default: two spaces.
    fn indentation(&self) -> &str {
        "  "
    }

    /// Returns whether an array or object is written on one line, with all that it contains. `compact` is its text before
    /// the format is applied. Empty ones always are. Default: `false`.
    fn is_on_one_line(&self, compact: &str) -> bool {
        _ = compact;
        false
    }

    /// Returns whether all characters beyond ASCII are written as `\u` escapes. Default: `false`.
    fn is_ascii(&self) -> bool {
        false
    }

    /// Appends a number that has a fraction or an exponent in `text`, its text before the format is applied. The appended text
    /// must be a number. Default: the same text.
    ///
    /// [`Mode::Compat`](crate::Mode::Compat) and [`Mode::Canonical`](crate::Mode::Canonical) write floats without a fraction
    /// as integers.
    fn push_float(&self, out: &mut String, text: &str) {
        out.push_str(text);
    }
}

/// Returns the document `compact` in a format. It may contain raw values with white space.
pub(crate) fn format(compact: &str, format: &(impl Format + ?Sized)) -> String {
    let bytes = compact.as_bytes();
    let mut out = String::with_capacity(compact.len() * 2);
    let mut ends = ends(bytes).into_iter();
    // Whether each open array or object is on one line.
    let mut open: Vec<bool> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let len = match byte {
            b'"' => string_len(rest),
            _ if is_delimiter(byte) => Some(1),
            _ => rest.iter().position(|byte| is_delimiter(*byte)),
        };
        let token = &compact[at..at + len.unwrap_or(rest.len())];
        match byte {
            _ if is_space(byte) => {}
            b'{' | b'[' => {
                let end = ends.next().unwrap_or(at);
                let content = compact.get(at + 1..end).unwrap_or_default().trim_ascii();
                let is_on_one_line = open.last() == Some(&true)
                    || content.is_empty()
                    || format.is_on_one_line(compact.get(at..=end).unwrap_or_default());
                open.push(is_on_one_line);
                out.push_str(token);
                if !is_on_one_line {
                    push_line(&mut out, open.len(), format);
                }
            }
            b'}' | b']' => {
                if open.pop() == Some(false) {
                    push_line(&mut out, open.len(), format);
                }
                out.push_str(token);
            }
            b',' => {
                out.push_str(token);
                match open.last() {
                    Some(false) => push_line(&mut out, open.len(), format),
                    _ => out.push(' '),
                }
            }
            b':' => out.push_str(": "),
            b'"' if format.is_ascii() => push_ascii(&mut out, token),
            b'-' | b'0'..=b'9' if token.contains(['.', 'e', 'E']) => format.push_float(&mut out, token),
            _ => out.push_str(token),
        }
        at += token.len();
    }
    out
}

/// Returns the offset of the closing bracket of each array and object, in the order of the opening brackets.
fn ends(document: &[u8]) -> Vec<usize> {
    let (mut ends, mut open) = (Vec::new(), Vec::new());
    Structure::default().search(document, |start, Tokens { mut brackets, .. }| {
        while brackets != 0 {
            let at = start + brackets.trailing_zeros() as usize;
            brackets &= brackets - 1;
            if matches!(document[at], b'{' | b'[') {
                open.push(ends.len());
                ends.push(at);
            } else if let Some(index) = open.pop() {
                ends[index] = at;
            }
        }
        None::<()>
    });
    ends
}

fn push_line(out: &mut String, level: usize, format: &(impl Format + ?Sized)) {
    out.push('\n');
    (0..level).for_each(|_| out.push_str(format.indentation()));
}

/// Appends a string with `\u` escapes in place of all characters beyond ASCII.
fn push_ascii(out: &mut String, string: &str) {
    for char in string.chars() {
        if char.is_ascii() {
            out.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
}
