//! Content negotiation: media types of pages (RFC 9110, 12.5.1, with those of the simple repository API) and content
//! codings (12.5.3).

/// Media type of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// `application/vnd.pypi.simple.v1+json`
    Json,
    /// `application/vnd.pypi.simple.v1+html`
    Html,
    /// `text/html`, with the same content.
    TextHtml,
}

impl Form {
    /// All forms in order of preference for equal weights: the one with the most information first.
    const ALL: [Self; 3] = [Self::Json, Self::Html, Self::TextHtml];

    /// Returns the value of `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/vnd.pypi.simple.v1+json",
            Self::Html => "application/vnd.pypi.simple.v1+html",
            Self::TextHtml => "text/html; charset=utf-8",
        }
    }

    /// Returns the form of a media type; `latest` means version 1.
    fn of(main: &str, sub: &str, suffix: Option<&str>) -> Option<Self> {
        let is = |text: &str, name: &str| text.eq_ignore_ascii_case(name);
        if is(main, "text") && is(sub, "html") && suffix.is_none() {
            return Some(Self::TextHtml);
        }
        if !is(main, "application") || !(is(sub, "vnd.pypi.simple.v1") || is(sub, "vnd.pypi.simple.latest")) {
            return None;
        }
        match suffix {
            Some(suffix) if is(suffix, "json") => Some(Self::Json),
            Some(suffix) if is(suffix, "html") => Some(Self::Html),
            _ => None,
        }
    }

    /// Returns the form of the query parameter `format`, which takes precedence over the header. `None` if the value is
    /// unknown.
    ///
    /// The short names `json` and `html` are accepted besides full media types.
    pub fn from_query(format: &str) -> Option<Self> {
        match format {
            "json" => return Some(Self::Json),
            "html" => return Some(Self::TextHtml),
            _ => {}
        }
        let (main, sub, suffix) = split_media_type(format)?;
        Self::of(main, sub, suffix)
    }

    /// Selects the form for the value of an `Accept` header, or `None` if no form is acceptable (status 406).
    ///
    /// An empty header, or one with equal weights for all types, selects [`Form::TextHtml`]: browsers, load generators
    /// and old installers send such headers.
    ///
    /// ```
    /// use pypi_proxy::Form;
    ///
    /// let pip = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01";
    /// assert_eq!(Form::from_accept(pip), Some(Form::Json));
    /// assert_eq!(Form::from_accept("text/html, application/vnd.pypi.simple.v1+json;q=0.01"), Some(Form::TextHtml));
    /// assert_eq!(Form::from_accept("*/*"), Some(Form::TextHtml));
    /// assert_eq!(Form::from_accept("application/vnd.pypi.simple.v2+json"), None);
    /// ```
    pub fn from_accept(accept: &str) -> Option<Self> {
        if accept.trim().is_empty() {
            return Some(Self::TextHtml);
        }
        let mut preferences = [Preference::default(); Self::ALL.len()];
        for item in items(accept) {
            let (media, weight) = split_weight(item);
            let (Some(weight), Some((main, sub, suffix))) = (weight, split_media_type(media)) else {
                continue;
            };
            for (form, preference) in Self::ALL.into_iter().zip(&mut preferences) {
                let own_main = if form == Self::TextHtml { "text" } else { "application" };
                let specificity = match (main, sub) {
                    ("*", "*") => 1,
                    (main, "*") if main.eq_ignore_ascii_case(own_main) => 2,
                    _ if Self::of(main, sub, suffix) == Some(form) => 3,
                    _ => continue,
                };
                if specificity > preference.specificity {
                    *preference = Preference { specificity, weight };
                } else if specificity == preference.specificity {
                    preference.weight = preference.weight.max(weight);
                }
            }
        }
        let best =
            preferences.iter().map(|preference| preference.weight).max().filter(|weight| *weight > 0)?;
        let best =
            || Self::ALL.into_iter().zip(preferences).filter(|(_, preference)| preference.weight == best);
        // At equal weight, an explicitly named type wins over one that a wildcard matches. With wildcards only, HTML
        // wins, which every client can read.
        best()
            .find(|(_, preference)| preference.specificity == 3)
            .or_else(|| best().find(|(form, _)| *form == Self::TextHtml))
            .or_else(|| best().next())
            .map(|(form, _)| form)
    }
}

