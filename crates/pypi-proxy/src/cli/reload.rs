//! Reload of the settings.

use std::sync::Arc;

use anyhow::Result;
use clap::ArgMatches;
use pypi_proxy::config::{Setting, Settings};
use pypi_proxy::serve::ServerHandle;

use super::signals::Reload;
use super::{chain, setup, systemd};

/// Reads the settings again.
pub(super) struct Reloader {
    pub(super) matches: ArgMatches,
    pub(super) server: ServerHandle,
    /// Settings of the start, of which those that need a restart are still in effect.
    pub(super) started: Settings,
}

impl Reloader {
    /// Reloads the settings at each request. Requests that arrive during a reload cause one more.
    pub(super) async fn run(self, mut requests: Reload) {
        let mut current = Arc::new(self.started.clone());
        let reloader = Arc::new(self);
        while requests.next().await.is_some() {
            systemd::reloading().await;
            let (reloader, before) = (reloader.clone(), current.clone());
            let reloaded = tokio::task::spawn_blocking(move || reloader.reload(&before)).await;
            match reloaded.unwrap_or_else(|error| Err(error.into())) {
                Ok(settings) => current = Arc::new(settings),
                Err(error) => {
                    tracing::error!(error = %chain(error), "settings not reloaded, the previous ones stay in effect");
                }
            }
            systemd::reloaded().await;
        }
    }

    fn reload(&self, current: &Settings) -> Result<Settings> {
        let settings = setup::settings(&self.matches)?;
        let netrc = setup::netrc();
        netrc.iter().try_for_each(|netrc| netrc.reload())?;
        let builder = setup::proxy_builder(&settings, setup::index(&settings)?)?.netrc(netrc);
        builder.reload(&self.server)?;
        let names = |settings: Vec<&'static Setting>| {
            settings.iter().map(|setting| setting.name).collect::<Vec<_>>().join(", ")
        };
        let (pending, _): (Vec<_>, Vec<_>) =
            self.started.changes(&settings).into_iter().partition(|setting| setting.needs_restart());
        let changed = current.changes(&settings).into_iter().filter(|setting| !setting.needs_restart());
        let changed = names(changed.collect());
        let indexes = current.changed_indexes(&settings).join(", ");
        tracing::info!(changed, indexes = (!indexes.is_empty()).then_some(indexes), "settings reloaded");
        if !pending.is_empty() {
            tracing::warn!(settings = names(pending), "changed settings take effect after a restart");
        }
        for text in settings.warnings() {
            tracing::warn!("{text}");
        }
        Ok(settings)
    }
}
