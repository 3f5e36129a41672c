//! Command line arguments.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use uuid::Uuid;

use crate::encoding::CodePage;

const EXAMPLES: &str = "\
Examples:
  psrp run 'Get-Date'                                  on this machine, with `pwsh -s`
  psrp run --child 'pwsh-preview -s -NoLogo' '1..3'    with another command
  psrp run --ssh ada@server.example.org 'Get-Process'  over SSH
  psrp run --wsman https://server.example.org --user ada 'Get-Service'
  psrp run --pid 4242 '$PID'                           in a running PowerShell process
  psrp run --hosts servers.txt 'Get-Date'              on many servers
  psrp run --json 'Get-ChildItem' | jq .Name           one JSON value per output object
  psrp run --file deploy.ps1 -- -Target web1 -Force    with arguments
  cat names | psrp run --input lines '$input | ForEach-Object { $_.ToUpper() }'
  psrp run --wsman https://server.example.org --user ada --disconnect -f long.ps1
  psrp receive --wsman https://server.example.org --user ada ID
  psrp shell --ssh ada@server.example.org              interactive session
  psrp copy --ssh ada@server.example.org app.zip :/srv/deploy    upload
  psrp copy --ssh ada@server.example.org :/var/log/app.log .     download
  psrp copy -r -s ada@server.example.org site docs :/srv         directories
  pwsh -NoProfile -Command - < a.ps1 2>&1 | psrp clixml

Exit codes:
  0    the pipeline completed without errors, or the file was copied
  1    the pipeline failed, wrote errors, or was stopped by the server
  2    invalid command line, input, or local file
  3    connection failed or lost
  124  stopped because of --timeout
  130  Ctrl+C: the first stops the pipeline, the second exits at once
  With --hosts: 0 if all hosts succeeded, else 3 if a connection failed, else 1.
  A script that calls `exit N` exits the program with N.";

/// Run PowerShell scripts over child processes, SSH, WSMan or sockets
#[derive(Debug, Parser)]
#[command(name = "psrp", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a script and print its output
    Run(RunArgs),
    /// Run scripts interactively (Tab completes, Ctrl+D or `exit` leaves)
    Shell(ShellArgs),
    /// List the sessions of a WSMan service
    Sessions(SessionsArgs),
    /// Connect to a disconnected session, print the output of its script, and close it
    Receive(ReceiveArgs),
    /// Copy files to or from the server and verify their SHA-256
    Copy(CopyArgs),
    /// Convert `#< CLIXML` documents on standard input to text
    Clixml(ClixmlArgs),
    /// Print a script that completes command lines in a shell
    Completions {
        /// Shell that runs the script
        shell: Shell,
    },
    /// Write the manual pages into a directory
    #[command(hide = true)]
    Man {
        directory: PathBuf,
        /// Date of the pages, such as 2026-11-26
        date: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Script to run; `-` reads it from standard input. With --file, the first argument
    #[arg(required_unless_present = "file")]
    pub(crate) script: Option<String>,

    /// Arguments of the script, as strings
    ///
    /// After `--`, `-Name VALUE` and `-Name:VALUE` are named parameters. A name that is followed by another one or by
    /// nothing is a switch, like `-Name:$true`.
    #[arg(value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,

    /// More arguments, as a JSON array: `[1, true, {"Name": "sshd"}]`
    #[arg(short, long, value_name = "JSON")]
    pub(crate) argument_list: Option<String>,

    /// Read the script from a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Send standard input to the pipeline
    #[arg(long, value_name = "FORM")]
    pub(crate) input: Option<InputFormat>,

    /// Format objects as text on the server (`Out-String -Stream`)
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) out_string: bool,

    /// Start the script, disconnect, and print the session ID for `psrp receive` (WSMan)
    ///
    /// The script runs on. Of more output than the server buffers, `block` makes the script wait for a client, and `drop`
    /// discards the oldest.
    #[arg(
        long,
        value_name = "BUFFER",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "block",
        requires = "over_wsman",
        conflicts_with_all = ["input", "json", "timeout"]
    )]
    pub(crate) disconnect: Option<BufferMode>,

    /// Run the script on all hosts of a file, one per line
    ///
    /// A host is `[USER@]HOST[:PORT]` for SSH, a URL for WSMan, or the path of a socket, which has a slash. Empty lines
    /// and lines that start with `#` are skipped. Each line of output starts with its host. A summary with exit codes
    /// follows.
    #[arg(
        short = 'H', long,
        value_name = "FILE",
        groups = ["server", "over_ssh", "over_wsman"],
        conflicts_with_all = ["input", "foreground"],
        help_heading = "Server"
    )]
    pub(crate) hosts: Option<PathBuf>,

    /// Maximum number of hosts at a time
    #[arg(
        short = 'P',
        long,
        value_name = "COUNT",
        requires = "hosts",
        default_value = "16",
        help_heading = "Server"
    )]
    pub(crate) parallel: NonZeroUsize,

    #[command(flatten)]
    pub(crate) display: DisplayArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

