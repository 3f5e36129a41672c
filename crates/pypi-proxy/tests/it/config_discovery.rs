//! Discovery of the index that uv or pip of a machine uses.

use std::path::Path;

use pypi_proxy::Error;
use pypi_proxy::config::Discovery;

/// Returns the URL and source of the index with these variables and Python interpreters.
fn find(env: &[(&str, &str)], pythons: &[String]) -> Result<(String, String), Error> {
    let found = Discovery::new(env.iter().copied()).pythons(pythons).find()?;
    Ok((found.value.to_string(), found.origin.to_string()))
}

fn script(dir: &Path, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;

    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn variables_precede_files_of_uv_and_these_precede_pip() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("uv");
    std::fs::create_dir(&config).unwrap();
    let file = config.join("uv.toml");
    std::fs::write(&file, "index-url = \"https://file.example.org/simple\"\n").unwrap();
    let pythons = [
        dir.path().join("missing").display().to_string(),
        script(dir.path(), "failing", "echo https://wrong.example.org; exit 1"),
        script(dir.path(), "silent", "exit 0"),
        script(dir.path(), "python", "echo warning; echo https://pip.example.org/simple"),
    ];
    let config_home = dir.path().display().to_string();
    let env = [
        ("PIP_INDEX_URL", "https://pip-variable.example.org"),
        ("UV_DEFAULT_INDEX", "https://uv-variable.example.org"),
        ("UV_INDEX_URL", "https://old-uv-variable.example.org"),
        ("XDG_CONFIG_HOME", &*config_home),
    ];
    for (skipped, host, origin) in [
        (0, "pip-variable", "PIP_INDEX_URL"),
        (1, "uv-variable", "UV_DEFAULT_INDEX"),
        (2, "old-uv-variable", "UV_INDEX_URL"),
    ] {
        let expected = (format!("https://{host}.example.org/"), origin.to_owned());
        assert_eq!(find(&env[skipped..], &pythons).unwrap(), expected);
    }
    let (url, origin) = find(&env[3..], &pythons).unwrap();
    assert_eq!((&*url, origin), ("https://file.example.org/simple/", file.display().to_string()));
    let (url, origin) = find(&[], &pythons).unwrap();
    assert!(url == "https://pip.example.org/simple/" && origin.contains("python"), "{url} {origin}");
    let error = find(&[], &pythons[..3]).unwrap_err();
    assert!(error.is_config() && error.to_string().contains("--index-url"), "{error}");
}

#[test]
fn default_index_of_a_uv_file_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("own.toml");
    let text = "[[index]]\nurl = \"https://a.example.org\"\n[[index]]\nurl = \"https://b.example.org\"\ndefault = true\n";
    std::fs::write(&file, text).unwrap();
    let path = file.display().to_string();
    assert_eq!(find(&[("UV_CONFIG_FILE", &path)], &[]).unwrap(), ("https://b.example.org/".into(), path));
}

#[test]
fn index_of_uv_may_have_a_name() {
    for value in ["corp=https://a.example.org/x", "https://a.example.org/x"] {
        assert_eq!(find(&[("UV_DEFAULT_INDEX", value)], &[]).unwrap().0, "https://a.example.org/x/");
    }
}

#[test]
fn discovered_index_shows_no_password_and_must_be_a_url() {
    let (shown, _) = find(&[("PIP_INDEX_URL", "https://reader:hunter2@a.example.org/simple")], &[]).unwrap();
    assert_eq!(shown, "https://***@a.example.org/simple/");
    let error = find(&[("PIP_INDEX_URL", "file://hunter2")], &[]).unwrap_err();
    let text = error.to_string();
    assert!(error.is_config() && text.contains("PIP_INDEX_URL") && !text.contains("hunter2"), "{text}");
}
