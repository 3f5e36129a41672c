//! What becomes of the client's packets and of the handler's tasks.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use uuid::Uuid;

use super::shared::{Run, Shared, Slot};
use super::{Ended, Handler, Input, Outcome, Pipeline, Session};
use crate::Error;
use crate::client::PipelineRequest;
use crate::message::{Availability, GetCommandMetadata, InitRunspacePool, SessionCapability};
use crate::outofproc::Packet;
use crate::record::{ErrorCategory, ErrorRecord};
use crate::server::{Event, PipelineEvent};

/// What a task is for.
#[derive(Clone, Copy, Debug)]
enum Job {
    Opened,
    Connected,
    Reset { call_id: i64 },
    Pipeline { run: Run, is_nested: bool },
}

/// What a task has done.
enum Done {
    Opened(Outcome),
    Connected,
    Reset(bool),
    Pipeline(End),
}

/// How a pipeline ends.
enum End {
    Completed,
    Stopped,
    Failed(Box<ErrorRecord>),
}

pub(super) struct Work<H> {
    pub(super) shared: Arc<Shared>,
    pub(super) handler: Arc<H>,
    /// How the session ends, once that is known.
    pub(super) ended: Option<Ended>,
    tasks: JoinSet<Done>,
    jobs: HashMap<Id, Job>,
    session: Option<Session>,
    is_opening: bool,
    /// Pipelines that wait for a runspace.
    waiting: VecDeque<(Run, PipelineRequest)>,
    /// Runspaces that are in use.
    running: usize,
    runs: u64,
    stop_timeout: Duration,
    max_input: usize,
}

impl<H: Handler> Work<H> {
    pub(super) fn new(shared: Arc<Shared>, handler: H, stop_timeout: Duration, max_input: usize) -> Self {
        Self {
            shared,
            handler: Arc::new(handler),
            ended: None,
            tasks: JoinSet::new(),
            jobs: HashMap::new(),
            session: None,
            is_opening: false,
            waiting: VecDeque::new(),
            running: 0,
            runs: 0,
            stop_timeout,
            max_input,
        }
    }

    /// Takes a packet of the client.
    pub(super) fn take(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        if self.ended.is_some() {
            return Ok(());
        }
        match packet {
            Packet::Data { target, priority, data } => {
                self.shared.lock().pool.handle_input(priority, target, data)?;
                self.take_events();
                self.shared.lock().acknowledge(target, self.max_input);
            }
            other => {
                self.shared.lock().pool.handle_packet(other)?;
                self.take_events();
            }
        }
        Ok(())
    }

    fn take_events(&mut self) {
        loop {
            // The lock is not held while the event is looked at, for that may call the handler.
            let event = self.shared.lock().pool.poll_sized_event();
            let Some((event, size)) = event else { return };
            self.take_event(event, size);
        }
    }

    fn take_event(&mut self, event: Event, size: usize) {
        match event {
            Event::Opened(init) => {
                let session = self.session(Some(*init));
                self.is_opening = true;
                let handler = self.handler.clone();
                self.spawn(Job::Opened, async move { Done::Opened(handler.opened(&session).await) });
            }
            Event::Connected(_) => {
                let (session, handler) = (self.session(None), self.handler.clone());
                self.spawn(Job::Connected, async move {
                    handler.connected(&session).await;
                    Done::Connected
                });
            }
            Event::KeyExchanged => self.shared.tell_room(),
            Event::SetMaxRunspaces { call_id, count } => {
                let min = self.shared.lock().pool.min_runspaces();
                let accepted = count >= min.max(1) && self.handler.set_max_runspaces(count);
                self.answer(call_id, Availability::Accepted(accepted));
                self.start_waiting();
            }
            Event::SetMinRunspaces { call_id, count } => {
                let max = self.shared.lock().pool.max_runspaces();
                let accepted = (1..=max).contains(&count) && self.handler.set_min_runspaces(count);
                self.answer(call_id, Availability::Accepted(accepted));
            }
            Event::GetAvailableRunspaces { call_id } => {
                let idle = self.runspaces().saturating_sub(self.running);
                let count = self.handler.available_runspaces(i64::try_from(idle).unwrap_or(i64::MAX));
                self.answer(call_id, Availability::Count(count));
            }
            Event::ResetRunspaceState { call_id } => {
                let (session, handler) = (self.session(None), self.handler.clone());
                self.spawn(Job::Reset { call_id }, async move {
                    Done::Reset(handler.reset_runspace(&session).await)
                });
            }
            Event::HostResponse { response, .. } => self.shared.lock().answer(response),
            Event::Closed => self.ended = Some(Ended::Closed),
            Event::Pipeline { id, event } => self.take_pipeline_event(id, event, size),
            // Nobody waits for a message of the pool, and that it is broken is seen by its state.
            Event::SessionCapability(_) | Event::NotSent { .. } | Event::Broken(_) => {}
        }
    }

