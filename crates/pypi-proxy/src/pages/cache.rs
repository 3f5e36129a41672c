//! Asking for pages.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use hashlink::LinkedHashMap;
use tokio::sync::watch;
use tokio::time::Instant;

use super::keep::{Keep, Kept};
use super::merge::{combine, is_older};
use super::queue::{Place, Queue};
use super::shared::Shared;
use super::slot::{Known, Part, PartContent, Slot, State};
use super::status::{Refreshed, Verdict};
use super::{Config, Entry};
use crate::error::{Chain, Kind};
use crate::page::{Fact, Facts, Page, ProjectList};
use crate::rules::Rules;
use crate::store::Digest;
use crate::upstream::{PageBody, PageResponse, Upstream};
use crate::{Error, ProjectName};

/// After an index has failed it is left alone for this long by those that there is an older page for.
const RETRY: Duration = Duration::from_secs(5);

/// The pages of some indexes.
///
/// A page that is fresh is served from memory. One that was fresh not long ago is served while the indexes are asked, and
/// if they fail it is served for longer. Whoever needs a page that is not there waits; however many wait, each index is
/// asked once.
#[derive(Clone)]
pub struct Pages(Arc<Inner>);

struct Inner {
    upstreams: Vec<Arc<Upstream>>,
    config: Config,
    keep: Option<Keep>,
    shared: Option<Shared>,
    slots: Mutex<Slots>,
    refreshes: [AtomicU64; 4],
    queue: Queue,
}

#[derive(Default)]
struct Slots {
    list: Option<Arc<Slot>>,
    projects: LinkedHashMap<ProjectName, Arc<Slot>>,
    /// Of all entries.
    bytes: u64,
}

/// A page for a client.
#[derive(Clone, Debug)]
pub struct Served {
    /// The page.
    pub entry: Arc<Entry>,
    /// Where it is from.
    pub verdict: Verdict,
}

/// What the indexes have.
struct Found {
    known: Known,
    /// For how long that is so.
    fresh: Duration,
    /// Why part of it is older than it should be.
    failure: Option<Error>,
    /// [`Verdict::Hit`] if what was kept on disk is fresh, so that none of them was asked.
    came: Verdict,
}

/// What a look at a slot found.
enum Look {
    Served(Result<Served, Error>),
    Wait(watch::Receiver<()>),
    /// The indexes would have to be asked, and the queue for that is full.
    Full,
}

impl Pages {
    /// The pages of these indexes; a file that several have is that of the first.
    pub fn new(upstreams: Vec<Arc<Upstream>>, config: Config) -> Self {
        let max_page = upstreams.iter().map(|upstream| upstream.max_page()).max().unwrap_or(0);
        let keep = config.dir.clone().map(|dir| Keep::new(dir, max_page));
        let shared = config.bucket.clone().filter(|_| keep.is_some()).map(|it| Shared::new(it, max_page));
        let queue = Queue::new(config.max_fetches, config.max_queued);
        Self(Arc::new(Inner {
            upstreams,
            config,
            keep,
            shared,
            slots: Mutex::default(),
            refreshes: Default::default(),
            queue,
        }))
    }

    /// The page of a project.
    ///
    /// # Errors
    ///
    /// Fails if no index has the project ([`Error::is_not_found`]), and if an index fails and there is no page that is
    /// young enough ([`Error::is_upstream`], [`Error::is_timeout`], [`Error::is_forbidden`], [`Error::is_page`],
    /// [`Error::is_limit`]). The same if the queue for the indexes is full ([`Error::is_limit`] with
    /// [`Error::retry_after`]).
    pub async fn project(&self, name: &ProjectName) -> Result<Served, Error> {
        let slot = self.slot(name);
        self.get(slot).await
    }

    /// The list of all projects.
    ///
    /// # Errors
    ///
    /// As [`Self::project`].
    pub async fn list(&self) -> Result<Served, Error> {
        let slot = {
            let mut slots = self.0.slots();
            slots.list.get_or_insert_with(|| Arc::new(Slot::new(None))).clone()
        };
        self.get(slot).await
    }

