//! Host of unattended programs.

use uuid::Uuid;

use super::not_implemented;
use crate::host::{HostRequest, HostResult};
use crate::io::{Host, HostFuture};
use crate::message::HostInfo;
use crate::value::{PsString, Version};

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
#[must_use]
pub struct NullHost {
    pub(super) identity: HostIdentity,
}

/// Properties that every host reports.
#[derive(Clone, Debug)]
pub(super) struct HostIdentity {
    name: PsString,
    version: Version,
    id: Uuid,
    culture: PsString,
}

impl HostIdentity {
    /// Answers the requests for these properties.
    pub(super) fn result(&self, request: &HostRequest) -> Option<HostResult> {
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

/// Name `psrp`, the version of this crate, a random identifier, and the culture `en-US`.
impl Default for HostIdentity {
    fn default() -> Self {
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
}

impl NullHost {
    /// Creates a host named `psrp` with the version of this crate, a random identifier and the culture `en-US`.
    pub fn new() -> Self {
        Self { identity: HostIdentity::default() }
    }

    /// Sets the name.
    pub fn name(mut self, name: impl Into<PsString>) -> Self {
        self.identity.name = name.into();
        self
    }

    /// Sets the version.
    pub fn version(mut self, version: Version) -> Self {
        self.identity.version = version;
        self
    }

    /// Sets the identifier.
    pub fn instance_id(mut self, id: Uuid) -> Self {
        self.identity.id = id;
        self
    }

    /// Sets the name of both cultures: the session's and the user interface's.
    pub fn culture(mut self, culture: impl Into<PsString>) -> Self {
        self.identity.culture = culture.into();
        self
    }
}

impl Default for NullHost {
    fn default() -> Self {
        Self::new()
    }
}

impl Host for NullHost {
    fn call(&self, _: Option<Uuid>, request: HostRequest) -> HostFuture<'_> {
        let result = match self.identity.result(&request) {
            Some(result) => Ok(result),
            None if request.method().is_void() => Ok(HostResult::Nothing),
            None => Err(not_implemented(request.method())),
        };
        Box::pin(std::future::ready(result))
    }

    /// Describes a host without a user interface.
    fn info(&self) -> HostInfo {
        HostInfo { is_host_null: false, use_runspace_host: false, ..HostInfo::none() }
    }
}
