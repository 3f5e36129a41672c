//! Discovery of the index that pip or uv is configured with.

use std::fs;
use std::path::Path;
use std::time::Duration;

use pypi_proxy::Error;
use pypi_proxy::config::{Discovery, Engines, Settings, Sources};

/// Creates a folder with these files.
fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// Runs the discovery there. Values that start with `/` are relative to the folder.
fn find(dir: &Path, env: &[(&str, &str)]) -> Result<(String, String), Error> {
    let env = env.iter().map(|(name, value)| {
        let value = value
            .strip_prefix('/')
            .map_or_else(|| (*value).to_owned(), |path| dir.join(path).display().to_string());
        ((*name).to_owned(), value)
    });
    let found = Discovery::new(env).root(dir).pythons(<[String; 0]>::default()).find()?;
    let origin = found.origin.to_string();
    Ok((
        found.value.to_string(),
        origin.strip_prefix(&format!("{}/", dir.display())).unwrap_or(&origin).to_owned(),
    ))
}

const HOME: (&str, &str) = ("HOME", "/h");

#[test]
fn sources_are_searched_in_order() {
    let pip = |host: &str| format!("[global]\nindex-url = https://{host}.example.org/simple\n");
    let uv = |host: &str| format!("index-url = \"https://{host}.example.org/simple\"\n");
    let files = [
        ("v/pip.conf", pip("venv")),
        ("h/.config/pip/pip.conf", pip("user")),
        ("h/.pip/pip.conf", pip("legacy")),
        ("etc/pip.conf", pip("etc")),
        ("etc/xdg/pip/pip.conf", pip("xdg")),
        ("h/.config/uv/uv.toml", uv("uvuser")),
        ("etc/uv/uv.toml", uv("uvetc")),
    ];
    let env = [
        HOME,
        ("VIRTUAL_ENV", "/v"),
        ("PIP_INDEX_URL", "https://env.example.org"),
        ("UV_DEFAULT_INDEX", "https://uv.example.org"),
    ];
    let all: Vec<_> = files.iter().map(|(path, text)| (*path, &**text)).collect();
    let dir = machine(&all);
    assert_eq!(find(dir.path(), &env).unwrap(), ("https://env.example.org/".into(), "PIP_INDEX_URL".into()));
    let env = [env[0], env[1], env[3]];
    let order =
        ["v/pip.conf", "h/.config/pip/pip.conf", "h/.pip/pip.conf", "etc/pip.conf", "etc/xdg/pip/pip.conf"];
    for path in order {
        assert_eq!(find(dir.path(), &env).unwrap().1, path);
        fs::remove_file(dir.path().join(path)).unwrap();
    }
    assert_eq!(
        find(dir.path(), &env).unwrap(),
        ("https://uv.example.org/".into(), "UV_DEFAULT_INDEX".into())
    );
    for path in ["h/.config/uv/uv.toml", "etc/uv/uv.toml"] {
        assert_eq!(find(dir.path(), &[HOME]).unwrap().1, path);
        fs::remove_file(dir.path().join(path)).unwrap();
    }
    let error = find(dir.path(), &[HOME]).unwrap_err();
    assert!(error.is_config() && error.to_string().contains("--index-url"), "{error}");
}

#[test]
fn variables_set_the_paths_of_files() {
    let conf = "[global]\nindex-url = https://x.example.org/simple\n";
    let dir = machine(&[
        ("own.conf", conf),
        ("x/pip/pip.conf", conf),
        (
            "own.toml",
            "[[index]]\nurl = \"https://a.example.org\"\n[[index]]\nurl = \"https://b.example.org\"\ndefault = true\n",
        ),
    ]);
    assert_eq!(find(dir.path(), &[("PIP_CONFIG_FILE", "/own.conf")]).unwrap().1, "own.conf");
    assert_eq!(find(dir.path(), &[("XDG_CONFIG_HOME", "/x")]).unwrap().1, "x/pip/pip.conf");
    assert_eq!(find(dir.path(), &[("XDG_CONFIG_DIRS", "/x")]).unwrap().1, "x/pip/pip.conf");
    assert_eq!(
        find(dir.path(), &[("UV_CONFIG_FILE", "/own.toml")]).unwrap(),
        ("https://b.example.org/".into(), "own.toml".into())
    );
}