    /// Forgets the page of a project, or the list of all.
    ///
    /// # Errors
    ///
    /// Fails if it can't be removed from the disk ([`Error::is_storage`]) or the bucket ([`Error::is_bucket`]).
    pub async fn forget(&self, project: Option<&ProjectName>) -> Result<(), Error> {
        {
            let mut slots = self.0.slots();
            let slot = match project {
                Some(name) => slots.projects.remove(name),
                None => slots.list.take(),
            };
            if let Some(slot) = slot {
                slots.bytes -= std::mem::take(&mut slot.state().weight);
            }
        }
        let indexes: Vec<_> = self.0.upstreams.iter().map(|upstream| upstream.id()).collect();
        let Some(keep) = self.0.keep.clone() else { return Ok(()) };
        let (name, ids) = (project.cloned(), indexes.clone());
        let work = move || {
            name.iter().for_each(|name| keep.remove_facts(name));
            ids.into_iter().try_for_each(|index| keep.remove(index, name.as_ref()))
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Ok(()))?;
        if let Some(shared) = &self.0.shared {
            for index in indexes {
                shared.bucket().purge_page(index, project).await?;
            }
        }
        Ok(())
    }

    /// Forgets all pages.
    ///
    /// # Errors
    ///
    /// As [`Self::forget`].
    pub async fn forget_all(&self) -> Result<(), Error> {
        *self.0.slots() = Slots::default();
        let Some(keep) = self.0.keep.clone() else { return Ok(()) };
        tokio::task::spawn_blocking(move || keep.clear()).await.unwrap_or(Ok(()))?;
        if let Some(shared) = &self.0.shared {
            for upstream in &self.0.upstreams {
                shared.bucket().purge_pages(upstream.id()).await?;
            }
        }
        Ok(())
    }

    /// Notes what was learned of a file. It is on the page as soon as the index is asked for that again: of a page in JSON
    /// only the metadata.
    pub(crate) fn learn(&self, project: &ProjectName, file: &str, fact: Fact) {
        let Some(slot) = self.0.slots().projects.get(project).cloned() else { return };
        {
            let mut learned = slot.learned();
            if !learned.0.learn(file, fact) {
                return;
            }
            learned.1 += 1;
        }
        let Some(keep) = self.0.keep.clone() else { return };
        let project = project.clone();
        tokio::task::spawn_blocking(move || {
            let facts = slot.learned().0.clone();
            // What can't be kept is learned again.
            let _ = keep.store_facts(&project, &facts);
        });
    }

    /// Whether metadata are read out of wheels.
    pub(crate) fn reads_wheels(&self) -> bool {
        self.0.config.wheel_metadata
    }

    /// Whether metadata were looked for in this wheel.
    pub(crate) fn has_looked(&self, project: &ProjectName, file: &str, wheel: &Digest) -> bool {
        let slot = self.0.slots().projects.get(project).cloned();
        slot.is_some_and(|slot| slot.learned().0.has_looked(file, wheel))
    }

    /// What clients may have, if that is not everything.
    pub(crate) fn rules(&self) -> Option<&Rules> {
        self.0.config.rules.as_deref()
    }

    /// Whether an index may be asked for a page.
    fn may_ask(&self, name: Option<&ProjectName>, index: usize) -> bool {
        match (self.rules(), name) {
            (Some(rules), Some(name)) => rules.is_index_allowed(name, index),
            _ => true,
        }
    }

    /// Bytes of pages in memory.
    pub fn bytes(&self) -> u64 {
        self.0.slots().bytes
    }

    /// The most bytes of pages in memory.
    pub(crate) fn max_bytes(&self) -> u64 {
        self.0.config.max_bytes
    }

    /// How many pages are in memory, names that there is no project of among them.
    pub(crate) fn count(&self) -> u64 {
        let slots = self.0.slots();
        slots.projects.len() as u64 + u64::from(slots.list.is_some())
    }

    /// How often the indexes were asked for a page with this result.
    pub(crate) fn refreshes(&self, result: Refreshed) -> u64 {
        self.0.refreshes[result as usize].load(Ordering::Relaxed)
    }

    /// The queue of pages that are requested from the indexes.
    pub(crate) fn queue(&self) -> &Queue {
        &self.0.queue
    }

    /// Whether there is a page to serve if no index answers.
    pub(crate) fn has_any(&self) -> bool {
        let slots = self.0.slots();
        let has_page = |slot: &Arc<Slot>| matches!(slot.state().known, Known::Page(_));
        slots.list.iter().chain(slots.projects.values()).any(has_page)
    }

