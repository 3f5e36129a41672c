//! Detects whether a typed script needs another line.

/// Returns whether another line is needed: a bracket or string is open, or the last line ends with a continuation.
///
/// It only knows PowerShell's strings, comments and brackets. Other syntax errors are reported by the server.
pub(crate) fn is_unfinished(script: &str) -> bool {
    // Closing characters of the open brackets.
    let mut brackets = Vec::new();
    let mut rest = script;
    // True if the previous character may belong to the same word.
    let mut in_word = false;
    // The script without spaces, comments and the contents of strings.
    let mut code = String::new();
    while let Some(char) = rest.chars().next() {
        rest = &rest[char.len_utf8()..];
        let was_in_word =
            std::mem::replace(&mut in_word, !char.is_whitespace() && !"(){}[];|&,".contains(char));
        let is_comment = char == '#' && !was_in_word;
        let is_block_comment = char == '<' && rest.starts_with('#');
        // End of an escape sequence, string or comment. A doubled quote counts as the end and start of a string.
        let end = match char {
            '`' => rest.chars().next().map(char::len_utf8),
            '\'' => rest.find(char).map(|at| at + 1),
            '"' => string_end(rest),
            '@' if is_here_string(rest) => {
                let end = if rest.starts_with('"') { "\n\"@" } else { "\n'@" };
                rest.find(end).map(|at| at + end.len())
            }
            '<' if is_block_comment => rest.find("#>").map(|at| at + 2),
            '#' if is_comment => Some(rest.find('\n').unwrap_or(rest.len())),
            // An unmatched closing bracket is reported by the server.
            ')' | '}' | ']' if brackets.pop() != Some(char) => return false,
            char => {
                brackets.extend(match char {
                    '(' => Some(')'),
                    '{' => Some('}'),
                    '[' => Some(']'),
                    _ => None,
                });
                Some(0)
            }
        };
        let Some(end) = end else { return true };
        if !(char.is_whitespace() || is_comment || is_block_comment) {
            code.push(char);
        }
        rest = &rest[end..];
    }
    !brackets.is_empty() || code.ends_with(['|', ',']) || code.ends_with("&&")
}

/// Returns the end of a string in double quotes, in which a backtick escapes the next character.
fn string_end(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some(at + 1),
            '`' => {
                chars.next();
            }
            _ => {}
        }
    }
    None
}

/// Returns whether a here-string starts after `@`: with a quote and an otherwise empty line.
fn is_here_string(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix(['\'', '"']) else { return false };
    !rest.is_empty() && rest.lines().next().is_none_or(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::is_unfinished;

    #[test]
    fn incomplete_scripts_are_unfinished() {
        for script in [
            "if ($true) {",
            "foreach ($i in 1..3) {\n  $i",
            "Get-Process |",
            "true && # and",
            "1,\n2, <# last #>",
            "Get-Process `",
            "'text",
            "\"a `\" b",
            "@(1,",
            "@'\ntext'",
            "@\"\n\"@ not yet\n",
            "<# comment",
            "$a[",
        ] {
            // A here-string ends where its end mark is at the start of a line.
            let ended = script.contains("\n\"@");
            assert_eq!(is_unfinished(script), !ended, "{script:?}");
        }
    }

    #[test]
    fn complete_scripts_are_finished() {
        for script in [
            "",
            "Get-Date",
            "if ($true) { 1 }",
            "'it''s { here'",
            "\"( `\" \"\"\"",
            "# a comment with {",
            "1 # |",
            "'a,'",
            "Start-Job &",
            "1 # (",
            "a#b",
            "<# { #> 1",
            "@'\n{ ' \"\n'@",
            "$a[0].b(1)",
            "}",
            "(}",
        ] {
            assert!(!is_unfinished(script), "{script:?}");
        }
    }
}