#[test]
fn the_section_of_the_command_overrides_the_global_one() {
    let dir = machine(&[
        ("h/.config/pip/pip.conf", "[global]\nindex-url = https://global.example.org\n"),
        ("etc/pip.conf", "[install]\nindex_url = https://install.example.org\n"),
    ]);
    assert_eq!(find(dir.path(), &[HOME]).unwrap().0, "https://install.example.org/");
}

#[test]
fn uv_indexes_may_have_names() {
    let dir = machine(&[]);
    for value in ["corp=https://a.example.org/x", "https://a.example.org/x"] {
        assert_eq!(find(dir.path(), &[("UV_DEFAULT_INDEX", value)]).unwrap().0, "https://a.example.org/x/");
    }
    assert_eq!(find(dir.path(), &[("UV_INDEX_URL", "https://b.example.org")]).unwrap().1, "UV_INDEX_URL");
}

#[test]
fn discovered_indexes_are_urls_and_hide_passwords() {
    let dir = machine(&[]);
    let (shown, _) =
        find(dir.path(), &[("PIP_INDEX_URL", "https://reader:hunter2@a.example.org/simple")]).unwrap();
    assert_eq!(shown, "https://***@a.example.org/simple/");
    let error = find(dir.path(), &[("PIP_INDEX_URL", "file://hunter2")]).unwrap_err();
    assert!(
        error.is_config()
            && error.to_string().contains("PIP_INDEX_URL")
            && !error.to_string().contains("hunter2")
    );
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
fn pip_is_run_last_with_a_timeout() {
    let dir = machine(&[]);
    let programs = [
        dir.path().join("missing").display().to_string(),
        script(dir.path(), "failing", "echo https://wrong.example.org; exit 1"),
        script(dir.path(), "silent", "exit 0"),
        script(dir.path(), "hanging", "exec sleep 1000000"),
        script(dir.path(), "good", "echo warning; echo https://default.example.org/simple"),
    ];
    let none: [(&str, &str); 0] = [];
    let discovery = Discovery::new(none).root(dir.path()).timeout(Duration::from_secs(10));
    let found = discovery.pythons(programs).find().unwrap();
    assert_eq!(found.value.to_string(), "https://default.example.org/simple/");
    assert!(found.origin.to_string().contains("good"));
}

fn engines(env: &[(&str, &str)]) -> Result<(), Error> {
    let settings = Settings::read(&Sources::new().env(env.iter().copied())).unwrap();
    Engines::new(&settings, None).and_then(|engines| engines.upstreams().map(drop))
}

#[test]
fn the_proxy_is_not_its_own_upstream() {
    for (listen, index) in [
        ("127.0.0.1:5000", "http://localhost:5000/simple"),
        ("0.0.0.0:80", "http://127.0.0.1/index/"),
        ("[::]:5000", "http://[::1]:5000/"),
        ("proxy.example.org:5000", "http://Proxy.example.org:5000/simple/"),
    ] {
        let error = engines(&[("PYPI_PROXY_LISTEN", listen), ("PYPI_PROXY_INDEX_URL", index)]).unwrap_err();
        assert!(error.is_config() && error.to_string().contains("itself"), "{index}: {error}");
    }
    let other =
        [("PYPI_PROXY_LISTEN", "127.0.0.1:5000"), ("PYPI_PROXY_INDEX_URL", "http://127.0.0.1:5001/simple")];
    assert!(engines(&other).is_ok());
}

#[test]
fn missing_sources_are_rejected() {
    let index = ("PYPI_PROXY_INDEX_URL", "https://a.example.org/simple");
    assert!(engines(&[]).unwrap_err().to_string().contains("index_url"));
    let error = engines(&[index, ("PYPI_PROXY_CA_FILES", "missing.pem")]).unwrap_err();
    assert!(error.is_config() && error.to_string().contains("missing.pem"), "{error}");
}
