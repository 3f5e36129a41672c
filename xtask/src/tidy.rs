//! `cargo xtask tidy`: rules of this repository that no other tool checks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::cargo;
use crate::process::succeed;
use crate::workspace::Workspace;

/// Files that may contain `unsafe`. Each has a safe equivalent and a test that compares the two, or only measures.
const UNSAFE_FILES: &[&str] = &[
    "benches/src/alloc.rs",
    "crates/serde-json-patch/src/raw.rs",
    "crates/tightwire-json/src/raw.rs",
    "crates/tightwire-json/src/scan/copy.rs",
    "crates/tightwire-json/src/scan/mod.rs",
    "crates/tightwire-json/src/scan/neon.rs",
    "crates/tightwire-json/src/scan/x86.rs",
    "crates/tightwire-json/src/value/memory/builder.rs",
    "crates/tightwire-json/src/value/memory/shapes.rs",
    "crates/tightwire-json/src/value/memory/slot.rs",
    "crates/tightwire-json/src/value/memory/mod.rs",
    "crates/tightwire-parco/src/text.rs",
    "crates/tightwire-parco/src/write.rs",
    "crates/test-support/src/counting.rs",
    "crates/tightwire-sse/src/bytes/utf8.rs",
    "crates/tightwire-sse/src/scan/mod.rs",
    "crates/tightwire-sse/src/scan/neon.rs",
    "crates/tightwire-sse/src/scan/x86.rs",
];

/// Forbidden host names and paths, spelled so that this file does not violate its own rule.
const REGISTRY_HOSTS: [&str; 6] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("golang", ".org/dl"),
    concat!("maven", ".org"),
];
const MACHINE_PATHS: [&str; 3] = [concat!("/work", "/"), concat!("/root", "/"), concat!("/home", "/")];

/// Header of the dependency table in ARCHITECTURE.md.
const MAP: &str = "| crate | depends on |";

/// Member that replaces a package of the registry, and its folder. It has the name and the version of that package, on which
/// other members depend.
const PATCH: (&str, &str) = ("serde_json", "serde-json-patch");

/// Maximum lines of a module.
const LONGEST_MODULE: usize = 800;

/// How the description of a flag does not begin.
const FLAGS: [&str; 3] = ["True ", "Returns true ", "Returns `true` "];

/// Sections of a doc comment.
const SECTIONS: [&str; 4] = ["# Errors", "# Examples", "# Panics", "# Safety"];

/// One file of the repository.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Checks all rules. Fails with one line per violation.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let sources = sources(workspace)?;
    let mut problems = Vec::new();
    for source in &sources {
        text(source, &mut problems);
        if source.path.ends_with(".rs") {
            rust(source, &mut problems);
        }
    }
    modules(&sources, &mut problems);
    // The package is outside of the workspace: no other check resolves its features.
    let fuzz = ["metadata", "--format-version", "1", "--locked", "--manifest-path", "fuzz/Cargo.toml"];
    if let Err(error) = succeed(&mut cargo::command(workspace, &fuzz)) {
        problems.push(format!("fuzz/Cargo.toml: {error:#}"));
    }
    let packages = packages(workspace)?;
    for package in &packages {
        manifest(package, &mut problems);
        if package.is_library() {
            let library = fs::read_to_string(package.directory.join("src/lib.rs"))?;
            features(package, &library, &mut problems);
        }
    }
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        if !workspace.root.join(name).is_file() {
            problems.push(format!("{name} is missing"));
        }
    }
    let map = fs::read_to_string(workspace.root.join("ARCHITECTURE.md")).unwrap_or_default();
    directions(&map, &packages, &mut problems);
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("\n")) }
}

/// Returns the files that git tracks or would add.
pub(crate) fn sources(workspace: &Workspace) -> Result<Vec<Source>> {
    let list = workspace.git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let mut sources = Vec::new();
    for path in list.split('\0').filter(|path| !path.is_empty()) {
        // Binary files have no lines to check.
        if let Ok(text) = fs::read_to_string(workspace.root.join(path)) {
            sources.push(Source { path: path.to_owned(), text });
        }
    }
    Ok(sources)
}

