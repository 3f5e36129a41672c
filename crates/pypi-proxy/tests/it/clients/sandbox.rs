//! Clients, each in a place of its own, with nothing of this machine's configuration and caches.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};

use crate::support::source::digest_of;

/// A command that takes longer is taken for one that never ends.
const LIMIT: Duration = Duration::from_secs(120);
/// What installers write for themselves.
const OWN: [&str; 6] =
    ["INSTALLER", "RECORD", "REQUESTED", "direct_url.json", "uv_cache.json", "uv_build.json"];

/// Tells that something is left out, in spite of the captured output.
pub(crate) fn skip(reason: &str) {
    writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error can be written");
}

/// The interpreter beside which the clients are installed.
pub(crate) fn python() -> Option<PathBuf> {
    let python = std::env::var_os("PYPI_CLIENTS_PYTHON").filter(|value| !value.is_empty());
    if python.is_none() {
        skip("PYPI_CLIENTS_PYTHON is not set");
    }
    python.map(PathBuf::from)
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// Lines that a program writes, as they come.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    /// Collects the lines, and waits for the first one of which `find` makes something.
    async fn collect<T: Send + 'static>(
        from: impl AsyncRead + Send + Unpin + 'static,
        mut find: impl FnMut(&str) -> Option<T> + Send + 'static,
    ) -> (Self, T) {
        let lines = Self::default();
        let (sender, found) = tokio::sync::oneshot::channel();
        let (all, mut sender) = (lines.clone(), Some(sender));
        tokio::spawn(async move {
            let mut from = BufReader::new(from).lines();
            while let Ok(Some(line)) = from.next_line().await {
                if sender.is_some()
                    && let Some(found) = find(&line)
                    && let Some(sender) = sender.take()
                {
                    let _ = sender.send(found);
                }
                all.0.lock().unwrap().push(line);
            }
        });
        let found = tokio::time::timeout(LIMIT, found).await.expect("it takes too long");
        let found = found.unwrap_or_else(|_| panic!("it has ended: {:?}", lines.all()));
        (lines, found)
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// The folder that `build.py` writes.
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

    /// The file of a project.
    pub(crate) fn file(&self, project: &str, name: &str) -> PathBuf {
        self.path().join("files").join(project).join(name)
    }

    /// The SHA-256 of a file.
    pub(crate) fn sha256(&self, project: &str, name: &str) -> String {
        digest_of(&std::fs::read(self.file(project, name)).unwrap()).to_string()
    }
}

/// simple-repository-server with the files of a shelf.
pub(crate) struct RichIndex {
    /// Its port, and then a line for each request.
    pub(crate) lines: Lines,
    port: u16,
    _child: Child,
}

impl RichIndex {
    pub(crate) async fn start(python: &Path, shelf: &Shelf) -> Self {
        let mut command = Command::new(python);
        command.arg(script("index.py")).arg(shelf.path()).env("PYTHONDONTWRITEBYTECODE", "1");
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let (lines, port) = Lines::collect(child.stdout.take().unwrap(), |line| line.parse().ok()).await;
        Self { lines, port, _child: child }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/simple/", self.port)
    }
}

/// The program under test, serving.
pub(crate) struct Program {
    /// With the last slash left to whoever wants one.
    pub(crate) url: String,
    pub(crate) log: Lines,
    child: Child,
}

