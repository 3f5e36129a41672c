//! Command line arguments.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Args, Subcommand, value_parser};
use clap_complete::Shell;
use pypi_proxy::config::{Setting, Settings, parse_duration};

/// Settings of the store, which all commands on the cache directory use. A bucket changes where the directory is.
const CACHE: [&str; 6] = [
    "cache_dir",
    "allow_shared_cache_dir",
    "cache_size",
    "storage_type",
    "local_cache_dir",
    "local_cache_size",
];
/// Settings of the listeners, with which commands find a running proxy.
const LISTENERS: [&str; 4] = ["listen", "admin_listen", "tls_cert", "tls_key"];

/// Returns whether a command uses a setting, so that it has its flag. All other sources of settings apply to all
/// commands.
fn uses(command: &str, setting: &Setting) -> bool {
    let is_one_of = |names: &[&str]| names.contains(&setting.name);
    let bucket = || setting.is_bucket() && !setting.is_ineffective();
    match command {
        "claims" | "gc" => is_one_of(&CACHE) || setting.name == "s3_bucket",
        "healthcheck" => is_one_of(&["listen", "tls_cert", "tls_key"]),
        "stats" => is_one_of(&CACHE) || is_one_of(&LISTENERS) || setting.name == "s3_bucket",
        "verify" => is_one_of(&CACHE) || bucket() || setting.name == "ca_files",
        "explain" | "export" | "import" | "warm" => match setting.group {
            "Serving" => command == "warm" && is_one_of(&LISTENERS),
            // No other clients use the temporary proxy of the command.
            "Access" => !setting.name.contains("auth") && !setting.name.starts_with("rate_limit"),
            "Log" => false,
            _ => !setting.is_ineffective(),
        },
        "completions" | "man" => false,
        // These read all settings.
        _ => true,
    }
}

/// Settings that `-h` shows; `--help` shows all.
const COMMON: [&str; 8] = [
    "listen",
    "index_url",
    "index_ttl",
    "extra_index_urls",
    "cache_dir",
    "cache_size",
    "logging_level",
    "log_format",
];

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the proxy until SIGTERM or SIGINT
    Serve,
    /// Check the settings, the indexes, the cache and the bucket
    Check,
    /// Explain which files of a project clients may use, and which rules forbid the others
    ///
    /// Uses the pages in the cache directory, even while a proxy uses it, and requests missing and expired pages from
    /// the indexes. Changes nothing.
    Explain {
        /// Project, or a version of it
        #[arg(value_name = "NAME[==VERSION]")]
        requirement: String,
    },
    /// Print the project names that private indexes claim, or remove some of them
    ///
    /// While a proxy uses the cache, DELETE /cache/NAME removes a name.
    Claims {
        /// Name to remove, so that other indexes may have the project
        #[arg(long, value_name = "NAME")]
        remove: Vec<String>,
    },
    /// Exit with 0 if the proxy with these settings responds
    Healthcheck,
    /// Print all settings with their sources; secrets are masked
    Config {
        /// Print a configuration file without secrets
        #[arg(long)]
        toml: bool,
    },
    Warm(Warm),
    Export(Export),
    Import(Import),
    /// Evict the least recently used files of the cache directory down to its maximum size
    ///
    /// Files in a bucket are not removed.
    Gc {
        /// Also remove files and pages not used for this long, such as 30d
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        unused: Option<Duration>,
    },
    /// Verify the hashes of all stored files and remove damaged files
    Verify {
        /// Verify the files in the bucket instead; proxies may run meanwhile
        #[arg(long)]
        bucket: bool,
        /// Verify the cached provenance of stored files instead; nothing is removed
        ///
        /// Statements, signatures and identities are checked. Not checked: whether Sigstore issued the certificates, and
        /// whether the signatures are in its transparency log, which requires a network.
        #[arg(long, conflicts_with = "bucket")]
        provenance: bool,
    },
    /// Print the size of the cache directory, or the metrics of the proxy that uses it
    Stats,
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

