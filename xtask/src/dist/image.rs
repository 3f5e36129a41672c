//! The container image of the proxy: buildah runs the last stage of the Dockerfile, without a daemon.
//!
//! The archive depends on the commit, the program, and the libraries and certificates of this machine. It is an OCI layout
//! with the additions of `docker save`, so that Docker loads it with either of its image stores.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Dist, VERSION};
use crate::process::{self, Skipped, lacks, skip, works};

/// Name of the archive.
const ARCHIVE: &str = concat!("pypi-proxy-", env!("CARGO_PKG_VERSION"), ".oci.tar");
/// Maximum attempts of the health check.
const ATTEMPTS: usize = 100;
/// How `buildah run` isolates the container, the best way first: runc creates namespaces, as Docker does; `chroot` works
/// where the kernel does not allow that.
const ISOLATIONS: [&[&str]; 2] =
    [&["--isolation=oci", "--runtime=runc", "--network=host"], &["--isolation=chroot"]];

/// Variables of the users of the image: its own, those of groxpi, those of proxpi.
const USERS: [&[(&str, &str)]; 3] = [
    &[
        ("PYPI_PROXY_LISTEN", "127.0.0.1:{port}"),
        ("PYPI_PROXY_INDEX_URL", "https://packages.example.org/simple/"),
    ],
    &[
        ("HOST", "127.0.0.1"),
        ("PORT", "{port}"),
        ("GROXPI_INDEX_URL", "https://packages.example.org/simple/"),
        ("GROXPI_CACHE_DIR", "/cache/groxpi"),
        ("GROXPI_LOG_FORMAT", "console"),
        ("GROXPI_UNKNOWN", "1"),
    ],
    &[
        ("PORT", "{port}"),
        ("PROXPI_INDEX_URL", "https://packages.example.org/simple/"),
        ("PROXPI_CACHE_DIR", "/cache/proxpi"),
    ],
];

struct Build<'dist> {
    dist: &'dist Dist<'dist>,
    /// Folder for temporary files.
    scratch: PathBuf,
}

pub(super) fn build(dist: &Dist<'_>, out: &Path) -> Result<Skipped> {
    skip!(lacks("buildah"));
    let build = Build::new(dist)?;
    // Users other than root need a user namespace.
    if let Err(error) = output(&mut build.buildah("info")) {
        return Ok(Some(format!("buildah cannot run here: {error:#}")));
    }
    build.write(&out.join(ARCHIVE))?;
    build.remove_images()?;
    Ok(None)
}

/// Builds the image again, compares the archives, checks the settings of the image, and runs it.
pub(super) fn test(dist: &Dist<'_>) -> Result<Skipped> {
    skip!(lacks("skopeo"));
    let build = Build::new(dist)?;
    let again = build.scratch.join("again");
    fs::create_dir(&again)?;
    build.write(&again.join(ARCHIVE))?;
    dist.compare(&again)?;
    let archive = dist.out.join(ARCHIVE);
    build.check_settings(&archive)?;
    let skipped = build.run(&archive)?;
    build.remove_images()?;
    Ok(skipped)
}

impl<'dist> Build<'dist> {
    /// Creates an empty folder for temporary files.
    fn new(dist: &'dist Dist<'dist>) -> Result<Self> {
        let scratch = dist.workspace.scratch().join("image");
        let build = Self { dist, scratch };
        if build.scratch.exists() {
            build.remove_images()?;
        }
        process::empty(&build.scratch)?;
        Ok(build)
    }

    /// Removes images and containers. Without root, only buildah can: in a user namespace their files have other owners.
    fn remove_images(&self) -> Result<()> {
        output(self.buildah("rmi").args(["--all", "--force"])).map(drop)
    }

    /// Returns a command of buildah with images and containers of its own. The driver `vfs` copies files, and needs no
    /// support by the kernel.
    fn buildah(&self, name: &str) -> Command {
        let mut command = Command::new("buildah");
        command.args(["--storage-driver=vfs", "--root"]).arg(self.scratch.join("storage"));
        command.arg("--runroot").arg(self.scratch.join("run")).arg(name);
        command
    }

