//! Dispatches the client's packets and runs the handler's tasks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::JoinSet;
use uuid::Uuid;

use super::server_state::{PipelineRun, RunState, SharedServerState};
use super::{Handler, Input, Outcome, Pipeline, Session, SessionEnd};
use crate::Error;
use crate::client::PipelineRequest;
use crate::io::task::catch_panic;
use crate::message::{Availability, GetCommandMetadata, InitRunspacePool, SessionCapability};
use crate::outofproc::Packet;
use crate::record::{ErrorCategory, ErrorRecord};
use crate::server::{Event, PipelineEvent, PoolRequest};

enum TaskEnd {
    Opened(Outcome),
    Reset {
        call_id: i64,
        accepted: bool,
    },
    Pipeline {
        run: PipelineRun,
        is_nested: bool,
        /// `None` if the pipeline was stopped.
        outcome: Option<Outcome>,
    },
}

pub(super) struct Dispatcher<H> {
    pub(super) shared: Arc<SharedServerState>,
    pub(super) handler: Arc<H>,
    /// How the session ended, once known.
    pub(super) ended: Option<SessionEnd>,
    tasks: JoinSet<TaskEnd>,
    session: Option<Session>,
    is_opening: bool,
    /// Pipelines waiting for a runspace.
    queued: VecDeque<(PipelineRun, PipelineRequest)>,
    /// Number of runspaces in use.
    running: usize,
    run_count: u64,
    stop_timeout: Duration,
}

impl<H: Handler> Dispatcher<H> {
    pub(super) fn new(shared: Arc<SharedServerState>, handler: H, stop_timeout: Duration) -> Self {
        Self {
            shared,
            handler: Arc::new(handler),
            ended: None,
            tasks: JoinSet::new(),
            session: None,
            is_opening: false,
            queued: VecDeque::new(),
            running: 0,
            run_count: 0,
            stop_timeout,
        }
    }

    pub(super) fn handle_packet(&mut self, packet: Packet<'_>) -> Result<(), Error> {
        if self.ended.is_some() {
            return Ok(());
        }
        match packet {
            Packet::Data { target, priority, data } => {
                self.shared.lock().pool.handle_input(priority, target, data)?;
                self.dispatch_events();
                self.shared.lock().acknowledge(target);
            }
            other => {
                self.shared.lock().pool.handle_packet(other)?;
                self.dispatch_events();
            }
        }
        Ok(())
    }

    fn dispatch_events(&mut self) {
        loop {
            // Unlock first: dispatching an event can call the handler.
            let event = self.shared.lock().pool.events.pop_with_size();
            let Some((event, size)) = event else { return };
            self.dispatch_event(event, size);
        }
    }

    fn dispatch_event(&mut self, event: Event, size: usize) {
        match event {
            Event::Opened(init) => {
                let session = self.session(Some(*init));
                self.is_opening = true;
                let handler = self.handler.clone();
                self.tasks.spawn(async move {
                    let outcome = catch_panic(async { handler.opened(&session).await }).await;
                    TaskEnd::Opened(outcome.unwrap_or_else(|| Err(panicked())))
                });
            }
            Event::Request { call_id, request: PoolRequest::SetMaxRunspaces(count) } => {
                let min = self.shared.lock().pool.min_runspaces();
                let accepted = count >= min.max(1) && self.handler.set_max_runspaces(count);
                self.answer(call_id, Availability::Accepted(accepted));
                self.start_queued();
            }
            Event::Request { call_id, request: PoolRequest::SetMinRunspaces(count) } => {
                let max = self.shared.lock().pool.max_runspaces();
                let accepted = (1..=max).contains(&count);
                self.answer(call_id, Availability::Accepted(accepted));
            }
            Event::Request { call_id, request: PoolRequest::GetAvailableRunspaces } => {
                let idle = self.runspaces().saturating_sub(self.running);
                self.answer(call_id, Availability::Count(idle as i64));
            }
            Event::Request { call_id, request: PoolRequest::ResetRunspaceState } => {
                let (session, handler) = (self.session(None), self.handler.clone());
                self.tasks.spawn(async move {
                    let reset = catch_panic(async { handler.reset_runspace(&session).await }).await;
                    TaskEnd::Reset { call_id, accepted: reset == Some(true) }
                });
            }
            Event::HostResponse { response, .. } => self.shared.lock().complete_host_call(response),
            Event::Closed => self.ended = Some(SessionEnd::Closed),
            Event::Pipeline { id, event } => self.dispatch_pipeline_event(id, event, size),
            // The state machine stores the peer's capabilities and the key, and the pool's state shows that it is broken.
            Event::SessionCapability(_)
            | Event::Connected(_)
            | Event::KeyExchanged
            | Event::NotSent { .. }
            | Event::Broken(_) => {}
        }
    }

    fn dispatch_pipeline_event(&mut self, id: Uuid, event: PipelineEvent, size: usize) {
        match event {
            PipelineEvent::Start(request) => {
                self.run_count += 1;
                let run = PipelineRun { id, number: self.run_count };
                let has_input = matches!(&request, PipelineRequest::Run(create) if !create.no_input);
                self.shared.lock().runs.insert(id, RunState::new(run.number, has_input));
                match &request {
                    PipelineRequest::Run(create) if create.is_nested && !self.is_opening => {
                        self.start(run, request);
                    }
                    _ => {
                        self.queued.push_back((run, request));
                        self.start_queued();
                    }
                }
            }
            PipelineEvent::Input(value) => self.shared.lock().push_input(id, Some((value, size))),
            PipelineEvent::EndOfInput => self.shared.lock().push_input(id, None),
            PipelineEvent::Stop => {
                let Some(run) = self.shared.lock().current_run(id) else { return };
                if self.remove_queued(run) {
                    // Only a started pipeline can be stopped.
                    let _ = self.shared.lock().pool.pipeline(id).and_then(|mut pipeline| pipeline.start());
                    self.finish(run, None);
                } else if let Some(run_state) = self.shared.lock().run_state(run) {
                    run_state.stop.token.cancel();
                }
            }
            // The client knows about the failure, and nothing more can be written.
            PipelineEvent::Failed(_) | PipelineEvent::Closed => {
                let run = self.shared.lock().current_run(id);
                if let Some(run) = run {
                    self.remove_queued(run);
                    self.shared.lock().remove(run);
                }
                // The pipeline's unsent output was dropped.
                self.shared.notify_writers();
            }
        }
    }

