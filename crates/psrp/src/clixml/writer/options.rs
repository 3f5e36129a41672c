//! How values are written.

use std::fmt;
use std::sync::Arc;

use super::super::Limits;
use crate::PsString;
use crate::crypto::Cipher;

/// How values are written.
///
/// ```
/// use psrp::clixml::{WriteOptions, Writer};
/// use psrp::{Object, Value};
///
/// let deep = (0..60).fold(Value::from("x"), |inner, _| Object::list([inner]).into());
/// assert!(Writer::new().write(&deep).unwrap_err().is_limit());
///
/// let mut writer = Writer::with_options(WriteOptions::new().replace_too_deep("..."));
/// assert!(writer.write(&deep)?.windows(10).any(|part| part == b"<S>...</S>"));
/// # Ok::<(), psrp::Error>(())
/// ```
#[derive(Clone)]
pub struct WriteOptions {
    pub(super) depth: usize,
    pub(super) too_deep: Option<PsString>,
    pub(super) cipher: Option<Arc<dyn Cipher>>,
}

impl WriteOptions {
    /// Default of [`max_depth`](Self::max_depth): 49, what PowerShell reads.
    pub const DEFAULT_MAX_DEPTH: usize = Limits::DEFAULT_MAX_DEPTH;

    /// The defaults.
    pub const fn new() -> Self {
        Self { depth: Self::DEFAULT_MAX_DEPTH, too_deep: None, cipher: None }
    }

    /// How many elements with a value may be nested in each other, the innermost included: objects, sets of members and
    /// the primitive inside of them. What is deeper is an error. Default:
    /// [`DEFAULT_MAX_DEPTH`](Self::DEFAULT_MAX_DEPTH), 49. Values above [`Limits::MAX_DEPTH`] count as that.
    #[must_use]
    pub const fn max_depth(mut self, levels: usize) -> Self {
        self.depth = if levels < Limits::MAX_DEPTH { levels } else { Limits::MAX_DEPTH };
        self
    }

    /// Writes this string in place of each value that is too deep, as PowerShell does. Default: it is an error.
    #[must_use]
    pub fn replace_too_deep(mut self, text: impl Into<PsString>) -> Self {
        self.too_deep = Some(text.into());
        self
    }

    /// What encrypts strings that are secret. Default: nothing; only those can be written that are encrypted already.
    #[must_use]
    pub fn cipher(mut self, cipher: Arc<dyn Cipher>) -> Self {
        self.cipher = Some(cipher);
        self
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for WriteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteOptions")
            .field("depth", &self.depth)
            .field("too_deep", &self.too_deep)
            .field("cipher", &self.cipher.as_ref().map(|_| ".."))
            .finish()
    }
}
