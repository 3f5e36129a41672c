//! A directory of OSV records, which is read again when it changes.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, RwLock};
use pep440_rs::Version;

use super::osv::{Coverage, OsvRecord};
use crate::error::{Chain, Kind};
use crate::{Error, ProjectName};

/// Maximum depth of subdirectories.
const MAX_DEPTH: usize = 16;
/// Maximum number of malformed records that are logged each time the directory is read.
const MAX_LOGGED: usize = 20;

/// Records of an [`OsvDir`] that take effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OsvSelection {
    /// Records of malware: those whose id starts with `MAL-`.
    #[default]
    Malware,
    /// All records, also those of vulnerabilities.
    All,
}

/// Configuration of an [`OsvDir`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsvConfig {
    /// Directory with one record per file, whose name ends with `.json`, in any subdirectory. Names that start with a
    /// dot are ignored.
    pub dir: PathBuf,
    /// Records that take effect. Default: [`OsvSelection::Malware`].
    pub selection: OsvSelection,
    /// Time between checks for changes. Default: a minute.
    pub interval: Duration,
    /// Maximum size of a record in bytes; larger ones are ignored and reported. Default: 4 MiB.
    pub max_size: u64,
    /// Maximum number of files and directories; further ones are ignored and reported. Default: 500,000.
    pub max_files: usize,
}

impl OsvConfig {
    /// Returns the defaults for a directory.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            selection: OsvSelection::default(),
            interval: Duration::from_secs(60),
            max_size: 4 << 20,
            max_files: 500_000,
        }
    }
}

/// Records of malware and vulnerabilities in a directory. Clones share the records.
///
/// A thread reads changed files until the last clone is dropped. A malformed record is logged and ignored; if it was valid
/// before, its previous content stays in effect.
#[derive(Clone)]
pub struct OsvDir(Arc<Handle>);

struct Handle {
    shared: Arc<Shared>,
    /// Ends the thread when it is dropped.
    _stop: Sender<()>,
}

struct Shared {
    config: OsvConfig,
    /// Locked while the directory is read.
    files: Mutex<Files>,
    records: RwLock<Records>,
    /// Number of changes of `records`.
    generation: AtomicU64,
}

#[derive(Default)]
struct Files {
    records: BTreeMap<PathBuf, OsvFile>,
    is_truncated: bool,
}

struct OsvFile {
    /// Modification time and length.
    stamp: (Option<SystemTime>, u64),
    record: Option<Arc<OsvRecord>>,
    problem: Option<String>,
}

type Records = HashMap<ProjectName, Arc<[Advisory]>>;

/// Versions of one project that a record covers.
#[derive(Clone, Debug)]
pub(super) struct Advisory {
    pub(super) id: Arc<str>,
    coverage: Arc<Coverage>,
}

impl Advisory {
    pub(super) fn has(&self, version: Option<&Version>) -> bool {
        self.coverage.has(version)
    }
}

impl OsvDir {
    /// Reads all records of the directory.
    ///
    /// # Errors
    ///
    /// Fails if the directory can't be read ([`Error::is_config`]).
    pub fn open(config: OsvConfig) -> Result<Self, Error> {
        let interval = config.interval;
        let failed = |error| unreadable(&config.dir, error);
        let shared = Arc::new(Shared {
            config: config.clone(),
            files: Mutex::default(),
            records: RwLock::default(),
            generation: AtomicU64::new(0),
        });
        shared.read().map_err(failed)?;
        let (stop, stopped) = channel();
        let reader = shared.clone();
        let work = move || {
            while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                reader.read_again();
            }
        };
        std::thread::Builder::new().name("osv".into()).spawn(work).map_err(failed)?;
        Ok(Self(Arc::new(Handle { shared, _stop: stop })))
    }

    /// Returns the configuration.
    pub fn config(&self) -> &OsvConfig {
        &self.0.shared.config
    }

    /// Reads changed files now. If the directory can't be read, the error is logged, and the records stay in effect.
    pub fn refresh(&self) {
        self.0.shared.read_again();
    }

    /// Returns the number of records that take effect.
    pub fn count(&self) -> usize {
        let files = self.0.shared.files.lock();
        files
            .records
            .values()
            .filter_map(|file| file.record.as_ref())
            .filter(|one| self.0.shared.uses(one))
            .count()
    }

    /// Returns a message for each file that is not a valid record.
    pub fn problems(&self) -> Vec<String> {
        let files = self.0.shared.files.lock();
        let problem = |(path, file): (&PathBuf, &OsvFile)| {
            Some(format!("{}: {}", path.display(), file.problem.as_ref()?))
        };
        let truncated = files.is_truncated.then(|| self.0.shared.truncation());
        files.records.iter().filter_map(problem).chain(truncated).collect()
    }

    /// Returns a number that changes with the records.
    pub(crate) fn generation(&self) -> u64 {
        self.0.shared.generation.load(Ordering::Acquire)
    }

    /// Returns the advisories about a project.
    pub(super) fn of(&self, normal: &str) -> Option<Arc<[Advisory]>> {
        self.0.shared.records.read().get(normal).cloned()
    }
}

