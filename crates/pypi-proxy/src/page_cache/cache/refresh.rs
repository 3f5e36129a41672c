//! Loading pages from disk and refreshing them from the upstreams.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{PageCache, Refresh, Removed};
use crate::error::Kind;
use crate::flight::{FetchPermit, Flight};
use crate::page_cache::merge::combine;
use crate::page_cache::slot::{Content, Slot, UpstreamPage};
use crate::page_cache::source::Source;
use crate::page_cache::{CacheStatus, RefreshOutcome};
use crate::resource::Resource;
use crate::{Error, system};

struct Fetched {
    content: Content,
    /// Remaining time to live.
    fresh: Duration,
    /// Error of an upstream, if a stale copy of its page was used instead.
    failure: Option<Error>,
    /// [`CacheStatus::Hit`] if the copies on disk were fresh, so that no upstream was contacted.
    status: CacheStatus,
}

impl PageCache {
    /// Refreshes a page. Runs as a task, so that a client that disconnects does not cancel it for the others.
    pub(super) async fn run_refresh(
        self,
        slot: Arc<Slot>,
        done: watch::Sender<()>,
        flight: Flight<Refresh>,
        permit: FetchPermit,
    ) {
        let removed: Vec<_> = self.0.private.iter().map(|(_, names)| names.watch_removed()).collect();
        if self.load_from_disk(&slot).await || self.apply_changed_rules(&slot).await {
            done.send_replace(());
        }
        let result = {
            let _running = permit.acquire().await;
            self.refresh(&slot, &removed).await
        };
        drop(permit);
        let outcome = match &result {
            Err(_) | Ok(Fetched { failure: Some(_), .. }) => Some(RefreshOutcome::Failed),
            Ok(Fetched { status: CacheStatus::Hit, .. }) => None,
            Ok(Fetched { content: Content::Page(_), status: CacheStatus::Revalidated, .. }) => {
                Some(RefreshOutcome::Unchanged)
            }
            Ok(Fetched { content: Content::Page(_), .. }) => Some(RefreshOutcome::Changed),
            Ok(Fetched { .. }) => Some(RefreshOutcome::Missing),
        };
        if let Some(outcome) = outcome {
            self.0.refreshes[outcome].add(1);
        }
        let page = {
            let slots = self.0.slots.lock();
            let mut state = slot.state.lock();
            drop(flight);
            let now = Instant::now();
            match result {
                Ok(Fetched { content, fresh, failure, status }) => {
                    state.status = status;
                    match failure {
                        // `fresh_until` stays, so that the page keeps getting older.
                        Some(error) => state.failure = Some((Some(now), error)),
                        None => {
                            state.failure = None;
                            state.fresh_until = now + fresh;
                        }
                    }
                    state.replace(content);
                }
                Err(error) => state.failure = Some((Some(now), error)),
            }
            // The reload has forgotten earlier failures as well. Clients that wait still get this one.
            if slots.reloads != self.0.reloads {
                state.end_backoff();
            }
            match &state.content {
                Content::Page(page) => Some(page.clone()),
                _ => None,
            }
        };
        if let (Some(page), Some(RefreshOutcome::Changed)) = (&page, outcome) {
            // Otherwise the facts of files that the upstreams removed would accumulate.
            slot.facts.lock().0.retain(|file| page.file(file).is_some());
        }
        self.account_and_evict(&slot);
        drop(done);
        // Encode the variants that nearly all clients request in advance.
        if let Some(page) = page.filter(|_| slot.resource.is_page()) {
            page.variant(crate::Form::Json, crate::Coding::Zstd).await;
            page.variant(crate::Form::Json, crate::Coding::Gzip).await;
        }
    }

    /// Loads the page from disk on first use. Returns whether there was one.
    async fn load_from_disk(&self, slot: &Arc<Slot>) -> bool {
        let mut parts = slot.parts.lock().await;
        if parts.is_some() {
            return false;
        }
        let loaded = parts.insert(self.load(slot).await);
        let Some((content, fresh, staleness)) = self.servable(loaded, slot).await else { return false };
        let now = Instant::now();
        let mut state = slot.state.lock();
        state.content = content;
        // Shortly after boot, `Instant` may not reach back far enough.
        state.fresh_until = now.checked_sub(staleness).map_or(now, |then| then + fresh);
        true
    }

    /// Applies changed rules to the pages in memory, before an upstream is contacted. Returns whether there was a page.
    async fn apply_changed_rules(&self, slot: &Arc<Slot>) -> bool {
        let is_outdated = match &slot.state.lock().content {
            Content::Page(page) => !self.has_current_rules(page),
            _ => false,
        };
        let parts = slot.parts.lock().await;
        let Some(parts) = parts.as_ref().filter(|_| is_outdated) else { return false };
        let Ok((content, _)) = self.combine(parts, slot).await else { return false };
        slot.state.lock().replace(content);
        true
    }

