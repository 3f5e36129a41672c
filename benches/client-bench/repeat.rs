//! Repeats an operation against a server in the same process.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

use crate::server::{Answer, Server};

/// Number of tasks that share a client in the concurrent row: the thread count of the Go benchmark's machine.
pub(crate) const WORKERS: usize = 32;

/// Maximum number of connections of the concurrent row, which checks that connections are reused.
///
/// Greater than the number of tasks, because a task may send its next request before the pool has taken back
/// its connection.
const MAX_CONNECTIONS: u64 = 2 * WORKERS as u64;

/// Requests of the concurrent row before the first measurement: enough for each task to run while all others run.
const WARM_UP: u64 = 20 * WORKERS as u64;

/// The operation to repeat.
pub(crate) trait Operation: Clone + Send + Sync + 'static {
    /// Runs the operation once, checks the result, and returns its value.
    fn once(&self) -> impl Future<Output = u64> + Send;
}

/// An operation that repeats itself the given number of times.
pub(crate) type Operations<'a> = Box<dyn FnMut(u64) -> u64 + 'a>;

/// Creates the client of a server.
pub(crate) type Make<'a, O> = Box<dyn Fn(&Server) -> O + 'a>;

/// Returns a function that repeats an operation sequentially: client and server take turns on the calling thread. The
/// first call sets both up.
pub(crate) fn sequential<O: Operation>(answer: Answer, make: Make<'_, O>) -> Operations<'_> {
    let mut ready = None;
    Box::new(move |iterations| {
        let (runtime, operation) = ready.get_or_insert_with(|| {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
            let server = runtime.block_on(Server::start(answer.clone(), 1)).expect("a port is free");
            (runtime, make(&server))
        });
        runtime.block_on(async {
            let mut value = 0;
            for _ in 0..iterations {
                value = black_box(operation.once().await);
            }
            value
        })
    })
}

/// Returns a function that distributes the repetitions among [`WORKERS`] tasks, which share one client. Client and server
/// use all processors.
///
/// Before the first measurement, every task sends some requests on its own connection: the server responds
/// only when it has as many connections as tasks.
///
/// # Panics
///
/// The returned function panics if connections are not reused.
pub(crate) fn concurrent<O: Operation>(answer: Answer, make: Make<'_, O>) -> Operations<'_> {
    let mut ready = None;
    Box::new(move |iterations| {
        let pool = ready.get_or_insert_with(|| {
            let runtime = Builder::new_multi_thread().enable_all().build().expect("a runtime can be made");
            let server = runtime.block_on(Server::start(answer.clone(), WORKERS)).expect("a port is free");
            let mut pool = WorkerPool::new(runtime, make(&server), server);
            pool.run(WARM_UP);
            pool
        });
        pool.run(iterations)
    })
}

/// Idle worker tasks. They are reused, because spawning them costs more than a request.
struct WorkerPool {
    runtime: Runtime,
    server: Server,
    tasks: Vec<mpsc::UnboundedSender<Arc<AtomicU64>>>,
    values: mpsc::UnboundedReceiver<Option<u64>>,
}

impl WorkerPool {
    fn new<O: Operation>(runtime: Runtime, operation: O, server: Server) -> Self {
        let (done, values) = mpsc::unbounded_channel();
        let spawn = |_| {
            let (sender, mut work) = mpsc::unbounded_channel::<Arc<AtomicU64>>();
            let (operation, done) = (operation.clone(), done.clone());
            runtime.spawn(async move {
                while let Some(left) = work.recv().await {
                    let mut value = None;
                    let take = |left: u64| left.checked_sub(1);
                    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
                        value = Some(black_box(operation.once().await));
                    }
                    // The receiver is dropped after the last measurement.
                    let _ = done.send(value);
                }
            });
            sender
        };
        let tasks = (0..WORKERS).map(spawn).collect();
        Self { runtime, server, tasks, values }
    }

    /// Runs `iterations` operations and returns the value of one.
    fn run(&mut self, iterations: u64) -> u64 {
        let left = Arc::new(AtomicU64::new(iterations));
        for task in &self.tasks {
            task.send(Arc::clone(&left)).expect("no task has failed");
        }
        let value = self.runtime.block_on(async {
            let mut value = 0;
            for _ in 0..WORKERS {
                let task_value = self.values.recv().await.expect("no task has failed");
                value = task_value.unwrap_or(value);
            }
            value
        });
        let connections = self.server.accepted.load(Ordering::Relaxed);
        assert!(connections <= MAX_CONNECTIONS, "{WORKERS} tasks made {connections} connections");
        value
    }
}
