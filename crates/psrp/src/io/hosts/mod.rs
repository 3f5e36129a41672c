//! Trait for hosts, and hosts for unattended programs and for tests.

mod scripted;

pub use scripted::{ScriptedCall, ScriptedHost};

use std::future::Future;
use std::pin::Pin;

use uuid::Uuid;

use crate::host::{HostRequest, HostResult};
use crate::message::HostInfo;
use crate::record::ErrorRecord;
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

impl Default for NullHost {
    fn default() -> Self {
        Self::new()
    }
}

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
