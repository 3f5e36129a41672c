//! Decoded data of messages.

use super::*;
use crate::Error;
use crate::clixml::{ReadOptions, Reader, Writer};
use crate::error::Kind;
use crate::host::{HostCall, HostResponse};
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord, RecordStream};
use crate::shape::{CopyBudget, DEFAULT_COPY_BUDGET, Field};
use crate::value::{Progress, PsString, Value};

/// Defines [`Payload`] from the variants that read and write an object in the same way, and the records of the
/// informational streams; the others are listed in the macro.
macro_rules! payload {
    (
        objects { $($name:ident($type:ty),)* }
        streams { $($record:ident => $stream:ident,)* }
    ) => {
        /// The decoded data of a message, by message type (MS-PSRP 2.2.2).
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
            $(
                #[doc = concat!("Data of [`MessageType::", stringify!($name), "`].")]
                $name($type),
            )*
            /// Requests the public key (MS-PSRP 2.2.2.5); the data is an empty string.
            PublicKeyRequest,
            /// Input object of a pipeline (MS-PSRP 2.2.2.17).
            PipelineInput(Value),
            /// End of the input of a pipeline (MS-PSRP 2.2.2.18); has no data.
            EndOfPipelineInput,
            /// Output object of a pipeline (MS-PSRP 2.2.2.19).
            PipelineOutput(Value),
            $(
                #[doc = concat!("Data of [`MessageType::", stringify!($record), "`].")]
                $record(Box<InformationalRecord>),
            )*
            /// A message of an unknown type: its number and its undecoded data.
            Other(u32, Box<[u8]>),
        }

        impl Payload {
            /// Returns the type of the message.
            pub const fn message_type(&self) -> MessageType {
                match self {
                    $(Self::$name(_) => MessageType::$name,)*
                    Self::PublicKeyRequest => MessageType::PublicKeyRequest,
                    Self::PipelineInput(_) => MessageType::PipelineInput,
                    Self::EndOfPipelineInput => MessageType::EndOfPipelineInput,
                    Self::PipelineOutput(_) => MessageType::PipelineOutput,
                    $(Self::$record(_) => MessageType::$record,)*
                    Self::Other(id, _) => MessageType::from_id(*id),
                }
            }

            /// Converts the payload to a value. `None` for messages without data and for unknown types.
            pub fn to_value(&self) -> Option<Value> {
                match self {
                    $(Self::$name(body) => Some(Field::write(body)),)*
                    Self::PublicKeyRequest => Some(Value::String(PsString::default())),
                    Self::PipelineInput(value) => Some(value.clone()),
                    Self::EndOfPipelineInput | Self::PipelineOutput(Value::Nil) | Self::Other(..) => None,
                    Self::PipelineOutput(value) => Some(value.clone()),
                    $(Self::$record(record) => Some(record.to_value(RecordStream::$stream)),)*
                }
            }

            fn read(
                message_type: MessageType,
                value: Option<Value>,
                budget: &mut CopyBudget,
            ) -> Result<Self, Error> {
                let some = || value.as_ref().ok_or_else(|| Error::mismatch("the message has no data"));
                Ok(match message_type {
                    $(MessageType::$name => Self::$name(Field::read(some()?, budget)?),)*
                    MessageType::PublicKeyRequest => Self::PublicKeyRequest,
                    MessageType::PipelineInput => Self::PipelineInput(value.unwrap_or_default()),
                    MessageType::EndOfPipelineInput => Self::EndOfPipelineInput,
                    MessageType::PipelineOutput => Self::PipelineOutput(value.unwrap_or_default()),
                    $(MessageType::$record => {
                        Self::$record(Box::new(InformationalRecord::read(some()?, budget)?))
                    })*
                    MessageType::Other(_) => return Err(Error::mismatch("the message type is unknown")),
                })
            }
        }
    };
}

