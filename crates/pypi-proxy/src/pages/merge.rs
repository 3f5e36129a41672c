//! One page of those of several indexes.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::Entry;
use super::entry::Content;
use super::slot::{Known, Part, PartContent};
use crate::page::{Page, ProjectList};
use crate::rules::{FilteredPage, Rules};
use crate::{Error, ProjectName};

/// The page that clients get. A file of a name that several indexes have is that of the first; versions are the union.
fn merge(parts: &[(usize, Arc<Page>)]) -> Result<Arc<Page>, Error> {
    match parts {
        [(_, page)] => Ok(page.clone()),
        parts => Page::merge(parts.iter().map(|(_, page)| &**page)).map(Arc::new),
    }
}

/// A copy of a cache that lags behind.
pub(super) fn is_older(new: &PartContent, old: Option<&PartContent>) -> bool {
    let serial = |content: &PartContent| match content {
        PartContent::Project(page) => page.last_serial(),
        PartContent::List(_) => None,
    };
    matches!((serial(new), old.and_then(serial)), (Some(new), Some(old)) if new < old)
}

/// What clients get of what the indexes have, and for how long that may be so.
pub(super) fn combine(
    parts: &[Part],
    name: Option<&ProjectName>,
    rules: Option<&Rules>,
) -> Result<(Known, Duration), Error> {
    let mut projects = Vec::new();
    let mut lists = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match (&part.content, rules) {
            (Some(PartContent::Project(page)), _) => projects.push((index, page.clone())),
            (Some(PartContent::List(list)), None) => lists.push(list.clone()),
            (Some(PartContent::List(list)), Some(rules)) => lists.push(rules.list(list.clone(), index)?),
            (None, _) => {}
        }
    }
    let mut modified = parts.iter().filter_map(|part| part.modified).max();
    let mut time = Duration::MAX;
    let content = match (projects.is_empty(), &lists[..]) {
        (false, _) => {
            let mut merged = merge(&projects)?;
            if let (Some(rules), Some(name)) = (rules, name) {
                let now = SystemTime::now();
                let FilteredPage { page, next, last } = rules.page(name, merged, now)?;
                merged = page;
                modified = modified.max(last);
                time = next.and_then(|next| next.duration_since(now).ok()).unwrap_or(time);
            }
            Content::Project { merged, parts: projects }
        }
        (true, []) => return Ok((Known::Missing, time)),
        (true, [list]) => Content::List(list.clone()),
        (true, lists) => Content::List(Arc::new(ProjectList::merge(lists.iter().map(|list| &**list))?)),
    };
    let modified = modified.unwrap_or_else(SystemTime::now);
    Ok((Known::Page(Arc::new(Entry::new(content, modified))), time))
}
