//! Finds the fields of a JSON document without parsing their values.
//!
//! A page is passed on nearly unchanged. Only the positions of some fields are needed, so the scanner finds fields by
//! key and skips values, which is several times faster than parsing them. Everything it accepts is JSON, with two
//! exceptions: the caller has to check that the document is UTF-8, and a lone surrogate is detected only in strings
//! that are read.
//!
//! The scanner rejects some valid JSON: keys with escapes and objects with duplicate keys. It compares keys as bytes,
//! clients compare them as text, and clients disagree on which of two duplicate keys counts. Otherwise a document could
//! have a key that a client takes for one that was read or replaced here.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::Error;
use crate::error::Kind;

const MAX_DEPTH: usize = 64;

pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0 }
    }

    #[cold]
    pub(super) fn error(&self, what: &str) -> Error {
        Error::with(Kind::Page, what).at(self.position as u64)
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.position) {
            self.position += 1;
        }
    }

    /// Returns the next byte after white space, without consuming it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.skip_blanks();
        self.bytes.get(self.position).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.position += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.eat(byte) { Ok(()) } else { Err(self.error("unexpected character")) }
    }

    /// Parses an object. Calls `member` with each key while the scanner is in front of the value, which `member` must
    /// consume. Fails at a key with an escape and at a duplicate key.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.expect(b'{')?;
        if self.eat(b'}') {
            return Ok(());
        }
        let mut keys = Keys::default();
        loop {
            self.skip_blanks();
            let start = self.position;
            let key = self.string()?;
            let problem = if key.contains(&b'\\') {
                Some("a key with an escape")
            } else {
                (!keys.insert(key)).then_some("duplicate key")
            };
            if let Some(problem) = problem {
                self.position = start;
                return Err(self.error(problem));
            }
            self.expect(b':')?;
            member(self, key)?;
            if !self.eat(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Parses an array. Calls `item` with the scanner in front of each item, which `item` must consume.
    pub(super) fn array(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.expect(b'[')?;
        if self.eat(b']') {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.eat(b',') {
                return self.expect(b']');
            }
        }
    }

    /// Parses a string. Returns the bytes between the quotes, with escapes.
    fn string(&mut self) -> Result<&'a [u8], Error> {
        if self.bytes.get(self.position) != Some(&b'"') {
            return Err(self.error("expected a string"));
        }
        let start = self.position + 1;
        let mut at = start;
        loop {
            at += plain(&self.bytes[at..]);
            match self.bytes.get(at) {
                Some(b'"') => {
                    self.position = at + 1;
                    return Ok(&self.bytes[start..at]);
                }
                Some(b'\\') => match escape(&self.bytes[at + 1..]) {
                    Some(len) => at += 1 + len,
                    None => {
                        self.position = at;
                        return Err(self.error("invalid escape"));
                    }
                },
                None => {
                    self.position = self.bytes.len();
                    return Err(self.error("unterminated string"));
                }
                Some(_) => {
                    self.position = at;
                    return Err(self.error("control character in a string"));
                }
            }
        }
    }

    /// Parses a string and unescapes it. Fails if the next value is not a string or has invalid escapes.
    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, Error> {
        self.skip_blanks();
        let start = self.position;
        let raw = self.string()?;
        unescape(raw).ok_or_else(|| {
            self.position = start;
            self.error("invalid string")
        })
    }

    /// Skips a value and returns its position.
    pub(super) fn value(&mut self) -> Result<Range<usize>, Error> {
        self.skip_blanks();
        let start = self.position;
        self.skip(0)?;
        Ok(start..self.position)
    }

    pub(super) fn pass(&mut self) -> Result<(), Error> {
        self.skip(0)
    }

    /// Skips a value and returns its bytes.
    pub(super) fn raw(&mut self) -> Result<&'a [u8], Error> {
        let range = self.value()?;
        Ok(&self.bytes[range])
    }

    pub(super) fn slice(&self, place: &Range<usize>) -> Option<&'a str> {
        std::str::from_utf8(self.bytes.get(place.clone())?).ok()
    }

    fn skip(&mut self, depth: usize) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(|this, _| this.skip(depth + 1)),
            Some(b'[') => self.array(|this| this.skip(depth + 1)),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            Some(_) => self.number(),
            None => Err(self.error("unexpected end of the document")),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Error> {
        if !self.bytes[self.position..].starts_with(word) {
            return Err(self.error("invalid value"));
        }
        self.position += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Error> {
        let eat_sign = |this: &mut Self, signs: &[u8]| {
            this.position +=
                usize::from(this.bytes.get(this.position).is_some_and(|byte| signs.contains(byte)));
        };
        eat_sign(self, b"-");
        match self.bytes.get(self.position) {
            Some(b'0') => self.position += 1,
            _ => self.digits()?,
        }
        if self.bytes.get(self.position) == Some(&b'.') {
            self.position += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.position) {
            self.position += 1;
            eat_sign(self, b"+-");
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Error> {
        let count = self.bytes[self.position..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.error("invalid value"));
        }
        self.position += count;
        Ok(())
    }

    /// Fails unless only white space is left.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        if self.peek().is_some() { Err(self.error("data after the document")) } else { Ok(()) }
    }
}

/// Keys of one object. Most objects have few keys, and comparing them is faster than hashing.
#[derive(Default)]
struct Keys<'a> {
    few: [&'a [u8]; 16],
    count: usize,
    many: Option<HashSet<&'a [u8]>>,
}

