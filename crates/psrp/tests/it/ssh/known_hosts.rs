//! Known-hosts files of OpenSSH, for servers of any name and port behind a jump host.

use std::fs;

use psrp::io::{Connect, Ssh};

use crate::ssh::files::{Files, key, line};
use crate::ssh::server::{AuthPolicy, Program, Server};

const PASSWORD: &str = "correct horse";

/// A server, and a jump host that forwards all connections to it.
struct Network {
    files: Files,
    target: Server,
    /// Connector of the jump host.
    gate: Ssh,
    _gate: Server,
}

impl Network {
    async fn start() -> Self {
        let files = Files::new();
        let policy = || AuthPolicy { password: Some(PASSWORD), ..AuthPolicy::default() };
        let target = Server::start(policy(), Program::Hang).await;
        let forwards = AuthPolicy { forwards_to: Some(target.port), ..policy() };
        let server = Server::start(forwards, Program::Hang).await;
        let gate = server.connector(&files).password(PASSWORD);
        Self { files, target, gate, _gate: server }
    }

    /// Returns a connector of the server under this name, which knows the hosts of the file `hosts`.
    fn connector(&self, host: &str, port: u16) -> Ssh {
        let ssh = Ssh::new(host).port(port).user("alice").password(PASSWORD);
        let ssh = ssh.known_hosts([self.files.path("hosts")]).without_agent().without_key_files();
        ssh.jump(self.gate.clone())
    }

    /// Writes the file `hosts`. `{k}` is the server's key, `{o}` another one.
    fn write(&self, text: &str) {
        let text = text.replace("{k}", &line(self.target.key.public_key()));
        self.files.write("hosts", &text.replace("{o}", &line(key().public_key())));
    }

    /// Connects. Returns why the key is not trusted, `None` if it is. `@` is the file.
    async fn reason(&self, ssh: &Ssh) -> Option<String> {
        let error = ssh.connect().await.err()?;
        assert!(error.is_untrusted(), "{error:?}");
        Some(error.to_string().replace(&*self.files.path("hosts").to_string_lossy(), "@"))
    }
}

#[tokio::test]
async fn keys_are_known_changed_revoked_or_unknown() {
    let network = Network::start().await;
    network.write(
        "# comment\n\
         a.example.org {o}\n\
         a.example.org {k}\n\
         [a.example.org]:2222 {o}\n\
         @revoked r.example.org,*.bad {k}\n\
         r.example.org {k}\n\
         @cert-authority c.example.org {o}\n\
         @revoked broken.example.org ssh-ed25519 *\n\
         broken.example.org {k}\n\
         b.example.org {o}\n\
         [d.example.org]:2222 {k}\n\
         [e.example.org]:2222 {o}\n",
    );
    let authority = "is unknown; @:7 names a certificate authority, but host certificates are not supported";
    for (host, port, expected) in [
        ("A.example.org", 22, None),
        ("a.example.org", 2222, None),
        ("a.example.org", 2223, None),
        ("b.example.org", 22, Some("differs from the known key in @:10")),
        ("b.example.org", 2222, Some("is unknown; searched in @")),
        ("d.example.org", 22, Some("is unknown; searched in @")),
        ("d.example.org", 2222, None),
        ("e.example.org", 2222, Some("differs from the known key in @:12")),
        ("r.example.org", 22, Some("is revoked by @:5")),
        ("r.bad", 22, Some("is revoked by @:5")),
        ("c.example.org", 22, Some(authority)),
        ("broken.example.org", 22, Some("is revoked by @:8")),
    ] {
        let reason = network.reason(&network.connector(host, port)).await;
        let is_expected = match (&reason, expected) {
            (Some(reason), Some(expected)) => reason.ends_with(expected),
            (reason, expected) => reason.is_none() && expected.is_none(),
        };
        assert!(is_expected, "{host} {port}: {reason:?}");
    }
}

#[tokio::test]
async fn a_new_key_has_its_own_line() {
    let network = Network::start().await;
    network.write("other ssh-rsa AAAA");
    let ssh = network.connector("new.example.org", 2222);
    assert!(network.reason(&ssh).await.is_some());
    assert_eq!(network.reason(&ssh.clone().accept_new()).await, None);
    assert_eq!(network.reason(&ssh).await, None);
    let text = fs::read_to_string(network.files.path("hosts")).unwrap();
    let key = line(network.target.key.public_key());
    assert_eq!(text, format!("other ssh-rsa AAAA\n[new.example.org]:2222 {key}\n"));
    // A file that cannot be read could revoke the key.
    let error = ssh.known_hosts([network.files.path("")]).connect().await.err().unwrap();
    assert!(error.is_io(), "{error}");
}

#[tokio::test]
async fn patterns_match_like_openssh() {
    let network = Network::start().await;
    for (hosts, host, port, is_listed) in [
        ("server", "server", 22, true),
        ("Server.Example.ORG", "server.example.org", 22, true),
        ("server", "server2", 22, false),
        ("other,server", "server", 22, true),
        ("*.example.org", "a.b.example.org", 22, true),
        ("*.example.org", "example.org", 22, false),
        ("192.0.2.?", "192.0.2.7", 22, true),
        ("192.0.2.?", "192.0.2.77", 22, false),
        ("*.example.org,!bad.example.org", "bad.example.org", 22, false),
        ("!bad.example.org,*.example.org", "good.example.org", 22, true),
        ("!bad.example.org", "good.example.org", 22, false),
        ("[server]:2222", "server", 2222, true),
        ("[server]:2222", "server", 22, false),
        ("[*]:2222", "server", 2222, true),
        ("*", "anything", 22, true),
        ("a*b*c", "aXbYbZc", 22, true),
        ("a*b*c", "aXbYbZ", 22, false),
        // Written by `ssh-keygen -H`.
        ("|1|DWby39l5Yu2lZ46PPS7iWtaxqdM=|4wm2hMEDnKPlEKlHJXr8uphwPvM=", "server.example.org", 22, true),
        ("|1|DWby39l5Yu2lZ46PPS7iWtaxqdM=|4wm2hMEDnKPlEKlHJXr8uphwPvM=", "server.example.com", 22, false),
        ("|1|i5zmp3y7Ozrj7zT32opihG1cd+E=|rH1IvF8Czpyb8co84YfDZ3QKNaI=", "server.example.org", 2222, true),
        ("|2|DWby39l5Yu2lZ46PPS7iWtaxqdM=|4wm2hMEDnKPlEKlHJXr8uphwPvM=", "server.example.org", 22, false),
        ("|1|", "server", 22, false),
        ("|1|AAAA", "server", 22, false),
        ("|1|*|*", "server", 22, false),
    ] {
        network.write(&format!("{hosts} {{k}}\n"));
        let reason = network.reason(&network.connector(host, port)).await;
        assert_eq!(reason.is_none(), is_listed, "{hosts} {host} {port}: {reason:?}");
    }
}

#[tokio::test]
async fn comments_and_incomplete_lines_are_skipped() {
    let network = Network::start().await;
    let lines =
        "\n   \n# server {k}\nserver\nserver ssh-ed25519\n@revoked server ssh-ed25519\n@new server {k}\n";
    network.write(lines);
    let ssh = network.connector("server", 22);
    assert!(network.reason(&ssh).await.unwrap().contains("is unknown"));
    network.write(&format!("{lines} @revoked\tb,server  {{k}} what it is\r\n"));
    assert!(network.reason(&ssh).await.unwrap().ends_with("is revoked by @:8"));
}