    fn take_pipeline_event(&mut self, id: Uuid, event: PipelineEvent, size: usize) {
        match event {
            PipelineEvent::Start(request) => {
                self.runs += 1;
                let run = Run { id, number: self.runs };
                let has_input = matches!(&request, PipelineRequest::Run(create) if !create.no_input);
                self.shared.lock().insert(id, Slot::new(run.number, has_input));
                match &request {
                    PipelineRequest::Run(create) if create.is_nested && !self.is_opening => {
                        self.start(run, request);
                    }
                    _ => {
                        self.waiting.push_back((run, request));
                        self.start_waiting();
                    }
                }
            }
            PipelineEvent::Input(value) => self.shared.lock().put_input(id, Some((value, size))),
            PipelineEvent::EndOfInput => self.shared.lock().put_input(id, None),
            PipelineEvent::Stop => {
                let Some(run) = self.shared.lock().run(id) else { return };
                if self.forget_waiting(run) {
                    // It has to run before it can be stopped.
                    let _ = self.shared.lock().pool.pipeline(id).and_then(|mut pipeline| pipeline.start());
                    self.finish(run, End::Stopped);
                } else if let Some(slot) = self.shared.lock().slot(run) {
                    slot.stop.request();
                }
            }
            // The client knows of a failure, and nothing can be written any more.
            PipelineEvent::Failed(_) | PipelineEvent::Closed => {
                let run = self.shared.lock().run(id);
                if let Some(run) = run {
                    self.forget_waiting(run);
                    self.shared.lock().remove(run);
                }
                // What it had written is dropped.
                self.shared.tell_room();
            }
        }
    }

    fn forget_waiting(&mut self, run: Run) -> bool {
        let at = self.waiting.iter().position(|(waiting, _)| *waiting == run);
        at.and_then(|at| self.waiting.remove(at)).is_some()
    }

    /// What handlers know of the session; made when it opens, or when a client connects.
    fn session(&mut self, init: Option<InitRunspacePool>) -> Session {
        if let (Some(session), None) = (&self.session, &init) {
            return session.clone();
        }
        let state = self.shared.lock();
        let peer = state.pool.peer().cloned().unwrap_or_else(SessionCapability::default);
        let session = Session {
            shared: self.shared.clone(),
            id: state.pool.id(),
            init: Arc::new(init.unwrap_or_default()),
            peer: Arc::new(peer),
        };
        self.session.insert(session).clone()
    }

    fn answer(&self, call_id: i64, availability: Availability) {
        // There is a request of this kind, and the pool is open unless it is about to end.
        let _ = self.shared.lock().pool.respond(call_id, availability);
    }

    /// How many pipelines may run at a time.
    fn runspaces(&self) -> usize {
        usize::try_from(self.shared.lock().pool.max_runspaces()).unwrap_or(0).max(1)
    }

    fn start_waiting(&mut self) {
        while !self.is_opening && self.running < self.runspaces() {
            let Some((run, request)) = self.waiting.pop_front() else { return };
            self.start(run, request);
        }
    }