impl RunArgs {
    /// Returns the script of the command line, or `-`.
    pub(crate) fn inline_script(&self) -> Option<&str> {
        self.script.as_deref().filter(|_| self.file.is_none())
    }
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print JSON, one value per line: the output, or `all` streams
    #[arg(short, long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "output")]
    pub(crate) json: Option<JsonStreams>,

    /// Add type names and text forms to JSON objects
    #[arg(long, requires = "json")]
    pub(crate) types: bool,

    /// Stop the script after this time, in seconds
    #[arg(short, long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    /// Print JSON, one object per line
    #[arg(short, long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReceiveArgs {
    /// Session ID, as printed by `run --disconnect` and `sessions`
    pub(crate) id: Uuid,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) display: DisplayArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    /// Connect to a disconnected session instead of opening one (WSMan)
    #[arg(long, value_name = "ID", requires = "over_wsman")]
    pub(crate) session: Option<Uuid>,

    /// Show the text of objects instead of formatting them with `Out-String -Stream`
    #[arg(long)]
    pub(crate) plain: bool,

    /// History file; empty for none [default: $PSRP_HISTORY or psrp/history]
    ///
    /// The default file is `psrp/history` in the user's state directory, such as `~/.local/state`.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<OsString>,

    #[command(flatten)]
    pub(crate) display: DisplayArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
#[command(override_usage = "psrp copy [OPTIONS] <SOURCE>... <DESTINATION>")]
pub(crate) struct CopyArgs {
    /// Source files, then a new file or an existing directory
    ///
    /// `:PATH` is on the server, `./:NAME` a local name with a colon, `-` standard input or output. Either all sources or
    /// the destination must be on the server.
    // One argument, because clap rejects leading dashes after `--` for the first of two.
    #[arg(required = true, num_args = 1.., value_names = ["SOURCE", "DESTINATION"])]
    pub(crate) paths: Vec<OsString>,

    /// Copy directories with their contents
    #[arg(short, long)]
    pub(crate) recursive: bool,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub(crate) force: bool,

    /// Stop copying after this time, in seconds
    #[arg(short, long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,

    #[command(flatten)]
    pub(crate) display: DisplayArgs,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ClixmlArgs {
    /// Print each text and record as a JSON object with `stream` and `value`
    #[arg(long)]
    pub(crate) json: bool,

    /// Encoding of the input, for example 850 or shift_jis; a byte order mark overrides it
    ///
    /// A code page number of Windows or a name. `powershell.exe` writes its error output in the code page of the console.
    #[arg(long, value_name = "NAME", default_value = "utf-8", value_parser = CodePage::parse)]
    pub(crate) encoding: CodePage,
}

#[derive(Debug, Args)]
pub(crate) struct DisplayArgs {
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,

    /// Hide progress bars
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// Server options. The default is PowerShell on this machine.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct TargetArgs {
    /// Start a command as the server [default: pwsh -s -NoLogo -NoProfile]
    ///
    /// It communicates over its standard input and output. It is split into words like in a shell, without expansions.
    #[arg(long, value_name = "CMD", group = "server")]
    pub(crate) child: Option<String>,

    /// Run the command in the foreground: it can prompt and receives Ctrl+C
    #[arg(long, conflicts_with_all = ["ssh", "socket", "pid", "wsman"])]
    pub(crate) foreground: bool,

    /// Connect over SSH, with the settings of ~/.ssh/config for the host
    #[arg(short, long, value_name = "[USER@]HOST[:PORT]", groups = ["server", "over_ssh"])]
    pub(crate) ssh: Option<String>,

