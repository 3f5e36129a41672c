//! S3 servers, for the tests and for `cargo xtask fleet`.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use clap::ValueEnum;

/// Bucket: a folder in the root of the server.
pub(crate) const BUCKET: &str = "wheels";
pub(crate) const IDENTITY: &str = "test";
pub(crate) const SECRET: &str = "testtest";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    S3proxy,
    Versitygw,
    Rclone,
}

impl Kind {
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Returns the environment variable that locates the server: the folder of its jar or program, or, for rclone, the
    /// Python interpreter next to it.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::S3proxy => "FLEET_JARS",
            Self::Versitygw => "FLEET_VERSITYGW",
            Self::Rclone => "FLEET_PYTHON",
        }
    }

    /// Returns whether the server honours conditions of writes, so that only one of several simultaneous downloads of a
    /// file is allowed. rclone ignores them, and ranges.
    pub(crate) fn has_conditions(self) -> bool {
        self != Self::Rclone
    }

    /// Returns the command that serves the folder `root`. The server is installed at the path in its
    /// [`variable`](Self::variable).
    pub(crate) fn command(self, installed: &Path, address: SocketAddr, root: &Path) -> io::Result<Command> {
        Ok(match self {
            Self::S3proxy => {
                let settings = root.with_file_name("s3proxy.conf");
                let text = format!(
                    "s3proxy.endpoint=http://{address}\ns3proxy.authorization=aws-v2-or-v4\n\
                     s3proxy.identity={IDENTITY}\ns3proxy.credential={SECRET}\n\
                     jclouds.provider=filesystem-nio2\njclouds.filesystem.basedir={}\n",
                    root.display()
                );
                std::fs::write(&settings, text)?;
                let mut command = Command::new("java");
                command.args(["-Xmx512m", "-jar"]).arg(installed.join("s3proxy-jar-with-dependencies.jar"));
                command.arg("--properties").arg(settings);
                command
            }
            Self::Versitygw => {
                let mut command = Command::new(installed.join("versitygw"));
                command.args(["--access", IDENTITY, "--secret", SECRET, "--port", &address.to_string()]);
                command.args(["--keep-alive", "--quiet", "posix"]).arg(root);
                command
            }
            Self::Rclone => {
                let mut command = Command::new(installed.with_file_name("rclone"));
                command.args(["serve", "s3", "--auth-key", &format!("{IDENTITY},{SECRET}")]);
                command.args(["--addr", &address.to_string()]).arg(root);
                command
            }
        })
    }
}
