//! Parsers for the lock files of uv, Poetry, pipenv and PDM, and for `pylock.toml` (PEP 751).
//!
//! ```
//! use pypi_proxy::lock_file::{LockFile, LockFormat};
//!
//! let text = r#"
//! version = 1
//! [[package]]
//! name = "demo"
//! version = "1.0"
//! source = { registry = "https://packages.example.org/simple" }
//! wheels = [{ url = "https://files.example.org/demo-1.0-py3-none-any.whl", hash = "sha256:7b278bc03a6b2bd854fd4d75ab821e51d9533ce2d002533891e92c9fc4dda1db" }]
//! "#;
//! let format = LockFormat::detect("uv.lock", text).unwrap();
//! let lock = LockFile::parse(format, text)?;
//! assert_eq!(lock.projects[0].name.as_str(), "demo");
//! assert_eq!(lock.projects[0].files[0].name.as_deref(), Some("demo-1.0-py3-none-any.whl"));
//! # Ok::<(), pypi_proxy::Error>(())
//! ```
//!
//! Markers and Python versions are ignored: a lock has the files of all platforms.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tightwire_json::Value;
use toml::Spanned;

use crate::digest::Digest;
use crate::error::Kind;
use crate::name::is_file_name;
use crate::{Error, ProjectName};

/// Maximum size of a lock file in bytes: several times the size of the largest published ones.
pub const MAX_LOCK_FILE: u64 = 32 << 20;

/// Syntax of a lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockFormat {
    /// `uv.lock`, `poetry.lock`, `pdm.lock` and `pylock.toml`: arrays of tables, with different keys.
    Toml,
    /// `Pipfile.lock`.
    Pipfile,
}

impl LockFormat {
    /// Detects the format by the name of the file, or else by its contents. Returns `None` if it is no lock file.
    pub fn detect(name: &str, text: &str) -> Option<Self> {
        match name {
            "uv.lock" | "poetry.lock" | "pdm.lock" | "pylock.toml" => return Some(Self::Toml),
            "Pipfile.lock" => return Some(Self::Pipfile),
            _ if name.starts_with("pylock.") && name.ends_with(".toml") => return Some(Self::Toml),
            _ => {}
        }
        if text.trim_start().starts_with('{') {
            return Some(Self::Pipfile);
        }
        let is_array = |line: &str| matches!(line.trim(), "[[package]]" | "[[packages]]");
        text.lines().any(is_array).then_some(Self::Toml)
    }
}

/// Contents of a lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// Projects of indexes, in the order of the file. A project can occur several times, for example with different
    /// versions.
    pub projects: Vec<LockedProject>,
    /// Entries that are not downloaded.
    pub skipped: Vec<SkippedEntry>,
}

/// A project of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedProject {
    /// Name of the project.
    pub name: ProjectName,
    /// Its files, at least one.
    pub files: Vec<LockedFile>,
}

/// A file of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedFile {
    /// File name; `None` if the lock has only hashes (`Pipfile.lock`) or no valid name.
    pub name: Option<String>,
    /// SHA-256 of the file.
    pub sha256: Digest,
}

/// An entry of a lock file that is not downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedEntry {
    /// Name of the project.
    pub project: String,
    /// Line in the file, from 1, if known.
    pub line: Option<usize>,
    /// Reason for skipping the package.
    pub reason: &'static str,
}

const OTHER_SOURCE: &str = "not a project of an index";
const NO_HASHES: &str = "no files with hashes";
const OTHER_HASH: &str = "a file without a SHA-256";

impl LockFile {
    /// Parses a lock file.
    ///
    /// # Errors
    ///
    /// Fails if the text is malformed ([`Error::is_lock_file`]) or larger than [`MAX_LOCK_FILE`] ([`Error::is_limit`]).
    /// The error has the line, if it is known.
    pub fn parse(format: LockFormat, text: &str) -> Result<Self, Error> {
        if text.len() as u64 > MAX_LOCK_FILE {
            return Err(Error::with(
                Kind::Limit,
                format!("the lock file is larger than {MAX_LOCK_FILE} bytes"),
            ));
        }
        match format {
            LockFormat::Toml => Self::from_toml(text),
            LockFormat::Pipfile => Self::from_pipfile(text),
        }
    }

