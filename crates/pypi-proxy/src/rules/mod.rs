//! What clients may have: projects by their names, files by their age, and files that were yanked.
//!
//! Rules change pages and refuse files; none of them changes what is kept of an index. All of them are off until they are
//! set.
//!
//! ```
//! use std::time::Duration;
//! use pypi_proxy::rules::{ProjectPattern, Rules, Yanked};
//!
//! let rules = Rules::new()
//!     .deny([ProjectPattern::parse("*-nightly")?])
//!     // What is ours comes from the second index, whoever else uses such names.
//!     .only_from(ProjectPattern::parse("acme-*")?, 1)
//!     .min_age(Duration::from_secs(7 * 86400))
//!     .min_age_exempt([ProjectPattern::parse("acme-*")?])
//!     .yanked(Yanked::Hide);
//! # let _ = rules;
//! # Ok::<(), pypi_proxy::Error>(())
//! ```

mod pattern;
mod refusal;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use pattern::ProjectPattern;
pub(crate) use refusal::Refusal;

use crate::page::{Details, Page, ProjectList};
use crate::{Error, ProjectName};

/// No age is longer: times that are added up stay within what calendars have.
const MAX_AGE: Duration = Duration::from_secs(100 * 365 * 86_400);

/// What becomes of files that were yanked (PEP 592).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Yanked {
    /// They are on pages with their mark; installers take them only if nothing else will do.
    #[default]
    Keep,
    /// They are on no page. Who knows the URL of one, from a lock file, still gets it.
    Hide,
    /// They are on no page, and nobody gets them.
    Refuse,
}

/// What becomes of files whose age is not told, where there is a least age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownAge {
    /// They count as old enough.
    Allow,
    /// They count as too young.
    #[default]
    Deny,
}

/// What clients may have.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    allow: Vec<ProjectPattern>,
    deny: Vec<ProjectPattern>,
    only_from: Vec<(ProjectPattern, usize)>,
    min_age: Duration,
    exempt: Vec<ProjectPattern>,
    unknown_age: UnknownAge,
    yanked: Yanked,
}

/// A page as the rules leave it.
#[derive(Debug)]
pub(crate) struct Ruled {
    pub(crate) page: Arc<Page>,
    /// When the next file gets old enough.
    pub(crate) next: Option<SystemTime>,
    /// When the last one did.
    pub(crate) last: Option<SystemTime>,
}

fn any(patterns: &[ProjectPattern], normal: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(normal))
}

impl Rules {
    /// Everything may be had.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows these projects, and no others. Default: all.
    #[must_use]
    pub fn allow(mut self, patterns: impl IntoIterator<Item = ProjectPattern>) -> Self {
        self.allow.extend(patterns);
        self
    }

    /// Denies these projects, also if they are allowed. Default: none.
    #[must_use]
    pub fn deny(mut self, patterns: impl IntoIterator<Item = ProjectPattern>) -> Self {
        self.deny.extend(patterns);
        self
    }

    /// Takes projects with such names from one index alone, by its place from 0: no other is asked for them, so that
    /// nobody can put something in the place of a private project by using its name elsewhere. Of several patterns for a
    /// name the first counts. Default: all indexes are asked for all projects.
    #[must_use]
    pub fn only_from(mut self, pattern: ProjectPattern, index: usize) -> Self {
        self.only_from.push((pattern, index));
        self
    }

    /// Holds files back until their upload was this long ago, at most 100 years. Default: no time at all.
    #[must_use]
    pub fn min_age(mut self, age: Duration) -> Self {
        self.min_age = age.min(MAX_AGE);
        self
    }

    /// Projects whose files may be of any age. Default: none.
    #[must_use]
    pub fn min_age_exempt(mut self, patterns: impl IntoIterator<Item = ProjectPattern>) -> Self {
        self.exempt.extend(patterns);
        self
    }

    /// What becomes of files whose index does not tell when they were uploaded. Default: [`UnknownAge::Deny`], as
    /// installers do that look at ages themselves.
    #[must_use]
    pub fn min_age_unknown(mut self, unknown: UnknownAge) -> Self {
        self.unknown_age = unknown;
        self
    }

    /// What becomes of files that were yanked. Default: [`Yanked::Keep`].
    #[must_use]
    pub fn yanked(mut self, yanked: Yanked) -> Self {
        self.yanked = yanked;
        self
    }

    /// Whether there is any rule.
    pub(crate) fn is_on(&self) -> bool {
        self.is_about_projects() || self.is_about_files()
    }

    fn is_about_projects(&self) -> bool {
        !(self.allow.is_empty() && self.deny.is_empty() && self.only_from.is_empty())
    }

    fn is_about_files(&self) -> bool {
        !self.min_age.is_zero() || self.yanked != Yanked::Keep
    }

