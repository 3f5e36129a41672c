//! The documents that JSON libraries are usually compared with, from the package of jiter, and types for them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::mem;
use std::path::Path;
use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;
use xz4rust::XzReader;

use crate::types::{Check, structs};

/// A document of the package jiter.
#[derive(Debug)]
pub struct Real {
    /// Name in rows, before that of the size.
    pub name: &'static str,
    file: &'static str,
    part: fn(&[u8], usize) -> Vec<u8>,
    text: OnceLock<Vec<u8>>,
}

impl Real {
    const fn new(name: &'static str, file: &'static str, part: fn(&[u8], usize) -> Vec<u8>) -> Self {
        Self { name, file, part, text: OnceLock::new() }
    }

    /// Returns the whole document.
    ///
    /// # Panics
    ///
    /// If the package cannot be read.
    pub fn text(&self) -> &[u8] {
        self.text.get_or_init(|| match self.read() {
            Ok(text) => text,
            Err(error) => panic!("cannot read {} of the package jiter: {error}", self.file),
        })
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let folder = option_env!("REAL_DOCUMENTS").ok_or(io::ErrorKind::NotFound)?;
        let mut text = Vec::new();
        XzReader::new(File::open(Path::new(folder).join(self.file))?).read_to_end(&mut text)?;
        Ok(text)
    }

    /// Returns a document of at least `length` bytes, and slightly more, without white space: the first elements of the
    /// whole document, which are repeated if they are too few.
    ///
    /// # Panics
    ///
    /// If the package cannot be read.
    pub fn sized(&self, length: usize) -> Vec<u8> {
        (self.part)(self.text(), length)
    }
}

/// Messages of a social network: strings, many with characters beyond ASCII.
pub static TWITTER: Real = Real::new("twitter", "twitter.json.xz", |text, length| {
    let mut twitter: Twitter<String> = decoded(text);
    resize(&mut twitter, length, |twitter| &mut twitter.statuses);
    encoded(&twitter)
});
/// Catalogue of events, indented: small integers and many keys. A part has performances with their events.
pub static CITM: Real = Real::new("citm", "citm_catalog.json.xz", |text, length| {
    let mut citm: Citm<String> = decoded(text);
    let mut events = mem::take(&mut citm.events);
    resize(&mut citm, length, |citm| &mut citm.performances);
    events.retain(|_, event| citm.performances.iter().any(|performance| performance.event_id == event.id));
    citm.events = events;
    // With the events, fewer performances suffice.
    resize(&mut citm, length, |citm| &mut citm.performances);
    encoded(&citm)
});
/// Borders of Canada: numbers with up to 17 digits.
pub static CANADA: Real = Real::new("canada", "canada.json.xz", |text, length| {
    fn rings(canada: &mut Canada<f64>) -> &mut Vec<Vec<(f64, f64)>> {
        &mut canada.features[0].geometry.coordinates
    }

    let mut canada: Canada<f64> = decoded(text);
    resize(&mut canada, length, rings);
    // A ring has up to 14,310 points.
    let last = rings(&mut canada).len() - 1;
    resize(&mut canada, length, |canada| &mut rings(canada)[last]);
    encoded(&canada)
});

/// Decodes with sonic-rs: without its feature `float_roundtrip`, serde_json changes the last digit of some numbers.
fn decoded<T: DeserializeOwned>(text: &[u8]) -> T {
    match sonic_rs::from_slice(text) {
        Ok(value) => value,
        Err(error) => unreachable!("the documents have these types, as tests check: {error}"),
    }
}

fn encoded<T: Serialize>(value: &T) -> Vec<u8> {
    sonic_rs::to_vec(value).unwrap_or_default()
}

/// Reduces a list of the document to the first elements with which its text has at least `length` bytes. Repeats them if
/// they are too few.
fn resize<T: Serialize, E: Clone + Serialize>(
    document: &mut T,
    length: usize,
    list: impl Fn(&mut T) -> &mut Vec<E>,
) {
    let all = mem::take(list(document));
    // One more than the length, because the first element has no comma.
    let mut written = encoded(&*document).len();
    let kept = all.iter().cycle().take_while(|element| {
        let is_short = written <= length;
        written += encoded(*element).len() + 1;
        is_short
    });
    *list(document) = kept.cloned().collect();
}

/// Object whose keys are data.
pub type Map<S, T> = BTreeMap<S, T>;

