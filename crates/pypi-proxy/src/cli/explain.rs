//! `explain`: which files of a project clients may use, and which rules forbid the others.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Result, bail};
use clap::ArgMatches;
use indicatif::HumanDuration;
use pep440_rs::{Version, VersionSpecifiers};
use pypi_proxy::page_cache::{self, IndexPage, PageCache};
use pypi_proxy::rules::{Rules, Violation, Yanked};
use pypi_proxy::store::PagesDir;
use pypi_proxy::upstream::Upstream;
use pypi_proxy::{File, ProjectName, ProjectStatus, file_version};

use super::{Usage, setup};

pub(super) fn run(matches: &ArgMatches, requirement: &str) -> Result<()> {
    let (name, versions) = parse(requirement)?;
    let settings = setup::settings(matches)?;
    let builder = setup::proxy_builder(&settings, setup::index(&settings)?)?;
    let rules = builder.rules()?;
    let mut out = io::stdout().lock();
    if let Err(violation) = rules.check_project(&name) {
        writeln!(out, "{name}: {}", refused(&violation))?;
        return Ok(());
    }
    let upstreams = builder.upstreams()?;
    let config = page_cache::Config {
        dir: settings.cache_directory().map(PagesDir::of_cache),
        rules: rules.clone(),
        wheel_metadata: settings.wheel_metadata.value,
        ..page_cache::Config::default()
    };
    let pages = PageCache::new(upstreams.clone(), config);
    let pages = tokio::runtime::Runtime::new()?.block_on(pages.inspect(&name));
    for (index, (upstream, page)) in upstreams.iter().zip(&pages).enumerate() {
        writeln!(out, "index {}: {}", index + 1, describe(upstream, page))?;
    }
    let found = files(&name, &rules, &pages);
    if found.is_empty() {
        bail!("no index has a file of {name}");
    }
    match versions {
        None => print_versions(&mut out, &found)?,
        Some(versions) => {
            let is_wanted = |version: &Version| versions.contains(version);
            let wanted = found.iter().filter(|(version, _)| version.as_ref().is_some_and(is_wanted));
            let wanted: Vec<_> = wanted.flat_map(|(_, files)| files).collect();
            if wanted.is_empty() {
                bail!("no index has a file of {requirement}");
            }
            for Candidate { name, index, uploaded, verdict } in wanted {
                let uploaded = uploaded.as_deref().unwrap_or("at an unknown time");
                writeln!(out, "{name}  (index {}, uploaded {uploaded})", index + 1)?;
                writeln!(out, "  {}", verdict.text(true))?;
            }
        }
    }
    Ok(())
}

fn parse(requirement: &str) -> Result<(ProjectName, Option<VersionSpecifiers>), Usage> {
    let (name, version) = match requirement.split_once("==") {
        Some((name, version)) => (name, Some(version)),
        None => (requirement, None),
    };
    let usage = || Usage("expected NAME or NAME==VERSION".into());
    let name = ProjectName::parse(name.trim()).map_err(|_| usage())?;
    let versions = version.map(|version| VersionSpecifiers::from_str(&format!("=={version}")));
    Ok((name, versions.transpose().map_err(|_| usage())?))
}

/// Describes the page of an index: its files, age and status.
fn describe(upstream: &Arc<Upstream>, index: &IndexPage) -> String {
    if index.is_excluded {
        return format!("{upstream}: not used, because project_sources selects another index");
    }
    let mut text = match &index.page {
        None if index.error.is_some() => format!("{upstream}: no page"),
        None => format!("{upstream}: no such project"),
        Some(page) => format!("{upstream}: {} files", page.files().len()),
    };
    let age = index.checked.and_then(|checked| SystemTime::now().duration_since(checked).ok());
    if let (Some(age), Some(page)) = (age, &index.page) {
        text += &format!(", page of {} ago", HumanDuration(age));
        if page.project_status() != ProjectStatus::Active {
            text += &format!(", {}", page.project_status().name());
            text += &page.status().1.map(|reason| format!(" ({reason:?})")).unwrap_or_default();
        }
    }
    if let Some(error) = &index.error {
        let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
        text += &causes.fold(format!(", {error}"), |text, cause| format!("{text}: {cause}"));
    }
    text
}

struct Candidate {
    name: String,
    index: usize,
    uploaded: Option<String>,
    verdict: Verdict,
}

enum Verdict {
    Allowed,
    /// Removed from pages, but served.
    Hidden,
    Refused(Violation),
}

impl Verdict {
    fn of(project: &ProjectName, rules: &Rules, file: &File<'_>) -> Self {
        match rules.check(project, file, SystemTime::now()) {
            Err(violation) => Self::Refused(violation),
            Ok(()) if rules.yanked == Yanked::Hide && file.details().yanked.is_some() => Self::Hidden,
            Ok(()) => Self::Allowed,
        }
    }

    fn text(&self, is_long: bool) -> String {
        match self {
            Self::Allowed => "allowed".into(),
            Self::Hidden => "removed from pages by yanked, but served".into(),
            Self::Refused(violation) if is_long => refused(violation),
            Self::Refused(violation) => match violation.entry() {
                Some(entry) => format!("refused by {} ({entry})", violation.rule()),
                None => format!("refused by {}", violation.rule()),
            },
        }
    }
}

fn refused(violation: &Violation) -> String {
    let entry = violation.entry().map(|entry| format!(" ({entry})")).unwrap_or_default();
    format!("refused by {}{entry}: {violation}", violation.rule())
}

/// Returns the files of all indexes by version. A file that several indexes have comes from the first one whose status
/// allows it.
fn files(
    project: &ProjectName,
    rules: &Rules,
    pages: &[IndexPage],
) -> BTreeMap<Option<Version>, Vec<Candidate>> {
    let mut found: BTreeMap<_, Vec<Candidate>> = BTreeMap::new();
    let pages = pages.iter().enumerate().filter_map(|(index, page)| Some((index, page.page.as_ref()?)));
    for (index, file) in pages.flat_map(|(index, page)| page.files().map(move |file| (index, file))) {
        let version = file_version(project, file.name()).and_then(|text| Version::from_str(&text).ok());
        let files = found.entry(version).or_default();
        let candidate = Candidate {
            name: file.name().to_owned(),
            index,
            uploaded: file.details().upload_time.map(|time| time.into_owned()),
            verdict: Verdict::of(project, rules, &file),
        };
        match files.iter_mut().find(|other| other.name == candidate.name) {
            None => files.push(candidate),
            Some(other) if matches!(other.verdict, Verdict::Refused(Violation::Status(_))) => {
                *other = candidate
            }
            Some(_) => {}
        }
    }
    found
}

/// Prints one line per version, from the oldest to the newest.
fn print_versions(
    out: &mut impl io::Write,
    found: &BTreeMap<Option<Version>, Vec<Candidate>>,
) -> io::Result<()> {
    for (version, files) in found {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for file in files {
            *counts.entry(file.verdict.text(false)).or_default() += 1;
        }
        let version = version.as_ref().map_or_else(|| "other files".to_owned(), ToString::to_string);
        let counts: Vec<_> = counts.into_iter().map(|(text, count)| format!("{count} {text}")).collect();
        writeln!(out, "{version}: {}", counts.join(", "))?;
    }
    Ok(())
}
