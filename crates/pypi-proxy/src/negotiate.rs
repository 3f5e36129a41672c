//! What a client accepts: forms of a page (RFC 9110, 12.5.1, with the media types of the simple repository API) and
//! codings of it (12.5.3).

/// A form of a page.
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
    /// From the richest to the poorest, which decides between forms that a client likes the same.
    const ALL: [Self; 3] = [Self::Json, Self::Html, Self::TextHtml];

    /// The value of `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/vnd.pypi.simple.v1+json",
            Self::Html => "application/vnd.pypi.simple.v1+html",
            Self::TextHtml => "text/html; charset=utf-8",
        }
    }

    /// The form that a media type names; `latest` is version 1.
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

    /// The form that the query parameter `format` asks for, which goes before the header. `None` if there is no such form.
    ///
    /// Besides full media types the short `json` and `html` are taken.
    pub fn from_query(format: &str) -> Option<Self> {
        match format {
            "json" => return Some(Self::Json),
            "html" => return Some(Self::TextHtml),
            _ => {}
        }
        // A plus sign in a query stands for a blank.
        let (main, sub) = format.split_once('/')?;
        let (sub, suffix) = match sub.split_once(['+', ' ']) {
            Some((sub, suffix)) => (sub, Some(suffix)),
            None => (sub, None),
        };
        Self::of(main, sub, suffix)
    }

    /// The form that suits the value of an `Accept` header best, `None` if none does (406).
    ///
    /// Without a header, or with one that likes everything the same, it is [`Form::TextHtml`]: browsers and load
    /// generators ask like that, and so do old installers that know nothing else.
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
        let mut wishes = [Wish::default(); Self::ALL.len()];
        for item in items(accept) {
            let (media, weight) = weighed(item);
            let (Some(weight), Some((main, sub))) = (weight, media.split_once('/')) else { continue };
            let (sub, suffix) = match sub.split_once('+') {
                Some((sub, suffix)) => (sub, Some(suffix)),
                None => (sub, None),
            };
            for (form, wish) in Self::ALL.into_iter().zip(&mut wishes) {
                let own_main = if form == Self::TextHtml { "text" } else { "application" };
                let exact = match (main, sub) {
                    ("*", "*") => 1,
                    (main, "*") if main.eq_ignore_ascii_case(own_main) => 2,
                    _ if Self::of(main, sub, suffix) == Some(form) => 3,
                    _ => continue,
                };
                if exact > wish.exact {
                    *wish = Wish { exact, weight };
                } else if exact == wish.exact {
                    wish.weight = wish.weight.max(weight);
                }
            }
        }
        let best = wishes.iter().map(|wish| wish.weight).max().filter(|weight| *weight > 0)?;
        let mut liked = Self::ALL.into_iter().zip(wishes).filter(|(_, wish)| wish.weight == best);
        // Among those that are liked the same, one that was named goes before one that a star stands for; and if only
        // stars were given, the form that everybody reads.
        liked
            .clone()
            .find(|(_, wish)| wish.exact == 3)
            .or_else(|| liked.find(|(form, _)| *form == Self::TextHtml))
            .or_else(|| Self::ALL.into_iter().zip(wishes).find(|(_, wish)| wish.weight == best))
            .map(|(form, _)| form)
    }
}

/// How much a form is liked, and how exactly it was named.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    exact: u8,
    weight: u16,
}

/// A coding of a page's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Coding {
    /// As they are.
    Identity,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// RFC 1950: the name is that of what is inside.
    Deflate,
}

impl Coding {
    /// From the cheapest for the network to the dearest.
    const ALL: [Self; 4] = [Self::Zstd, Self::Gzip, Self::Deflate, Self::Identity];

    /// The value of `Content-Encoding`, `None` for [`Coding::Identity`].
    pub const fn content_encoding(self) -> Option<&'static str> {
        match self {
            Self::Identity => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
            Self::Deflate => Some("deflate"),
        }
    }

    /// The coding that suits the value of an `Accept-Encoding` header best.
    ///
    /// Between codings with the same weight the one with fewer bytes is taken, and identity where nothing else is
    /// accepted, even if it was refused: a page that can't be read is no better than one that was not wanted.
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

        let mut weights = [None; Self::ALL.len()];
        let mut others = None;
        for item in accept.split(',') {
            let (name, Some(weight)) = weighed(item) else { continue };
            let is = |text: &str| name.eq_ignore_ascii_case(text);
            let index = match () {
                () if is("zstd") => 0,
                () if is("gzip") || is("x-gzip") => 1,
                () if is("deflate") => 2,
                () if is("identity") => IDENTITY,
                () if is("*") => {
                    others = Some(weight);
                    continue;
                }
                () => continue,
            };
            weights[index] = Some(weight);
        }
        // What was not named: acceptable if it is identity, else only through the star.
        let of = |index: usize| weights[index].or(others).unwrap_or(u16::from(index == IDENTITY));
        let best = (0..Self::ALL.len()).rev().max_by_key(|index| of(*index)).unwrap_or(IDENTITY);
        if of(best) == 0 { Self::Identity } else { Self::ALL[best] }
    }
}

/// The items of a list. A comma in a quoted string does not end one.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    list.split(move |mark: char| {
        let is_end = mark == ',' && !is_quoted;
        is_quoted ^= mark == '"' && !is_escaped;
        is_escaped = mark == '\\' && is_quoted && !is_escaped;
        is_end
    })
}

/// What is accepted, and how much: `None` for a weight that is none.
fn weighed(item: &str) -> (&str, Option<u16>) {
    let mut parts = item.split(';');
    let name = parts.next().unwrap_or_default().trim();
    let q = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    (name, q.map_or(Some(1000), weight))
}

/// A weight in thousandths (RFC 9110, 12.4.2).
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_are_chosen_as_clients_expect() {
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
            // weights count, and the more exact range
            (format!("text/html, {json};q=0.01"), Some(Form::TextHtml)),
            (format!("{json};q=0, */*"), Some(Form::TextHtml)),
            (format!("{json};q=0.5, {html};q=0.5, text/html;q=0.5"), Some(Form::Json)),
            (html.to_owned(), Some(Form::Html)),
            ("application/vnd.pypi.simple.latest+json".into(), Some(Form::Json)),
            ("APPLICATION/VND.PYPI.SIMPLE.V1+JSON".into(), Some(Form::Json)),
            // nothing that there is
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
    fn the_query_names_a_form() {
        assert_eq!(Form::from_query("application/vnd.pypi.simple.v1+json"), Some(Form::Json));
        assert_eq!(Form::from_query("application/vnd.pypi.simple.v1 html"), Some(Form::Html));
        assert_eq!(Form::from_query("text/html"), Some(Form::TextHtml));
        assert_eq!(Form::from_query("json"), Some(Form::Json));
        assert_eq!(Form::from_query("html"), Some(Form::TextHtml));
        assert_eq!(Form::from_query("xml"), None);
    }

    #[test]
    fn codings_are_chosen_by_weight_and_then_by_size() {
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
    fn weights_are_those_of_the_standard() {
        for (text, expected) in
            [("1", Some(1000)), ("0", Some(0)), ("0.5", Some(500)), ("1.000", Some(1000)), ("0.01", Some(10))]
        {
            assert_eq!(weight(text), expected);
        }
        for text in ["", "2", "1.1", "0.0001", "-1", "0.a", ".5"] {
            assert_eq!(weight(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_header_has_an_answer(accept in "[a-z0-9*/+;=., -]{0,60}") {
            let _ = (Form::from_accept(&accept), Coding::from_accept(&accept), Form::from_query(&accept));
        }
    }
}