/// Returns the README files and guides below a folder.
pub(crate) fn guides(root: &Path) -> Result<Vec<String>> {
    let mut guides: Vec<PathBuf> = vec!["README.md".into()];
    for folder in ["crates", "docs"] {
        let Ok(entries) = fs::read_dir(root.join(folder)) else { continue };
        for entry in entries {
            let path = Path::new(folder).join(entry?.file_name());
            guides.push(if folder == "crates" { path.join("README.md") } else { path });
        }
    }
    guides.retain(|path| path.extension().is_some_and(|name| name == "md") && root.join(path).is_file());
    guides.sort();
    Ok(guides.iter().map(|path| path.to_string_lossy().into_owned()).collect())
}

/// Returns whether a file is copied or generated: test vectors, licence texts and lock files.
fn is_foreign(path: &str) -> bool {
    path.contains("/tests/data/")
        || path.contains("/samples/")
        || path.starts_with("docs/benchmarks/")
        || path.contains("LICENSE-")
        || path.ends_with("Cargo.lock")
        || path.ends_with("go.sum")
}

fn text(source: &Source, problems: &mut Vec<String>) {
    let Source { path, text } = source;
    if is_foreign(path) {
        return;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        problems.push(format!("{path}: no line end at the end"));
    }
    for (index, line) in text.lines().enumerate() {
        let at = format!("{path}:{}", index + 1);
        if line.ends_with([' ', '\t', '\r']) {
            problems.push(format!("{at}: space at the end of the line"));
        }
        if REGISTRY_HOSTS.iter().any(|host| line.contains(host)) {
            problems.push(format!("{at}: names the host of a package registry"));
        }
        if MACHINE_PATHS.iter().any(|place| line.contains(place)) {
            problems.push(format!("{at}: names a path of one machine"));
        }
    }
}

fn rust(source: &Source, problems: &mut Vec<String>) {
    let Source { path, text } = source;
    let is_module = path.starts_with("crates/") && path.contains("/src/") || path.starts_with("xtask/src/");
    if !text.starts_with("//!") && !text.starts_with("#!") {
        problems.push(format!("{path}: begins without a module comment"));
    }
    if is_module && text.lines().count() > LONGEST_MODULE {
        problems.push(format!("{path}: more than {LONGEST_MODULE} lines"));
    }
    // Spelled apart for the same reason as the hosts.
    for word in [concat!("#[", "ignore"), concat!("#[should", "_panic")] {
        if text.contains(word) {
            problems.push(format!("{path}: {word}]: a test runs and says itself what it expects"));
        }
    }
    let mut section = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim);
        if let (Some(section), Some(1..)) = (section, doc.map(str::len)) {
            problems.push(format!("{path}:{}: an empty line follows `{section}`", index + 1));
        }
        section = doc.filter(|doc| SECTIONS.contains(doc));
        if doc.is_some_and(|doc| FLAGS.iter().any(|begin| doc.starts_with(begin))) {
            let flag = "a function `Returns whether …`, a field says `Whether …`";
            problems.push(format!("{path}:{}: {flag}", index + 1));
        }
    }
    let has_unsafe = text.contains("allow(unsafe_code") || text.contains(concat!("unsafe", " {"));
    let allowed = UNSAFE_FILES.contains(&path.as_str()) || path == "xtask/src/tidy.rs";
    if has_unsafe && !allowed {
        problems.push(format!("{path}: unsafe code outside the listed modules"));
    }
}

/// Checks that a module with parts is the `mod.rs` of their folder.
fn modules(sources: &[Source], problems: &mut Vec<String>) {
    let modules: Vec<&str> = sources.iter().filter_map(|source| source.path.strip_suffix(".rs")).collect();
    let folders: BTreeSet<&str> = modules.iter().filter_map(|path| Some(path.rsplit_once('/')?.0)).collect();
    for path in modules.iter().filter(|path| folders.contains(*path)) {
        problems.push(format!("{path}.rs: a module with parts is {path}/mod.rs"));
    }
}

/// A member of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    directory: PathBuf,
    manifest: toml::Table,
}

impl Package {
    /// Returns the value at a path of keys of the manifest, such as `package.publish`.
    fn get(&self, path: &str) -> Option<&toml::Value> {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let mut keys = rest.split_terminator('.');
        keys.try_fold(self.manifest.get(first)?, |value, key| value.get(key))
    }

    /// Returns the entries of an array of tables, such as `bin`.
    fn tables(&self, name: &str) -> impl Iterator<Item = &toml::Value> {
        self.get(name).and_then(toml::Value::as_array).into_iter().flatten()
    }

