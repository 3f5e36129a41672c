//! Rules that restrict projects by name, files by age, and yanked files.
//!
//! Rules filter pages and reject files; cached data is not changed. All rules are off by default.
//!
//! ```
//! use std::time::Duration;
//! use pypi_proxy::rules::{ProjectPattern, Rules, Yanked};
//!
//! let rules = Rules {
//!     deny: vec![ProjectPattern::parse("*-nightly")?],
//!     // Private projects come from the second index only.
//!     only_from: vec![(ProjectPattern::parse("acme-*")?, 1)],
//!     min_age: Duration::from_secs(7 * 86400),
//!     min_age_exempt: vec![ProjectPattern::parse("acme-*")?],
//!     yanked: Yanked::Hide,
//!     ..Rules::default()
//! };
//! # let _ = rules;
//! # Ok::<(), pypi_proxy::Error>(())
//! ```

mod pattern;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::page::{Details, Page, ProjectList};
use crate::{Error, ProjectName};

pub use pattern::ProjectPattern;

/// Maximum age, which keeps sums of times within the range of calendars.
const MAX_AGE: Duration = Duration::from_secs(100 * 365 * 86_400);

/// Treatment of yanked files (PEP 592).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Yanked {
    /// Listed with their mark; installers use them only if a pinned version requires it.
    #[default]
    Keep,
    /// Removed from pages, but served to clients that know the URL, for example from a lock file.
    Hide,
    /// Removed from pages and not served.
    Refuse,
}

/// Treatment of files without an upload time if there is a minimum age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownAge {
    /// Files of unknown age are old enough.
    Allow,
    /// Files of unknown age are too young.
    #[default]
    Deny,
}

/// Rules for projects and files. The default allows everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// Allows only these projects. Default: all.
    pub allow: Vec<ProjectPattern>,
    /// Denies these projects, with precedence over [`allow`](Self::allow). Default: none.
    pub deny: Vec<ProjectPattern>,
    /// Takes matching projects from a single index, by its position from 0. No other index is contacted for them, which
    /// prevents dependency confusion. The first matching pattern wins. Default: every index may have every project.
    pub only_from: Vec<(ProjectPattern, usize)>,
    /// Minimum time since the upload of a file, at most 100 years. Default: zero.
    pub min_age: Duration,
    /// Exempts these projects from the minimum age. Default: none.
    pub min_age_exempt: Vec<ProjectPattern>,
    /// Treatment of files without an upload time. Default: [`UnknownAge::Deny`], as in installers with age checks.
    pub min_age_unknown: UnknownAge,
    /// Treatment of yanked files. Default: [`Yanked::Keep`].
    pub yanked: Yanked,
}

#[derive(Debug)]
pub(crate) struct FilteredPage {
    pub(crate) page: Arc<Page>,
    /// Time at which the next file becomes old enough.
    pub(crate) next: Option<SystemTime>,
    /// Time at which the last listed file became old enough.
    pub(crate) last: Option<SystemTime>,
}

fn matches_any(patterns: &[ProjectPattern], normal: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(normal))
}

impl Rules {
    pub(crate) fn is_on(&self) -> bool {
        self.restricts_projects() || self.restricts_files()
    }

    fn restricts_projects(&self) -> bool {
        !(self.allow.is_empty() && self.deny.is_empty() && self.only_from.is_empty())
    }

    fn restricts_files(&self) -> bool {
        !self.min_age.is_zero() || self.yanked != Yanked::Keep
    }

    /// Checks whether clients may use the project with this normalized name.
    pub(crate) fn project(&self, normal: &str) -> Result<(), RuleViolation> {
        if matches_any(&self.deny, normal) {
            return Err(RuleViolation::Denied);
        }
        if !self.allow.is_empty() && !matches_any(&self.allow, normal) {
            return Err(RuleViolation::NotAllowed);
        }
        Ok(())
    }

    /// Returns whether an index may be contacted for a project.
    pub(crate) fn is_index_allowed(&self, normal: &str, index: usize) -> bool {
        let only = self.only_from.iter().find(|(pattern, _)| pattern.matches(normal));
        only.is_none_or(|(_, only)| *only == index)
    }

