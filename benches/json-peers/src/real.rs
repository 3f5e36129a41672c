//! The documents that JSON libraries are usually compared with, from the package of jiter, and types for them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use xz4rust::XzReader;

use crate::types::{Check, structs};

/// A document of the package jiter.
#[derive(Debug)]
pub struct Real {
    /// Name in rows.
    pub name: &'static str,
    /// Environment variable with the path, for peers in other languages.
    pub variable: &'static str,
    file: &'static str,
    text: OnceLock<Option<Vec<u8>>>,
}

impl Real {
    const fn new(name: &'static str, variable: &'static str, file: &'static str) -> Self {
        Self { name, variable, file, text: OnceLock::new() }
    }

    /// Returns the document, `None` if the package was not found.
    pub fn text(&self) -> Option<&[u8]> {
        let read = || {
            let file = std::fs::File::open(Path::new(option_env!("REAL_DOCUMENTS")?).join(self.file)).ok()?;
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut XzReader::new(file), &mut text).ok()?;
            Some(text)
        };
        self.text.get_or_init(read).as_deref()
    }
}

/// Messages of a social network: strings, many with characters beyond ASCII.
pub static TWITTER: Real = Real::new("twitter_real", "BENCH_TWITTER", "twitter.json.xz");
/// Catalogue of events, indented: small integers and many keys.
pub static CITM: Real = Real::new("citm_real", "BENCH_CITM", "citm_catalog.json.xz");
/// Borders of Canada: numbers with up to 17 digits.
pub static CANADA: Real = Real::new("canada_real", "BENCH_CANADA", "canada.json.xz");

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

    /// `canada.json`, and generated coastlines. `N` is the type of coordinates.
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
