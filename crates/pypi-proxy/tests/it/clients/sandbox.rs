//! Isolated environments for clients, without the configuration and caches of this machine, and indexes for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::support::prelude::*;
pub(crate) use crate::support::program::serve;
use crate::support::program::{Log, Served};

const LIMIT: Duration = Duration::from_secs(120);
/// Names of files that installers create in an environment, in addition to those of the wheel.
const OWN: [&str; 6] =
    ["INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"];

/// Returns the interpreter in whose environment the clients are installed.
pub(crate) fn python() -> Option<PathBuf> {
    test_support::optional::variable("PYPI_CLIENTS_PYTHON").map(PathBuf::from)
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// Folder written by `build.py`.
pub(crate) struct Shelf(tempfile::TempDir);

impl Shelf {
    pub(crate) async fn new(python: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut build = Command::new(python);
        let status = build.arg(script("build.py")).arg(dir.path()).status().await.unwrap();
        assert!(status.success());
        Self(dir)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, project: &str, name: &str) -> PathBuf {
        self.path().join("files").join(project).join(name)
    }

    pub(crate) fn sha256(&self, project: &str, name: &str) -> String {
        digest_of(&std::fs::read(self.file(project, name)).unwrap()).to_string()
    }
}

/// simple-repository-server with the files of a shelf.
pub(crate) struct RichIndex {
    /// Its port, and then one line per request.
    pub(crate) lines: Log,
    port: u16,
    _child: Child,
}

impl RichIndex {
    pub(crate) async fn start(python: &Path, shelf: &Shelf) -> Self {
        let mut command = Command::new(python);
        command.arg(script("index.py")).arg(shelf.path()).env("PYTHONDONTWRITEBYTECODE", "1");
        let (lines, output) = Log::new();
        let mut child = command.stdin(Stdio::null()).stdout(output).kill_on_drop(true).spawn().unwrap();
        let port = lines.find(&mut child, |line| line.parse().ok()).await;
        Self { lines, port, _child: child }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/simple/", self.port)
    }
}

pub(crate) struct Site {
    pub(crate) python: PathBuf,
    pub(crate) shelf: Shelf,
    pub(crate) index: RichIndex,
    pub(crate) proxy: Served,
    _cache: tempfile::TempDir,
}

impl Site {
    /// Starts the index and the proxy with these variables; returns `None` if there are no clients.
    pub(crate) async fn start(env: &[(&str, &str)]) -> Option<Self> {
        let python = python()?;
        let shelf = Shelf::new(&python).await;
        let index = RichIndex::start(&python, &shelf).await;
        let cache = tempfile::tempdir().unwrap();
        let url = index.url();
        let env = [&[("PYPI_PROXY_INDEX_URL", &*url)], env].concat();
        let proxy = serve(cache.path(), &env).await;
        Some(Self { python, shelf, index, proxy, _cache: cache })
    }

    pub(crate) async fn sandbox(&self) -> Sandbox {
        Sandbox::new(&self.python).await
    }
}

/// Returns the block of the guide that starts with this comment, with the URL of the proxy.
pub(crate) fn guide(title: &str, proxy: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pypi-proxy.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, block) =
        text.split_once(&format!("\n# {title}\n")).unwrap_or_else(|| panic!("no block for {title}"));
    let (block, _) = block.split_once("```").unwrap();
    assert!(block.contains("http://127.0.0.1:5000/"), "{title}");
    block.replace("http://127.0.0.1:5000", proxy)
}

/// A new home folder, working folder and environment.
pub(crate) struct Sandbox {
    dir: tempfile::TempDir,
    python: PathBuf,
    env: Vec<(String, String)>,
}

impl Sandbox {
    pub(crate) async fn new(python: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "tmp", "work"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let sandbox = Self { dir, python: python.to_owned(), env: Vec::new() };
        let venv = sandbox.venv();
        sandbox.run("python", &["-m", "venv", "--without-pip", venv.to_str().unwrap()]).await;
        sandbox
    }

