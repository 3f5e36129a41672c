//! Environment of a fleet: an index with many files, an S3 server with a bucket, and the instances.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::client;
use crate::data::{Wheel, json_list, wheel};
use crate::output::Role;
use crate::pause;
use crate::servers::{Server, ServerSpec, empty, free_address, program};
use crate::upstream::Upstream;

/// Number of files of the index, one per project.
pub(super) const FILES: usize = 200;

/// Timeout of a server's first response.
const START: Duration = Duration::from_secs(60);

const BUCKET: &str = "wheels";
const IDENTITY: &str = "test";
const SECRET: &str = "testtest";

#[derive(Debug)]
pub(super) struct Programs {
    /// Our proxy.
    pub(super) ours: PathBuf,
    pub(super) bucket: BucketProgram,
}

#[derive(Debug)]
pub(super) enum BucketProgram {
    /// Folder of the jar.
    S3proxy(PathBuf),
    /// Folder of the program.
    Versitygw(PathBuf),
    /// Python interpreter next to which rclone is installed.
    Rclone(PathBuf),
}

impl BucketProgram {
    fn command(&self, address: SocketAddr, dir: &Path) -> Result<Command> {
        let root = dir.join("root");
        Ok(match self {
            Self::S3proxy(jars) => {
                let settings = dir.join("s3proxy.conf");
                let text = format!(
                    "s3proxy.endpoint=http://{address}\ns3proxy.authorization=aws-v2-or-v4\n\
                     s3proxy.identity={IDENTITY}\ns3proxy.credential={SECRET}\n\
                     jclouds.provider=filesystem-nio2\njclouds.filesystem.basedir={}\n",
                    root.display()
                );
                fs::write(&settings, text)?;
                let mut command = program(Path::new("java"));
                command.args(["-Xmx512m", "-jar"]).arg(jars.join("s3proxy-jar-with-dependencies.jar"));
                command.arg("--properties").arg(settings);
                command
            }
            Self::Versitygw(programs) => {
                let mut command = program(&programs.join("versitygw"));
                command.args(["--access", IDENTITY, "--secret", SECRET, "--port", &address.to_string()]);
                command.args(["--keep-alive", "--quiet", "posix"]).arg(root);
                command
            }
            Self::Rclone(python) => {
                let mut command = program(&python.with_file_name("rclone"));
                command.args(["serve", "s3", "--auth-key", &format!("{IDENTITY},{SECRET}")]);
                command.args(["--addr", &address.to_string()]).arg(root);
                command
            }
        })
    }
}

/// A running S3 server with an empty bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    address: SocketAddr,
    child: Child,
}

impl Bucket {
    fn start(programs: &Programs, scratch: &Path) -> Result<Self> {
        let dir = empty(scratch, "bucket")?;
        fs::create_dir_all(dir.join("root").join(BUCKET))?;
        let address = free_address()?;
        let log = File::create(dir.join("log.txt"))?;
        let mut command = programs.bucket.command(address, &dir)?;
        command.current_dir(&dir).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let child = command.spawn().context("cannot start the S3 server")?;
        let mut bucket = Self { address, child };
        let start = Instant::now();
        // Unsigned requests are rejected, which shows that the server is running.
        while client::request(address, "GET", "/", &[]).is_err() {
            ensure!(bucket.child.try_wait()?.is_none(), "the S3 server exited");
            ensure!(start.elapsed() < START, "the S3 server does not respond");
            pause(Duration::from_millis(20));
        }
        Ok(bucket)
    }

    /// Pauses the server for some time, with its connections open.
    pub(super) fn pause_for(&self, time: Duration) -> Result<()> {
        self.signal("-STOP")?;
        pause(time);
        self.signal("-CONT")
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status()?;
        ensure!(status.success(), "kill {signal}: {status}");
        Ok(())
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        // Fails only if the process has exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The index and bucket of a fleet.
pub(super) struct Site<'p> {
    programs: &'p Programs,
    data: PathBuf,
    scratch: PathBuf,
    pub(super) wheels: Vec<Wheel>,
    pub(super) upstream: Upstream,
    pub(super) bucket: Bucket,
}

impl<'p> Site<'p> {
    /// Starts the index and an S3 server with an empty bucket.
    pub(super) fn start(programs: &'p Programs, folder: &Path) -> Result<Self> {
        let (data, scratch) = (folder.join("data"), folder.join("scratch"));
        fs::create_dir_all(data.join("files"))?;
        fs::create_dir_all(&scratch)?;
        // Every tenth file has 1 MiB; the others have different sizes.
        let size =
            |number: usize| if number.is_multiple_of(10) { 1 << 20 } else { 20_000 + number as u64 * 800 };
        let files = data.join("files");
        let wheels = (0..FILES).map(|number| wheel(&files, &format!("fleet-{number}"), size(number) / 8 * 8));
        let wheels: Vec<Wheel> = wheels.collect::<Result<_>>()?;
        let upstream = Upstream::listen(&data)?;
        write_pages(&data, &wheels, &format!("http://{}", upstream.address))?;
        let bucket = Bucket::start(programs, &scratch)?;
        Ok(Self { programs, data, scratch, wheels, upstream, bucket })
    }