    /// The projects whose files were asked for the most while their pages were in memory, with how often that was.
    pub(crate) fn most_wanted(&self, count: usize) -> Vec<(ProjectName, u64)> {
        let slots = self.0.slots();
        let mut found: Vec<_> = slots
            .projects
            .iter()
            .filter_map(|(name, slot)| match &slot.state().known {
                Known::Page(entry) if entry.wanted() > 0 => Some((name, entry.wanted())),
                _ => None,
            })
            .collect();
        found.sort_unstable_by(|(left, more), (right, less)| {
            less.cmp(more).then_with(|| left.as_str().cmp(right.as_str()))
        });
        found.truncate(count);
        found.into_iter().map(|(name, count)| (name.clone(), count)).collect()
    }

    fn slot(&self, name: &ProjectName) -> Arc<Slot> {
        let mut slots = self.0.slots();
        if let Some(slot) = slots.projects.to_back(name) {
            return slot.clone();
        }
        let slot = Arc::new(Slot::new(Some(name.clone())));
        slots.projects.insert(name.clone(), slot.clone());
        slot
    }

    async fn get(&self, slot: Arc<Slot>) -> Result<Served, Error> {
        let mut running = match self.look(&slot) {
            Look::Served(result) => return result,
            Look::Wait(running) => running,
            Look::Full => {
                self.drop_unused(&slot);
                return Err(self.0.queue.reject());
            }
        };
        let mut is_late = false;
        let mut late = std::pin::pin!(tokio::time::sleep(self.0.config.stale_wait));
        loop {
            tokio::select! {
                changed = running.changed() => {
                    // Without the sender, the indexes were asked.
                    if changed.is_err() {
                        return self.outcome(&slot);
                    }
                }
                () = &mut late, if !is_late => is_late = true,
            }
            // What was kept is there, and may be enough.
            if let Some(served) = self.kept(&slot, is_late) {
                return Ok(served);
            }
        }
    }

    /// What was kept, while the indexes are asked.
    fn kept(&self, slot: &Slot, is_late: bool) -> Option<Served> {
        let state = slot.state();
        state.running.as_ref()?;
        let config = &self.0.config;
        let time = if is_late { config.stale_if_error } else { config.stale_while_revalidate };
        let served = self.stale(&state, time)?;
        let is_fresh = Instant::now() < state.fresh_until;
        Some(if is_fresh { Served { verdict: Verdict::Hit, ..served } } else { served })
    }

    /// Looks for what was kept on disk, the first time that a page is asked for. Whether there is something.
    async fn recall(&self, slot: &Arc<Slot>) -> bool {
        let mut parts = slot.parts.lock().await;
        if parts.is_some() {
            return false;
        }
        let loaded = parts.insert(self.load(slot).await);
        let Some((known, fresh, overdue)) = self.recalled(loaded, slot).await else { return false };
        let now = Instant::now();
        let mut state = slot.state();
        state.known = known;
        // A machine that has just started has no time long ago.
        state.fresh_until = now.checked_sub(overdue).map_or(now, |then| then + fresh);
        true
    }

    /// What there is now; it starts to ask the indexes if need be.
    fn look(&self, slot: &Arc<Slot>) -> Look {
        let mut state = slot.state();
        let now = Instant::now();
        if now < state.fresh_until {
            match &state.known {
                Known::Page(entry) => {
                    return Look::Served(Ok(Served { entry: entry.clone(), verdict: Verdict::Hit }));
                }
                Known::Missing => return Look::Served(Err(Error::new(Kind::NotFound).remembered())),
                Known::Nothing => {}
            }
        }
        if let Some((at, failure)) = &state.failure {
            let pause = failure.retry_after().map(|time| (*at + time).saturating_duration_since(now));
            let is_left_alone = now < *at + RETRY || pause.is_some_and(|pause| !pause.is_zero());
            if is_left_alone && let Some(served) = self.stale(&state, self.0.config.stale_if_error) {
                return Look::Served(Ok(served));
            }
            // It has told when it wants to be asked again.
            if let Some(pause) = pause.filter(|pause| !pause.is_zero()) {
                return Look::Served(Err(failure.repeat().retried_after(Some(pause))));
            }
        }
        // Without a sender, who asked has come to a bad end.
        let running = state.running.as_ref().filter(|running| running.has_changed().is_ok());
        let running = match running {
            Some(running) => running.clone(),
            None => {
                let Some(place) = self.0.queue.enter() else {
                    return match self.stale(&state, self.0.config.stale_if_error) {
                        Some(served) => Look::Served(Ok(served)),
                        None => Look::Full,
                    };
                };
                let (done, running) = watch::channel(());
                state.running = Some(running.clone());
                tokio::spawn(self.clone().ask(slot.clone(), done, place));
                running
            }
        };
        match self.stale(&state, self.0.config.stale_while_revalidate) {
            Some(served) => Look::Served(Ok(served)),
            None => Look::Wait(running),
        }
    }