    fn from_toml(text: &str) -> Result<Self, Error> {
        let mut lines = Lines { text, offset: 0, line: 1 };
        let document: Document = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| lines.at(&span));
            malformed(line, error.message())
        })?;
        let mut lock = Self::default();
        for package in document.package.into_iter().chain(document.packages) {
            let is_of_index = package.is_of_index();
            let files = package.files.into_iter().chain(package.sdist).chain(package.wheels);
            let span = package.name.span();
            let name = package.name.into_inner();
            let project = ProjectName::parse(&name)
                .map_err(|_| malformed(Some(lines.at(&span)), "invalid name of a project"))?;
            let mut skip = |lock: &mut Self, reason| {
                let line = Some(lines.at(&span));
                lock.skipped.push(SkippedEntry { project: name.clone(), line, reason });
            };
            if !is_of_index {
                skip(&mut lock, OTHER_SOURCE);
                continue;
            }
            let mut locked = Vec::new();
            let mut has_other_hash = false;
            for file in files {
                match file.sha256() {
                    Some(hash) => {
                        let invalid = |_| malformed(Some(lines_of(text, &span)), "invalid SHA-256 of a file");
                        locked.push(LockedFile { name: file.name(), sha256: hash.parse().map_err(invalid)? });
                    }
                    None => has_other_hash = true,
                }
            }
            if has_other_hash {
                skip(&mut lock, OTHER_HASH);
            }
            if !locked.is_empty() {
                lock.projects.push(LockedProject { name: project, files: locked });
            } else if !has_other_hash {
                skip(&mut lock, NO_HASHES);
            }
        }
        Ok(lock)
    }

    fn from_pipfile(text: &str) -> Result<Self, Error> {
        let document: Value =
            tightwire_json::from_str(text).map_err(|error| malformed(None, &error.to_string()))?;
        let invalid = |what: &str| malformed(None, what);
        let mut lock = Self::default();
        let groups = document.as_object().ok_or_else(|| invalid("expected an object"))?;
        // The other keys are groups of packages.
        for (_, group) in groups.iter().filter(|(name, _)| !name.starts_with('_')) {
            let group = group.as_object().ok_or_else(|| invalid("expected a group of packages"))?;
            for (name, entry) in group.iter() {
                let project = ProjectName::parse(name).map_err(|_| invalid("invalid name of a project"))?;
                let skipped = |reason| SkippedEntry { project: name.to_string(), line: None, reason };
                let entry = entry.as_object().ok_or_else(|| invalid("expected a package"))?;
                if ["git", "path", "file", "hg", "svn", "bzr"].iter().any(|key| entry.contains_key(*key)) {
                    lock.skipped.push(skipped(OTHER_SOURCE));
                    continue;
                }
                let mut locked = Vec::new();
                let hashes = entry.get("hashes").and_then(Value::as_array);
                let mut has_other_hash = false;
                for hash in hashes.into_iter().flatten() {
                    let hash = hash.as_str().ok_or_else(|| invalid("expected a hash"))?;
                    match hash.strip_prefix("sha256:") {
                        Some(hash) => {
                            let sha256 = hash.parse().map_err(|_| invalid("invalid SHA-256 of a file"))?;
                            locked.push(LockedFile { name: None, sha256 });
                        }
                        None => has_other_hash = true,
                    }
                }
                if has_other_hash {
                    lock.skipped.push(skipped(OTHER_HASH));
                }
                if !locked.is_empty() {
                    lock.projects.push(LockedProject { name: project, files: locked });
                } else if !has_other_hash {
                    lock.skipped.push(skipped(NO_HASHES));
                }
            }
        }
        Ok(lock)
    }
}

