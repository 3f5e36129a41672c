//! Generated documents of three kinds and any size: many short strings, some with escapes and non-ASCII characters
//! (messages of a social network), many small integers with many keys (a catalogue of events), and long decimals (a
//! coastline). The programs in other languages generate the same bytes.

use std::fmt::Write;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::real::{Hashtag, Price, SeatCategory};
use crate::types::structs;

/// Kind of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Messages of a social network.
    Messages,
    /// A catalogue of events.
    Catalogue,
    /// A coastline.
    Coastline,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Messages, Self::Catalogue, Self::Coastline];

    /// Returns the name in rows, that of a similar document in other benchmarks.
    pub fn name(self) -> &'static str {
        ["twitter", "citm", "canada"][self as usize]
    }

    /// Generates a document of at least `length` bytes, and slightly more.
    pub fn generate(self, length: usize) -> Vec<u8> {
        let mut numbers = Numbers(1);
        match self {
            Self::Messages => messages(length, &mut numbers),
            Self::Catalogue => catalogue(length, &mut numbers),
            Self::Coastline => coastline(length, &mut numbers),
        }
        .into_bytes()
    }
}

/// Size of the documents of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Size {
    Kb10,
    Kb100,
    Mb1,
}

impl Size {
    /// All sizes.
    pub const ALL: [Self; 3] = [Self::Kb10, Self::Kb100, Self::Mb1];

    /// Returns the name in rows.
    pub fn name(self) -> &'static str {
        ["10k", "100k", "1m"][self as usize]
    }

    /// Returns the number of users in a page of this size.
    pub fn users(self) -> i64 {
        [37, 364, 3_720][self as usize]
    }

    /// Returns the minimum number of bytes.
    pub fn least(self) -> usize {
        [10 << 10, 100 << 10, 1 << 20][self as usize]
    }
}

/// Generates a document of at least `length` bytes and decodes it.
pub fn generated<T: DeserializeOwned>(kind: Kind, length: usize) -> T {
    match from_bytes(&kind.generate(length)) {
        Ok(value) => value,
        Err(error) => unreachable!("generated documents have their type, as tests check: {error}"),
    }
}

/// Decodes with serde_json.
///
/// # Errors
/// If the bytes are not UTF-8 or the text does not have the type.
pub fn from_bytes<'de, T: Deserialize<'de>>(document: &'de [u8]) -> serde_json::Result<T> {
    serde_json::from_str(std::str::from_utf8(document).map_err(serde::de::Error::custom)?)
}

/// Linear congruential generator, which is short in every language.
struct Numbers(u32);

impl Numbers {
    /// Returns a number below `bound`, which is at most 65,536.
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 16) % bound
    }
}

/// Sixteen words, separated by spaces.
const WORDS: &str = r#"stream of tokens naïve 東京 the quick \"quoted\" line\nbreak café over \u00e9t\u00e9 dogs https:\/\/example.org 👍 and"#;

fn text(out: &mut String, words: u32, numbers: &mut Numbers) {
    for index in 0..words {
        out.push_str(if index > 0 { " " } else { "" });
        out.push_str(WORDS.split(' ').nth(numbers.below(16) as usize).unwrap_or_default());
    }
}

/// Appends a comma before all elements but the first.
fn separate(out: &mut String, has_previous: bool) {
    out.push_str(if has_previous { "," } else { "" });
}

fn messages(length: usize, numbers: &mut Numbers) -> String {
    let mut out = String::from("{\"statuses\":[");
    let mut index = 0_u64;
    while out.len() < length {
        separate(&mut out, index > 0);
        let id = 505_874_924_095_815_700 + index * 7;
        let _ = write!(out, "{{\"created_at\":\"Sun Aug 31 00:29:{:02} +0000 2014\",", numbers.below(60));
        let _ = write!(out, "\"id\":{id},\"id_str\":\"{id}\",\"text\":\"");
        text(&mut out, 6 + index as u32 % 12, numbers);
        let _ = write!(out, "\",\"truncated\":false,\"user\":{{\"id\":{},", 1_186_275_104 + index * 3);
        let _ = write!(out, "\"screen_name\":\"user_{}\",\"name\":\"", numbers.below(10_000));
        text(&mut out, 2, numbers);
        let _ = write!(out, "\",\"followers_count\":{},", numbers.below(60_000));
        let _ = write!(out, "\"verified\":{},\"description\":\"", numbers.below(2) == 1);
        text(&mut out, 4 + index as u32 % 8, numbers);
        let _ = write!(out, "\"}},\"retweet_count\":{},", numbers.below(5_000));
        out.push_str("\"entities\":{\"hashtags\":[");
        for tag in 0..index % 3 {
            separate(&mut out, tag > 0);
            let start = numbers.below(100);
            let _ = write!(out, "{{\"text\":\"tag{tag}\",\"indices\":[{start},{}]}}", start + 5);
        }
        let language = ["ja", "en", "fr"][numbers.below(3) as usize];
        let _ = write!(out, "]}},\"favorited\":false,\"in_reply_to\":null,\"lang\":\"{language}\"}}");
        index += 1;
    }
    let _ = write!(out, "],\"search_metadata\":{{\"completed_in\":0.087,\"count\":{index}}}}}");
    out
}