    pub(super) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Returns the content of a file from the index.
    pub(super) fn content(&self, wheel: &Wheel) -> Result<Vec<u8>> {
        let path = self.data.join("files").join(&wheel.file);
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Starts an instance with an empty cache folder. Instances with the same prefix share their objects in the bucket.
    pub(super) fn instance(&self, number: usize, prefix: &str, settings: &[(&str, &str)]) -> Result<Server> {
        let name = format!("{prefix}-{number}");
        let cache = empty(&self.scratch, &name)?;
        let address = free_address()?;
        let mut command = program(&self.programs.ours);
        command
            .args(["serve", "--listen", &address.to_string(), "--access-log=false", "--cache-dir"])
            .arg(cache)
            .env("PYPI_PROXY_INDEX_URL", self.upstream.index())
            .env("PYPI_PROXY_DOWNLOAD_TIMEOUT", "60s")
            .env("PYPI_PROXY_STORAGE_TYPE", "hybrid")
            .env("PYPI_PROXY_S3_ENDPOINT", format!("http://{}", self.bucket.address))
            .env("PYPI_PROXY_S3_BUCKET", BUCKET)
            .env("PYPI_PROXY_S3_PREFIX", prefix)
            .env("PYPI_PROXY_S3_REGION", "us-east-1")
            .env("PYPI_PROXY_S3_FORCE_PATH_STYLE", "true")
            .env("PYPI_PROXY_S3_USE_SSL", "false")
            .env("PYPI_PROXY_S3_ACCESS_KEY_ID", IDENTITY)
            .env("PYPI_PROXY_S3_SECRET_ACCESS_KEY", SECRET)
            .envs(settings.iter().copied());
        let spec = ServerSpec::proxy(&name, Role::Ours, "/simple/", "/health");
        Server::start(&spec, address, &mut command, &self.scratch)
    }

    /// Returns the number of downloads of the files from the index.
    pub(super) fn upstream_gets(&self) -> usize {
        self.wheels.iter().map(|wheel| self.upstream.count(&format!("/files/{}", wheel.file))).sum()
    }
}

/// Returns the path of a file on a proxy.
pub(super) fn path(wheel: &Wheel) -> String {
    format!("/simple/{}/{}", wheel.project, wheel.file)
}

fn write_pages(data: &Path, wheels: &[Wheel], base: &str) -> Result<()> {
    let names: Vec<String> = wheels.iter().map(|wheel| wheel.project.clone()).collect();
    let pages = wheels.iter().map(|wheel| (wheel.project.clone(), wheel.page(base)));
    let mut gzip = Command::new("gzip");
    gzip.arg("-kf6n");
    for (name, page) in pages.chain([("list".to_owned(), json_list(&names))]) {
        let path = data.join(format!("{name}.json"));
        fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
        gzip.arg(path);
    }
    let status = gzip.status().context("gzip is not installed")?;
    ensure!(status.success(), "gzip: {status}");
    Ok(())
}

/// Sums all series of a metric, except those with one of these labels.
pub(super) fn metric(server: &Server, name: &str, without: &str) -> Result<f64> {
    let response = client::request(server.address, "GET", "/metrics", &[])?;
    let text = String::from_utf8_lossy(&response.body);
    sum(&text, name, without).with_context(|| format!("{} has no metric {name}", server.name))
}

fn sum(text: &str, name: &str, without: &str) -> Result<f64> {
    let mut found = None;
    for line in text.lines() {
        let Some(rest) = line.strip_prefix(name) else { continue };
        if !rest.starts_with(['{', ' ']) || rest.contains(without) {
            continue;
        }
        let value: f64 = rest.rsplit(' ').next().unwrap_or_default().parse()?;
        found = Some(found.unwrap_or(0.0) + value);
    }
    match found {
        Some(sum) => Ok(sum),
        None => bail!("not told"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_a_metric_are_summed() {
        let text = "# HELP a x\na{k=\"get\",o=\"done\"} 2\na{k=\"put\",o=\"skipped\"} 4\nab 100\na 1.5\n";
        assert!((sum(text, "a", "skipped").unwrap() - 3.5).abs() < 1e-9);
        assert!(sum(text, "c", "skipped").is_err());
    }
}