    fn start(&mut self, run: Run, request: PipelineRequest) {
        let session = self.session(None);
        let mut state = self.shared.lock();
        let started = state.pool.pipeline(run.id).and_then(|mut pipeline| pipeline.start());
        let Some(slot) = state.slot(run) else { return };
        let stop = slot.stop.clone();
        if started.is_err() {
            state.remove(run);
            return;
        }
        drop(state);
        let pipeline = Pipeline { run, stop: stop.clone(), session };
        let is_nested = matches!(&request, PipelineRequest::Run(create) if create.is_nested);
        let (handler, timeout) = (self.handler.clone(), self.stop_timeout);
        let task = async move {
            let work = async {
                match request {
                    PipelineRequest::Run(create) => {
                        let input = Input { run, shared: pipeline.session.shared.clone() };
                        handler.run(*create, pipeline, input).await
                    }
                    PipelineRequest::GetCommandMetadata(get) => list(&*handler, *get, pipeline).await,
                }
            };
            let result = tokio::select! {
                biased;
                result = work => Some(result),
                () = stop.is_due(timeout) => None,
            };
            Done::Pipeline(match result {
                _ if stop.is_requested() => End::Stopped,
                None => End::Stopped,
                Some(Ok(())) => End::Completed,
                Some(Err(record)) => End::Failed(record),
            })
        };
        let task = self.tasks.spawn(task);
        self.jobs.insert(task.id(), Job::Pipeline { run, is_nested });
        self.running += usize::from(!is_nested);
        if let Some(slot) = self.shared.lock().slot(run) {
            slot.task = Some(task);
        }
    }

    fn spawn(&mut self, job: Job, task: impl Future<Output = Done> + Send + 'static) {
        let task = self.tasks.spawn(task);
        self.jobs.insert(task.id(), job);
    }

    /// Looks for tasks that have ended. Whether there were any.
    pub(super) fn poll_tasks(&mut self, cx: &mut Context<'_>) -> bool {
        let mut any = false;
        while let Poll::Ready(Some(result)) = self.tasks.poll_join_next_with_id(cx) {
            any = true;
            let (id, done) = match result {
                Ok((id, done)) => (id, Ok(done)),
                Err(error) => (error.id(), Err(error)),
            };
            if let Some(job) = self.jobs.remove(&id) {
                self.conclude(job, done);
            }
        }
        any
    }

    fn conclude(&mut self, job: Job, done: Result<Done, JoinError>) {
        match (job, done) {
            (Job::Opened, done) => {
                let outcome = match done {
                    Ok(Done::Opened(outcome)) => outcome,
                    _ => Err(panicked()),
                };
                self.is_opening = false;
                match outcome {
                    Ok(()) => self.start_waiting(),
                    Err(record) => {
                        // If even that can't be written, the client hears nothing but the end.
                        let _ = self.shared.lock().pool.set_broken(*record);
                        self.ended.get_or_insert(Ended::Broken);
                    }
                }
            }
            (Job::Connected, _) => {}
            (Job::Reset { call_id }, done) => {
                let accepted = matches!(done, Ok(Done::Reset(true)));
                self.answer(call_id, Availability::Accepted(accepted));
            }
            (Job::Pipeline { run, is_nested }, done) => {
                self.running -= usize::from(!is_nested);
                let end = match done {
                    Ok(Done::Pipeline(end)) => end,
                    _ => End::Failed(panicked()),
                };
                self.finish(run, end);
                self.start_waiting();
            }
        }
    }

    /// Tells the client how a run has ended, unless it has closed the pipeline.
    fn finish(&self, run: Run, end: End) {
        let mut state = self.shared.lock();
        if state.slot(run).is_some()
            && let Ok(mut pipeline) = state.pool.pipeline(run.id)
        {
            let told = match end {
                End::Completed => pipeline.complete(),
                End::Stopped => pipeline.stop(),
                End::Failed(record) => pipeline.fail(*record),
            };
            if told.is_err() {
                // Only a record of the handler's can't be written.
                let record =
                    ErrorRecord::new("the reason of a failure can't be written", ErrorCategory::WriteError);
                let _ = pipeline.fail(record);
            }
        }
        state.remove(run);
    }

    /// Gives up all tasks and waits until they have ended.
    pub(super) async fn shut_down(&mut self) {
        self.waiting.clear();
        self.tasks.shutdown().await;
    }
}

/// Nobody waits any more, even where the session was given up.
impl<H> Drop for Work<H> {
    fn drop(&mut self) {
        self.shared.end();
    }
}

/// The commands of a handler as the output of a pipeline.
async fn list(handler: &impl Handler, get: GetCommandMetadata, pipeline: Pipeline) -> Outcome {
    let commands = handler.commands(get, pipeline.clone()).await?;
    pipeline.output(GetCommandMetadata::count_to_value(commands.len())).await?;
    for command in commands {
        pipeline.output(command.to_value()).await?;
    }
    Ok(())
}

#[cold]
fn panicked() -> Box<ErrorRecord> {
    let record = ErrorRecord::new("the server has failed", ErrorCategory::NotSpecified);
    Box::new(record.with_id("HandlerPanicked"))
}
