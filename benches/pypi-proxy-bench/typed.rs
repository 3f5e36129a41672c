//! A page as parsed into types and serialized again, without unknown fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Page of a project.
#[derive(Deserialize, Serialize)]
pub(crate) struct Page<'d> {
    #[serde(borrow)]
    pub(crate) meta: Meta<'d>,
    #[serde(borrow)]
    pub(crate) name: Cow<'d, str>,
    #[serde(borrow)]
    pub(crate) files: Vec<File<'d>>,
}

#[derive(Deserialize, Serialize)]
pub(crate) struct Meta<'d> {
    #[serde(borrow, rename = "api-version")]
    pub(crate) api_version: Cow<'d, str>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct File<'d> {
    #[serde(borrow)]
    pub(crate) filename: Cow<'d, str>,
    #[serde(borrow)]
    pub(crate) url: Cow<'d, str>,
    #[serde(borrow)]
    pub(crate) hashes: BTreeMap<Cow<'d, str>, Cow<'d, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) requires_python: Option<Cow<'d, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) upload_time: Option<Cow<'d, str>>,
    #[serde(default)]
    pub(crate) yanked: bool,
}

impl Page<'_> {
    /// Replaces the URL of each file by its bare name. Returns the number of files.
    pub(crate) fn rewrite(mut self) -> (Self, u64) {
        for file in &mut self.files {
            file.url = file.filename.clone();
        }
        let count = self.files.len() as u64;
        (self, count)
    }
}

/// List of all projects.
#[derive(Deserialize, Serialize)]
pub(crate) struct List<'d> {
    #[serde(borrow)]
    pub(crate) meta: Meta<'d>,
    #[serde(borrow)]
    pub(crate) projects: Vec<Project<'d>>,
}

impl List<'_> {
    /// Returns the number of projects. There is nothing to replace.
    pub(crate) fn rewrite(self) -> (Self, u64) {
        let count = self.projects.len() as u64;
        (self, count)
    }
}

#[derive(Deserialize, Serialize)]
pub(crate) struct Project<'d> {
    #[serde(borrow)]
    pub(crate) name: Cow<'d, str>,
}
