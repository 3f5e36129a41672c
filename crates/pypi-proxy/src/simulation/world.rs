//! The simulated system: tasks that run in an order that the seed decides, one clock, disks, and the connections to the
//! index.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, SystemTime};
use std::{fmt, io, thread};

use parking_lot::Mutex;
use reqwest::{RequestBuilder, Response};
use test_support::simulation::Random;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{Instant, sleep};

use super::index::Index;

/// Start of the simulated time. It is later than all times of the real disk.
const START: Duration = Duration::from_secs(4_000_000_000);
/// Events that are printed if a run fails.
const LAST_EVENTS: usize = 80;

/// A simulated process, the owner of tasks. The first one is that of the simulation itself.
pub(super) type Process = usize;

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
    static PROCESS: Cell<Process> = const { Cell::new(0) };
}

pub(super) struct World {
    pub(super) random: Random,
    pub(super) index: Index,
    start: Instant,
    turns: Arc<Mutex<Turns>>,
    /// Number of tasks so far.
    started: usize,
    /// Hash of all turns and events.
    trace: DefaultHasher,
    /// Tasks that were started, with their processes.
    tasks: Vec<(Process, AbortHandle)>,
    /// Whether the disk of each process is full.
    pub(super) full_disks: Vec<bool>,
    /// Number of starts and reloads of each process.
    pub(super) generations: Vec<usize>,
    events: Vec<String>,
    /// Invariants that were violated.
    failures: Vec<String>,
}

impl World {
    /// Creates the world of this thread.
    pub(super) fn install(mut random: Random, index: Index) {
        fastrand::seed(random.number());
        let world = Self {
            random,
            index,
            start: Instant::now(),
            turns: Arc::default(),
            started: 0,
            trace: DefaultHasher::new(),
            tasks: Vec::new(),
            full_disks: vec![false; 4],
            generations: vec![0; 4],
            events: Vec::new(),
            failures: Vec::new(),
        };
        WORLD.set(Some(world));
    }

    /// Removes the world of this thread, and returns the hash of all that happened.
    pub(super) fn remove() -> u64 {
        WORLD.take().map_or(0, |world| world.trace.finish())
    }
}

/// Calls a function with the world of this thread, if there is one.
pub(super) fn try_with<R>(work: impl FnOnce(&mut World) -> R) -> Option<R> {
    WORLD.with_borrow_mut(|world| world.as_mut().map(work))
}

/// Calls a function with the world of this thread.
pub(super) fn with<R>(work: impl FnOnce(&mut World) -> R) -> R {
    try_with(work).expect("a simulation runs")
}

pub(super) fn pick<T: Copy>(values: &[T]) -> T {
    with(|world| world.random.pick(values))
}

pub(super) fn chance(percent: usize) -> bool {
    with(|world| world.random.chance(percent))
}

pub(super) fn below(limit: usize) -> usize {
    with(|world| world.random.below(limit))
}

/// Returns the process of the current task.
pub(super) fn process() -> Process {
    PROCESS.get()
}

pub(super) async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        sleep(Duration::from_millis(milliseconds)).await;
    }
}

/// Adds an event to the log.
pub(super) fn log(event: fmt::Arguments<'_>) {
    with(|world| {
        let time = world.start.elapsed().as_secs_f64();
        let event = format!("{time:10.3} [{}] {event}", PROCESS.get());
        event.hash(&mut world.trace);
        world.events.push(event);
    });
}

/// Records that an invariant is violated. Tasks do not panic for that, because callers may survive it.
pub(super) fn fail(what: String) {
    log(format_args!("FAILED: {what}"));
    with(|world| world.failures.push(what));
}

/// Panics if an invariant was violated.
pub(super) fn check() {
    let failed = with(|world| {
        let first = world.events.len().saturating_sub(LAST_EVENTS);
        (!world.failures.is_empty()).then(|| (world.events[first..].join("\n"), world.failures.join("\n")))
    });
    if let Some((events, failures)) = failed {
        panic!("{events}\n\n{failures}");
    }
}

/// Returns the number of tasks of the processes besides the first one.
pub(super) fn running() -> usize {
    with(|world| {
        world.tasks.retain(|(_, task)| !task.is_finished());
        world.tasks.iter().filter(|(process, _)| *process > 0).count()
    })
}

/// Ends all tasks of a process at once.
pub(super) async fn kill(process: Process) {
    let tasks = with(|world| world.tasks.extract_if(.., |(of, _)| *of == process).collect::<Vec<_>>());
    tasks.iter().for_each(|(_, task)| task.abort());
    while tasks.iter().any(|(_, task)| !task.is_finished()) {
        tokio::task::yield_now().await;
    }
}