/// A lock in TOML. `package` is the key of uv, Poetry and PDM, `packages` that of PEP 751.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    package: Vec<Package>,
    #[serde(default)]
    packages: Vec<Package>,
}

/// The keys of all formats that matter here.
#[derive(Deserialize)]
struct Package {
    name: Spanned<String>,
    /// uv and Poetry.
    source: Option<Source>,
    /// Poetry and PDM.
    #[serde(default)]
    files: Vec<Artifact>,
    /// uv and PEP 751.
    sdist: Option<Artifact>,
    #[serde(default)]
    wheels: Vec<Artifact>,
    /// PEP 751: other sources.
    archive: Option<IgnoredAny>,
    vcs: Option<IgnoredAny>,
    directory: Option<IgnoredAny>,
    /// PDM: other sources.
    git: Option<IgnoredAny>,
    path: Option<IgnoredAny>,
    url: Option<IgnoredAny>,
}

impl Package {
    fn is_of_index(&self) -> bool {
        let is_index =
            |source: &Source| source.registry.is_some() || source.kind.as_deref() == Some("legacy");
        let others = [&self.archive, &self.vcs, &self.directory, &self.git, &self.path, &self.url];
        self.source.as_ref().is_none_or(is_index) && others.iter().all(|other| other.is_none())
    }
}

#[derive(Deserialize)]
struct Source {
    /// uv: URL or path of the index.
    registry: Option<IgnoredAny>,
    /// Poetry: `legacy` for an index.
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Artifact {
    name: Option<String>,
    file: Option<String>,
    url: Option<String>,
    path: Option<String>,
    hash: Option<String>,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
}

impl Artifact {
    fn sha256(&self) -> Option<&str> {
        let hash = self.hash.as_deref().and_then(|hash| hash.strip_prefix("sha256:"));
        hash.or_else(|| self.hashes.get("sha256").map(String::as_str))
    }

    fn name(&self) -> Option<String> {
        let location = || {
            let location = self.url.as_deref().or(self.path.as_deref())?;
            let end = location.find(['?', '#']).unwrap_or(location.len());
            let segment = location[..end].rsplit(['/', '\\']).next()?;
            percent_encoding::percent_decode_str(segment).decode_utf8().ok()
        };
        let name = self.name.as_deref().or(self.file.as_deref());
        let name = name.map_or_else(|| location().map(String::from), |name| Some(name.to_owned()));
        name.filter(|name| is_file_name(name))
    }
}

/// Converts offsets to line numbers. Takes linear time for increasing offsets.
struct Lines<'t> {
    text: &'t str,
    offset: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, span: &Range<usize>) -> usize {
        let offset = span.start.min(self.text.len());
        if offset < self.offset {
            (self.offset, self.line) = (0, 1);
        }
        self.line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[self.offset..offset]).count();
        self.offset = offset;
        self.line
    }
}

fn lines_of(text: &str, span: &Range<usize>) -> usize {
    Lines { text, offset: 0, line: 1 }.at(span)
}