    fn write(&self, archive: &Path) -> Result<()> {
        let files = self.dist.workspace.root.join("docs/deploy/docker");
        let (context, layout) = (self.scratch.join("context"), self.scratch.join("layout"));
        let program = self.dist.program("pypi-proxy");
        output(Command::new("sh").arg(files.join("image.sh")).arg(program).arg(context.join("image")))?;
        let text = fs::read_to_string(files.join("Dockerfile"))?;
        let start = text.find("FROM scratch").context("the last stage of the Dockerfile starts empty")?;
        let dockerfile = self.scratch.join("Dockerfile");
        fs::write(&dockerfile, &text[start..])?;
        let mut build = self.buildah("build");
        // The format `oci` would drop the health check.
        build.args(["--quiet", "--format=docker", "--identity-label=false", "--tag=pypi-proxy"]);
        build.arg(format!("--timestamp={}", self.dist.date()?));
        build.arg(format!("--build-context=build={}", context.display()));
        build.arg(format!("--label=org.opencontainers.image.version={VERSION}"));
        build.arg(format!("--label=org.opencontainers.image.revision={}", self.dist.commit("%H")?));
        output(build.arg("--file").arg(&dockerfile).arg(&context))?;
        let image = output(self.buildah("inspect").args(["--type=image", "pypi-proxy"]))?;
        let image: Value = serde_json::from_str(&image)?;
        let to = format!("oci:{}:{VERSION}", layout.display());
        output(self.buildah("push").args(["--quiet", "--format=oci", "pypi-proxy", &to]))?;
        add_docker(&layout, &image["Docker"]["config"]["Healthcheck"])?;
        let mut tar = self.dist.tar(archive)?;
        tar.arg("--directory").arg(&layout).args(["blobs", "index.json", "manifest.json", "oci-layout"]);
        output(&mut tar).map(drop)
    }

