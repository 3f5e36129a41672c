//! Names in the conventions of the languages.

/// Splits a name at other characters than letters and digits, and where an upper-case letter starts a word.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    let chars: Vec<char> = name.chars().collect();
    for (index, c) in chars.iter().copied().enumerate() {
        let is_next_lower = chars.get(index + 1).is_some_and(|next| next.is_ascii_lowercase());
        // `HTTPServer` has the words `HTTP` and `Server`.
        let starts = !last.is_ascii_alphanumeric()
            || c.is_ascii_uppercase() && (!last.is_ascii_uppercase() || is_next_lower);
        if c.is_ascii_alphanumeric() {
            match words.last_mut() {
                Some(word) if !starts => word.push(c),
                _ => words.push(c.into()),
            }
        }
        last = c;
    }
    words
}

/// Returns a name such as `UserName`. A name that starts with a digit gets a prefix.
pub(crate) fn pascal(name: &str) -> String {
    let words = words(name).into_iter().map(|word| {
        let (first, rest) = word.split_at(1);
        let is_upper = word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        first.to_ascii_uppercase() + &if is_upper { rest.to_ascii_lowercase() } else { rest.to_owned() }
    });
    prefixed(words.collect(), "Field")
}

/// Returns a name such as `userName`.
pub(crate) fn camel(name: &str) -> String {
    let name = pascal(name);
    let (first, rest) = name.split_at(name.len().min(1));
    first.to_ascii_lowercase() + rest
}

/// Returns a name such as `user_name`.
pub(crate) fn snake(name: &str) -> String {
    prefixed(words(name).join("_").to_ascii_lowercase(), "field_")
}

fn prefixed(name: String, prefix: &str) -> String {
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("{prefix}{name}") } else { name }
}

/// Returns a string literal of all three languages. Go rejects a byte order mark inside of a file.
pub(crate) fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{feff}', "\\ufeff")
}

/// Returns the names of fields in a convention. Equal names get a number, reserved words an underscore. A name without letters
/// and digits becomes `field`.
pub(crate) fn unique<'a>(
    names: impl Iterator<Item = &'a str>,
    convention: fn(&str) -> String,
    reserved: &[&str],
) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    for name in names {
        let mut base = convention(name);
        if base.is_empty() {
            base = convention("field");
        }
        if reserved.contains(&&*base) {
            base.push('_');
        }
        let numbered = (2..).map(|number| format!("{base}{number}"));
        let name = [base.clone()].into_iter().chain(numbered).find(|name| !list.contains(name));
        list.extend(name);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_conventions() {
        for (name, upper, lower, underscored) in [
            ("user_name", "UserName", "userName", "user_name"),
            ("HTTPServer2", "HttpServer2", "httpServer2", "http_server2"),
            ("Pair<u8, Option<bool>>", "PairU8OptionBool", "pairU8OptionBool", "pair_u8_option_bool"),
            ("0", "Field0", "field0", "field_0"),
            ("kebab-case", "KebabCase", "kebabCase", "kebab_case"),
        ] {
            assert_eq!((&*pascal(name), &*camel(name), &*snake(name)), (upper, lower, underscored));
        }
        let names = unique(["class", "a-b", "a_b", "_"].into_iter(), snake, &["class"]);
        assert_eq!(names, ["class_", "a_b", "a_b2", "field"]);
    }
}
