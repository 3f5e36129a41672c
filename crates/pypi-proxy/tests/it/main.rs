//! The integration tests, in one program. Those for Unix use signals, permissions, Unix sockets or scripts.

#[path = "../support/page_model.rs"]
mod page_model;
#[path = "../support/mod.rs"]
mod support;

mod access;
mod access_rules;
mod archive;
#[cfg(unix)]
mod audit;
mod bucket;
mod bucket_leases;
#[cfg(unix)]
mod cli_archive;
#[cfg(unix)]
mod clients;
#[cfg(unix)]
mod compat;
mod config;
#[cfg(unix)]
mod config_discovery;
mod config_indexes;
#[cfg(unix)]
mod deploy;
mod deployments;
#[cfg(unix)]
mod faults_disk;
#[cfg(unix)]
mod faults_program;
mod faults_upstream;
#[cfg(unix)]
mod fleet;
mod hardening_cache;
#[cfg(unix)]
mod hardening_serve;
mod index_paths;
mod indexes;
mod indexes_named;
mod json_api;
#[cfg(unix)]
mod layout;
#[cfg(unix)]
mod listen;
mod metadata;
mod observe;
mod page;
mod pages;
#[cfg(unix)]
mod program;
mod provenance;
#[cfg(unix)]
mod reload;
mod serve;
mod serve_http1;
#[cfg(unix)]
mod status_browser;
mod store;
mod upstream;
mod version_rules;
