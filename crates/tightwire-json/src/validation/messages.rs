//! The messages of all rules in both languages.
//!
//! garde reports text only. Its own rules are therefore given a handler that answers with [`Mark`] instead of prose,
//! from which tag and parameter come back; the rules of this crate are recognised by their English text, so that
//! callers who use them without [`validate`](super::validate) still read a sentence.

use std::borrow::Cow;
use std::fmt::Display;

use garde::i18n::{I18n, InvalidCreditCard, InvalidEmail, InvalidPhoneNumber, InvalidUrl, IpKind};

use super::FieldError;
use crate::errno::Language;

/// A rule with its messages. `{}` stands for the parameter; the name of the field comes first.
struct Rule {
    tag: &'static str,
    english: &'static str,
    chinese: &'static str,
}

const fn rule(tag: &'static str, english: &'static str, chinese: &'static str) -> Rule {
    Rule { tag, english, chinese }
}

/// The rules in [`rules`](super::rules).
const OWN: [Rule; 9] = [
    rule("mobile", "must be a valid mobile phone number", "必须是有效的手机号码"),
    rule("idcard", "must be a valid ID card number", "必须是有效的身份证号码"),
    rule(
        "username",
        "must start with a letter and contain only letters, numbers, and underscores (3-32 characters)",
        "必须以字母开头，只能包含字母、数字和下划线（3-32 个字符）",
    ),
    rule(
        "password",
        "must be at least 8 characters and contain at least one letter and one number",
        "至少需要 8 个字符，并且至少包含一个字母和一个数字",
    ),
    rule(
        "strongpwd",
        "must be at least 8 characters and contain uppercase, lowercase, number, and special character",
        "至少需要 8 个字符，并且包含大写字母、小写字母、数字和特殊字符",
    ),
    rule("safestring", "contains potentially unsafe content", "包含可能不安全的内容"),
    rule("nowhitespace", "must not contain whitespace characters", "不能包含空白字符"),
    rule("trimmed", "must not have leading or trailing spaces", "首尾不能有空格"),
    rule(
        "slug",
        "must be a valid URL slug (lowercase letters, numbers, and hyphens)",
        "必须是有效的 URL 短名（小写字母、数字和连字符）",
    ),
];

/// The rules of garde.
const FOREIGN: [Rule; 18] = [
    rule("required", "is required", "为必填项"),
    rule("min", "must have a length of at least {}", "的长度不能小于 {}"),
    rule("max", "must have a length of at most {}", "的长度不能大于 {}"),
    rule("gte", "must be {} or greater", "不能小于 {}"),
    rule("lte", "must be {} or less", "不能大于 {}"),
    rule("email", "must be a valid email address", "必须是有效的邮箱地址"),
    rule("url", "must be a valid URL", "必须是有效的 URL"),
    rule("ip", "must be a valid IP address", "必须是有效的 IP 地址"),
    rule("ipv4", "must be a valid IPv4 address", "必须是有效的 IPv4 地址"),
    rule("ipv6", "must be a valid IPv6 address", "必须是有效的 IPv6 地址"),
    rule("credit_card", "must be a valid credit card number", "必须是有效的信用卡号"),
    rule("phone_number", "must be a valid phone number", "必须是有效的电话号码"),
    rule("pattern", "must match the pattern {}", "必须匹配模式 {}"),
    rule("contains", "must contain {}", "必须包含 {}"),
    rule("startswith", "must start with {}", "必须以 {} 开头"),
    rule("endswith", "must end with {}", "必须以 {} 结尾"),
    rule("eqfield", "must be equal to {}", "必须与 {} 相同"),
    rule("ascii", "must contain only ASCII characters", "只能包含 ASCII 字符"),
];

/// Apart from the table, because its text has no place for a parameter and is used for nothing else.
const ALPHANUM: Rule = rule("alphanum", "must contain only letters and digits", "只能包含字母和数字");

/// The error that a rule of this crate returns: its English text without the field.
pub(super) fn error_of(tag: &str) -> garde::Error {
    let text = OWN.iter().find(|rule| rule.tag == tag).map_or(tag, |rule| rule.english);
    garde::Error::new(text)
}

