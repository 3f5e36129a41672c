//! Parsing of GUIDs in the text formats of .NET, and new ones.

use uuid::Uuid;

/// Parses a GUID in the formats N, D, B and P of .NET: 32 digits, optionally with hyphens, and with hyphens in braces
/// or parentheses. Surrounding white space is ignored.
pub(crate) fn parse(text: &[u8]) -> Option<Uuid> {
    let text = match text.trim_ascii() {
        [b'{', inner @ .., b'}'] | [b'(', inner @ .., b')'] if inner.len() == 36 => inner,
        text => text,
    };
    // Other lengths are formats that only `Uuid` reads.
    if matches!(text.len(), 32 | 36) { Uuid::try_parse_ascii(text).ok() } else { None }
}

#[cfg(test)]
thread_local! {
    /// Next identifier of a simulation, whose identifiers and their order only depend on its seed.
    pub(crate) static SIMULATED: std::cell::Cell<Option<u128>> = const { std::cell::Cell::new(None) };
}

/// Returns a random GUID.
pub(crate) fn random() -> Uuid {
    #[cfg(test)]
    if let Some(next) = SIMULATED.get() {
        SIMULATED.set(Some(next + 1));
        return Uuid::from_u128(next);
    }
    Uuid::new_v4()
}
