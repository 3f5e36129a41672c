//! One page of those of several indexes.

use std::sync::Arc;

use crate::Error;
use crate::page::Page;

/// The page that clients get. A file of a name that several indexes have is that of the first; versions are the union.
pub(super) fn merge(parts: &[(usize, Arc<Page>)]) -> Result<Arc<Page>, Error> {
    match parts {
        [(_, page)] => Ok(page.clone()),
        parts => Page::merge(parts.iter().map(|(_, page)| &**page)).map(Arc::new),
    }
}
