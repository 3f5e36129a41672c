//! Content of the local index: the same bytes for every server and every run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use aws_lc_rs::digest;
use bench_report::program::succeed;
use serde_json::json;

/// Number of files on the page of the large project.
pub(crate) const LARGE_FILES: usize = 3_060;
/// Number of files of the page whose HTML has the size of the published one, 582 kB, in our response.
pub(crate) const PUBLISHED_FILES: usize = 1_159;
/// Project without files, whose name is so long that its HTML page has the size of the published index page, 224 bytes.
pub(crate) const EMPTY: &str = "project-without-files";
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

    /// Returns the names and digests of the files of a project, sorted, or of all projects if its name is empty.
    pub(crate) fn entries(&self, project: &str) -> Result<Vec<(String, Option<String>)>> {
        let files = match project {
            "large" => large_entries("", project, LARGE_FILES),
            "published" => large_entries("", project, PUBLISHED_FILES),
            "" | EMPTY => Vec::new(),
            project => vec![self.wheel(project)?.entry("")],
        };
        let names = if project.is_empty() { names(NAMES) } else { Vec::new() };
        let names = names.into_iter().map(|name| (name, None));
        let files = files.into_iter().map(|file| (file.name, Some(file.sha256)));
        let mut entries: Vec<_> = files.chain(names).collect();
        entries.sort();
        Ok(entries)
    }

    pub(crate) fn content(&self, project: &str) -> Result<Vec<u8>> {
        Ok(fs::read(self.dir.join("files").join(&self.wheel(project)?.file))?)
    }

    /// Writes the pages, which contain the address of the index, and their gzip variants. Fails if the folder cannot be
    /// written, or `gzip` is not installed.
    pub(crate) fn write_pages(&self, base: &str) -> Result<()> {
        let names = names(NAMES);
        let mut pages =
            vec![("list.json".to_owned(), json_list(&names)), ("list.html".to_owned(), html_list(&names))];
        let mut add = |project: &str, entries: &[Entry]| {
            pages.push((format!("{project}.json"), json_page(project, entries)));
            pages.push((format!("{project}.html"), html_page(project, entries)));
        };
        add("large", &large_entries(base, "large", LARGE_FILES));
        add("published", &large_entries(base, "published", PUBLISHED_FILES));
        add(EMPTY, &[]);
        for wheel in &self.wheels {
            add(&wheel.project, &[wheel.entry(base)]);
        }
        write_compressed(&self.dir, pages)
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
    succeed(&mut gzip).map(drop)
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
    let mut content = vec![0; usize::try_from(size)?];
    random(project).fill(&mut content);
    if fs::read(&path).ok().as_ref() != Some(&content) {
        fs::write(&path, &content).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let sha256 = digest::digest(&digest::SHA256, &content);
    let sha256 = sha256.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Wheel { project: project.to_owned(), file, size, sha256 })
}

/// Returns a generator of the same numbers in every run.
pub(crate) fn random(name: &str) -> fastrand::Rng {
    fastrand::Rng::with_seed(name.bytes().fold(0, |seed, byte| seed * 31 % 1_000_000_007 + u64::from(byte)))
}

fn hex(random: &mut fastrand::Rng) -> String {
    format!("{:032x}{:032x}", random.u128(..), random.u128(..))
}

/// A file on a project page.
struct Entry {
    name: String,
    url: String,
    sha256: String,
    size: u64,
    is_yanked: bool,
}

/// Returns the files of a large project: versions × interpreters × platforms, and one sdist per version.
fn large_entries(base: &str, project: &str, count: usize) -> Vec<Entry> {
    const INTERPRETERS: &str = "cp39 cp310 cp311 cp312 cp313 cp313t pp310";
    const PLATFORMS: &str = "macosx_10_9_x86_64 macosx_11_0_arm64 manylinux_2_17_aarch64.manylinux2014_aarch64 \
        manylinux_2_17_x86_64.manylinux2014_x86_64 manylinux_2_17_i686.manylinux2014_i686 musllinux_1_2_aarch64 \
        musllinux_1_2_x86_64 win32 win_amd64 win_arm64";
    let mut random = random(project);
    let mut entries = Vec::with_capacity(count);
    for version in 0.. {
        let version = format!("1.{}.{}", version / 5, version % 5);
        let tags = INTERPRETERS.split(' ').flat_map(|interpreter| {
            PLATFORMS.split(' ').map(move |platform| format!("-{interpreter}-{interpreter}-{platform}.whl"))
        });
        for end in [".tar.gz".to_owned()].into_iter().chain(tags) {
            let name = format!("{project}-{version}{end}");
            let path = hex(&mut random);
            entries.push(Entry {
                url: format!("{base}/packages/{}/{}/{}/{name}", &path[..2], &path[2..4], &path[4..]),
                name,
                sha256: hex(&mut random),
                size: random.u64(10_000_000..20_000_000),
                is_yanked: entries.len() % 500 == 499,
            });
            if entries.len() == count {
                return entries;
            }
        }
    }
    entries
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
    let mut page = json!({
        "files": entries.iter().map(file).collect::<Vec<_>>(),
        "meta": { "_last-serial": 1, "api-version": "1.4" }, "name": project, "versions": versions,
    });
    if !entries.is_empty() {
        page["project-status"] = json!({ "status": "active" });
    }
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
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"pypi:repository-version\" content=\"1.4\">\n<title>Links for {project}</title>\n</head>\n<body>\n<h1>Links for {project}</h1>\n{}</body>\n</html>\n",
        links.concat()
    )
}

/// Returns distinct names: those of the projects above, then generated ones.
pub(crate) fn names(count: usize) -> Vec<String> {
    const SYLLABLES: &str = "py data net lib auto web test core io ml async graph tool api sql text cli kit log geo img bot \
        sim flow mesh log time hub box lab";
    let syllables: Vec<&str> = SYLLABLES.split(' ').collect();
    let mut random = random("names");
    let mut pick = || syllables[random.usize(..syllables.len())];
    let here =
        ["large", "published"].into_iter().chain(WHEELS.map(|(name, _)| name)).chain(COLD).map(str::to_owned);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_page_has_a_realistic_size() {
        let entries = large_entries("http://127.0.0.1:12345", "large", LARGE_FILES);
        let page = json_page("large", &entries);
        let value: serde_json::Value = serde_json::from_str(&page).unwrap();
        assert_eq!(value["files"].as_array().unwrap().len(), LARGE_FILES);
        assert_eq!(value["versions"][1], "1.0.1");
        assert!((1_850_000..2_000_000).contains(&page.len()), "{}", page.len());
        assert_eq!(html_page(EMPTY, &[]).len(), 224);
    }
}