    /// Checks what users of the image see, in both formats of the archive.
    fn check_settings(&self, archive: &Path) -> Result<()> {
        for format in ["oci-archive", "docker-archive"] {
            let mut inspect = Command::new("skopeo");
            inspect.args(["inspect", "--config", "--raw"]).arg(format!("{format}:{}", archive.display()));
            let config: Value = serde_json::from_str(&output(&mut inspect)?)?;
            let config = &config["config"];
            for (path, expected) in [
                ("/User", json!("65532:65532")),
                ("/Entrypoint", json!(["/pypi-proxy"])),
                ("/Cmd", json!(["serve"])),
                ("/ExposedPorts", json!({ "5000/tcp": {} })),
                ("/Healthcheck/Test", json!(["CMD", "/pypi-proxy", "healthcheck"])),
                ("/Labels/org.opencontainers.image.version", json!(VERSION)),
                ("/Labels/org.opencontainers.image.revision", json!(self.dist.commit("%H")?)),
            ] {
                let found = config.pointer(path);
                ensure!(found == Some(&expected), "{format}: {path} is {found:?}");
            }
            let variables = config["Env"].as_array().context("the image sets variables")?;
            for expected in
                ["PYPI_PROXY_DEFAULTS=/defaults.toml", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"]
            {
                ensure!(variables.contains(&json!(expected)), "{format}: {expected} is missing");
            }
        }
        Ok(())
    }

    /// Runs the program in the image with the variables of each user.
    fn run(&self, archive: &Path) -> Result<Skipped> {
        let mut from = self.buildah("from");
        let container = output(from.arg("--quiet").arg(format!("oci-archive:{}", archive.display())))?;
        let run = |isolation: &[&str], user: &[(&str, &str)], port: u16, command: &str| {
            let mut run = self.buildah("run");
            run.args(isolation).args(["--env", "PYPI_PROXY_LOGGING_LEVEL=error"]);
            for (name, value) in user {
                run.arg("--env").arg(format!("{name}={}", value.replace("{port}", &port.to_string())));
            }
            // The entry point applies only if there is no command.
            run.args([container.trim(), "--", "/pypi-proxy", command]);
            run
        };
        let can_run = |isolation: &&&[&str]| works(&mut run(isolation, &[], 0, "--version"));
        let Some(isolation) = ISOLATIONS.iter().find(can_run) else {
            return Ok(Some("buildah cannot run containers here".to_owned()));
        };
        crate::note(&format!("the image runs with {}", isolation.join(" ")));
        for user in USERS {
            // The port is free until another program takes it; the check then fails.
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
            let log = self.scratch.join("serve.txt");
            let mut served = run(isolation, user, port, "serve").stderr(fs::File::create(&log)?).spawn()?;
            let is_healthy = (0..ATTEMPTS).any(|_| works(&mut run(isolation, user, port, "healthcheck")));
            let response = request(port);
            // buildah then stops the container. After SIGKILL it could not.
            let stopped = output(Command::new("kill").arg(served.id().to_string()));
            served.wait()?;
            stopped?;
            let log = fs::read_to_string(&log)?;
            ensure!(is_healthy, "the program does not answer in the image with {user:?}: {log}");
            let response = response?;
            ensure!(response.starts_with("HTTP/1.1 200 "), "GET /livez with {user:?}: {response}");
        }
        // Other settings have the defaults of the image.
        for (user, lines) in [
            (
                USERS[0],
                ["127.0.0.1:1  (PYPI_PROXY_LISTEN)", "/cache  (/defaults.toml)", "json  (/defaults.toml)"],
            ),
            (
                USERS[1],
                ["127.0.0.1:1  (HOST and PORT)", "/cache/groxpi/pypi-proxy  (", "text  (GROXPI_LOG_FORMAT)"],
            ),
            (USERS[2], ["0.0.0.0:1  (PORT)", "/cache/proxpi/pypi-proxy  (", "json  (/defaults.toml)"]),
            (&[], ["0.0.0.0:5000  (/defaults.toml)", "/cache  (/defaults.toml)", "json  (/defaults.toml)"]),
        ] {
            let shown = output(&mut run(isolation, user, 1, "config"))?;
            for (name, value) in ["listen", "cache_dir", "log_format"].into_iter().zip(lines) {
                let line =
                    shown.lines().find_map(|line| line.strip_prefix(name)?.trim_start().strip_prefix("= "));
                ensure!(line.is_some_and(|line| line.starts_with(value)), "{name} is not {value}: {line:?}");
            }
        }
        Ok(None)
    }
}

/// Adds to an OCI layout what Docker reads: the health check, which is not part of the OCI format, the name of the
/// image, and `manifest.json`, without which Docker loads OCI layouts only with the image store of containerd.
fn add_docker(layout: &Path, health_check: &Value) -> Result<()> {
    let read = |path: &Path| -> Result<Value> {
        let text = fs::read(path).with_context(|| path.display().to_string())?;
        Ok(serde_json::from_slice(&text)?)
    };
    let mut index = read(&layout.join("index.json"))?;
    let mut manifest = read(&blob(layout, &index["manifests"][0])?)?;
    let mut config = read(&blob(layout, &manifest["config"])?)?;
    config["config"]["Healthcheck"] = health_check.clone();
    replace(layout, &mut manifest["config"], &config)?;
    let entry = &mut index["manifests"][0];
    replace(layout, entry, &manifest)?;
    let name = format!("pypi-proxy:{VERSION}");
    entry["annotations"]["io.containerd.image.name"] = json!(format!("docker.io/library/{name}"));
    fs::write(layout.join("index.json"), index.to_string())?;
    let path = |descriptor| Ok(blob(Path::new(""), descriptor)?.to_string_lossy().into_owned());
    let layers = manifest["layers"].as_array().context("the image has layers")?;
    let layers = layers.iter().map(path).collect::<Result<Vec<_>>>()?;
    let docker = json!([{ "Config": path(&manifest["config"])?, "RepoTags": [name], "Layers": layers }]);
    fs::write(layout.join("manifest.json"), docker.to_string())?;
    Ok(())
}

/// Replaces the file of a descriptor.
fn replace(layout: &Path, descriptor: &mut Value, content: &Value) -> Result<()> {
    let old = blob(layout, descriptor)?;
    let text = content.to_string();
    fs::write(&old, &text)?;
    let sums = output(Command::new("sha256sum").arg(&old))?;
    let sum = sums.split_whitespace().next().context("sha256sum prints a hash")?;
    descriptor["digest"] = json!(format!("sha256:{sum}"));
    descriptor["size"] = json!(text.len());
    fs::rename(&old, blob(layout, descriptor)?)?;
    Ok(())
}

fn output(command: &mut Command) -> Result<String> {
    Ok(process::succeed(command)?.stdout)
}

/// Returns the path of the file that a descriptor names.
fn blob(layout: &Path, descriptor: &Value) -> Result<PathBuf> {
    let digest = descriptor["digest"].as_str().context("a descriptor has a digest")?;
    Ok(layout.join("blobs").join(digest.replace(':', "/")))
}

/// Requests `/livez` and returns the response.
fn request(port: u16) -> Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.write_all(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}