impl<'a> Keys<'a> {
    fn insert(&mut self, key: &'a [u8]) -> bool {
        if self.few[..self.count].contains(&key) {
            return false;
        }
        match self.few.get_mut(self.count) {
            Some(place) => {
                *place = key;
                self.count += 1;
                true
            }
            None => self.many.get_or_insert_default().insert(key),
        }
    }
}

/// Returns the length of an escape after its backslash.
fn escape(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(1),
        b'u' => rest.get(1..5)?.iter().all(u8::is_ascii_hexdigit).then_some(5),
        _ => None,
    }
}

/// Returns the number of bytes before the first quote, backslash or control character.
///
/// Most strings have 10 to 70 bytes. Testing words of eight bytes without any setup is faster than searches optimized
/// for long texts.
fn plain(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGHS: u64 = ONES * 0x80;

    let mut count = 0;
    let mut words = bytes.chunks_exact(8);
    for word in words.by_ref() {
        let word = word.try_into().map_or(0, u64::from_le_bytes);
        // Sets the high bit of each byte that is zero (or below 0x20). Bits of later bytes may be wrong, but only the
        // first one is used.
        let zero = |word: u64| word.wrapping_sub(ONES) & !word;
        let quote = zero(word ^ (ONES * u64::from(b'"')));
        let backslash = zero(word ^ (ONES * u64::from(b'\\')));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let found = (quote | backslash | control) & HIGHS;
        if found != 0 {
            return count + found.trailing_zeros() as usize / 8;
        }
        count += 8;
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\') || *byte < b' ';
    count + words.remainder().iter().position(is_special).unwrap_or(words.remainder().len())
}

/// Parses an unsigned integer.
pub(super) fn number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Returns `None` if an escape is invalid.
fn unescape(raw: &[u8]) -> Option<Cow<'_, str>> {
    if !raw.contains(&b'\\') {
        return std::str::from_utf8(raw).ok().map(Cow::Borrowed);
    }
    let quoted = [b"\"", raw, b"\""].concat();
    tightwire_json::from_slice::<String>(&quoted).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_accepted(document: &str) -> bool {
        let mut scanner = Scanner::new(document.as_bytes());
        scanner.value().and_then(|_| scanner.end()).is_ok()
    }

    #[test]
    fn fields_are_found_by_position() {
        let document = br#" { "a" : [1, {"b": "x\"y"}] , "c":"d\u0065" } "#;
        let mut scanner = Scanner::new(document);
        let mut found = Vec::new();
        scanner
            .object(|scanner, key| {
                if key == b"c" {
                    found.push(scanner.text()?.into_owned());
                } else {
                    let span = scanner.value()?;
                    found.push(String::from_utf8_lossy(&document[span]).into_owned());
                }
                Ok(())
            })
            .unwrap();
        scanner.end().unwrap();
        assert_eq!(found, [r#"[1, {"b": "x\"y"}]"#, "de"]);
    }

    #[test]
    fn invalid_json_is_rejected() {
        let deep = "[".repeat(100_000);
        let wrong = [
            "", "{", "}", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "\"a", "\"a\\", "tru", "nul",
            "01", "1.", ".5", "1e", "--1", "+1", "[1]]", "\"a\nb\"",
        ];
        for document in wrong.into_iter().chain(["{\"a\":1,}", &deep]) {
            assert!(!is_accepted(document), "{}", &document[..document.len().min(20)]);
        }
        for document in ["0", "-0.5e+10", "[]", "{}", "[[],{}]", " null ", r#"{"a":{"b":[true,false,"\\"]}}"#]
        {
            assert!(is_accepted(document), "{document}");
        }
    }

    #[test]
    fn escaped_and_duplicate_keys_are_rejected_at_every_level() {
        let many: Vec<_> = (0..40).map(|number| format!("\"{number}\":0")).collect();
        for (around, behind) in [("", ""), ("[", "]"), (r#"{"x":"#, "}"), (r#"[{"x":[{"y":"#, "}]}]")] {
            let is_accepted = |object: &str| is_accepted(&format!("{around}{object}{behind}"));
            assert!(is_accepted(r#"{"a":"\u0061","b":"a"}"#));
            assert!(is_accepted(&format!("{{{}}}", many.join(","))));
            for key in [r"\u0061", r"\n", r#"\""#, r"\/", r"fil\u0065s", r"\ud800", r"\\"] {
                assert!(!is_accepted(&format!(r#"{{"{key}":1}}"#)), "{key}");
            }
            assert!(!is_accepted(r#"{"a":1,"b":2,"a":1}"#));
            assert!(!is_accepted(r#"{"":1,"":1}"#));
            for number in [0, 15, 16, 17, 39] {
                assert!(!is_accepted(&format!("{{{},\"{number}\":0}}", many.join(","))), "{number}");
            }
        }
    }

    proptest! {
        /// The scanner also rejects keys with escapes, which the pattern cannot generate, and duplicate keys, which
        /// it practically never generates.
        #[test]
        fn accepts_exactly_valid_json(document in r#"[\[\]{},:"a0.eE+ tfnrulsx-]{0,24}"#) {
            prop_assert_eq!(is_accepted(&document), tightwire_json::from_str::<tightwire_json::Value>(&document).is_ok());
        }
    }
}
