//! Runs an operation again and again beside its server.
//!
//! On several threads the repetitions run in a task. Awaited from outside of the runtime, every answer would wake up
//! another thread, which costs more than the request.

use std::hint::black_box;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::JoinError;

use crate::server::{Answer, Server};

/// How many tasks share a client in the concurrent row: as many as the original's machine has threads.
pub const WORKERS: usize = 32;

/// How many connections that may take, however many requests are sent: a connection is used again.
///
/// Some more than there are tasks, because a task may be faster with its next request than the pool is with taking
/// back the connection of the latest one.
const MOST: u64 = 2 * WORKERS as u64;

/// What is repeated.
pub trait Operation: Clone + Send + Sync + 'static {
    /// Does it once and gives its value, after the result was checked.
    fn once(&self) -> impl Future<Output = u64> + Send;
}

/// Where client and server run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// On the calling thread, both.
    One,
    /// On as many threads as there are processors, as in the original.
    PerProcessor,
}

impl Threads {
    fn runtime(self) -> Runtime {
        let mut builder = match self {
            Self::One => Builder::new_current_thread(),
            Self::PerProcessor => Builder::new_multi_thread(),
        };
        builder.enable_all().build().expect("a runtime can be made")
    }
}

/// The repetitions of one implementation, one after the other. Server and client are set up by the first call.
pub fn sequential<O: Operation>(
    threads: Threads,
    answer: Answer,
    make: impl Fn(&Server) -> O,
) -> impl FnMut(u64) -> u64 {
    let mut ready = None;
    move |iterations| {
        let (runtime, operation) = ready.get_or_insert_with(|| {
            let runtime = threads.runtime();
            let server = runtime.block_on(Server::start(answer.clone(), 1)).expect("a port is free");
            let operation = make(&server);
            (runtime, operation)
        });
        let operation = operation.clone();
        let repeated = async move {
            let mut value = 0;
            for _ in 0..iterations {
                value = black_box(operation.once().await);
            }
            value
        };
        match threads {
            Threads::One => runtime.block_on(repeated),
            Threads::PerProcessor => joined(runtime.block_on(runtime.spawn(repeated))),
        }
    }
}

/// The repetitions of one implementation, shared out among [`WORKERS`] tasks that use one client.
///
/// Before the first of them every task has sent some, on a connection of its own: the server answers only when it has
/// as many.
///
/// # Panics
///
/// The repetitions panic when connections are not used again.
pub fn concurrent<O: Operation>(
    threads: Threads,
    answer: Answer,
    make: impl Fn(&Server) -> O,
) -> impl FnMut(u64) -> u64 {
    /// Enough for each task to have had its turn while all others had theirs.
    const WARM_UP: u64 = 100 * WORKERS as u64;
    let mut ready = None;
    move |iterations| {
        let crowd = ready.get_or_insert_with(|| {
            let runtime = threads.runtime();
            let server = runtime.block_on(Server::start(answer.clone(), WORKERS)).expect("a port is free");
            let mut crowd = Crowd::new(runtime, make(&server), server);
            crowd.run(WARM_UP);
            crowd
        });
        crowd.run(iterations)
    }
}

/// Tasks that wait for work. They are kept between calls, for making them costs more than a request.
struct Crowd {
    runtime: Runtime,
    server: Server,
    tasks: Vec<mpsc::UnboundedSender<Arc<AtomicU64>>>,
    values: mpsc::UnboundedReceiver<Option<u64>>,
}

impl Crowd {
    fn new<O: Operation>(runtime: Runtime, operation: O, server: Server) -> Self {
        let (done, values) = mpsc::unbounded_channel();
        let spawn = |_| {
            let (sender, mut work) = mpsc::unbounded_channel::<Arc<AtomicU64>>();
            let (operation, done) = (operation.clone(), done.clone());
            runtime.spawn(async move {
                while let Some(left) = work.recv().await {
                    let mut value = None;
                    while take(&left) {
                        value = Some(black_box(operation.once().await));
                    }
                    // Nobody waits any more when the measuring is over.
                    let _ = done.send(value);
                }
            });
            sender
        };
        let tasks = (0..WORKERS).map(spawn).collect();
        Self { runtime, server, tasks, values }
    }

    /// Has `iterations` operations done and gives their value.
    fn run(&mut self, iterations: u64) -> u64 {
        let left = Arc::new(AtomicU64::new(iterations));
        for task in &self.tasks {
            task.send(Arc::clone(&left)).expect("no task has failed");
        }
        let value = self.runtime.block_on(async {
            let mut value = 0;
            for _ in 0..WORKERS {
                let of_task = self.values.recv().await.expect("no task has failed");
                value = of_task.unwrap_or(value);
            }
            value
        });
        let connections = self.server.accepted();
        assert!(connections <= MOST, "{WORKERS} tasks made {connections} connections");
        value
    }
}

/// Takes one of the operations that are left.
fn take(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

/// Passes on the panic of a task.
fn joined(result: Result<u64, JoinError>) -> u64 {
    result.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}
