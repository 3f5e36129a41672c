//! `export` and `import`: move a cache to a machine without a network.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::ArgMatches;
use indicatif::{HumanBytes, ProgressBar};
use pypi_proxy::ProjectName;
use pypi_proxy::archive::{ExportOptions, ExportReport, ImportOptions};
use pypi_proxy::config::Settings;
use pypi_proxy::serve::Proxy;
use pypi_proxy::store::{self, Digest, Store};

use super::args::{Export, Import};
use super::requirements::{Requirement, Requirements};
use super::setup;

/// Maximum number of files that are listed as missing.
const MAX_LISTED: usize = 20;

/// Opens the cache without serving it.
fn open(settings: &Settings) -> Result<Proxy> {
    let builder = setup::proxy_builder(settings, setup::index(settings)?)?;
    // Opening the store evicts nothing.
    let config = store::Config { max_bytes: u64::MAX, unused_ttl: None, bucket: None, ..builder.store()? };
    match Store::open(config) {
        Ok(store) => Ok(builder.proxy(store)?),
        Err(error) if error.is_busy() => bail!("{error} (stop it first)"),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn export(matches: &ArgMatches, options: &Export) -> Result<()> {
    let settings = setup::local_settings(matches)?;
    let wanted = match &options.requirements[..] {
        [] => None,
        files => Some(Requirements::read_all(files)?.projects),
    };
    if let Some(dir) = settings.cache_directory().filter(|dir| !dir.exists()) {
        bail!("there is no cache yet: {}", dir.display());
    }
    let proxy = open(&settings)?;
    let wanted_by_name = wanted.as_deref().map(by_name);
    let filter = |project: &ProjectName, file: &str, sha256: Option<&Digest>| {
        let wanted = wanted_by_name.as_ref().and_then(|wanted| wanted.get(project));
        wanted.is_none_or(|wanted| wanted.iter().any(|one| selects(one, file, sha256)))
    };
    let export = ExportOptions {
        projects: wanted_by_name.as_ref().map(|wanted| wanted.keys().map(|name| (*name).clone()).collect()),
        files: if wanted.is_some() { Some(&filter) } else { None },
        is_compressed: options.archive.extension().is_some_and(|extension| extension == "zst"),
    };
    let report = write(&proxy, &export, &options.archive)?;
    let mut out = io::stdout().lock();
    let ExportReport { pages, files, bytes, manifest, indexes, .. } = &report;
    writeln!(out, "{pages} pages and {files} files ({}) exported", HumanBytes(*bytes))?;
    for index in indexes {
        writeln!(out, "index    {index}")?;
    }
    writeln!(out, "manifest {manifest}")?;
    let is_locked = |name: &ProjectName| {
        let wanted = wanted_by_name.as_ref().and_then(|wanted| wanted.get(name));
        wanted.is_some_and(|wanted| wanted.iter().any(|one| !one.files.is_empty()))
    };
    let missing: Vec<_> = report.missing.iter().filter(|(project, _)| is_locked(project)).collect();
    for (_, file) in missing.iter().take(MAX_LISTED) {
        writeln!(io::stderr(), "{file}: not in the cache")?;
    }
    if missing.len() > MAX_LISTED {
        writeln!(io::stderr(), "{} more files are not in the cache", missing.len() - MAX_LISTED)?;
    }
    Ok(())
}

/// Writes the archive to a file of another name first, so that a file of its name is always complete.
fn write(proxy: &Proxy, export: &ExportOptions<'_>, archive: &Path) -> Result<ExportReport> {
    let mut partial = OsString::from(archive);
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let context = || format!("{} can't be written", archive.display());
    // The rename would replace a device or pipe.
    if fs::metadata(archive).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(anyhow::anyhow!("it is not a regular file")).with_context(context);
    }
    // It may be left over from an interrupted export.
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(context),
        _ => {}
    }
    let file = OpenOptions::new().write(true).create_new(true).open(&partial).with_context(context)?;
    let bar = bar();
    let result = setup::runtime()?.block_on(proxy.export(export, BufWriter::new(&file), progress(&bar)));
    bar.finish_and_clear();
    let written = result.map_err(anyhow::Error::from).and_then(|report| {
        file.sync_all().and_then(|()| fs::rename(&partial, archive)).with_context(context)?;
        Ok(report)
    });
    if written.is_err() {
        // The next export deletes it as well.
        let _ = fs::remove_file(&partial);
    }
    written
}

pub(super) fn import(matches: &ArgMatches, options: &Import) -> Result<()> {
    let settings = setup::local_settings(matches)?;
    let context = || options.archive.display().to_string();
    let file = File::open(&options.archive).with_context(context)?;
    let proxy = open(&settings)?;
    let max = settings.cache_directory_size();
    let import = ImportOptions {
        indexes: options.indexes.iter().cloned().collect(),
        max_bytes: (max < u64::MAX).then_some(max),
    };
    let bar = bar();
    let result = setup::runtime()?.block_on(proxy.import(&import, file, progress(&bar)));
    bar.finish_and_clear();
    let report = result.with_context(context)?;
    let mut out = io::stdout().lock();
    let (pages, files) = (report.pages, report.files);
    writeln!(out, "{pages} pages and {files} files ({}) imported", HumanBytes(report.bytes))?;
    let (pages, files) = (report.kept_pages, report.stored_files);
    writeln!(out, "{pages} pages and {files} files were in the cache already")?;
    writeln!(out, "manifest {}", report.manifest)?;
    if report.unbound_files > 0 {
        let count = report.unbound_files;
        writeln!(
            io::stderr(),
            "{count} files are not used, because the cache has newer pages or other hashes"
        )?;
    }
    if report.cache_bytes > max {
        let (bytes, max) = (HumanBytes(report.cache_bytes), HumanBytes(max));
        writeln!(
            io::stderr(),
            "the cache has {bytes}, more than {max}: increase cache_size before serving it"
        )?;
    }
    Ok(())
}

fn by_name(requirements: &[Requirement]) -> HashMap<&ProjectName, Vec<&Requirement>> {
    let mut wanted: HashMap<_, Vec<_>> = HashMap::new();
    for requirement in requirements {
        wanted.entry(&requirement.name).or_default().push(requirement);
    }
    wanted
}

/// Returns whether a requirement selects a file: by its hash, its name, or its version.
fn selects(requirement: &Requirement, file: &str, sha256: Option<&Digest>) -> bool {
    if requirement.files.is_empty() {
        return requirement.version_of(file).is_some_and(|version| requirement.versions.contains(&version));
    }
    requirement.files.iter().any(|wanted| match sha256 {
        Some(sha256) => wanted.sha256 == sha256.to_string(),
        None => wanted.name.as_deref() == Some(file),
    })
}

/// Shows the bytes of the total.
fn progress(bar: &ProgressBar) -> impl FnMut(u64, u64) {
    |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    }
}

fn bar() -> ProgressBar {
    setup::styled(ProgressBar::new(0), "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
}