/// Weight of a form, with the specificity of the media range that set it.
#[derive(Clone, Copy, Debug, Default)]
struct Preference {
    specificity: u8,
    weight: u16,
}

/// Content coding of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Coding {
    /// No coding.
    Identity,
    /// gzip (RFC 1952).
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
    /// zlib (RFC 1950), which HTTP calls `deflate`.
    Deflate,
}

impl Coding {
    /// All codings in order of increasing output size.
    const ALL: [Self; 4] = [Self::Zstd, Self::Gzip, Self::Deflate, Self::Identity];

    /// Returns the value of `Content-Encoding`, `None` for [`Coding::Identity`].
    pub const fn content_encoding(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
            Self::Deflate => Some("deflate"),
        }
    }

    /// Selects the coding for the value of an `Accept-Encoding` header.
    ///
    /// At equal weight, the coding with the smallest output wins. If nothing is acceptable, identity is used even if
    /// the header excludes it, because an uncoded page is more useful than status 406.
    ///
    /// ```
    /// use pypi_proxy::Coding;
    ///
    /// assert_eq!(Coding::from_accept("gzip, deflate, zstd"), Coding::Zstd);
    /// assert_eq!(Coding::from_accept("gzip, deflate"), Coding::Gzip);
    /// assert_eq!(Coding::from_accept("gzip;q=0"), Coding::Identity);
    /// ```
    pub fn from_accept(accept: &str) -> Self {
        const IDENTITY: usize = Coding::ALL.len() - 1;
        /// Names with their positions in [`Coding::ALL`].
        const NAMES: [(&str, usize); 5] =
            [("zstd", 0), ("gzip", 1), ("x-gzip", 1), ("deflate", 2), ("identity", IDENTITY)];

        let mut weights = [None; Self::ALL.len()];
        let mut others = None;
        for item in accept.split(',') {
            let (name, Some(weight)) = split_weight(item) else { continue };
            if name == "*" {
                others = Some(weight);
                continue;
            }
            let known = NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
            let Some(&(_, index)) = known else { continue };
            weights[index] = Some(weight);
        }
        // A coding that is not named has the weight of `*`; without `*`, only identity is acceptable.
        let of = |index: usize| weights[index].or(others).unwrap_or(u16::from(index == IDENTITY));
        let best = (0..Self::ALL.len()).rev().max_by_key(|index| of(*index)).unwrap_or(IDENTITY);
        if of(best) == 0 { Self::Identity } else { Self::ALL[best] }
    }
}

/// Splits a media type into its main type, its subtype and the suffix. A plus sign in a query decodes to a space.
fn split_media_type(text: &str) -> Option<(&str, &str, Option<&str>)> {
    let (main, sub) = text.split_once('/')?;
    Some(match sub.split_once(['+', ' ']) {
        Some((sub, suffix)) => (main, sub, Some(suffix)),
        None => (main, sub, None),
    })
}

/// Splits a list at commas outside of quoted strings.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    list.split(move |mark: char| {
        let is_end = mark == ',' && !is_quoted;
        is_quoted ^= mark == '"' && !is_escaped;
        is_escaped = mark == '\\' && is_quoted && !is_escaped;
        is_end
    })
}

/// Splits an item into its value and weight. The weight is `None` if malformed.
fn split_weight(item: &str) -> (&str, Option<u16>) {
    let mut parts = item.split(';');
    let name = parts.next().unwrap_or_default().trim();
    let q = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    (name, q.map_or(Some(1000), weight))
}

