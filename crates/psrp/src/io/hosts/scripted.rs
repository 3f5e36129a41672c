//! Host for tests.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::NullHost;
use crate::Error;
use crate::error::Kind;
use crate::host::{HostMethod, HostRequest, HostResult};
use crate::io::{Host, HostFuture};
use crate::record::{ErrorCategory, ErrorRecord};

/// Host for tests: returns scripted results and records every call.
///
/// A call that returns a value takes the first remaining result, which must be for the called method. Otherwise the
/// call fails in the script and [`verify`](Self::verify) reports it. Methods with a handler set by
/// [`always`](Self::always) and requests for the host's properties, such as `GetName`, do not use the list. Calls that
/// return nothing are only recorded.
///
/// ```
/// use psrp::host::{HostMethod, HostRequest, HostResult};
/// use psrp::io::{Host, ScriptedHost};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), psrp::Error> {
/// let host = ScriptedHost::new()
///     .answer(HostMethod::ReadLine, HostResult::Text("Ada".into()))
///     .always(HostMethod::PromptForChoice, |request| match request {
///         HostRequest::PromptForChoice { default_choice, .. } => Ok(HostResult::Number(*default_choice)),
///         _ => Ok(HostResult::Number(0)),
///     });
/// host.call(None, HostRequest::WriteLine2 { text: "Your name?".into() }).await.unwrap();
/// assert_eq!(host.call(None, HostRequest::ReadLine).await.unwrap(), HostResult::Text("Ada".into()));
///
/// host.verify()?;
/// assert_eq!(host.written(), "Your name?\n");
/// assert_eq!(host.calls().len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use]
pub struct ScriptedHost {
    null: NullHost,
    always: HashMap<HostMethod, CallHandler>,
    state: Mutex<ScriptState>,
}

type CallResult = Result<HostResult, Box<ErrorRecord>>;
type CallHandler = Box<dyn Fn(&HostRequest) -> CallResult + Send + Sync>;

#[derive(Default)]
struct ScriptState {
    results: VecDeque<(HostMethod, CallResult)>,
    calls: Vec<ScriptedCall>,
    unexpected: Vec<HostMethod>,
}

/// Call recorded by a [`ScriptedHost`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScriptedCall {
    /// Calling pipeline, or `None` for the pool itself.
    pub pipeline: Option<Uuid>,
    /// Called method and its arguments.
    pub request: HostRequest,
}

impl ScriptedHost {
    /// Creates a host without scripted results.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a result to the list.
    pub fn answer(self, method: HostMethod, result: HostResult) -> Self {
        self.state().results.push_back((method, Ok(result)));
        self
    }

    /// Appends an error to the list. It is thrown in the script.
    pub fn fail(self, method: HostMethod, error: ErrorRecord) -> Self {
        self.state().results.push_back((method, Err(Box::new(error))));
        self
    }

    /// Handles all calls of a method with a function.
    pub fn always(
        mut self,
        method: HostMethod,
        answer: impl Fn(&HostRequest) -> CallResult + Send + Sync + 'static,
    ) -> Self {
        self.always.insert(method, Box::new(answer));
        self
    }

    /// Returns all calls in order.
    pub fn calls(&self) -> Vec<ScriptedCall> {
        self.state().calls.clone()
    }

    /// Returns all written text in call order, without colours. The text is not escaped for terminals.
    pub fn written(&self) -> String {
        use HostRequest::{
            Write1, Write2, WriteDebugLine, WriteErrorLine, WriteLine1, WriteLine2, WriteLine3,
            WriteVerboseLine, WriteWarningLine,
        };

        let mut written = String::new();
        for call in &self.state().calls {
            match &call.request {
                Write1 { text } | Write2 { text, .. } => written += &text.to_str_lossy(),
                WriteLine1 => written.push('\n'),
                WriteLine2 { text }
                | WriteLine3 { text, .. }
                | WriteErrorLine { text }
                | WriteDebugLine { text }
                | WriteVerboseLine { text }
                | WriteWarningLine { text } => {
                    written += &text.to_str_lossy();
                    written.push('\n');
                }
                _ => {}
            }
        }
        written
    }

    /// Checks that all results were used and no call was unexpected.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_mismatch`] if there were unexpected calls or unused results. The error names the methods.
    pub fn verify(&self) -> Result<(), Error> {
        let state = self.state();
        let names = |methods: &mut dyn Iterator<Item = HostMethod>| {
            methods.map(|method| method.to_string()).collect::<Vec<_>>().join(", ")
        };
        let mut problems = Vec::new();
        if !state.unexpected.is_empty() {
            problems.push(format!("unexpected calls: {}", names(&mut state.unexpected.iter().copied())));
        }
        if !state.results.is_empty() {
            let unused = &mut state.results.iter().map(|(method, _)| *method);
            problems.push(format!("unused results: {}", names(unused)));
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(Error::with(Kind::Mismatch, problems.join("; "))),
        }
    }

    /// Every step leaves the state consistent, so a poisoned lock is no problem.
    fn state(&self) -> MutexGuard<'_, ScriptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, request: &HostRequest) -> CallResult {
        let method = request.method();
        if let Some(answer) = self.always.get(&method) {
            return answer(request);
        }
        if method.is_void() {
            return Ok(HostResult::Nothing);
        }
        let mut state = self.state();
        if let Some((_, answer)) = state.results.pop_front_if(|(expected, _)| *expected == method) {
            return answer;
        }
        if let Some(result) = self.null.identity(request) {
            return Ok(result);
        }
        let message = match state.results.front() {
            Some((expected, _)) => format!("{method} was called, but {expected} is the next scripted call."),
            None => format!("{method} was called, but no scripted result is left."),
        };
        state.unexpected.push(method);
        Err(Box::new(ErrorRecord::host_failure(message, ErrorCategory::InvalidOperation)))
    }
}

impl Host for ScriptedHost {
    fn call(&self, pipeline: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        Box::pin(async move {
            let answer = self.handle(&request);
            self.state().calls.push(ScriptedCall { pipeline, request });
            answer
        })
    }
}

/// Shows numbers of calls and results, not their contents.
impl fmt::Debug for ScriptedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("ScriptedHost")
            .field("calls", &state.calls.len())
            .field("results", &state.results.len())
            .field("unexpected", &state.unexpected)
            .finish_non_exhaustive()
    }
}
