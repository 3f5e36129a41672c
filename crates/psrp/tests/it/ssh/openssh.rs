//! OpenSSH's server, running as the test's user with its own configuration.

use std::fmt::Write as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use psrp::io::{Connect, Options, Session, Ssh};
use psrp::message::PowerShell;
use russh::keys::PrivateKey;
use test_support::optional;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::ssh::files::{Files, key, line};
use crate::ssh::server::connector;

/// Paths used by distributions; it must be started by its absolute path.
const PLACES: [&str; 4] =
    ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/lib/ssh/sshd", "/usr/libexec/sshd"];

struct OpenSsh {
    files: Files,
    port: u16,
    host_key: PrivateKey,
    user_key: PrivateKey,
    user: String,
    task: JoinHandle<()>,
}

impl OpenSsh {
    /// Starts a server whose subsystem `powershell` is this command. Returns `None` if the test is skipped.
    async fn start(subsystem: &str) -> Option<Self> {
        let Some(program) = PLACES.into_iter().find(|place| Path::new(place).is_file()) else {
            optional::skip("no sshd");
            return None;
        };
        let Some(user) = first_line("id", &["-un"]) else {
            optional::skip("nobody knows who runs this");
            return None;
        };
        if first_line("id", &["-u"]).as_deref() == Some("0") {
            // Normally created by its service; required if started as root.
            let directory = Path::new("/run/sshd");
            // Another test may create it at the same time, which is fine.
            if std::fs::create_dir_all(directory).is_err() {
                optional::skip("sshd has no directory to put its helpers into");
                return None;
            }
        }
        let (files, host_key, user_key) = (Files::new(), key(), key());
        let host_file = files.write_key("host", &host_key, None);
        let keys = files.write("authorized_keys", &format!("{}\n", line(user_key.public_key())));
        let mut config = String::new();
        for (name, value) in [
            ("HostKey", &*host_file.to_string_lossy()),
            ("AuthorizedKeysFile", &*keys.to_string_lossy()),
            ("AuthenticationMethods", "publickey"),
            ("PermitRootLogin", "yes"),
            // The files belong to the user, but in a directory that everyone can write to.
            ("StrictModes", "no"),
            ("UsePAM", "no"),
            ("PidFile", "none"),
            ("Subsystem", &format!("powershell {subsystem}")),
        ] {
            writeln!(config, "{name} {value}").unwrap();
        }
        let config = files.write("sshd_config", &config);
        let log = files.path("log");
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let task = tokio::spawn(async move {
            loop {
                // One process per connection, using its input and output: no port is needed.
                let (socket, _) = listener.accept().await.unwrap();
                let socket = socket.into_std().unwrap();
                socket.set_nonblocking(false).unwrap();
                let output = OwnedFd::from(socket.try_clone().unwrap());
                let started = Command::new(program)
                    .args(["-i", "-f"])
                    .arg(&config)
                    .arg("-E")
                    .arg(&log)
                    .stdin(OwnedFd::from(socket))
                    .stdout(output)
                    .stderr(Stdio::null())
                    .spawn();
                let mut child = started.unwrap();
                tokio::task::spawn_blocking(move || child.wait());
            }
        });
        Some(Self { files, port, host_key, user_key, user, task })
    }

    fn connector(&self) -> Ssh {
        connector(self.port)
            .user(&self.user)
            .known_hosts([self.files.known_hosts(self.port, self.host_key.public_key())])
            .key_file(self.files.write_key("mine", &self.user_key, None))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.files.path("log")).unwrap_or_default()
    }
}

impl Drop for OpenSsh {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.lines().next()?.to_owned())
}

#[tokio::test]
async fn a_valid_key_is_accepted_and_a_wrong_one_rejected() {
    let Some(server) = OpenSsh::start("/bin/cat").await else { return };
    if let Err(error) = server.connector().connect().await {
        panic!("{error}\n{}", server.log());
    }
    let wrong = server.files.write_key("wrong", &key(), None);
    let error = server.connector().without_key_files().key_file(wrong).connect().await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    assert!(error.to_string().contains("wrong (refused); the server accepts publickey"), "{error}");
}

#[tokio::test]
async fn the_host_is_known_by_the_hash_of_its_name() {
    let Some(server) = OpenSsh::start("/bin/cat").await else { return };
    let known = server.files.known_hosts(server.port, server.host_key.public_key());
    let hashed = Command::new("ssh-keygen").args(["-H", "-f"]).arg(&known).output().unwrap();
    assert!(hashed.status.success());
    assert!(std::fs::read_to_string(&known).unwrap().starts_with("|1|"));
    let ssh = connector(server.port).user(&server.user).known_hosts([known]);
    ssh.clone().key_file(server.files.write_key("mine", &server.user_key, None)).connect().await.unwrap();
    let error = ssh.known_hosts([server.files.path("none")]).connect().await.unwrap_err();
    assert!(error.is_untrusted(), "{error:?}");
}

#[tokio::test]
async fn rsa_keys_use_the_servers_algorithms() {
    let Some(server) = OpenSsh::start("/bin/cat").await else { return };
    let path = server.files.path("rsa");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "rsa", "-b", "2048", "-N", "", "-f"])
        .arg(&path)
        .status();
    assert!(made.unwrap().success());
    let public = std::fs::read_to_string(path.with_added_extension("pub")).unwrap();
    server.files.write("authorized_keys", &public);
    server.connector().without_key_files().key_file(path).connect().await.unwrap();
}

#[tokio::test]
async fn a_subsystem_that_cannot_start_is_reported() {
    let Some(server) = OpenSsh::start("/not/there/pwsh -sshs").await else { return };
    let error = Session::open(&server.connector(), Options::new()).await.map(drop).unwrap_err();
    assert!(error.is_closed(), "{error:?}");
    // The server does not forward the error output of the shell.
    assert!(error.to_string().ends_with("exit status 127"), "{error}");

    let error = server.connector().subsystem("perl").connect().await.unwrap_err();
    assert!(error.is_unsupported(), "{error:?}");
}

#[tokio::test]
async fn sessions_of_powershell() {
    let Some(powershell) = optional::powershell() else { return };
    let command = format!("{} -sshs", std::path::absolute(powershell).unwrap().display());
    let Some(server) = OpenSsh::start(&command).await else { return };
    let pool = match Session::open(&server.connector(), Options::new()).await {
        Ok(pool) => pool,
        Err(error) => panic!("{error}\n{}", server.log()),
    };
    let output = pool.invoke(PowerShell::script("1..3; Write-Warning careful")).await.unwrap();
    assert_eq!((output.output, output.warnings.len()), ([1, 2, 3].map(psrp::Value::from).into(), 1));
    let double = PowerShell::script("$input | ForEach-Object { $_ * 2 }");
    let output = pool.invoke_with_input(double, [1, 2]).await.unwrap();
    assert_eq!(output.output, [2, 4].map(psrp::Value::from));

    let run = pool.start(PowerShell::script("while ($true) { }")).await.unwrap();
    run.stop().await.unwrap();
    pool.close().await.unwrap();
}
