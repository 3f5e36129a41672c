//! `serve`: runs the proxy.

use std::io::{self, IsTerminal as _};

use anyhow::{Context as _, Result};
use clap::ArgMatches;
use pypi_proxy::config::{Discovery, Level, LogFormat, Settings};
use pypi_proxy::serve::Server;
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};

use super::listen::{Bound, bind_all};
use super::reload::Reloader;
use super::signals::{Reload, Shutdown, raise_file_limit};
use super::systemd::PassedSocket;
use super::{setup, systemd};

/// Maximum number of buffered lines. Further lines are dropped, so that logging never delays a response.
const BUFFERED_LINES: usize = 16_384;

/// Maximum number of threads for file I/O, name resolution and parsing of pages.
const DISK_THREADS: usize = 128;

pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let settings = setup::settings(matches)?;
    let passed = systemd::sockets()?;
    let _log = start_logging(&settings);
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // More threads do not make the disk faster.
    runtime.enable_all().max_blocking_threads(DISK_THREADS);
    runtime.build()?.block_on(serve(matches, &settings, passed))
}

async fn serve(matches: &ArgMatches, settings: &Settings, passed: Vec<PassedSocket>) -> Result<()> {
    // From here on, SIGHUP does not terminate the program.
    let reload = Reload::new(settings)?;
    let mut signals = Shutdown::new()?;
    raise_file_limit();
    for text in settings.warnings() {
        tracing::warn!("{text}");
    }
    let found = setup::index(settings)?;
    let (index, origin) = match &found {
        Some(found) => (Some(&found.value), &found.origin),
        None => (settings.index_url.as_ref(), &settings.index_url.origin),
    };
    let index = index.map(ToString::to_string).unwrap_or_default();
    match &found {
        None => tracing::info!(%index, %origin, "index"),
        Some(_) => {
            tracing::info!(%index, %origin, "no index is set, so that of this machine is used; {}", Discovery::HINT);
        }
    }
    for (name, index) in &settings.indexes {
        let url = index.index_url.as_ref().map(ToString::to_string).unwrap_or_default();
        tracing::info!(%name, index = %url, origin = %index.index_url.origin, "named index");
    }
    let builder = setup::proxy_builder(settings, found)?;
    let (server, store) = builder.start()?;
    let (mut public, mut admin) = (Vec::new(), Vec::new());
    for (socket, is_admin) in passed {
        let bound = socket.into_bound()?;
        if is_admin { &mut admin } else { &mut public }.push(bound);
    }
    let mode = settings.unix_socket_mode.bits();
    if public.is_empty() {
        public = bind_all(&settings.listen, mode).await?;
    }
    if admin.is_empty() {
        admin = bind_all(&settings.admin_listen, mode).await?;
    }
    // Clients that connect while the bucket does not respond wait instead of being refused.
    setup::check_bucket_layout(&store).await?;
    for Bound { address, .. } in &admin {
        tracing::info!(admin_address = %address, "listening for administration");
    }
    if settings.admin_token.is_none() && !admin.iter().all(Bound::is_local) {
        tracing::warn!("every client that reaches admin_listen can purge the cache (set admin_token)");
    }
    let mut addresses = Vec::new();
    for Bound { address, .. } in &public {
        tracing::info!(%address, "listening");
        addresses.push(address.to_string());
    }
    let reloader = Reloader { matches: matches.clone(), server: server.handle(), started: settings.clone() };
    tokio::spawn(reloader.run(reload));
    systemd::ready(&addresses.join(", "));
    let mut files = Vec::new();
    let mut listeners = public.into_iter().map(|bound| {
        files.extend(bound.file);
        bound.listener
    });
    // There is at least one address.
    let first = listeners.next().context("no address to listen on")?;
    let server = listeners.fold(server, Server::listen);
    let server = admin.into_iter().fold(server, |server, bound| {
        files.extend(bound.file);
        server.admin(bound.listener)
    });
    let shutdown = async move {
        signals.next().await;
        drop(files);
        tracing::info!("shutting down after the responses in flight");
        // A second signal terminates immediately.
        tokio::spawn(async move {
            signals.next().await;
            std::process::exit(1);
        });
        systemd::stopping().await;
    };
    server.serve(first, shutdown).await?;
    tracing::info!("stopped");
    Ok(())
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
    // Not every console of Windows supports colors.
    let has_colors = settings.log_color.value.unwrap_or_else(|| !cfg!(windows) && io::stderr().is_terminal());
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(writer);
    match settings.log_format.value {
        LogFormat::Text => builder.with_ansi(has_colors).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    guard
}
