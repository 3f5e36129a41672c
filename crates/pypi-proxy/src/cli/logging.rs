//! Logging to standard error.

use std::io::{self, IsTerminal as _};

use pypi_proxy::config::{Level, LogFormat, Settings};
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};

/// Maximum number of buffered lines. Further lines are dropped, so that logging never delays a response.
const BUFFERED_LINES: usize = 16_384;

/// Starts logging on a separate thread. Dropping the guard flushes the buffer.
pub(super) fn start(settings: &Settings) -> WorkerGuard {
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
    let has_colors = settings.log_color.value.map_or_else(|| io::stderr().is_terminal(), |color| color.0);
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(writer);
    match settings.log_format.value {
        LogFormat::Text => builder.with_ansi(has_colors).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    guard
}