    fn remove_queued(&mut self, run: PipelineRun) -> bool {
        let at = self.queued.iter().position(|(queued, _)| *queued == run);
        at.and_then(|at| self.queued.remove(at)).is_some()
    }

    /// Returns the session for handlers. Creates it when the pool opens or a client connects.
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
        // Cannot fail for a pending request, unless the session is about to end.
        let _ = self.shared.lock().pool.respond(call_id, availability);
    }

    fn runspaces(&self) -> usize {
        usize::try_from(self.shared.lock().pool.max_runspaces()).unwrap_or(0).max(1)
    }

    fn start_queued(&mut self) {
        while !self.is_opening && self.running < self.runspaces() {
            let Some((run, request)) = self.queued.pop_front() else { return };
            self.start(run, request);
        }
    }

    fn start(&mut self, run: PipelineRun, request: PipelineRequest) {
        let session = self.session(None);
        let mut state = self.shared.lock();
        let started = state.pool.pipeline(run.id).and_then(|mut pipeline| pipeline.start());
        let Some(run_state) = state.run_state(run) else { return };
        let (stop, aborted) = (run_state.stop.clone(), run_state.aborted.clone());
        if started.is_err() {
            state.remove(run);
            return;
        }
        drop(state);
        let pipeline = Pipeline { run, stop: stop.clone(), session };
        let is_nested = matches!(&request, PipelineRequest::Run(create) if create.is_nested);
        let (handler, timeout) = (self.handler.clone(), self.stop_timeout);
        self.running += usize::from(!is_nested);
        self.tasks.spawn(async move {
            let handler_future = catch_panic(async {
                match request {
                    PipelineRequest::Run(create) => {
                        let input = Input { run, shared: pipeline.session.shared.clone() };
                        handler.run(*create, pipeline, input).await
                    }
                    PipelineRequest::GetCommandMetadata(get) => list(&*handler, *get, pipeline).await,
                }
            });
            let outcome = tokio::select! {
                biased;
                outcome = handler_future => Some(outcome.unwrap_or_else(|| Err(panicked()))),
                () = stop.wait_for_deadline(timeout) => None,
                () = aborted.cancelled() => None,
            };
            TaskEnd::Pipeline { run, is_nested, outcome: outcome.filter(|_| !stop.token.is_cancelled()) }
        });
    }

    /// Handles finished tasks. Returns whether there were any.
    pub(super) fn poll_tasks(&mut self, cx: &mut Context<'_>) -> bool {
        let mut has_finished = false;
        while let Poll::Ready(Some(result)) = self.tasks.poll_join_next(cx) {
            has_finished = true;
            // Panics of the handler are caught in the tasks.
            if let Ok(end) = result {
                self.handle_task_end(end);
            }
        }
        has_finished
    }

    fn handle_task_end(&mut self, end: TaskEnd) {
        match end {
            TaskEnd::Opened(outcome) => {
                self.is_opening = false;
                match outcome {
                    Ok(()) => self.start_queued(),
                    Err(record) => {
                        // If the record cannot be encoded, the client sees only the end of the session.
                        let _ = self.shared.lock().pool.set_broken(*record);
                        self.ended.get_or_insert(SessionEnd::Broken);
                    }
                }
            }
            TaskEnd::Reset { call_id, accepted } => self.answer(call_id, Availability::Accepted(accepted)),
            TaskEnd::Pipeline { run, is_nested, outcome } => {
                self.running -= usize::from(!is_nested);
                self.finish(run, outcome);
                self.start_queued();
            }
        }
    }

    /// Reports the end of a run to the client, unless the client has closed the pipeline.
    fn finish(&self, run: PipelineRun, outcome: Option<Outcome>) {
        let mut state = self.shared.lock();
        if state.run_state(run).is_some()
            && let Ok(mut pipeline) = state.pool.pipeline(run.id)
        {
            let reported = match outcome {
                Some(Ok(())) => pipeline.complete(),
                None => pipeline.stop(),
                Some(Err(record)) => pipeline.fail(*record),
            };
            if reported.is_err() {
                // Only the handler's record can fail to encode.
                let record = ErrorRecord::new(
                    "the handler's error record can't be encoded",
                    ErrorCategory::WriteError,
                );
                let _ = pipeline.fail(record);
            }
        }
        state.remove(run);
    }

    /// Aborts all tasks and waits until they have ended.
    pub(super) async fn shut_down(&mut self) {
        self.queued.clear();
        self.tasks.shutdown().await;
    }
}

/// Ends all waiting operations even if the session's future is dropped.
impl<H> Drop for Dispatcher<H> {
    fn drop(&mut self) {
        self.shared.end();
    }
}

/// Lists a handler's commands as output of the pipeline.
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
    let record = ErrorRecord::new("the handler of the server panicked", ErrorCategory::NotSpecified);
    Box::new(record.with_id("HandlerPanicked"))
}
