//! `peers.toml`: how to build and run the programs in other languages.

use std::collections::BTreeMap;

use bench_report::model::{Implementation, Missing, Role};
use serde::Deserialize;

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
    /// Whether the sources are copied to `{out}` and built and run there, because the tools install beside the
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

#[cfg(test)]
mod tests {
    use bench_report::sources::load;

    use super::*;
    use crate::workspace::Workspace;

    #[test]
    fn the_committed_file_has_no_gaps() {
        let file: PeersFile = load(&Workspace::find().unwrap().data(), "peers.toml").unwrap();
        let languages: Vec<&str> = file.toolchains.iter().map(|one| one.language.as_str()).collect();
        assert_eq!(languages, ["go", "cpp", "python", "node", "powershell", "rust"]);
        for peer in &file.peers {
            assert!(languages.contains(&&*peer.language), "a peer in {}", peer.language);
            let unused = |name: &&String| !peer.entries.iter().any(|entry| entry.names.contains(name));
            assert_eq!(peer.versions.keys().find(unused), None);
        }
    }

    #[test]
    fn entries_are_expanded() {
        let text = "language = \"a\"\nsystem = \"b\"\nrun = []\nversions = { c = \"1\" }\n[[implementation]]\n\
            names = [\"c\", \"d\"]\nform = \"tree\"\nrole = \"original-standin\"\nrows = [\"{en,de}code_*\"]\n";
        let [c, d] = &toml::from_str::<Peer>(text).unwrap().implementations().collect::<Vec<_>>()[..] else {
            panic!("two names")
        };
        assert_eq!(
            (c.name.as_str(), c.version.as_deref(), c.role),
            ("c tree", Some("1"), Role::OriginalStandin)
        );
        assert_eq!((d.name.as_str(), d.version.as_deref()), ("d tree", None));
        assert_eq!(d.rows, ["encode_*", "decode_*"]);
        assert_eq!(d.except, [""; 0]);
    }
}
