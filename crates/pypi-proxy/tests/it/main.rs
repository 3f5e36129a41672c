//! The integration tests, in one program.

#[path = "../support/page_model.rs"]
mod page_model;
#[path = "../support/mod.rs"]
mod support;

mod access_limits;
mod access_logins;
mod access_program;
mod access_rules;
mod bucket;
mod clients;
mod compat;
mod config_discover;
mod config_settings;
mod deploy;
mod faults_disk;
mod faults_program;
mod faults_upstream;
mod file_facts;
mod fleet;
mod hardening_cache;
mod hardening_chunks;
mod hardening_metadata;
mod hardening_page;
mod hardening_pages;
mod hardening_serve;
mod hardening_store;
mod hardening_upstream;
mod metadata;
mod observe;
mod page_html;
mod page_json;
mod page_list;
mod pages;
mod program;
mod serve;
mod serve_allocations;
mod serve_http1;
mod status_browser;
mod store;
mod upstream;