    /// What there is after the indexes were asked, however short it may be fresh.
    fn outcome(&self, slot: &Slot) -> Result<Served, Error> {
        let state = slot.state();
        match (&state.known, &state.failure) {
            (_, Some((_, failure))) => {
                self.stale(&state, self.0.config.stale_if_error).ok_or_else(|| failure.repeat())
            }
            (Known::Page(entry), None) => Ok(Served { entry: entry.clone(), verdict: state.came }),
            (Known::Missing, None) => Err(Error::new(Kind::NotFound)),
            (Known::Nothing, None) => Err(Error::with(Kind::Upstream, "asking was given up")),
        }
    }

    /// The page that may be served this long after it was fresh.
    fn stale(&self, state: &State, time: Duration) -> Option<Served> {
        match &state.known {
            Known::Page(entry) if Instant::now() < state.fresh_until + time => {
                Some(Served { entry: entry.clone(), verdict: Verdict::Stale })
            }
            _ => None,
        }
    }

    /// Asks the indexes. It runs on its own, so that no client that goes away stops it for the others.
    async fn ask(self, slot: Arc<Slot>, done: watch::Sender<()>, place: Place) {
        if self.recall(&slot).await {
            done.send_replace(());
        }
        let result = {
            let _one = place.turn().await;
            self.refresh(&slot).await
        };
        drop(place);
        let came = match &result {
            Err(_) | Ok(Found { failure: Some(_), .. }) => Some(Refreshed::Failed),
            Ok(Found { came: Verdict::Hit, .. }) => None,
            Ok(Found { known: Known::Page(_), came: Verdict::Revalidated, .. }) => Some(Refreshed::Unchanged),
            Ok(Found { known: Known::Page(_), .. }) => Some(Refreshed::Changed),
            Ok(Found { .. }) => Some(Refreshed::Missing),
        };
        if let Some(came) = came {
            self.0.refreshes[came as usize].fetch_add(1, Ordering::Relaxed);
        }
        let entry = {
            let mut state = slot.state();
            state.running = None;
            let now = Instant::now();
            match result {
                Ok(Found { known, fresh, failure, came }) => {
                    state.came = came;
                    match failure {
                        // How long ago the page was fresh goes on to count.
                        Some(error) => state.failure = Some((now, error)),
                        None => {
                            state.failure = None;
                            state.fresh_until = now + fresh;
                        }
                    }
                    match (&state.known, &known) {
                        // The same content keeps its forms and its date.
                        (Known::Page(old), Known::Page(new)) if old.is_same(new) => {}
                        (Known::Page(old), Known::Page(new)) => {
                            new.follow(old);
                            state.known = known;
                        }
                        _ => state.known = known,
                    }
                }
                Err(error) => state.failure = Some((now, error)),
            }
            match &state.known {
                Known::Page(entry) => Some(entry.clone()),
                _ => None,
            }
        };
        self.weigh(&slot);
        drop(done);
        // What nearly all clients ask for is made before they do.
        if let Some(entry) = entry {
            entry.variant(crate::Form::Json, crate::Coding::Zstd).await;
            entry.variant(crate::Form::Json, crate::Coding::Gzip).await;
        }
    }

    /// Removes a slot that was made for a request that was rejected.
    fn drop_unused(&self, slot: &Arc<Slot>) {
        let Some(name) = &slot.name else { return };
        let mut slots = self.0.slots();
        let is_there = slots.projects.get(name).is_some_and(|there| Arc::ptr_eq(there, slot));
        if is_there && slot.state().is_unused() {
            slots.projects.remove(name);
        }
    }

