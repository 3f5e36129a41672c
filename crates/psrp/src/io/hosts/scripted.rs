//! A host for tests.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::null::Identity;
use super::{failed, not_implemented};
use crate::Error;
use crate::error::Kind;
use crate::host::{HostMethod, HostRequest, HostResult};
use crate::io::{Host, HostFuture};
use crate::message::HostInfo;
use crate::record::{ErrorCategory, ErrorRecord};

/// A host that answers what it was told to and remembers every call, for tests of programs that run scripts.
///
/// A call that returns something takes the first answer that is left, which has to be for its method; without one that
/// fits it fails in the script, and [`verify`](Self::verify) complains. Methods with an answer of their own
/// ([`always`](Self::always)) and those about the host itself, such as `GetName`, take none from the list. Calls that return nothing are only
/// remembered.
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
    identity: Identity,
    info: Option<HostInfo>,
    always: HashMap<HostMethod, Answerer>,
    state: Mutex<State>,
}

type Answer = Result<HostResult, Box<ErrorRecord>>;
type Answerer = Box<dyn Fn(&HostRequest) -> Answer + Send + Sync>;

#[derive(Default)]
struct State {
    answers: VecDeque<(HostMethod, Answer)>,
    calls: Vec<ScriptedCall>,
    unexpected: Vec<HostMethod>,
}

/// A call that a [`ScriptedHost`] was given.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScriptedCall {
    /// The pipeline that called, `None` for the pool itself.
    pub pipeline: Option<Uuid>,
    /// What it asked for.
    pub request: HostRequest,
}

impl ScriptedHost {
    /// A host without answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an answer to the list.
    pub fn answer(self, method: HostMethod, result: HostResult) -> Self {
        self.state().answers.push_back((method, Ok(result)));
        self
    }

    /// Adds an error to the list, which is thrown in the script.
    pub fn fail(self, method: HostMethod, error: ErrorRecord) -> Self {
        self.state().answers.push_back((method, Err(Box::new(error))));
        self
    }

    /// Answers all calls of a method in this way.
    pub fn always(
        mut self,
        method: HostMethod,
        answer: impl Fn(&HostRequest) -> Answer + Send + Sync + 'static,
    ) -> Self {
        self.always.insert(method, Box::new(answer));
        self
    }

    /// Sets what the server is told about the host. Default: one that reads and writes lines.
    pub fn with_info(mut self, info: HostInfo) -> Self {
        self.info = Some(info);
        self
    }

    /// All calls up to now, in their order.
    pub fn calls(&self) -> Vec<ScriptedCall> {
        self.state().calls.clone()
    }

    /// All text that was written, in the order of the calls, whatever its colour. It is not made safe for a terminal.
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

    /// Looks whether everything went as it was scripted.
    ///
    /// # Errors
    ///
    /// Fails if there were calls without an answer, or if answers are left ([`Error::is_mismatch`]); the text names the
    /// methods.
    pub fn verify(&self) -> Result<(), Error> {
        let state = self.state();
        let names = |methods: &mut dyn Iterator<Item = HostMethod>| {
            methods.map(|method| method.to_string()).collect::<Vec<_>>().join(", ")
        };
        let mut problems = Vec::new();
        if !state.unexpected.is_empty() {
            problems
                .push(format!("calls without an answer: {}", names(&mut state.unexpected.iter().copied())));
        }
        if !state.answers.is_empty() {
            let left = &mut state.answers.iter().map(|(method, _)| *method);
            problems.push(format!("answers without a call: {}", names(left)));
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(Error::with(Kind::Mismatch, problems.join("; "))),
        }
    }

    /// What is changed under the lock is whole after each step.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, request: &HostRequest) -> Answer {
        let method = request.method();
        if let Some(answer) = self.always.get(&method) {
            return answer(request);
        }
        if method.is_void() {
            return Ok(HostResult::Nothing);
        }
        let mut state = self.state();
        match state.answers.front() {
            Some((expected, _)) if *expected == method => {
                // There is one: it was just looked at.
                state.answers.pop_front().map_or_else(|| Err(not_implemented(method)), |(_, answer)| answer)
            }
            front => {
                if let Some(result) = self.identity.answer(request) {
                    return Ok(result);
                }
                let message = match front {
                    Some((expected, _)) => format!("{method} was called where {expected} is scripted."),
                    None => format!("{method} was called, and no answer is left."),
                };
                state.unexpected.push(method);
                Err(failed(message, ErrorCategory::InvalidOperation))
            }
        }
    }
}

impl Host for ScriptedHost {
    fn call(&self, pipeline: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        Box::pin(async move {
            let answer = self.decide(&request);
            self.state().calls.push(ScriptedCall { pipeline, request });
            answer
        })
    }

    fn info(&self) -> HostInfo {
        self.info.clone().unwrap_or_else(HostInfo::lines)
    }
}

/// Shows how many calls and answers there are, not what they say.
impl fmt::Debug for ScriptedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("ScriptedHost")
            .field("calls", &state.calls.len())
            .field("answers", &state.answers.len())
            .field("unexpected", &state.unexpected)
            .finish_non_exhaustive()
    }
}
