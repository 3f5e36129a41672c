//! First messages of a session with its application data, and those of the key exchange.

use super::HostInfo;
use crate::Error;
use crate::b64;
use crate::shape::{CopyBudget, Field, MemberReader, MemberWriter, object_struct, open_enum};
use crate::value::{Base, Object, PsString, Value, Version};

object_struct! {
    /// Versions of client or server, the first message of each (MS-PSRP 2.2.2.1).
    ///
    /// Both use the lower of their protocol versions. Since protocol 2.4 (PowerShell 7.6) secure strings rely on the
    /// encryption of the connection; before, they are encrypted with an exchanged key.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SessionCapability {
        /// Version of PowerShell; always 2.0 regardless of the actual version.
        pub ps_version: Version => "PSVersion" [or Version::new(2, 0)],
        /// Version of the protocol.
        pub protocol_version: Version => "protocolversion",
        /// Version of CLIXML.
        pub serialization_version: Version => "SerializationVersion" [or Self::SERIALIZATION],
        /// Time zone in .NET's binary serialization format, not interpreted.
        pub time_zone: Option<Box<[u8]>> => "TimeZone" [optional],
    }
}

impl SessionCapability {
    /// The latest protocol version that this crate implements.
    pub const PROTOCOL: Version = Version::new(2, 4);

    /// The implemented version of CLIXML.
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
    /// The threads that a pool runs its pipelines on (`System.Management.Automation.Runspaces.PSThreadOptions`, MS-PSRP
    /// 2.2.3.6).
    #[derive(Default)]
    pub enum ThreadOptions as "System.Management.Automation.Runspaces.PSThreadOptions" {
        /// The server's default.
        #[default]
        Default = 0,
        /// A new thread for each pipeline.
        UseNewThread = 1,
        /// One thread for all pipelines of a runspace.
        ReuseThread = 2,
        /// The calling thread.
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
        /// Minimum number of runspaces, at least 1.
        pub min_runspaces: i32 => "MinRunspaces",
        /// Maximum number of runspaces, at least `min_runspaces`.
        pub max_runspaces: i32 => "MaxRunspaces",
        /// Threads that pipelines run on.
        pub thread_options: ThreadOptions => "PSThreadOptions" [or ThreadOptions::Default],
        /// The apartment of these threads.
        pub apartment_state: ApartmentState => "ApartmentState" [or ApartmentState::Unknown],
        /// The client's host.
        pub host_info: HostInfo => "HostInfo" [or HostInfo::none()],
        /// Application data of the client, available to scripts as `$PSSenderInfo.ApplicationArguments`.
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
    /// Limits on the number of runspaces of a pool: the response to connecting to a pool (MS-PSRP 2.2.2.30), or the
    /// limits requested by the client that connects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RunspaceLimits {
        /// Minimum number.
        pub min_runspaces: i32 => "MinRunspaces",
        /// Maximum number.
        pub max_runspaces: i32 => "MaxRunspaces",
    }
}

/// Connects to a disconnected pool (MS-PSRP 2.2.2.29), since protocol 2.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectRunspacePool {
    /// New limits of the pool; `None` to leave them unchanged.
    pub limits: Option<RunspaceLimits>,
}

/// No limits are written as an empty string.
impl Field for ConnectRunspacePool {
    fn write(&self) -> Value {
        self.limits.as_ref().map_or_else(|| Value::String(PsString::default()), Field::write)
    }

    fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
        let none = value.is_nil() || value.as_ps_string().is_some();
        Ok(Self { limits: if none { None } else { Some(Field::read(value, budget)?) } })
    }
}

object_struct!(@values ConnectRunspacePool);

/// The public key that the server encrypts the session key with (MS-PSRP 2.2.2.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    /// The key as a PUBLICKEYBLOB.
    pub blob: Box<[u8]>,
}

/// The session key, encrypted with the client's public key (MS-PSRP 2.2.2.4).
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptedSessionKey {
    /// The key as a SIMPLEBLOB.
    pub blob: Box<[u8]>,
}