    /// Whether there may be something of a project.
    pub(crate) fn project(&self, name: &ProjectName) -> Result<(), Refusal> {
        self.named(name.as_str())
    }

    fn named(&self, normal: &str) -> Result<(), Refusal> {
        if any(&self.deny, normal) {
            return Err(Refusal::Denied);
        }
        if !self.allow.is_empty() && !any(&self.allow, normal) {
            return Err(Refusal::NotAllowed);
        }
        Ok(())
    }

    /// Whether an index may be asked for a project.
    pub(crate) fn may_ask(&self, name: &ProjectName, index: usize) -> bool {
        self.is_from(name.as_str(), index)
    }

    fn is_from(&self, normal: &str, index: usize) -> bool {
        let only = self.only_from.iter().find(|(pattern, _)| pattern.matches(normal));
        only.is_none_or(|(_, only)| *only == index)
    }

    /// Whether clients may have a file now.
    pub(crate) fn file(
        &self,
        project: &ProjectName,
        file: &Details<'_>,
        now: SystemTime,
    ) -> Result<(), Refusal> {
        if self.yanked == Yanked::Refuse && file.yanked.is_some() {
            return Err(Refusal::Yanked);
        }
        if self.min_age.is_zero() || any(&self.exempt, project.as_str()) {
            return Ok(());
        }
        match (self.ripe(file), self.unknown_age) {
            (Some(ripe), _) if ripe > now => Err(Refusal::Young { age: self.min_age, until: ripe }),
            (None, UnknownAge::Deny) => Err(Refusal::AgeUnknown),
            _ => Ok(()),
        }
    }

    /// When a file is old enough, `None` if that is not known.
    fn ripe(&self, file: &Details<'_>) -> Option<SystemTime> {
        let uploaded: jiff::Timestamp = file.upload_time.as_deref()?.parse().ok()?;
        Some(SystemTime::from(uploaded) + self.min_age)
    }

    /// The page of a project with what clients may have now.
    pub(crate) fn page(
        &self,
        project: &ProjectName,
        page: Arc<Page>,
        now: SystemTime,
    ) -> Result<Ruled, Error> {
        let (mut next, mut last) = (None, None);
        if !self.is_about_files() {
            return Ok(Ruled { page, next, last });
        }
        let has_age = !self.min_age.is_zero() && !any(&self.exempt, project.as_str());
        let shown = page.filtered(|file| {
            let details = file.details();
            if self.yanked != Yanked::Keep && details.yanked.is_some() {
                return false;
            }
            if has_age && let Some(ripe) = self.ripe(&details) {
                if ripe > now {
                    next = Some(next.map_or(ripe, |next: SystemTime| next.min(ripe)));
                } else {
                    last = last.max(Some(ripe));
                }
            }
            self.file(project, &details, now).is_ok()
        })?;
        Ok(Ruled { page: shown.map_or(page, Arc::new), next, last })
    }