    /// Private key file for SSH [default: the agent and the usual files]
    #[arg(short, long, value_name = "FILE", requires = "over_ssh")]
    pub(crate) identity: Vec<PathBuf>,

    /// Name of the SSH subsystem [default: powershell]
    #[arg(long, value_name = "NAME", requires = "over_ssh")]
    pub(crate) subsystem: Option<String>,

    /// Connect to the SSH server through another one
    #[arg(short = 'J', long, value_name = "[USER@]HOST[:PORT]", requires = "over_ssh")]
    pub(crate) jump: Option<String>,

    /// OpenSSH configuration file [default: ~/.ssh/config]
    ///
    /// `HostName`, `User`, `Port`, `IdentityFile`, `ProxyJump` and `Include` are read.
    #[arg(short = 'F', long, value_name = "FILE", requires = "over_ssh")]
    pub(crate) ssh_config: Option<PathBuf>,

    /// Trust and save unknown SSH host keys on first use
    #[arg(long, requires = "over_ssh")]
    pub(crate) accept_new: bool,

    /// Connect to a socket
    #[arg(long, value_name = "PATH", group = "server")]
    pub(crate) socket: Option<PathBuf>,

    /// Connect to the PowerShell process with this process identifier
    #[arg(long, value_name = "PID", group = "server")]
    pub(crate) pid: Option<u32>,

    /// Connect over WSMan (WinRM): https://HOST or http://HOST
    ///
    /// The default ports are 5986 for HTTPS and 5985 for HTTP, the default path is /wsman.
    #[arg(short, long, value_name = "URL", groups = ["server", "over_wsman"], requires = "login")]
    pub(crate) wsman: Option<String>,

    /// WSMan session configuration (endpoint), such as PowerShell.7 [default: Microsoft.PowerShell]
    #[arg(long, value_name = "NAME", requires = "over_wsman")]
    pub(crate) configuration: Option<String>,

    /// Time for which a WSMan service may hold a request without output, in seconds
    #[arg(long, value_name = "SECONDS", requires = "over_wsman", default_value_t = 20)]
    pub(crate) operation_timeout: u64,

    /// Further attempts to connect to a WSMan service, also in the middle of a session
    #[arg(long, value_name = "COUNT", requires = "over_wsman", default_value_t = 0)]
    pub(crate) connect_retries: u32,

    /// HTTP proxy for WSMan: http://[USER:PASSWORD@]HOST:PORT [default: $PSRP_PROXY]
    ///
    /// Set the variable if there is a password, because other users can read the command line.
    #[arg(long, value_name = "URL", requires = "over_wsman")]
    pub(crate) proxy: Option<String>,

    /// WSMan authentication
    #[arg(long, value_name = "HOW", requires = "over_wsman", default_value = "kerberos")]
    pub(crate) auth: WsmanAuth,

    /// PEM file of trusted certificates for WSMan instead of the default authorities
    ///
    /// The certificates of authorities, or the server's own certificate.
    #[arg(long, value_name = "FILE", requires = "over_wsman")]
    pub(crate) ca: Option<PathBuf>,

    /// Accept any certificate of a WSMan server: anyone on the network path can impersonate it
    #[arg(long, requires = "over_wsman", conflicts_with = "ca")]
    pub(crate) insecure_skip_verify: bool,

    /// Client certificate for WSMan over HTTPS instead of a user name (PEM file)
    #[arg(long, value_name = "FILE", group = "login", requires = "over_wsman", conflicts_with = "auth")]
    pub(crate) certificate: Option<PathBuf>,

    /// Unencrypted private key of the certificate (PEM file) [default: in the file of the certificate]
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) certificate_key: Option<PathBuf>,

    /// Buffer mode of `run --disconnect`.
    #[arg(skip)]
    pub(crate) buffer_mode: Option<BufferMode>,

    /// User name for SSH and WSMan
    #[arg(short, long, value_name = "NAME", group = "login")]
    pub(crate) user: Option<String>,

    /// File with the password in its first line [default: $PSRP_PASSWORD or a prompt]
    ///
    /// There is no option for the password itself, because other users could read it.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,

