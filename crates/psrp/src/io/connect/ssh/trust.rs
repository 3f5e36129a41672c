//! Whether the server is who it should be.

use std::borrow::Cow;
use std::path::PathBuf;

use russh::keys::{Algorithm, HashAlg, PublicKeyOrCertificate};

use super::known_hosts::{KnownHosts, Verdict};
use crate::Error;
use crate::error::Kind;

/// What becomes of a key that is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Policy {
    /// It is refused.
    #[default]
    Strict,
    /// It is written down if nothing at all is known about the host, and refused if it differs from what is.
    AcceptNew,
    /// It is accepted, and so is every other key.
    AcceptAny,
}

/// Checks the key of one server.
pub(super) struct Trust {
    policy: Policy,
    /// `None` while a thread writes to the files.
    hosts: Option<KnownHosts>,
}

impl Trust {
    /// Reads the files of known hosts, unless every key is accepted.
    pub(super) async fn read(
        policy: Policy,
        files: Vec<PathBuf>,
        host: &str,
        port: u16,
    ) -> Result<Self, Error> {
        let files = if policy == Policy::AcceptAny { Vec::new() } else { files };
        let host = host.to_owned();
        let hosts = blocking(move || KnownHosts::read(files, &host, port)).await??;
        Ok(Self { policy, hosts: Some(hosts) })
    }

    /// The algorithms of host keys to ask for: first those of keys that are known. RSA with SHA-1 is not among them.
    pub(super) fn algorithms(&self) -> Cow<'static, [Algorithm]> {
        let is_sound = |algorithm: &Algorithm| !matches!(algorithm, Algorithm::Rsa { hash: None });
        let all = russh::Preferred::DEFAULT.key.iter().filter(|algorithm| is_sound(algorithm));
        let kinds: Vec<&str> = self.hosts.iter().flat_map(KnownHosts::kinds).collect();
        let is_known = |algorithm: &Algorithm| {
            let kind = match algorithm {
                // The key is the same, whatever its signatures are made with.
                Algorithm::Rsa { .. } => "ssh-rsa",
                other => other.as_str(),
            };
            kinds.contains(&kind)
        };
        let (mut first, rest): (Vec<_>, Vec<_>) = all.cloned().partition(is_known);
        first.extend(rest);
        first.into()
    }

    /// Looks the key up.
    ///
    /// # Errors
    ///
    /// Fails if the server is not to be trusted: `is_untrusted`.
    pub(super) async fn check(&mut self, shown: &PublicKeyOrCertificate) -> Result<(), Error> {
        if self.policy == Policy::AcceptAny {
            return Ok(());
        }
        let Some(hosts) = &self.hosts else {
            return Err(Error::with(Kind::State, "the known hosts were lost while they were written"));
        };
        if shown.certificate().is_some() {
            return Err(Error::with(Kind::Untrusted, "the server shows a certificate that nobody asked for"));
        }
        let key = shown.public_key();
        let blob = key.to_bytes().map_err(|error| {
            Error::with(Kind::Protocol, "the host key can't be read").caused_by(error.to_string())
        })?;
        let what = format!(
            "the {} key {} of {}",
            key.algorithm().as_str(),
            key.fingerprint(HashAlg::Sha256),
            hosts.name()
        );
        let files = || {
            let files: Vec<String> = hosts.files().iter().map(|file| file.display().to_string()).collect();
            files.join(", ")
        };
        let detail = match hosts.check(&blob) {
            Verdict::Known => return Ok(()),
            Verdict::Unknown if self.policy == Policy::AcceptNew => {
                return self.learn(key.algorithm().as_str().to_owned(), blob).await;
            }
            Verdict::Unknown => format!("{what} is unknown; looked for it in {}", files()),
            Verdict::Changed(place) => format!("{what} is not the one that is known from {place}"),
            Verdict::Revoked(place) => format!("{what} is revoked by {place}"),
            Verdict::Authority(place) => format!(
                "{what} is unknown; {place} has an authority for certificates of hosts, which are not supported here"
            ),
        };
        Err(Error::with(Kind::Untrusted, detail))
    }

    async fn learn(&mut self, kind: String, key: Vec<u8>) -> Result<(), Error> {
        if let Some(mut hosts) = self.hosts.take() {
            let (hosts, learnt) = blocking(move || {
                let learnt = hosts.learn(&kind, key);
                (hosts, learnt)
            })
            .await?;
            self.hosts = Some(hosts);
            learnt?;
        }
        Ok(())
    }
}

/// Runs what waits for files, a processor or a user on a thread of its own.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    // It fails if the work panics or the runtime ends.
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Error::from(std::io::Error::other(error.to_string())))
}
