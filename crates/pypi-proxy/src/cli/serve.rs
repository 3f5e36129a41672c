//! `serve`: runs the proxy.

use std::io::{self, IsTerminal as _};

use anyhow::{Context as _, Result};
use clap::ArgMatches;
use pypi_proxy::config::{Level, Listen, LogFormat, Origin, Settings};
use tokio::net::TcpListener;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};

use super::{setup, systemd};

/// Maximum number of buffered lines. Further lines are dropped, so that logging never delays a response.
const BUFFERED_LINES: usize = 16_384;

/// Maximum number of threads for file I/O, name resolution and parsing of pages.
const DISK_THREADS: usize = 128;

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let settings = setup::settings(matches)?;
    let passed = systemd::listener()?;
    let _log = start_logging(&settings);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // More threads do not make the disk faster.
    runtime.enable_all().max_blocking_threads(DISK_THREADS);
    runtime.build()?.block_on(serve(&settings, passed))
}

/// Raises the limit of open files to the hard limit, because each connection is one.
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Without more descriptors, the proxy accepts fewer connections.
    let _ = setrlimit(Resource::Nofile, limit);
}

async fn serve(settings: &Settings, passed: Option<std::net::TcpListener>) -> Result<()> {
    raise_file_limit();
    for text in settings.ineffective() {
        tracing::warn!("{text}");
    }
    let found = setup::index(settings)?;
    let (index, origin) = match &found {
        Some(found) => (Some(&found.value), &found.origin),
        None => (settings.index_url.as_ref(), &settings.index_url.origin),
    };
    let index = index.map(ToString::to_string).unwrap_or_default();
    tracing::info!(%index, %origin, "index");
    let builder = setup::proxy_builder(settings, found)?;
    let (server, _store) = builder.start()?;
    let listener = match passed {
        Some(listener) => TcpListener::from_std(listener)?,
        None => bind(&settings.listen.value, &settings.listen.origin).await?,
    };
    // Port 0 was replaced by the selected port.
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
        tracing::warn!("every client can purge the cache (set admin_token)");
    }
    let mut signals = Signals::new()?;
    tracing::info!(%address, "listening");
    systemd::ready(address);
    let shutdown = async move {
        signals.next().await;
        tracing::info!("shutting down after the responses in flight");
        // A second signal terminates immediately.
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(1);
        });
        systemd::stopping().await;
    };
    server.admin(admin).serve(listener, shutdown).await?;
    tracing::info!("stopped");
    Ok(())
}

async fn bind(listen: &Listen, origin: &Origin) -> Result<TcpListener> {
    let listener = TcpListener::bind((&*listen.host, listen.port)).await;
    listener.with_context(|| format!("can't listen on {listen} ({origin})"))
}

struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
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

/// Starts logging on a separate thread. Dropping the guard flushes the buffer.
fn start_logging(settings: &Settings) -> WorkerGuard {
    let (writer, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(BUFFERED_LINES).finish(io::stderr());
    let level = match settings.logging_level.value {
        Level::Trace => LevelFilter::TRACE,
        Level::Debug => LevelFilter::DEBUG,
        Level::Info => LevelFilter::INFO,
        Level::Warn => LevelFilter::WARN,
        Level::Error => LevelFilter::ERROR,
        Level::Off => LevelFilter::OFF,
    };
    let has_colors = settings.log_color.value.unwrap_or_else(|| io::stderr().is_terminal());
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(writer);
    match settings.log_format.value {
        LogFormat::Text => builder.with_ansi(has_colors).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    guard
}