    /// The list of an index with the projects that clients may have from it.
    pub(crate) fn list(&self, list: Arc<ProjectList>, index: usize) -> Result<Arc<ProjectList>, Error> {
        if !self.is_about_projects() {
            return Ok(list);
        }
        let is_shown = |normal: &str| self.named(normal).is_ok() && self.is_from(normal, index);
        list.filtered(is_shown).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ProjectName {
        ProjectName::parse(text).unwrap()
    }

    fn pattern(text: &str) -> ProjectPattern {
        ProjectPattern::parse(text).unwrap()
    }

    /// Seconds since 1970.
    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn page() -> Arc<Page> {
        let document = br#"{"meta":{"api-version":"1.1"},"name":"demo","versions":["1.0","1.1","2.0","3.0","4.0"],"files":[
            {"filename":"demo-1.0.tar.gz","url":"a","upload-time":"1970-01-01T00:00:10Z"},
            {"filename":"demo-1.1-py3-none-any.whl","url":"b","upload-time":"1970-01-01T00:00:20.5Z"},
            {"filename":"demo-1.1.tar.gz","url":"c","upload-time":"1970-01-01T00:00:30Z"},
            {"filename":"demo-2.0.tar.gz","url":"d"},
            {"filename":"demo-3.0.tar.gz","url":"e","upload-time":"yesterday"},
            {"filename":"demo-4.0.tar.gz","url":"f","upload-time":"1970-01-01T00:00:05Z","yanked":"broken"}]}"#;
        Arc::new(Page::from_json(document.to_vec()).unwrap())
    }

    fn shown(rules: &Rules, now: u64) -> (Vec<String>, Option<SystemTime>, Option<SystemTime>) {
        let Ruled { page, next, last } = rules.page(&name("demo"), page(), at(now)).unwrap();
        (page.files().map(|file| file.name().to_owned()).collect(), next, last)
    }

    #[test]
    fn denying_is_stronger_than_allowing() {
        let rules = Rules::new().allow([pattern("acme-*"), pattern("six")]).deny([pattern("*-nightly")]);
        assert_eq!(rules.project(&name("six")), Ok(()));
        assert_eq!(rules.project(&name("acme.tools")), Ok(()));
        assert_eq!(rules.project(&name("acme_nightly")), Err(Refusal::Denied));
        assert_eq!(rules.project(&name("numpy")), Err(Refusal::NotAllowed));
    }

    #[test]
    fn the_first_pattern_tells_the_index() {
        let rules = Rules::new().only_from(pattern("acme-core"), 2).only_from(pattern("acme-*"), 1);
        let asked = |project| (0..3).map(|index| rules.may_ask(&name(project), index)).collect::<Vec<_>>();
        assert_eq!(asked("acme-core"), [false, false, true]);
        assert_eq!(asked("acme-tools"), [false, true, false]);
        assert_eq!(asked("six"), [true, true, true]);
    }

    #[test]
    fn files_appear_when_they_are_old_enough() {
        let rules = Rules::new().min_age(Duration::from_secs(100));
        let half = at(120) + Duration::from_millis(500);
        assert_eq!(shown(&rules, 104), (vec![], Some(at(105)), None));
        let old = "demo-4.0.tar.gz".to_owned();
        assert_eq!(shown(&rules, 109), (vec![old.clone()], Some(at(110)), Some(at(105))));
        let first = "demo-1.0.tar.gz".to_owned();
        assert_eq!(shown(&rules, 120), (vec![first.clone(), old.clone()], Some(half), Some(at(110))));
        let wheel = "demo-1.1-py3-none-any.whl".to_owned();
        assert_eq!(shown(&rules, 121), (vec![first, wheel, old], Some(at(130)), Some(half)));
        assert_eq!(shown(&rules, 130).1, None);
        // Those of unknown age come with the other setting, and all with an exemption.
        assert_eq!(shown(&rules, 1000).0.len(), 4);
        assert_eq!(shown(&rules.clone().min_age_unknown(UnknownAge::Allow), 0).0.len(), 2);
        assert_eq!(
            shown(&rules.min_age_exempt([pattern("de*")]), 0),
            (shown(&Rules::new(), 0).0, None, None)
        );
    }

    #[test]
    fn a_version_goes_with_the_last_of_its_files() {
        let versions = |rules: &Rules, now| {
            let page = rules.page(&name("demo"), page(), at(now)).unwrap().page;
            serde_json::from_slice::<serde_json::Value>(page.json()).unwrap()["versions"].to_string()
        };
        let rules = Rules::new().min_age(Duration::from_secs(100)).min_age_unknown(UnknownAge::Allow);
        assert_eq!(versions(&rules, 115), r#"["1.0","2.0","3.0","4.0"]"#);
        assert_eq!(versions(&rules, 125), r#"["1.0","1.1","2.0","3.0","4.0"]"#);
        assert_eq!(versions(&Rules::new().yanked(Yanked::Hide), 0), r#"["1.0","1.1","2.0","3.0"]"#);
    }

    #[test]
    fn what_is_yanked_is_hidden_or_refused() {
        let page = page();
        let yanked = page.file("demo-4.0.tar.gz").unwrap().details();
        let file = |rules: Rules| rules.file(&name("demo"), &yanked, at(0));
        assert_eq!(file(Rules::new()), Ok(()));
        assert_eq!(file(Rules::new().yanked(Yanked::Hide)), Ok(()));
        assert_eq!(file(Rules::new().yanked(Yanked::Refuse)), Err(Refusal::Yanked));
        for yanked in [Yanked::Hide, Yanked::Refuse] {
            assert_eq!(shown(&Rules::new().yanked(yanked), 0).0.len(), 5);
        }
        assert_eq!(shown(&Rules::new(), 0).0.len(), 6);
    }

    #[test]
    fn a_file_of_the_far_future_is_not_old_enough() {
        let document =
            br#"{"files":[{"filename":"a-1.tar.gz","url":"a","upload-time":"9999-12-30T00:00:00Z"}]}"#;
        let page = Page::from_json(document.to_vec()).unwrap();
        let file = page.file("a-1.tar.gz").unwrap();
        for age in [Duration::from_secs(1), Duration::MAX] {
            let rules = Rules::new().min_age(age).min_age_unknown(UnknownAge::Allow);
            let refusal = rules.file(&name("a"), &file.details(), at(0)).unwrap_err();
            assert!(matches!(refusal, Refusal::Young { .. }) && refusal.to_string().contains("old"));
        }
    }
}
