//! Detects whether a typed script needs another line.

enum OpenToken {
    /// Bracket, with its closing character.
    Bracket(char),
    /// String, with its closing quote.
    Quote(char),
    /// Here-string, with its closing quote.
    Here(char),
    /// Block comment `<# .. #>`.
    Comment,
}

/// Returns whether another line is needed: a bracket or string is open, or the last line ends with a continuation.
///
/// It only knows PowerShell's strings, comments and brackets. Other syntax errors are reported by the server.
pub(crate) fn is_unfinished(script: &str) -> bool {
    let mut open: Vec<OpenToken> = Vec::new();
    let mut chars = script.char_indices().peekable();
    // True if the previous character may belong to the same word.
    let mut in_word = false;
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let was_in_word =
            std::mem::replace(&mut in_word, !char.is_whitespace() && !"(){}[];|&,".contains(char));
        match open.last() {
            Some(OpenToken::Quote(quote)) => {
                if char == '`' && *quote == '"' {
                    chars.next();
                } else if char == *quote {
                    if next == Some(char) {
                        chars.next();
                    } else {
                        open.pop();
                    }
                }
                continue;
            }
            Some(OpenToken::Here(quote)) => {
                if char == '\n' && script[at + 1..].starts_with([*quote]) && script[at + 2..].starts_with('@')
                {
                    chars.next();
                    chars.next();
                    open.pop();
                }
                continue;
            }
            Some(OpenToken::Comment) => {
                if char == '#' && next == Some('>') {
                    chars.next();
                    open.pop();
                }
                continue;
            }
            _ => {}
        }
        match char {
            '`' => {
                let Some(_) = chars.next() else { return true };
            }
            '\'' | '"' => open.push(OpenToken::Quote(char)),
            '@' if matches!(next, Some('\'' | '"')) && starts_here_string(&script[at + 2..]) => {
                chars.next();
                open.push(OpenToken::Here(next.unwrap_or(char)));
            }
            '<' if next == Some('#') => {
                chars.next();
                open.push(OpenToken::Comment);
            }
            '#' if !was_in_word => while chars.next_if(|(_, char)| *char != '\n').is_some() {},
            '(' => open.push(OpenToken::Bracket(')')),
            '{' => open.push(OpenToken::Bracket('}')),
            '[' => open.push(OpenToken::Bracket(']')),
            ')' | '}' | ']' => {
                // An unmatched closing bracket is reported by the server.
                match open.pop() {
                    Some(OpenToken::Bracket(close)) if close == char => {}
                    _ => return false,
                }
            }
            _ => {}
        }
    }
    !open.is_empty() || script.trim_end().ends_with('|')
}

/// Returns whether the rest of the line is empty, as required after the start of a here-string.
fn starts_here_string(rest: &str) -> bool {
    rest.split('\n').next().is_some_and(|line| line.trim().is_empty()) && !rest.is_empty()
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