    /// Checks whether clients may download a file now.
    pub(crate) fn file(
        &self,
        project: &ProjectName,
        file: &Details<'_>,
        now: SystemTime,
    ) -> Result<(), RuleViolation> {
        if self.yanked == Yanked::Refuse && file.yanked.is_some() {
            return Err(RuleViolation::Yanked);
        }
        if self.min_age.is_zero() || matches_any(&self.min_age_exempt, project.as_str()) {
            return Ok(());
        }
        match (self.allowed_at(file), self.min_age_unknown) {
            (Some(allowed_at), _) if allowed_at > now => {
                Err(RuleViolation::TooYoung { age: self.min_age.min(MAX_AGE), until: allowed_at })
            }
            (None, UnknownAge::Deny) => Err(RuleViolation::AgeUnknown),
            _ => Ok(()),
        }
    }

    /// Returns the time at which a file is old enough, if its upload time is known.
    fn allowed_at(&self, file: &Details<'_>) -> Option<SystemTime> {
        let uploaded: jiff::Timestamp = file.upload_time.as_deref()?.parse().ok()?;
        Some(SystemTime::from(uploaded) + self.min_age.min(MAX_AGE))
    }

    /// Removes the files that clients may not use now from a page.
    pub(crate) fn page(
        &self,
        project: &ProjectName,
        page: Arc<Page>,
        now: SystemTime,
    ) -> Result<FilteredPage, Error> {
        let (mut next, mut last) = (None, None);
        if !self.restricts_files() {
            return Ok(FilteredPage { page, next, last });
        }
        let has_age = !self.min_age.is_zero() && !matches_any(&self.min_age_exempt, project.as_str());
        let shown = page.filtered(|file| {
            let details = file.details();
            if self.yanked != Yanked::Keep && details.yanked.is_some() {
                return false;
            }
            if has_age && let Some(allowed_at) = self.allowed_at(&details) {
                if allowed_at > now {
                    next = Some(next.map_or(allowed_at, |next: SystemTime| next.min(allowed_at)));
                } else {
                    last = last.max(Some(allowed_at));
                }
            }
            self.file(project, &details, now).is_ok()
        })?;
        Ok(FilteredPage { page: shown.map_or(page, Arc::new), next, last })
    }

    /// Removes the projects that clients may not use from the project list of an index.
    pub(crate) fn list(&self, list: Arc<ProjectList>, index: usize) -> Result<Arc<ProjectList>, Error> {
        if !self.restricts_projects() {
            return Ok(list);
        }
        let is_shown = |normal: &str| self.project(normal).is_ok() && self.is_index_allowed(normal, index);
        list.filtered(is_shown).map(Arc::new)
    }
}

/// Rule that forbids a project or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleViolation {
    Denied,
    NotAllowed,
    TooYoung { age: Duration, until: SystemTime },
    AgeUnknown,
    Yanked,
}

impl RuleViolation {
    /// Returns a title for the status line of the response, which is all that some installers display.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Denied => "Project Denied By This Proxy",
            Self::NotAllowed => "Project Not Allowed By This Proxy",
            Self::TooYoung { .. } => "File Too Young For This Proxy",
            Self::AgeUnknown => "File Of Unknown Age Refused By This Proxy",
            Self::Yanked => "Yanked File Refused By This Proxy",
        }
    }
}

