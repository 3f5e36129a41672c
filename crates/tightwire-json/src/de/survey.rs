//! Validation of a document before another backend decodes it.

use std::ops::Range;

use super::duplicates;
use super::parser::Parser;
use super::skip::Observer;
use super::{Duplicates, LoneSurrogate, Rules};
use crate::error::Result;

/// Observer that records whether the document has a number that a backend may round: `-0`, more than 18 digits, an
/// exponent, or a fraction and more than six digits (converting through `f64` may round an `f32` wrongly).
struct DemandingNumbers(bool);

impl Observer for DemandingNumbers {
    fn number(&mut self, text: &str, number: Range<usize>) {
        let text = &text[number];
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let integer = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
        let exponent = text.contains(['e', 'E']);
        self.0 |= text == "-0" || exponent || digits > if integer { 18 } else { 6 };
    }
}

/// Validates a document before another backend decodes it, and returns whether it has a number that a backend may
/// round. Always rejects lone surrogates, and rejects duplicate keys unless the mode is [`Duplicates::ByType`]: only
/// the native decoder implements the other modes.
pub(crate) fn survey(text: &str, rules: &Rules) -> Result<bool> {
    if rules.duplicates != Duplicates::ByType {
        duplicates::reject(text, rules)?;
    }
    let mut demanding = DemandingNumbers(false);
    let mut parser = Parser::new(text, &rules.limits, LoneSurrogate::Error);
    parser.skip_value(&mut demanding)?;
    parser.end()?;
    Ok(demanding.0)
}