    pub(crate) fn venv(&self) -> PathBuf {
        self.dir.path().join("venv")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Sets a variable for the following commands.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// Sets the variables that a block of the guide exports.
    pub(crate) fn export(&mut self, block: &str) {
        for line in block.lines() {
            let (name, value) = line.strip_prefix("export ").unwrap().split_once('=').unwrap();
            self.set(name, value);
        }
    }

    /// Writes a file, by its path in the working folder.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(self.python.with_file_name(program));
        let (home, venv) = (self.home(), self.venv());
        let programs = self.python.parent().unwrap();
        let path = format!("{}:{}:/usr/bin:/bin", venv.join("bin").display(), programs.display());
        command.env_clear().env("PATH", path).env("VIRTUAL_ENV", &venv).env("LANG", "C.UTF-8");
        command.env("HOME", &home).env("TMPDIR", self.dir.path().join("tmp")).env("CI", "1");
        for (name, folder) in [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
            ("XDG_CONFIG_DIRS", "no-such-folder"),
        ] {
            command.env(name, home.join(folder));
        }
        command.env("PIP_CONFIG_FILE", "/dev/null").env("PIP_DISABLE_PIP_VERSION_CHECK", "1");
        command.env("UV_NO_SYSTEM_CONFIG", "1").env("UV_PYTHON_DOWNLOADS", "never");
        command.env("POETRY_VIRTUALENVS_CREATE", "false").env("PDM_CHECK_UPDATE", "0");
        if program == "pip" {
            command.env("PIP_PYTHON", &venv);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.args(args).current_dir(self.work()).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Runs a command. Returns whether it succeeded, and its output.
    pub(crate) async fn output(&self, program: &str, args: &[&str]) -> (bool, String) {
        let output = tokio::time::timeout(LIMIT, self.command(program, args).output()).await;
        let output = output.unwrap_or_else(|_| panic!("{program} {args:?}: does not end")).unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    pub(crate) async fn run(&self, program: &str, args: &[&str]) -> String {
        let (is_good, text) = self.output(program, args).await;
        assert!(is_good, "{program} {args:?}: {text}");
        text
    }

    pub(crate) async fn fails(&self, program: &str, args: &[&str]) -> String {
        let (is_good, text) = self.output(program, args).await;
        assert!(!is_good, "{program} {args:?}: {text}");
        text
    }

    pub(crate) async fn freeze(&self) -> Vec<String> {
        let text = self.run("pip", &["freeze"]).await;
        text.lines().map(str::to_owned).collect()
    }

    /// Bytes stored by the clients.
    pub(crate) fn size(&self) -> u64 {
        let files = [self.home(), self.dir.path().join("tmp")].map(|dir| files_below(&dir)).concat();
        files.iter().flat_map(|path| path.metadata()).map(|metadata| metadata.len()).sum()
    }

    pub(crate) fn packages(&self) -> PathBuf {
        let mut versions = std::fs::read_dir(self.venv().join("lib")).unwrap();
        versions.next().unwrap().unwrap().path().join("site-packages")
    }

    /// Returns the installed files with their hashes.
    pub(crate) fn installed(&self) -> BTreeMap<String, String> {
        let packages = self.packages();
        let mut files = BTreeMap::new();
        for path in files_below(&packages) {
            let name = path.file_name().unwrap().to_str().unwrap();
            let relative = path.strip_prefix(&packages).unwrap().to_str().unwrap();
            // Skips the files that installers create in an environment.
            if relative != name && !relative.contains("__pycache__") && !OWN.contains(&name) {
                files.insert(relative.to_owned(), digest_of(&std::fs::read(&path).unwrap()).to_string());
            }
        }
        files
    }
}

/// A minimal index: HTML links with provenance, but without hashes, sizes, times and metadata. Serves the files below `folder/files` like a
/// plain web server.
pub(crate) fn html_index(folder: &Path) -> Server {
    let files = folder.join("files");
    Server::start(move |request| {
        let parts: Vec<_> = request.path.trim_start_matches('/').split('/').collect();
        match parts[..] {
            ["simple", project, ""] => links(&files.join(project), project, request),
            ["files", project, file] => {
                let file = percent_encoding::percent_decode_str(file).decode_utf8().unwrap();
                send_file(&files.join(project).join(&*file), request)
            }
            _ => respond(404, &[], ""),
        }
    })
}

fn links(folder: &PathBuf, project: &str, request: &Request) -> Vec<Step> {
    let Ok(entries) = std::fs::read_dir(folder) else { return respond(404, &[], "") };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let etag = format!("\"{project}-{}\"", names.len());
    if request.header("if-none-match") == etag {
        return respond(304, &[("etag", &etag)], "");
    }
    let links: String = names
        .iter()
        .map(|name| {
            let (path, provenance) = (name.replace('+', "%2B"), format!("/integrity/{name}"));
            format!(
                "<a href=\"../../files/{project}/{path}\" data-provenance=\"{provenance}\">{name}</a><br>\n"
            )
        })
        .collect();
    let page = format!("<!DOCTYPE html>\n<html><body>\n{links}</body></html>\n");
    respond(200, &[("content-type", "text/html"), ("etag", &etag)], page)
}

fn send_file(path: &Path, request: &Request) -> Vec<Step> {
    let Ok(content) = std::fs::read(path) else { return respond(404, &[], "") };
    let etag = format!("\"{:x}\"", content.len());
    let common = [("etag", &*etag), ("accept-ranges", "bytes"), ("content-type", "application/octet-stream")];
    ranged(request, &common, &content.into())
}
