//! The first messages of a session.

use super::{HostInfo, PrimitiveDictionary};
use crate::shape::{CopyBudget, Field, Mismatch, object_struct, open_enum};
use crate::value::{PsString, Value, Version};

object_struct! {
    /// Versions of one side, its first message (MS-PSRP 2.2.2.1).
    ///
    /// Client and server use the lower one of their versions. Since protocol 2.4, that of PowerShell 7.6, secure strings rely
    /// on the encryption of the connection; before, they are encrypted with a key that client and server exchange.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SessionCapability {
        /// Version of PowerShell; 2.0 whatever the real one is.
        pub ps_version: Version => "PSVersion" [or Version::new(2, 0)],
        /// Version of the protocol.
        pub protocol_version: Version => "protocolversion",
        /// Version of CLIXML.
        pub serialization_version: Version => "SerializationVersion" [or Self::SERIALIZATION],
        /// Time zone in the binary format of .NET, which is not interpreted.
        pub time_zone: Option<Box<[u8]>> => "TimeZone" [optional],
    }
}

impl SessionCapability {
    /// The latest version of the protocol that is implemented here.
    pub const PROTOCOL: Version = Version::new(2, 4);

    /// The version of CLIXML.
    pub const SERIALIZATION: Version = Version::new(1, 1).with_revision(0, 1);
}

impl Default for SessionCapability {
    fn default() -> Self {
        Self {
            ps_version: Version::new(2, 0),
            protocol_version: Self::PROTOCOL,
            serialization_version: Self::SERIALIZATION,
            time_zone: None,
        }
    }
}

open_enum! {
    /// On which threads a pool runs its pipelines
    /// (`System.Management.Automation.Runspaces.PSThreadOptions`, MS-PSRP 2.2.3.6).
    #[derive(Default)]
    pub enum ThreadOptions as "System.Management.Automation.Runspaces.PSThreadOptions" {
        /// As the server likes.
        #[default]
        Default = 0,
        /// A new thread for each.
        UseNewThread = 1,
        /// One thread for all of a runspace.
        ReuseThread = 2,
        /// The thread that calls.
        UseCurrentThread = 3,
    }
}

open_enum! {
    /// The COM apartment of a thread (`System.Threading.ApartmentState`, MS-PSRP 2.2.3.7).
    #[derive(Default)]
    pub enum ApartmentState as "System.Threading.ApartmentState" {
        /// Single-threaded.
        Sta = 0 "STA",
        /// Multi-threaded.
        Mta = 1 "MTA",
        /// Not set.
        #[default]
        Unknown = 2,
    }
}

object_struct! {
    /// Opens a pool (MS-PSRP 2.2.2.2). The default is one runspace and no host.
    #[derive(Clone, Debug, PartialEq)]
    pub struct InitRunspacePool {
        /// The least number of runspaces, at least 1.
        pub min_runspaces: i32 => "MinRunspaces",
        /// The largest number of runspaces, not less than `min_runspaces`.
        pub max_runspaces: i32 => "MaxRunspaces",
        /// On which threads pipelines run.
        pub thread_options: ThreadOptions => "PSThreadOptions" [or ThreadOptions::Default],
        /// The apartment of these threads.
        pub apartment_state: ApartmentState => "ApartmentState" [or ApartmentState::Unknown],
        /// The client's host.
        pub host_info: HostInfo => "HostInfo" [or HostInfo::none()],
        /// What the application tells the other side, `$PSSenderInfo.ApplicationArguments` there.
        pub application_arguments: Option<PrimitiveDictionary> => "ApplicationArguments" [nil],
    }
}

impl Default for InitRunspacePool {
    fn default() -> Self {
        Self {
            min_runspaces: 1,
            max_runspaces: 1,
            thread_options: ThreadOptions::Default,
            apartment_state: ApartmentState::Unknown,
            host_info: HostInfo::none(),
            application_arguments: None,
        }
    }
}

object_struct! {
    /// How many runspaces a pool has: the answer to connecting to one (MS-PSRP 2.2.2.30), or what the client that
    /// connects asks for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RunspaceLimits {
        /// The least number.
        pub min_runspaces: i32 => "MinRunspaces",
        /// The largest number.
        pub max_runspaces: i32 => "MaxRunspaces",
    }
}

/// Connects to a disconnected pool (MS-PSRP 2.2.2.29), since protocol 2.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectRunspacePool {
    /// How many runspaces the pool is to have, `None` to leave them as they are.
    pub limits: Option<RunspaceLimits>,
}

/// An empty string stands for no limits.
impl Field for ConnectRunspacePool {
    fn write(&self) -> Value {
        self.limits.as_ref().map_or_else(|| Value::String(PsString::default()), Field::write)
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Mismatch> {
        let none = value.is_nil() || value.as_ps_string().is_some();
        Ok(Self { limits: if none { None } else { Some(Field::read(value, budget)?) } })
    }
}

object_struct!(@values ConnectRunspacePool);
