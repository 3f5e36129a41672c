//! One error with its code, texts and statuses.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{Code, GrpcStatus, Language, codes};

/// A business error: code, texts in two languages, HTTP and gRPC status, and optionally a cause.
///
/// The predefined ones are constants in [`codes`]. The `with_*` methods leave the original as it is and return a
/// changed copy, which borrows the texts that were not replaced.
///
/// On the wire it is `{"code":4001,"message":"User not found","message_zh":"用户不存在"}`; `message_zh` is left out
/// where there is none. Statuses and the cause never appear there.
///
/// `Display` prints `errno <code>: <English text>[: <cause>]`, which is meant for logs. Because the cause is part of
/// that text, [`source`](Error::source) continues with what is beneath the cause. Two errors are equal when their
/// codes are.
#[derive(Clone)]
pub struct Errno {
    code: Code,
    /// 0 means not set.
    http: u16,
    grpc: GrpcStatus,
    message: Cow<'static, str>,
    message_zh: Cow<'static, str>,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl Errno {
    /// The parts as they are; [`Definition`](super::Definition) is the checked way.
    pub(super) const fn from_static(
        code: i64,
        http: u16,
        grpc: GrpcStatus,
        message: &'static str,
        message_zh: &'static str,
    ) -> Self {
        Self {
            code: Code::new(code),
            http,
            grpc,
            message: Cow::Borrowed(message),
            message_zh: Cow::Borrowed(message_zh),
            cause: None,
        }
    }

    /// The parts as a definition has checked them.
    pub(super) fn from_checked(
        code: Code,
        http: u16,
        grpc: GrpcStatus,
        message: Cow<'static, str>,
        message_zh: Cow<'static, str>,
    ) -> Self {
        Self { code, http, grpc, message, message_zh, cause: None }
    }

    /// Takes any error: an [`Errno`] passes through, everything else becomes the cause of
    /// [`codes::INTERNAL`], whose text does not show it on the wire.
    ///
    /// ```
    /// use tightwire_json::errno::{Errno, codes};
    /// let errno = Errno::from_error(std::io::Error::other("disk is full"));
    /// assert_eq!(&errno, codes::INTERNAL);
    /// assert_eq!(errno.to_string(), "errno 7000: Internal server error: disk is full");
    /// ```
    pub fn from_error(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(errno) => *errno,
            Err(cause) => Self { cause: Some(Arc::from(cause)), ..codes::INTERNAL.clone() },
        }
    }

    /// The code of the first [`Errno`] in the chain of an error and its sources.
    pub fn code_of(error: &(dyn Error + 'static)) -> Option<Code> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(errno) = error.downcast_ref::<Self>() {
                return Some(errno.code);
            }
            next = error.source();
        }
        None
    }

    /// Whether the first [`Errno`] in the chain of an error and its sources has this code.
    pub fn is_code(error: &(dyn Error + 'static), code: Code) -> bool {
        Self::code_of(error) == Some(code)
    }

    /// The code.
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The HTTP status, 500 where none was set.
    pub const fn http_status(&self) -> u16 {
        match self.http {
            0 => 500,
            status => status,
        }
    }

    /// The gRPC status.
    pub const fn grpc_status(&self) -> GrpcStatus {
        self.grpc
    }

    /// The text in a language; the English one where there is no Chinese.
    pub fn message(&self, language: Language) -> &str {
        self.text(language)
    }

    /// As [`message`](Self::message), kept borrowed where it is static.
    pub(crate) fn text(&self, language: Language) -> &Cow<'static, str> {
        match language {
            Language::Chinese if !self.message_zh.is_empty() => &self.message_zh,
            _ => &self.message,
        }
    }

    /// What led to the error. It is printed by `Display` and never sent.
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.cause.as_deref()
    }

    /// A copy with a cause.
    #[must_use]
    pub fn with_cause(&self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: Some(Arc::from(cause.into())), ..self.clone() }
    }

    /// A copy with another English text. The Chinese one stays; [`with_messages`](Self::with_messages) sets both.
    #[must_use]
    pub fn with_message(&self, english: impl Into<Cow<'static, str>>) -> Self {
        Self { message: english.into(), ..self.clone() }
    }

    /// A copy with another Chinese text.
    #[must_use]
    pub fn with_message_zh(&self, chinese: impl Into<Cow<'static, str>>) -> Self {
        Self { message_zh: chinese.into(), ..self.clone() }
    }

    /// A copy with other texts.
    #[must_use]
    pub fn with_messages(
        &self,
        english: impl Into<Cow<'static, str>>,
        chinese: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { message: english.into(), message_zh: chinese.into(), ..self.clone() }
    }

    /// Everything there is to know, for logs:
    /// `errno <code> [HTTP <status>, gRPC <name>]: <English> (<Chinese>)`, and in a second line `caused by: <cause>`
    /// where there is a cause.
    pub fn verbose(&self) -> impl fmt::Display + '_ {
        Verbose(self)
    }
}

struct Verbose<'a>(&'a Errno);

impl fmt::Display for Verbose<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errno = self.0;
        let (http, grpc) = (errno.http_status(), errno.grpc);
        write!(f, "errno {} [HTTP {http}, gRPC {grpc}]: {}", errno.code, errno.message)?;
        if !errno.message_zh.is_empty() {
            write!(f, " ({})", errno.message_zh)?;
        }
        if let Some(cause) = &errno.cause {
            write!(f, "\ncaused by: {cause}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "errno {}: {}", self.code, self.message)?;
        if let Some(cause) = &self.cause {
            write!(f, ": {cause}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Errno")
            .field("code", &self.code.get())
            .field("http", &self.http_status())
            .field("grpc", &self.grpc)
            .field("message", &self.message)
            .field("message_zh", &self.message_zh)
            .field("cause", &self.cause)
            .finish()
    }
}

impl Error for Errno {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().and_then(|cause| cause.source())
    }
}

impl PartialEq for Errno {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for Errno {}

impl Serialize for Errno {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = if self.message_zh.is_empty() { 2 } else { 3 };
        let mut object = serializer.serialize_struct("Errno", fields)?;
        object.serialize_field("code", &self.code)?;
        object.serialize_field("message", &self.message)?;
        if self.message_zh.is_empty() {
            object.skip_field("message_zh")?;
        } else {
            object.serialize_field("message_zh", &self.message_zh)?;
        }
        object.end()
    }
}
