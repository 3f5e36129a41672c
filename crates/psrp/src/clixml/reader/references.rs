//! What the identifiers of a document stand for.

use std::collections::HashMap;

/// How far an identifier may be ahead of those seen before to have its place in the list. A document buys no more empty
/// places than that with one identifier.
const AHEAD: usize = 4;

/// Values by identifier. Identifiers are opaque texts, but nearly all documents count from zero: those are found by
/// position.
pub(super) struct Table<T> {
    counted: Vec<Option<T>>,
    others: HashMap<Box<str>, T>,
}

impl<T> Table<T> {
    pub(super) fn new() -> Self {
        Self { counted: Vec::new(), others: HashMap::new() }
    }

    pub(super) fn clear(&mut self) {
        self.counted.clear();
        self.others.clear();
    }

    /// Puts a value in the place of an identifier, and tells the place. What was there before is gone.
    pub(super) fn insert(&mut self, id: &str, value: T) -> Id {
        match number(id) {
            Some(index) if index < self.counted.len() + AHEAD => {
                if index >= self.counted.len() {
                    self.counted.resize_with(index + 1, || None);
                }
                self.counted[index] = Some(value);
                Id::Counted(index)
            }
            _ => {
                self.others.insert(id.into(), value);
                Id::Other(id.into())
            }
        }
    }

    pub(super) fn get(&self, id: &str) -> Option<&T> {
        // A number that was far ahead when it was defined stands among the others. Once the list has reached it, new
        // definitions go to the list, and the list is asked first.
        number(id)
            .and_then(|index| self.counted.get(index))
            .and_then(Option::as_ref)
            .or_else(|| if self.others.is_empty() { None } else { self.others.get(id) })
    }

    /// The value in a place that was filled before.
    pub(super) fn get_mut(&mut self, id: &Id) -> Option<&mut T> {
        match id {
            Id::Counted(index) => self.counted.get_mut(*index)?.as_mut(),
            Id::Other(id) => self.others.get_mut(id),
        }
    }
}

/// A place in a table.
pub(super) enum Id {
    Counted(usize),
    Other(Box<str>),
}

/// The number that a text is the usual decimal form of.
fn number(id: &str) -> Option<usize> {
    let digits = id.as_bytes();
    match digits {
        [b'0'] => Some(0),
        [b'1'..=b'9', rest @ ..] if rest.len() < 9 => digits.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + usize::from(digit - b'0'))
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_texts() {
        let mut table = Table::new();
        for (value, id) in ["0", "00", "7", "+7", "RefId-0", "", "4000000000", "99999999999999999999"]
            .into_iter()
            .enumerate()
        {
            table.insert(id, value);
            assert_eq!(table.get(id), Some(&value), "{id}");
        }
        assert_eq!(table.get("0"), Some(&0));
        assert_eq!(table.get("1"), None);
        assert_eq!(table.get("07"), None);
        assert!(table.counted.len() <= AHEAD);
    }

    #[test]
    fn the_last_definition_holds_also_when_counting_catches_up() {
        let mut table = Table::new();
        table.insert("5", 'a');
        for id in ["0", "1", "2", "3", "4"] {
            table.insert(id, 'x');
        }
        assert_eq!(table.get("5"), Some(&'a'));
        table.insert("5", 'b');
        assert_eq!(table.get("5"), Some(&'b'));
    }
}
