//! Rules that restrict projects, versions and files: by name, version, age, status, and records of malware.
//!
//! Rules filter pages and reject files; cached data is not changed. All rules are off by default, except that files of
//! quarantined projects are refused.
//!
//! ```
//! use std::time::Duration;
//! use pypi_proxy::rules::{ProjectPattern, ProjectSelector, Rules, Yanked};
//!
//! let rules = Rules {
//!     deny: vec![ProjectSelector::parse("*-nightly")?, ProjectSelector::parse("urllib3 <2")?],
//!     // Private projects come from the second index only.
//!     only_from: vec![(ProjectPattern::parse("acme-*")?, 1)],
//!     min_age: Duration::from_secs(7 * 86400),
//!     min_age_exempt: vec![ProjectSelector::parse("acme-*")?, ProjectSelector::parse("urllib3 ==2.5.0")?],
//!     yanked: Yanked::Hide,
//!     ..Rules::default()
//! };
//! # let _ = rules;
//! # Ok::<(), pypi_proxy::Error>(())
//! ```

mod osv;
mod osv_dir;
mod pattern;
mod selector;
mod violation;

use std::cell::OnceCell;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pep440_rs::Version;

use crate::file_name;
use crate::page::{Details, File, Page, ProjectList, ProjectStatus};
use crate::{Error, ProjectName};
use osv_dir::Advisory;

pub use osv::OsvRecord;
pub use osv_dir::{OsvConfig, OsvDir, OsvSelection};
pub use pattern::ProjectPattern;
pub use selector::ProjectSelector;
pub use violation::Violation;

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

/// Treatment of files without an upload time if there is a minimum age or a latest upload time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownAge {
    /// Files of unknown age are old enough.
    Allow,
    /// Files of unknown age are too young.
    #[default]
    Deny,
}

/// Treatment of projects with a status (PEP 792).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusRule {
    /// Files are listed and served.
    Keep,
    /// Files are removed from pages and not served.
    Refuse,
}

/// Rules for projects and files. The default allows everything, except files of quarantined projects.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// Allows only these projects. If an entry with versions selects a project, only the versions of such entries are
    /// allowed, even if other entries select the project as well. Default: all.
    pub allow: Vec<ProjectSelector>,
    /// Denies these projects and versions, with precedence over [`allow`](Self::allow). Default: none.
    pub deny: Vec<ProjectSelector>,
    /// Takes matching projects from a single index, by its position from 0. No other index is contacted for them, which
    /// prevents dependency confusion. The first matching pattern wins. Default: every index may have every project.
    pub only_from: Vec<(ProjectPattern, usize)>,
    /// Minimum time since the upload of a file, at most 100 years. Default: zero.
    pub min_age: Duration,
    /// Files uploaded at this time or later are refused. Default: none.
    pub exclude_newer: Option<SystemTime>,
    /// Exempts these projects and versions from [`min_age`](Self::min_age) and [`exclude_newer`](Self::exclude_newer).
    /// Default: none.
    pub min_age_exempt: Vec<ProjectSelector>,
    /// Treatment of files without an upload time by [`min_age`](Self::min_age) and
    /// [`exclude_newer`](Self::exclude_newer). Default: [`UnknownAge::Deny`], as in installers with age checks.
    pub min_age_unknown: UnknownAge,
    /// Treatment of yanked files. Default: [`Yanked::Keep`].
    pub yanked: Yanked,
    /// Treatment of quarantined projects, whose files an index must not offer. Default: [`StatusRule::Refuse`].
    pub quarantined: StatusRule,
    /// Treatment of archived projects. Default: [`StatusRule::Keep`].
    pub archived: StatusRule,
    /// Treatment of deprecated projects. Default: [`StatusRule::Keep`].
    pub deprecated: StatusRule,
    /// Refuses the versions that these records cover. Default: none.
    pub osv: Option<OsvDir>,
    /// Exempts these projects and versions from [`osv`](Self::osv). Default: none.
    pub osv_exempt: Vec<ProjectSelector>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            deny: Vec::new(),
            only_from: Vec::new(),
            min_age: Duration::ZERO,
            exclude_newer: None,
            min_age_exempt: Vec::new(),
            min_age_unknown: UnknownAge::default(),
            yanked: Yanked::default(),
            quarantined: StatusRule::Refuse,
            archived: StatusRule::Keep,
            deprecated: StatusRule::Keep,
            osv: None,
            osv_exempt: Vec::new(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct FilteredPage {
    pub(crate) page: Arc<Page>,
    /// Whether rules may refuse files of the project.
    pub(crate) is_restricted: bool,
    /// Time at which the next file becomes old enough.
    pub(crate) next: Option<SystemTime>,
    /// Time at which the last listed file became old enough.
    pub(crate) last: Option<SystemTime>,
}

/// Number of files that each rule removed from a page.
#[derive(Debug, Default)]
pub(crate) struct Removed(Vec<(&'static str, usize)>);

impl Removed {
    fn add(&mut self, rule: &'static str, files: usize) {
        match self.0.iter_mut().find(|(other, _)| *other == rule) {
            Some((_, count)) => *count += files,
            None => self.0.push((rule, files)),
        }
    }

    /// Returns the text for a header, such as `min_age=2, yanked=1`; `None` if no file was removed.
    pub(crate) fn text(&self) -> Option<String> {
        let mut text = String::new();
        for (rule, count) in self.0.iter().filter(|(_, count)| *count > 0) {
            // Writing to a string can't fail.
            let _ = write!(text, "{}{rule}={count}", if text.is_empty() { "" } else { ", " });
        }
        (!text.is_empty()).then_some(text)
    }
}

/// Returns the entries that select a project.
fn entries_of<'r>(entries: &'r [ProjectSelector], normal: &str) -> Vec<&'r ProjectSelector> {
    entries.iter().filter(|entry| entry.has_project(normal)).collect()
}

fn has_version(entries: &[&ProjectSelector], version: Option<&Version>) -> bool {
    entries.iter().any(|entry| entry.has_version(version))
}

/// Rules about the files of one project.
struct FileRules<'r> {
    rules: &'r Rules,
    project: &'r ProjectName,
    /// Entries with versions.
    allow: Vec<&'r ProjectSelector>,
    deny: Vec<&'r ProjectSelector>,
    has_age: bool,
    age_exempt: Vec<&'r ProjectSelector>,
    osv: Option<Arc<[Advisory]>>,
    osv_exempt: Vec<&'r ProjectSelector>,
}

