//! The commands of the program.

use std::fs;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::{data, parco, utf8};

const BOOL: &str = r#"{"t":"bool"}"#;

/// Writes a file and returns its path.
fn file(folder: &TempDir, name: &str, contents: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    fs::write(&path, contents).unwrap();
    utf8(&path).to_owned()
}

/// The files in `tests/data/user` are what the generators write. Set `UPDATE_EXAMPLES=1` to replace them.
#[test]
fn generated_files_are_those_of_the_examples() {
    let schema = data("data/user/schema.json");
    for (language, extension) in [("go", "go"), ("python", "py"), ("typescript", "ts")] {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["generate", utf8(&schema), "--language", language, "--output", utf8(folder.path())];
        let output = parco(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found = fs::read_to_string(folder.path().join("user").with_extension(extension)).unwrap();
        let example = data("data/user/user").with_extension(extension);
        if std::env::var_os("UPDATE_EXAMPLES").is_some() {
            fs::write(&example, &found).unwrap();
        }
        assert_eq!(found, fs::read_to_string(&example).unwrap(), "{language}");
        let runtime = fs::read_to_string(folder.path().join("parco").with_extension(extension)).unwrap();
        assert!(runtime.contains("format of parco"), "{language}");
    }
}

/// A message with the name of a keyword or imported module has no file in Python, and one of a test in Go has another one.
#[test]
fn names_of_files_have_no_other_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let generate = |name: &str, language: &str| {
        let schema = format!(r#"{{"t":"struct","name":"{name}","fields":[]}}"#);
        let schema = file(&folder, "schema.json", schema);
        parco(&["generate", &schema, "--language", language, "--output", utf8(folder.path())]).status
    };
    assert!(!generate("Class", "python").success() && !generate("Struct", "python").success());
    assert!(generate("UnitTest", "go").success() && folder.path().join("unittest.go").exists());
}

#[test]
fn messages_are_printed_as_lines_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let schema = file(
        &folder,
        "schema.json",
        r#"{"t":"struct","fields":[["name",{"t":"string","header":{"t":"varint"}}],["age",{"t":"uint8"}]]}"#,
    );
    let messages = file(&folder, "messages", b"\x03ana\x07\x00\x08");
    let output = parco(&["inspect", &messages, "--schema", &schema]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "{\"name\":\"ana\",\"age\":7}\n{\"name\":\"\",\"age\":8}\n"
    );
    assert!(output.status.success());

    let messages = file(&folder, "truncated", b"\x03ana\x07\x05");
    let output = parco(&["inspect", &messages, "--schema", &schema]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"name\":\"ana\",\"age\":7}\n");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("cannot decode the message at byte 5"), "{error}");

    let schema = file(&folder, "schema.json", r#"{"t":"struct","fields":[]}"#);
    let output = parco(&["inspect", &messages, "--schema", &schema]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("6 bytes follow a message without bytes"));
}

/// A program such as `head` closes the output when it has read enough.
#[test]
fn closed_outputs_are_no_errors() {
    let folder = tempfile::tempdir().unwrap();
    let fields = |of: &str| {
        let fields: Vec<_> = (0..5_000).map(|index| format!(r#"["f{index}",{{"t":"{of}"}}]"#)).collect();
        format!(r#"{{"t":"struct","fields":[{}]}}"#, fields.join(","))
    };
    let (old, new) = (file(&folder, "old.json", fields("bool")), file(&folder, "new.json", fields("uint8")));
    let (schema, messages) = (file(&folder, "bool.json", BOOL), file(&folder, "messages", [1; 50_000]));
    // Both print more than the buffer of a pipe has room for.
    for (arguments, code) in
        [(&["inspect", &messages, "--schema", &schema][..], 0), (&["diff", &old, &new], 5)]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_parco"));
        let mut child =
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(code));
    }
}

/// Ids are texts of the schema, whatever code they contain.
#[test]
fn imports_are_those_of_the_types() {
    let folder = tempfile::tempdir().unwrap();
    let id = r"*big.Int r.some( r.zoned( = nested( @nested\n";
    let models = format!(r#"{{"{id}":{BOOL}}}"#);
    let header = r#"{"t":"string","header":{"t":"varint"}}"#;
    let schema = format!(
        r#"{{"t":"multi","name":"Command","header":{header},"models":{models},"names":{{"{id}":"A"}}}}"#
    );
    let schema = file(&folder, "schema.json", schema);
    for (language, file, import) in [
        ("go", "command.go", "package messages\n\n// Command is"),
        ("python", "command.py", "from parco import ParcoError, Reader, Writer, decode, encode\n"),
        ("typescript", "command.ts", "import { ParcoError, Reader, Writer, decode, encode } from"),
    ] {
        let output = parco(&["generate", &schema, "--language", language, "--output", utf8(folder.path())]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.contains(import), "{text}");
    }
}

#[test]
fn exit_codes_are_verdicts() {
    let fields = |fields: &str| format!(r#"{{"t":"struct","fields":[{fields}]}}"#);
    let variants =
        |models: &str| format!(r#"{{"t":"multi","header":{{"t":"varint"}},"models":{{{models}}}}}"#);
    let (one, two) = (fields(r#"["a",{"t":"bool"}]"#), fields(r#"["a",{"t":"bool"}],["b",{"t":"bool"}]"#));
    let (few, more) = (variants(r#""0":{"t":"bool"}"#), variants(r#""0":{"t":"bool"},"1":{"t":"bool"}"#));
    let folder = tempfile::tempdir().unwrap();
    for (old, new, code, text) in [
        (&*one, &*one, 0, ""),
        (&*one, &*two, 3, "b: added at the end (old readers read new messages)\n"),
        (&*few, &*more, 4, "[1]: model added (new readers read old messages)\n"),
        (BOOL, r#"{"t":"uint8"}"#, 5, "the message: bool became u8 (breaks)\n"),
    ] {
        let (old, new) = (file(&folder, "old.json", old), file(&folder, "new.json", new));
        let output = parco(&["diff", &old, &new]);
        assert_eq!(String::from_utf8_lossy(&output.stdout), text);
        assert_eq!(output.status.code(), Some(code));
    }
    let (old, new) = (file(&folder, "old.json", BOOL), file(&folder, "new.json", "{}"));
    let output = parco(&["diff", &old, &new]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("new.json is not a schema"));
}
