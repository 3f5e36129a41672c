//! Discovery of the index that uv or pip of a machine uses.

use std::fs;
use std::path::Path;

use pypi_proxy::Error;
use pypi_proxy::config::{Discovery, ProxyBuilder, Settings, Sources};

/// Returns the URL and source of the index with these variables and Python interpreters.
fn find(env: &[(&str, &str)], pythons: &[String]) -> Result<(String, String), Error> {
    let found = Discovery::new(env.iter().copied()).pythons(pythons).find()?;
    Ok((found.value.to_string(), found.origin.to_string()))
}

#[cfg(unix)]
fn script(dir: &Path, name: &str, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;

    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[cfg(unix)]
#[test]
fn variables_precede_files_of_uv_and_these_precede_pip() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("uv");
    fs::create_dir(&config).unwrap();
    let file = config.join("uv.toml");
    fs::write(&file, "index-url = \"https://file.example.org/simple\"\n").unwrap();
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
    fs::write(&file, text).unwrap();
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
    assert!(
        error.is_config()
            && error.to_string().contains("PIP_INDEX_URL")
            && !error.to_string().contains("hunter2")
    );
}

fn build(env: &[(&str, &str)]) -> Result<(), Error> {
    let settings = Settings::read(&Sources::new().env(env.iter().copied())).unwrap();
    ProxyBuilder::new(&settings, None).and_then(|builder| builder.upstreams().map(drop))
}

#[test]
fn proxy_rejects_itself_as_index() {
    for (listen, index) in [
        ("127.0.0.1:5000", "http://localhost:5000/simple"),
        ("0.0.0.0:80", "http://127.0.0.1/index/"),
        ("[::]:5000", "http://[::1]:5000/"),
        ("proxy.example.org:5000", "http://Proxy.example.org:5000/simple/"),
    ] {
        let error = build(&[("PYPI_PROXY_LISTEN", listen), ("PYPI_PROXY_INDEX_URL", index)]).unwrap_err();
        assert!(error.is_config() && error.to_string().contains("itself"), "{index}: {error}");
    }
    let other =
        [("PYPI_PROXY_LISTEN", "127.0.0.1:5000"), ("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:5001/simple")];
    assert!(build(&other).is_ok());
}

#[test]
fn missing_index_and_missing_certificate_file_are_errors() {
    let index = ("PYPI_PROXY_INDEX_URL", "https://a.example.org/simple");
    assert!(build(&[]).unwrap_err().to_string().contains("index_url"));
    let error = build(&[index, ("PYPI_PROXY_CA_FILES", "missing.pem")]).unwrap_err();
    assert!(error.is_config() && error.to_string().contains("missing.pem"), "{error}");
}
