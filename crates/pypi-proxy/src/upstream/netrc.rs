//! Credentials in a `.netrc` file.

use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;

use crate::error::{Chain, Kind};
use crate::file_watch::{self, CheckTimer, FileStamp};
use crate::{Error, system};

/// Minimum time between checks for changes of the file.
const RELOAD_AFTER: Duration = Duration::from_secs(5);
/// Maximum size of the file in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A `.netrc` file, which is read again at most 5 seconds after it changed. Clones share it.
///
/// Words are separated by white space; quotes, escapes and macros are not supported. A missing file has no credentials.
/// If the file can't be read or is larger than 1 MiB, an error is logged and the previous credentials stay valid.
#[derive(Clone)]
pub struct Netrc(Arc<Inner>);

struct Inner {
    path: PathBuf,
    checks: CheckTimer,
    current: RwLock<Current>,
}

#[derive(Default)]
struct Current {
    stamp: FileStamp,
    entries: Arc<[Entry]>,
}

/// Entry of a host, or of all hosts if it has no name.
#[derive(Default)]
struct Entry {
    host: Option<String>,
    login: Option<String>,
    password: String,
}

impl Netrc {
    /// Creates a file without credentials. [`Self::reload`] reads them.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let inner =
            Inner { path: path.into(), checks: CheckTimer::new(RELOAD_AFTER), current: RwLock::default() };
        Self(Arc::new(inner))
    }

    /// Reads the file. Blocks the thread.
    ///
    /// # Errors
    ///
    /// Fails if the file exists, but can't be read or is larger than 1 MiB ([`Error::is_config`]).
    pub fn reload(&self) -> Result<(), Error> {
        let path = &self.0.path;
        // Read first, so that a concurrent write causes another reload.
        let stamp = file_watch::stamp(path);
        let text = match file_watch::read(path, MAX_FILE) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Ok(String::new())
            }
            result => result,
        };
        let mut current = self.0.current.write();
        // An unreadable file is reported once.
        current.stamp = stamp;
        let text = text.map_err(|error| {
            Error::with(Kind::Config, format!("{} can't be read", path.display())).caused_by(error)
        })?;
        current.entries = parse(&text).into();
        Ok(())
    }

    /// Reads the file again if it has changed, unless it was checked a short time ago.
    pub(super) async fn refresh(&self) {
        if !self.0.checks.is_due() {
            return;
        }
        let this = self.clone();
        let work = move || {
            if file_watch::stamp(&this.0.path) == this.0.current.read().stamp {
                return;
            }
            let file = this.0.path.display();
            match this.reload() {
                Ok(()) => tracing::info!(%file, "credentials reloaded"),
                Err(error) => tracing::error!(error = %Chain(&error), "credentials not reloaded"),
            }
        };
        let _ = system::spawn_blocking(work).await;
    }

    /// Returns the user and password of the first entry that applies to a host: a `machine` entry with its name, or the
    /// `default` entry.
    pub(super) fn credentials(&self, host: &str) -> Option<(String, String)> {
        let entries = self.0.current.read().entries.clone();
        let applies = |entry: &&Entry| entry.host.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(host));
        let entry = entries.iter().find(applies)?;
        Some((entry.login.clone()?, entry.password.clone()))
    }
}

/// Shows the path only.
impl fmt::Debug for Netrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Netrc").field(&self.0.path).finish()
    }
}

fn parse(text: &str) -> Vec<Entry> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    let mut words = lines.flat_map(str::split_whitespace);
    let mut entries: Vec<Entry> = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "machine" => {
                let host = words.next().map(str::to_owned);
                entries.extend(host.map(|host| Entry { host: Some(host), ..Entry::default() }));
            }
            "default" => entries.push(Entry::default()),
            "login" | "user" | "password" | "account" => {
                let value = words.next().unwrap_or_default().to_owned();
                match (word, entries.last_mut()) {
                    ("login" | "user", Some(entry)) => entry.login = Some(value),
                    ("password", Some(entry)) => entry.password = value,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lookup(text: &str, host: &str) -> Option<(String, String)> {
        let netrc = Netrc::new("netrc");
        netrc.0.current.write().entries = parse(text).into();
        netrc.credentials(host)
    }

    fn credentials(user: &str, password: &str) -> Option<(String, String)> {
        Some((user.into(), password.into()))
    }

    #[test]
    fn host_entry_or_default_entry_is_found() {
        let text = "# a comment\nmachine a.example.org login me password #x\nmachine b.example.org\n  login you\n\
                    \taccount z password pw\n# machine c.example.org\n\ndefault login any password none";
        assert_eq!(lookup(text, "A.example.org"), credentials("me", "#x"));
        assert_eq!(lookup(text, "b.example.org"), credentials("you", "pw"));
        assert_eq!(lookup(text, "c.example.org"), credentials("any", "none"));
        assert_eq!(lookup("machine a.example.org", "a.example.org"), None);
        assert_eq!(lookup("machine a login b machine c login d password e", "c"), credentials("d", "e"));
        assert_eq!(lookup("machine a login machine password login", "a"), credentials("machine", "login"));
        assert_eq!(lookup("", "a"), None);
    }

    proptest! {
        #[test]
        fn arbitrary_text_does_not_panic(text in "((machine|default|login|password|account|[a-z\"\\\\#]{0,4})[ \n]?){0,30}") {
            let _ = lookup(&text, "a");
        }
    }
}
