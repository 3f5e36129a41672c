//! `cargo xtask site`: the web site, built with mdBook from the Markdown files of the repository.
//!
//! `site/SUMMARY.md` lists the pages. They are copied below the target directory together with the files that they link,
//! because mdBook publishes its whole source folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use html5gum::{Token, Tokenizer};
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::interop::{self, Language};
use crate::process::{self, Skipped, lacks, skip};
use crate::workspace::Workspace;
use crate::{say, tidy};

/// List of the pages in the format of mdBook. Paths are relative to the root of the repository.
const SUMMARY: &str = include_str!("site/SUMMARY.md");
/// The other files that mdBook needs.
const FILES: [(&str, &str); 2] =
    [("book.toml", include_str!("site/book.toml")), ("site.css", include_str!("site/site.css"))];

pub(crate) fn command(workspace: &Workspace) -> Result<()> {
    ensure!(process::is_installed("mdbook"), "there is no mdbook; run `cargo xtask setup`");
    say(&format!("{}\n", build(workspace)?.join("index.html").display()));
    Ok(())
}

/// Builds the site, and tests it in a browser.
pub(crate) fn test(workspace: &Workspace) -> Result<Skipped> {
    skip!(lacks("mdbook"));
    let site = build(workspace)?;
    let browser = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
    if process::first_line(&browser.to_string_lossy(), &["--version"]).is_none() {
        return Ok(Some("the links are checked; there is no chromium to check the pages".into()));
    }
    let scratch = workspace.scratch().join("site");
    let pins = workspace.root.join("xtask/src/site/package.json");
    let installation = scratch.join("browser");
    if let Err(error) = interop::install(Language::Node, &pins, &installation) {
        return Ok(Some(format!(
            "the links are checked; there is no Playwright to check the pages: {error:#}"
        )));
    }
    // Node.js finds packages beside the script.
    let script = installation.join("test.js");
    fs::write(&script, include_str!("site/test.js"))?;
    let mut command = Command::new("node");
    command.arg(script).arg(browser).arg(site).arg(scratch.join("pictures"));
    finish(command)?;
    Ok(None)
}

/// Builds the site, checks its links, and returns its folder.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let (book, site) = (workspace.scratch().join("site/book"), workspace.target.join("site"));
    process::empty(&book)?;
    let pages = copy(SUMMARY, &workspace.root, &book.join("pages"))?;
    for path in tidy::guides(&workspace.root)? {
        ensure!(pages.contains(&path), "{path} is missing in xtask/src/site/SUMMARY.md");
    }
    for (name, content) in FILES {
        fs::write(book.join(name), content)?;
    }
    let mut command = Command::new("mdbook");
    command.arg("build").arg(&book).arg("--dest-dir").arg(&site);
    finish(command)?;
    check_links(&site)?;
    Ok(site)
}

/// Runs a program. Warnings of mdBook are errors.
fn finish(mut command: Command) -> Result<()> {
    let warnings = process::succeed(&mut command)?.stderr;
    ensure!(!warnings.contains("WARN"), "{}: {warnings}", command.get_program().to_string_lossy());
    Ok(())
}

/// Copies the pages and the files that they link. A link to a folder leads to its README. Returns the paths of the pages.
fn copy(summary: &str, root: &Path, to: &Path) -> Result<BTreeSet<String>> {
    let pages: BTreeSet<String> = links(summary).map(|(link, _)| link).collect();
    let write = |path: &str, content: &[u8]| {
        let path = to.join(path);
        fs::create_dir_all(path.parent().unwrap_or(to))?;
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))
    };
    // mdBook publishes README.md as index.html, but links to it as README.html.
    let published = |path: &str| path.replace("README.md", "index.md");
    write("SUMMARY.md", published(summary).as_bytes())?;
    for page in &pages {
        let mut text = fs::read_to_string(root.join(page)).with_context(|| format!("cannot read {page}"))?;
        // From the end, so that the ranges of earlier links stay valid.
        for (link, range) in links(&text.clone()).collect::<Vec<_>>().into_iter().rev() {
            let Some(mut target) = target(page, &link) else { continue };
            let mut changed = link.clone();
            if root.join(&target).is_dir() {
                target = format!("{target}/README.md").trim_start_matches('/').to_owned();
                changed = format!("{}/README.md", link.trim_end_matches('/'));
            }
            if pages.contains(&target) {
                let (link, changed) = (format!("]({link})"), format!("]({})", published(&changed)));
                text.replace_range(range.clone(), &text[range].replace(&link, &changed));
            } else {
                ensure!(!target.ends_with(".md"), "{page} links {target}, which is not in SUMMARY.md");
                let content =
                    fs::read(root.join(&target)).with_context(|| format!("{page} links {target}"))?;
                write(&target, &content)?;
            }
        }
        write(&published(page), text.as_bytes())?;
    }
    Ok(pages)
}

/// Returns the links and images of a page, each with its place.
fn links(text: &str) -> impl Iterator<Item = (String, std::ops::Range<usize>)> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
    events.filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some((dest_url.into_string(), range))
        }
        _ => None,
    })
}

