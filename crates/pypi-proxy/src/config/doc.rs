//! The documentation of the settings, made of their table.

use std::fmt::Write as _;

use super::settings::Settings;
use super::table::Setting;

/// A page in Markdown about all settings.
pub fn document() -> String {
    let mut out = HEAD.to_owned();
    let mut group = "";
    for setting in Settings::table() {
        if setting.group != group {
            group = setting.group;
            // Writing into a string does not fail.
            let _ = write!(out, "\n## {group}\n");
            if setting.is_bucket() {
                out += "\nSee [pypi-proxy-bucket.md](pypi-proxy-bucket.md) for what is stored there, and what happens if the \
                        bucket fails.\n";
            }
        }
        describe(setting, &mut out);
    }
    out
}

fn describe(setting: &Setting, out: &mut String) {
    let Setting { name, form, default, help, .. } = setting;
    let _ = write!(out, "\n### `{name}`\n\n{help}\n\n- takes {form}\n");
    if !default.is_empty() {
        let _ = writeln!(out, "- default: `{default}`");
    }
    if let Some(flag) = setting.flag() {
        let _ = writeln!(out, "- flag: `--{flag}`");
    }
    let others = setting.groxpi.iter().chain(setting.proxpi).map(|name| (*name).to_owned());
    let variables: Vec<_> =
        std::iter::once(setting.variable()).chain(others).map(|name| format!("`{name}`")).collect();
    let _ = writeln!(out, "- variables: {}", variables.join(", "));
}

const HEAD: &str = "\
# Settings of pypi-proxy

This page is made of the table of settings that the program reads; `pypi-proxy config` prints their values.

A setting has one name: `index_url` in a file, `--index-url` as a flag, `PYPI_PROXY_INDEX_URL` as a variable of the
environment. The first of these places that has a value wins:

1. the flag;
2. the variable that begins with `PYPI_PROXY_`;
3. the variable of groxpi: those that begin with `GROXPI_`, `HOST`, `PORT`, and those of AWS;
4. the variable of proxpi: those that begin with `PROXPI_`, and `NO_COLOR`;
5. the file in TOML: `--config FILE`, or the one that `PYPI_PROXY_CONFIG` names, or
   `~/.config/pypi-proxy/config.toml`, or `/etc/pypi-proxy/config.toml`;
6. the default.

A variable that is empty counts as not set. A variable with one of the three prefixes, a flag or a key of the file that is
not known is an error, and so is a value that can't be read; all errors are told at once, without the values. What
Kubernetes sets for services that are called as one of the proxies is passed over.

Without `index_url`, the index is the one that pip or uv of the machine is configured with (`PIP_INDEX_URL`, the files of
pip, `UV_DEFAULT_INDEX`, `UV_INDEX_URL`, the files of uv), else the default of the pip of `python3` or `python`.

Users and passwords of an index stand in its URL, or in the file that `NETRC` names, or in `~/.netrc`; they are shown
nowhere. Proxies are those of `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`. Certificates are trusted as the system
has them, or as `SSL_CERT_FILE` and `SSL_CERT_DIR` say.

Without `file_hosts`, neither a page nor a redirect leads to a private address, except that of the index itself and, for an
index on a loopback address, this machine. An HTTP proxy resolves names itself: addresses in URLs are still checked, but
not what a name resolves to. Behind such a proxy set `file_hosts`, or have the proxy refuse private addresses.

The program ends with 0 if all is well, with 1 if its work has failed, and with 2 if it was called or configured wrongly.
";
