//! Merges the pages of several upstreams into one.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::RenderedPage;
use super::rendered::MergedContent;
use super::slot::{Content, UpstreamContent, UpstreamPage};
use crate::page::{Page, ProjectList};
use crate::rules::{FilteredPage, Rules};
use crate::{Error, ProjectName};

/// Merges pages. If several upstreams have a file of the same name, the first one wins; versions are united.
fn merge(parts: &[(usize, Arc<Page>)]) -> Result<Arc<Page>, Error> {
    match parts {
        [(_, page)] => Ok(page.clone()),
        parts => Page::merge(parts.iter().map(|(_, page)| &**page)).map(Arc::new),
    }
}

/// Returns whether the new page has a lower serial, which means that it comes from an outdated copy of the index.
pub(super) fn is_older(new: &UpstreamContent, old: Option<&UpstreamContent>) -> bool {
    let serial = |content: &UpstreamContent| match content {
        UpstreamContent::Project(page) => page.last_serial(),
        UpstreamContent::List(_) => None,
    };
    matches!((serial(new), old.and_then(serial)), (Some(new), Some(old)) if new < old)
}

/// Merges the pages of all upstreams and applies the rules. Returns the content and how long the result of the rules is
/// valid.
pub(super) fn combine(
    parts: &[UpstreamPage],
    name: Option<&ProjectName>,
    rules: Option<&Rules>,
) -> Result<(Content, Duration), Error> {
    let mut projects = Vec::new();
    let mut lists = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        match (&part.content, rules) {
            (Some(UpstreamContent::Project(page)), _) => projects.push((index, page.clone())),
            (Some(UpstreamContent::List(list)), None) => lists.push(list.clone()),
            (Some(UpstreamContent::List(list)), Some(rules)) => lists.push(rules.list(list.clone(), index)?),
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
            MergedContent::Project { merged, parts: projects }
        }
        (true, []) => return Ok((Content::NotFound, time)),
        (true, [list]) => MergedContent::List(list.clone()),
        (true, lists) => MergedContent::List(Arc::new(ProjectList::merge(lists.iter().map(|list| &**list))?)),
    };
    let modified = modified.unwrap_or_else(SystemTime::now);
    Ok((Content::Page(Arc::new(RenderedPage::new(content, modified))), time))
}
