//! Indentation of a compact document.

/// Appends `compact` with one line per element and entry, each indented by `unit` per level. Empty arrays and objects
/// stay on one line.
pub(crate) fn indent(out: &mut Vec<u8>, compact: &[u8], unit: &str) {
    let mut level = 0;
    let mut rest = compact;
    while let Some((byte, remaining)) = rest.split_first() {
        rest = remaining;
        match byte {
            b'"' => {
                let len = string_len(rest);
                out.push(b'"');
                out.extend_from_slice(&rest[..len]);
                rest = &rest[len..];
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
            // Only raw values contain white space.
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => out.push(*byte),
        }
    }
}

/// Returns the length of the rest of a string, including its closing quote.
fn string_len(rest: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match rest.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return rest.len(),
        }
    }
}

fn line(out: &mut Vec<u8>, unit: &str, level: usize) {
    out.push(b'\n');
    for _ in 0..level {
        out.extend_from_slice(unit.as_bytes());
    }
}