    pub(crate) fn is_published(&self) -> bool {
        self.directory.parent().is_some_and(|parent| parent.ends_with("crates"))
            && self.get("package.publish").is_none()
    }

    /// Returns whether releases contain the package as a library.
    pub(crate) fn is_library(&self) -> bool {
        self.is_published() && self.directory.join("src/lib.rs").is_file()
    }

    /// Returns the names of the benchmark binaries of a suite.
    pub(crate) fn benches(&self) -> impl Iterator<Item = &str> {
        self.tables("bench").filter(|_| self.is_suite()).filter_map(|bench| bench["name"].as_str())
    }

    pub(crate) fn is_suite(&self) -> bool {
        self.name.ends_with("-bench")
    }

    /// Returns the features that a set of features enables, including itself and optional dependencies.
    pub(crate) fn enabled_by(&self, set: &BTreeSet<String>) -> BTreeSet<String> {
        let (mut enabled, mut open) = (BTreeSet::new(), Vec::from_iter(set.clone()));
        while let Some(name) = open.pop() {
            let implied = self.get("features").and_then(|features| features.get(&name));
            open.extend(strings(implied).map(str::to_owned));
            enabled.insert(name);
        }
        enabled
    }

    /// Returns the features that programs of the package require.
    pub(crate) fn required_features(&self) -> impl Iterator<Item = String> {
        self.tables("bin").flat_map(|program| strings(program.get("required-features"))).map(str::to_owned)
    }

    pub(crate) fn features(&self) -> Vec<String> {
        let features = self.get("features").and_then(toml::Value::as_table).into_iter().flatten();
        features.map(|(name, _)| name.clone()).filter(|name| name != "default").collect()
    }

    /// Returns the features of serde_json that the package enables outside of its tests.
    fn serde_json_features(&self) -> impl Iterator<Item = &str> {
        let features = self.get("features").and_then(toml::Value::as_table).into_iter().flatten();
        let of_features = features.flat_map(|(_, enabled)| strings(Some(enabled))).filter_map(|feature| {
            feature.strip_prefix("serde_json/").or_else(|| feature.strip_prefix("serde_json?/"))
        });
        strings(self.get("dependencies.serde_json.features")).chain(of_features)
    }
}

fn strings(array: Option<&toml::Value>) -> impl Iterator<Item = &str> {
    array.and_then(toml::Value::as_array).into_iter().flatten().filter_map(toml::Value::as_str)
}

/// Returns all members with their manifests.
pub(crate) fn packages(workspace: &Workspace) -> Result<Vec<Package>> {
    let mut directories: Vec<PathBuf> =
        ["benches", "examples", "xtask"].map(|name| workspace.root.join(name)).into();
    for folder in ["benches", "crates"] {
        for entry in fs::read_dir(workspace.root.join(folder))? {
            directories.push(entry?.path());
        }
    }
    directories.retain(|directory| directory.join("Cargo.toml").is_file());
    directories.sort();
    let package = |directory: PathBuf| {
        let path = directory.join("Cargo.toml");
        let manifest: toml::Table =
            fs::read_to_string(&path)?.parse().with_context(|| path.display().to_string())?;
        let name = manifest["package"]["name"].as_str().context("a package without a name")?.to_owned();
        Ok(Package { name, directory, manifest })
    };
    directories.into_iter().map(package).collect()
}

fn manifest(package: &Package, problems: &mut Vec<String>) {
    let at = format!("{}/Cargo.toml", package.name);
    let (patch, patch_folder) = PATCH;
    let is_patch = package.name == patch;
    if !package.directory.ends_with(if is_patch { patch_folder } else { &package.name }) {
        problems.push(format!("{at}: the folder has another name"));
    }
    let mut shared = vec!["package.edition", "package.license", "lints"];
    if !is_patch {
        shared.push("package.version");
    }
    if package.is_published() {
        if package.get("package.rust-version").and_then(toml::Value::as_str).is_none() {
            problems.push(format!("{at}: package.rust-version is not the minimum version of this package"));
        }
        if let Some(feature) =
            package.serde_json_features().find(|feature| !["alloc", "std"].contains(feature))
        {
            problems.push(format!(
                "{at}: {feature} of serde_json would change how other crates of a build decode"
            ));
        }
    } else {
        shared.push("package.publish");
        if !is_patch {
            shared.push("package.rust-version");
        }
    }
    for key in shared {
        if package.get(&format!("{key}.workspace")).is_none() {
            problems.push(format!("{at}: {key} is not taken from the workspace"));
        }
    }
    // libtest rejects criterion's flags, which `cargo bench -- FLAG` passes to every target with `bench = true`.
    let is_off = |target: &toml::Value| target.get("bench").and_then(toml::Value::as_bool) == Some(false);
    if package.directory.join("src/lib.rs").is_file() && !package.get("lib").is_some_and(is_off) {
        problems.push(format!("{at}: [lib] needs bench = false"));
    }
    for kind in ["bin", "example"] {
        if package.tables(kind).any(|target| !is_off(target)) {
            problems.push(format!("{at}: [[{kind}]] needs bench = false"));
        }
    }
}

