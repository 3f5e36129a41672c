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
use pypi_proxy::config::ProxyBuilder;
use pypi_proxy::page_cache::{Claims, IndexPage, PageCache};
use pypi_proxy::rules::{Rules, Violation, Yanked};
use pypi_proxy::upstream::Upstream;
use pypi_proxy::{File, ProjectName, ProjectStatus, file_version};
use tokio::runtime::Runtime;

use super::{Usage, setup};

pub(super) fn run(matches: &ArgMatches, requirement: &str) -> Result<()> {
    let (name, versions) = parse(requirement)?;
    let settings = setup::settings(matches)?;
    let builder = setup::proxy_builder(&settings, setup::index(&settings)?)?;
    let runtime = setup::runtime()?;
    let mut out = io::stdout().lock();
    // All private indexes are known before the first page is read.
    let claims = builder.recorded_claims()?;
    let named: Vec<_> = builder.named().collect();
    let indexes = std::iter::once(&builder).chain(&named).map(|builder| Index::of(builder, &claims));
    let indexes = indexes.collect::<Result<Vec<_>>>()?;
    let mut is_found = false;
    for index in &indexes {
        if let Some(name) = index.name {
            writeln!(out, "\nnamed index {name}")?;
        }
        is_found |= explain(&mut out, &runtime, index, &name, versions.as_ref())?;
    }
    if is_found { Ok(()) } else { bail!("no index has a file of {requirement}") }
}

/// The default index of the proxy, or a named one.
struct Index<'b> {
    name: Option<&'b str>,
    rules: Rules,
    upstreams: Vec<Arc<Upstream>>,
    pages: PageCache,
}

impl<'b> Index<'b> {
    fn of(builder: &'b ProxyBuilder<'_>, claims: &Claims) -> Result<Self> {
        let (rules, upstreams) = (builder.rules()?, builder.upstreams()?);
        let pages = builder.page_reader(upstreams.clone(), rules.clone(), claims.clone())?;
        Ok(Self { name: builder.name(), rules, upstreams, pages })
    }
}

/// Explains the rules of one index of the proxy. Returns whether there is anything to explain.
fn explain(
    out: &mut impl io::Write,
    runtime: &Runtime,
    Index { rules, upstreams, pages, .. }: &Index<'_>,
    name: &ProjectName,
    versions: Option<&VersionSpecifiers>,
) -> Result<bool> {
    if let Err(violation) = rules.check_project(name) {
        writeln!(out, "{name}: {}", refused(&violation))?;
        return Ok(true);
    }
    let pages = runtime.block_on(pages.inspect(name));
    for (index, (upstream, page)) in upstreams.iter().zip(&pages).enumerate() {
        writeln!(out, "index {}: {}", index + 1, describe(upstream, page))?;
    }
    let mut found = files(name, rules, &pages);
    let Some(versions) = versions else {
        print_versions(out, &found)?;
        return Ok(!found.is_empty());
    };
    found.retain(|version, _| version.as_ref().is_some_and(|version| versions.contains(version)));
    for Candidate { name, index, uploaded, verdict } in found.values().flatten() {
        let uploaded = uploaded.as_deref().unwrap_or("at an unknown time");
        writeln!(out, "{name}  (index {}, uploaded {uploaded})", index + 1)?;
        writeln!(out, "  {}", verdict.text(true))?;
    }
    Ok(!found.is_empty())
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
        return format!("{upstream}: not used, because another index has precedence");
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