impl<'r> FileRules<'r> {
    fn of(rules: &'r Rules, project: &'r ProjectName) -> Self {
        let normal = project.as_str();
        let with_versions = |entries| {
            let mut entries = entries_of(entries, normal);
            entries.retain(|entry| entry.has_specifiers());
            entries
        };
        let age_exempt = entries_of(&rules.min_age_exempt, normal);
        let is_exempt = age_exempt.iter().any(|entry| !entry.has_specifiers());
        Self {
            rules,
            project,
            allow: with_versions(&rules.allow),
            deny: with_versions(&rules.deny),
            has_age: !is_exempt && (!rules.min_age.is_zero() || rules.exclude_newer.is_some()),
            age_exempt,
            osv: rules.osv.as_ref().and_then(|osv| osv.of(normal)),
            osv_exempt: entries_of(&rules.osv_exempt, normal),
        }
    }

    /// Returns whether no rule applies to any file.
    fn is_empty(&self) -> bool {
        let has_versions = !self.allow.is_empty() || !self.deny.is_empty() || self.osv.is_some();
        !has_versions && !self.has_age && self.rules.yanked == Yanked::Keep
    }

    /// Checks whether clients may download a file now. Returns when the file became old enough, if it had to.
    fn check(
        &self,
        name: &str,
        file: &Details<'_>,
        now: SystemTime,
    ) -> Result<Option<SystemTime>, Violation> {
        let parsed = OnceCell::new();
        let version = || parsed.get_or_init(|| file_name::version(name, self.project)).as_ref();
        if let Some(entry) = self.deny.iter().find(|entry| entry.has_version(version())) {
            return Err(Violation::VersionDenied { entry: entry.to_string() });
        }
        if !self.allow.is_empty() && !has_version(&self.allow, version()) {
            let entries: Vec<_> = self.allow.iter().map(ToString::to_string).collect();
            return Err(Violation::VersionNotAllowed { entries: entries.join("; ") });
        }
        let mut advisories = self.osv.iter().flat_map(|advisories| advisories.iter());
        if let Some(advisory) = advisories.find(|advisory| advisory.has(version()))
            && !has_version(&self.osv_exempt, version())
        {
            return Err(Violation::Osv { id: advisory.id.clone() });
        }
        if self.rules.yanked == Yanked::Refuse && file.yanked.is_some() {
            return Err(Violation::Yanked);
        }
        if !self.has_age || !self.age_exempt.is_empty() && has_version(&self.age_exempt, version()) {
            return Ok(None);
        }
        self.rules.age(file, now)
    }
}

