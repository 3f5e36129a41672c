//! The integration tests, in one program.

#[path = "../support/page_model.rs"]
mod page_model;
#[path = "../support/mod.rs"]
mod support;

mod access;
mod access_rules;
mod archive;
mod audit;
mod bucket;
mod bucket_leases;
mod cli_archive;
mod clients;
mod compat;
mod config;
mod config_discovery;
mod config_indexes;
mod deploy;
mod deployments;
mod faults_disk;
mod faults_program;
mod faults_upstream;
mod fleet;
mod hardening_cache;
mod hardening_serve;
mod index_paths;
mod indexes;
mod indexes_named;
mod json_api;
mod layout;
mod listen;
mod metadata;
mod observe;
mod page;
mod pages;
mod program;
mod provenance;
mod reload;
mod serve;
mod serve_http1;
mod status_browser;
mod store;
mod upstream;
mod version_rules;
