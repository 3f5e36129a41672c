//! Environment of a fleet: an index with many files, an S3 server with a bucket, and the instances.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use bench_report::model::Role;
use nix::sys::signal::Signal;

use super::s3::{BUCKET, IDENTITY, Kind, SECRET};
use crate::data::{Wheel, json_list, wheel, write_compressed};
use crate::programs::ADMIN_TOKEN;
use crate::servers::{Server, empty, isolated, program};
use crate::upstream::Upstream;
use crate::{client, pause};

/// Number of files of the index, one per project.
pub(super) const FILES: usize = 200;

#[derive(Debug)]
pub(super) struct Programs {
    /// Path of the program `pypi-proxy`.
    pub(super) ours: PathBuf,
    pub(super) server: Kind,
    /// Path at which `cargo xtask` has installed the S3 server. See [`Kind::variable`].
    pub(super) installed: PathBuf,
}

/// The index and bucket of a fleet.
pub(super) struct Site<'p> {
    programs: &'p Programs,
    data: PathBuf,
    scratch: PathBuf,
    pub(super) wheels: Vec<Wheel>,
    pub(super) upstream: Upstream,
    bucket: Server,
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
        let base = format!("http://{}", upstream.address);
        let names: Vec<String> = wheels.iter().map(|wheel| wheel.project.clone()).collect();
        let pages = wheels.iter().map(|wheel| (format!("{}.json", wheel.project), wheel.page(&base)));
        write_compressed(&data, pages.chain([("list.json".to_owned(), json_list(&names))]))?;
        let dir = empty(&scratch, "bucket")?;
        let root = dir.join("root");
        fs::create_dir_all(root.join(BUCKET))?;
        let mut bucket = Server::proxy("bucket", Role::Peer, "", "")?;
        let command = programs.server.command(&programs.installed, bucket.address, &root)?;
        // Unsigned requests are rejected, which shows that the server is running.
        bucket.ready = None;
        let bucket = bucket.start(isolated(command).current_dir(&dir), &scratch)?;
        Ok(Self { programs, data, scratch, wheels, upstream, bucket })
    }

    pub(super) fn has_conditional_writes(&self) -> bool {
        self.programs.server.has_conditions()
    }

    pub(super) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Pauses the S3 server for some time, with its connections open.
    pub(super) fn pause_bucket(&self, time: Duration) -> Result<()> {
        self.bucket.signal(Signal::SIGSTOP)?;
        pause(time);
        self.bucket.signal(Signal::SIGCONT)
    }

    pub(super) fn content(&self, wheel: &Wheel) -> Result<Vec<u8>> {
        let path = self.data.join("files").join(&wheel.file);
        fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// Starts an instance with an empty cache folder. Instances with the same prefix share their objects in the bucket.
    pub(super) fn instance(&self, number: usize, prefix: &str, settings: &[(&str, &str)]) -> Result<Server> {
        let name = format!("{prefix}-{number}");
        let cache = empty(&self.scratch, &name)?;
        let server = Server::proxy(&name, Role::Ours, "/simple/", "/health")?;
        let mut command = program(&self.programs.ours);
        command
            .args(["serve", "--listen", &server.address.to_string(), "--access-log=false", "--cache-dir"])
            .arg(cache)
            .env("PYPI_PROXY_INDEX_URL", self.upstream.index())
            .env("PYPI_PROXY_ADMIN_TOKEN", ADMIN_TOKEN)
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
        server.start(&mut command, &self.scratch)
    }

    pub(super) fn upstream_gets(&self) -> usize {
        self.wheels.iter().map(|wheel| self.upstream.count(&format!("/files/{}", wheel.file))).sum()
    }
}

pub(super) fn path(wheel: &Wheel) -> String {
    format!("/simple/{}/{}", wheel.project, wheel.file)
}

/// Returns the sum of all series of a metric, except those whose labels contain `without`.
pub(super) fn metric(server: &Server, name: &str, without: &str) -> Result<f64> {
    let response = client::get(server.address, "/metrics", &[])?;
    let text = String::from_utf8_lossy(&response.body);
    sum(&text, name, without).with_context(|| format!("{} has no metric {name}", server.name))
}

fn sum(text: &str, name: &str, without: &str) -> Option<f64> {
    let series = text.lines().filter_map(|line| line.strip_prefix(name));
    let series = series.filter(|rest| rest.starts_with(['{', ' ']) && !rest.contains(without));
    let values: Vec<f64> = series.filter_map(|rest| rest.rsplit(' ').next()?.parse().ok()).collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_of_a_metric_are_summed() {
        let text = "# HELP a x\na{k=\"get\",o=\"done\"} 2\na{k=\"put\",o=\"skipped\"} 4\nab 100\na 1.5\n";
        assert_eq!((sum(text, "a", "skipped"), sum(text, "c", "skipped")), (Some(3.5), None));
    }
}
