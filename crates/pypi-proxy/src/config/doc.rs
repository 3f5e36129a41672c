//! Markdown reference of the settings, generated from their table.

use std::fmt::Write as _;

use super::settings::Settings;
use super::table::Setting;

/// Returns the reference of all settings as a Markdown page.
pub fn document() -> String {
    let mut out = INTRODUCTION.to_owned();
    let mut group = "";
    for setting in Settings::table() {
        if setting.group != group {
            group = setting.group;
            // Writing to a string cannot fail.
            let _ = write!(out, "\n## {group}\n");
            if setting.is_bucket() {
                out += "\n[pypi-proxy-bucket.md](pypi-proxy-bucket.md) describes the contents of the bucket and what happens if it \
                        fails.\n";
            }
        }
        describe(setting, &mut out);
    }
    out
}

fn describe(setting: &Setting, out: &mut String) {
    let Setting { name, syntax, default, help, .. } = setting;
    let _ = write!(out, "\n### `{name}`\n\n{help}\n\n- value: {syntax}\n");
    if !default.is_empty() {
        let _ = writeln!(out, "- default: `{default}`");
    }
    if let Some(flag) = setting.flag() {
        let _ = writeln!(out, "- flag: `--{flag}`");
    }
    if setting.needs_restart() {
        *out += "- reload: a change takes effect after a restart\n";
    }
    let others = setting.groxpi.iter().chain(setting.proxpi).map(|name| (*name).to_owned());
    let own = std::iter::once(setting.variable()).chain(setting.file_variable());
    let variables: Vec<_> = own.chain(others).map(|name| format!("`{name}`")).collect();
    let _ = writeln!(out, "- variables: {}", variables.join(", "));
    if setting.is_of_index() {
        *out += "- may be set for a named index\n";
    }
}

const INTRODUCTION: &str = "\
# Settings of pypi-proxy

This page is generated from the table of settings in the program; `pypi-proxy config` prints their current values.

A setting has the same name everywhere: `index_url` in the configuration file, `--index-url` as a flag,
`PYPI_PROXY_INDEX_URL` as an environment variable. The first source with a value wins:

1. the flag;
2. the variable with the prefix `PYPI_PROXY_`;
3. the variable of groxpi: prefix `GROXPI_`, `HOST`, `PORT`, and those of AWS;
4. the variable of proxpi: prefix `PROXPI_`, and `NO_COLOR`;
5. the configuration file in TOML: `--config FILE`, or the path in `PYPI_PROXY_CONFIG`, or `~/.config/pypi-proxy/config.toml`,
   or `/etc/pypi-proxy/config.toml`; on Windows `%APPDATA%\\pypi-proxy\\config.toml`;
6. the file of defaults in TOML, whose path is in `PYPI_PROXY_DEFAULTS`: for images and packages;
7. the default.

An empty variable counts as not set. An unknown flag, key, or variable with the prefix `PYPI_PROXY_` is an error, and so is a
malformed value. The program reports all errors at once, without values, which may be secret. An unknown variable with the
prefix `GROXPI_` or `PROXPI_` causes a warning, which names the most similar variable. The variables that Kubernetes sets for
services named like one of the proxies are ignored.

A setting that may be secret can be in a file: the variable with the suffix `_FILE`, such as `PYPI_PROXY_ADMIN_TOKEN_FILE`, has
its path. The file has one line of at most 64 KiB; white space around it is ignored. Setting both variables is an error.

Without `index_url` (`pypi-proxy serve --index-url URL`, `PYPI_PROXY_INDEX_URL=URL`, or `index_url = \"URL\"` in the
configuration file), the program uses the first index found in `PIP_INDEX_URL`, `UV_DEFAULT_INDEX`, `UV_INDEX_URL` and the
configuration files of uv. Otherwise it runs `python3` or `python` to get the index of pip, configured or default.

Credentials of an index are read from its URL, otherwise from the file that `NETRC` names, otherwise from `~/.netrc`. They are
masked in all output. A changed file takes effect within 5 seconds.

SIGHUP reloads the settings ([operations.md](operations.md#reload)). Settings that need a restart say so below.
 `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` select HTTP proxies. The certificate
authorities of the system are trusted; `SSL_CERT_FILE` and `SSL_CERT_DIR` replace them.

Without `file_hosts`, the proxy never requests a private address because of a page or redirect, except that of the index
itself and, for an index on a loopback address, other loopback addresses. An HTTP proxy resolves host names itself: addresses
in URLs are still checked, but resolved addresses are not. Behind an HTTP proxy, set `file_hosts`, or configure that proxy to
reject private addresses.

The configuration file may define further indexes in tables:

    [index.torch-cu128]
    index_url = 'https://packages.example.org/whl/cu128'
    index_ttl = '1d'

This one is served below `/torch-cu128/simple/`. A name is that of a normalized project, such as `torch-cu128`, and not that of
another path of the proxy, such as `simple`. Only settings that *may be set for a named index* can be in such a table, and
`index_url` is required. All other values are those of the default index, except for its URLs, `private_indexes` and
`project_sources`. Memory and queue limits for pages apply to each index separately. There are no flags and variables for named
indexes.

Exit status: 0 for success, 1 if the command failed, 2 for wrong usage or configuration.
";