structs! {
    /// `twitter.json`.
    Twitter<S> {
        statuses: Vec<Status<S>>,
        search_metadata: SearchMetadata<S>,
    }

    /// Message.
    Status<S> {
        metadata: Metadata<S>,
        created_at: S,
        id: u64,
        id_str: S,
        text: S,
        source: S,
        truncated: bool,
        in_reply_to_status_id: Option<u64>,
        in_reply_to_status_id_str: Option<S>,
        in_reply_to_user_id: Option<u64>,
        in_reply_to_user_id_str: Option<S>,
        in_reply_to_screen_name: Option<S>,
        user: User<S>,
        geo: Option<()>,
        coordinates: Option<()>,
        place: Option<()>,
        contributors: Option<()>,
        #[serde(skip_serializing_if = "Option::is_none")]
        retweeted_status: Option<Box<Status<S>>>,
        retweet_count: u32,
        favorite_count: u32,
        entities: Entities<S>,
        favorited: bool,
        retweeted: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        possibly_sensitive: Option<bool>,
        lang: S,
    }

    /// Kind and language of a message.
    Metadata<S> {
        result_type: S,
        iso_language_code: S,
    }

    /// Author.
    User<S> {
        id: u64,
        id_str: S,
        name: S,
        screen_name: S,
        location: S,
        description: S,
        url: Option<S>,
        entities: UserEntities<S>,
        protected: bool,
        followers_count: u32,
        friends_count: u32,
        listed_count: u32,
        created_at: S,
        favourites_count: u32,
        utc_offset: Option<i32>,
        time_zone: Option<S>,
        geo_enabled: bool,
        verified: bool,
        statuses_count: u32,
        lang: S,
        contributors_enabled: bool,
        is_translator: bool,
        is_translation_enabled: bool,
        profile_background_color: S,
        profile_background_image_url: S,
        profile_background_image_url_https: S,
        profile_background_tile: bool,
        profile_image_url: S,
        profile_image_url_https: S,
        #[serde(skip_serializing_if = "Option::is_none")]
        profile_banner_url: Option<S>,
        profile_link_color: S,
        profile_sidebar_border_color: S,
        profile_sidebar_fill_color: S,
        profile_text_color: S,
        profile_use_background_image: bool,
        default_profile: bool,
        default_profile_image: bool,
        following: bool,
        follow_request_sent: bool,
        notifications: bool,
    }

    /// Links in the description of an author.
    UserEntities<S> {
        #[serde(skip_serializing_if = "Option::is_none")]
        url: Option<Links<S>>,
        description: Links<S>,
    }

    /// Links.
    Links<S> {
        urls: Vec<Link<S>>,
    }

    /// Link with its position.
    Link<S> {
        url: S,
        expanded_url: S,
        display_url: S,
        indices: (u16, u16),
    }

    /// Parts of a text.
    Entities<S> {
        hashtags: Vec<Hashtag<S>>,
        symbols: Vec<S>,
        urls: Vec<Link<S>>,
        user_mentions: Vec<Mention<S>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        media: Option<Vec<Medium<S>>>,
    }

    /// Tag with its position.
    Hashtag<S> {
        text: S,
        indices: (u16, u16),
    }

    /// Mentioned user.
    Mention<S> {
        screen_name: S,
        name: S,
        id: u64,
        id_str: S,
        indices: (u16, u16),
    }

    /// Picture.
    Medium<S> {
        id: u64,
        id_str: S,
        indices: (u16, u16),
        media_url: S,
        media_url_https: S,
        url: S,
        display_url: S,
        expanded_url: S,
        #[serde(rename = "type")]
        kind: S,
        sizes: Sizes<S>,
        #[serde(skip_serializing_if = "Option::is_none")]
        source_status_id: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        source_status_id_str: Option<S>,
    }

    /// Sizes of a picture.
    Sizes<S> {
        medium: Size<S>,
        small: Size<S>,
        thumb: Size<S>,
        large: Size<S>,
    }

    /// Size of a picture.
    Size<S> {
        w: u16,
        h: u16,
        resize: S,
    }

    /// The search that the messages are the result of.
    SearchMetadata<S> {
        completed_in: f64,
        max_id: u64,
        max_id_str: S,
        next_results: S,
        query: S,
        refresh_url: S,
        count: u32,
        since_id: u64,
        since_id_str: S,
    }

    /// `citm_catalog.json`.
    #[serde(rename_all = "camelCase", bound(deserialize = "S: serde::Deserialize<'de> + Ord"))]
    Citm<S> {
        area_names: Map<S, S>,
        audience_sub_category_names: Map<S, S>,
        block_names: Map<S, S>,
        events: Map<S, Event<S>>,
        performances: Vec<Performance<S>>,
        seat_category_names: Map<S, S>,
        sub_topic_names: Map<S, S>,
        subject_names: Map<S, S>,
        topic_names: Map<S, S>,
        topic_sub_topics: Map<S, Vec<u32>>,
        venue_names: Map<S, S>,
    }

    /// Event.
    #[serde(rename_all = "camelCase")]
    Event<S> {
        description: Option<S>,
        id: u32,
        logo: Option<S>,
        name: S,
        sub_topic_ids: Vec<u32>,
        subject_code: Option<S>,
        subtitle: Option<S>,
        topic_ids: Vec<u32>,
    }

    /// Performance of an event.
    #[serde(rename_all = "camelCase")]
    Performance<S> {
        event_id: u32,
        id: u32,
        logo: Option<S>,
        name: Option<S>,
        prices: Vec<Price>,
        seat_categories: Vec<SeatCategory>,
        seat_map_image: Option<S>,
        start: u64,
        venue_code: S,
    }

    /// Price of a seat.
    #[serde(rename_all = "camelCase")]
    Price {
        amount: u32,
        audience_sub_category_id: u32,
        seat_category_id: u32,
    }

    /// Areas of a seat category.
    #[serde(rename_all = "camelCase")]
    SeatCategory {
        areas: Vec<Area>,
        seat_category_id: u32,
    }

    /// Part of a hall.
    #[serde(rename_all = "camelCase")]
    Area {
        area_id: u32,
        block_ids: Vec<u32>,
    }

    /// `canada.json`. `N` is the type of coordinates.
    Canada<N> {
        #[serde(rename = "type")]
        kind: String,
        features: Vec<Feature<N>>,
    }

    /// Country.
    Feature<N> {
        #[serde(rename = "type")]
        kind: String,
        properties: Map<String, String>,
        geometry: Geometry<N>,
    }

    /// Borders of a country.
    Geometry<N> {
        #[serde(rename = "type")]
        kind: String,
        coordinates: Vec<Vec<(N, N)>>,
    }
}

