//! `peers.toml`: how to build and run the programs in other languages.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

use bench_report::model::{Missing, Role};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeersFile {
    #[serde(rename = "toolchain")]
    pub(crate) toolchains: Vec<Toolchain>,
    #[serde(rename = "peer", default)]
    pub(crate) peers: Vec<Peer>,
    /// Peers that cannot be had anywhere, with the reason.
    #[serde(default)]
    pub(crate) missing: Vec<Missing>,
}

/// Settings for all peers of one language.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Toolchain {
    pub(crate) language: String,
    /// Command that prints the version. If it fails, the language is reported as missing.
    pub(crate) version: Vec<String>,
    /// Where the command comes from, for the report of a missing language.
    pub(crate) package: String,
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
    pub(crate) language: String,
    /// The suite whose rows it implements.
    pub(crate) system: String,
    #[serde(default)]
    pub(crate) build: Vec<Vec<String>>,
    /// Command that starts the resident program.
    pub(crate) run: Vec<String>,
    /// Versions by name; those of standard libraries are that of the language.
    #[serde(default)]
    versions: BTreeMap<String, String>,
    #[serde(rename = "implementation")]
    entries: Vec<Entry>,
}

/// Implementations of the same class.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    names: Vec<String>,
    /// Appended to the names, if a row has an implementation in several forms.
    form: Option<String>,
    class: Option<String>,
    #[serde(default)]
    role: Role,
    #[serde(default = "all")]
    rows: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
}

fn all() -> Vec<String> {
    vec!["*".to_owned()]
}

/// One implementation, as the suites read it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Implementation {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    class: Option<String>,
    pub(crate) role: Role,
    /// Rows that it implements. `*` at the end matches any rest.
    pub(crate) rows: Vec<String>,
    /// Rows that it does not implement, or only too slowly.
    except: Vec<String>,
}

impl Implementation {
    /// Returns whether the implementation has the row (a key without the system).
    pub(crate) fn has(&self, row: &str) -> bool {
        let matches = |pattern: &String| super::matches(pattern, row);
        self.rows.iter().any(matches) && !self.except.iter().any(matches)
    }
}

impl Peer {
    pub(crate) fn implementations(&self) -> impl Iterator<Item = Implementation> {
        self.entries.iter().flat_map(move |entry| {
            entry.names.iter().map(move |name| Implementation {
                name: entry.form.iter().fold(name.clone(), |name, form| format!("{name} {form}")),
                version: self.versions.get(name).cloned(),
                class: entry.class.clone(),
                role: entry.role,
                rows: entry.rows.iter().flat_map(|row| alternatives(row)).collect(),
                except: entry.except.iter().flat_map(|row| alternatives(row)).collect(),
            })
        })
    }
}

/// Expands `{a,b}` as shells do.
fn alternatives(pattern: &str) -> Vec<String> {
    let parts = pattern.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (list, after))) = parts else { return vec![pattern.to_owned()] };
    list.split(',').flat_map(|one| alternatives(&format!("{before}{one}{after}"))).collect()
}

impl PeersFile {
    pub(crate) fn load(data: &Path) -> Result<Self> {
        let file: Self = super::load(data, "peers.toml")?;
        for peer in &file.peers {
            let language = &peer.language;
            if !file.toolchains.iter().any(|toolchain| toolchain.language == *language) {
                bail!(
                    "peers.toml: a peer of {} is written in {language}, which has no [[toolchain]]",
                    peer.system
                );
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
        assert_eq!(languages, ["go", "cpp", "python", "node", "powershell", "rust"]);
        for peer in &file.peers {
            let unused = |name: &&String| !peer.entries.iter().any(|entry| entry.names.contains(name));
            assert_eq!(peer.versions.keys().find(unused), None);
        }
    }

    #[test]
    fn rows_may_be_listed_or_excepted() {
        let implementations = |text: &str| {
            let text = format!(
                "language = \"a\"\nsystem = \"b\"\nrun = []\nversions = {{ c = \"1\" }}\n[[implementation]]\n{text}"
            );
            toml::from_str::<Peer>(&text).unwrap().implementations().collect::<Vec<_>>()
        };
        let all = implementations("names = [\"c\", \"d\"]\nform = \"tree\"");
        assert!(all[0].has("x") && all[0].role == Role::Peer && all[0].version.as_deref() == Some("1"));
        assert_eq!((all.len(), all[1].name.as_str(), all[1].version.as_ref()), (2, "d tree", None));
        let some = &implementations(
            "names = [\"c\"]\nrole = \"original-standin\"\nrows = [\"{en,de}code_*\"]\nexcept = [\"decode_b\"]",
        )[0];
        assert!(some.has("decode_a") && some.has("encode_b") && !some.has("decode_b") && !some.has("code_a"));
        assert_eq!(some.role, Role::OriginalStandin);
    }
}