/// Returns the path that a link of a page leads to; `None` if it leads to the same page or to another site.
fn target(page: &str, link: &str) -> Option<String> {
    let path = link.split(['#', '?']).next().filter(|path| !path.is_empty())?;
    if link.starts_with("//") || path.split('/').next().is_some_and(|start| start.contains(':')) {
        return None;
    }
    let (folder, _) = page.rsplit_once('/').unwrap_or_default();
    let mut target: Vec<&str> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in path.split('/') {
        match name {
            ".." => _ = target.pop(),
            "." | "" => {}
            name => target.push(name),
        }
    }
    Some(target.join("/"))
}

/// Links and anchors of a page.
#[derive(Default)]
struct Page {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

impl Page {
    fn parse(html: &str) -> Self {
        let mut page = Self::default();
        for token in Tokenizer::new(html).flatten() {
            let Token::StartTag(tag) = token else { continue };
            for (name, value) in &tag.attributes {
                let value = String::from_utf8_lossy(value).into_owned();
                match name.as_slice() {
                    b"href" | b"src" => page.links.push(value),
                    b"id" => _ = page.anchors.insert(value),
                    _ => {}
                }
            }
        }
        page
    }
}

/// Checks that the targets and anchors of all links exist. Links to other sites are not checked.
fn check_links(site: &Path) -> Result<()> {
    let mut pages = BTreeMap::new();
    collect(site, "", &mut pages)?;
    let mut dead = Vec::new();
    for (path, page) in &pages {
        for link in &page.links {
            let is_alive = match (target(path, link), link.split_once('#')) {
                (None, Some(("", anchor))) => page.anchors.contains(anchor),
                (None, _) => true,
                (Some(target), Some((_, anchor))) => {
                    pages.get(&target).is_some_and(|page| page.anchors.contains(anchor))
                }
                (Some(target), None) => site.join(target).is_file(),
            };
            if !is_alive {
                dead.push(format!("{path}: {link}"));
            }
        }
    }
    if dead.is_empty() { Ok(()) } else { bail!("dead links:\n{}", dead.join("\n")) }
}

/// Parses the pages in a folder of the site. The prefix ends with a slash, except at the root.
fn collect(folder: &Path, prefix: &str, pages: &mut BTreeMap<String, Page>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = format!("{prefix}{}", path.file_name().unwrap_or_default().to_string_lossy());
        if path.is_dir() {
            collect(&path, &format!("{name}/"), pages)?;
        } else if name.ends_with(".html") {
            pages.insert(name, Page::parse(&fs::read_to_string(path)?));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes files into an empty temporary folder.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-site-{}-{name}", std::process::id()));
        for (path, content) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        folder
    }

    #[test]
    fn targets_are_relative_to_the_page() {
        let target = |link| target("docs/a.md", link);
        assert_eq!(target("../crates/b#c"), Some("crates/b".to_owned()));
        assert_eq!(target("./d/e.rs"), Some("docs/d/e.rs".to_owned()));
        for other in ["#c", "https://example.org/a", "//example.org/a", "mailto:a@example.org"] {
            assert_eq!(target(other), None, "{other}");
        }
    }

    #[test]
    fn pages_are_copied_with_linked_files() {
        let readme =
            "| [README.md](crates/a) and `](crates/a)` |\n| --- |\n| [f](f.rs), ![c](c.svg), [x](#x) |\n";
        let files = [
            ("README.md", readme),
            ("crates/a/README.md", "[up](../..)"),
            ("f.rs", "//"),
            ("c.svg", "<svg/>"),
        ];
        let root = folder("copy", &[&files[..], &[("secret.md", "s")]].concat());
        let to = root.join("to");
        let pages = copy("[R](README.md)\n\n- [A](crates/a/README.md)\n", &root, &to).unwrap();
        let read = |path: &str| fs::read_to_string(to.join(path)).unwrap();
        assert_eq!(pages.len(), 2);
        assert_eq!(read("index.md"), readme.replacen("(crates/a)", "(crates/a/index.md)", 1));
        assert_eq!(read("crates/a/index.md"), "[up](../../index.md)");
        assert_eq!((read("f.rs"), read("c.svg")), ("//".to_owned(), "<svg/>".to_owned()));
        assert!(!to.join("secret.md").exists());
        for (link, problem) in
            [("secret.md", "SUMMARY.md"), ("crates", "crates/README.md"), ("none.rs", "none.rs")]
        {
            fs::write(root.join("README.md"), format!("[x]({link})")).unwrap();
            let error = format!("{:#}", copy("[R](README.md)", &root, &to).unwrap_err());
            assert!(error.contains("README.md links") && error.contains(problem), "{error}");
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn dead_links_are_found() {
        let index = "<h1 id=top>A</h1><a href='#top'></a><a href=b/c.html#d></a><img src=x.svg>";
        let other =
            "<p id=d><a href='../index.html#none'></a><a href=https://example.org/#x></a><img src=../y.svg>";
        let site = folder("links", &[("index.html", index), ("b/c.html", other), ("x.svg", "")]);
        let error = check_links(&site).unwrap_err().to_string();
        fs::remove_dir_all(site).unwrap();
        assert_eq!(error, "dead links:\nb/c.html: ../index.html#none\nb/c.html: ../y.svg");
    }
}
