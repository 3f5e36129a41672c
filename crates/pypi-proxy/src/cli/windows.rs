//! Replacements for the modules that need Unix: no systemd, no Unix sockets, and events of the console instead of signals.

pub(super) mod systemd {
    use std::io;

    use crate::cli::listen::Bound;

    pub(in crate::cli) type PassedSocket = (PassedListener, bool);

    pub(in crate::cli) enum PassedListener {}

    impl PassedListener {
        pub(in crate::cli) fn into_bound(self) -> io::Result<Bound> {
            match self {}
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "same signature as on Unix")]
    pub(in crate::cli) fn sockets() -> anyhow::Result<Vec<PassedSocket>> {
        Ok(Vec::new())
    }

    pub(in crate::cli) fn ready(_: &str) {}

    pub(in crate::cli) async fn stopping() {}

    pub(in crate::cli) async fn reloading() {}

    pub(in crate::cli) async fn reloaded() {}
}

pub(super) mod unix_socket {
    use std::convert::Infallible;
    use std::io::{self, ErrorKind};
    use std::path::Path;

    use crate::cli::listen::Bound;

    pub(in crate::cli) type SocketFile = Infallible;

    pub(in crate::cli) fn bind_unix(_: &Path, _: u32) -> io::Result<Bound> {
        // Reading the settings rejects the address with a message.
        Err(ErrorKind::Unsupported.into())
    }

    pub(in crate::cli) fn check(path: &Path) -> io::Result<()> {
        bind_unix(path, 0).map(drop)
    }
}

pub(super) mod signals {
    use std::collections::BTreeMap;
    use std::io;
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    use pypi_proxy::config::{Origin, Settings};
    use tokio::signal::windows::{
        CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
    };

    /// Interval in which the configuration files are checked for changes.
    const INTERVAL: Duration = Duration::from_secs(5);

    /// Windows does not limit the number of connections.
    pub(in crate::cli) fn raise_file_limit() {}

    /// Requests to shut down: Ctrl+C, Ctrl+Break, a closed console, and the end of the system.
    pub(in crate::cli) struct Shutdown(CtrlC, CtrlBreak, CtrlClose, CtrlShutdown);

    impl Shutdown {
        pub(in crate::cli) fn new() -> io::Result<Self> {
            Ok(Self(ctrl_c()?, ctrl_break()?, ctrl_close()?, ctrl_shutdown()?))
        }

        pub(in crate::cli) async fn next(&mut self) {
            tokio::select! {
                _ = self.0.recv() => {}
                _ = self.1.recv() => {}
                _ = self.2.recv() => {}
                _ = self.3.recv() => {}
            }
        }
    }

    /// Requests to reload the settings: changes of the configuration files.
    pub(in crate::cli) struct Reload(BTreeMap<PathBuf, Option<(SystemTime, u64)>>);

    impl Reload {
        #[expect(clippy::unnecessary_wraps, reason = "same signature as on Unix")]
        pub(in crate::cli) fn new(settings: &Settings) -> io::Result<Self> {
            let file = |origin| match origin {
                Origin::File(file) | Origin::Index { file, .. } => Some((file, None)),
                _ => None,
            };
            let all = std::iter::once(settings).chain(settings.indexes.values());
            let mut reload = Self(all.flat_map(Settings::rows).filter_map(|row| file(row.origin)).collect());
            reload.has_changed();
            Ok(reload)
        }

        /// Waits until one of the files has changed.
        pub(in crate::cli) async fn next(&mut self) -> Option<()> {
            loop {
                tokio::time::sleep(INTERVAL).await;
                if self.has_changed() {
                    return Some(());
                }
            }
        }

        fn has_changed(&mut self) -> bool {
            self.0.iter_mut().fold(false, |is_changed, (path, before)| {
                let metadata = path.metadata().and_then(|file| Ok((file.modified()?, file.len()))).ok();
                is_changed | (std::mem::replace(before, metadata) != metadata)
            })
        }
    }
}