/// Starts a task of a process.
pub(super) fn spawn_in<F>(process: Process, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let (turns, number) = with(|world| {
        world.started += 1;
        world.turns.lock().tasks.insert(world.started, Waker::noop().clone());
        (world.turns.clone(), world.started)
    });
    let wake = Arc::new(WakeTask { turns, number });
    wake.wake_by_ref();
    let task = tokio::spawn(Task { future: Box::pin(future), process, waker: wake.clone().into(), wake });
    with(|world| world.tasks.push((process, task.abort_handle())));
    task
}

/// Runs a future and the tasks that it starts, one at a time in an order that the seed decides: it does not depend on the
/// order in which they are woken.
pub(super) async fn run(main: impl Future<Output = ()> + Send + 'static) {
    let turns = with(|world| world.turns.clone());
    let mut main = spawn_in(0, main);
    let ended = poll_fn(|cx| {
        if let Poll::Ready(ended) = Pin::new(&mut main).poll(cx) {
            return Poll::Ready(ended);
        }
        let mut turns = turns.lock();
        turns.scheduler = Some(cx.waker().clone());
        if turns.of.is_none() && !turns.woken.is_empty() {
            let number = turns.woken.iter().nth(below(turns.woken.len())).copied();
            turns.of = number;
            turns.woken.remove(&number.unwrap_or_default());
            with(|world| number.hash(&mut world.trace));
            if let Some(task) = number.and_then(|number| turns.tasks.get(&number)) {
                task.wake_by_ref();
            }
        }
        Poll::Pending
    });
    if let Err(panic) = ended.await {
        resume_unwind(panic.into_panic());
    }
}

/// Tasks that have not ended by number, those that are woken, and whose turn it is.
#[derive(Default)]
struct Turns {
    tasks: HashMap<usize, Waker>,
    woken: BTreeSet<usize>,
    of: Option<usize>,
    scheduler: Option<Waker>,
}

impl Turns {
    fn end(&mut self) {
        self.of = None;
        self.scheduler.iter().for_each(Waker::wake_by_ref);
    }
}

struct WakeTask {
    turns: Arc<Mutex<Turns>>,
    number: usize,
}

impl Wake for WakeTask {
    fn wake(self: Arc<Self>) {
        let mut turns = self.turns.lock();
        if turns.tasks.contains_key(&self.number) {
            turns.woken.insert(self.number);
        }
        turns.scheduler.iter().for_each(Waker::wake_by_ref);
    }
}

struct Task<F> {
    future: Pin<Box<F>>,
    process: Process,
    wake: Arc<WakeTask>,
    waker: Waker,
}

impl<F: Future> Future for Task<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        {
            let mut turns = this.wake.turns.lock();
            turns.tasks.insert(this.wake.number, cx.waker().clone());
            if turns.of != Some(this.wake.number) {
                return Poll::Pending;
            }
        }
        let before = PROCESS.replace(this.process);
        let cx = &mut Context::from_waker(&this.waker);
        let polled = catch_unwind(AssertUnwindSafe(|| this.future.as_mut().poll(cx)));
        PROCESS.set(before);
        this.wake.turns.lock().end();
        polled.unwrap_or_else(|panic| {
            if this.process > 0 {
                fail(format!("a task has panicked: {}", text(&*panic)));
            }
            resume_unwind(panic)
        })
    }
}

impl<F> Drop for Task<F> {
    fn drop(&mut self) {
        let WakeTask { turns, number } = &*self.wake;
        let mut turns = turns.lock();
        turns.tasks.remove(number);
        turns.woken.remove(number);
        if turns.of == Some(*number) {
            turns.end();
        }
    }
}

fn text(panic: &dyn Any) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&'static str>().copied()).unwrap_or_default()
}

fn is_simulated() -> bool {
    WORLD.with_borrow(Option::is_some)
}

pub(crate) fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    if is_simulated() { spawn_in(process(), future) } else { tokio::spawn(future) }
}

/// The work runs at a random time, and not concurrently with anything else.
pub(crate) fn spawn_blocking<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> JoinHandle<R> {
    if !is_simulated() {
        return tokio::task::spawn_blocking(work);
    }
    spawn(async move {
        pause(pick(&[0, 0, 0, 1, 30])).await;
        work()
    })
}

/// Simulated processes have no further threads.
pub(crate) fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    if !is_simulated() {
        thread::Builder::new().name(name.into()).spawn(work)?;
    }
    Ok(())
}

pub(crate) fn now() -> SystemTime {
    try_with(|world| SystemTime::UNIX_EPOCH + START + world.start.elapsed()).unwrap_or_else(SystemTime::now)
}

pub(crate) fn disk() -> io::Result<()> {
    match try_with(|world| world.full_disks[PROCESS.get()]) {
        Some(true) => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    }
}

pub(crate) async fn send(request: RequestBuilder) -> reqwest::Result<Response> {
    if is_simulated() { Index::respond(request.build()?).await } else { request.send().await }
}
