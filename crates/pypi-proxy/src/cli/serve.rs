//! `serve`: the main job.

use clap::ArgMatches;
use pypi_proxy::config::{Listen, Origin, Settings};
use tokio::net::TcpListener;

use super::failure::Failure;
use super::{logging, setup, systemd};

/// Threads for reading and writing files, for resolving names, and for reading pages.
const DISK_THREADS: usize = 128;

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = setup::settings(matches)?;
    let handed = systemd::listener()?;
    let _log = logging::start(&settings);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // However many clients wait for the disk, more threads than this are of no use to it.
    runtime.enable_all().max_blocking_threads(DISK_THREADS);
    runtime.build()?.block_on(serve(&settings, handed))
}

/// Has the system allow as many open files as it may: each connection is one.
#[cfg(unix)]
fn allow_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // It goes on with what there is.
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(not(unix))]
fn allow_files() {}

async fn serve(settings: &Settings, handed: Option<std::net::TcpListener>) -> Result<(), Failure> {
    allow_files();
    for text in settings.idle() {
        tracing::warn!("{text}");
    }
    let found = setup::index(settings)?;
    let (index, origin) = match &found {
        Some(found) => (Some(&found.value), &found.origin),
        None => (settings.index_url.as_ref(), &settings.index_url.origin),
    };
    let index = index.map(ToString::to_string).unwrap_or_default();
    tracing::info!(%index, %origin, "the index");
    let engines = setup::engines(settings, found)?;
    let (server, _store) = engines.start()?;
    let listener = match handed {
        Some(listener) => TcpListener::from_std(listener)?,
        None => bind(&settings.listen.value, &settings.listen.origin).await?,
    };
    // A port of 0 has become another.
    let address = listener.local_addr()?;
    let mut admin_address = address;
    let mut admin = None;
    if let Some(listen) = &settings.admin_listen.value {
        let listener = bind(listen, &settings.admin_listen.origin).await?;
        admin_address = listener.local_addr()?;
        tracing::info!(admin_address = %admin_address, "listening for administration");
        admin = Some(listener);
    }
    if settings.admin_token.is_none() && !admin_address.ip().is_loopback() {
        tracing::warn!("whoever reaches the proxy can have it forget what is cached: set admin_token");
    }
    let mut signals = Signals::new()?;
    tracing::info!(%address, "listening");
    systemd::ready(address);
    let shutdown = async move {
        signals.next().await;
        tracing::info!("ending, after the answers that have begun");
        // Who asks twice does not want to wait.
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(1);
        });
        systemd::stopping().await;
    };
    server.admin(admin).serve(listener, shutdown).await?;
    tracing::info!("ended");
    Ok(())
}

async fn bind(listen: &Listen, origin: &Origin) -> Result<TcpListener, Failure> {
    TcpListener::bind((&*listen.host, listen.port)).await.map_err(|error| {
        let text = format!("connections can't be accepted at {listen} ({origin})");
        Failure::because(&text, &error)
    })
}

/// What tells the program to end.
#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // Without signals it ends when it is ended.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
