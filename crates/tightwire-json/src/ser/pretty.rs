//! Indentation of a compact document.

use super::raw::MARK;
use crate::de::string_len;

/// Appends `compact` with one line per element and entry, each indented by `unit` per level. Empty arrays and objects
/// stay on one line. Text between two [`MARK`]s is copied.
pub(crate) fn indent(out: &mut Vec<u8>, compact: &[u8], unit: &str) {
    let mut level = 0;
    let mut rest = compact;
    while let Some((byte, remaining)) = rest.split_first() {
        if *byte == b'"' {
            // Only an invalid raw value has an open string.
            let (string, behind) = rest.split_at(string_len(rest).unwrap_or(rest.len()));
            out.extend_from_slice(string);
            rest = behind;
            continue;
        }
        rest = remaining;
        match byte {
            &MARK => {
                let end = memchr::memchr(MARK, rest).unwrap_or(rest.len());
                out.extend_from_slice(&rest[..end]);
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            b'{' | b'[' => {
                out.push(*byte);
                if let [close @ (b'}' | b']'), remaining @ ..] = rest {
                    out.push(*close);
                    rest = remaining;
                } else {
                    level += 1;
                    line(out, unit, level);
                }
            }
            b'}' | b']' => {
                level = usize::saturating_sub(level, 1);
                line(out, unit, level);
                out.push(*byte);
            }
            b',' => {
                out.push(b',');
                line(out, unit, level);
            }
            b':' => out.extend_from_slice(b": "),
            _ => out.push(*byte),
        }
    }
}

fn line(out: &mut Vec<u8>, unit: &str, level: usize) {
    out.push(b'\n');
    for _ in 0..level {
        out.extend_from_slice(unit.as_bytes());
    }
}