/// Parses a weight in thousandths (RFC 9110, 12.4.2).
fn weight(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut thousandths: u16 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    for _ in fraction.len()..3 {
        thousandths *= 10;
    }
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_selected_for_common_clients() {
        let json = "application/vnd.pypi.simple.v1+json";
        let html = "application/vnd.pypi.simple.v1+html";
        let cases = [
            // pip, uv, poetry
            (format!("{json}, {html}; q=0.1, text/html; q=0.01"), Some(Form::Json)),
            (format!("{json}, {html};q=0.2, text/html;q=0.01"), Some(Form::Json)),
            (format!("{json}, */*;q=0.1"), Some(Form::Json)),
            // browsers
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".into(), Some(Form::TextHtml)),
            ("*/*".into(), Some(Form::TextHtml)),
            (String::new(), Some(Form::TextHtml)),
            ("text/*".into(), Some(Form::TextHtml)),
            ("application/*".into(), Some(Form::Json)),
            // weights count, and the more specific range
            (format!("text/html, {json};q=0.01"), Some(Form::TextHtml)),
            (format!("{json};q=0, */*"), Some(Form::TextHtml)),
            (format!("{json};q=0.5, {html};q=0.5, text/html;q=0.5"), Some(Form::Json)),
            (html.to_owned(), Some(Form::Html)),
            ("application/vnd.pypi.simple.latest+json".into(), Some(Form::Json)),
            ("APPLICATION/VND.PYPI.SIMPLE.V1+JSON".into(), Some(Form::Json)),
            // unknown or excluded types
            ("application/vnd.pypi.simple.v2+json".into(), None),
            ("application/json".into(), None),
            ("image/png".into(), None),
            ("text/html;q=0".into(), None),
        ];
        for (accept, form) in cases {
            assert_eq!(Form::from_accept(&accept), form, "{accept}");
        }
    }

    #[test]
    fn query_selects_a_form() {
        assert_eq!(Form::from_query("application/vnd.pypi.simple.v1+json"), Some(Form::Json));
        assert_eq!(Form::from_query("application/vnd.pypi.simple.v1 html"), Some(Form::Html));
        assert_eq!(Form::from_query("text/html"), Some(Form::TextHtml));
        assert_eq!(Form::from_query("json"), Some(Form::Json));
        assert_eq!(Form::from_query("html"), Some(Form::TextHtml));
        assert_eq!(Form::from_query("xml"), None);
    }

    #[test]
    fn codings_are_selected_by_weight_and_then_by_size() {
        let cases = [
            ("", Coding::Identity),
            ("gzip, deflate", Coding::Gzip),
            ("deflate", Coding::Deflate),
            ("gzip;q=0.5, deflate", Coding::Deflate),
            ("zstd,gzip,deflate", Coding::Zstd),
            ("gzip;q=1.0, zstd;q=0.5", Coding::Gzip),
            ("identity", Coding::Identity),
            ("Identity", Coding::Identity),
            ("br", Coding::Identity),
            ("*", Coding::Zstd),
            ("*;q=0", Coding::Identity),
            ("zstd;q=0, *", Coding::Gzip),
            ("identity;q=0.5, gzip;q=0.1", Coding::Identity),
            ("GZIP", Coding::Gzip),
        ];
        for (accept, coding) in cases {
            assert_eq!(Coding::from_accept(accept), coding, "{accept}");
        }
    }

    #[test]
    fn weights_are_parsed_as_specified() {
        for (text, expected) in
            [("1", Some(1000)), ("0", Some(0)), ("0.5", Some(500)), ("1.000", Some(1000)), ("0.01", Some(10))]
        {
            assert_eq!(weight(text), expected);
        }
        for text in ["", "2", "1.1", "0.0001", "-1", "0.a", ".5"] {
            assert_eq!(weight(text), None, "{text}");
        }
    }
}
