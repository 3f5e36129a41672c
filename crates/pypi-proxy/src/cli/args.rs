//! Command line arguments.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, value_parser};
use pypi_proxy::config::{Setting, Settings};

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

pub(super) fn command() -> Command {
    let file = Arg::new("config")
        .long("config")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .global(true)
        .help("Configuration file in TOML");
    Command::new("pypi-proxy")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A caching proxy for Python package indexes")
        .after_help(
            "All settings are optional. They can also be set by environment variables (PYPI_PROXY_INDEX_URL for \
             --index-url; variables of groxpi and proxpi work, too) and in a configuration file. \
             Exit status: 0 for success, 1 if the command failed, 2 for wrong usage or configuration.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(file)
        .args(Settings::table().iter().filter_map(flag))
        .subcommand(Command::new("serve").about("Run the proxy until SIGTERM or SIGINT"))
        .subcommand(Command::new("check").about("Check the settings, the indexes, the cache and the bucket"))
        .subcommand(
            Command::new("healthcheck").about("Exit with 0 if the proxy with these settings responds"),
        )
        .subcommand(
            Command::new("config").about("Print all settings with their sources; secrets are masked").arg(
                Arg::new("toml")
                    .long("toml")
                    .action(ArgAction::SetTrue)
                    .help("Print a configuration file without secrets"),
            ),
        )
        .subcommand(warm())
        .subcommand(
            Command::new("gc")
                .about("Evict the least recently used files of the cache directory down to its maximum size")
                .long_about(
                    "Evict the least recently used files of the cache directory down to its maximum size. Files in a \
                     bucket are not removed.",
                )
                .arg(
                    Arg::new("unused")
                        .long("unused")
                        .value_name("DURATION")
                        .help("Also remove files not used for this long, such as 30d"),
                ),
        )
        .subcommand(
            Command::new("verify").about("Verify the hashes of all stored files and remove damaged files").arg(
                Arg::new("bucket")
                    .long("bucket")
                    .action(ArgAction::SetTrue)
                    .help("Verify the files in the bucket instead; proxies may run meanwhile"),
            ),
        )
        .subcommand(
            Command::new("stats")
                .about("Print the size of the cache directory, or the metrics of the proxy that uses it"),
        )
}

fn warm() -> Command {
    Command::new("warm")
        .about("Download the files of the given requirements into the cache")
        .long_about(
            "Download the files of the given requirements into the cache: those of the newest matching version, or those \
             with the given hashes. Dependencies are downloaded only if they are listed as well, as in the output of \
             `pip freeze` or `uv pip compile`.",
        )
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .help("Requirements file in the format of pip"),
        )
        .arg(
            Arg::new("proxy")
                .long("proxy")
                .value_name("URL")
                .help("Proxy whose cache is filled [default: the one that uses the cache directory]"),
        )
        .arg(
            Arg::new("match")
                .long("match")
                .value_name("TEXT")
                .action(ArgAction::Append)
                .help("Skip platform wheels without this text in their names, such as cp313"),
        )
        .arg(
            Arg::new("jobs")
                .long("jobs")
                .value_name("COUNT")
                .default_value("8")
                .value_parser(value_parser!(u16).range(1..=256))
                .help("Maximum number of concurrent downloads"),
        )
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
        .global(true)
        .help_heading(setting.group)
        .hide_short_help(!COMMON.contains(&setting.name))
        .help(format!("{short}{default}"))
        .long_help(format!("{}{default}", setting.help.trim_end_matches('.')));
    // `--name` without a value means true.
    let is_bool = setting.syntax == "true or false";
    Some(if is_bool { arg.num_args(0..=1).require_equals(true).default_missing_value("true") } else { arg })
}
