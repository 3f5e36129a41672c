//! What a message is about.

/// The part of the protocol that a message belongs to, which the upper half of its type tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The session: capabilities, opening a pool, keys.
    Session,
    /// The runspace pool.
    Pool,
    /// One pipeline of the pool.
    Pipeline,
}

macro_rules! message_types {
    ($($(#[$doc:meta])* $name:ident = $id:literal,)*) => {
        /// The type of a message (MS-PSRP 2.2.1). Types that are not known here keep their number. Numbers in brackets
        /// are sections of MS-PSRP.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum MessageType {
            $($(#[$doc])* $name,)*
            /// A type without a name here; never one of the numbers above when it comes from [`MessageType::from_id`].
            Other(u32),
        }

        impl MessageType {
            /// All types with a name, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The type of this number.
            pub const fn from_id(id: u32) -> Self {
                match id {
                    $($id => Self::$name,)*
                    _ => Self::Other(id),
                }
            }

            /// The number of the type.
            pub const fn id(self) -> u32 {
                match self {
                    $(Self::$name => $id,)*
                    Self::Other(id) => id,
                }
            }
        }
    };
}

message_types! {
    /// Both sides: version and capabilities (2.2.2.1). The first message.
    SessionCapability = 0x0001_0002,
    /// Client: opens a pool (2.2.2.2).
    InitRunspacePool = 0x0001_0004,
    /// Client: the public key for the session key (2.2.2.3).
    PublicKey = 0x0001_0005,
    /// Server: the session key, encrypted with the public key (2.2.2.4).
    EncryptedSessionKey = 0x0001_0006,
    /// Server: asks for the public key (2.2.2.5). Not sent since protocol 2.2.
    PublicKeyRequest = 0x0001_0007,
    /// Client: connects to a disconnected pool (2.2.2.29). Since protocol 2.2.
    ConnectRunspacePool = 0x0001_0008,
    /// Client: changes the largest number of runspaces (2.2.2.6).
    SetMaxRunspaces = 0x0002_1002,
    /// Client: changes the least number of runspaces (2.2.2.7).
    SetMinRunspaces = 0x0002_1003,
    /// Server: answers the four requests of the pool (2.2.2.8).
    RunspaceAvailability = 0x0002_1004,
    /// Server: the state of the pool (2.2.2.9).
    RunspacePoolState = 0x0002_1005,
    /// Client: starts a pipeline (2.2.2.10).
    CreatePipeline = 0x0002_1006,
    /// Client: asks how many runspaces are free (2.2.2.11).
    GetAvailableRunspaces = 0x0002_1007,
    /// Server: an event of the remote session (2.2.2.12).
    UserEvent = 0x0002_1008,
    /// Server: data of the application, with the version table (2.2.2.13).
    ApplicationPrivateData = 0x0002_1009,
    /// Client: starts a pipeline that lists commands (2.2.2.14). Since protocol 2.1.
    GetCommandMetadata = 0x0002_100A,
    /// Server: the size of a pool that a client connected to (2.2.2.30). Since protocol 2.2.
    RunspacePoolInitData = 0x0002_100B,
    /// Client: resets the runspace of the pool (2.2.2.31). Since protocol 2.3.
    ResetRunspaceState = 0x0002_100C,
    /// Server: calls a method of the client's host for the pool (2.2.2.15).
    RunspacePoolHostCall = 0x0002_1100,
    /// Client: answers a call for the pool (2.2.2.16).
    RunspacePoolHostResponse = 0x0002_1101,
    /// Client: an object for the input of a pipeline (2.2.2.17).
    PipelineInput = 0x0004_1002,
    /// Client: the input of a pipeline ends (2.2.2.18). Has no data.
    EndOfPipelineInput = 0x0004_1003,
    /// Server: an object of the output of a pipeline (2.2.2.19).
    PipelineOutput = 0x0004_1004,
    /// Server: an error record (2.2.2.20).
    ErrorRecord = 0x0004_1005,
    /// Server: the state of a pipeline (2.2.2.21).
    PipelineState = 0x0004_1006,
    /// Server: a debug record (2.2.2.22).
    DebugRecord = 0x0004_1007,
    /// Server: a verbose record (2.2.2.23).
    VerboseRecord = 0x0004_1008,
    /// Server: a warning record (2.2.2.24).
    WarningRecord = 0x0004_1009,
    /// Server: a progress record (2.2.2.25).
    ProgressRecord = 0x0004_1010,
    /// Server: an information record (2.2.2.26). Since protocol 2.3.
    InformationRecord = 0x0004_1011,
    /// Server: calls a method of the client's host for a pipeline (2.2.2.27).
    PipelineHostCall = 0x0004_1100,
    /// Client: answers a call for a pipeline (2.2.2.28).
    PipelineHostResponse = 0x0004_1101,
}

impl MessageType {
    /// The layer that the number tells; `None` for a number outside of all of them.
    pub const fn layer(self) -> Option<Layer> {
        match self.id() >> 16 {
            1 => Some(Layer::Session),
            2 => Some(Layer::Pool),
            4 => Some(Layer::Pipeline),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_agree() {
        assert_eq!(MessageType::ALL.len(), 31);
        for &kind in MessageType::ALL {
            assert_eq!(MessageType::from_id(kind.id()), kind);
            assert!(kind.layer().is_some());
        }
        assert_eq!(MessageType::CreatePipeline.layer(), Some(Layer::Pool));
        assert_eq!(MessageType::PipelineState.layer(), Some(Layer::Pipeline));
        assert_eq!(MessageType::PublicKey.layer(), Some(Layer::Session));
    }

    #[test]
    fn inventions_of_others_have_no_name() {
        // Declared but never sent (close, stop), or sent by one implementation alone (signal, disconnect).
        for id in [0x0001_0003, 0x0004_1012, 0x0004_1001, 0x0001_000C, 0, u32::MAX] {
            assert_eq!(MessageType::from_id(id), MessageType::Other(id));
            assert_eq!(MessageType::from_id(id).id(), id);
        }
        assert_eq!(MessageType::Other(0x0008_0000).layer(), None);
    }
}