impl_debug! {
    /// Does not show the key, even though it is encrypted.
    EncryptedSessionKey
}

macro_rules! base64_member {
    ($($type:ident => $name:literal;)*) => {$(
        impl Field for $type {
            fn write(&self) -> Value {
                let mut out = MemberWriter::default();
                out.put($name, &PsString::from(b64::encode_to_string(&self.blob)));
                out.finish()
            }

            fn read(value: &Value, budget: &mut CopyBudget) -> Result<Self, Error> {
                let text: PsString = MemberReader::new(value, budget)?.required($name)?;
                let blob = text.as_str().and_then(|text| b64::decode_to_box(text.as_bytes()));
                let blob = blob.ok_or_else(|| Error::mismatch("not Base64").at($name))?;
                Ok(Self { blob })
            }
        }

        object_struct!(@values $type);
    )*};
}

base64_member! {
    PublicKey => "PublicKey";
    EncryptedSessionKey => "EncryptedSessionKey";
}

/// A dictionary of primitives (`System.Management.Automation.PSPrimitiveDictionary`, MS-PSRP 2.2.3.18), used by
/// applications to exchange data when a pool is opened.
///
/// Keys are strings and are compared ignoring the case of ASCII letters. Values are primitives, lists of primitives,
/// and nested dictionaries of this type.
///
/// ```
/// use psrp::message::PrimitiveDictionary;
///
/// let arguments = PrimitiveDictionary::new([("Client", "example")]);
/// assert_eq!(arguments.get("client").unwrap(), &"example");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PrimitiveDictionary(Object);

impl PrimitiveDictionary {
    /// Creates a dictionary from its entries.
    pub fn new<K: Into<PsString>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let names = [
            "System.Management.Automation.PSPrimitiveDictionary",
            "System.Collections.Hashtable",
            "System.Object",
        ];
        let entries = entries.into_iter().map(|(key, value)| (Value::String(key.into()), value));
        Self(Object::builder().type_names(names).dictionary(entries).build())
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.iter().rev().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// Iterates over the entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&PsString, &Value)> {
        let entries = match self.0.base() {
            Base::Dictionary(entries) => entries.as_slice(),
            _ => &[],
        };
        entries.iter().filter_map(|(key, value)| key.as_ps_string().map(|key| (key, value)))
    }
}

impl From<PrimitiveDictionary> for Value {
    fn from(dictionary: PrimitiveDictionary) -> Self {
        Self::Object(dictionary.0)
    }
}

/// The object is preserved unchanged, including its type names.
impl Field for PrimitiveDictionary {
    fn write(&self) -> Value {
        Value::Object(self.0.clone())
    }

    fn read(value: &Value, _: &mut CopyBudget) -> Result<Self, Error> {
        let Value::Object(object) = value else { return Err(Error::mismatch("not a dictionary")) };
        let Base::Dictionary(entries) = object.base() else {
            return Err(Error::mismatch("not a dictionary"));
        };
        if entries.iter().any(|(key, _)| key.as_ps_string().is_none()) {
            return Err(Error::mismatch("a key is not a string"));
        }
        Ok(Self(object.clone()))
    }
}

object_struct! {
    /// Application data that the server sends to the client (MS-PSRP 2.2.2.13).
    #[derive(Clone, Debug, PartialEq)]
    pub struct ApplicationPrivateData {
        /// The data, `None` for `$null`.
        pub data: Option<PrimitiveDictionary> => "ApplicationPrivateData" [nil],
    }
}

impl ApplicationPrivateData {
    /// Creates data from entries, preceded by `PSVersionTable` with the versions that a server must send.
    pub fn new<K: Into<PsString>, V: Into<Value>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let versions = PrimitiveDictionary::new([
            ("PSRemotingProtocolVersion", SessionCapability::PROTOCOL),
            ("SerializationVersion", SessionCapability::SERIALIZATION),
        ]);
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value.into()));
        let table = [(PsString::from("PSVersionTable"), Value::from(versions))];
        Self { data: Some(PrimitiveDictionary::new(table.into_iter().chain(entries))) }
    }
}