    /// Counts what a slot holds, and drops those that nobody asked for the longest while there is too much.
    fn weigh(&self, slot: &Arc<Slot>) {
        let mut slots = self.0.slots();
        let is_there = match &slot.name {
            Some(name) => slots.projects.get(name).is_some_and(|there| Arc::ptr_eq(there, slot)),
            None => slots.list.as_ref().is_some_and(|there| Arc::ptr_eq(there, slot)),
        };
        if !is_there {
            return;
        }
        {
            let mut state = slot.state();
            // Names that there is no project of take memory, too.
            let page = if let Known::Page(entry) = &state.known { entry.weight() } else { 0 };
            let weight = page + slot.weight(&state, self.0.upstreams.len());
            slots.bytes = slots.bytes + weight - std::mem::replace(&mut state.weight, weight);
        }
        let mut kept = Vec::new();
        while slots.bytes > self.0.config.max_bytes && slots.projects.len() > kept.len() {
            let Some((name, oldest)) = slots.projects.pop_front() else { break };
            let is_busy = oldest.state().running.is_some() || Arc::ptr_eq(&oldest, slot);
            if is_busy {
                kept.push((name, oldest));
            } else {
                slots.bytes -= std::mem::take(&mut oldest.state().weight);
            }
        }
        for (name, slot) in kept {
            slots.projects.insert(name, slot);
        }
    }

    /// Asks the indexes what they have.
    async fn refresh(&self, slot: &Arc<Slot>) -> Result<Found, Error> {
        let mut parts = slot.parts.lock().await;
        let parts = parts.get_or_insert_with(|| vec![Part::default(); self.0.upstreams.len()]);
        if let Some(shared) = &self.0.shared {
            let found =
                parts.iter().enumerate().map(|(index, part)| self.recall_shared(shared, index, part, slot));
            *parts = join_all(found).await;
        }
        let asked = self
            .0
            .upstreams
            .iter()
            .zip(parts.iter())
            .enumerate()
            .map(|(index, (upstream, part))| self.ask_one(index, upstream, part.clone(), slot));
        let mut failure = None;
        let mut fresh = Duration::MAX;
        let (mut is_asked, mut is_unchanged) = (false, true);
        let answers = join_all(asked).await;
        for ((part, result), upstream) in parts.iter_mut().zip(answers).zip(&self.0.upstreams) {
            match result {
                Ok(answer) => {
                    is_asked |= answer.checked != part.checked;
                    is_unchanged &= answer.modified == part.modified;
                    *part = answer;
                }
                // Without what one of several indexes has, a project of a private index might be taken from a public one.
                Err(error) if part.age() > upstream.ttl().saturating_add(self.0.config.stale_if_error) => {
                    return Err(error);
                }
                Err(error) => failure = Some(error),
            }
            fresh = fresh.min(upstream.ttl().saturating_sub(part.age()));
        }
        let (known, ripe) = self.combine(parts, slot).await?;
        fresh = fresh.min(ripe);
        if matches!(known, Known::Missing) {
            fresh = self.0.config.negative_ttl;
        }
        let came = match (is_asked, is_unchanged) {
            (false, _) => Verdict::Hit,
            (true, true) => Verdict::Revalidated,
            (true, false) => Verdict::Miss,
        };
        Ok(Found { known, fresh, failure, came })
    }

    /// What was kept on disk.
    async fn load(&self, slot: &Arc<Slot>) -> Vec<Part> {
        if let (Some(name), Some(keep)) = (slot.name.clone(), self.0.keep.clone()) {
            let work = move || keep.load_facts(&name);
            let mut facts = tokio::task::spawn_blocking(work).await.unwrap_or_default();
            if !self.reads_wheels() {
                facts.forget_metadata();
            }
            slot.learned().0.join(facts);
        }
        join_all((0..self.0.upstreams.len()).map(|index| self.load_one(index, slot))).await
    }

    async fn load_one(&self, index: usize, slot: &Arc<Slot>) -> Part {
        if self.0.keep.is_some() && !self.may_ask(slot.name.as_ref(), index) {
            return Part { checked: Some(SystemTime::now()), ..Part::default() };
        }
        let Some(kept) = self.load_kept(index, slot.name.as_ref()).await else { return Part::default() };
        let slot = slot.clone();
        let part = tokio::task::spawn_blocking(move || of_kept(kept, &slot)).await;
        part.ok().flatten().unwrap_or_default()
    }

    /// What may be served of what was kept, for how long it is fresh, and how long ago it was.
    async fn recalled(&self, parts: &[Part], slot: &Arc<Slot>) -> Option<(Known, Duration, Duration)> {
        let (mut fresh, mut overdue) = (Duration::MAX, Duration::ZERO);
        for (part, upstream) in parts.iter().zip(&self.0.upstreams) {
            // Without one of the indexes, it is not known what there is.
            part.checked?;
            fresh = fresh.min(upstream.ttl().saturating_sub(part.age()));
            overdue = overdue.max(part.age().saturating_sub(upstream.ttl()));
        }
        let (known, ripe) = self.combine(parts, slot).await.ok()?;
        Some((known, fresh.min(ripe), overdue))
    }

