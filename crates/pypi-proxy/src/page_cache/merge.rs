//! Merges the pages of several upstreams, and applies the rules to pages and files.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::document::Document;
use super::namespace::is_one_project;
use super::rendered::Origin;
use super::slot::{Content, UpstreamPage};
use super::{IndexStrategy, PageCache, RenderedPage};
use crate::error::Kind;
use crate::file_name;
use crate::page::{Details, Page, ProjectList};
use crate::rules::{FilteredPage, ProjectPattern, Removed, Rules, Violation};
use crate::upstream::Upstream;
use crate::{Error, ProjectName, system};

/// How the pages of several upstreams become one.
pub(super) struct Merging {
    pub(super) upstreams: Vec<Arc<Upstream>>,
    pub(super) strategy: IndexStrategy,
    /// Projects whose pages need not declare that they are the same project.
    pub(super) unchecked: Vec<ProjectPattern>,
    pub(super) rules: Arc<Rules>,
}

impl Merging {
    pub(super) fn with_rules(&self, rules: Rules) -> Self {
        let (upstreams, unchecked) = (self.upstreams.clone(), self.unchecked.clone());
        Self { upstreams, strategy: self.strategy, unchecked, rules: Arc::new(rules) }
    }

    /// Merges the pages of a project. Returns the page, and the names of the files that are hidden because an earlier
    /// upstream has their version. Of files with the same name, the first one wins; lists of versions are united.
    fn merge(
        &self,
        name: Option<&ProjectName>,
        parts: &[(usize, Arc<Page>)],
    ) -> Result<(Arc<Page>, HashSet<Box<str>>), Error> {
        let mut hidden = HashSet::new();
        if let [(_, page)] = parts {
            return Ok((page.clone(), hidden));
        }
        if let Some(name) = name
            && !self.unchecked.iter().any(|pattern| pattern.is_match(name))
        {
            let url = |index: &usize| self.upstreams[*index].page_url(Some(name));
            let located: Vec<_> = parts.iter().map(|(index, page)| (url(index), &**page)).collect();
            if !is_one_project(name.as_str(), &located) {
                let text = format!(
                    "{} indexes have the project {name} and do not declare that it is the same one (PEP 708); set \
                     project_sources or merge_projects",
                    parts.len()
                );
                return Err(Error::with(Kind::Forbidden, text));
            }
        }
        if self.strategy == IndexStrategy::UnsafeFirstMatch {
            let (mut owners, mut names) = (HashMap::new(), HashSet::new());
            for (index, page) in parts {
                for file in page.files().filter(|file| names.insert(file.name())) {
                    let Some(version) = name.and_then(|name| file_name::version(file.name(), name)) else {
                        continue;
                    };
                    if owners.entry(version).or_insert(*index) != index {
                        hidden.insert(Box::from(file.name()));
                    }
                }
            }
        }
        let pages: Vec<_> = parts.iter().map(|(_, page)| &**page).collect();
        let merged = Page::merge_files(&pages, |file| !hidden.contains(file.name()))?;
        Ok((Arc::new(merged), hidden))
    }
}

/// Merges the pages of all upstreams and applies the rules. Returns the content and how long the result of the rules is
/// valid.
pub(super) fn combine(
    parts: &[UpstreamPage],
    name: Option<&ProjectName>,
    merging: &Merging,
) -> Result<(Content, Duration), Error> {
    let rules = &*merging.rules;
    let mut origin = Origin {
        generation: rules.generation(),
        is_offline: merging.upstreams.iter().all(|upstream| upstream.is_offline()),
        ..Origin::default()
    };
    let mut removed = Removed::default();
    let mut projects = Vec::new();
    let (mut lists, mut document) = (Vec::new(), None);
    for (index, part) in parts.iter().enumerate() {
        match &part.content {
            Some(Document::Project(page)) => projects.push((index, page.clone())),
            Some(Document::List(list)) => lists.push(rules.list(list.clone(), index)?),
            // The first index that has the document wins.
            Some(json @ Document::Json { .. }) => document = document.or(Some(json.clone())),
            None => {}
        }
    }
    let mut modified = parts.iter().filter_map(|part| part.modified).max();
    let mut time = Duration::MAX;
    let content = match (projects.is_empty(), &lists[..]) {
        (false, _) => {
            let is_refused = |page: &Page| rules.status(page.project_status()).is_err();
            origin.is_restricted = projects.iter().any(|(_, page)| is_refused(page));
            if origin.is_restricted {
                // A file that another index has as well is taken from there.
                projects.sort_by_key(|(_, page)| is_refused(page));
            }
            let mut offered = projects.clone();
            for (_, page) in &mut offered {
                *page = rules.offered(page, &mut removed)?;
            }
            let (mut merged, hidden) = merging.merge(name, &offered)?;
            if let Some(name) = name {
                let now = system::now();
                let filtered = rules.page(name, merged, now, &mut removed)?;
                let FilteredPage { page, is_restricted, next, last } = filtered;
                merged = page;
                origin.is_restricted |= is_restricted;
                modified = modified.max(last);
                time = next.and_then(|next| next.duration_since(now).ok()).unwrap_or(time);
            }
            origin.removed = removed.text().and_then(|text| text.parse().ok());
            (origin.parts, origin.hidden) = (projects, hidden);
            Document::Project(merged)
        }
        (true, []) => match document {
            Some(document) => document,
            None => return Ok((Content::NotFound, time)),
        },
        (true, [list]) => Document::List(list.clone()),
        (true, lists) => Document::List(Arc::new(ProjectList::merge(lists.iter().map(|list| &**list))?)),
    };
    let modified = modified.unwrap_or_else(system::now);
    Ok((Content::Page(Arc::new(RenderedPage::new(content, modified, origin))), time))
}

impl PageCache {
    /// Checks whether clients may download a file of a page. Metadata, signatures and provenance follow the rules for their
    /// file.
    pub(crate) fn check_file(
        &self,
        project: &ProjectName,
        page: &RenderedPage,
        name: &str,
    ) -> Result<(), Violation> {
        if !page.is_restricted() {
            return Ok(());
        }
        let base = || page.file(name.rsplit_once('.')?.0);
        let file = page.file(name).or_else(base);
        file.map_or(Ok(()), |(_, file)| self.rules().check(project, &file, system::now()))
    }

    /// Checks whether clients may download a file that is not on the page of its project. There may be no page.
    pub(crate) fn check_unlisted(
        &self,
        project: &ProjectName,
        page: Option<&RenderedPage>,
        name: &str,
    ) -> Result<(), Violation> {
        let mut parts = page.into_iter().flat_map(RenderedPage::parts);
        parts.try_for_each(|(_, page)| self.rules().status(page.project_status()))?;
        self.rules().file(project, name, &Details::default(), system::now())
    }
}
