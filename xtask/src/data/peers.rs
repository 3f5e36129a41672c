//! `peers.toml`: how to build and run the programs in other languages.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Deserialize;

use crate::model::Role;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeersFile {
    #[serde(rename = "toolchain")]
    pub(crate) toolchains: Vec<Toolchain>,
    #[serde(rename = "peer", default)]
    pub(crate) peers: Vec<Peer>,
}

/// Settings for all peers of one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Toolchain {
    pub(crate) language: String,
    /// Command that prints the version. If it fails, the language is reported as missing.
    pub(crate) version: Vec<String>,
    /// Directory of the sources, relative to the root of the workspace.
    pub(crate) directory: String,
    /// True if the sources are copied to `{out}` and built and run there, because the tools install beside the
    /// sources.
    #[serde(default)]
    pub(crate) staged: bool,
    /// Commands that prepare the peers of the language.
    #[serde(default)]
    pub(crate) prepare: Vec<Vec<String>>,
}

/// One program with implementations of one suite's rows.
#[derive(Clone, Debug, Deserialize)]
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

/// Format that a run prints, or writes to `{output}` if the command names that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// `go test -bench`, names `BenchmarkRow/<row>/<implementation>`.
    GoBench,
    /// JSON of pyperf with one benchmark, whatever its name.
    Pyperf,
    /// The line protocol of `benches/README.md`.
    Lines,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Implementation {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    pub(crate) class: Option<String>,
    #[serde(default)]
    pub(crate) role: Role,
    /// Rows that it implements; by default all rows of the suite. `*` at the end matches any rest.
    rows: Option<Vec<String>>,
    /// Rows that it does not implement, or only too slowly.
    #[serde(default)]
    except: Vec<String>,
}

impl Implementation {
    /// Returns whether the implementation has the row (a key without the system).
    pub(crate) fn has(&self, row: &str) -> bool {
        let matches = |pattern: &String| super::matches(pattern, row);
        self.rows.as_ref().is_none_or(|rows| rows.iter().any(matches)) && !self.except.iter().any(matches)
    }
}

impl PeersFile {
    pub(crate) fn load(data: &Path) -> Result<Self> {
        let file: Self = super::load(data, "peers.toml")?;
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
        let file: PeersFile = crate::data::committed("peers.toml");
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