    /// What clients get of what the indexes have, and for how long that may be so.
    async fn combine(&self, parts: &[Part], slot: &Arc<Slot>) -> Result<(Known, Duration), Error> {
        let Some(rules) = self.0.config.rules.clone() else {
            return combine(parts, None, None);
        };
        // All files of a page may have to be looked at.
        let (parts, slot) = (parts.to_vec(), slot.clone());
        let work = move || combine(&parts, slot.name.as_ref(), Some(&rules));
        let failed = |_| Err(Error::with(Kind::Page, "making it failed"));
        tokio::task::spawn_blocking(work).await.unwrap_or_else(failed)
    }

    /// The page that another proxy has put into the bucket, if it is newer.
    async fn recall_shared(&self, shared: &Shared, index: usize, part: &Part, slot: &Arc<Slot>) -> Part {
        let upstream = &self.0.upstreams[index];
        if part.checked.is_some() && part.age() < upstream.ttl() {
            return part.clone();
        }
        let id = upstream.id();
        let (version, newer) = shared.newer(id, slot, part, upstream.budget()).await;
        let old = Part { shared: version, ..part.clone() };
        let (Some((document, kept)), Some(keep)) = (newer, self.0.keep.clone()) else { return old };
        let (slot, before) = (slot.clone(), old.clone());
        let work = move || {
            let part = of_kept(kept, &slot)?;
            if is_older(part.content.as_ref()?, before.content.as_ref()) {
                return None;
            }
            // Without it, the next start has an older one.
            let _ = keep.store(id, slot.name.as_ref(), &document);
            Some(Part { shared: before.shared, ..part })
        };
        tokio::task::spawn_blocking(work).await.ok().flatten().unwrap_or(old)
    }

    /// A page that was kept on disk. It is decompressed within the budget of its index.
    async fn load_kept(&self, index: usize, name: Option<&ProjectName>) -> Option<Kept> {
        let keep = self.0.keep.clone()?;
        let (upstream, name, max) = (&self.0.upstreams[index], name.cloned(), keep.max_page());
        let id = upstream.id();
        let open = move || keep.open(id, name.as_ref());
        let (document, touched) = tokio::task::spawn_blocking(open).await.ok()??;
        let mut reservation = upstream.budget().reserve();
        reservation.grow(Keep::page_len(&document)?.min(max)).await;
        let work = move || Keep::read(&document, max, touched, reservation);
        tokio::task::spawn_blocking(work).await.ok()?
    }

    /// Does something with a page on disk, on a thread.
    async fn keep(
        &self,
        index: usize,
        name: Option<&ProjectName>,
        work: impl FnOnce(&Keep, u64, Option<&ProjectName>) + Send + 'static,
    ) {
        let Some(keep) = self.0.keep.clone() else { return };
        let (id, name) = (self.0.upstreams[index].id(), name.cloned());
        let _ = tokio::task::spawn_blocking(move || work(&keep, id, name.as_ref())).await;
    }

