//! Lookup of credentials in a `.netrc` file.

/// Returns the user and password of the first entry that applies to a host: a `machine` entry with its name, or the
/// `default` entry.
///
/// Words are separated by white space; quotes, escapes and macros are not supported.
pub(super) fn lookup(text: &str, host: &str) -> Option<(String, String)> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let mut words = lines.flat_map(str::split_whitespace);
    let mut is_match = false;
    let (mut login, mut password) = (None, "");
    while let Some(word) = words.next() {
        match word {
            "machine" | "default" if is_match => break,
            "machine" => is_match = words.next().is_some_and(|name| name.eq_ignore_ascii_case(host)),
            "default" => is_match = true,
            "login" | "user" | "password" | "account" => {
                let value = words.next().unwrap_or_default();
                match word {
                    "login" | "user" if is_match => login = Some(value),
                    "password" if is_match => password = value,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    login.map(|login| (login.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn credentials(user: &str, password: &str) -> Option<(String, String)> {
        Some((user.into(), password.into()))
    }

    #[test]
    fn host_entry_or_default_entry_is_found() {
        let text = "# a comment\nmachine a.example.org login me password #x\nmachine b.example.org\n  login you\n\
                    \taccount z password pw\n# machine c.example.org\n\ndefault login any password none";
        assert_eq!(lookup(text, "A.example.org"), credentials("me", "#x"));
        assert_eq!(lookup(text, "b.example.org"), credentials("you", "pw"));
        assert_eq!(lookup(text, "c.example.org"), credentials("any", "none"));
        assert_eq!(lookup("machine a.example.org", "a.example.org"), None);
        assert_eq!(lookup("machine a login b machine c login d password e", "c"), credentials("d", "e"));
        assert_eq!(lookup("machine a login machine password login", "a"), credentials("machine", "login"));
        assert_eq!(lookup("", "a"), None);
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "((machine|default|login|password|account|[a-z\"\\\\#]{0,4})[ \n]?){0,30}") {
            let _ = lookup(&text, "a");
        }
    }
}
