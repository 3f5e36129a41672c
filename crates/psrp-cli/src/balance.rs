//! Whether a script that is typed has ended.

/// What is open at a place of a script.
enum Open {
    /// A bracket, and what closes it.
    Bracket(char),
    /// A string, and what ends it.
    Quote(char),
    /// A string over several lines, and what ends it.
    Here(char),
    /// `<# .. #>`.
    Comment,
}

/// Whether more has to follow: a bracket or string is open, or the last line goes on.
///
/// This knows strings, comments and brackets of PowerShell, not its grammar: what is wrong otherwise is for the server to
/// tell.
pub(crate) fn is_unfinished(script: &str) -> bool {
    let mut open: Vec<Open> = Vec::new();
    let mut chars = script.char_indices().peekable();
    // Whether the character before may be a part of the same word.
    let mut in_word = false;
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let was_in_word =
            std::mem::replace(&mut in_word, !char.is_whitespace() && !"(){}[];|&,".contains(char));
        match open.last() {
            Some(Open::Quote(quote)) => {
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
            Some(Open::Here(quote)) => {
                if char == '\n' && script[at + 1..].starts_with([*quote]) && script[at + 2..].starts_with('@')
                {
                    chars.next();
                    chars.next();
                    open.pop();
                }
                continue;
            }
            Some(Open::Comment) => {
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
            '\'' | '"' => open.push(Open::Quote(char)),
            '@' if matches!(next, Some('\'' | '"')) && begins_here_string(&script[at + 2..]) => {
                chars.next();
                open.push(Open::Here(next.unwrap_or(char)));
            }
            '<' if next == Some('#') => {
                chars.next();
                open.push(Open::Comment);
            }
            '#' if !was_in_word => while chars.next_if(|(_, char)| *char != '\n').is_some() {},
            '(' => open.push(Open::Bracket(')')),
            '{' => open.push(Open::Bracket('}')),
            '[' => open.push(Open::Bracket(']')),
            ')' | '}' | ']' => {
                // One that closes nothing is for the server to complain about.
                match open.pop() {
                    Some(Open::Bracket(close)) if close == char => {}
                    _ => return false,
                }
            }
            _ => {}
        }
    }
    !open.is_empty() || script.trim_end().ends_with('|')
}

/// Whether nothing follows on the line: only then a string over several lines begins.
fn begins_here_string(rest: &str) -> bool {
    rest.split('\n').next().is_some_and(|line| line.trim().is_empty()) && !rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::is_unfinished;

    #[test]
    fn open_scripts_go_on() {
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
            // A string over several lines ends where its mark begins a line.
            let ended = script.contains("\n\"@");
            assert_eq!(is_unfinished(script), !ended, "{script:?}");
        }
    }

    #[test]
    fn whole_scripts_do_not() {
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