    async fn ask_one(
        &self,
        index: usize,
        upstream: &Upstream,
        part: Part,
        slot: &Arc<Slot>,
    ) -> Result<Part, Error> {
        let now = SystemTime::now();
        let name = slot.name.as_ref();
        if !self.may_ask(name, index) {
            return Ok(Part { checked: Some(now), ..Part::default() });
        }
        // Kept on disk, or of an index that has a longer time than the others.
        if part.checked.is_some() && part.age() < upstream.ttl() {
            return Ok(part);
        }
        let body = match upstream.page(name, &part.validators).await? {
            PageResponse::NotModified if part.content.is_some() => {
                let part = self.relearn(index, Part { checked: Some(now), ..part }, slot).await;
                self.keep(index, name, move |keep, id, name| keep.touch(id, name, now)).await;
                if let Some(shared) = self.0.shared.clone()
                    && let Some(kept) = self.load_kept(index, name).await
                {
                    let version = part.shared.clone();
                    let work = move |_: &Keep, id, name: Option<&ProjectName>| {
                        if let Ok(document) = Keep::document(&kept.body, now, kept.modified) {
                            shared.share(id, name, document, version);
                        }
                    };
                    self.keep(index, name, work).await;
                }
                return Ok(part);
            }
            PageResponse::NotModified => {
                return Err(Error::with(Kind::Upstream, "nothing has changed, of nothing"));
            }
            PageResponse::NotFound => {
                if part.content.is_some() {
                    // It must not come back with the next start.
                    self.keep(index, name, |keep, id, name| drop(keep.remove(id, name))).await;
                    if let Some(shared) = &self.0.shared {
                        // If it stays there, it is asked for like any that has changed.
                        let _ = shared.bucket().purge_page(upstream.id(), name).await;
                    }
                }
                return Ok(Part { checked: Some(now), ..Part::default() });
            }
            PageResponse::Page(body) => body,
        };
        let validators = body.validators.clone();
        let (keep, shared, version) = (self.0.keep.clone(), self.0.shared.clone(), part.shared.clone());
        let id = self.0.upstreams[index].id();
        let (slot, old) = (slot.clone(), part.content.clone());
        let work = move || {
            let own_name = slot.name.as_ref();
            // The page becomes the memory of what was sent; a copy is kept on disk. Failing to do so fails nothing else.
            let document = keep.as_ref().and_then(|_| Keep::document(&body, now, now).ok());
            let (facts, learned) = slot.learned().clone();
            let content = read(body, own_name.is_some(), &facts)?;
            let is_older = is_older(&content, old.as_ref());
            if let (Some(keep), Some(document), false) = (keep, document, is_older) {
                if let Err(error) = keep.store(id, own_name, &document) {
                    tracing::warn!(error = %Chain(&error), "a page can't be stored");
                }
                if let Some(shared) = shared {
                    shared.share(id, own_name, document, version);
                }
            }
            Ok::<_, Error>(((!is_older).then_some(content), learned))
        };
        let (content, learned) = match tokio::task::spawn_blocking(work).await {
            Ok(result) => result?,
            Err(_) => return Err(Error::with(Kind::Page, "reading it failed")),
        };
        let Some(content) = content else {
            return Ok(Part { checked: Some(now), ..part });
        };
        let (checked, modified) = (Some(now), Some(now));
        Ok(Part { content: Some(content), validators, checked, modified, learned, ..part })
    }

    /// The same page, with what was learned of its files since it was read.
    async fn relearn(&self, index: usize, part: Part, slot: &Arc<Slot>) -> Part {
        let (facts, learned) = slot.learned().clone();
        if learned <= part.learned {
            return part;
        }
        let Some(kept) = self.load_kept(index, slot.name.as_ref()).await else {
            return Part { learned, ..part };
        };
        let is_project = slot.name.is_some();
        let work = move || read(kept.body, is_project, &facts).ok();
        match tokio::task::spawn_blocking(work).await {
            Ok(Some(content)) => {
                let modified = Some(SystemTime::now());
                Part { content: Some(content), modified, learned, ..part }
            }
            // Then it is the page as it was.
            _ => Part { learned, ..part },
        }
    }
}

/// What an index has, by a page of it that was kept.
fn of_kept(kept: Kept, slot: &Slot) -> Option<Part> {
    let (facts, learned) = slot.learned().clone();
    let validators = kept.body.validators.clone();
    let content = read(kept.body, slot.name.is_some(), &facts).ok()?;
    let (checked, modified) = (Some(kept.checked), Some(kept.modified));
    Some(Part { content: Some(content), validators, checked, modified, learned, shared: None })
}

fn read(body: PageBody, is_project: bool, facts: &Facts) -> Result<PartContent, Error> {
    Ok(match (is_project, body.is_json) {
        (true, true) => {
            let metadata = |wheel: &str, sha256: &[u8; 32]| facts.metadata(wheel, sha256);
            PartContent::Project(Arc::new(Page::from_json_with_metadata(body.bytes, metadata)?))
        }
        (true, false) => PartContent::Project(Arc::new(Page::from_html_with_facts(&body.bytes, facts)?)),
        (false, true) => PartContent::List(Arc::new(ProjectList::from_json(body.bytes)?)),
        (false, false) => PartContent::List(Arc::new(ProjectList::from_html(&body.bytes)?)),
    })
}

impl Inner {
    fn slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        // Nothing panics while it holds the lock half-way through a change.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("upstreams", &self.0.upstreams)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}
