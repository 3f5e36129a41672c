//! Message types.

macro_rules! message_types {
    ($($(#[$doc:meta])* $name:ident = $id:literal,)*) => {
        /// The type of a message (MS-PSRP 2.2.1). Unknown types are preserved as numbers. Numbers in parentheses are
        /// sections of MS-PSRP.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum MessageType {
            $($(#[$doc])* $name,)*
            /// An unknown type; values from [`MessageType::from_id`] use it only for unknown numbers.
            Other(u32),
        }

        impl MessageType {
            /// All known types in ascending order.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the type with this number.
            pub const fn from_id(id: u32) -> Self {
                match id {
                    $($id => Self::$name,)*
                    _ => Self::Other(id),
                }
            }

            /// Returns the number of the type.
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
    /// Client and server: versions and capabilities (2.2.2.1). The first message.
    SessionCapability = 0x0001_0002,
    /// Client: opens a pool (2.2.2.2).
    InitRunspacePool = 0x0001_0004,
    /// Client: public key to encrypt the session key (2.2.2.3).
    PublicKey = 0x0001_0005,
    /// Server: session key, encrypted with the public key (2.2.2.4).
    EncryptedSessionKey = 0x0001_0006,
    /// Server: requests the public key (2.2.2.5). Not sent since protocol 2.2.
    PublicKeyRequest = 0x0001_0007,
    /// Client: connects to a disconnected pool (2.2.2.29). Since protocol 2.2.
    ConnectRunspacePool = 0x0001_0008,
    /// Client: sets the maximum number of runspaces (2.2.2.6).
    SetMaxRunspaces = 0x0002_1002,
    /// Client: sets the minimum number of runspaces (2.2.2.7).
    SetMinRunspaces = 0x0002_1003,
    /// Server: response to the four requests of a pool (2.2.2.8).
    RunspaceAvailability = 0x0002_1004,
    /// Server: state of the pool (2.2.2.9).
    RunspacePoolState = 0x0002_1005,
    /// Client: starts a pipeline (2.2.2.10).
    CreatePipeline = 0x0002_1006,
    /// Client: requests the number of available runspaces (2.2.2.11).
    GetAvailableRunspaces = 0x0002_1007,
    /// Server: event of the remote session (2.2.2.12).
    UserEvent = 0x0002_1008,
    /// Server: application data, including the version table (2.2.2.13).
    ApplicationPrivateData = 0x0002_1009,
    /// Client: starts a pipeline that lists commands (2.2.2.14). Since protocol 2.1.
    GetCommandMetadata = 0x0002_100A,
    /// Server: number of runspaces of a pool that a client connected to (2.2.2.30). Since protocol 2.2.
    RunspacePoolInitData = 0x0002_100B,
    /// Client: resets the runspace of the pool (2.2.2.31). Since protocol 2.3.
    ResetRunspaceState = 0x0002_100C,
    /// Server: calls a method of the client's host on behalf of the pool (2.2.2.15).
    RunspacePoolHostCall = 0x0002_1100,
    /// Client: response to a call of the pool (2.2.2.16).
    RunspacePoolHostResponse = 0x0002_1101,
    /// Client: input object of a pipeline (2.2.2.17).
    PipelineInput = 0x0004_1002,
    /// Client: end of the input of a pipeline (2.2.2.18). Has no data.
    EndOfPipelineInput = 0x0004_1003,
    /// Server: output object of a pipeline (2.2.2.19).
    PipelineOutput = 0x0004_1004,
    /// Server: error record (2.2.2.20).
    ErrorRecord = 0x0004_1005,
    /// Server: state of a pipeline (2.2.2.21).
    PipelineState = 0x0004_1006,
    /// Server: debug record (2.2.2.22).
    DebugRecord = 0x0004_1007,
    /// Server: verbose record (2.2.2.23).
    VerboseRecord = 0x0004_1008,
    /// Server: warning record (2.2.2.24).
    WarningRecord = 0x0004_1009,
    /// Server: progress record (2.2.2.25).
    ProgressRecord = 0x0004_1010,
    /// Server: information record (2.2.2.26). Since protocol 2.3.
    InformationRecord = 0x0004_1011,
    /// Server: calls a method of the client's host on behalf of a pipeline (2.2.2.27).
    PipelineHostCall = 0x0004_1100,
    /// Client: response to a call of a pipeline (2.2.2.28).
    PipelineHostResponse = 0x0004_1101,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_agree() {
        assert_eq!(MessageType::ALL.len(), 31);
        for &kind in MessageType::ALL {
            assert_eq!(MessageType::from_id(kind.id()), kind);
        }
    }

    #[test]
    fn types_of_other_implementations_are_unknown() {
        // Declared but never sent (close, stop), or sent by only one implementation (signal, disconnect).
        for id in [0x0001_0003, 0x0004_1012, 0x0004_1001, 0x0001_000C, 0, u32::MAX] {
            assert_eq!(MessageType::from_id(id), MessageType::Other(id));
            assert_eq!(MessageType::from_id(id).id(), id);
        }
    }
}
