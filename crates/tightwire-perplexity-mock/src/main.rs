//! `perplexity-mock`: serves a scenario until it is stopped.

use std::ffi::OsString;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt};
use tightwire_perplexity_mock::{Auth, Config, Mock, Scenario};

const HELP: &str = "\
Mock server of the Perplexity API with fault injection, for client tests.

usage: perplexity-mock [OPTION...]

  --port PORT        Port to listen on; 0 selects a free port [default: 0]
  --host ADDRESS     Address to listen on [default: 127.0.0.1]
  --scenario FILE    Scenario file to serve [default: the built-in scenario]
  --chat             Serve chat completions, which otherwise get status 403
  --no-auth          Accept requests without an API key
  --quiet            Do not print the requests
  -h, --help         Print this text

The built-in scenario injects a fault if the request has the header x-mock-case; see scenarios/default.toml.
";

struct Options {
    address: SocketAddr,
    scenario: Option<PathBuf>,
    has_chat: bool,
    needs_key: bool,
    is_quiet: bool,
}

fn main() -> ExitCode {
    let outcome = options(std::env::args_os().skip(1)).and_then(|options| match options {
        Some(options) => run(&options),
        None => Ok(io::stdout().write_all(HELP.as_bytes())?),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If stderr is closed, the exit code is the only way left to report the error.
            let _ = writeln!(io::stderr(), "perplexity-mock: {}", chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text += &format!(": {error}");
        source = error.source();
    }
    text
}

/// Parses the command line. Returns `None` for `--help`.
fn options(arguments: impl Iterator<Item = OsString>) -> Outcome<Option<Options>> {
    let mut parser = Parser::from_args(arguments);
    let (mut host, mut port) = (IpAddr::V4(Ipv4Addr::LOCALHOST), 0_u16);
    let (mut scenario, mut has_chat, mut needs_key, mut is_quiet) = (None, false, true, false);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("port") => port = parser.value()?.parse()?,
            Arg::Long("host") => host = parser.value()?.parse()?,
            Arg::Long("scenario") => scenario = Some(PathBuf::from(parser.value()?)),
            Arg::Long("chat") => has_chat = true,
            Arg::Long("no-auth") => needs_key = false,
            Arg::Long("quiet") => is_quiet = true,
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(Some(Options { address: SocketAddr::new(host, port), scenario, has_chat, needs_key, is_quiet }))
}

fn run(options: &Options) -> Outcome<()> {
    let mut scenario = match &options.scenario {
        Some(path) => Scenario::load(path)?,
        None => Scenario::default(),
    };
    if options.has_chat {
        scenario = scenario.chat(true);
    }
    if !options.needs_key {
        scenario = scenario.auth(Auth::Off);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mock =
            Mock::start_with(scenario, Config { address: options.address, ..Config::default() }).await?;
        let mut out = io::stdout();
        writeln!(out, "listening on {}", mock.url())?;
        let mut seen = 0;
        loop {
            seen = mock.wait_for(|counts| counts.requests > seen).await.requests;
            for request in mock.take_requests() {
                if !options.is_quiet {
                    writeln!(out, "{} {}", request.method, request.target)?;
                }
            }
        }
    })
}
