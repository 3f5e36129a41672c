//! `psrp copy`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use psrp::io::{CopyOptions, Output, Session, copy_from, copy_to};
use psrp::message::{Command, PowerShell};
use psrp::{Error, ErrorKind, Object, Value};
use uuid::Uuid;

use crate::args::CopyArgs;
use crate::connect;
use crate::console::ConsoleOptions;
use crate::exit::{Exit, Failure};
use crate::history::create_folder;
use crate::interrupts::Interrupts;
use crate::run::{PipelineRunner, console, deadline, expired};

/// Creates the directory of an upload and those below it. Returns its path.
const CREATE_DIRECTORIES: &str = r#"
param([string]$Path, [string]$Name, [string[]]$Directories)
$ErrorActionPreference = 'Stop'
foreach ($part in (@($Name) + $Directories) -split '/') {
    if ($part.Contains('\') -or [IO.Path]::GetFileName($part) -ne $part) {
        throw "PowerShell can't use the name '$part'."
    }
}
$target = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path)
if ([IO.Directory]::Exists($target)) { $target = [IO.Path]::Combine($target, $Name) }
elseif (-not [IO.Directory]::Exists([IO.Path]::GetDirectoryName($target))) {
    throw "The parent directory of '$target' does not exist."
}
[void][IO.Directory]::CreateDirectory($target)
foreach ($directory in $Directories) {
    [void][IO.Directory]::CreateDirectory([IO.Path]::Combine($target, $directory))
}
$target
"#;

