//! Suites and rows. A row collects its implementations and hands them to the task of the process when it is dropped.

use std::cell::RefCell;
use std::collections::HashSet;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

use bench_report::model::{self, Role};

use crate::alloc::counted;
use crate::duel::Run;
use crate::implementation::Impl;
use crate::options::Options;
use crate::placement::Placement;
use crate::resident::Resident;
use crate::worker::Task;

/// All rows of one system, built once per pass.
#[derive(Debug)]
pub struct Suite {
    system: String,
    options: Options,
    pub(crate) task: Task,
    programs: Vec<Rc<RefCell<Resident>>>,
    /// Folder of [`give_document`](Self::give_document).
    documents: PathBuf,
    rows: HashSet<String>,
    placement: Placement,
}

impl Suite {
    pub(crate) fn new(
        system: &str,
        options: Options,
        task: Task,
        programs: Vec<Resident>,
        documents: PathBuf,
    ) -> Self {
        Self {
            system: system.to_owned(),
            options,
            task,
            programs: programs.into_iter().map(|program| Rc::new(RefCell::new(program))).collect(),
            documents,
            rows: HashSet::new(),
            placement: Placement::default(),
        }
    }

    /// Begins a pass: all rows are built again, at other addresses.
    pub(crate) fn begin_pass(&mut self) {
        self.rows.clear();
        self.placement.renew();
    }

    /// Writes a file for the programs in other languages, which find its folder in the environment variable
    /// `BENCH_DOCUMENTS`. They read it at the first request for a row, so it is given before the row.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn give_document(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let path = self.documents.join(name);
        if self.programs.is_empty() || fs::read(&path).is_ok_and(|written| written == content) {
            return Ok(());
        }
        // Several processes may write the same file.
        let part = path.with_extension(std::process::id().to_string());
        fs::write(&part, content)?;
        fs::rename(&part, &path)
    }

    /// Starts a row, which runs when it is dropped. Its key `<system>/<name>` must equal the key of the published row,
    /// if there is one.
    ///
    /// # Panics
    ///
    /// Panics if the suite already has a row of this name.
    pub fn row(&mut self, name: impl Into<String>) -> Row<'_> {
        let name = name.into();
        assert!(self.rows.insert(name.clone()), "the suite {} has two rows named {name}", self.system);
        self.placement.shift(64);
        Row {
            about: model::Row { key: format!("{}/{name}", self.system), ..model::Row::default() },
            has_threads: false,
            sides: Vec::new(),
            suite: self,
        }
    }

    /// Returns whether this process may run an implementation of the row.
    ///
    /// A suite can use this to avoid building a large payload. May return true for a row that is not run, never false
    /// for one that is.
    pub fn selects(&self, row: &str) -> bool {
        let key = format!("{}/{row}", self.system);
        self.options.may_select_row(&key) && self.task.needs(&key)
    }

    /// Returns whether this process only checks that every operation works, so that a smaller input suffices.
    pub fn is_testing(&self) -> bool {
        matches!(self.task, Task::Test)
    }
}

/// One row of a suite: one operation on one input by several implementations.
pub struct Row<'a> {
    suite: &'a mut Suite,
    /// Entry of the report with the properties that all implementations share.
    about: model::Row,
    has_threads: bool,
    sides: Vec<Side<'a>>,
}

impl<'a> Row<'a> {
    /// Bytes of input per operation, for the throughput in bytes per second.
    pub fn payload(mut self, bytes: u64) -> Self {
        self.about.payload_bytes = Some(bytes);
        self
    }

    /// Elements per operation, such as events, for the throughput in elements per second.
    pub fn elements(mut self, elements: u64) -> Self {
        self.about.elements = Some(elements);
        self
    }

    /// Name of another published row that measures the same code. Its figures are those of this row.
    pub fn alias(mut self, name: &str) -> Self {
        self.about.aliases.push(format!("{}/{name}", self.suite.system));
        self
    }

    /// Says that the operations use several threads, so that the process is not pinned to one processor.
    pub fn threads(mut self) -> Self {
        self.has_threads = true;
        self
    }

    /// Adds an implementation.
    ///
    /// `operation` returns a value computed from its result, such as a sum of lengths. It must equal `expected`.
    ///
    /// # Panics
    ///
    /// Panics if the row has two implementations with one name or two of ours with one class, or if ours or a peer has
    /// no class. When the row runs in a test, panics if one of ours returns another value.
    pub fn run(self, implementation: Impl, expected: u64, mut operation: impl FnMut() -> u64 + 'a) -> Self {
        self.run_batches(implementation, expected, move |iterations| {
            let mut value = 0;
            for _ in 0..iterations {
                value = black_box(operation());
            }
            value
        })
    }

