//! Modes, and the process-wide default.

use std::sync::atomic::{AtomicBool, Ordering};

/// Output style and leniency.
///
/// All modes decode RFC 8259 in UTF-8 and validate every byte, including skipped values. Lone surrogates (`"\ud800"`)
/// are errors in `Strict` and `Fast`, and U+FFFD in `Compat`, as in Go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Output of serde_json: map entries in iteration order, floats with their shortest digits and a fraction
    /// (`100.0`), only the required escapes. Raw values are validated before they are written.
    #[default]
    Strict,
    /// Output of Go's `encoding/json`: `<`, `>`, `&`, U+2028 and U+2029 as `\u` escapes, map keys sorted by their
    /// bytes, floats without an empty fraction and with an exponent below 1e-6 and from 1e21 on, byte strings as
    /// base64, raw values compacted. Structs keep the order of their fields, except that structs with a flattened field
    /// are sorted like maps.
    Compat,
    /// Output of `Strict`, but raw values are written without validation: an invalid one makes the document invalid,
    /// but it is always UTF-8.
    Fast,
}

static FASTEST: AtomicBool = AtomicBool::new(false);

/// Sets the mode of the root functions to [`Mode::Fast`], for the whole process, until [`config_standard_mode`] is
/// called.
///
/// Existing codecs, encoders and decoders are not affected.
///
/// # Examples
/// ```
/// tightwire_json::config_fastest_mode();
/// assert_eq!(tightwire_json::Codec::standard().mode(), tightwire_json::Mode::Fast);
/// tightwire_json::config_standard_mode();
/// assert_eq!(tightwire_json::Codec::standard().mode(), tightwire_json::Mode::Strict);
/// ```
pub fn config_fastest_mode() {
    FASTEST.store(true, Ordering::Relaxed);
}

/// Sets the mode of the root functions to [`Mode::Strict`], the default, for the whole process.
pub fn config_standard_mode() {
    FASTEST.store(false, Ordering::Relaxed);
}

#[inline]
pub(crate) fn standard() -> Mode {
    if FASTEST.load(Ordering::Relaxed) { Mode::Fast } else { Mode::Strict }
}
