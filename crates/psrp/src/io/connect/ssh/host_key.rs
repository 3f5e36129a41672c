//! Verification of host keys.

use std::borrow::Cow;
use std::path::PathBuf;

use russh::keys::{Algorithm, HashAlg, PublicKeyOrCertificate};

use super::known_hosts::KnownHosts;
use super::prompt::{PromptHandler, SshQuestion};
use crate::Error;
use crate::error::Kind;

/// Treatment of unknown host keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum HostKeyPolicy {
    #[default]
    Strict,
    /// Saved if the host has no known key; refused if it differs from known ones.
    AcceptNew,
    AcceptAny,
}

pub(super) struct HostKeyVerifier {
    policy: HostKeyPolicy,
    hosts: KnownHosts,
    ask: Option<PromptHandler>,
}

impl HostKeyVerifier {
    /// Reads the known-hosts files, unless every key is accepted.
    pub(super) async fn read(
        policy: HostKeyPolicy,
        files: Vec<PathBuf>,
        host: &str,
        port: u16,
        ask: Option<PromptHandler>,
    ) -> Result<Self, Error> {
        let files = if policy == HostKeyPolicy::AcceptAny { Vec::new() } else { files };
        let host = host.to_owned();
        let hosts = blocking(move || KnownHosts::read(files, &host, port)).await??;
        Ok(Self { policy, hosts, ask })
    }

    /// Returns the host key algorithms to offer, those of known keys first. RSA with SHA-1 is excluded.
    pub(super) fn algorithms(&self) -> Cow<'static, [Algorithm]> {
        let is_sound = |algorithm: &Algorithm| !matches!(algorithm, Algorithm::Rsa { hash: None });
        let all = russh::Preferred::DEFAULT.key.iter().filter(|algorithm| is_sound(algorithm));
        let kinds: Vec<&str> = self.hosts.kinds().collect();
        let is_known = |algorithm: &Algorithm| {
            let kind = match algorithm {
                // An RSA key has one type for all signature hashes.
                Algorithm::Rsa { .. } => "ssh-rsa",
                other => other.as_str(),
            };
            kinds.contains(&kind)
        };
        let (mut first, rest): (Vec<_>, Vec<_>) = all.cloned().partition(is_known);
        first.extend(rest);
        first.into()
    }

    /// Checks the host key. Fails with `is_untrusted` if the key is not accepted.
    pub(super) async fn check(&mut self, presented: &PublicKeyOrCertificate) -> Result<(), Error> {
        if self.policy == HostKeyPolicy::AcceptAny {
            return Ok(());
        }
        if presented.certificate().is_some() {
            return Err(Error::with(
                Kind::Untrusted,
                "the server presented a certificate, but host certificates are not supported",
            ));
        }
        let key = presented.public_key();
        let blob = key.to_bytes().map_err(|error| {
            Error::with(Kind::Protocol, "the host key can't be read").caused_by(error.to_string())
        })?;
        let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
        let what = format!("the {} key {fingerprint} of {}", key.algorithm().as_str(), self.hosts.name);
        let reason = match self.hosts.check(&blob) {
            Ok(true) => return Ok(()),
            Ok(false)
                if self.policy == HostKeyPolicy::AcceptNew
                    || self.asks_to_trust(key.algorithm().as_str(), &fingerprint).await? =>
            {
                let (hosts, algorithm) = (self.hosts.clone(), key.algorithm());
                self.hosts = blocking(move || hosts.add(algorithm.as_str(), &blob)).await??;
                return Ok(());
            }
            Ok(false) => {
                let files: Vec<_> = self.hosts.files.iter().map(|file| file.display().to_string()).collect();
                format!("is unknown; searched in {}", files.join(", "))
            }
            Err(reason) => reason,
        };
        Err(Error::with(Kind::Untrusted, format!("{what} {reason}")))
    }

    /// Asks the user whether to trust an unknown key.
    async fn asks_to_trust(&self, algorithm: &str, fingerprint: &str) -> Result<bool, Error> {
        let Some(ask) = self.ask.clone() else { return Ok(false) };
        let [host, algorithm, fingerprint] =
            [&self.hosts.name, algorithm, fingerprint].map(ToOwned::to_owned);
        let answer = blocking(move || {
            let question =
                SshQuestion::HostKey { host: &host, algorithm: &algorithm, fingerprint: &fingerprint };
            ask.call(question)
        });
        Ok(answer.await?.is_some_and(|answer| answer.trim().eq_ignore_ascii_case("yes")))
    }
}

/// Runs blocking work (files, key derivation, prompts) on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    // Fails if the work panics or the runtime shuts down.
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Error::from(std::io::Error::other(error.to_string())))
}