/// Lists a directory: its path, then relative paths after `d` (directory) or `f` (file). Nothing for a file. Fails for
/// links to directories, which could be cycles, and for names that PowerShell takes as paths. The command
/// `Get-ChildItem` is in a module, which a session may not have.
const LIST_DIRECTORY: &str = r#"
param([string]$Path)
$ErrorActionPreference = 'Stop'
$separator = [IO.Path]::DirectorySeparatorChar
$root = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Path)
if (-not [IO.Directory]::Exists($root)) { return }
$root = ([IO.DirectoryInfo]$root).FullName.TrimEnd($separator)
$root
$directories = [Collections.ArrayList]@([IO.DirectoryInfo]($root + $separator))
for ($index = 0; $index -lt $directories.Count; $index++) {
    foreach ($entry in $directories[$index].GetFileSystemInfos()) {
        if ($entry.Name.Contains('\')) { throw "PowerShell can't use the name '$($entry.Name)'." }
        $name = $entry.FullName.Substring($root.Length + 1).Replace($separator, [char]'/')
        if ($entry -is [IO.DirectoryInfo]) {
            $isLink = $entry.Attributes -band [IO.FileAttributes]::ReparsePoint
            if ($isLink) { throw "'$($entry.FullName)' is a link to a directory." }
            'd' + $name
            [void]$directories.Add($entry)
        } else { 'f' + $name }
    }
}
"#;

/// Standard input as a source, standard output as the destination.
const STANDARD_STREAM: &str = "-";

#[derive(Debug, PartialEq, Eq)]
enum Direction<'a> {
    To { local: Vec<&'a Path>, remote: String },
    From { remote: Vec<String>, local: &'a Path },
}

impl<'a> Direction<'a> {
    /// The last path is the destination.
    fn parse(paths: &'a [OsString]) -> anyhow::Result<Self> {
        let Some((destination, sources @ [_, ..])) = paths.split_last() else {
            bail!("there is no destination");
        };
        let remotes: Vec<_> = sources.iter().filter_map(|source| remote(source)).collect();
        match remote(destination) {
            Some(remote) if remotes.is_empty() => {
                Ok(Self::To { local: sources.iter().map(Path::new).collect(), remote })
            }
            None if remotes.len() == sources.len() => {
                Ok(Self::From { remote: remotes, local: Path::new(destination) })
            }
            _ => bail!(
                "either the sources or the destination must begin with `:`, which marks a path on the server"
            ),
        }
    }

    /// Checks the local paths, before a password prompt.
    fn check(&self, is_recursive: bool) -> anyhow::Result<()> {
        match self {
            Self::To { local, .. } => {
                for path in local.iter().filter(|path| !is_standard_stream(path)) {
                    let found =
                        fs::metadata(path).with_context(|| format!("can't read {}", path.display()))?;
                    ensure!(
                        is_recursive || !found.is_dir(),
                        "{} is a directory (set --recursive to copy it)",
                        path.display()
                    );
                }
                let has_stdin = local.iter().any(|path| is_standard_stream(path));
                ensure!(!has_stdin || local.len() == 1, "standard input must be the only source");
                ensure!(!has_stdin || cfg!(unix), "standard input can't be copied on this system");
            }
            Self::From { remote, local } => {
                let is_single = remote.len() == 1;
                if is_standard_stream(local) {
                    ensure!(is_single && !is_recursive, "only one file can be copied to standard output");
                }
                ensure!(is_single || local.is_dir(), "{} is not a directory", local.display());
            }
        }
        Ok(())
    }
}

/// Returns the path after a leading colon. A colon alone is the session's current location.
fn remote(path: &OsStr) -> Option<String> {
    let text = path.to_string_lossy();
    text.strip_prefix(':').map(|path| if path.is_empty() { "." } else { path }.to_owned())
}

fn is_standard_stream(path: &Path) -> bool {
    path.as_os_str() == STANDARD_STREAM
}

pub(crate) async fn copy(args: CopyArgs) -> Result<Exit, Failure> {
    let direction = Direction::parse(&args.paths).map_err(Failure::usage)?;
    direction.check(args.recursive).map_err(Failure::usage)?;
    let interrupts = Interrupts::catch().map_err(Failure::usage)?;
    let options = ConsoleOptions {
        text_to_errors: true,
        without_input: args.paths.first().is_some_and(|source| source == STANDARD_STREAM),
        ..console(&args.display)
    };
    let host = options.stdio();
    let session = connect::open(&args.target, &host, &interrupts).await?;
    let bar = bar(args.display.no_progress);
    let copier = Copier { session: &session, bar: &bar, overwrite: args.force, is_recursive: args.recursive };
    let deadline = deadline(args.timeout.map(Duration::from_secs));
    let result = tokio::select! {
        copied = copier.copy(&direction) => copied,
        () = expired(deadline) => {
            Err(Failure::new(Exit::TimedOut, anyhow!("the copy takes longer than --timeout")))
        }
        () = interrupts.wait() => Err(Failure::interrupted()),
        () = host.interrupted() => Err(Failure::interrupted()),
    };
    bar.finish_and_clear();
    let runner = PipelineRunner::new(host, interrupts);
    // Closing waits for the script to remove an incomplete file.
    runner.close(&session).await;
    result.map(|()| Exit::Ok)
}

/// Copies files and directories over one session.
struct Copier<'a> {
    session: &'a Session,
    bar: &'a ProgressBar,
    overwrite: bool,
    is_recursive: bool,
}

impl Copier<'_> {
    async fn copy(&self, direction: &Direction<'_>) -> Result<(), Failure> {
        match direction {
            Direction::To { local, remote } => {
                // With a separator at its end, the destination must be a directory, except for one directory: `new/` is
                // its copy, as for `cp`.
                let named = remote.trim_end_matches(['/', '\\']);
                let remote = match &**local {
                    [path] if path.is_dir() && !named.is_empty() && !named.ends_with(':') => named.to_owned(),
                    [_] => remote.clone(),
                    _ => format!("{remote}/"),
                };
                for path in local {
                    self.upload(path, &remote).await?;
                }
            }
            Direction::From { remote, local } if is_standard_stream(local) => {
                self.print_file(&remote[0]).await?;
            }
            Direction::From { remote, local } => {
                for path in remote {
                    self.download(path, local).await?;
                }
            }
        }
        Ok(())
    }

    async fn upload(&self, local: &Path, remote: &str) -> Result<(), Failure> {
        if is_standard_stream(local) {
            if cfg!(windows) {
                return Err(Failure::usage(anyhow!("standard input can't be copied on Windows")));
            }
            return self.upload_file(Path::new("/dev/stdin"), remote).await;
        }
        if !local.is_dir() {
            return self.upload_file(local, remote).await;
        }
        let tree = Tree::read(local).map_err(Failure::usage)?;
        let directories = Object::list(tree.directories.iter().map(|path| Value::from(path.as_str())));
        let create = Command::script(CREATE_DIRECTORIES)
            .local_scope(true)
            .parameter("Path", remote)
            .parameter("Name", tree.name)
            .parameter("Directories", directories);
        let created = self.invoke(create).await?;
        let target = created.first().and_then(Value::as_str).ok_or_else(unexpected)?;
        for file in &tree.files {
            // The script checks the name.
            let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
            self.upload_file(&local.join(file), &format!("{target}/{directory}/")).await?;
        }
        Ok(())
    }

    async fn upload_file(&self, local: &Path, remote: &str) -> Result<(), Failure> {
        self.start(&local.to_string_lossy());
        copy_to(self.session, local, remote, self.options()).await.map_err(failure)?;
        Ok(())
    }

    async fn download(&self, remote: &str, local: &Path) -> Result<(), Failure> {
        let mut entries = Vec::new();
        if self.is_recursive {
            let list = Command::script(LIST_DIRECTORY).local_scope(true).parameter("Path", remote);
            entries = self.invoke(list).await?;
        }
        let Some((source, entries)) = entries.split_first() else {
            return self.download_file(remote, local).await;
        };
        let source = source.as_str().ok_or_else(unexpected)?;
        let mut target = local.to_owned();
        if local.is_dir() {
            let name = source.rsplit(['/', '\\']).next().filter(|name| !name.is_empty());
            target.push(safe_path(name.ok_or_else(|| Failure::usage(anyhow!("{remote} has no name")))?)?);
        }
        create_directory(&target)?;
        for entry in entries {
            let entry = entry.as_str().and_then(|entry| entry.split_at_checked(1)).ok_or_else(unexpected)?;
            let (kind, relative) = entry;
            let path = target.join(safe_path(relative)?);
            match kind {
                "d" => create_directory(&path)?,
                _ => self.download_file(&format!("{source}/{relative}"), &path).await?,
            }
        }
        Ok(())
    }

    async fn download_file(&self, remote: &str, local: &Path) -> Result<(), Failure> {
        self.start(remote);
        copy_from(self.session, remote, local, self.options()).await.map_err(failure)?;
        Ok(())
    }

    /// Writes a file of the server to standard output, once its hash is verified.
    async fn print_file(&self, remote: &str) -> Result<(), Failure> {
        let folder = PrivateFolder::create().map_err(Failure::usage)?;
        let path = folder.0.join("file");
        self.download_file(remote, &path).await?;
        self.bar.finish_and_clear();
        let write = move || std::io::copy(&mut fs::File::open(path)?, &mut std::io::stdout().lock());
        let written = tokio::task::spawn_blocking(write).await.map_err(Failure::usage)?;
        written.map_err(Failure::output)?;
        Ok(())
    }

    fn start(&self, name: &str) {
        self.bar.reset();
        self.bar.set_message(psrp::terminal_safe(name).into_owned());
    }

    fn options(&self) -> CopyOptions<'_> {
        CopyOptions::new().overwrite(self.overwrite).on_progress(|copied, total| {
            if let Some(total) = total {
                self.bar.set_length(total);
            }
            self.bar.set_position(copied);
        })
    }

    /// Runs a script and returns its output.
    async fn invoke(&self, script: Command) -> Result<Vec<Value>, Failure> {
        let output = self.session.invoke(PowerShell::new().command(script)).await;
        output.and_then(Output::completed).map(|output| output.output).map_err(failure)
    }
}

