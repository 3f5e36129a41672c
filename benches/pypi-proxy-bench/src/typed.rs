//! A page as parsed into types and serialized again, without unknown fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Page of a project.
#[derive(Debug, Deserialize, Serialize)]
pub struct Page<'d> {
    /// API version.
    #[serde(borrow)]
    pub meta: Meta<'d>,
    /// Project name.
    #[serde(borrow)]
    pub name: Cow<'d, str>,
    /// Files.
    #[serde(borrow)]
    pub files: Vec<File<'d>>,
}

/// Metadata of the page.
#[derive(Debug, Deserialize, Serialize)]
pub struct Meta<'d> {
    /// API version.
    #[serde(borrow, rename = "api-version")]
    pub api_version: Cow<'d, str>,
}

/// A file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct File<'d> {
    /// File name.
    #[serde(borrow)]
    pub filename: Cow<'d, str>,
    /// URL.
    #[serde(borrow)]
    pub url: Cow<'d, str>,
    /// Hashes by algorithm.
    #[serde(borrow)]
    pub hashes: BTreeMap<Cow<'d, str>, Cow<'d, str>>,
    /// Required Python versions.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub requires_python: Option<Cow<'d, str>>,
    /// Length in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Upload time.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub upload_time: Option<Cow<'d, str>>,
    /// Whether the file was yanked.
    #[serde(default)]
    pub yanked: bool,
}

impl Page<'_> {
    /// Replaces the URL of each file by its bare name. Returns the number of files.
    pub fn rewrite(&mut self) -> u64 {
        for file in &mut self.files {
            file.url = file.filename.clone();
        }
        self.files.len() as u64
    }
}

/// List of all projects.
#[derive(Debug, Deserialize, Serialize)]
pub struct List<'d> {
    /// API version.
    #[serde(borrow)]
    pub meta: Meta<'d>,
    /// Projects.
    #[serde(borrow)]
    pub projects: Vec<Project<'d>>,
}

impl List<'_> {
    /// Returns the number of projects. There is nothing to replace.
    pub fn rewrite(&mut self) -> u64 {
        self.projects.len() as u64
    }
}

/// Project in the list.
#[derive(Debug, Deserialize, Serialize)]
pub struct Project<'d> {
    /// Project name.
    #[serde(borrow)]
    pub name: Cow<'d, str>,
}