impl Program {
    /// Starts it with these variables, and with nothing of the environment unless `inherits`.
    pub(crate) async fn start(cache: &Path, inherits: bool, env: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pypi-proxy"));
        if !inherits {
            command.env_clear();
        }
        command.env("PYPI_PROXY_LISTEN", "127.0.0.1:0").env("PYPI_PROXY_CACHE_DIR", cache);
        // Where this machine is slow, clients are not to be sent elsewhere.
        command.env("PYPI_PROXY_DOWNLOAD_TIMEOUT", "never").env("PYPI_PROXY_LOG_FORMAT", "json");
        command.envs(env.iter().copied()).arg("serve");
        command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let address = |line: &str| {
            let event: serde_json::Value = serde_json::from_str(line).ok()?;
            event["address"].as_str().map(|address| format!("http://{address}"))
        };
        let (log, url) = Lines::collect(child.stderr.take().unwrap(), address).await;
        Self { url, log, child }
    }

    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// Checks that no request went wrong, so that no client has helped itself in another way.
    pub(crate) fn has_only_good_answers(&self) {
        for line in self.log.all() {
            let event: serde_json::Value = serde_json::from_str(&line).unwrap();
            let is_answer = event["target"] == "pypi_proxy::access";
            let is_good = event["level"] == "INFO"
                && (!is_answer || event["status"].as_u64().unwrap() < 400 && event["whole"] == true);
            assert!(is_good, "{line}");
        }
    }

    /// Ends it at once, without a word.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }
}

/// A block of the guide that begins with this comment, for the proxy at this URL.
pub(crate) fn guide(title: &str, proxy: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pypi-proxy.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, block) =
        text.split_once(&format!("\n# {title}\n")).unwrap_or_else(|| panic!("no block for {title}"));
    let (block, _) = block.split_once("```").unwrap();
    assert!(block.contains("http://127.0.0.1:5000/"), "{title}");
    block.replace("http://127.0.0.1:5000", proxy)
}

/// A home, a folder to work in and an environment to install to, used by nobody before.
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

    /// Sets a variable for the commands that follow.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// Sets what a block of the guide exports.
    pub(crate) fn export(&mut self, block: &str) {
        for line in block.lines() {
            let (name, value) = line.strip_prefix("export ").unwrap().split_once('=').unwrap();
            self.set(name, value);
        }
    }

    /// Writes a file, by its path in the folder to work in.
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

    /// Whether a command succeeds, and all that it prints.
    pub(crate) async fn output(&self, program: &str, args: &[&str]) -> (bool, String) {
        let output = tokio::time::timeout(LIMIT, self.command(program, args).output()).await;
        let output = output.unwrap_or_else(|_| panic!("{program} {args:?}: does not end")).unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }

    /// Runs a command that succeeds.
    pub(crate) async fn run(&self, program: &str, args: &[&str]) -> String {
        let (is_good, text) = self.output(program, args).await;
        assert!(is_good, "{program} {args:?}: {text}");
        text
    }

    /// Runs a command that fails.
    pub(crate) async fn fails(&self, program: &str, args: &[&str]) -> String {
        let (is_good, text) = self.output(program, args).await;
        assert!(!is_good, "{program} {args:?}: {text}");
        text
    }

    /// What is installed, as pip tells it.
    pub(crate) async fn freeze(&self) -> Vec<String> {
        let text = self.run("pip", &["freeze"]).await;
        text.lines().map(str::to_owned).collect()
    }

    /// The bytes that the clients have stored.
    pub(crate) fn size(&self) -> u64 {
        size(&self.home()) + size(&self.dir.path().join("tmp"))
    }

    /// Where it is installed to.
    pub(crate) fn packages(&self) -> PathBuf {
        let mut versions = std::fs::read_dir(self.venv().join("lib")).unwrap();
        versions.next().unwrap().unwrap().path().join("site-packages")
    }

    /// The files that are installed, with their hashes.
    pub(crate) fn installed(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(&self.packages(), "", &mut files);
        files
    }
}

fn collect(dir: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let path = format!("{prefix}{name}");
        if entry.file_type().unwrap().is_dir() {
            if name != "__pycache__" {
                collect(&entry.path(), &format!("{path}/"), files);
            }
        // What is no package is what an installer makes of the environment.
        } else if !prefix.is_empty() && !OWN.contains(&&*name) {
            files.insert(path, digest_of(&std::fs::read(entry.path()).unwrap()).to_string());
        }
    }
}

/// What comes and goes meanwhile counts or does not.
fn size(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let len = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.map(len).sum()
}