/// Local directory with its contents, as relative paths with slashes.
struct Tree {
    name: String,
    directories: Vec<String>,
    files: Vec<String>,
}

impl Tree {
    fn read(root: &Path) -> anyhow::Result<Self> {
        let absolute = fs::canonicalize(root).with_context(|| format!("can't read {}", root.display()))?;
        let name = absolute.file_name().and_then(OsStr::to_str);
        let name = name.with_context(|| format!("{} has no name in Unicode", root.display()))?.to_owned();
        let mut tree = Self { name, directories: Vec::new(), files: Vec::new() };
        let mut pending = vec![String::new()];
        while let Some(directory) = pending.pop() {
            let path = root.join(&directory);
            let entries = fs::read_dir(&path).with_context(|| format!("can't read {}", path.display()))?;
            for entry in entries {
                let entry = entry.with_context(|| format!("can't read {}", path.display()))?;
                let path = entry.path();
                let file_name = entry.file_name();
                let name = file_name.to_str();
                let name = name.with_context(|| format!("{} is not valid Unicode", path.display()))?;
                let relative = match &*directory {
                    "" => name.to_owned(),
                    directory => format!("{directory}/{name}"),
                };
                if entry.file_type()?.is_dir() {
                    tree.directories.push(relative.clone());
                    pending.push(relative);
                } else {
                    // A link to a directory could be a cycle.
                    let is_file = fs::metadata(&path).is_ok_and(|found| found.is_file());
                    ensure!(is_file, "{} is neither a directory nor a file", path.display());
                    tree.files.push(relative);
                }
            }
        }
        tree.directories.sort_unstable();
        tree.files.sort_unstable();
        Ok(tree)
    }
}

/// Directory for a temporary file that only this user can read. It is removed on drop.
struct PrivateFolder(PathBuf);

impl PrivateFolder {
    fn create() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("psrp-{}", Uuid::new_v4().simple()));
        create_folder(&path)?;
        Ok(Self(path))
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Creates a local directory unless it exists.
fn create_directory(path: &Path) -> Result<(), Failure> {
    match fs::create_dir(path) {
        Err(_) if path.is_dir() => Ok(()),
        result => result.with_context(|| format!("can't create {}", path.display())).map_err(Failure::usage),
    }
}

/// Returns a relative path from the server. Fails if it leaves its directory or is no path on this system.
fn safe_path(relative: &str) -> Result<&Path, Failure> {
    if cfg!(windows) && !relative.split(['/', '\\']).all(is_windows_name) {
        return Err(Failure::usage(anyhow!("Windows can't store a file named {relative:?}")));
    }
    let path = Path::new(relative);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_inside && !relative.is_empty()).then_some(path).ok_or_else(unexpected)
}

