//! User authentication.

use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use psrp::Error;
use psrp::io::{Connect, Ssh, SshQuestion};
use test_support::optional;

use crate::ssh::files::{Files, key};
use crate::ssh::server::{AuthPolicy, Program, Server};

async fn server(demands: AuthPolicy) -> Server {
    Server::start(demands, Program::Hang).await
}

async fn login(ssh: &Ssh) -> Result<(), Error> {
    ssh.connect().await.map(drop)
}

/// Checks that the login fails with an error that contains these parts and no secret.
async fn denied(ssh: &Ssh, parts: &[&str]) {
    let error = login(ssh).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part} in {text}");
    }
    let all = format!("{text} {error:?} {ssh:?}");
    assert!(!all.contains("s3cret"), "{all}");
}

#[tokio::test]
async fn all_key_files_are_tried_and_reported() {
    let (files, mine, wrong) = (Files::new(), key(), key());
    let server = server(AuthPolicy { keys: vec![mine.public_key().clone()], ..AuthPolicy::default() }).await;
    let ssh = server.connector(&files).key_file(files.write_key("wrong", &wrong, None));
    denied(&ssh, &["alice", "wrong (refused)", "the server accepts publickey"]).await;
    let ssh = ssh.key_file(files.path("missing")).key_file(files.write("broken", "no key"));
    denied(&ssh, &["missing (not found)", "broken (is not a readable private key"]).await;
    login(&ssh.key_file(files.write_key("mine", &mine, None))).await.unwrap();
}

#[tokio::test]
async fn a_key_readable_by_others_is_not_used() {
    let (files, mine) = (Files::new(), key());
    let server = server(AuthPolicy { keys: vec![mine.public_key().clone()], ..AuthPolicy::default() }).await;
    let path = files.write_key("mine", &mine, None);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    denied(&server.connector(&files).key_file(path), &["is readable by other users"]).await;
}

#[tokio::test]
async fn an_encrypted_key_needs_its_passphrase() {
    let (files, mine) = (Files::new(), key());
    let server = server(AuthPolicy { keys: vec![mine.public_key().clone()], ..AuthPolicy::default() }).await;
    let path = files.write_key("mine", &mine, Some("s3cret"));
    let ssh = server.connector(&files).key_file(&path);
    denied(&ssh, &["is encrypted, but no passphrase is available"]).await;
    denied(&ssh.clone().passphrase("s3cret?"), &["can't be decrypted"]).await;
    login(&ssh.clone().passphrase("s3cret")).await.unwrap();

    let asked = Arc::new(Mutex::new(None));
    let file = Arc::clone(&asked);
    let ssh = ssh.ask(move |question| {
        let SshQuestion::Passphrase { file: path } = question else { return None };
        *file.lock().unwrap() = Some(path.to_owned());
        Some("s3cret".into())
    });
    login(&ssh).await.unwrap();
    assert_eq!(asked.lock().unwrap().take(), Some(path));
}

#[tokio::test]
async fn older_formats_of_keys_are_read() {
    if optional::program("ssh-keygen").is_none() {
        return optional::skip("no ssh-keygen");
    }
    let files = Files::new();
    for (kind, bits, format) in [("rsa", "2048", "PEM"), ("ecdsa", "256", "PKCS8"), ("rsa", "2048", "PKCS8")]
    {
        for passphrase in ["", "s3cret"] {
            let path = files.path(&format!("{kind}-{format}-{}", passphrase.len()));
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", kind, "-b", bits, "-m", format, "-N", passphrase, "-f"])
                .arg(&path)
                .status();
            assert!(made.unwrap().success());
            let public = russh::keys::load_public_key(path.with_added_extension("pub")).unwrap();
            let server = server(AuthPolicy { keys: vec![public], ..AuthPolicy::default() }).await;
            let ssh = server.connector(&files).key_file(&path).passphrase(passphrase);
            if let Err(error) = login(&ssh).await {
                panic!("{kind} {format} {passphrase:?}: {error}");
            }
        }
    }
}

/// An `ssh-agent` with one key.
struct Agent(Child);

