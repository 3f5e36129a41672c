//! The log.

use std::io::{self, IsTerminal as _};

use pypi_proxy::config::{Level, LogFormat, Settings};
use tracing::level_filters::LevelFilter;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};

/// Lines that wait for being written. When there are more, some are lost: the log never holds up an answer.
const LINES: usize = 16_384;

/// Starts to log to standard error, on a thread. What is left is written when the guard goes.
pub(super) fn start(settings: &Settings) -> WorkerGuard {
    let (writer, guard) =
        NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LINES).finish(io::stderr());
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