impl<S: AsRef<str>> Check for Twitter<S> {
    fn check(&self) -> u64 {
        let names = self.statuses.iter().map(|status| status.user.screen_name.as_ref().len() as u64);
        names.sum::<u64>() + u64::from(self.search_metadata.count)
    }
}

impl<S> Check for Citm<S> {
    fn check(&self) -> u64 {
        let prices = self.performances.iter().map(|performance| performance.prices.len());
        (self.events.len() + prices.sum::<usize>() + self.venue_names.len()) as u64
    }
}

impl<N> Check for Canada<N> {
    fn check(&self) -> u64 {
        (self.features.len() + self.kind.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_slightly_longer_than_wanted() {
        for document in [&TWITTER, &CITM, &CANADA] {
            for length in [10 << 10, 100 << 10, 1 << 20] {
                let part = document.sized(length).len();
                assert!((length..length * 5 / 4).contains(&part), "{}: {part} of {length}", document.name);
            }
        }
    }

    #[test]
    fn parts_begin_like_the_document_and_are_complete() {
        let [whole, part]: [Twitter<String>; 2] = [decoded(TWITTER.text()), decoded(&TWITTER.sized(1 << 20))];
        assert_eq!(part.statuses[..whole.statuses.len()], whole.statuses);
        assert_eq!(part.statuses[whole.statuses.len()], whole.statuses[0]);
        let part: Citm<String> = decoded(&CITM.sized(10 << 10));
        assert!((1..10).contains(&part.performances.len()));
        assert!(part.performances.iter().all(|one| part.events.contains_key(&one.event_id.to_string())));
        let [whole, part]: [Canada<f64>; 2] = [decoded(CANADA.text()), decoded(&CANADA.sized(10 << 10))];
        let [whole, part] = [&whole, &part].map(|canada| &canada.features[0].geometry.coordinates);
        let last = part.len() - 1;
        assert_eq!(part[..last], whole[..last]);
        assert_eq!(part[last], whole[last][..part[last].len()]);
    }
}
