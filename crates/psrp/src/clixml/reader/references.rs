//! Tables of objects and type names by identifier.

use std::collections::HashMap;

/// Maximum number of empty entries that one identifier may add to the list. Limits the memory that a malicious document
/// can allocate with one large identifier.
const MAX_GAP: usize = 4;

/// Values by identifier. Identifiers are arbitrary strings, but nearly all documents count from zero; these are stored
/// in a list.
pub(super) struct Table<T> {
    counted: Vec<Option<T>>,
    others: HashMap<Box<str>, T>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { counted: Vec::new(), others: HashMap::new() }
    }
}

impl<T> Table<T> {
    pub(super) fn clear(&mut self) {
        self.counted.clear();
        self.others.clear();
    }

    /// Inserts or replaces the value of an identifier and returns its key.
    pub(super) fn insert(&mut self, id: &str, value: T) -> Id {
        match number(id) {
            Some(index) if index < self.counted.len() + MAX_GAP => {
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
        // A number with a large gap is in `others`. When the list reaches it later, new definitions go to the list,
        // which is searched first.
        number(id)
            .and_then(|index| self.counted.get(index))
            .and_then(Option::as_ref)
            .or_else(|| if self.others.is_empty() { None } else { self.others.get(id) })
    }

    /// Returns the value of a key returned by [`insert`](Self::insert).
    pub(super) fn get_mut(&mut self, id: &Id) -> Option<&mut T> {
        match id {
            Id::Counted(index) => self.counted.get_mut(*index)?.as_mut(),
            Id::Other(id) => self.others.get_mut(id),
        }
    }
}

/// Key of an entry.
pub(super) enum Id {
    Counted(usize),
    Other(Box<str>),
}

/// Parses the canonical decimal form of a number below one billion.
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
    fn identifiers_are_compared_as_text() {
        let mut table = Table::default();
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
        assert!(table.counted.len() <= MAX_GAP);
    }

    #[test]
    fn the_last_definition_wins_after_the_list_catches_up() {
        let mut table = Table::default();
        table.insert("5", 'a');
        for id in ["0", "1", "2", "3", "4"] {
            table.insert(id, 'x');
        }
        assert_eq!(table.get("5"), Some(&'a'));
        table.insert("5", 'b');
        assert_eq!(table.get("5"), Some(&'b'));
    }
}