/// Checks that docs.rs builds a library with all features and shows which of them an item needs, that the front page names
/// each feature, and that the tests have all of them, which a development dependency of the library on itself enables.
fn features(package: &Package, library: &str, problems: &mut Vec<String>) {
    let name = &package.name;
    let features = package.features();
    if features.is_empty() {
        return;
    }
    if package.get("package.metadata.docs.rs.all-features").and_then(toml::Value::as_bool) != Some(true) {
        problems.push(format!("{name}/Cargo.toml: [package.metadata.docs.rs] needs all-features = true"));
    }
    let attribute = "#![cfg_attr(docsrs, feature(doc_cfg))]";
    if !library.contains(attribute) {
        problems.push(format!("{name}/src/lib.rs: {attribute} is missing"));
    }
    let page: Vec<&str> = library.lines().filter(|line| line.starts_with("//!")).collect();
    let own = strings(package.get(&format!("dev-dependencies.{name}.features")));
    let tested = package.enabled_by(&own.chain(["default"]).map(str::to_owned).collect());
    for feature in features {
        let named = format!("`{feature}`");
        if !page.iter().any(|line| line.contains(&named)) {
            problems.push(format!("{name}/src/lib.rs: the front page does not name the feature {feature}"));
        }
        if !tested.contains(&feature) {
            problems.push(format!("{name}/Cargo.toml: the tests lack the feature {feature}"));
        }
    }
}

/// Parses the dependency table in ARCHITECTURE.md.
fn map(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    fn names(cell: &str) -> impl Iterator<Item = &str> {
        cell.split(',').map(|name| name.trim_matches([' ', '`'])).filter(|name| !name.is_empty())
    }
    // The line after the header separates it from the rows.
    let lines = text.lines().skip_while(|line| *line != MAP).skip(2).take_while(|line| line.starts_with('|'));
    let mut map = BTreeMap::new();
    for line in lines {
        let mut cells = line.trim_matches('|').split('|');
        let (rows, others) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        map.extend(names(rows).map(|name| (name, names(others).collect())));
    }
    map
}

