//! `psrp copy`.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use psrp::io::{CopyOptions, copy_from, copy_to};
use psrp::{Error, ErrorKind};

use crate::args::CopyArgs;
use crate::connect;
use crate::exit::{Exit, Failure};
use crate::interrupts::Interrupts;
use crate::run::{PipelineRunner, console, deadline, expired};

#[derive(Debug, PartialEq, Eq)]
enum Direction<'a> {
    To { local: &'a Path, remote: String },
    From { remote: String, local: &'a Path },
}

impl<'a> Direction<'a> {
    fn parse(source: &'a OsStr, destination: &'a OsStr) -> anyhow::Result<Self> {
        match (remote(source), remote(destination)) {
            (None, Some(remote)) => Ok(Self::To { local: Path::new(source), remote }),
            (Some(remote), None) => Ok(Self::From { remote, local: Path::new(destination) }),
            _ => bail!("either SOURCE or DESTINATION must begin with `:`, which marks a path on the server"),
        }
    }
}

/// Returns the path after a leading colon. A colon alone is the session's current location.
fn remote(path: &OsStr) -> Option<String> {
    let text = path.to_string_lossy();
    text.strip_prefix(':').map(|path| if path.is_empty() { "." } else { path }.to_owned())
}

pub(crate) async fn copy(args: CopyArgs) -> Result<Exit, Failure> {
    let direction = Direction::parse(&args.source, &args.destination).map_err(Failure::usage)?;
    if let Direction::To { local, .. } = &direction {
        // Fails early, before a password prompt.
        let found = std::fs::metadata(local);
        found.with_context(|| format!("can't read {}", local.display())).map_err(Failure::usage)?;
    }
    let interrupts = Interrupts::catch().map_err(Failure::usage)?;
    let host = console(&args.display).stdio();
    let pool = connect::open(&args.target, &host, &interrupts).await?;
    let bar = bar(args.display.no_progress);
    let options = CopyOptions::new().overwrite(args.force).on_progress(|copied, total| {
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(copied);
    });
    let copying = async {
        match &direction {
            Direction::To { local, remote } => copy_to(&pool, local, remote.as_str(), options).await,
            Direction::From { remote, local } => copy_from(&pool, remote.as_str(), local, options).await,
        }
    };
    let deadline = deadline(args.timeout.map(Duration::from_secs));
    let result = tokio::select! {
        copied = copying => copied.map_err(failure),
        () = expired(deadline) => {
            Err(Failure::new(Exit::TimedOut, anyhow::anyhow!("the copy takes longer than --timeout")))
        }
        () = interrupts.wait() => Err(Failure::interrupted()),
        () = host.interrupted() => Err(Failure::interrupted()),
    };
    bar.finish_and_clear();
    let runner = PipelineRunner::new(host, interrupts);
    // Closing waits for the script to remove an incomplete file.
    runner.close(&pool).await;
    result.map(|_| Exit::Ok)
}

fn failure(error: Error) -> Failure {
    let exit = match error.kind() {
        ErrorKind::Io => Exit::Usage,
        ErrorKind::Pipeline | ErrorKind::Corrupt => Exit::Errors,
        _ => Exit::Connection,
    };
    Failure::new(exit, error)
}

/// Creates a progress bar on standard error. It is hidden if that is no terminal.
fn bar(is_hidden: bool) -> ProgressBar {
    let target = if is_hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let style =
        ProgressStyle::with_template("{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
    let bar = ProgressBar::with_draw_target(None, target);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse<'a>(source: &'a str, destination: &'a str) -> Option<Direction<'a>> {
        Direction::parse(source.as_ref(), destination.as_ref()).ok()
    }

    #[test]
    fn a_colon_marks_the_server() {
        let (local, remote) = (Path::new("a"), "/b".to_owned());
        assert_eq!(parse("a", ":/b"), Some(Direction::To { local, remote: remote.clone() }));
        assert_eq!(parse(":/b", "a"), Some(Direction::From { remote, local }));
        assert_eq!(parse("a", ":"), Some(Direction::To { local, remote: ".".into() }));
        let local = Path::new("./:a");
        assert_eq!(parse("./:a", r":C:\b"), Some(Direction::To { local, remote: r"C:\b".into() }));
        assert_eq!((parse("a", "b"), parse(":a", ":b"), parse(r"C:\a", "b")), (None, None, None));
    }
}
