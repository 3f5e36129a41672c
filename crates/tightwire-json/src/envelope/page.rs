//! One page of a list.

use serde::{Deserialize, Serialize};

/// The data of a paged answer. `L` is anything that serializes as a list: a `Vec`, a slice, an array.
///
/// All fields are always on the wire, in this order.
///
/// ```
/// use tightwire_json::envelope::PageData;
/// let page = PageData::new(["Ada", "Alan"], 41, 1, 20);
/// assert_eq!(page.total_pages, 3);
/// assert_eq!(
///     tightwire_json::to_string(&page)?,
///     r#"{"list":["Ada","Alan"],"total":41,"page":1,"page_size":20,"total_pages":3}"#
/// );
/// # Ok::<(), tightwire_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageData<L> {
    /// The elements of this page.
    pub list: L,
    /// How many elements there are on all pages.
    pub total: u64,
    /// The number of this page; the first is 1.
    pub page: u64,
    /// How many elements a full page has.
    pub page_size: u64,
    /// How many pages there are.
    pub total_pages: u64,
}

impl<L> PageData<L> {
    /// Counts the pages: `total / page_size` rounded up, and none where `page_size` is 0.
    pub fn new(list: L, total: u64, page: u64, page_size: u64) -> Self {
        let total_pages = if page_size == 0 { 0 } else { total.div_ceil(page_size) };
        Self { list, total, page, page_size, total_pages }
    }
}