fn catalogue(length: usize, numbers: &mut Numbers) -> String {
    let mut out = String::from("{\"performances\":[");
    let mut index = 0_u64;
    while out.len() < length {
        separate(&mut out, index > 0);
        let _ = write!(out, "{{\"eventId\":{},\"id\":{},", 138_586_341 + index * 9, 339_887_544 + index * 11);
        out.push_str("\"logo\":null,\"name\":null,\"prices\":[");
        for price in 0..1 + index % 4 {
            separate(&mut out, price > 0);
            let _ = write!(out, "{{\"amount\":{},", 9_000 + 250 * numbers.below(100));
            let _ = write!(out, "\"audienceSubCategoryId\":337100890,");
            let _ = write!(out, "\"seatCategoryId\":{}}}", 338_937_235 + u64::from(numbers.below(90)));
        }
        out.push_str("],\"seatCategories\":[");
        for category in 0..1 + index % 3 {
            separate(&mut out, category > 0);
            out.push_str("{\"areas\":[");
            for area in 0..1 + numbers.below(6) {
                separate(&mut out, area > 0);
                let id = 205_705_999 + u64::from(numbers.below(20));
                let _ = write!(out, "{{\"areaId\":{id},\"blockIds\":[]}}");
            }
            let id = 338_937_235 + u64::from(numbers.below(90));
            let _ = write!(out, "],\"seatCategoryId\":{id}}}");
        }
        let _ = write!(out, "],\"start\":{},", 1_372_701_600_000 + index * 86_400_000);
        let _ = write!(out, "\"venueCode\":\"PLEYEL_{}\"}}", numbers.below(30));
        index += 1;
    }
    let _ = write!(out, "],\"total\":{index}}}");
    out
}

fn coastline(length: usize, numbers: &mut Numbers) -> String {
    let mut out = String::from("{\"type\":\"FeatureCollection\",\"features\":[");
    let mut features = 0;
    while out.len() < length {
        separate(&mut out, features > 0);
        out.push_str("{\"type\":\"Feature\",\"properties\":{\"name\":\"Canada\"},");
        out.push_str("\"geometry\":{\"type\":\"Polygon\",\"coordinates\":[[");
        let points = 24 + numbers.below(40);
        for point in 0..points {
            separate(&mut out, point > 0);
            out.push('[');
            decimal(&mut out, "-", 60 + numbers.below(80), numbers);
            out.push(',');
            decimal(&mut out, "", 41 + numbers.below(42), numbers);
            out.push(']');
        }
        out.push_str("]]}}");
        features += 1;
    }
    out.push_str("]}");
    out
}

/// Appends 13 decimals that end with an odd digit, so that this is the shortest text of the number.
fn decimal(out: &mut String, sign: &str, whole: u32, numbers: &mut Numbers) {
    let (high, middle, low) = (numbers.below(10_000), numbers.below(10_000), numbers.below(10_000));
    let last = numbers.below(5) * 2 + 1;
    let _ = write!(out, "{sign}{whole}.{high:04}{middle:04}{low:04}{last}");
}

structs! {
    /// A document of [`Kind::Messages`].
    Messages {
        statuses: Vec<Status>,
        search_metadata: SearchMetadata,
    }

    /// One message.
    Status {
        created_at: String,
        id: u64,
        id_str: String,
        text: String,
        truncated: bool,
        user: User,
        retweet_count: u32,
        entities: Entities,
        favorited: bool,
        in_reply_to: Option<u64>,
        lang: String,
    }

    /// Author of a message.
    User {
        id: u64,
        screen_name: String,
        name: String,
        followers_count: u32,
        verified: bool,
        description: String,
    }

    /// Entities of a message.
    Entities {
        hashtags: Vec<Hashtag<String>>,
    }

    /// Metadata of the search.
    SearchMetadata {
        completed_in: f64,
        count: u64,
    }

    /// A document of [`Kind::Catalogue`].
    Catalogue {
        performances: Vec<Performance>,
        total: u64,
    }

    /// One event of a catalogue.
    #[serde(rename_all = "camelCase")]
    Performance {
        event_id: u64,
        id: u64,
        logo: Option<String>,
        name: Option<String>,
        prices: Vec<Price>,
        seat_categories: Vec<SeatCategory>,
        start: u64,
        venue_code: String,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::Canada;
    use serde::Serialize;
    use serde_json::Value;

    fn same_as_tree<T: DeserializeOwned + Serialize>(document: &[u8]) {
        let typed: T = serde_json::from_slice(document).unwrap();
        let tree: Value = serde_json::from_slice(document).unwrap();
        assert_eq!(serde_json::to_value(typed).unwrap(), tree);
    }

    #[test]
    fn types_hold_all_of_their_documents() {
        for length in [10 << 10, 100 << 10] {
            same_as_tree::<Messages>(&Kind::Messages.generate(length));
            same_as_tree::<Catalogue>(&Kind::Catalogue.generate(length));
            same_as_tree::<Canada<f64>>(&Kind::Coastline.generate(length));
        }
    }

    /// Checksums (FNV-1a, 64 bits), the same as in the programs in other languages.
    #[test]
    fn documents_are_the_same_in_every_language() {
        let sum = |kind: Kind| {
            kind.generate(100 << 10).iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| {
                (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
        };
        let expected = [0x49c0_f407_c1d0_767b, 0x2f4b_2758_9b8d_58da, 0x92de_37c1_66e5_fb45];
        assert_eq!(Kind::ALL.map(sum), expected);
    }
}
