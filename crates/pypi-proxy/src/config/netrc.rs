//! Users and passwords that are kept in a file for all programs.

/// The user and the password for a host.
pub(super) fn lookup(text: &str, host: &str) -> Option<(String, String)> {
    let mut words = words(text);
    let mut fallback = None;
    let mut word = words.next();
    while let Some(key) = word {
        word = words.next();
        let machine = match (key.as_str(), word.take()) {
            ("machine", Some(name)) => {
                word = words.next();
                Some(name)
            }
            ("default", next) => {
                word = next;
                None
            }
            (_, next) => {
                word = next;
                continue;
            }
        };
        let (mut login, mut password) = (None, None);
        while let Some(key) = word.take() {
            let slot = match key.as_str() {
                "login" | "user" => &mut login,
                "password" => &mut password,
                "account" => &mut None,
                _ => {
                    word = Some(key);
                    break;
                }
            };
            *slot = words.next();
            word = words.next();
        }
        let both = login.map(|login| (login, password.unwrap_or_default()));
        match machine {
            Some(name) if name.eq_ignore_ascii_case(host) => return both,
            Some(_) => {}
            None => fallback = fallback.or(both),
        }
    }
    fallback
}

/// Words, some of them in quotes; without comments and macros.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut out = Vec::new();
    let mut in_macro = false;
    for line in text.lines() {
        if in_macro {
            // An empty line ends it.
            in_macro = !line.trim().is_empty();
            continue;
        }
        let mut rest = line.trim_start();
        // A password may begin with the sign of a comment.
        while !(rest.is_empty() || rest.starts_with('#') && out.last().is_none_or(|last| last != "password"))
        {
            let (word, behind) = word(rest);
            in_macro |= word == "macdef";
            out.push(word);
            rest = behind.trim_start();
        }
    }
    out.into_iter()
}

fn word(text: &str) -> (String, &str) {
    let is_quoted = text.starts_with('"');
    let mut chars = text.char_indices().skip(usize::from(is_quoted));
    let mut out = String::new();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => out.extend(chars.next().map(|(_, char)| char)),
            '"' if is_quoted => return (out, &text[at + 1..]),
            char if !is_quoted && char.is_whitespace() => return (out, &text[at..]),
            char => out.push(char),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn both(user: &str, password: &str) -> Option<(String, String)> {
        Some((user.into(), password.into()))
    }

    #[test]
    fn a_host_has_its_user_and_password() {
        let text = "# a comment\nmachine a.example.org login me password #x\nmachine b.example.org\n  login \"my self\"\n\
                    \taccount z password p\\ w\nmacdef init\ncd machine c.example.org\n\ndefault login any password none";
        assert_eq!(lookup(text, "A.example.org"), both("me", "#x"));
        assert_eq!(lookup(text, "b.example.org"), both("my self", "p w"));
        assert_eq!(lookup(text, "c.example.org"), both("any", "none"));
        assert_eq!(lookup("machine a.example.org", "a.example.org"), None);
        assert_eq!(lookup("machine a login b machine c login d password e", "c"), both("d", "e"));
        assert_eq!(lookup("", "a"), None);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "((machine|default|login|password|account|macdef|[a-z\"\\\\#]{0,4})[ \n]?){0,30}") {
            let _ = lookup(&text, "a");
        }
    }
}