impl Rules {
    /// Returns whether rules apply besides that about quarantined projects.
    pub(crate) fn is_on(&self) -> bool {
        let has_ages = !self.min_age.is_zero() || self.exclude_newer.is_some();
        self.restricts_projects() || has_ages || self.yanked != Yanked::Keep || self.osv.is_some()
    }

    fn restricts_projects(&self) -> bool {
        !(self.allow.is_empty() && self.deny.is_empty() && self.only_from.is_empty())
    }

    /// Returns a number that changes whenever the result of the rules for a page changes, except because of time.
    pub(crate) fn generation(&self) -> u64 {
        self.osv.as_ref().map_or(0, OsvDir::generation)
    }

    /// Checks whether clients may use any version of the project.
    ///
    /// # Errors
    ///
    /// Returns the rule that forbids it.
    pub fn check_project(&self, project: &ProjectName) -> Result<(), Violation> {
        self.project(project.as_str())
    }

    /// Same as [`Self::check_project`] for a normalized name.
    pub(crate) fn project(&self, normal: &str) -> Result<(), Violation> {
        let mut denied = self.deny.iter().filter(|entry| !entry.has_specifiers());
        if let Some(entry) = denied.find(|entry| entry.has_project(normal)) {
            return Err(Violation::ProjectDenied { entry: entry.to_string() });
        }
        if !self.allow.is_empty() && !self.allow.iter().any(|entry| entry.has_project(normal)) {
            return Err(Violation::ProjectNotAllowed);
        }
        Ok(())
    }

    /// Returns whether an index may be contacted for a project.
    pub(crate) fn is_index_allowed(&self, normal: &str, index: usize) -> bool {
        let only = self.only_from.iter().find(|(pattern, _)| pattern.matches(normal));
        only.is_none_or(|(_, only)| *only == index)
    }

    /// Checks whether clients may use files of a project with this status.
    pub(crate) fn status(&self, status: ProjectStatus) -> Result<(), Violation> {
        let rule = match status {
            ProjectStatus::Active => StatusRule::Keep,
            ProjectStatus::Archived => self.archived,
            ProjectStatus::Quarantined => self.quarantined,
            ProjectStatus::Deprecated => self.deprecated,
        };
        if rule == StatusRule::Refuse { Err(Violation::Status(status)) } else { Ok(()) }
    }

    /// Checks whether clients may download a file of the page of an index now.
    ///
    /// # Errors
    ///
    /// Returns the rule that forbids it.
    pub fn check(&self, project: &ProjectName, file: &File<'_>, now: SystemTime) -> Result<(), Violation> {
        self.project(project.as_str())?;
        self.status(file.page().project_status())?;
        self.file(project, file.name(), &file.details(), now)
    }

    /// Checks a file of an allowed project. The details of a file that no page lists are unknown.
    pub(crate) fn file(
        &self,
        project: &ProjectName,
        name: &str,
        file: &Details<'_>,
        now: SystemTime,
    ) -> Result<(), Violation> {
        FileRules::of(self, project).check(name, file, now).map(drop)
    }

    /// Checks the upload time of a file. Returns when the file became old enough, if there is a minimum age.
    fn age(&self, file: &Details<'_>, now: SystemTime) -> Result<Option<SystemTime>, Violation> {
        let uploaded = file.upload_time.as_deref().and_then(|time| time.parse::<jiff::Timestamp>().ok());
        let Some(uploaded) = uploaded.map(SystemTime::from) else {
            return match self.min_age_unknown {
                UnknownAge::Allow => Ok(None),
                UnknownAge::Deny => Err(Violation::AgeUnknown),
            };
        };
        if let Some(limit) = self.exclude_newer.filter(|limit| uploaded >= *limit) {
            return Err(Violation::TooNew { limit });
        }
        let age = self.min_age.min(MAX_AGE);
        match uploaded + age {
            _ if age.is_zero() => Ok(None),
            until if until > now => Err(Violation::TooYoung { age, until }),
            until => Ok(Some(until)),
        }
    }

    /// Returns the page of an index without its files if its status forbids them.
    pub(crate) fn offered(&self, page: &Arc<Page>, removed: &mut Removed) -> Result<Arc<Page>, Error> {
        let Err(violation) = self.status(page.project_status()) else { return Ok(page.clone()) };
        removed.add(violation.rule(), page.files().len());
        Ok(page.filtered(|_| false)?.map_or_else(|| page.clone(), Arc::new))
    }

