//! Trait for hosts, and hosts for unattended programs and for tests.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use crate::Error;
use crate::error::Kind;
use crate::host::{HostMethod, HostRequest, HostResult};
use crate::message::HostInfo;
use crate::record::{ErrorCategory, ErrorRecord};
use crate::value::{PsString, Version};

/// Future returned by [`Host::call`].
pub type HostFuture<'a> = Pin<Box<dyn Future<Output = Result<HostResult, Box<ErrorRecord>>> + Send + 'a>>;

/// Handler of a session's host calls: the user's console or window, as scripts see it (MS-PSRP 2.2.3.17).
///
/// All pipelines of a pool share one host. The calls of one pipeline are sequential; calls of different pipelines may
/// be concurrent.
pub trait Host: Send + Sync {
    /// Handles one call. `pipeline` is `None` for calls of the pool itself.
    ///
    /// The result is ignored for methods that return nothing. An error is thrown in the script.
    fn call(&self, pipeline: Option<Uuid>, request: HostRequest) -> HostFuture<'_>;

    /// Describes the host to the server when a pool is opened: its parts and the current console settings. The default
    /// describes a line-based console without further parts.
    fn info(&self) -> HostInfo {
        HostInfo::lines()
    }
}

/// Host for unattended programs. Output written to it is discarded. Methods that ask for input fail in the script as
/// not implemented.
///
/// ```
/// use psrp::host::{HostRequest, HostResult};
/// use psrp::io::{Host, NullHost};
/// use psrp::record::ErrorCategory;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let host = NullHost::new().name("backup");
/// assert_eq!(host.call(None, HostRequest::GetName).await.unwrap(), HostResult::Text("backup".into()));
///
/// let error = host.call(None, HostRequest::ReadLine).await.unwrap_err();
/// assert_eq!(error.category, ErrorCategory::NotImplemented);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct NullHost {
    name: PsString,
    version: Version,
    id: Uuid,
    culture: PsString,
}

impl NullHost {
    /// Creates a host named `psrp` with the version of this crate, a random identifier and the culture `en-US`.
    pub fn new() -> Self {
        let part = |text: &str| text.parse().unwrap_or(0);
        Self {
            name: "psrp".into(),
            version: Version::new(
                part(env!("CARGO_PKG_VERSION_MAJOR")),
                part(env!("CARGO_PKG_VERSION_MINOR")),
            ),
            id: Uuid::new_v4(),
            culture: "en-US".into(),
        }
    }

    setters! {
        /// Sets the name.
        name(name: impl Into<PsString>) => name = name.into();
        /// Sets the version.
        version(version: Version) => version = version;
        /// Sets the identifier.
        instance_id(id: Uuid) => id = id;
        /// Sets the name of both cultures: the session's and the user interface's.
        culture(culture: impl Into<PsString>) => culture = culture.into();
    }

    /// Answers the requests for these properties.
    pub(super) fn identity(&self, request: &HostRequest) -> Option<HostResult> {
        Some(match request {
            HostRequest::GetName => HostResult::Text(self.name.clone()),
            HostRequest::GetVersion => HostResult::Version(self.version),
            HostRequest::GetInstanceId => HostResult::Guid(self.id),
            HostRequest::GetCurrentCulture | HostRequest::GetCurrentUICulture => {
                HostResult::Text(self.culture.clone())
            }
            _ => return None,
        })
    }
}

impl_default!(NullHost);

impl Host for NullHost {
    fn call(&self, _: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        let result = match self.identity(&request) {
            Some(result) => Ok(result),
            None if request.method().is_void() => Ok(HostResult::Nothing),
            None => Err(Box::new(ErrorRecord::host_not_implemented(request.method()))),
        };
        Box::pin(std::future::ready(result))
    }

    /// Describes a host without a user interface.
    fn info(&self) -> HostInfo {
        HostInfo { is_host_null: false, use_runspace_host: false, ..HostInfo::none() }
    }
}

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
