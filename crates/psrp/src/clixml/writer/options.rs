//! Options of the writer.

use std::sync::Arc;

use super::super::Limits;
use crate::PsString;
use crate::crypto::Cipher;

/// Options of [`Writer`](super::super::Writer).
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
#[derive(Clone, Debug)]
pub struct WriteOptions {
    pub(super) depth: usize,
    pub(super) too_deep: Option<PsString>,
    pub(super) cipher: Option<Arc<dyn Cipher>>,
}

impl WriteOptions {
    /// Default of [`max_depth`](Self::max_depth): 49, the maximum depth that PowerShell reads.
    pub const DEFAULT_MAX_DEPTH: usize = Limits::DEFAULT_MAX_DEPTH;

    /// Creates the default options.
    pub const fn new() -> Self {
        Self { depth: Self::DEFAULT_MAX_DEPTH, too_deep: None, cipher: None }
    }

    setters! {
        /// Maximum nesting depth of values, the innermost included: objects, member sets, and the primitive inside
        /// them. Deeper values are an error. Default: [`DEFAULT_MAX_DEPTH`](Self::DEFAULT_MAX_DEPTH), 49. At most
        /// [`Limits::MAX_DEPTH`]; larger values are reduced to that.
        max_depth(levels: usize) => depth = if levels < Limits::MAX_DEPTH { levels } else { Limits::MAX_DEPTH };
        /// Writes this string in place of each value that is nested too deep, like PowerShell. Default: such values are
        /// an error.
        replace_too_deep(text: impl Into<PsString>) => too_deep = Some(text.into());
        /// Sets the cipher for secure strings. Default: none; only strings that are still encrypted can be written.
        cipher(cipher: Arc<dyn Cipher>) => cipher = Some(cipher);
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self::new()
    }
}