    /// [`run`](Self::run) for an operation that repeats itself.
    ///
    /// `operations` gets the number of repetitions, at least 1, and returns the value of each repetition. Use it for
    /// operations in tasks of a runtime, so that starting the task is paid once per slice.
    ///
    /// # Panics
    ///
    /// Same as [`run`](Self::run).
    pub fn run_batches(
        mut self,
        implementation: Impl,
        expected: u64,
        operations: impl FnMut(u64) -> u64 + 'a,
    ) -> Self {
        let Impl { entry, once } = implementation;
        let model::Row { implementation: name, role, class, .. } = &entry;
        let (key, others) = (&self.about.key, || self.sides.iter().map(|side| &side.entry));
        assert!(
            others().all(|other| other.implementation != *name),
            "row {key} has two implementations named {name}"
        );
        assert!(class.is_some() || *role == Role::Limit, "{name} of row {key} has no class");
        assert!(
            *role != Role::Ours || others().all(|other| other.role != Role::Ours || other.class != *class),
            "row {key} has two implementations of ours of the class {class:?}"
        );
        self.sides.push(Side { entry, once, expected, work: Work::Here(Box::new(operations)) });
        self
    }

    /// Adds the implementations of programs in other languages. They must return the check value of the first side of
    /// their class, or of the row.
    fn add_programs(&mut self) {
        let checks: Vec<_> =
            self.sides.iter().map(|side| (side.entry.class.clone(), side.expected)).collect();
        let Some(&(_, first)) = checks.first() else { return };
        let row = self.about.name();
        for program in &self.suite.programs {
            let entries = program.borrow().entries(row);
            self.sides.extend(entries.into_iter().map(|entry| {
                let same_class = checks.iter().find(|(class, _)| *class == entry.class);
                let expected = same_class.map_or(first, |(_, expected)| *expected);
                Side { entry, once: false, expected, work: Work::Resident(Rc::clone(program)) }
            }));
        }
    }
}

impl Drop for Row<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.add_programs();
        let model::Row { key, aliases, elements, payload_bytes, .. } = &self.about;
        for Side { entry, .. } in &mut self.sides {
            entry.key.clone_from(key);
            entry.aliases.clone_from(aliases);
            entry.elements = *elements;
            entry.payload_bytes = entry.payload_bytes.or(*payload_bytes);
        }
        let mut task = std::mem::take(&mut self.suite.task);
        task.run(key, &mut self.sides, self.has_threads, &self.suite.options);
        self.suite.task = task;
    }
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row").field("about", &self.about).finish_non_exhaustive()
    }
}

/// An implementation with its operations.
pub(crate) struct Side<'a> {
    /// Its entry in the report, without figures.
    pub(crate) entry: model::Row,
    pub(crate) once: bool,
    expected: u64,
    work: Work<'a>,
}

enum Work<'a> {
    Here(Box<dyn FnMut(u64) -> u64 + 'a>),
    Resident(Rc<RefCell<Resident>>),
}

impl Side<'_> {
    /// Runs one operation and compares its value. Returns its duration; `None` if a program does not have the row.
    ///
    /// # Errors
    ///
    /// The failure or the wrong check value, in one line.
    pub(crate) fn check(&mut self) -> Result<Option<Duration>, String> {
        let Some((time, value)) = self.call(1)? else { return Ok(None) };
        match value == self.expected {
            true => Ok(Some(time)),
            false => Err(format!("failed: check value {value}, expected {}", self.expected)),
        }
    }

    /// Runs a number of operations. Returns their duration and the check value of one; `None` if a program does not have
    /// the row.
    fn call(&mut self, iterations: u64) -> Result<Option<(Duration, u64)>, String> {
        match &mut self.work {
            Work::Here(operations) => {
                let start = Instant::now();
                // A peer that panicked may be in an invalid state; it is not called again.
                let result = catch_unwind(AssertUnwindSafe(|| operations(iterations)));
                let time = start.elapsed();
                let value = result.map_err(|payload| {
                    let message = payload
                        .downcast_ref::<&str>()
                        .copied()
                        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
                        .unwrap_or("no message");
                    format!("failed: panicked: {}", message.lines().next().unwrap_or_default())
                })?;
                Ok(Some((time, black_box(value))))
            }
            Work::Resident(program) => {
                let numbers = program.borrow_mut().request("run", &self.entry, iterations)?;
                Ok(numbers.map(|(nanos, value)| (Duration::from_nanos(nanos), value)))
            }
        }
    }

    /// Returns the operations, if they run in this process.
    pub(crate) fn here(&mut self) -> Option<&mut (dyn FnMut(u64) -> u64 + '_)> {
        match &mut self.work {
            Work::Here(operations) => Some(operations),
            Work::Resident(_) => None,
        }
    }

    /// Returns allocated bytes and allocations of a number of operations, if the language counts them.
    pub(crate) fn count(&mut self, iterations: u64) -> Option<(u64, u64)> {
        match &mut self.work {
            Work::Here(operations) => {
                let (allocations, bytes) = counted(|| _ = black_box(operations(iterations)));
                Some((bytes, allocations))
            }
            Work::Resident(program) => program.borrow_mut().request("count", &self.entry, iterations).ok()?,
        }
    }
}

impl Run for Side<'_> {
    fn run(&mut self, iterations: u64) -> Result<(Duration, u64), String> {
        self.call(iterations)?.ok_or_else(|| "failed: the row is gone".to_owned())
    }

    fn is_resident(&self) -> bool {
        matches!(self.work, Work::Resident(_))
    }
}
