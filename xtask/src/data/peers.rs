//! `peers.toml`: how the programs in other languages are built and run.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::report::Role;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeersFile {
    #[serde(rename = "toolchain")]
    pub(crate) toolchains: Vec<Toolchain>,
    #[serde(rename = "peer", default)]
    pub(crate) peers: Vec<Peer>,
}

/// What all peers of one language share.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Toolchain {
    pub(crate) language: String,
    /// Prints the version; the language counts as missing where it cannot be run.
    pub(crate) version: Vec<String>,
    /// Directory of the sources, relative to the root of the workspace.
    pub(crate) directory: String,
    /// Whether the sources are copied to `{out}` and built and run there, for tools that install beside the sources.
    #[serde(default)]
    pub(crate) staged: bool,
    /// Commands that make ready what all peers of the language need.
    #[serde(default)]
    pub(crate) prepare: Vec<Vec<String>>,
}

/// One program with implementations of one suite's rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Peer {
    pub(crate) id: String,
    pub(crate) language: String,
    /// The suite whose rows it implements.
    pub(crate) system: String,
    #[serde(default)]
    pub(crate) build: Vec<Vec<String>>,
    /// Runs one implementation of one row.
    pub(crate) run: Vec<String>,
    pub(crate) format: Format,
    #[serde(rename = "implementation")]
    pub(crate) implementations: Vec<Implementation>,
}

/// What a run prints, or writes to `{output}` where the command names that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// `go test -bench`, names `BenchmarkRow/<row>/<implementation>`.
    GoBench,
    /// JSON of pyperf with one benchmark, whatever its name.
    Pyperf,
    /// The line protocol.
    Lines,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Implementation {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) class: Option<String>,
    #[serde(default = "peer")]
    pub(crate) role: Role,
    /// Rows it implements; all rows of the suite unless given. `*` at the end stands for any rest.
    rows: Option<Vec<String>>,
    /// Rows it does not implement, or not within reason.
    #[serde(default)]
    except: Vec<String>,
}

fn peer() -> Role {
    Role::Peer
}

impl Implementation {
    /// Says whether the implementation has the row (the key without the system).
    pub(crate) fn has(&self, row: &str) -> bool {
        let matches = |pattern: &String| super::matches(pattern, row);
        self.rows.as_ref().is_none_or(|rows| rows.iter().any(matches)) && !self.except.iter().any(matches)
    }
}

impl PeersFile {
    pub(crate) fn load(data: &Path) -> Result<Self> {
        let file: Self = super::load(&data.join("peers.toml"))?;
        for peer in &file.peers {
            if !file.toolchains.iter().any(|toolchain| toolchain.language == peer.language) {
                bail!("peers.toml: {} is written in {}, which has no [[toolchain]]", peer.id, peer.language);
            }
        }
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_committed_file() {
        let file = PeersFile::load(&crate::data::committed()).unwrap();
        let languages: Vec<&str> = file.toolchains.iter().map(|one| one.language.as_str()).collect();
        assert_eq!(languages, ["go", "python", "node", "powershell", "rust"]);
    }

    #[test]
    fn rows_may_be_listed_or_excepted() {
        let implementation = |text: &str| toml::from_str::<Implementation>(text).unwrap();
        let all = implementation(r#"name = "a""#);
        assert!(all.has("x") && all.role == Role::Peer);
        let some = implementation(
            "name = \"a\"\nrole = \"original-standin\"\nrows = [\"decode_*\"]\nexcept = [\"decode_b\"]",
        );
        assert!(some.has("decode_a") && !some.has("decode_b") && !some.has("encode"));
        assert_eq!(some.role, Role::OriginalStandin);
    }
}
