//! What a message means, whatever its type.

use super::MessageType;
use super::body::*;
use crate::Error;
use crate::clixml::{ReadOptions, Reader, Writer};
use crate::error::Kind;
use crate::host::{HostCall, HostResponse};
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord, RecordStream};
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, Field, Mismatch};
use crate::value::{Progress, PsString, Value};

/// Defines [`Payload`] from its variants: those that read and write an object alike, then the special ones.
macro_rules! payload {
    ($($(#[$doc:meta])* $name:ident($type:ty),)*) => {
        /// What a message carries, by its type (MS-PSRP 2.2.2).
        ///
        /// ```
        /// use psrp::message::{MessageType, Payload, PipelineState, PipelineStateInfo};
        ///
        /// let payload = Payload::PipelineState(PipelineStateInfo::new(PipelineState::Completed));
        /// let mut writer = psrp::clixml::Writer::new();
        /// let data = payload.encode(&mut writer)?;
        /// assert_eq!(data, br#"<Obj RefId="0"><MS><I32 N="PipelineState">4</I32></MS></Obj>"#);
        /// assert_eq!(Payload::decode(MessageType::PipelineState, data)?, payload);
        /// # Ok::<(), psrp::Error>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Payload {
            $($(#[$doc])* $name($type),)*
            /// Asks for the public key (MS-PSRP 2.2.2.5); carries an empty string.
            PublicKeyRequest,
            /// An object for the input of a pipeline (MS-PSRP 2.2.2.17).
            PipelineInput(Value),
            /// The input of a pipeline ends (MS-PSRP 2.2.2.18); carries nothing.
            EndOfPipelineInput,
            /// An object of the output of a pipeline (MS-PSRP 2.2.2.19).
            PipelineOutput(Value),
            /// A debug message (MS-PSRP 2.2.2.22).
            DebugRecord(Box<InformationalRecord>),
            /// A verbose message (MS-PSRP 2.2.2.23).
            VerboseRecord(Box<InformationalRecord>),
            /// A warning (MS-PSRP 2.2.2.24).
            WarningRecord(Box<InformationalRecord>),
            /// A message of a type that is not known here, with its number and its data as they are.
            Other(u32, Box<[u8]>),
        }

        impl Payload {
            /// The type of the message.
            pub const fn message_type(&self) -> MessageType {
                match self {
                    $(Self::$name(_) => MessageType::$name,)*
                    Self::PublicKeyRequest => MessageType::PublicKeyRequest,
                    Self::PipelineInput(_) => MessageType::PipelineInput,
                    Self::EndOfPipelineInput => MessageType::EndOfPipelineInput,
                    Self::PipelineOutput(_) => MessageType::PipelineOutput,
                    Self::DebugRecord(_) => MessageType::DebugRecord,
                    Self::VerboseRecord(_) => MessageType::VerboseRecord,
                    Self::WarningRecord(_) => MessageType::WarningRecord,
                    Self::Other(id, _) => MessageType::from_id(*id),
                }
            }

            /// The value that the message carries, `None` where its data are empty, and for types that are not known.
            pub fn to_value(&self) -> Option<Value> {
                match self {
                    $(Self::$name(body) => Some(Field::write(body)),)*
                    Self::PublicKeyRequest => Some(Value::String(PsString::default())),
                    Self::PipelineInput(value) => Some(value.clone()),
                    Self::EndOfPipelineInput | Self::PipelineOutput(Value::Nil) | Self::Other(..) => None,
                    Self::PipelineOutput(value) => Some(value.clone()),
                    Self::DebugRecord(record) => Some(record.to_value(RecordStream::Debug)),
                    Self::VerboseRecord(record) => Some(record.to_value(RecordStream::Verbose)),
                    Self::WarningRecord(record) => Some(record.to_value(RecordStream::Warning)),
                }
            }

            fn read(
                message_type: MessageType,
                value: Option<Value>,
                budget: &mut CopyBudget,
            ) -> Result<Self, Mismatch> {
                let some = || value.as_ref().ok_or_else(|| Mismatch::new("there are no data"));
                Ok(match message_type {
                    $(MessageType::$name => Self::$name(Field::read(some()?, budget)?),)*
                    MessageType::PublicKeyRequest => Self::PublicKeyRequest,
                    MessageType::PipelineInput => Self::PipelineInput(value.unwrap_or_default()),
                    MessageType::EndOfPipelineInput => Self::EndOfPipelineInput,
                    MessageType::PipelineOutput => Self::PipelineOutput(value.unwrap_or_default()),
                    MessageType::DebugRecord => {
                        Self::DebugRecord(Box::new(InformationalRecord::read(some()?, budget)?))
                    }
                    MessageType::VerboseRecord => {
                        Self::VerboseRecord(Box::new(InformationalRecord::read(some()?, budget)?))
                    }
                    MessageType::WarningRecord => {
                        Self::WarningRecord(Box::new(InformationalRecord::read(some()?, budget)?))
                    }
                    MessageType::Other(_) => return Err(Mismatch::new("the type of the message is not known")),
                })
            }
        }
    };
}

payload! {
    /// Versions of one side.
    SessionCapability(SessionCapability),
    /// Opens a pool.
    InitRunspacePool(Box<InitRunspacePool>),
    /// The public key for the session key.
    PublicKey(PublicKey),
    /// The session key.
    EncryptedSessionKey(EncryptedSessionKey),
    /// Connects to a pool.
    ConnectRunspacePool(ConnectRunspacePool),
    /// Changes the largest number of runspaces.
    SetMaxRunspaces(SetMaxRunspaces),
    /// Changes the least number of runspaces.
    SetMinRunspaces(SetMinRunspaces),
    /// Answers requests of the pool.
    RunspaceAvailability(RunspaceAvailability),
    /// The state of the pool.
    RunspacePoolState(RunspacePoolStateInfo),
    /// Starts a pipeline.
    CreatePipeline(Box<CreatePipeline>),
    /// Asks how many runspaces are free.
    GetAvailableRunspaces(GetAvailableRunspaces),
    /// An event of the remote session.
    UserEvent(Box<UserEvent>),
    /// Data of the application.
    ApplicationPrivateData(ApplicationPrivateData),
    /// Starts a pipeline that lists commands.
    GetCommandMetadata(Box<GetCommandMetadata>),
    /// The size of the pool that a client connected to.
    RunspacePoolInitData(RunspaceLimits),
    /// Resets the runspace.
    ResetRunspaceState(ResetRunspaceState),
    /// Calls the client's host for the pool (MS-PSRP 2.2.2.15).
    RunspacePoolHostCall(HostCall),
    /// Answers a call for the pool (MS-PSRP 2.2.2.16).
    RunspacePoolHostResponse(HostResponse),
    /// An error of a pipeline (MS-PSRP 2.2.2.20).
    ErrorRecord(Box<ErrorRecord>),
    /// The state of a pipeline.
    PipelineState(PipelineStateInfo),
    /// Progress (MS-PSRP 2.2.2.25).
    ProgressRecord(Box<Progress>),
    /// A record of the information stream.
    InformationRecord(Box<InformationRecord>),
    /// Calls the client's host for a pipeline (MS-PSRP 2.2.2.27).
    PipelineHostCall(HostCall),
    /// Answers a call for a pipeline (MS-PSRP 2.2.2.28).
    PipelineHostResponse(HostResponse),
}

impl Payload {
    /// Default of what [`from_value_within`](Self::from_value_within) lets be copied out of a value: 64 MiB.
    pub const DEFAULT_COPY_BUDGET: usize = DEFAULT_COPY_BUDGET;

    /// Reads the data of a message of this type. Secure strings stay encrypted.
    ///
    /// # Errors
    ///
    /// What [`Reader`] refuses; a member that is missing or of another type, which the error names
    /// ([`Error::is_mismatch`]); a copy of what the data share of more than 64 MiB ([`Error::is_limit`]).
    pub fn decode(message_type: MessageType, data: &[u8]) -> Result<Self, Error> {
        Self::decode_with(message_type, data, ReadOptions::new())
    }

    /// As [`decode`](Self::decode), with options: limits, and a cipher that decrypts secure strings.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode), and secure strings that the cipher refuses.
    pub fn decode_with(message_type: MessageType, data: &[u8], options: ReadOptions) -> Result<Self, Error> {
        if let MessageType::Other(id) = message_type {
            return Ok(Self::Other(id, data.into()));
        }
        let (value, _) = read_value(data, options)?;
        Self::from_value(message_type, value)
    }

    /// As [`decode_with`](Self::decode_with), and returns the decoded size of the message too: what its value takes in
    /// memory and what is copied out of it. The limit of the options applies to the sum.
    pub(crate) fn decode_sized(
        message_type: MessageType,
        data: &[u8],
        options: ReadOptions,
    ) -> Result<(Self, usize), Error> {
        if let MessageType::Other(id) = message_type {
            return Ok((Self::Other(id, data.into()), data.len()));
        }
        let max_size = options.max_decoded_size();
        let (value, size) = read_value(data, options)?;
        let mut budget = CopyBudget::new(max_size.saturating_sub(size));
        let payload = Self::read(message_type, value, &mut budget)?;
        Ok((payload, max_size - budget.left()))
    }

    /// The data of the message, to be put after a [`MessageHeader`](super::MessageHeader). The bytes lie in the writer
    /// until its next document.
    ///
    /// # Errors
    ///
    /// What the writer can't write: secure strings if it has no cipher ([`Error::is_no_key`]).
    pub fn encode<'a>(&'a self, writer: &'a mut Writer) -> Result<&'a [u8], Error> {
        if let Self::Other(_, data) = self {
            return Ok(data);
        }
        match self.to_value() {
            Some(value) => writer.write(&value),
            None => Ok(&[]),
        }
    }

    /// What a message of this type means with this value, `None` if its data are empty.
    ///
    /// # Errors
    ///
    /// Fails if a member is missing or of another type, and names it ([`Error::is_mismatch`]); or if the copy of what the
    /// value shares were to take more than 64 MiB ([`Error::is_limit`]).
    pub fn from_value(message_type: MessageType, value: Option<Value>) -> Result<Self, Error> {
        Self::from_value_within(message_type, value, Self::DEFAULT_COPY_BUDGET)
    }

    /// As [`from_value`](Self::from_value), with a limit in bytes of what may be copied. Objects are shared inside
    /// of a value but not in what is read from it. The default that the others have is
    /// [`DEFAULT_COPY_BUDGET`](Self::DEFAULT_COPY_BUDGET), 64 MiB.
    ///
    /// # Errors
    ///
    /// As [`from_value`](Self::from_value).
    pub fn from_value_within(
        message_type: MessageType,
        value: Option<Value>,
        max_size: usize,
    ) -> Result<Self, Error> {
        Ok(Self::read(message_type, value, &mut CopyBudget::new(max_size))?)
    }
}

/// The value of a message, if its data are not empty, and its decoded size.
fn read_value(data: &[u8], options: ReadOptions) -> Result<(Option<Value>, usize), Error> {
    let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    if data.is_empty() {
        return Ok((None, 0));
    }
    let mut items = Reader::with_options(data, options);
    match (items.next().transpose()?, items.next().transpose()?) {
        (Some((_, value)), None) => Ok((Some(value), items.decoded_size())),
        _ => Err(Error::with(Kind::Structure, "a message without a value or with more than one")),
    }
}
