"""The types of the documents, for msgspec. No struct needs the collector of cycles."""

import msgspec


class Struct(msgspec.Struct, gc=False, omit_defaults=True):
    """Fields with a default are not in all documents, and not written if they are absent."""


class Link(Struct):
    url: str
    expanded_url: str
    display_url: str
    indices: tuple[int, int]


class Links(Struct):
    urls: list[Link]


class UserEntities(Struct):
    description: Links
    url: Links | None = None


class User(Struct, kw_only=True):
    id: int
    id_str: str
    name: str
    screen_name: str
    location: str
    description: str
    url: str | None
    entities: UserEntities
    protected: bool
    followers_count: int
    friends_count: int
    listed_count: int
    created_at: str
    favourites_count: int
    utc_offset: int | None
    time_zone: str | None
    geo_enabled: bool
    verified: bool
    statuses_count: int
    lang: str
    contributors_enabled: bool
    is_translator: bool
    is_translation_enabled: bool
    profile_background_color: str
    profile_background_image_url: str
    profile_background_image_url_https: str
    profile_background_tile: bool
    profile_image_url: str
    profile_image_url_https: str
    profile_banner_url: str | None = None
    profile_link_color: str
    profile_sidebar_border_color: str
    profile_sidebar_fill_color: str
    profile_text_color: str
    profile_use_background_image: bool
    default_profile: bool
    default_profile_image: bool
    following: bool
    follow_request_sent: bool
    notifications: bool


class Hashtag(Struct):
    text: str
    indices: tuple[int, int]


class Mention(Struct):
    screen_name: str
    name: str
    id: int
    id_str: str
    indices: tuple[int, int]


class Size(Struct):
    w: int
    h: int
    resize: str


class Sizes(Struct):
    medium: Size
    small: Size
    thumb: Size
    large: Size


class Medium(Struct):
    id: int
    id_str: str
    indices: tuple[int, int]
    media_url: str
    media_url_https: str
    url: str
    display_url: str
    expanded_url: str
    type: str
    sizes: Sizes
    source_status_id: int | None = None
    source_status_id_str: str | None = None


class Entities(Struct):
    hashtags: list[Hashtag]
    symbols: list[str]
    urls: list[Link]
    user_mentions: list[Mention]
    media: list[Medium] | None = None


class Metadata(Struct):
    result_type: str
    iso_language_code: str


class Status(Struct, kw_only=True):
    metadata: Metadata
    created_at: str
    id: int
    id_str: str
    text: str
    source: str
    truncated: bool
    in_reply_to_status_id: int | None
    in_reply_to_status_id_str: str | None
    in_reply_to_user_id: int | None
    in_reply_to_user_id_str: str | None
    in_reply_to_screen_name: str | None
    user: User
    geo: None
    coordinates: None
    place: None
    contributors: None
    retweeted_status: "Status | None" = None
    retweet_count: int
    favorite_count: int
    entities: Entities
    favorited: bool
    retweeted: bool
    possibly_sensitive: bool | None = None
    lang: str


class SearchMetadata(Struct):
    completed_in: float
    max_id: int
    max_id_str: str
    next_results: str
    query: str
    refresh_url: str
    count: int
    since_id: int
    since_id_str: str


class Twitter(Struct):
    statuses: list[Status]
    search_metadata: SearchMetadata


class Event(Struct, rename="camel"):
    description: str | None
    id: int
    logo: str | None
    name: str
    sub_topic_ids: list[int]
    subject_code: str | None
    subtitle: str | None
    topic_ids: list[int]


class Price(Struct, rename="camel"):
    amount: int
    audience_sub_category_id: int
    seat_category_id: int


class Area(Struct, rename="camel"):
    area_id: int
    block_ids: list[int]


class SeatCategory(Struct, rename="camel"):
    areas: list[Area]
    seat_category_id: int


class Performance(Struct, rename="camel"):
    event_id: int
    id: int
    logo: str | None
    name: str | None
    prices: list[Price]
    seat_categories: list[SeatCategory]
    seat_map_image: str | None
    start: int
    venue_code: str


class Citm(Struct, rename="camel"):
    area_names: dict[str, str]
    audience_sub_category_names: dict[str, str]
    block_names: dict[str, str]
    events: dict[str, Event]
    performances: list[Performance]
    seat_category_names: dict[str, str]
    sub_topic_names: dict[str, str]
    subject_names: dict[str, str]
    topic_names: dict[str, str]
    topic_sub_topics: dict[str, list[int]]
    venue_names: dict[str, str]


class Geometry(Struct):
    type: str
    coordinates: list[list[tuple[float, float]]]


class Feature(Struct):
    type: str
    properties: dict[str, str]
    geometry: Geometry


class Canada(Struct):
    type: str
    features: list[Feature]


def twitter_check(twitter):
    return twitter.search_metadata.count + sum(len(status.user.screen_name) for status in twitter.statuses)


def citm_check(citm):
    return len(citm.events) + len(citm.venue_names) + sum(len(one.prices) for one in citm.performances)


# Kind of document: type and check value.
CHECKS = {
    "twitter": (Twitter, twitter_check),
    "citm": (Citm, citm_check),
    "canada": (Canada, lambda canada: len(canada.features) + len(canada.type)),
}