/// Gives an error of garde its tag, parameter and text. An empty path is that of a whole object.
pub(super) fn field_error(field: String, error: &garde::Error, language: Language) -> FieldError {
    let text = error.message();
    if field.is_empty() {
        return FieldError::global(text.to_owned());
    }
    let (rule, param) = match Mark::parse(text) {
        Some(mark) => {
            (FOREIGN.iter().chain([&ALPHANUM]).find(|rule| rule.tag == mark.tag), mark.param.to_owned())
        }
        None => (OWN.iter().find(|rule| rule.english == text), String::new()),
    };
    let Some(rule) = rule else {
        return FieldError::new(field, FieldError::CUSTOM_TAG, text.to_owned());
    };
    let message = match language {
        Language::English => format!("{field} {}", rule.english.replace("{}", &param)),
        Language::Chinese => format!("{field}{}", rule.chinese.replace("{}", &param)),
    };
    FieldError { param: param.into(), ..FieldError::new(field, rule.tag, message) }
}

/// Tag and parameter in one text, each after a control character that no sentence begins with.
struct Mark<'a> {
    tag: &'a str,
    param: &'a str,
}

const SEPARATOR: char = '\u{1}';

impl<'a> Mark<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (tag, param) = text.strip_prefix(SEPARATOR)?.split_once(SEPARATOR)?;
        Some(Self { tag, param })
    }
}

fn mark(tag: &str, param: &dyn Display) -> Cow<'static, str> {
    format!("{SEPARATOR}{tag}{SEPARATOR}{param}").into()
}

/// Answers garde with marks.
pub(super) struct Marks;

impl I18n for Marks {
    fn length_lower_than(&self, min: usize) -> Cow<'static, str> {
        mark("min", &min)
    }

    fn length_greater_than(&self, max: usize) -> Cow<'static, str> {
        mark("max", &max)
    }

    fn range_lower_than(&self, min: &dyn Display) -> Cow<'static, str> {
        mark("gte", min)
    }

    fn range_greater_than(&self, max: &dyn Display) -> Cow<'static, str> {
        mark("lte", max)
    }

    fn credit_card_invalid(&self, _reason: InvalidCreditCard) -> Cow<'static, str> {
        mark("credit_card", &"")
    }

    fn pattern_no_match(&self, pattern: &dyn Display) -> Cow<'static, str> {
        mark("pattern", pattern)
    }

    fn contains_missing(&self, pattern: &dyn Display) -> Cow<'static, str> {
        mark("contains", pattern)
    }

    fn url_invalid(&self, _reason: InvalidUrl) -> Cow<'static, str> {
        mark("url", &"")
    }

    fn prefix_missing(&self, pattern: &dyn Display) -> Cow<'static, str> {
        mark("startswith", pattern)
    }

    fn suffix_missing(&self, pattern: &dyn Display) -> Cow<'static, str> {
        mark("endswith", pattern)
    }

    fn phone_number_invalid(&self, _reason: InvalidPhoneNumber) -> Cow<'static, str> {
        mark("phone_number", &"")
    }

    fn ip_invalid(&self, kind: IpKind) -> Cow<'static, str> {
        let tag = match kind {
            IpKind::V4 => "ipv4",
            IpKind::V6 => "ipv6",
            IpKind::Any => "ip",
        };
        mark(tag, &"")
    }

    fn matches_field_mismatch(&self, field: &dyn Display) -> Cow<'static, str> {
        mark("eqfield", field)
    }

    fn email_invalid(&self, _reason: InvalidEmail) -> Cow<'static, str> {
        mark("email", &"")
    }

    fn ascii_invalid(&self) -> Cow<'static, str> {
        mark("ascii", &"")
    }

    fn alphanumeric_invalid(&self) -> Cow<'static, str> {
        mark("alphanum", &"")
    }

    fn required_not_set(&self) -> Cow<'static, str> {
        mark("required", &"")
    }
}
