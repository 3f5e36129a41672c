//! The languages that messages exist in.

/// A language that messages exist in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Language {
    /// English, also for every tag that names another language.
    #[default]
    English,
    /// Chinese.
    Chinese,
}

impl Language {
    /// Reads a tag as a caller spells it: `zh`, `zh-CN` and `zh_CN` are Chinese, everything else is English.
    pub fn from_tag(tag: &str) -> Self {
        match tag {
            "zh" | "zh-CN" | "zh_CN" => Self::Chinese,
            _ => Self::English,
        }
    }

    /// Reads the first entry of an `Accept-Language` header; any tag that begins with `zh` is Chinese there.
    ///
    /// ```
    /// use tightwire_json::errno::Language;
    /// assert_eq!(Language::from_accept_language("zh-TW,zh;q=0.9,en;q=0.8"), Language::Chinese);
    /// assert_eq!(Language::from_accept_language("fr, zh"), Language::English);
    /// ```
    pub fn from_accept_language(header: &str) -> Self {
        let first = header.split([',', ';']).next().unwrap_or_default().trim();
        let chinese = first.as_bytes().get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case(b"zh"));
        if chinese { Self::Chinese } else { Self::English }
    }

    /// The tag of the language: `en` or `zh`.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }
}