    /// Connect timeout in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub(crate) connect_timeout: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JsonStreams {
    /// Output only; other streams are text on standard error
    Output,
    /// All streams
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BufferMode {
    /// The script waits
    Block,
    /// The oldest output is discarded
    Drop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Each line as a string
    Lines,
    /// Each JSON value as an object
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WsmanAuth {
    /// Kerberos
    Kerberos,
    /// NTLM, which does not authenticate the server
    Ntlm,
    /// Kerberos, or NTLM if it fails
    KerberosOrNtlm,
    /// Unencrypted name and password, HTTPS only
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
    fn clap_accepts_the_definitions() {
        Cli::command().debug_assert();
    }

    #[test]
    fn exactly_one_script_is_required() {
        assert!(parse("run 1").is_ok());
        assert!(parse("run --file a.ps1").is_ok());
        assert!(parse("run").is_err());
        let Command::Run(args) = parse("run --file a.ps1 1 2").unwrap().command else { panic!() };
        assert_eq!((args.inline_script(), args.arguments.len()), (None, 1));
    }

    #[test]
    fn exactly_one_server_is_allowed() {
        assert!(parse("run --ssh a@b --socket c 1").is_err());
        assert!(parse("run --child a --pid 1 1").is_err());
        assert!(parse("run --wsman https://example.org 1").is_err(), "--user or --certificate is required");
        assert!(parse("run --wsman https://a --certificate b --certificate-key c 1").is_ok());
        assert!(parse("run --wsman https://a --certificate b --user c 1").is_err());
        assert!(parse("run --wsman https://a --certificate b --auth basic 1").is_err());
        assert!(parse("run --ssh a --certificate b 1").is_err());
        assert!(parse("run --identity key 1").is_err());
        assert!(parse("run --ssh a@b --foreground 1").is_err());
        assert!(parse("run --ssh a@b --configuration c 1").is_err());
        assert!(parse("run --wsman https://a --user b --configuration c 1").is_ok());
    }

    #[test]
    fn short_options_equal_long_ones() {
        for (short, long) in [
            ("run -s a -i b -u c -j=all 1", "run --ssh a --identity b --user c --json=all 1"),
            ("run -H a -P 2 -f b -o", "run --hosts a --parallel 2 --file b --out-string"),
            ("run -w http://a -u b -j -a [] 1", "run --wsman http://a --user b --json --argument-list [] 1"),
            ("shell -s a -J b -F c", "shell --ssh a --jump b --ssh-config c"),
            ("copy -f -r -s a b c :d", "copy --force --recursive --ssh a b c :d"),
        ] {
            assert_eq!(format!("{:?}", parse(short).unwrap()), format!("{:?}", parse(long).unwrap()));
        }
    }

    #[test]
    fn hosts_replace_the_server() {
        let Command::Run(args) = parse("run --hosts a --user b --auth basic --accept-new 1").unwrap().command
        else {
            panic!()
        };
        assert_eq!((args.hosts, args.parallel.get()), (Some("a".into()), 16));
        for line in ["--hosts a --ssh b", "--hosts a --input lines", "--parallel 2", "--hosts a --parallel 0"]
        {
            assert!(parse(&format!("run {line} 1")).is_err(), "{line}");
        }
    }

    #[test]
    fn scripts_are_disconnected_over_wsman_only() {
        let mode = |words: &str| match parse(&format!("run {words} 1")).unwrap().command {
            Command::Run(args) => args.disconnect,
            _ => None,
        };
        assert_eq!(mode("--wsman https://a -u b --disconnect"), Some(BufferMode::Block));
        assert_eq!(mode("--hosts a -u b --disconnect=drop"), Some(BufferMode::Drop));
        for line in ["--ssh a --disconnect", "--wsman https://a -u b --disconnect --json"] {
            assert!(parse(&format!("run {line} 1")).is_err(), "{line}");
        }
        assert!(parse("receive --wsman https://a -u b x").is_err(), "not a session ID");
        assert!(parse("shell --session 00000000-0000-0000-0000-000000000001").is_err());
    }

    #[test]
    fn the_value_of_json_needs_an_equals_sign() {
        let Command::Run(args) = parse("run --json 1").unwrap().command else { panic!() };
        assert_eq!((args.output.json, args.script.as_deref()), (Some(JsonStreams::Output), Some("1")));
        let Command::Run(args) = parse("run --json=all 1").unwrap().command else { panic!() };
        assert_eq!(args.output.json, Some(JsonStreams::All));
        assert!(parse("run --types 1").is_err());
    }
}