payload! {
    objects {
        SessionCapability(SessionCapability),
        InitRunspacePool(Box<InitRunspacePool>),
        PublicKey(PublicKey),
        EncryptedSessionKey(EncryptedSessionKey),
        ConnectRunspacePool(ConnectRunspacePool),
        SetMaxRunspaces(SetMaxRunspaces),
        SetMinRunspaces(SetMinRunspaces),
        RunspaceAvailability(RunspaceAvailability),
        RunspacePoolState(RunspacePoolStateInfo),
        CreatePipeline(Box<CreatePipeline>),
        GetAvailableRunspaces(GetAvailableRunspaces),
        UserEvent(Box<UserEvent>),
        ApplicationPrivateData(ApplicationPrivateData),
        GetCommandMetadata(Box<GetCommandMetadata>),
        RunspacePoolInitData(RunspaceLimits),
        ResetRunspaceState(ResetRunspaceState),
        RunspacePoolHostCall(HostCall),
        RunspacePoolHostResponse(HostResponse),
        ErrorRecord(Box<ErrorRecord>),
        PipelineState(PipelineStateInfo),
        ProgressRecord(Box<Progress>),
        InformationRecord(Box<InformationRecord>),
        PipelineHostCall(HostCall),
        PipelineHostResponse(HostResponse),
    }
    streams {
        DebugRecord => Debug,
        VerboseRecord => Verbose,
        WarningRecord => Warning,
    }
}

impl Payload {
    /// Default of `max_size` in [`from_value_within`](Self::from_value_within): 64 MiB.
    pub const DEFAULT_MAX_SIZE: usize = DEFAULT_COPY_BUDGET;

    /// Decodes the data of a message of this type. Secure strings stay encrypted.
    ///
    /// # Errors
    ///
    /// Fails like [`Reader`], with [`Error::is_mismatch`], naming the member, if a member is missing or has another
    /// type, and with [`Error::is_limit`] if copying shared parts of the data would take more than 64 MiB.
    pub fn decode(message_type: MessageType, data: &[u8]) -> Result<Self, Error> {
        Self::decode_with(message_type, data, ReadOptions::new())
    }

    /// Like [`decode`](Self::decode), with options: limits, and a cipher that decrypts secure strings.
    ///
    /// # Errors
    ///
    /// Fails like [`decode`](Self::decode), and if the cipher can't decrypt a secure string.
    pub fn decode_with(message_type: MessageType, data: &[u8], options: ReadOptions) -> Result<Self, Error> {
        if let MessageType::Other(id) = message_type {
            return Ok(Self::Other(id, data.into()));
        }
        let (value, _) = read_value(data, options)?;
        Self::from_value(message_type, value)
    }

    /// Like [`decode_with`](Self::decode_with), but also returns the decoded size of the message: the memory of its
    /// value and of the parts copied out of it. The limit of the options applies to the sum.
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
        Ok((payload, max_size - budget.remaining()))
    }

    /// Encodes the data, which follow a [`MessageHeader`]. The bytes are in the writer until its
    /// next document.
    ///
    /// # Errors
    ///
    /// Fails like the writer, for example with [`Error::is_no_key`] for a secure string without a cipher.
    pub fn encode<'a>(&'a self, writer: &'a mut Writer) -> Result<&'a [u8], Error> {
        if let Self::Other(_, data) = self {
            return Ok(data);
        }
        match self.to_value() {
            Some(value) => writer.write(&value),
            None => Ok(&[]),
        }
    }

    /// Converts the value of a message of this type; `None` if its data are empty.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_mismatch`], naming the member, if a member is missing or has another type, and with
    /// [`Error::is_limit`] if copying shared parts of the value would take more than 64 MiB.
    pub fn from_value(message_type: MessageType, value: Option<Value>) -> Result<Self, Error> {
        Self::from_value_within(message_type, value, Self::DEFAULT_MAX_SIZE)
    }

    /// Like [`from_value`](Self::from_value), with a limit on copied bytes. Objects inside a value are shared, their
    /// typed forms are copies. The default is [`DEFAULT_MAX_SIZE`](Self::DEFAULT_MAX_SIZE), 64 MiB.
    ///
    /// # Errors
    ///
    /// Fails like [`from_value`](Self::from_value).
    pub fn from_value_within(
        message_type: MessageType,
        value: Option<Value>,
        max_size: usize,
    ) -> Result<Self, Error> {
        Self::read(message_type, value, &mut CopyBudget::new(max_size))
    }
}

/// Reads the value of a message, if its data are not empty, and returns it with its decoded size.
fn read_value(data: &[u8], options: ReadOptions) -> Result<(Option<Value>, usize), Error> {
    let data = data.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(data);
    if data.is_empty() {
        return Ok((None, 0));
    }
    let mut items = Reader::with_options(data, options);
    match (items.next().transpose()?, items.next().transpose()?) {
        (Some((_, value)), None) => Ok((Some(value), items.decoded_size())),
        _ => Err(Error::with(Kind::Structure, "a message must have exactly one value")),
    }
}
