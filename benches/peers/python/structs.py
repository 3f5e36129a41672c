"""The types of the documents, for msgspec. No struct needs the collector of cycles."""

import msgspec


class Struct(msgspec.Struct, gc=False):
    pass


class Hashtag(Struct):
    text: str
    indices: tuple[int, int]


class Entities(Struct):
    hashtags: list[Hashtag]


class User(Struct):
    id: int
    screen_name: str
    name: str
    followers_count: int
    verified: bool
    description: str


class Status(Struct):
    created_at: str
    id: int
    id_str: str
    text: str
    truncated: bool
    user: User
    retweet_count: int
    entities: Entities
    favorited: bool
    in_reply_to: int | None
    lang: str


class SearchMetadata(Struct):
    completed_in: float
    count: int


class Messages(Struct):
    statuses: list[Status]
    search_metadata: SearchMetadata


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
    start: int
    venue_code: str


class Catalogue(Struct):
    performances: list[Performance]
    total: int


class Properties(Struct):
    name: str


class Geometry(Struct):
    type: str
    coordinates: list[list[tuple[float, float]]]


class Feature(Struct):
    type: str
    properties: Properties
    geometry: Geometry


class Coastline(Struct):
    type: str
    features: list[Feature]


# Kind of document: type and check value.
CHECKS = {
    "twitter": (Messages, lambda value: len(value.statuses) + value.search_metadata.count),
    "citm": (Catalogue, lambda value: len(value.performances) + value.total),
    "canada": (Coastline, lambda value: len(value.features) + len(value.type)),
}
