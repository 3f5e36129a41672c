//! Indentation of a compact document, for styles whose keys are sorted in the compact document.

use super::style::{Pretty, Style as _};
use crate::grammar::string_len;

/// Returns the valid document `compact` with one line per element and entry. Empty arrays and objects stay on one line.
pub(super) fn indented(compact: &[u8], pretty: &Pretty<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len() * 2);
    let mut level = 0;
    let mut rest = compact;
    while let Some((byte, remaining)) = rest.split_first() {
        if *byte == b'"' {
            let (string, behind) = rest.split_at(string_len(rest).unwrap_or(rest.len()));
            out.extend_from_slice(string);
            rest = behind;
            continue;
        }
        rest = remaining;
        match byte {
            b'{' | b'[' => {
                out.push(*byte);
                if let [close @ (b'}' | b']'), remaining @ ..] = rest {
                    out.push(*close);
                    rest = remaining;
                } else {
                    level += 1;
                    pretty.push_line(&mut out, level);
                }
            }
            b'}' | b']' => {
                level = usize::saturating_sub(level, 1);
                pretty.push_line(&mut out, level);
                out.push(*byte);
            }
            b',' => {
                out.push(b',');
                pretty.push_line(&mut out, level);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(*byte),
        }
    }
    out
}
