//! Content of the local index: the same bytes for every server and every run.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::json;

/// Number of files on the page of the large project.
pub(crate) const LARGE_FILES: usize = 3_060;
/// Number of names on the project list of a large mirror.
pub(crate) const NAMES: usize = 100_000;
/// Number of names on the project list of the whole public index.
pub(crate) const ALL_NAMES: usize = 927_000;
/// Projects with one wheel, and the sizes of the wheels in bytes.
pub(crate) const WHEELS: [(&str, u64); 3] = [("tiny", 11_264), ("medium", 1_048_576), ("huge", 62_914_560)];
/// Projects of the cold-cache row, one per round, with wheels of the largest size.
pub(crate) const COLD: [&str; 3] = ["cold-1", "cold-2", "cold-3"];

/// Folder with the generated content. A web server can serve it as static files.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) dir: PathBuf,
    /// One wheel per project.
    pub(crate) wheels: Vec<Wheel>,
}

#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    pub(crate) project: String,
    pub(crate) file: String,
    pub(crate) size: u64,
    pub(crate) sha256: String,
}

impl Data {
    /// Generates the wheels in `dir`, unless they exist. Fails if the folder cannot be written, or `sha256sum` is not
    /// installed.
    pub(crate) fn make(dir: &Path) -> Result<Self> {
        let files = dir.join("files");
        fs::create_dir_all(&files).with_context(|| format!("cannot create {}", files.display()))?;
        let huge = WHEELS[2].1;
        let sizes = WHEELS.into_iter().chain(COLD.map(|name| (name, huge)));
        let wheels: Result<Vec<_>> = sizes.map(|(project, size)| wheel(&files, project, size)).collect();
        Ok(Self { dir: dir.to_owned(), wheels: wheels? })
    }

    pub(crate) fn wheel(&self, project: &str) -> Result<&Wheel> {
        self.wheels.iter().find(|wheel| wheel.project == project).context("unknown project")
    }

    pub(crate) fn content(&self, project: &str) -> Result<Vec<u8>> {
        Ok(fs::read(self.dir.join("files").join(&self.wheel(project)?.file))?)
    }

    /// Writes the pages, which contain the address of the index, and their gzip variants. Fails if the folder cannot be
    /// written, or `gzip` is not installed.
    pub(crate) fn write_pages(&self, base: &str) -> Result<()> {
        let (large, names) = (large_entries(base), names(NAMES));
        let mut pages = vec![
            ("list.json".to_owned(), json_list(&names)),
            ("list.html".to_owned(), html_list(&names)),
            ("large.json".to_owned(), json_page("large", &large)),
            ("large.html".to_owned(), html_page("large", &large)),
        ];
        for wheel in &self.wheels {
            pages.push((format!("{}.json", wheel.project), wheel.page(base)));
            pages.push((format!("{}.html", wheel.project), html_page(&wheel.project, &[wheel.entry(base)])));
        }
        write_compressed(&self.dir, pages)?;
        fs::write(self.dir.join("224.html"), [b'x'; 224])?;
        Ok(())
    }
}

/// Writes files and their gzip variants.
pub(crate) fn write_compressed(dir: &Path, pages: impl IntoIterator<Item = (String, String)>) -> Result<()> {
    let mut gzip = Command::new("gzip");
    gzip.arg("-kf6n");
    for (name, content) in pages {
        let path = dir.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
        gzip.arg(path);
    }
    let status = gzip.status().context("gzip is not installed")?;
    ensure!(status.success(), "gzip: {status}");
    Ok(())
}

impl Wheel {
    /// Returns whether the index sends the wheel at a limited rate.
    pub(crate) fn is_slow(&self) -> bool {
        COLD.contains(&&*self.project)
    }

    /// Returns the path of the wheel at the index.
    pub(crate) fn path(&self) -> String {
        format!("/{}/{}", if self.is_slow() { "slow" } else { "files" }, self.file)
    }

    fn entry(&self, base: &str) -> Entry {
        Entry {
            url: format!("{base}{}", self.path()),
            name: self.file.clone(),
            sha256: self.sha256.clone(),
            size: self.size,
            is_yanked: false,
        }
    }

    /// Returns the JSON page of its project, which has no other files.
    pub(crate) fn page(&self, base: &str) -> String {
        json_page(&self.project, &[self.entry(base)])
    }
}