/// Download the files of lock files or requirements into the cache
///
/// Reads uv.lock, pylock.toml, poetry.lock, pdm.lock, Pipfile.lock and requirements files, by their names or otherwise
/// by their contents. Downloads the files with the given hashes, for all platforms, or else those of the newest matching
/// version. Dependencies are downloaded only if they are listed as well, as in lock files and in the output of
/// `pip freeze`. Files that are stored already are skipped, so a repeated command continues an interrupted one.
#[derive(Debug, Args)]
pub(super) struct Warm {
    /// Lock file, or requirements file in the format of pip
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// Proxy whose cache is filled [default: the one that uses the cache directory]
    #[arg(long, value_name = "URL")]
    pub(super) proxy: Option<String>,
    /// Named index to download from [default: the default index]
    #[arg(long, value_name = "NAME")]
    pub(super) index: Option<String>,
    /// Skip platform wheels without this text in their names, such as cp313
    #[arg(long = "match", value_name = "TEXT")]
    pub(super) texts: Vec<String>,
    /// Maximum number of concurrent downloads
    #[arg(long, value_name = "COUNT", default_value = "8", value_parser = value_parser!(u16).range(1..=256))]
    pub(super) jobs: u16,
}

/// Write the cached pages and files to an archive
///
/// No other program may use the cache meanwhile. The same cache results in the same bytes.
#[derive(Debug, Args)]
pub(super) struct Export {
    /// Archive to write: tar, compressed with zstd if its name ends with .zst
    #[arg(value_name = "ARCHIVE")]
    pub(super) archive: PathBuf,
    /// Export only the projects and files of this lock or requirements file [default: all]
    #[arg(long, value_name = "FILE")]
    pub(super) requirements: Vec<PathBuf>,
}

/// Add the pages and files of an archive to the cache
///
/// Everything is verified before it is stored. What the cache has already is skipped, so a repeated command continues an
/// interrupted one. No other program may use the cache meanwhile.
#[derive(Debug, Args)]
pub(super) struct Import {
    /// Archive that `pypi-proxy export` has written
    #[arg(value_name = "ARCHIVE")]
    pub(super) archive: PathBuf,
    /// Store pages of the index OLD as pages of the index NEW of this proxy [default: the one with the same URL]
    #[arg(long = "index", value_name = "OLD=NEW", value_parser = renamed)]
    pub(super) indexes: Vec<(String, String)>,
}

fn renamed(text: &str) -> Result<(String, String), &'static str> {
    // A URL can contain `=`.
    let (old, new) = text.split_once("=http").ok_or("expected two URLs, OLD=NEW")?;
    Ok((old.to_owned(), format!("http{new}")))
}

fn duration(text: &str) -> Result<Duration, &'static str> {
    parse_duration(text).ok_or("expected a duration, such as 30d")
}

pub(super) fn command() -> clap::Command {
    let file = Arg::new("config")
        .long("config")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .global(true)
        .help("Configuration file in TOML");
    let command = clap::Command::new("pypi-proxy")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A caching proxy for Python package indexes")
        .after_help(
            "All settings are optional. They are flags of the commands that use them (`pypi-proxy serve --help` lists \
             all), and can also be set by environment variables (PYPI_PROXY_INDEX_URL for --index-url; variables of \
             groxpi and proxpi work, too) and in a configuration file. \
             Exit status: 0 for success, 1 if the command failed, 2 for wrong usage or configuration.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(file);
    // Creating the flags of all commands would take most of the time of a start.
    Command::augment_subcommands(command).mut_subcommands(|command| command.defer(with_flags))
}

/// Adds the flags of the settings that a command uses.
fn with_flags(command: clap::Command) -> clap::Command {
    let name = command.get_name().to_owned();
    command.args(Settings::table().iter().filter(|setting| uses(&name, setting)).filter_map(flag))
}

fn flag(setting: &'static Setting) -> Option<Arg> {
    let default = match setting.default {
        "" => String::new(),
        default => format!(" [default: {default}]"),
    };
    let short = setting.help.split_once(". ").map_or(setting.help, |(first, _)| first).trim_end_matches('.');
    let arg = Arg::new(setting.name)
        .long(setting.flag()?)
        .value_name("VALUE")
        .help_heading(setting.group)
        .hide_short_help(!COMMON.contains(&setting.name))
        .help(format!("{short}{default}"))
        .long_help(format!("{}{default}", setting.help.trim_end_matches('.')));
    // `--name` without a value means true.
    let is_bool = setting.syntax == "true or false";
    Some(if is_bool { arg.num_args(0..=1).require_equals(true).default_missing_value("true") } else { arg })
}
