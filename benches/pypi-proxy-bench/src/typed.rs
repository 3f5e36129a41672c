//! A page as a program reads and writes it with types, dropping what they do not have.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The page of a project.
#[derive(Debug, Deserialize, Serialize)]
pub struct Page<'d> {
    /// The version of the API.
    #[serde(borrow)]
    pub meta: Meta<'d>,
    /// The project.
    #[serde(borrow)]
    pub name: Cow<'d, str>,
    /// Its files.
    #[serde(borrow)]
    pub files: Vec<File<'d>>,
}

/// What a page tells of itself.
#[derive(Debug, Deserialize, Serialize)]
pub struct Meta<'d> {
    /// The version of the API.
    #[serde(borrow, rename = "api-version")]
    pub api_version: Cow<'d, str>,
}

/// A file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct File<'d> {
    /// Its name.
    #[serde(borrow)]
    pub filename: Cow<'d, str>,
    /// Where it is.
    #[serde(borrow)]
    pub url: Cow<'d, str>,
    /// Its hashes by their names.
    #[serde(borrow)]
    pub hashes: BTreeMap<Cow<'d, str>, Cow<'d, str>>,
    /// Versions of Python that it is for.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub requires_python: Option<Cow<'d, str>>,
    /// Its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// When it was uploaded.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub upload_time: Option<Cow<'d, str>>,
    /// Whether it should not be used.
    #[serde(default)]
    pub yanked: bool,
}

impl Page<'_> {
    /// Has each file come from where the page is.
    pub fn rewrite(&mut self) {
        for file in &mut self.files {
            file.url = file.filename.clone();
        }
    }
}

/// The list of all projects.
#[derive(Debug, Deserialize, Serialize)]
pub struct List<'d> {
    /// The version of the API.
    #[serde(borrow)]
    pub meta: Meta<'d>,
    /// The projects.
    #[serde(borrow)]
    pub projects: Vec<Project<'d>>,
}

/// A project of the list.
#[derive(Debug, Deserialize, Serialize)]
pub struct Project<'d> {
    /// Its name.
    #[serde(borrow)]
    pub name: Cow<'d, str>,
}
