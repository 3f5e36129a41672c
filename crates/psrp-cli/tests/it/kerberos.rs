//! Kerberos with MIT's key distribution centre and library, and NTLM with gss-ntlmssp, against the service
//! `peers/kerberos_service.py`. The tests are skipped with a message without the Debian packages `krb5-kdc`,
//! `krb5-admin-server` and `python3-gssapi`, and those of NTLM without `gss-ntlmssp`.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{fs, io};

use test_support::optional;

use crate::cli::{Run, psrp};

const KERBEROS: [&str; 2] = ["kerberos", "EXAMPLE.TEST\\user"];
const NTLM: [&str; 2] = ["ntlm", "EXAMPLE\\user"];
const DENIED: &str =
    "psrp: can't list the sessions: access is denied: the service rejected the credentials\n";

/// A running service, stopped on drop.
struct Service {
    child: Child,
    port: String,
    kdc: String,
    has_ntlm: bool,
}

impl Service {
    /// Starts the service. Returns `None` if the test is skipped.
    fn start(arguments: &[&str]) -> Option<Self> {
        // Debian's interpreter has Debian's packages.
        let python = Path::new("/usr/bin/python3");
        if !python.exists() {
            optional::skip("python3 is not installed");
            return None;
        }
        let mut child = Command::new(python)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/kerberos_service.py"))
            .args(arguments)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service can be started");
        let mut line = String::new();
        io::BufRead::read_line(&mut io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        if let Some(reason) = line.strip_prefix("SKIP ") {
            child.wait().unwrap();
            optional::skip(reason.trim());
            return None;
        }
        let ["PORT", port, "KDC", kdc, "NTLM", ntlm] = *line.split_whitespace().collect::<Vec<_>>() else {
            panic!("not the expected line: {line:?}");
        };
        let (port, kdc) = (port.to_owned(), format!("tcp://127.0.0.1:{kdc}"));
        Some(Self { child, port, kdc, has_ntlm: ntlm == "1" })
    }

    async fn sessions(&self, scheme: &str, [auth, user]: [&str; 2], password: &str, more: &[&str]) -> Run {
        let url = format!("{scheme}://localhost:{}", self.port);
        let mut command = psrp("sessions");
        command.args(["--wsman", &url, "--user", user, "--auth", auth]).args(more);
        command.env("PSRP_PASSWORD", password).env("SSPI_KDC_URL", &self.kdc);
        Run::of(&mut command, "").await
    }

    /// Lists the sessions and checks that there is one.
    async fn check(&self, scheme: &str, login: [&str; 2], more: &[&str]) {
        let run = self.sessions(scheme, login, "correct horse", more).await;
        assert!(run.out.contains("00000000-0000-0000-0000-000000000001  Connected"), "{login:?} {run:?}");
        assert_eq!(run.code, Some(0), "{run:?}");
    }

    fn logins(&self) -> Vec<[&'static str; 2]> {
        if !self.has_ntlm {
            optional::skip("gss-ntlmssp is not installed");
            return vec![KERBEROS];
        }
        vec![KERBEROS, NTLM]
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It serves until its input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn messages_over_http_are_encrypted() {
    let Some(service) = Service::start(&[]) else { return };
    for login in service.logins() {
        service.check("http", login, &[]).await;
    }
    service.sessions("http", NTLM, "wrong", &[]).await.is(3, "", DENIED);
    let wrong = service.sessions("http", KERBEROS, "wrong", &[]).await;
    assert!(wrong.code == Some(3) && wrong.err.contains("authentication by Kerberos failed"), "{wrong:?}");
    drop(service);
    let Some(service) = Service::start(&["--scheme", "Kerberos"]) else { return };
    service.check("http", KERBEROS, &[]).await;
}

#[tokio::test]
async fn logins_over_https_are_bound_to_the_certificate() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [certificate, key, other] =
        ["kerberos-certificate.pem", "kerberos-key.pem", "kerberos-other.pem"].map(|name| folder.join(name));
    let signed = || rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let own = signed();
    fs::write(&certificate, own.cert.pem()).unwrap();
    fs::write(&key, own.signing_key.serialize_pem()).unwrap();
    fs::write(&other, signed().cert.pem()).unwrap();
    let [certificate, key, other] = [&certificate, &key, &other].map(|path| path.to_str().unwrap());
    let tls = ["--tls", certificate, key];
    for scheme in ["Negotiate", "Kerberos"] {
        let Some(service) = Service::start(&[&["--scheme", scheme], &tls[..]].concat()) else { return };
        service.check("https", KERBEROS, &["--ca", certificate]).await;
        if scheme == "Negotiate" && service.has_ntlm {
            service.check("https", NTLM, &["--ca", certificate]).await;
        }
    }
    // As if an attacker in the middle forwarded the tokens.
    let Some(service) = Service::start(&[&tls[..], &["--binding", other]].concat()) else { return };
    for login in service.logins() {
        let run = service.sessions("https", login, "correct horse", &["--ca", certificate]).await;
        run.is(3, "", DENIED);
    }
}
