//! Rules for text, for `#[garde(custom(...))]`. An empty text passes all of them; `required` or `length` refuse it.
//!
//! Elements of an `Option` or a list take a rule through `#[garde(inner(custom(...)))]`.

use std::sync::LazyLock;

use regex::Regex;

use super::messages;

macro_rules! rules {
    ($($(#[$doc:meta])* $name:ident = $holds:expr;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// When the text is not empty and breaks the rule.
            pub fn $name<C: ?Sized>(text: &str, _context: &C) -> garde::Result {
                let holds: fn(&str) -> bool = $holds;
                if text.is_empty() || holds(text) {
                    return Ok(());
                }
                Err(messages::error_of(stringify!($name)))
            }
        )*
    };
}

rules! {
    /// A mobile phone number of mainland China: 11 digits, the first 1, the second 3 to 9.
    mobile = |text| MOBILE.is_match(text);

    /// A resident identity card number: 17 digits with a date of birth inside, and a digit or `X`.
    /// The check digit is not verified.
    idcard = |text| IDCARD.is_match(text);

    /// A letter followed by 2 to 31 letters, digits and underscores, all ASCII.
    username = |text| USERNAME.is_match(text);

    /// At least 8 bytes with a letter and a digit.
    password = |text| text.len() >= 8 && has(text, char::is_alphabetic) && has(text, char::is_numeric);

    /// At least 8 bytes with an upper-case letter, a lower-case letter, a digit and a punctuation mark or symbol.
    strongpwd = |text| {
        text.len() >= 8
            && has(text, char::is_uppercase)
            && has(text, char::is_lowercase)
            && has(text, char::is_numeric)
            && has(text, |c| !c.is_alphanumeric() && !c.is_whitespace() && !c.is_control())
    };

    /// None of the fragments that script and SQL injections begin with, in upper or lower case. This refuses
    /// clumsy input early; it is no replacement for escaping and prepared statements.
    safestring = |text| {
        let text = text.to_lowercase();
        !UNSAFE_FRAGMENTS.iter().any(|fragment| text.contains(fragment))
    };

    /// No white space anywhere.
    nowhitespace = |text| !has(text, char::is_whitespace);

    /// No white space at either end.
    trimmed = |text| text.trim().len() == text.len();

    /// Lower-case letters and digits in groups separated by single hyphens, as in URLs.
    slug = |text| SLUG.is_match(text);
}

type Pattern = LazyLock<Regex>;

/// A pattern that is compiled when it is used first.
macro_rules! pattern {
    ($text:literal) => {
        LazyLock::new(|| Regex::new($text).expect("constant patterns compile, which tests show"))
    };
}

/// In lower case.
const UNSAFE_FRAGMENTS: [&str; 14] = [
    "<script",
    "</script>",
    "javascript:",
    "select ",
    "insert ",
    "update ",
    "delete ",
    "drop ",
    "union ",
    "or 1=1",
    "' or '",
    "-- ",
    "/*",
    "*/",
];

static MOBILE: Pattern = pattern!("^1[3-9][0-9]{9}$");
static IDCARD: Pattern =
    pattern!("^[1-9][0-9]{5}(18|19|20)[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx]$");
static USERNAME: Pattern = pattern!("^[a-zA-Z][a-zA-Z0-9_]{2,31}$");
static SLUG: Pattern = pattern!("^[a-z0-9]+(-[a-z0-9]+)*$");

fn has(text: &str, class: impl Fn(char) -> bool) -> bool {
    text.chars().any(class)
}