impl Agent {
    async fn start(files: &Files, key: &std::path::Path) -> Self {
        let socket = files.path("agent");
        let child = Command::new("ssh-agent").arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).spawn();
        let agent = Self(child.unwrap());
        // The socket takes a moment to appear.
        for _ in 0..1200 {
            let add =
                Command::new("ssh-add").arg("-q").arg(key).env("SSH_AUTH_SOCK", &socket).output().unwrap();
            if add.status.success() {
                return agent;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("ssh-agent takes no key");
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn an_agent_authenticates() {
    if optional::program("ssh-agent").is_none() || optional::program("ssh-add").is_none() {
        return optional::skip("no ssh-agent");
    }
    let (files, mine) = (Files::new(), key());
    let _agent = Agent::start(&files, &files.write_key("mine", &mine, None)).await;
    let good = server(AuthPolicy { keys: vec![mine.public_key().clone()], ..AuthPolicy::default() }).await;
    login(&good.connector(&files).agent(files.path("agent"))).await.unwrap();

    let other = server(AuthPolicy { keys: vec![key().public_key().clone()], ..AuthPolicy::default() }).await;
    let ssh = other.connector(&files).agent(files.path("agent"));
    let print = mine.public_key().fingerprint(Default::default()).to_string();
    denied(&ssh, &["agent's key", &print, "refused"]).await;
    denied(&ssh.agent(files.path("no-agent")), &["no-agent does not answer"]).await;
}

/// Passes the server's port to the process with its own home directory.
const PORT: &str = "PSRP_TEST_SSH_PORT";

#[tokio::test]
async fn default_keys_and_known_hosts_are_used() {
    if let Ok(port) = std::env::var(PORT) {
        // The process started below.
        let ssh = Ssh::new("127.0.0.1").port(port.parse().unwrap());
        return login(&ssh).await.unwrap_or_else(|error| panic!("{error}"));
    }
    let (files, mine) = (Files::new(), key());
    let server = server(AuthPolicy { keys: vec![mine.public_key().clone()], ..AuthPolicy::default() }).await;
    std::fs::create_dir(files.path(".ssh")).unwrap();
    let known = files.known_hosts(server.port, server.key.public_key());
    std::fs::rename(known, files.path(".ssh/known_hosts")).unwrap();
    let run = async |socket: Option<&std::path::Path>| {
        let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "ssh::login::default_keys_and_known_hosts_are_used"])
            .env(PORT, server.port.to_string());
        command.env("HOME", files.path("")).env("USER", "alice").env_remove("SSH_AUTH_SOCK");
        command.envs(socket.map(|socket| ("SSH_AUTH_SOCK", socket)));
        let output = command.output().await.unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };

    let (is_in, text) = run(None).await;
    assert!(!is_in, "{text}");
    for part in ["SSH_AUTH_SOCK is not set", "id_ed25519 (not found)", "id_ecdsa", "id_rsa"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    for name in [".ssh/id_ed25519", ".ssh/id_ecdsa", ".ssh/id_rsa"] {
        let path = files.write_key(name, &mine, None);
        let (is_in, text) = run(None).await;
        assert!(is_in, "{text}");
        std::fs::remove_file(path).unwrap();
    }
    if optional::program("ssh-agent").is_none() || optional::program("ssh-add").is_none() {
        return optional::skip("no ssh-agent");
    }
    let _agent = Agent::start(&files, &files.write_key("mine", &mine, None)).await;
    let (is_in, text) = run(Some(&files.path("agent"))).await;
    assert!(is_in, "{text}");
}

#[tokio::test]
async fn a_password_authenticates() {
    let files = Files::new();
    let server = server(AuthPolicy { password: Some("s3cret"), ..AuthPolicy::default() }).await;
    let ssh = server.connector(&files);
    denied(&ssh, &["tried: nothing", "the server accepts password"]).await;
    denied(&ssh.clone().password("s3cret?"), &["password (refused)"]).await;
    login(&ssh.clone().password("s3cret")).await.unwrap();
    login(&ssh.clone().ask(|question| {
        assert_eq!(question, SshQuestion::Password { user: "alice", host: "127.0.0.1" });
        Some("s3cret".into())
    }))
    .await
    .unwrap();
    denied(&ssh.ask(|_| None), &["tried: nothing"]).await;
}

#[tokio::test]
async fn questions_are_answered() {
    let files = Files::new();
    let questions = &[("Password: ", false, "s3cret"), ("Name of your cat\x1b[2J: ", true, "Tom")];
    let server = server(AuthPolicy { questions, ..AuthPolicy::default() }).await;
    let ssh = server.connector(&files).password("s3cret");
    // Control characters of the server are escaped.
    denied(&ssh, &["keyboard-interactive without an answer", "Name of your cat\\\\u{1b}[2J"]).await;
    denied(&ssh.clone().ask(|_| Some("Felix".into())), &["keyboard-interactive (refused)"]).await;
    let ssh = ssh.ask(|question| {
        assert_eq!(question, SshQuestion::Prompt { text: "Name of your cat\x1b[2J: ", echo: true });
        Some("Tom".into())
    });
    login(&ssh).await.unwrap();
}

#[tokio::test]
async fn endless_prompts_are_limited() {
    let files = Files::new();
    let questions = &[("Again: ", true, "")];
    let server = server(AuthPolicy { questions, asks_on: true, ..AuthPolicy::default() }).await;
    let error = login(&server.connector(&files).ask(|_| Some("yes".into()))).await.unwrap_err();
    assert!(error.is_limit(), "{error:?}");
}

#[tokio::test]
async fn authentication_may_need_several_steps() {
    let (files, mine) = (Files::new(), key());
    let keys = vec![mine.public_key().clone()];
    let server =
        server(AuthPolicy { keys, password: Some("s3cret"), both: true, ..AuthPolicy::default() }).await;
    let ssh = server.connector(&files).key_file(files.write_key("mine", &mine, None));
    denied(&ssh, &["mine (partial success)", "the server accepts password"]).await;
    denied(&ssh.clone().password("s3cret?"), &["mine (partial success), password (refused)"]).await;
    login(&ssh.password("s3cret")).await.unwrap();
}

#[tokio::test]
async fn too_many_attempts_are_reported() {
    let files = Files::new();
    let keys = vec![key().public_key().clone()];
    let server = server(AuthPolicy { keys, tries: Some(2), ..AuthPolicy::default() }).await;
    let mut ssh = server.connector(&files);
    for i in 0..4 {
        ssh = ssh.key_file(files.write_key(&format!("key{i}"), &key(), None));
    }
    let error = login(&ssh).await.unwrap_err();
    assert!(error.is_denied() || error.is_closed(), "{error:?}");
}

#[tokio::test]
async fn an_unanswered_prompt_times_out() {
    let files = Files::new();
    let server = server(AuthPolicy { password: Some("s3cret"), ..AuthPolicy::default() }).await;
    let (hold, wait) = std::sync::mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let ssh = server.connector(&files).auth_timeout(std::time::Duration::from_millis(50)).ask(move |_| {
        let _ = wait.lock().unwrap().recv();
        None
    });
    let error = login(&ssh).await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    drop(hold);
}