    async fn refresh(&self, slot: &Arc<Slot>, removed: &Removed) -> Result<Fetched, Error> {
        let mut parts = slot.parts.lock().await;
        let parts = parts.get_or_insert_with(|| vec![UpstreamPage::default(); self.upstreams().len()]);
        // Negative entries have a TTL of their own.
        if matches!(slot.state.lock().content, Content::NotFound) {
            parts.fill(UpstreamPage::default());
        }
        let (mut failure, mut skipped) = (None, None);
        let mut fresh = Duration::MAX;
        let (mut is_contacted, mut is_unchanged) = (false, true);
        let groups = self.groups(slot);
        let mut groups = groups.iter();
        for group in groups.by_ref() {
            let sources: Vec<_> = group.iter().map(|index| self.source(slot, *index)).collect();
            for (source, index) in sources.iter().zip(group) {
                // A reload may allow an upstream that was not contacted before.
                if source.is_allowed && parts[*index].is_excluded {
                    parts[*index] = UpstreamPage::default();
                }
            }
            let updates = sources.iter().zip(group).map(|(source, index)| {
                let part = &parts[*index];
                async move {
                    let (part, lease) = source.newer_in_bucket(part).await;
                    let updated = source.fetch(part.clone(), lease).await;
                    (part, updated)
                }
            });
            for ((before, result), index) in join_all(updates).await.into_iter().zip(group) {
                let (part, upstream) = (&mut parts[*index], &self.upstreams()[*index]);
                *part = before;
                if let Err(error) = &result {
                    self.0.failures.record(&slot.resource.to_string(), Some(upstream.to_string()), error);
                }
                match result {
                    Ok(updated) => {
                        is_contacted |= updated.checked != part.checked;
                        is_unchanged &= updated.modified == part.modified;
                        *part = updated;
                    }
                    Err(error) if part.checked.is_none() && self.is_skippable(*index, &error) => {
                        skipped = Some(error);
                        continue;
                    }
                    // Without the page of one upstream, a project of a private index might be taken from a public one.
                    Err(error)
                        if part.age() > upstream.ttl().saturating_add(self.0.config.stale_if_error) =>
                    {
                        return Err(error);
                    }
                    Err(error) => failure = Some(error),
                }
                fresh = fresh.min(upstream.ttl().saturating_sub(part.age()));
                self.claim(*index, slot, part, removed).await;
            }
            if self.is_decisive(group, parts) {
                break;
            }
        }
        for index in groups.flatten() {
            is_unchanged &= parts[*index].content.is_none();
            parts[*index] = UpstreamPage::default();
        }
        let (content, rules_ttl) = self.combine(parts, slot).await?;
        fresh = fresh.min(rules_ttl);
        if matches!(content, Content::NotFound) {
            if let Some(error) = skipped {
                return Err(error);
            }
            fresh = self.0.config.negative_ttl;
        }
        let status = match (is_contacted, is_unchanged) {
            (false, _) => CacheStatus::Hit,
            (true, true) => CacheStatus::Revalidated,
            (true, false) => CacheStatus::Miss,
        };
        Ok(Fetched { content, fresh, failure, status })
    }

    /// Loads the copies of a page, one per upstream, and the facts about its files from disk.
    pub(super) async fn load(&self, slot: &Arc<Slot>) -> Vec<UpstreamPage> {
        if let (Resource::Page(name), Some(disk)) = (slot.resource.clone(), self.0.disk.clone()) {
            let work = move || disk.load_facts(&name);
            let mut facts = system::spawn_blocking(work).await.unwrap_or_default();
            if !self.extracts_metadata() {
                facts.clear_metadata();
            }
            slot.facts.lock().0.merge(facts);
        }
        let sources: Vec<_> = (0..self.upstreams().len()).map(|index| self.source(slot, index)).collect();
        let mut parts = join_all(sources.iter().map(Source::load)).await;
        let groups = self.groups(slot);
        if let Some(at) = groups.iter().position(|group| self.is_decisive(group, &parts)) {
            groups[at + 1..].iter().flatten().for_each(|index| parts[*index] = UpstreamPage::default());
        }
        parts
    }

    /// Merges the copies on disk into a page. Returns the page, its remaining time to live, and how long ago it
    /// expired.
    async fn servable(
        &self,
        parts: &[UpstreamPage],
        slot: &Arc<Slot>,
    ) -> Option<(Content, Duration, Duration)> {
        let (mut fresh, mut staleness) = (Duration::MAX, Duration::ZERO);
        for group in self.groups(slot) {
            for index in &group {
                let (part, upstream) = (&parts[*index], &self.upstreams()[*index]);
                // An upstream without a copy may have the project as well.
                part.checked?;
                fresh = fresh.min(upstream.ttl().saturating_sub(part.age()));
                staleness = staleness.max(part.age().saturating_sub(upstream.ttl()));
            }
            if self.is_decisive(&group, parts) {
                break;
            }
        }
        let (content, rules_ttl) = self.combine(parts, slot).await.ok()?;
        Some((content, fresh.min(rules_ttl), staleness))
    }

    /// Merges the pages of the upstreams and applies the rules. Returns the page and how long the rules' result is
    /// valid.
    async fn combine(&self, parts: &[UpstreamPage], slot: &Arc<Slot>) -> Result<(Content, Duration), Error> {
        let merging = self.0.merging.clone();
        let is_merged = parts.iter().filter(|part| part.content.is_some()).count() > 1;
        if !slot.resource.is_page() || !self.0.has_rules && !is_merged {
            return combine(parts, slot.resource.project(), &merging);
        }
        // Merging and rules may have to look at every file of a page, so they run on a blocking thread.
        let (parts, slot) = (parts.to_vec(), slot.clone());
        let work = move || combine(&parts, slot.resource.project(), &merging);
        let failed = |_| Err(Error::with(Kind::Page, "merging pages was aborted"));
        system::spawn_blocking(work).await.unwrap_or_else(failed)
    }
}
