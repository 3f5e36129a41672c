//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  psrp run 'Get-Date'                                  PowerShell on this machine, as `pwsh -s`
  psrp run --child 'pwsh-preview -s -NoLogo' '1..3'    another program
  psrp run --ssh ada@server.example.org 'Get-Process'  the subsystem `powershell` of an SSH server
  psrp run --wsman https://server.example.org --user ada 'Get-Service'
  psrp run --pid 4242 '$PID'                           a PowerShell that runs already
  psrp run --json 'Get-ChildItem' | jq .Name           one JSON value for each object
  cat names | psrp run --input lines '$input | ForEach-Object { $_.ToUpper() }'
  psrp shell --ssh ada@server.example.org              one line after the other
  psrp copy --ssh ada@server.example.org app.zip :/srv/deploy    to the server
  psrp copy --ssh ada@server.example.org :/var/log/app.log .     from the server
  pwsh -NoProfile -Command - < a.ps1 2>&1 | psrp clixml

Exit codes:
  0    the pipeline completed without errors; the file was copied
  1    it failed, wrote errors, or was stopped by the server
  2    the command line, a file that it names, or the input makes no sense
  3    there is no connection, or it broke
  130  Ctrl+C: the first stops the pipeline, the second ends the program
  A script that calls `exit N` ends the program with N.";

/// Runs scripts on PowerShell servers: child processes, SSH, WSMan, processes that run already.
#[derive(Debug, Parser)]
#[command(name = "psrp", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs one script and prints what it gives.
    Run(RunArgs),
    /// Runs what is typed, line by line; Tab completes, Ctrl+D or `exit` leaves.
    Shell(ShellArgs),
    /// Copies a file to or from the server, and compares the SHA-256 of both.
    Copy(CopyArgs),
    /// Makes the `#< CLIXML` in what PowerShell wrote to a pipe readable, from standard input.
    Clixml(ClixmlArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The script; `-` reads it from standard input.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub(crate) script: Option<String>,

    /// A file with the script.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Prints a JSON value in a line for each object of the output, or with `all` for everything: an object with
    /// `stream` and `value`.
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "output")]
    pub(crate) json: Option<JsonStreams>,

    /// Adds type names and text forms to the objects in JSON.
    #[arg(long, requires = "json")]
    pub(crate) types: bool,

    /// Sends standard input to the pipeline: each line as a string, or one object for each JSON value.
    #[arg(long, value_name = "FORM")]
    pub(crate) input: Option<InputForm>,

    /// Lets the server lay out objects as text, as at its own console (`Out-String -Stream`).
    #[arg(long, conflicts_with = "json")]
    pub(crate) out_string: bool,

    #[command(flatten)]
    pub(crate) look: LookArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    /// Shows the text of objects as they come instead of what `Out-String -Stream` makes of them.
    #[arg(long)]
    pub(crate) plain: bool,

    /// File for the history; an empty name keeps none. Default: that of the variable PSRP_HISTORY, else `psrp/history` in
    /// the user's folder for state, such as `~/.local/state`.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<OsString>,

    #[command(flatten)]
    pub(crate) look: LookArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// The file to copy; `:PATH` is a file at the server, `./:NAME` a local one with a colon.
    pub(crate) source: OsString,

    /// The new file or an existing directory; `:PATH` is at the server. One of the two paths has to be.
    pub(crate) destination: OsString,

    /// Overwrites an existing file.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) look: LookArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ClixmlArgs {
    /// Prints a JSON object with `stream` and `value` in a line for each text and record.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LookArgs {
    /// Whether there are colours.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,

    /// Shows no bars of progress.
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// Where the server is; PowerShell on this machine (`pwsh -s -NoLogo -NoProfile`) if nothing is said.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where the server is")]
pub(crate) struct TargetArgs {
    /// Starts this command, which talks by its standard input and output. Words are split as in a shell; nothing is
    /// expanded. Default: `pwsh -s -NoLogo -NoProfile`.
    #[arg(long, value_name = "CMD", group = "where")]
    pub(crate) child: Option<String>,

