//! The vectors of the default format in Go, Python and TypeScript. A test is skipped if its language is not installed.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use tempfile::TempDir;
use test_support::optional;
use tightwire_parco::schema::Schema;

use crate::expected::{Language, sort_maps};
use crate::{data, parco, utf8};

/// Types, each with a name, a schema, messages and other inputs.
fn types() -> Vec<Json> {
    let path = data("../../tightwire-parco/tests/data/default-vectors.json");
    let text =
        fs::read_to_string(&path).expect("a test of tightwire-parco writes the file (UPDATE_VECTORS=1)");
    let file: Json = serde_json::from_str(&text).unwrap();
    file["types"].as_array().unwrap().clone()
}

fn name(item: &Json) -> &str {
    item["name"].as_str().unwrap()
}

/// Returns messages and other inputs of a type. Only messages are encoded to the same bytes again.
fn cases(item: &Json) -> impl Iterator<Item = (&Json, bool)> {
    let list = |key: &str, is_message| {
        item[key].as_array().unwrap().iter().map(move |case| (case, is_message)).collect::<Vec<_>>()
    };
    [list("messages", true), list("inputs", false)].into_iter().flatten()
}

/// Generates the types and copies the driver.
fn prepare(language: &str, driver: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for item in types() {
        let schema = folder.path().join("schema.json");
        fs::write(&schema, item["schema"].to_string()).unwrap();
        let name = format!("types_{}", name(&item).to_lowercase());
        let package = folder.path().join(&name);
        // Packages of Go are folders.
        let output = if language == "go" { &*package } else { folder.path() };
        let arguments = [
            "generate",
            utf8(&schema),
            "--language",
            language,
            "--name",
            &name,
            "--package",
            &name,
            "--output",
            utf8(output),
        ];
        let output = parco(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    fs::copy(data("drivers").join(driver), folder.path().join(driver)).unwrap();
    folder
}

/// Runs a driver and compares what it prints.
fn check(language: Language, driver: &mut Command) {
    let types = types();
    let mut input = String::new();
    for item in &types {
        for (case, _) in cases(item) {
            writeln!(input, "{} {}", name(item), case["hex"].as_str().unwrap()).unwrap();
        }
    }
    let output = optional::output_with_input(driver, input);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines();
    let mut failures = Vec::new();
    let mut messages = 0;
    for item in &types {
        let schema = Schema::from_json(&item["schema"].to_string()).unwrap();
        for (case, is_message) in cases(item) {
            let mut found: Json = serde_json::from_str(lines.next().expect("a line per input")).unwrap();
            sort_maps(&mut found);
            let expected = case.get("value").map(|value| {
                let mut expected = language.message(&schema, value);
                sort_maps(&mut expected);
                expected
            });
            let is_same = match &expected {
                None => found["error"] == case["error"],
                Some(value) => found["value"] == *value && (!is_message || found["hex"] == case["hex"]),
            };
            messages += u32::from(is_message);
            if !is_same {
                failures.push(format!("{} {case}: found {found}, expected {expected:?}", name(item)));
            }
        }
    }
    assert_eq!(lines.next(), None);
    let first: Vec<_> = failures.iter().take(10).collect();
    assert!(failures.is_empty(), "{} failures in {language:?}, among them {first:#?}", failures.len());
    assert!(messages >= 200, "only {messages} messages");
}

/// Returns whether a command succeeds, for versions of languages.
fn succeeds(program: &Path, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

#[test]
fn go_passes() {
    if optional::program("go").is_none() {
        return optional::skip("go is not installed");
    }
    let folder = prepare("go", "driver.go");
    if let Some(gofmt) = optional::program("gofmt") {
        let output = Command::new(gofmt).arg("-l").arg(folder.path()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "files are not formatted");
    }
    fs::write(folder.path().join("go.mod"), "module vectors\n\ngo 1.23\n").unwrap();
    let (mut imports, mut codecs) = (String::new(), String::new());
    for item in types() {
        let (name, package) = (name(&item), format!("types_{}", name(&item).to_lowercase()));
        writeln!(imports, "import \"vectors/{package}\"").unwrap();
        writeln!(codecs, "\"{name}\": codec({package}.Decode{name}, {package}.Encode{name}),").unwrap();
    }
    let table = format!("var codecs = map[string]func([]byte) (any, []byte, error){{\n{codecs}}}\n");
    fs::write(folder.path().join("codecs.go"), format!("package main\n\n{imports}\n{table}")).unwrap();
    if let Some(program) = optional::go_program(folder.path(), ".", folder.path().join("driver")) {
        check(Language::Go, &mut Command::new(program));
    }
}

#[test]
fn python_passes() {
    let is_new =
        |program: &Path| succeeds(program, &["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]);
    let Some(python) = optional::program("python3").filter(|program| is_new(program)) else {
        return optional::skip("Python 3.10 is not installed");
    };
    let folder = prepare("python", "driver.py");
    check(Language::Python, Command::new(python).args(["-B", "driver.py"]).current_dir(folder.path()));
}

/// The compiler in `PARCO_NODE_MODULES` (see `tests/node/package.json`) checks the types; without it, Node.js ignores them.
#[test]
fn typescript_passes() {
    // Node.js runs TypeScript since version 22.6.
    const STRIP: [&str; 2] = ["--experimental-strip-types", "--no-warnings"];
    const STRICT: &str = "--strict --noUnusedLocals --noImplicitReturns --target es2022 --module nodenext \
                          --rewriteRelativeImportExtensions --types node";

    let modules = env::var_os("PARCO_NODE_MODULES").filter(|value| !value.is_empty()).map(PathBuf::from);
    let node = optional::program("node")
        .filter(|node| modules.is_some() || succeeds(node, &[&STRIP[..], &["--eval", "0"]].concat()));
    let Some(node) = node else {
        return optional::skip("Node.js 22.6 is not installed, and PARCO_NODE_MODULES is not set");
    };
    let folder = prepare("typescript", "driver.ts");
    fs::write(folder.path().join("package.json"), r#"{"type": "module"}"#).unwrap();
    let mut driver = Command::new(&node);
    driver.current_dir(folder.path());
    if let Some(modules) = modules {
        let mut compiler = Command::new(&node);
        compiler.arg(modules.join("typescript/lib/tsc.js")).args(STRICT.split_whitespace());
        compiler.arg("--typeRoots").arg(modules.join("@types"));
        for file in fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()) {
            compiler.args(file.extension().filter(|extension| *extension == "ts").map(|_| &file));
        }
        let output = compiler.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        driver.arg("driver.js");
    } else {
        driver.args(STRIP).arg("driver.ts");
    }
    check(Language::Typescript, &mut driver);
}