/// Generates a wheel of this size. Its content is random, since no server parses it.
pub(crate) fn wheel(dir: &Path, project: &str, size: u64) -> Result<Wheel> {
    let file = format!("{}-1.0-py3-none-any.whl", project.replace('-', "_"));
    let path = dir.join(&file);
    if fs::metadata(&path).map_or(0, |metadata| metadata.len()) != size {
        let mut random = Random::new(project);
        let mut out = BufWriter::new(File::create(&path)?);
        for _ in 0..size / 8 {
            out.write_all(&random.next().to_le_bytes())?;
        }
        out.flush()?;
    }
    Ok(Wheel { project: project.to_owned(), file, size, sha256: sha256(&path)? })
}

/// Returns the SHA-256 digest of a file in hexadecimal digits.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let output = Command::new("sha256sum")
        .arg(path)
        .stdin(Stdio::null())
        .output()
        .context("sha256sum is not installed")?;
    ensure!(output.status.success(), "sha256sum: {}", output.status);
    let text = String::from_utf8(output.stdout)?;
    Ok(text.split(' ').next().unwrap_or_default().to_owned())
}

/// A file on a project page.
struct Entry {
    name: String,
    url: String,
    sha256: String,
    size: u64,
    is_yanked: bool,
}

/// Returns as many files as the largest projects have: versions × interpreters × platforms, and one sdist per
/// version.
fn large_entries(base: &str) -> Vec<Entry> {
    const INTERPRETERS: [&str; 7] = ["cp39", "cp310", "cp311", "cp312", "cp313", "cp313t", "pp310"];
    const PLATFORMS: [&str; 10] = [
        "macosx_10_9_x86_64",
        "macosx_11_0_arm64",
        "manylinux_2_17_aarch64.manylinux2014_aarch64",
        "manylinux_2_17_x86_64.manylinux2014_x86_64",
        "manylinux_2_17_i686.manylinux2014_i686",
        "musllinux_1_2_aarch64",
        "musllinux_1_2_x86_64",
        "win32",
        "win_amd64",
        "win_arm64",
    ];
    let mut random = Random::new("large");
    let mut entries = Vec::with_capacity(LARGE_FILES + 70);
    for version in 0.. {
        let version = format!("1.{}.{}", version / 5, version % 5);
        let wheels = INTERPRETERS.iter().flat_map(|interpreter| {
            PLATFORMS.map(|platform| format!("large-{version}-{interpreter}-{interpreter}-{platform}.whl"))
        });
        for name in [format!("large-{version}.tar.gz")].into_iter().chain(wheels) {
            let path = random.hex(64);
            entries.push(Entry {
                url: format!("{base}/packages/{}/{}/{}/{name}", &path[..2], &path[2..4], &path[4..]),
                name,
                sha256: random.hex(64),
                size: 10_000_000 + random.next() % 10_000_000,
                is_yanked: entries.len() % 500 == 499,
            });
            if entries.len() == LARGE_FILES {
                return entries;
            }
        }
    }
    entries
}

/// Returns the names and digests of the files of the large project, sorted, to verify the pages of the servers.
pub(crate) fn large_files() -> Vec<(String, String)> {
    let mut files: Vec<_> = large_entries("").into_iter().map(|entry| (entry.name, entry.sha256)).collect();
    files.sort();
    files
}

fn json_page(project: &str, entries: &[Entry]) -> String {
    let mut versions: Vec<&str> = entries.iter().filter_map(|entry| version_of(&entry.name)).collect();
    versions.dedup();
    let file = |Entry { name, url, sha256, size, is_yanked }: &Entry| {
        let digest: String = sha256.chars().rev().collect();
        let metadata = if name.ends_with(".whl") { json!({ "sha256": digest }) } else { json!(false) };
        json!({
            "core-metadata": metadata, "data-dist-info-metadata": metadata, "filename": name,
            "hashes": { "sha256": sha256 }, "provenance": null, "requires-python": ">=3.9", "size": size,
            "upload-time": "2025-06-01T12:34:56.789012Z", "url": url,
            "yanked": if *is_yanked { json!("broken build") } else { json!(false) },
        })
    };
    let page = json!({
        "files": entries.iter().map(file).collect::<Vec<_>>(),
        "meta": { "_last-serial": 1, "api-version": "1.4" }, "name": project,
        "project-status": { "status": "active" }, "versions": versions,
    });
    page.to_string()
}