#[cold]
fn malformed(line: Option<usize>, what: &str) -> Error {
    // Messages of the TOML parser can have several lines.
    let what = what.lines().next().unwrap_or_default();
    Error::with(Kind::LockFile, line.map_or_else(|| what.to_owned(), |line| format!("line {line}: {what}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses a text and formats the result: a line for each project, and one for each skipped entry.
    fn parsed(name: &str, text: &str) -> String {
        let lock = match LockFile::parse(LockFormat::detect(name, text).unwrap(), text) {
            Ok(lock) => lock,
            Err(error) => return error.to_string(),
        };
        let mut out = String::new();
        for project in lock.projects {
            out += project.name.as_str();
            for file in project.files {
                out += &format!(" {}={}", file.name.unwrap_or_default(), &file.sha256.to_string()[..4]);
            }
            out += "\n";
        }
        for SkippedEntry { project, line, reason } in lock.skipped {
            out += &format!("{}: {project}: {reason}\n", line.unwrap_or_default());
        }
        out
    }

    fn hash(digits: &str) -> String {
        digits.repeat(32)
    }

    #[test]
    fn all_formats_are_parsed() {
        let (a, b) = (hash("aa"), hash("bb"));
        let uv = format!(
            "version = 1\nrevision = 3\nrequires-python = \">=3.9\"\n\n[[package]]\nname = \"kitchen\"\nversion = \"1.0\"\n\
             source = {{ virtual = \".\" }}\ndependencies = [{{ name = \"demo\" }}]\n\n[[package]]\nname = \"Demo_App\"\n\
             version = \"1.0\"\nsource = {{ registry = \"https://packages.example.org/simple\" }}\n\
             sdist = {{ url = \"https://files.example.org/demo-1.0.tar.gz\", hash = \"sha256:{a}\", size = 1 }}\n\
             wheels = [\n  {{ url = \"https://files.example.org/demo-1.0%2Bcpu-py3-none-any.whl#x\", hash = \"sha256:{b}\" }},\n]\n"
        );
        assert_eq!(
            parsed("uv.lock", &uv),
            "demo-app demo-1.0.tar.gz=aaaa demo-1.0+cpu-py3-none-any.whl=bbbb\n6: kitchen: not a project of an index\n"
        );
        let poetry = format!(
            "# by hand\n[[package]]\nname = \"demo\"\nversion = \"1.0\"\noptional = false\nfiles = [\n    {{file = \
             \"demo-1.0.tar.gz\", hash = \"sha256:{a}\"}},\n    {{file = \"demo-1.0.zip\", hash = \"md5:00\"}},\n]\n\n\
             [package.source]\ntype = \"legacy\"\nurl = \"https://packages.example.org/simple\"\nreference = \"x\"\n\n\
             [[package]]\nname = \"other\"\nversion = \"1.0\"\nfiles = []\n\n[package.source]\ntype = \"git\"\nurl = \"x\"\n\n\
             [[package]]\nname = \"none\"\nversion = \"1.0\"\nfiles = []\n\n[metadata]\nlock-version = \"2.1\"\n"
        );
        let expected = "demo demo-1.0.tar.gz=aaaa\n3: demo: a file without a SHA-256\n17: other: not a project of an \
                        index\n26: none: no files with hashes\n";
        assert_eq!(parsed("poetry.lock", &poetry), expected);
        assert_eq!(parsed("some.lock", &poetry), expected);
        let pdm = format!(
            "[metadata]\nlock_version = \"4.5.0\"\n\n[[package]]\nname = \"demo\"\nversion = \"1.0\"\nfiles = [\n    {{url = \
             \"https://files.example.org/demo-1.0.tar.gz\", hash = \"sha256:{a}\"}},\n]\n\n[[package]]\nname = \"other\"\n\
             git = \"https://example.org/other.git\"\n"
        );
        assert_eq!(
            parsed("pdm.lock", &pdm),
            "demo demo-1.0.tar.gz=aaaa\n12: other: not a project of an index\n"
        );
        let pylock = format!(
            "lock-version = \"1.0\"\ncreated-by = \"x\"\n\n[[packages]]\nname = \"demo\"\nversion = \"1.0\"\nindex = \
             \"https://packages.example.org/simple\"\n\n[packages.sdist]\nname = \"demo-1.0.tar.gz\"\nurl = \
             \"https://files.example.org/x\"\nhashes = {{sha256 = \"{a}\"}}\n\n[[packages.wheels]]\nurl = \
             \"https://files.example.org/demo-1.0-py3-none-any.whl\"\nupload-time = 2024-01-01T00:00:00Z\n\n\
             [packages.wheels.hashes]\nsha256 = \"{b}\"\n\n[[packages]]\nname = \"local\"\ndirectory = {{path = \".\"}}\n"
        );
        let expected = "demo demo-1.0.tar.gz=aaaa demo-1.0-py3-none-any.whl=bbbb\n22: local: not a project of an index\n";
        for name in ["pylock.toml", "pylock.dev.toml", "lock"] {
            assert_eq!(parsed(name, &pylock), expected, "{name}");
        }
        let pipfile = format!(
            r#"{{"_meta": {{"hash": {{"sha256": "x"}}, "pipfile-spec": 6, "sources": []}},
            "default": {{"demo": {{"hashes": ["sha256:{a}", "sha256:{b}"], "index": "x", "version": "==1.0"}},
                "git": {{"git": "https://example.org/x.git"}}}},
            "develop": {{"plain": {{"version": "*"}}, "old": {{"hashes": ["md5:00"]}}}}, "docs": {{}}}}"#
        );
        let expected = "demo =aaaa =bbbb\n0: git: not a project of an index\n0: plain: no files with hashes\n0: old: a file \
                        without a SHA-256\n";
        for name in ["Pipfile.lock", "lock"] {
            assert_eq!(parsed(name, &pipfile), expected, "{name}");
        }
        assert_eq!(LockFormat::detect("requirements.txt", "demo==1.0\n"), None);
    }

    #[test]
    fn malformed_files_are_rejected_with_their_line() {
        let bad_hash = "[[package]]\nname = \"a\"\nfiles = [{file = \"a\", hash = \"sha256:12\"}]\n";
        for (name, text, expected) in [
            ("uv.lock", "version = 1\nnonsense\n", "malformed lock file: line 2: "),
            ("uv.lock", "[[package]]\n\nversion = 1\n", "missing field `name`"),
            (
                "uv.lock",
                "x = 1\n[[package]]\nname = \"../etc\"\n",
                "malformed lock file: line 3: invalid name",
            ),
            ("uv.lock", "[[package]]\nname = 1\n", "malformed lock file: line 2: "),
            ("poetry.lock", bad_hash, "malformed lock file: line 2: invalid SHA-256 of a file"),
            ("Pipfile.lock", "{\n\"default\": x}", "line 2"),
            ("Pipfile.lock", "[]", "expected an object"),
            ("Pipfile.lock", r#"{"default": 1}"#, "expected a group"),
            ("Pipfile.lock", r#"{"default": {"a": 1}}"#, "expected a package"),
            ("Pipfile.lock", r#"{"default": {"a/b": {}}}"#, "invalid name"),
            ("Pipfile.lock", r#"{"default": {"a": {"hashes": [1]}}}"#, "expected a hash"),
            ("Pipfile.lock", r#"{"default": {"a": {"hashes": ["sha256:1"]}}}"#, "invalid SHA-256"),
        ] {
            let found = parsed(name, text);
            assert!(found.contains(expected), "{text}: {found}");
        }
        let deep = format!("x = {}", "[".repeat(100_000));
        assert!(LockFile::parse(LockFormat::Toml, &deep).unwrap_err().is_lock_file());
        let deep = format!("{{\"default\": {}", "[".repeat(100_000));
        assert!(LockFile::parse(LockFormat::Pipfile, &deep).unwrap_err().is_lock_file());
        let large = " ".repeat(usize::try_from(MAX_LOCK_FILE).unwrap() + 1);
        assert!(LockFile::parse(LockFormat::Toml, &large).unwrap_err().is_limit());
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(
            text in "(\\[\\[packages?\\]\\]\n|name = \"[a-z]\"\n|[a-z]+ = |[\"{}\\[\\]:,=\n]|\"(hash|url|default)\"|sha256:[a-f0-9]{0,4}){0,40}"
        ) {
            let _ = LockFile::parse(LockFormat::Toml, &text);
            let _ = LockFile::parse(LockFormat::Pipfile, &text);
        }
    }
}
