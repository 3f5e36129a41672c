//! Reads lock files, and requirements files of pip: names, version specifiers, hashes, and included files.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use anyhow::{Context as _, Result, bail};
use pep440_rs::{Version, VersionSpecifiers};
use pypi_proxy::lock_file::{LockFile, LockFormat, MAX_LOCK_FILE};
use pypi_proxy::{ProjectName, file_version};

/// Maximum nesting depth of included files.
const MAX_DEPTH: usize = 10;

/// A project whose files are to be downloaded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) name: ProjectName,
    pub(super) versions: VersionSpecifiers,
    /// Its files, by their hashes; empty for those of the newest version.
    pub(super) files: Vec<WantedFile>,
    /// Whether the index must have all of the files. Requirements files often have hashes of other indexes.
    pub(super) is_locked: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct WantedFile {
    /// SHA-256 in lower case.
    pub(super) sha256: String,
    /// Name, if it is known.
    pub(super) name: Option<String>,
}

impl Requirement {
    /// Returns the version of a file of the project.
    pub(super) fn version_of(&self, file: &str) -> Option<Version> {
        file_version(&self.name, file)?.parse().ok()
    }
}

#[derive(Debug, Default)]
pub(super) struct Requirements {
    pub(super) projects: Vec<Requirement>,
    /// Skipped input: its locations (`FILE:LINE`) and the reasons.
    pub(super) skipped: Vec<String>,
}

impl Requirements {
    /// Reads lock files, requirements files and the files that they include.
    pub(super) fn read_all(paths: &[PathBuf]) -> Result<Self> {
        let mut all = Self::default();
        for path in paths {
            all.read_at(path, 0)?;
        }
        Ok(all)
    }

    fn read_at(&mut self, path: &Path, depth: usize) -> Result<()> {
        let unreadable = || format!("{} can't be read", path.display());
        let mut text = String::new();
        let file = File::open(path).with_context(unreadable)?;
        file.take(MAX_LOCK_FILE + 1).read_to_string(&mut text).with_context(unreadable)?;
        if text.len() as u64 > MAX_LOCK_FILE {
            bail!("{}: larger than {MAX_LOCK_FILE} bytes", unreadable());
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(format) = LockFormat::detect(&name, &text) {
            self.add_lock(LockFile::parse(format, &text).with_context(unreadable)?, path);
            return Ok(());
        }
        for other in self.parse(&text, &path.display().to_string()) {
            let other = path.parent().unwrap_or(path).join(other);
            if depth == MAX_DEPTH {
                self.skipped.push(format!("{}: skipped, nested too deeply", other.display()));
                continue;
            }
            self.read_at(&other, depth + 1)?;
        }
        Ok(())
    }

    fn add_lock(&mut self, lock: LockFile, path: &Path) {
        let path = path.display();
        for project in lock.projects {
            let wanted = |file: pypi_proxy::lock_file::LockedFile| WantedFile {
                sha256: file.sha256.to_string(),
                name: file.name,
            };
            let files = project.files.into_iter().map(wanted).collect();
            let versions = VersionSpecifiers::empty();
            self.projects.push(Requirement { name: project.name, versions, files, is_locked: true });
        }
        for entry in lock.skipped {
            let line = entry.line.map_or_else(String::new, |line| format!(":{line}"));
            self.skipped.push(format!("{path}{line}: {}: skipped, {}", entry.project, entry.reason));
        }
    }

    /// Parses a text and returns the paths of included files.
    fn parse(&mut self, text: &str, path: &str) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for (number, line) in logical_lines(text) {
            let line = strip_comment(&line).trim();
            if line.is_empty() {
                continue;
            }
            if let Some(file) = ["-r", "--requirement"].iter().find_map(|option| option_value(line, option)) {
                files.push(PathBuf::from(file));
            } else if let Some(requirement) = parse_requirement(line) {
                self.projects.push(requirement);
            } else {
                self.skipped.push(format!("{path}:{number}: skipped, not a project of an index"));
            }
        }
        files
    }
}