/// Clones are equal.
impl PartialEq for OsvDir {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for OsvDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OsvDir").field("config", &self.0.shared.config).finish_non_exhaustive()
    }
}

impl Shared {
    fn uses(&self, record: &OsvRecord) -> bool {
        let is_selected = self.config.selection == OsvSelection::All || record.is_malware();
        is_selected && !record.is_withdrawn()
    }

    fn truncation(&self) -> String {
        let count = self.config.max_files;
        format!(
            "{}: more than {count} files and directories, the others are ignored",
            self.config.dir.display()
        )
    }

    fn read_again(&self) {
        if let Err(error) = self.read() {
            let error = unreadable(&self.config.dir, error);
            tracing::warn!(error = %Chain(&error), "the previous OSV records stay in effect");
        }
    }

    /// Reads changed files. Changes nothing if the directory can't be listed.
    fn read(&self) -> io::Result<()> {
        let mut files = self.files.lock();
        let (found, is_truncated) = self.list()?;
        let mut is_changed = files.records.keys().any(|path| !found.contains_key(path));
        files.records.retain(|path, _| found.contains_key(path));
        let mut problems = 0;
        for (path, stamp) in found {
            let before = files.records.get(&path);
            if before.is_some_and(|before| before.stamp == stamp) {
                continue;
            }
            let (record, problem) = match self.record(&path) {
                Ok(record) => {
                    is_changed = true;
                    (Some(Arc::new(record)), None)
                }
                Err(error) => {
                    problems += 1;
                    let error = Chain(&error).to_string();
                    if problems <= MAX_LOGGED {
                        tracing::warn!(path = %path.display(), %error, "an OSV record is ignored");
                    }
                    // For example, it is not written completely yet.
                    (before.and_then(|before| before.record.clone()), Some(error))
                }
            };
            files.records.insert(path, OsvFile { stamp, record, problem });
        }
        if problems > MAX_LOGGED {
            tracing::warn!(count = problems - MAX_LOGGED, "further OSV records are ignored");
        }
        if is_truncated && !files.is_truncated {
            tracing::warn!("{}", self.truncation());
        }
        files.is_truncated = is_truncated;
        if is_changed {
            let records = self.index(&files);
            tracing::info!(projects = records.len(), "OSV records were read");
            *self.records.write() = records;
            self.generation.fetch_add(1, Ordering::Release);
        }
        Ok(())
    }

    fn index(&self, files: &Files) -> Records {
        let mut records: HashMap<ProjectName, Vec<Advisory>> = HashMap::new();
        let used = files.records.values().filter_map(|file| file.record.as_ref());
        for record in used.filter(|record| self.uses(record)) {
            for (project, coverage) in &record.affected {
                let advisory = Advisory { id: record.shared_id(), coverage: coverage.clone() };
                records.entry(project.clone()).or_default().push(advisory);
            }
        }
        records.into_iter().map(|(project, advisories)| (project, advisories.into())).collect()
    }

    fn record(&self, path: &Path) -> Result<OsvRecord, Error> {
        let unreadable = |error: io::Error| Error::with(Kind::Config, "can't be read").caused_by(error);
        let file = fs::File::open(path).map_err(unreadable)?;
        let mut document = Vec::new();
        let max = self.config.max_size;
        file.take(max.saturating_add(1)).read_to_end(&mut document).map_err(unreadable)?;
        if document.len() as u64 > max {
            return Err(Error::with(Kind::Config, format!("larger than {}", crate::units::format_size(max))));
        }
        OsvRecord::parse(&document)
    }

    /// Lists the files with their modification times and lengths, and returns whether there are too many.
    #[expect(clippy::type_complexity, reason = "used once")]
    fn list(&self) -> io::Result<(BTreeMap<PathBuf, (Option<SystemTime>, u64)>, bool)> {
        let mut found = BTreeMap::new();
        let mut dirs = vec![(self.config.dir.clone(), 0)];
        let mut left = self.config.max_files;
        while let Some((dir, depth)) = dirs.pop() {
            let entries = match fs::read_dir(&dir) {
                // It was removed meanwhile.
                Err(error) if depth > 0 && error.kind() == ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name();
                let path = entry.path();
                if name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                // Follows links: directories that Kubernetes mounts have them.
                let Ok(metadata) = fs::metadata(&path) else { continue };
                let is_record = metadata.is_file() && path.extension().is_some_and(|end| end == "json");
                if !is_record && !metadata.is_dir() {
                    continue;
                }
                let Some(rest) = left.checked_sub(1) else { return Ok((found, true)) };
                left = rest;
                if is_record {
                    found.insert(path, (metadata.modified().ok(), metadata.len()));
                } else if depth < MAX_DEPTH {
                    dirs.push((path, depth + 1));
                }
            }
        }
        Ok((found, false))
    }
}

