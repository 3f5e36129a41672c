//! Cached projects: those with a page or a requested file in the cache.

use std::collections::HashMap;
use std::time::SystemTime;

use super::text;
use super::{Row, UNKNOWN};
use crate::serve::service::State;
use crate::store::CacheArea;

/// Maximum number of projects that can be searched; of more, the most recently used ones.
const MAX_SEARCHED: usize = 100_000;
/// Maximum number of listed projects.
const MAX_LISTED: usize = 50;
/// Maximum length of a search text in characters; longer ones are cut.
const MAX_QUERY: usize = 200;

/// All cached projects, the most recently used ones first.
#[derive(Debug, Default)]
pub(super) struct Projects {
    /// Names of the indexes; that of the default index is empty.
    indexes: Vec<String>,
    count: u64,
    /// At most [`MAX_SEARCHED`].
    searched: Vec<(Box<str>, Project)>,
}

#[derive(Debug)]
struct Project {
    /// Positions of the indexes whose page is cached.
    indexes: Vec<usize>,
    files: u64,
    bytes: u64,
    used: SystemTime,
}

impl Project {
    fn unused() -> Self {
        Self { indexes: Vec::new(), files: 0, bytes: 0, used: SystemTime::UNIX_EPOCH }
    }
}

impl Projects {
    /// Takes time in proportion to the size of the cache.
    pub(super) fn of(proxy: &State) -> Self {
        let mut found = HashMap::<Box<str>, Project>::new();
        let mut add = |name: &str, index: Option<usize>, size: Option<u64>, used: SystemTime| {
            if !found.contains_key(name) {
                found.insert(name.into(), Project::unused());
            }
            let Some(project) = found.get_mut(name) else { return };
            if let Some(index) = index.filter(|index| !project.indexes.contains(index)) {
                project.indexes.push(index);
            }
            project.files += u64::from(size.is_some());
            project.bytes += size.unwrap_or(0);
            project.used = project.used.max(used);
        };
        let rules: Vec<_> = proxy.indexes().map(|(_, index)| index.pages.rules()).collect();
        // Several indexes may have the same upstream.
        let mut folders = HashMap::<String, Vec<usize>>::new();
        for (at, (_, index)) in proxy.indexes().enumerate() {
            for (name, used, _) in index.pages.projects_in_memory() {
                add(name.as_str(), Some(at), None, used);
            }
            for upstream in &index.upstreams {
                folders.entry(format!("{:016x}", upstream.id())).or_default().push(at);
            }
        }
        for (path, _, used) in proxy.store.entries(CacheArea::Pages) {
            let path = path.as_deref().and_then(|path| path.strip_prefix("pages/")?.split_once('/'));
            // The names of other documents have an `@`.
            let Some((folder, name)) = path.filter(|(_, name)| !name.contains('@')) else { continue };
            let indexes = folders.get(folder).map_or(&[][..], Vec::as_slice);
            for at in indexes {
                // An index that does not serve the project may share the page with one that does.
                if indexes.len() == 1 || rules[*at].project(name).is_ok() {
                    add(name, Some(*at), None, used);
                }
            }
        }
        for (label, len, used) in proxy.store.entries(CacheArea::Files) {
            if let Some((name, _)) = label.as_deref().and_then(|label| label.split_once('/')) {
                add(name, None, Some(len), used);
            }
        }
        let mut searched: Vec<_> = found.into_iter().collect();
        let count = searched.len() as u64;
        let order = |(left, one): &(Box<str>, Project), (right, other): &(Box<str>, Project)| {
            other.used.cmp(&one.used).then_with(|| left.cmp(right))
        };
        if searched.len() > MAX_SEARCHED {
            searched.select_nth_unstable_by(MAX_SEARCHED, order);
            searched.truncate(MAX_SEARCHED);
        }
        searched.sort_unstable_by(order);
        Self { indexes: proxy.indexes().map(|(name, _)| name.to_owned()).collect(), count, searched }
    }

    pub(super) fn has_several_indexes(&self) -> bool {
        self.indexes.len() > 1
    }

    /// Returns a description of the result and the rows of the projects whose names contain a text. An empty text finds
    /// all.
    pub(super) fn find(&self, query: &str, now: SystemTime) -> (String, Vec<Row>) {
        let part = normalize(query);
        let (mut matches, mut rows) = (0, Vec::new());
        for (name, project) in self.searched.iter().filter(|(name, _)| name.contains(&part)) {
            matches += 1;
            if rows.len() < MAX_LISTED {
                rows.push(self.row(name, project, now));
            }
        }
        let all = text::count(self.count, "project");
        let found = if part.is_empty() { all } else { format!("{matches} of {all}") };
        let is_cut = rows.len() < matches || part.is_empty() && self.searched.len() as u64 != self.count;
        let end = if is_cut { format!(", the last used {}", rows.len()) } else { String::new() };
        (found + &end, rows)
    }

    fn row(&self, name: &str, project: &Project, now: SystemTime) -> Row {
        let mut cells = vec![name.to_owned()];
        if self.has_several_indexes() {
            let names = project.indexes.iter().map(|at| match self.indexes[*at].as_str() {
                "" => "default",
                name => name,
            });
            let names = names.collect::<Vec<_>>().join(", ");
            cells.push(if names.is_empty() { UNKNOWN.to_owned() } else { names });
        }
        let used = text::ago(now, project.used);
        cells.extend([project.files.to_string(), text::size(project.bytes), used]);
        Row { cells, ..Row::default() }
    }
}

/// Returns the search text of a query string, or an empty one.
pub(super) fn query(query: Option<&str>) -> String {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let text = pairs.find(|(name, _)| name == "q").map(|(_, text)| text).unwrap_or_default();
    text.trim().chars().take(MAX_QUERY).collect()
}

/// Normalizes a part of a project name.
fn normalize(part: &str) -> String {
    let mut normal = String::with_capacity(part.len());
    for char in part.chars().flat_map(char::to_lowercase) {
        match char {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '_' | '.' => normal.push('-'),
            char => normal.push(char),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_search_is_bounded_and_ignores_the_spelling() {
        let now = SystemTime::now();
        let project = |number: u64| {
            let used = now - Duration::from_secs(number);
            (format!("a-b{number}").into(), Project { indexes: vec![0], files: 1, bytes: 1024, used })
        };
        let searched: Vec<_> = (0..200).map(project).collect();
        let projects = Projects { indexes: vec![String::new(), "gpu".into()], count: 200, searched };
        let (text, rows) = projects.find("", now);
        assert_eq!((text.as_str(), rows.len()), ("200 projects, the last used 50", MAX_LISTED));
        let (text, rows) = projects.find("A__B7", now);
        assert_eq!((text.as_str(), rows.len()), ("11 of 200 projects", 11));
        assert_eq!(rows[0].cells, ["a-b7", "default", "1", "1.0 KiB", "7 s ago"]);
        let (text, rows) = projects.find("<script>", now);
        assert_eq!((text.as_str(), rows.len()), ("0 of 200 projects", 0));
    }

    #[test]
    fn the_search_text_is_taken_from_the_query_string() {
        for (string, text) in [
            (None, ""),
            (Some("q=num+py%20"), "num py"),
            (Some("x=1&q=%3Cb%3E&q=2"), "<b>"),
            (Some("q"), ""),
            (Some("q=%ff%00"), "\u{fffd}\0"),
        ] {
            assert_eq!(query(string), text, "{string:?}");
        }
        assert_eq!(query(Some(&format!("q={}", "ä".repeat(5000)))).chars().count(), MAX_QUERY);
    }
}
