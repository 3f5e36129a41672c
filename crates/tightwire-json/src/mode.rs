//! Modes, and which of them the root functions use.

use std::sync::atomic::{AtomicBool, Ordering};

/// What is written, and what is taken on trust.
///
/// All modes read the documents of RFC 8259 in UTF-8, with every byte checked, skipped values included. They differ in
/// half surrogate pairs (`"\ud800"`), which `Strict` and `Fast` refuse and `Compat` reads as U+FFFD, the way Go does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// RFC 8259 to the letter. Writes the bytes that serde_json writes: maps in their own order, the shortest
    /// digits of a float with a fraction (`100.0`), no escapes beyond the required ones. Raw values are checked
    /// before they are written.
    #[default]
    Strict,
    /// Writes the bytes that Go's `encoding/json` writes: `<`, `>`, `&`, U+2028 and U+2029 as `\u` escapes, the keys
    /// of maps in the order of their bytes, floats without an empty fraction and with an exponent below 1e-6 and
    /// from 1e21 on, byte strings in base64, raw values compacted. Structs keep the order of their fields; those
    /// with a flattened part count as maps.
    Compat,
    /// Writes the bytes of `Strict`, and writes raw values without looking into them. Memory safety and UTF-8 do not
    /// depend on it; whether the document is JSON does.
    Fast,
}

static FASTEST: AtomicBool = AtomicBool::new(false);

/// Makes the root functions of the whole process work in [`Mode::Fast`], until [`config_standard_mode`] is called.
///
/// Codecs, encoders and decoders that exist already keep their mode.
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

/// Makes the root functions of the whole process work in [`Mode::Strict`], as they do from the start.
pub fn config_standard_mode() {
    FASTEST.store(false, Ordering::Relaxed);
}

#[inline]
pub(crate) fn standard() -> Mode {
    if FASTEST.load(Ordering::Relaxed) { Mode::Fast } else { Mode::Strict }
}
