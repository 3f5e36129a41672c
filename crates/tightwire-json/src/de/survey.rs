//! What another backend must know of a document before it may decode it.

use std::ops::Range;

use super::parser::Parser;
use super::skip::Observer;
use super::string::Lone;
use super::{Rules, duplicates};
use crate::error::Result;

/// Findings on a valid document.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Survey {
    /// A number that needs more than a plain conversion to keep its value: `-0`, more than 18 digits, an
    /// exponent, or a fraction together with more than six digits, which a detour over `f64` may round wrongly for
    /// an `f32`.
    #[cfg_attr(not(feature = "simd-json"), allow(dead_code, reason = "only simd-json needs to know"))]
    pub(crate) demanding_numbers: bool,
}

impl Observer for Survey {
    fn number(&mut self, text: &str, number: Range<usize>) {
        let text = &text[number];
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        let integer = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
        let exponent = text.contains(['e', 'E']);
        self.demanding_numbers |= text == "-0" || exponent || digits > if integer { 18 } else { 6 };
    }
}

/// Checks a document the way every backend must see it. Lone surrogates are errors in any mode, and so are duplicate
/// keys unless the type decides: only the native decoder knows the rules for them.
pub(crate) fn survey(text: &str, rules: &Rules) -> Result<Survey> {
    if rules.duplicates != duplicates::Duplicates::ByType {
        duplicates::refuse(text, rules)?;
    }
    let mut survey = Survey::default();
    let mut parser = Parser::new(text, &rules.limits, Lone::Error);
    parser.skip_value(&mut survey)?;
    parser.end()?;
    Ok(survey)
}
