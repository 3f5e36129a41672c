//! The arithmetic of codes.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Category;

const SERVICE: i64 = 100_000;
const CATEGORY: i64 = 1_000;

/// A business error code, `service * 100_000 + category * 1_000 + sequence`.
///
/// Any integer is a code: services written in other languages send what they like, and the parts of such a number
/// are still defined. [`from_parts`](Self::from_parts) makes only numbers whose parts are in range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(i64);

impl Code {
    /// The code of success.
    pub const SUCCESS: Self = Self(0);
    /// The largest service number that [`from_parts`](Self::from_parts) takes.
    pub const MAX_SERVICE: u32 = 99;
    /// The largest category number that [`from_parts`](Self::from_parts) takes.
    pub const MAX_CATEGORY: u32 = 99;
    /// The largest sequence number that [`from_parts`](Self::from_parts) takes.
    pub const MAX_SEQUENCE: u32 = 999;

    /// Takes a number as it is.
    pub const fn new(code: i64) -> Self {
        Self(code)
    }

    /// Composes a code; `None` when a part is out of its range.
    pub const fn from_parts(service: u32, category: u32, sequence: u32) -> Option<Self> {
        if service > Self::MAX_SERVICE || category > Self::MAX_CATEGORY || sequence > Self::MAX_SEQUENCE {
            return None;
        }
        Some(Self(service as i64 * SERVICE + category as i64 * CATEGORY + sequence as i64))
    }

    /// The number itself.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The service, category and sequence numbers.
    pub const fn parts(self) -> (i64, i64, i64) {
        (self.service(), self.category(), self.sequence())
    }

    /// The number of the service.
    pub const fn service(self) -> i64 {
        self.0 / SERVICE
    }

    /// The number of the category; [`known_category`](Self::known_category) gives its meaning.
    pub const fn category(self) -> i64 {
        self.0 % SERVICE / CATEGORY
    }

    /// The sequence number within service and category.
    pub const fn sequence(self) -> i64 {
        self.0 % CATEGORY
    }

    /// The category, where its number has a meaning. Success is no category.
    pub const fn known_category(self) -> Option<Category> {
        Category::from_number(self.category())
    }

    /// Whether this is the code of success.
    pub const fn is_success(self) -> bool {
        self.0 == 0
    }

    /// Whether the caller is to blame: categories 1 to 6.
    pub const fn is_client_error(self) -> bool {
        matches!(self.category(), 1..=6)
    }

    /// Whether the service is to blame: categories 7 to 12.
    pub const fn is_server_error(self) -> bool {
        matches!(self.category(), 7..=12)
    }

    /// The HTTP status that follows from the number alone: 200 for success, otherwise that of the category, and
    /// 500 for a category without a meaning.
    ///
    /// [`Registry::http_status`](super::Registry::http_status) also knows what was registered.
    pub const fn http_status(self) -> u16 {
        if self.is_success() {
            return 200;
        }
        match self.known_category() {
            Some(category) => category.http_status(),
            None => 500,
        }
    }
}

impl From<i64> for Code {
    fn from(code: i64) -> Self {
        Self(code)
    }
}

impl From<Code> for i64 {
    fn from(code: Code) -> Self {
        code.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