/// Returns logical lines with the numbers of their first line. A backslash at the end continues a line.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (index, line) in text.lines().enumerate() {
        let (part, next) = line.strip_suffix('\\').map_or((line, false), |part| (part, true));
        match out.last_mut() {
            Some((_, whole)) if goes_on => {
                whole.push(' ');
                whole.push_str(part);
            }
            _ => out.push((index + 1, part.to_owned())),
        }
        goes_on = next;
    }
    out
}

fn strip_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.find(" #").or_else(|| line.find("\t#")).map_or(line, |at| &line[..at])
}

fn option_value<'l>(line: &'l str, option: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(option)?;
    let value = rest.trim_start().trim_start_matches('=').trim();
    (rest.starts_with([' ', '\t', '=']) && !value.is_empty()).then_some(value)
}

/// `name[extra]==1.0 ; marker --hash=sha256:...`
fn parse_requirement(line: &str) -> Option<Requirement> {
    let mut files = Vec::new();
    let mut front = line;
    if let Some(at) = line.find(" --") {
        front = &line[..at];
        for option in line[at..].split_whitespace() {
            if let Some(hash) = option.strip_prefix("--hash=") {
                let sha256 = hash.strip_prefix("sha256:")?.to_ascii_lowercase();
                files.push(WantedFile { sha256, name: None });
            }
        }
    }
    // Environment markers depend on the client and are ignored.
    let front = front.split(';').next().unwrap_or_default().trim();
    let end = front.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(front.len());
    let (name, mut versions) = front.split_at(end);
    versions = versions.trim_start();
    if let Some(extras) = versions.strip_prefix('[') {
        versions = extras.split_once(']')?.1.trim_start();
    }
    if let Some(inner) = versions.strip_prefix('(') {
        versions = inner.strip_suffix(')')?;
    }
    let name = ProjectName::parse(name).ok()?;
    let versions = VersionSpecifiers::from_str(versions).ok()?;
    Some(Requirement { name, versions, files, is_locked: false })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> (Requirements, Vec<PathBuf>) {
        let mut requirements = Requirements::default();
        let files = requirements.parse(text, "r.txt");
        (requirements, files)
    }

    #[test]
    fn names_versions_and_hashes_are_parsed() {
        let text = "# all of it\nDemo_App==1.0 ; python_version < '3.13'  # why\nother[a, b] >= 2, <3 \\\n  --hash=sha256:AB12 \\\n  \
                    --hash=sha256:cd34\n\nplain\n-r more.txt\n--requirement=most.txt\nold (==1.5)\n";
        let (found, files) = parse(text);
        let shown: Vec<_> = found
            .projects
            .iter()
            .map(|one| {
                let hashes: Vec<_> = one.files.iter().map(|file| &*file.sha256).collect();
                format!("{} {} {}", one.name, one.versions, hashes.join("+"))
            })
            .collect();
        assert_eq!(shown, ["demo-app ==1.0 ", "other >=2, <3 ab12+cd34", "plain  ", "old ==1.5 "]);
        assert_eq!(files, [Path::new("more.txt"), Path::new("most.txt")]);
        assert!(found.skipped.is_empty());
    }

    #[test]
    fn lines_without_a_project_of_an_index_are_skipped() {
        let text = "-e .\n./local.whl\n--index-url https://packages.example.org/simple\nx @ https://example.org/x.whl\n\
                    y==1 --hash=md5:00\nz=1\n-c constraints.txt\n";
        let (found, files) = parse(text);
        assert_eq!(found.projects, []);
        assert_eq!(files, <[&Path; 0]>::default());
        let skipped = |line| format!("r.txt:{line}: skipped, not a project of an index");
        assert_eq!(found.skipped, (1..=7).map(skipped).collect::<Vec<_>>());
    }

    #[test]
    fn an_unreadable_included_file_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.txt");
        std::fs::write(&path, "-r missing.txt\n").unwrap();
        let error = Requirements::read_all(&[path]).map(drop).unwrap_err();
        assert_eq!(error.to_string(), format!("{} can't be read", dir.path().join("missing.txt").display()));
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "([a-z=<>~!.,;()\\[\\]#@ \\\\\n-]|--hash=sha256:|[0-9.]{0,3}){0,60}") {
            let _ = parse(&text);
        }
    }
}