#[cold]
fn unreadable(dir: &Path, error: io::Error) -> Error {
    Error::with(Kind::Config, format!("osv_dir: {} can't be read", dir.display())).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, path: &str, document: &str) {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, document).unwrap();
    }

    fn record(id: &str, project: &str) -> String {
        format!(r#"{{"id":"{id}","affected":[{{"package":{{"ecosystem":"PyPI","name":"{project}"}}}}]}}"#)
    }

    /// A directory that is only read again by [`OsvDir::refresh`].
    fn config(dir: &tempfile::TempDir) -> OsvConfig {
        OsvConfig { interval: Duration::from_secs(86_400), ..OsvConfig::new(dir.path()) }
    }

    fn ids(osv: &OsvDir, project: &str) -> Vec<String> {
        osv.of(project).iter().flat_map(|all| all.iter()).map(|one| one.id.to_string()).collect()
    }

    #[test]
    fn records_of_all_subdirectories_are_read() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "MAL-1.json", &record("MAL-1", "a"));
        write(dir.path(), "pypi/a/MAL-2.json", &record("MAL-2", "A"));
        write(dir.path(), "PYSEC-1.json", &record("PYSEC-1", "a"));
        write(dir.path(), ".git/MAL-3.json", &record("MAL-3", "a"));
        write(dir.path(), "README.md", "{");
        let osv = OsvDir::open(config(&dir)).unwrap();
        assert_eq!((ids(&osv, "a"), osv.count()), (vec!["MAL-1".to_owned(), "MAL-2".into()], 2));
        assert!(osv.problems().is_empty() && ids(&osv, "b").is_empty());
        let all = OsvDir::open(OsvConfig { selection: OsvSelection::All, ..config(&dir) }).unwrap();
        assert_eq!(ids(&all, "a"), ["MAL-1", "PYSEC-1", "MAL-2"]);
    }

    #[test]
    fn changes_take_effect_and_malformed_records_keep_the_previous_content() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "1.json", &record("MAL-1", "a"));
        write(dir.path(), "2.json", "{");
        let osv = OsvDir::open(config(&dir)).unwrap();
        let problems = osv.problems();
        assert!(problems.len() == 1 && problems[0].contains("2.json: ") && osv.count() == 1, "{problems:?}");
        let first = osv.generation();
        osv.refresh();
        assert_eq!(osv.generation(), first);

        write(dir.path(), "1.json", "{\"id\":\"truncated");
        write(dir.path(), "2.json", &record("MAL-20", "b"));
        osv.refresh();
        assert_eq!((ids(&osv, "a"), ids(&osv, "b")), (vec!["MAL-1".to_owned()], vec!["MAL-20".to_owned()]));
        assert!(osv.problems()[0].contains("1.json") && osv.generation() > first);

        fs::remove_file(dir.path().join("1.json")).unwrap();
        let withdrawn = record("MAL-20", "b").replace("\"affected\"", "\"withdrawn\":\"2024\",\"affected\"");
        write(dir.path(), "2.json", &withdrawn);
        osv.refresh();
        assert_eq!((ids(&osv, "a").len(), ids(&osv, "b").len(), osv.count()), (0, 0, 0));
        assert!(osv.problems().is_empty());
    }

    #[test]
    fn an_unreadable_directory_is_an_error_or_keeps_the_records() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "osv/1.json", &record("MAL-1", "a"));
        let osv = OsvDir::open(OsvConfig { dir: dir.path().join("osv"), ..config(&dir) }).unwrap();
        fs::rename(dir.path().join("osv"), dir.path().join("other")).unwrap();
        osv.refresh();
        assert_eq!(ids(&osv, "a"), ["MAL-1"]);
        let error = OsvDir::open(OsvConfig { dir: dir.path().join("osv"), ..config(&dir) }).unwrap_err();
        assert!(error.is_config() && error.to_string().contains("osv_dir: "), "{error}");
    }

    #[test]
    fn limits_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..3 {
            write(dir.path(), &format!("{number}.json"), &record("MAL-1", "a"));
        }
        write(dir.path(), "0.json", &format!("{}{}", record("MAL-1", "a"), " ".repeat(1000)));
        let osv = OsvDir::open(OsvConfig { max_size: 500, ..config(&dir) }).unwrap();
        let problems = osv.problems();
        assert!(
            problems.len() == 1 && problems[0].ends_with("0.json: invalid configuration: larger than 500"),
            "{problems:?}"
        );
        let osv = OsvDir::open(OsvConfig { max_files: 2, ..config(&dir) }).unwrap();
        assert_eq!(osv.count(), 2);
        assert!(osv.problems()[0].contains("more than 2 files"), "{:?}", osv.problems());
    }

    #[cfg(unix)]
    #[test]
    fn links_to_parents_end() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "1.json", &record("MAL-1", "a"));
        std::os::unix::fs::symlink(dir.path(), dir.path().join("again")).unwrap();
        let osv = OsvDir::open(config(&dir)).unwrap();
        assert_eq!(osv.count(), MAX_DEPTH + 1);
    }
}