    /// Removes the files that clients may not use now from a page, regardless of its status.
    pub(crate) fn page(
        &self,
        project: &ProjectName,
        page: Arc<Page>,
        now: SystemTime,
        removed: &mut Removed,
    ) -> Result<FilteredPage, Error> {
        let (mut next, mut last) = (None, None);
        let rules = FileRules::of(self, project);
        if rules.is_empty() {
            return Ok(FilteredPage { page, is_restricted: false, next, last });
        }
        let shown = page.filtered(|file| {
            let details = file.details();
            let verdict = match rules.check(file.name(), &details, now) {
                Ok(_) if self.yanked == Yanked::Hide && details.yanked.is_some() => Err(Violation::Yanked),
                verdict => verdict,
            };
            match &verdict {
                Ok(old_enough) => last = last.max(*old_enough),
                Err(violation) => {
                    if let Violation::TooYoung { until, .. } = violation {
                        next = Some(next.map_or(*until, |next: SystemTime| next.min(*until)));
                    }
                    removed.add(violation.rule(), 1);
                }
            }
            verdict.is_ok()
        })?;
        Ok(FilteredPage { page: shown.map_or(page, Arc::new), is_restricted: true, next, last })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> ProjectName {
        ProjectName::parse(text).unwrap()
    }

    fn pattern(text: &str) -> ProjectPattern {
        ProjectPattern::parse(text).unwrap()
    }

    fn selector(text: &str) -> ProjectSelector {
        ProjectSelector::parse(text).unwrap()
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
        let FilteredPage { page, next, last, .. } =
            rules.page(&name("demo"), page(), at(now), &mut Removed::default()).unwrap();
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
        let exempt = Rules { min_age_exempt: vec![selector("de*")], ..rules };
        assert_eq!(shown(&exempt, 0), (shown(&Rules::default(), 0).0, None, None));
    }

    #[test]
    fn version_is_removed_with_its_last_file() {
        let versions = |rules: &Rules, now| {
            let page = rules.page(&name("demo"), page(), at(now), &mut Removed::default()).unwrap().page;
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
            let violation = rules.check(&name("a"), &file, at(0)).unwrap_err();
            assert_eq!(violation.title(), "File Too Young For This Proxy");
            assert!(violation.to_string().contains("old"));
        }
    }

    #[test]
    fn versions_are_allowed_denied_and_exempted_by_specifiers() {
        let names = |rules: &Rules| shown(rules, 1000).0;
        let files: Vec<_> = page().files().map(|file| file.name().to_owned()).collect();
        let pick = |indexes: &[usize]| indexes.iter().map(|index| files[*index].clone()).collect::<Vec<_>>();
        let rule = |allow: &[&str], deny: &[&str]| Rules {
            allow: allow.iter().map(|text| selector(text)).collect(),
            deny: deny.iter().map(|text| selector(text)).collect(),
            ..Rules::default()
        };
        assert_eq!(names(&rule(&[], &["demo >=1.1, <3", "de* ==4.*", "other"])), pick(&[0, 4]));
        assert_eq!(names(&rule(&["demo ==1.*"], &[])), pick(&[0, 1, 2]));
        // Entries without versions do not extend those with versions, but entries with versions are united.
        assert_eq!(names(&rule(&["*", "demo ==1.0", "de* >3", "other"], &[])), pick(&[0, 5]));
        assert_eq!(names(&rule(&["demo ==1.*"], &["demo ==1.1"])), pick(&[0]));
        assert_eq!(names(&rule(&["demo >9"], &[])), pick(&[]));
        assert!(!shown(&rule(&["demo"], &["other >1"]), 0).0.is_empty());

        let min_age = Duration::from_secs(100);
        let exempt = vec![selector("demo ==1.1, ==1.*"), selector("demo ==2.0")];
        let rules = Rules { min_age, min_age_exempt: exempt.clone(), ..Rules::default() };
        assert_eq!(shown(&rules, 0), (pick(&[1, 2, 3]), Some(at(105)), None));
        let rules = Rules { exclude_newer: Some(at(10)), min_age_exempt: exempt, ..Rules::default() };
        assert_eq!(shown(&rules, 0), (pick(&[1, 2, 3, 5]), None, None));
    }

    #[test]
    fn files_without_a_version_are_refused_by_allowed_versions_only() {
        let document =
            br#"{"files":[{"filename":"demo-latest.tar.gz","url":"a"},{"filename":"demo-1.exe","url":"b"}]}"#;
        let page = Page::from_json(document.to_vec()).unwrap();
        for (rules, is_allowed) in [
            (Rules { allow: vec![selector("demo >0")], ..Rules::default() }, false),
            (Rules { deny: vec![selector("demo >0")], ..Rules::default() }, true),
        ] {
            for file in page.files() {
                assert_eq!(rules.check(&name("demo"), &file, at(0)).is_ok(), is_allowed, "{file:?}");
            }
        }
    }

    #[test]
    fn newer_files_are_excluded() {
        let rules = Rules { exclude_newer: Some(at(20)), ..Rules::default() };
        let old = ["demo-1.0.tar.gz", "demo-4.0.tar.gz"].map(str::to_owned);
        assert_eq!(shown(&rules, 1000), (old.to_vec(), None, None));
        let rules = Rules { min_age_unknown: UnknownAge::Allow, ..rules };
        assert_eq!(shown(&rules, 0).0.len(), 4);
        // Both limits apply.
        let rules = Rules { min_age: Duration::from_secs(100), ..rules };
        assert_eq!(shown(&rules, 0), (shown(&rules, 50).0, Some(at(105)), None));
        assert_eq!(shown(&rules, 105).0.len(), 3);
        let page = page();
        let violation =
            rules.check(&name("demo"), &page.file("demo-1.1.tar.gz").unwrap(), at(50)).unwrap_err();
        assert_eq!(
            (violation.rule(), violation.entry()),
            ("exclude_newer", Some("1970-01-01T00:00:20Z".into()))
        );
    }

    #[test]
    fn statuses_are_kept_or_refused() {
        for (status, default, all) in [
            ("active", Ok(()), Ok(())),
            ("unknown", Ok(()), Ok(())),
            ("archived", Ok(()), Err("archived")),
            ("deprecated", Ok(()), Err("deprecated")),
            ("quarantined", Err("quarantined"), Err("quarantined")),
        ] {
            let document = format!(
                r#"{{"files":[{{"filename":"a-1.tar.gz","url":"a"}}],"project-status":{{"status":"{status}","reason":"x"}}}}"#
            );
            let page = Arc::new(Page::from_json(document.into_bytes()).unwrap());
            let refuse = Rules {
                quarantined: StatusRule::Refuse,
                archived: StatusRule::Refuse,
                deprecated: StatusRule::Refuse,
                ..Rules::default()
            };
            for (rules, expected) in [(Rules::default(), default), (refuse, all)] {
                let file = page.files().next().unwrap();
                let verdict = rules.check(&name("a"), &file, at(0));
                assert_eq!(verdict.as_ref().map(drop).map_err(Violation::rule), expected, "{status}");
                let mut removed = Removed::default();
                let offered = rules.offered(&page, &mut removed).unwrap();
                assert_eq!(offered.files().len(), usize::from(expected.is_ok()), "{status}");
                assert_eq!(removed.text(), expected.err().map(|rule| format!("{rule}=1")));
                assert_eq!(offered.project_status().name() == status, status != "unknown");
            }
        }
    }

    #[test]
    fn malware_is_refused_unless_it_is_exempt() {
        let dir = tempfile::tempdir().unwrap();
        let record = r#"{"id":"MAL-7","affected":[{"package":{"ecosystem":"PyPI","name":"Demo"},"versions":["1.1","4"]}]}"#;
        std::fs::write(dir.path().join("1.json"), record).unwrap();
        let osv = OsvDir::open(OsvConfig::new(dir.path())).unwrap();
        let rules = Rules { osv: Some(osv), ..Rules::default() };
        assert!(rules.is_on());
        let names = |rules: &Rules| shown(rules, 0).0;
        assert_eq!(names(&rules), ["demo-1.0.tar.gz", "demo-2.0.tar.gz", "demo-3.0.tar.gz"]);
        let violation =
            rules.check(&name("demo"), &page().file("demo-4.0.tar.gz").unwrap(), at(0)).unwrap_err();
        assert_eq!((violation.rule(), violation.entry()), ("osv_dir", Some("MAL-7".into())));
        assert!(!rules.page(&name("other"), page(), at(0), &mut Removed::default()).unwrap().is_restricted);
        let rules = Rules { osv_exempt: vec![selector("demo >3")], ..rules };
        assert_eq!(names(&rules).len(), 4);
    }

    #[test]
    fn removed_files_are_counted_by_rule() {
        let rules = Rules {
            deny: vec![selector("demo ==1.0")],
            min_age: Duration::from_secs(100),
            yanked: Yanked::Hide,
            ..Rules::default()
        };
        let mut removed = Removed::default();
        rules.page(&name("demo"), page(), at(110), &mut removed).unwrap();
        assert_eq!(removed.text().unwrap(), "deny_projects=1, min_age=2, min_age_unknown=2, yanked=1");
    }
}