impl fmt::Display for RuleViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied => f.write_str("this proxy denies the project"),
            Self::NotAllowed => {
                f.write_str("this proxy allows only certain projects, and not this one")
            }
            Self::TooYoung { age, until } => {
                let age = crate::units::format_duration(*age);
                f.write_str("this proxy serves files only when they are ")?;
                // A time beyond the range of calendars is omitted.
                match jiff::Timestamp::try_from(*until) {
                    Ok(until) => write!(f, "{age} old; this one will be served from {until:.0}"),
                    Err(_) => write!(f, "{age} old"),
                }
            }
            Self::AgeUnknown => {
                f.write_str("this proxy serves files only when they are old enough, and the upload time of this one is unknown")
            }
            Self::Yanked => f.write_str("this proxy does not serve yanked files"),
        }
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

    /// Seconds since the Unix epoch.
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
        let FilteredPage { page, next, last } = rules.page(&name("demo"), page(), at(now)).unwrap();
        (page.files().map(|file| file.name().to_owned()).collect(), next, last)
    }

    #[test]
    fn first_matching_pattern_selects_the_index() {
        let only_from = vec![(pattern("acme-core"), 2), (pattern("acme-*"), 1)];
        let rules = Rules { only_from, ..Rules::default() };
        let allowed =
            |project| (0..3).map(|index| rules.is_index_allowed(project, index)).collect::<Vec<_>>();
        assert_eq!(allowed("acme-core"), [false, false, true]);
        assert_eq!(allowed("acme-tools"), [false, true, false]);
        assert_eq!(allowed("six"), [true, true, true]);
    }

    #[test]
    fn files_are_listed_once_they_are_old_enough() {
        let rules = Rules { min_age: Duration::from_secs(100), ..Rules::default() };
        let half = at(120) + Duration::from_millis(500);
        assert_eq!(shown(&rules, 104), (vec![], Some(at(105)), None));
        let old = "demo-4.0.tar.gz".to_owned();
        assert_eq!(shown(&rules, 109), (vec![old.clone()], Some(at(110)), Some(at(105))));
        let first = "demo-1.0.tar.gz".to_owned();
        assert_eq!(shown(&rules, 120), (vec![first.clone(), old.clone()], Some(half), Some(at(110))));
        let wheel = "demo-1.1-py3-none-any.whl".to_owned();
        assert_eq!(shown(&rules, 121), (vec![first, wheel, old], Some(at(130)), Some(half)));
        assert_eq!(shown(&rules, 130).1, None);
        // Files of unknown age are listed with the other setting, and all files with an exemption.
        assert_eq!(shown(&rules, 1000).0.len(), 4);
        let lenient = Rules { min_age_unknown: UnknownAge::Allow, ..rules.clone() };
        assert_eq!(shown(&lenient, 0).0.len(), 2);
        let exempt = Rules { min_age_exempt: vec![pattern("de*")], ..rules };
        assert_eq!(shown(&exempt, 0), (shown(&Rules::default(), 0).0, None, None));
    }

    #[test]
    fn version_is_removed_with_its_last_file() {
        let versions = |rules: &Rules, now| {
            let page = rules.page(&name("demo"), page(), at(now)).unwrap().page;
            tightwire_json::from_slice::<tightwire_json::Value>(page.json()).unwrap()["versions"].to_string()
        };
        let min_age = Duration::from_secs(100);
        let rules = Rules { min_age, min_age_unknown: UnknownAge::Allow, ..Rules::default() };
        assert_eq!(versions(&rules, 115), r#"["1.0","2.0","3.0","4.0"]"#);
        assert_eq!(versions(&rules, 125), r#"["1.0","1.1","2.0","3.0","4.0"]"#);
        let rules = Rules { yanked: Yanked::Hide, ..Rules::default() };
        assert_eq!(versions(&rules, 0), r#"["1.0","1.1","2.0","3.0"]"#);
    }

    #[test]
    fn file_of_the_far_future_is_too_young() {
        let document =
            br#"{"files":[{"filename":"a-1.tar.gz","url":"a","upload-time":"9999-12-30T00:00:00Z"}]}"#;
        let page = Page::from_json(document.to_vec()).unwrap();
        let file = page.file("a-1.tar.gz").unwrap();
        for age in [Duration::from_secs(1), Duration::MAX] {
            let rules = Rules { min_age: age, min_age_unknown: UnknownAge::Allow, ..Rules::default() };
            let violation = rules.file(&name("a"), &file.details(), at(0)).unwrap_err();
            assert_eq!(violation.title(), "File Too Young For This Proxy");
            assert!(violation.to_string().contains("old"));
        }
    }
}