/// Returns whether Windows opens a file of exactly this name: not a stream, a device or a file of another name.
fn is_windows_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = port.is_some_and(|port| {
        let mut digits = port.chars();
        matches!((digits.next(), digits.next()), (Some('0'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'), None))
    });
    let is_device = is_port || matches!(&*stem, "aux" | "con" | "conin$" | "conout$" | "nul" | "prn");
    !name.contains(':') && !name.ends_with(['.', ' ']) && !is_device
}

fn unexpected() -> Failure {
    Failure::connection(anyhow!("unexpected output of the copy script"))
}

fn failure(error: Error) -> Failure {
    let exit = match error.kind() {
        ErrorKind::Io => Exit::Usage,
        ErrorKind::Pipeline | ErrorKind::Corrupt => Exit::Errors,
        _ => Exit::Connection,
    };
    Failure::new(exit, error)
}

/// Creates a progress bar on standard error. It is hidden if that is no terminal.
fn bar(is_hidden: bool) -> ProgressBar {
    let target = if is_hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let style = ProgressStyle::with_template(
        "{wide_msg} {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
    );
    let bar = ProgressBar::with_draw_target(None, target);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn a_colon_marks_the_server() {
        for (line, expected) in [
            ("a :/b", Some((vec!["a"], "/b"))),
            ("a c :", Some((vec!["a", "c"], "."))),
            (r"./:a :C:\b", Some((vec!["./:a"], r"C:\b"))),
            ("a", None),
            ("a b", None),
            (":a :b", None),
            ("a :b c", None),
            ("a :b :c", None),
            (r"C:\a b", None),
        ] {
            let words: Vec<_> = line.split(' ').map(OsString::from).collect();
            let parsed = Direction::parse(&words).ok();
            let expected = expected.map(|(local, remote)| Direction::To {
                local: local.into_iter().map(Path::new).collect(),
                remote: remote.into(),
            });
            assert_eq!(parsed, expected, "{line}");
        }
        let line = ["psrp", "copy", ":-f", "-r", "--", ":", "-a"];
        let Command::Copy(args) = Cli::try_parse_from(line).unwrap().command else { panic!() };
        let expected = Direction::From { remote: vec!["-f".into(), ".".into()], local: Path::new("-a") };
        assert_eq!(Direction::parse(&args.paths).unwrap(), expected);
    }

    #[test]
    fn local_paths_are_checked_first() {
        let check = |sources: &[&str], destination: &str, is_recursive| {
            let paths: Vec<_> = sources.iter().chain([&destination]).map(OsString::from).collect();
            Direction::parse(&paths).unwrap().check(is_recursive).is_ok()
        };
        assert!(check(&["src", "Cargo.toml"], ":", true) && !check(&["src"], ":", false));
        assert!(!check(&["no such file"], ":", false) && !check(&["-", "Cargo.toml"], ":a", false));
        assert!(check(&[":a", ":b"], "src", false) && !check(&[":a", ":b"], "Cargo.toml", false));
        assert!(
            check(&[":a"], "-", false) && !check(&[":a"], "-", true) && !check(&[":a", ":b"], "-", false)
        );
    }

    #[test]
    fn paths_of_the_server_stay_inside() {
        for inside in ["a", "a/b", "..a/b.."] {
            assert_eq!(safe_path(inside).unwrap(), Path::new(inside));
        }
        for outside in ["", "/a", "..", "a/../../b", "./../b"] {
            assert!(safe_path(outside).is_err(), "{outside}");
        }
    }

    #[test]
    fn names_that_windows_gives_another_meaning_are_rejected() {
        for name in ["", "a.b", ".a", "com", "com10", "console", "nul1", "a nul", "\u{b9}"] {
            assert!(is_windows_name(name), "{name}");
        }
        for name in
            ["a:b", "a.", "a ", ".", "..", "NUL", "nul.txt", "con .a.b", "COM1", "lpt\u{b2}.a", "CONIN$"]
        {
            assert!(!is_windows_name(name), "{name}");
        }
    }

    #[test]
    fn trees_have_relative_paths() {
        let folder = PrivateFolder::create().unwrap();
        for name in ["a", "a/b"] {
            fs::create_dir(folder.0.join(name)).unwrap();
        }
        for name in ["x", "a/y", "a/b/z"] {
            fs::write(folder.0.join(name), name).unwrap();
        }
        let tree = Tree::read(&folder.0).unwrap();
        assert_eq!(
            (tree.directories, tree.files),
            (vec!["a".into(), "a/b".into()], vec!["a/b/z".into(), "a/y".into(), "x".into()])
        );
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(".", folder.0.join("cycle")).unwrap();
            assert!(Tree::read(&folder.0).is_err());
        }
    }
}