/// Compares the table with the manifests. Dependencies of tests are ignored, except those of the examples.
fn directions(text: &str, packages: &[Package], problems: &mut Vec<String>) {
    let map = map(text);
    let members: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    for name in map.keys().filter(|name| !members.contains(*name)) {
        problems.push(format!("ARCHITECTURE.md: there is no {name}"));
    }
    for package in packages {
        let name = &package.name;
        let own = if name == "examples" { "dev-dependencies" } else { "dependencies" };
        let found: BTreeSet<&str> = [own, "build-dependencies"]
            .into_iter()
            .filter_map(|section| package.get(section)?.as_table())
            .flat_map(toml::Table::keys)
            .map(String::as_str)
            .filter(|name| members.contains(name) && *name != PATCH.0)
            .collect();
        match map.get(name.as_str()) {
            Some(told) if *told == found => {}
            Some(told) => problems
                .push(format!("ARCHITECTURE.md: {name} depends on {found:?}, the table says {told:?}")),
            None => problems.push(format!("ARCHITECTURE.md: the table lacks {name}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        let mut problems = Vec::new();
        super::text(&source, &mut problems);
        if path.ends_with(".rs") {
            rust(&source, &mut problems);
        }
        problems
    }

    fn package(name: &str, manifest: &str) -> Package {
        Package { name: name.to_owned(), directory: PathBuf::new(), manifest: manifest.parse().unwrap() }
    }

    #[test]
    fn each_rule_finds_its_violation() {
        let host = REGISTRY_HOSTS[1];
        for (path, text) in [
            ("README.md", "no end"),
            ("README.md", "space \n"),
            ("README.md", &format!("see {host}\n") as &str),
            ("README.md", &format!("see {}x\n", MACHINE_PATHS[0])),
            ("crates/x/src/a.rs", "fn a() {}\n"),
            ("crates/x/src/a.rs", &format!("//! A.\n{}", "// b\n".repeat(LONGEST_MODULE))),
            ("crates/x/src/a.rs", concat!("//! A.\n#[", "ignore]\nfn a() {}\n")),
            ("crates/x/src/a.rs", concat!("//! A.\nfn a() { unsafe", " {} }\n")),
            ("crates/x/src/a.rs", "//! A.\n/// # Errors\n/// Always.\nfn a() {}\n"),
            ("crates/x/src/a.rs", "//! A.\n    /// True if it fails.\n    fails: bool,\n"),
        ] {
            assert_eq!(problems(path, text).len(), 1, "{path}: {text}");
        }
        for (path, text) in [("LICENSE-MIT", "as it came "), ("crates/x/src/a.rs", "//! A.\n\nfn a() {}\n")] {
            assert_eq!(problems(path, text), [""; 0]);
        }
    }

    #[test]
    fn a_module_with_parts_is_a_folder() {
        let source = |path: &str| Source { path: path.to_owned(), text: String::new() };
        let mut problems = Vec::new();
        modules(&["a/mod.rs", "a/b.rs", "a/b/c.rs", "a/d.rs", "a/d/e.txt"].map(source), &mut problems);
        assert_eq!(problems, ["a/b.rs: a module with parts is a/b/mod.rs"]);
    }

    #[test]
    fn the_map_is_read_and_compared() {
        let text = format!("{MAP}\n| --- | --- |\n| `a`, `b` | |\n| `c` | `a`, `b` |\n\n| d | e |\n");
        assert_eq!(
            map(&text),
            BTreeMap::from([
                ("a", BTreeSet::new()),
                ("b", BTreeSet::new()),
                ("c", BTreeSet::from(["a", "b"]))
            ])
        );
        let package = |name, dependency: &str| {
            package(name, &format!("[dependencies]\n{dependency}.workspace = true\nserde = \"1\""))
        };
        let mut problems = Vec::new();
        directions(&text, &[package("a", "x"), package("b", "a"), package("z", "x")], &mut problems);
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn features_are_documented_and_tested() {
        let own = "dev-dependencies.a = { path = \".\", features = [\"x\"] }";
        let list = "[features]\ndefault = [\"w\"]\nw = []\nx = [\"y\"]\ny = []\n";
        let problems = |manifest: &str, library| {
            let mut problems = Vec::new();
            features(&package("a", manifest), library, &mut problems);
            problems
        };
        let good = format!("package.metadata.docs.rs.all-features = true\n{own}\n{list}");
        let library = "//! `w`, `x` and `y`\n#![cfg_attr(docsrs, feature(doc_cfg))]\n";
        assert_eq!(problems(&good, library), [""; 0]);
        assert_eq!(problems(&format!("{own}\n{list}"), library).len(), 1);
        assert_eq!(problems(&good, "//! `w`, `x`\n// `y`\n").len(), 2);
        let untested = problems(&format!("{good}z = []\n"), "//! `z`\n");
        assert_eq!(untested.last().unwrap(), "a/Cargo.toml: the tests lack the feature z");
    }

    #[test]
    fn features_of_serde_json_are_found() {
        let manifest = "[features]\na = [\"dep:serde_json\", \"serde_json?/preserve_order\", \"serde_json/std\"]\n\
            [dependencies]\nserde_json = { workspace = true, features = [\"arbitrary_precision\"] }\n\
            [dev-dependencies]\nserde_json = { workspace = true, features = [\"raw_value\"] }\n";
        let package = package("a", manifest);
        let features: Vec<_> = package.serde_json_features().collect();
        assert_eq!(features, ["arbitrary_precision", "preserve_order", "std"]);
    }

    #[test]
    fn this_repository_names_its_members() {
        let packages = packages(&Workspace::find().unwrap()).unwrap();
        let sse = packages.iter().find(|package| package.name == "tightwire-sse").unwrap();
        assert!(sse.is_library());
        assert!(sse.features().contains(&"reqwest".to_owned()));
        let program = packages.iter().find(|package| package.name == "psrp-cli").unwrap();
        assert!(program.is_published() && !program.is_library());
    }
}
