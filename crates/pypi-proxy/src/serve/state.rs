//! State that all requests share.

use std::sync::Arc;

use super::config::Config;
use super::request_metrics::RequestMetrics;
use crate::page_cache::PageCache;
use crate::store::Store;
use crate::upstream::Upstream;

#[derive(Debug)]
pub(super) struct State {
    pub(super) upstreams: Vec<Arc<Upstream>>,
    pub(super) pages: PageCache,
    pub(super) store: Store,
    pub(super) config: Config,
    pub(super) metrics: RequestMetrics,
}

impl State {
    /// Returns whether purging requires the admin token.
    pub(super) fn needs_token(&self) -> bool {
        self.config.admin_token.is_some()
    }
}