    /// Leaves the command in the foreground: it may ask at the terminal, and Ctrl+C reaches it too.
    #[arg(long, conflicts_with_all = ["ssh", "socket", "pid", "wsman"])]
    pub(crate) foreground: bool,

    /// Connects to the subsystem `powershell` of an SSH server.
    #[arg(long, value_name = "[USER@]HOST[:PORT]", group = "where")]
    pub(crate) ssh: Option<String>,

    /// A file with the private key for SSH. Default: the agent and the usual files.
    #[arg(long, value_name = "FILE", requires = "ssh")]
    pub(crate) identity: Vec<PathBuf>,

    /// Accepts the key of an SSH server that was never met, and remembers it.
    #[arg(long, requires = "ssh")]
    pub(crate) accept_new: bool,

    /// Connects to a socket of this path.
    #[arg(long, value_name = "PATH", group = "where")]
    pub(crate) socket: Option<PathBuf>,

    /// Connects to the PowerShell process of this number.
    #[arg(long, value_name = "PID", group = "where")]
    pub(crate) pid: Option<u32>,

    /// Connects by WSMan (WinRM): https://HOST, with port 5986 and the path /wsman if there are no others, or
    /// http://HOST, with port 5985.
    #[arg(long, value_name = "URL", group = "where", requires = "user")]
    pub(crate) wsman: Option<String>,

    /// How to log in by WSMan.
    #[arg(long, value_name = "HOW", requires = "wsman", default_value = "kerberos")]
    pub(crate) auth: WsmanAuth,

    /// A file with certificates in PEM of the authorities to trust by WSMan, in place of the usual ones.
    #[arg(long, value_name = "FILE", requires = "wsman")]
    pub(crate) ca: Option<PathBuf>,

    /// Name of the user, for SSH and WSMan.
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,

    /// A file whose first line is the password. Default: what the variable PSRP_PASSWORD has, else it is asked for. There is no option with the password itself: everyone on the machine
    /// could read it.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,

    /// How long connecting may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) connect_timeout: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JsonStreams {
    /// The output alone; everything else is text on the error output.
    Output,
    /// All streams.
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputForm {
    /// Each line is a string.
    Lines,
    /// JSON values, one after the other.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// At a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WsmanAuth {
    /// Kerberos.
    Kerberos,
    /// NTLM, which does not prove the identity of the server.
    Ntlm,
    /// Kerberos where it works, else NTLM.
    KerberosOrNtlm,
    /// Name and password as they are; over HTTPS alone.
    Basic,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        let words = shlex::split(line).unwrap();
        Cli::try_parse_from(std::iter::once("psrp".to_owned()).chain(words))
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_script_is_needed_once() {
        assert!(parse("run 1").is_ok());
        assert!(parse("run --file a.ps1").is_ok());
        assert!(parse("run").is_err());
        assert!(parse("run --file a.ps1 1").is_err());
    }

    #[test]
    fn there_is_one_server() {
        assert!(parse("run --ssh a@b --socket c 1").is_err());
        assert!(parse("run --child a --pid 1 1").is_err());
        assert!(parse("run --wsman https://example.org 1").is_err(), "who logs in?");
        assert!(parse("run --identity key 1").is_err());
        assert!(parse("run --ssh a@b --foreground 1").is_err());
    }

    #[test]
    fn json_takes_its_word_with_an_equals_sign() {
        let Command::Run(args) = parse("run --json 1").unwrap().command else { panic!() };
        assert_eq!((args.json, args.script.as_deref()), (Some(JsonStreams::Output), Some("1")));
        let Command::Run(args) = parse("run --json=all 1").unwrap().command else { panic!() };
        assert_eq!(args.json, Some(JsonStreams::All));
        assert!(parse("run --types 1").is_err());
    }
}
