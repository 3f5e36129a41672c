//! What the program can be called with.

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
        .help("File of settings in TOML");
    Command::new("pypi-proxy")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A caching proxy for Python package indexes")
        .after_help(
            "All settings are optional, and can be given as variables (PYPI_PROXY_INDEX_URL for --index-url; those of \
             groxpi and proxpi are understood) and in a file. Ends with 0 if all is well, 1 if the work has failed, 2 if \
             called or configured wrongly.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(file)
        .args(Settings::table().iter().filter_map(flag))
        .subcommand(Command::new("serve").about("Serves until it gets SIGTERM or SIGINT"))
        .subcommand(
            Command::new("check")
                .about("Tells whether the settings are right, the indexes answer, and the cache can be used"),
        )
        .subcommand(
            Command::new("config").about("Prints all settings, each with its origin; secrets are masked").arg(
                Arg::new("toml")
                    .long("toml")
                    .action(ArgAction::SetTrue)
                    .help("Prints a file of settings instead, without secrets"),
            ),
        )
        .subcommand(warm())
        .subcommand(
            Command::new("gc").about("Removes the files of the folder that nobody wanted the longest, down to its size; what is in a bucket stays").arg(
                Arg::new("unused")
                    .long("unused")
                    .value_name("TIME")
                    .help("Removes all that nobody wanted for this long as well, such as 30d"),
            ),
        )
        .subcommand(
            Command::new("verify")
                .about("Reads all stored files, and removes those that are not what their hashes say")
                .arg(
                    Arg::new("bucket")
                        .long("bucket")
                        .action(ArgAction::SetTrue)
                        .help("Reads the files in the bucket, not those in the folder; proxies may serve meanwhile"),
                ),
        )
        .subcommand(Command::new("stats").about("Prints what is stored in the folder, and what a proxy that serves has done"))
}

fn warm() -> Command {
    Command::new("warm")
        .about("Fetches what files of requirements name, so that it is there when it is asked for")
        .long_about(
            "Fetches what files of requirements name, so that it is there when it is asked for: the newest version that \
             fits, or the files with the given hashes. What these depend on is fetched if the files name it as well, as \
             those of `pip freeze` or `uv pip compile` do.",
        )
        .arg(
            Arg::new("file")
                .value_name("FILE")
                .required(true)
                .num_args(1..)
                .value_parser(value_parser!(PathBuf))
                .help("File of requirements, as pip reads it"),
        )
        .arg(
            Arg::new("proxy")
                .long("proxy")
                .value_name("URL")
                .help("Has the proxy at this URL fetch them. Without it, the one that serves, or none"),
        )
        .arg(
            Arg::new("match").long("match").value_name("TEXT").action(ArgAction::Append).help(
                "Of the wheels for one platform, takes only those with this in their names, such as cp313",
            ),
        )
        .arg(
            Arg::new("jobs")
                .long("jobs")
                .value_name("COUNT")
                .default_value("8")
                .value_parser(value_parser!(u16).range(1..=256))
                .help("How many files are fetched at a time"),
        )
}

fn flag(setting: &'static Setting) -> Option<Arg> {
    let help = match setting.default {
        "" => setting.help.to_owned(),
        default => format!("{} [default: {default}]", setting.help),
    };
    let arg = Arg::new(setting.name)
        .long(setting.flag()?)
        .value_name("VALUE")
        .global(true)
        .help_heading(setting.group)
        .hide_short_help(!COMMON.contains(&setting.name))
        .help(help);
    // The name alone switches it on.
    let is_switch = setting.form == "true or false";
    Some(if is_switch { arg.num_args(0..=1).require_equals(true).default_missing_value("true") } else { arg })
}
