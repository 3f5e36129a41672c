//! Files of requirements, as far as they name what an index has.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use pep440_rs::{Version, VersionSpecifiers};
use pypi_proxy::ProjectName;

/// How deep files may name others.
const MAX_DEPTH: usize = 10;

/// A project that is wanted.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: ProjectName,
    pub(super) versions: VersionSpecifiers,
    /// The SHA-256 of its files; all for none.
    pub(super) hashes: Vec<String>,
}

/// What files of requirements want, and the lines that name nothing of an index.
#[derive(Debug, Default)]
pub(super) struct Requirements {
    pub(super) wanted: Vec<Wanted>,
    /// Each with its place.
    pub(super) skipped: Vec<String>,
}

impl Requirements {
    /// Reads a file, and those that it names.
    pub(super) fn read(&mut self, path: &Path) -> std::io::Result<()> {
        self.read_at(path, 0)
    }

    fn read_at(&mut self, path: &Path, depth: usize) -> std::io::Result<()> {
        let text = fs::read_to_string(path)?;
        for other in self.parse(&text, &path.display().to_string()) {
            let other = path.parent().unwrap_or(path).join(other);
            if depth == MAX_DEPTH {
                self.skipped.push(format!("{}: too deep", other.display()));
                continue;
            }
            self.read_at(&other, depth + 1)?;
        }
        Ok(())
    }

    /// Reads a text, and returns the files that it names.
    fn parse(&mut self, text: &str, place: &str) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for (number, line) in joined(text) {
            let line = without_comment(&line).trim();
            if line.is_empty() {
                continue;
            }
            if let Some(file) = ["-r", "--requirement"].iter().find_map(|option| argument(line, option)) {
                files.push(PathBuf::from(file));
            } else if let Some(wanted) = requirement(line) {
                self.wanted.push(wanted);
            } else {
                self.skipped.push(format!("{place}:{number}"));
            }
        }
        files
    }
}

/// Lines with their numbers, those that end with a backslash together with what follows.
fn joined(text: &str) -> Vec<(usize, String)> {
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

fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.find(" #").or_else(|| line.find("\t#")).map_or(line, |at| &line[..at])
}

fn argument<'l>(line: &'l str, option: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(option)?;
    let value = rest.trim_start().trim_start_matches('=').trim();
    (rest.starts_with([' ', '\t', '=']) && !value.is_empty()).then_some(value)
}

/// `name[extra]==1.0 ; marker --hash=sha256:...`
fn requirement(line: &str) -> Option<Wanted> {
    let mut hashes = Vec::new();
    let mut front = line;
    if let Some(at) = line.find(" --") {
        front = &line[..at];
        for option in line[at..].split_whitespace() {
            if let Some(hash) = option.strip_prefix("--hash=") {
                hashes.push(hash.strip_prefix("sha256:")?.to_ascii_lowercase());
            }
        }
    }
    // Whether a marker holds depends on who asks.
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
    Some(Wanted { name, versions: VersionSpecifiers::from_str(versions).ok()?, hashes })
}

/// The version that the name of a file tells.
pub(super) fn version_of(file: &str) -> Option<Version> {
    let text = if let Some(wheel) = file.strip_suffix(".whl") {
        wheel.split('-').nth(1)?
    } else {
        let ends = [".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz"];
        ends.iter().find_map(|end| file.strip_suffix(end))?.rsplit_once('-')?.1
    };
    Version::from_str(text).ok()
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
    fn names_pins_and_hashes_are_read() {
        let text = "# all of it\nDemo_App==1.0 ; python_version < '3.13'  # why\nother[a, b] >= 2, <3 \\\n  --hash=sha256:AB12 \\\n  \
                    --hash=sha256:cd34\n\nplain\n-r more.txt\n--requirement=most.txt\nold (==1.5)\n";
        let (found, files) = parse(text);
        let shown: Vec<_> = found
            .wanted
            .iter()
            .map(|wanted| format!("{} {} {}", wanted.name, wanted.versions, wanted.hashes.join("+")))
            .collect();
        assert_eq!(shown, ["demo-app ==1.0 ", "other >=2, <3 ab12+cd34", "plain  ", "old ==1.5 "]);
        assert_eq!(files, [Path::new("more.txt"), Path::new("most.txt")]);
        assert!(found.skipped.is_empty());
    }

    #[test]
    fn what_is_in_no_index_is_skipped() {
        let text = "-e .\n./local.whl\n--index-url https://packages.example.org/simple\nx @ https://example.org/x.whl\n\
                    y==1 --hash=md5:00\nz=1\n-c constraints.txt\n";
        let (found, files) = parse(text);
        assert_eq!(found.wanted, []);
        assert_eq!(files, <[&Path; 0]>::default());
        assert_eq!(found.skipped, (1..=7).map(|line| format!("r.txt:{line}")).collect::<Vec<_>>());
    }

    #[test]
    fn names_of_files_tell_versions() {
        let cases = [
            ("demo-1.0-py3-none-any.whl", Some("1.0")),
            ("demo-1.0+local.1-1-cp313-cp313-manylinux_2_17_x86_64.whl", Some("1.0+local.1")),
            ("demo-app-1.0rc1.tar.gz", Some("1.0rc1")),
            ("demo-1.0.zip", Some("1.0")),
            ("demo-1.0.exe", None),
            ("demo.whl", None),
        ];
        for (file, version) in cases {
            assert_eq!(version_of(file).map(|version| version.to_string()).as_deref(), version, "{file}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "([a-z=<>~!.,;()\\[\\]#@ \\\\\n-]|--hash=sha256:|[0-9.]{0,3}){0,60}") {
            let _ = parse(&text);
            let _ = version_of(&text);
        }
    }
}
