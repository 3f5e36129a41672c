//! The list of resident programs in other languages, which `cargo xtask` writes and the suites read.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::Role;
use crate::sources::matches;

/// A program with implementations of rows, which is ready to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Suite whose rows it implements.
    pub system: String,
    /// Programming language in lower case.
    pub language: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Folder that it is started in.
    pub directory: PathBuf,
    /// Libraries that it measures.
    pub implementations: Vec<Implementation>,
}

/// One implementation of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Implementation {
    /// Name in the rows.
    pub name: String,
    /// Version of the library.
    pub version: Option<String>,
    /// Class in the rows.
    pub class: Option<String>,
    /// Peer, reference implementation or our stand-in for it.
    pub role: Role,
    /// Rows that it implements; `*` at the end matches any rest.
    pub rows: Vec<String>,
    /// Rows that it does not implement, or only too slowly.
    #[serde(default)]
    pub except: Vec<String>,
}

impl Implementation {
    /// Returns whether it implements a row.
    pub fn has(&self, row: &str) -> bool {
        let is_in = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, row));
        is_in(&self.rows) && !is_in(&self.except)
    }
}