fn version_of(file: &str) -> Option<&str> {
    file.strip_suffix(".tar.gz").unwrap_or(file).split('-').nth(1)
}

fn html_page(project: &str, entries: &[Entry]) -> String {
    let links: Vec<String> = entries
        .iter()
        .map(|Entry { name, url, sha256, is_yanked, .. }| {
            let metadata = if name.ends_with(".whl") {
                let digest: String = sha256.chars().rev().collect();
                format!(
                    " data-dist-info-metadata=\"sha256={digest}\" data-core-metadata=\"sha256={digest}\""
                )
            } else {
                String::new()
            };
            let yanked = if *is_yanked { " data-yanked=\"broken build\"" } else { "" };
            format!(
                "<a href=\"{url}#sha256={sha256}\" data-requires-python=\"&gt;=3.9\"{metadata}{yanked}>{name}</a><br />\n"
            )
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta name=\"pypi:repository-version\" content=\"1.4\">\n\
         <title>Links for {project}</title>\n</head>\n<body>\n<h1>Links for {project}</h1>\n{}</body>\n</html>\n",
        links.concat()
    )
}

/// Returns distinct names: those of the projects above, then generated ones.
pub(crate) fn names(count: usize) -> Vec<String> {
    const SYLLABLES: [&str; 30] = [
        "py", "data", "net", "lib", "auto", "web", "test", "core", "io", "ml", "async", "graph", "tool",
        "api", "sql", "text", "cli", "kit", "log", "geo", "img", "bot", "sim", "flow", "mesh", "log", "time",
        "hub", "box", "lab",
    ];
    let mut random = Random::new("names");
    let mut pick = || SYLLABLES[usize::try_from(random.next() % 30).unwrap_or_default()];
    let here = ["large"].into_iter().chain(WHEELS.map(|(name, _)| name)).chain(COLD).map(str::to_owned);
    here.chain((0..count).map(|index| format!("{}{}-{}{index}", pick(), pick(), pick())))
        .take(count)
        .collect()
}

/// Returns the project list with these names, in JSON.
pub(crate) fn json_list(names: &[String]) -> String {
    let projects: Vec<String> =
        names.iter().map(|name| format!("{{\"_last-serial\":1,\"name\":\"{name}\"}}")).collect();
    format!(
        "{{\"meta\":{{\"_last-serial\":1,\"api-version\":\"1.4\"}},\"projects\":[{}]}}",
        projects.join(",")
    )
}

/// Returns the project list with these names, in HTML.
pub(crate) fn html_list(names: &[String]) -> String {
    let links: Vec<String> =
        names.iter().map(|name| format!("<a href=\"/simple/{name}/\">{name}</a>\n")).collect();
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta name=\"pypi:repository-version\" content=\"1.4\">\n\
         <title>Simple index</title>\n</head>\n<body>\n{}</body>\n</html>\n",
        links.concat()
    )
}

/// A pseudorandom number generator (xorshift64*).
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator seeded by a name.
    pub(crate) fn new(name: &str) -> Self {
        let fold = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(name.bytes().fold(0xcbf2_9ce4_8422_2325, fold) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns `len` hexadecimal digits.
    pub(crate) fn hex(&mut self, len: usize) -> String {
        let mut text = String::with_capacity(len + 16);
        while text.len() < len {
            text += &format!("{:016x}", self.next());
        }
        text.truncate(len);
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn large_page_has_a_realistic_size() {
        let entries = large_entries("http://127.0.0.1:12345");
        let page = json_page("large", &entries);
        let value: serde_json::Value = serde_json::from_str(&page).unwrap();
        assert_eq!(value["files"].as_array().unwrap().len(), LARGE_FILES);
        assert_eq!(value["versions"][1], "1.0.1");
        assert!((1_850_000..2_000_000).contains(&page.len()), "{}", page.len());
        assert_eq!(html_page("large", &entries).matches("<a href").count(), LARGE_FILES);
    }

    #[test]
    fn names_are_distinct() {
        let names = names(50_000);
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        let value: serde_json::Value = serde_json::from_str(&json_list(&names)).unwrap();
        assert_eq!(value["projects"].as_array().unwrap().len(), names.len());
    }
}
