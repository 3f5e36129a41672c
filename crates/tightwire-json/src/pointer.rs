//! JSON Pointer (RFC 6901).

use std::borrow::Cow;

/// Returns the reference tokens with their escapes resolved. `None` if the pointer is neither empty nor begins with `/`.
///
/// As in serde_json, `~` without a following `0` or `1` means itself.
pub(crate) fn tokens(pointer: &str) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let mut tokens = pointer.split('/');
    (tokens.next() == Some("")).then(|| {
        tokens.map(|token| match token.contains('~') {
            true => token.replace("~1", "/").replace("~0", "~").into(),
            false => token.into(),
        })
    })
}

/// Returns whether each `~` is part of an escape, as RFC 6901 requires (section 3).
pub(crate) fn has_valid_escapes(pointer: &str) -> bool {
    pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']))
}

/// Returns the array index in a token (RFC 6901, section 4): digits without leading zeros.
pub(crate) fn index(token: &str) -> Option<usize> {
    let digits = token.bytes().all(|byte| byte.is_ascii_digit());
    (digits && (token == "0" || !token.starts_with('0'))).then(|| token.parse().ok())?
}
