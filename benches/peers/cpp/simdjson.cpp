// Rows of the suite json for the on-demand interface of simdjson: structs.
//
// The parser is reused and the document is padded in advance, as its documentation asks.

#include <simdjson.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "documents.hpp"
#include "resident.hpp"

namespace ondemand = simdjson::ondemand;

// The members of a struct with their names, see STRUCT.
template <class T>
struct Members;

template <class T>
struct Member {
    std::string_view name;
    void (*read)(T&, ondemand::value);
};

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
void read(ondemand::value value, T& into) {
    if constexpr (std::is_same_v<T, std::string>) {
        into = std::string_view(value.get_string());
    } else if constexpr (std::is_same_v<T, bool>) {
        into = value.get_bool();
    } else if constexpr (std::is_floating_point_v<T>) {
        into = static_cast<T>(double(value.get_double()));
    } else if constexpr (std::is_unsigned_v<T>) {
        into = static_cast<T>(std::uint64_t(value.get_uint64()));
    } else if constexpr (std::is_integral_v<T>) {
        into = static_cast<T>(std::int64_t(value.get_int64()));
    } else if constexpr (is_optional<T>) {
        if (!value.is_null()) read(value, into.emplace());
    } else if constexpr (is_list<T>) {
        for (auto element : value.get_array()) read(element.value(), into.emplace_back());
    } else if constexpr (is_map<T>) {
        for (auto field : value.get_object()) {
            read(field.value(), into[std::string(std::string_view(field.unescaped_key()))]);
        }
    } else if constexpr (requires { into->self(); }) {
        if (!value.is_null()) read(value, *(into = std::make_unique<typename T::element_type>()));
    } else if constexpr (requires { into.size(); }) {
        std::size_t index = 0;
        for (auto element : value.get_array()) {
            if (index == into.size()) throw simdjson::simdjson_error(simdjson::INDEX_OUT_OF_BOUNDS);
            read(element.value(), into[index++]);
        }
    } else {
        // Members usually come in their order.
        std::size_t next = 0;
        constexpr auto& members = Members<T>::all;
        for (auto field : value.get_object()) {
            const std::string_view name = field.escaped_key();
            for (std::size_t tries = 0; tries < std::size(members); ++tries) {
                const auto& member = members[next];
                next = next + 1 == std::size(members) ? 0 : next + 1;
                if (member.name == name) {
                    member.read(into, field.value());
                    break;
                }
            }
        }
    }
}

#define DECLARE(type, name) type name{};
// `protected` is a word of the language.
#define NAME(name) (std::string_view(#name) == "is_protected" ? "protected" : #name)
#define MEMBER(type, name) {NAME(name), [](Self & self, ondemand::value value) { read(value, self.name); }},
// Makes a struct of a list of members.
#define STRUCT(Name, LIST)                                    \
    struct Name {                                             \
        LIST(DECLARE)                                         \
        void self() {}                                        \
    };                                                        \
    template <>                                               \
    struct Members<Name> {                                    \
        using Self = Name;                                    \
        static constexpr Member<Name> all[] = {LIST(MEMBER)}; \
    };

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using String = std::string;
using OptionalString = std::optional<String>;
using OptionalU64 = std::optional<u64>;
using Pair = std::array<u32, 2>;
using Strings = std::vector<String>;
using Names = std::map<String, String>;
using Numbers = std::vector<u64>;
using Topics = std::map<String, Numbers>;
template <class T>
using Ring = std::vector<std::vector<std::array<T, 2>>>;

// The types of the published payloads.

#define SETTINGS(X) X(bool, notifications) X(bool, theme_dark)
STRUCT(Settings, SETTINGS)
#define API_DATA(X)                                                                                                \
    X(u64, count) X(String, email) X(u64, id) X(String, name) X(double, score) X(Settings, settings) X(String, status) \
    X(Strings, tags)
STRUCT(ApiData, API_DATA)
#define API_RESPONSE(X)                                                                                        \
    X(u64, code) X(u64, http_code) X(String, message) X(std::optional<ApiData>, data) X(String, request_id) X(u64, timestamp)
STRUCT(ApiResponse, API_RESPONSE)

#define USER_METADATA(X) \
    X(u64, last_login) X(u64, login_count) X(Strings, permissions) X(String, department) X(String, preferred_lang)
STRUCT(UserMetadata, USER_METADATA)
#define USER_DATA(X)                                                                                            \
    X(u64, id) X(String, username) X(String, email) X(String, role) X(bool, active) X(u64, created_at) X(u64, updated_at) \
    X(UserMetadata, metadata)
STRUCT(UserData, USER_DATA)
#define PAGE(X) X(std::vector<UserData>, list) X(u64, total_pages)
STRUCT(Page, PAGE)
#define PAGE_RESPONSE(X) \
    X(u64, code) X(String, message) X(std::optional<Page>, data) X(u64, total) X(u64, page) X(u64, page_size)
STRUCT(PageResponse, PAGE_RESPONSE)

// The types of twitter.json, citm_catalog.json and canada.json.

#define HASHTAG(X) X(String, text) X(Pair, indices)
STRUCT(Hashtag, HASHTAG)
#define PRICE(X) X(u64, amount) X(u64, audienceSubCategoryId) X(u64, seatCategoryId)
STRUCT(Price, PRICE)
#define AREA(X) X(u64, areaId) X(Numbers, blockIds)
STRUCT(Area, AREA)
#define SEAT_CATEGORY(X) X(std::vector<Area>, areas) X(u64, seatCategoryId)
STRUCT(SeatCategory, SEAT_CATEGORY)
#define PERFORMANCE(X)                                                                                                   \
    X(u64, eventId) X(u64, id) X(OptionalString, logo) X(OptionalString, name) X(std::vector<Price>, prices)            \
    X(std::vector<SeatCategory>, seatCategories) X(OptionalString, seatMapImage) X(u64, start) X(String, venueCode)
STRUCT(Performance, PERFORMANCE)
#define PROPERTIES(X) X(String, name)
STRUCT(Properties, PROPERTIES)
#define GEOMETRY(X) X(String, type) X(Ring<double>, coordinates)
STRUCT(Geometry, GEOMETRY)
#define FEATURE(X) X(String, type) X(Properties, properties) X(Geometry, geometry)
STRUCT(Feature, FEATURE)
#define CANADA(X) X(String, type) X(std::vector<Feature>, features)
STRUCT(Canada, CANADA)

#define TWEET_URL(X) X(String, url) X(String, expanded_url) X(String, display_url) X(Pair, indices)
STRUCT(TweetUrl, TWEET_URL)
#define TWEET_URLS(X) X(std::vector<TweetUrl>, urls)
STRUCT(TweetUrls, TWEET_URLS)
#define USER_ENTITIES(X) X(TweetUrls, description) X(std::optional<TweetUrls>, url)
STRUCT(UserEntities, USER_ENTITIES)
#define TWEET_USER(X)                                                                                                      \
    X(u64, id) X(String, id_str) X(String, name) X(String, screen_name) X(String, location) X(String, description)         \
    X(OptionalString, url) X(UserEntities, entities) X(bool, is_protected) X(u32, followers_count) X(u32, friends_count)   \
    X(u32, listed_count) X(String, created_at) X(u32, favourites_count) X(std::optional<std::int32_t>, utc_offset)         \
    X(OptionalString, time_zone) X(bool, geo_enabled) X(bool, verified) X(u32, statuses_count) X(String, lang)             \
    X(bool, contributors_enabled) X(bool, is_translator) X(bool, is_translation_enabled)                                   \
    X(String, profile_background_color) X(String, profile_background_image_url)                                            \
    X(String, profile_background_image_url_https) X(bool, profile_background_tile) X(String, profile_image_url)            \
    X(String, profile_image_url_https) X(OptionalString, profile_banner_url) X(String, profile_link_color)                 \
    X(String, profile_sidebar_border_color) X(String, profile_sidebar_fill_color) X(String, profile_text_color)            \
    X(bool, profile_use_background_image) X(bool, default_profile) X(bool, default_profile_image) X(bool, following)       \
    X(bool, follow_request_sent) X(bool, notifications)
STRUCT(TweetUser, TWEET_USER)
#define MENTION(X) X(String, screen_name) X(String, name) X(u64, id) X(String, id_str) X(Pair, indices)
STRUCT(Mention, MENTION)
#define MEDIA_SIZE(X) X(u32, w) X(u32, h) X(String, resize)
STRUCT(MediaSize, MEDIA_SIZE)
#define MEDIA_SIZES(X) X(MediaSize, medium) X(MediaSize, small) X(MediaSize, thumb) X(MediaSize, large)
STRUCT(MediaSizes, MEDIA_SIZES)
#define MEDIA(X)                                                                                                        \
    X(u64, id) X(String, id_str) X(Pair, indices) X(String, media_url) X(String, media_url_https) X(String, url)        \
    X(String, display_url) X(String, expanded_url) X(String, type) X(MediaSizes, sizes) X(OptionalU64, source_status_id) \
    X(OptionalString, source_status_id_str)
STRUCT(Media, MEDIA)
#define TWEET_ENTITIES(X)                                                                              \
    X(std::vector<Hashtag>, hashtags) X(Strings, symbols) X(std::vector<TweetUrl>, urls)               \
    X(std::vector<Mention>, user_mentions) X(std::optional<std::vector<Media>>, media)
STRUCT(TweetEntities, TWEET_ENTITIES)
#define TWEET_METADATA(X) X(String, result_type) X(String, iso_language_code)
STRUCT(TweetMetadata, TWEET_METADATA)
struct Tweet;
#define TWEET(X)                                                                                                          \
    X(TweetMetadata, metadata) X(String, created_at) X(u64, id) X(String, id_str) X(String, text) X(String, source)       \
    X(bool, truncated) X(OptionalU64, in_reply_to_status_id) X(OptionalString, in_reply_to_status_id_str)                 \
    X(std::optional<u32>, in_reply_to_user_id) X(OptionalString, in_reply_to_user_id_str)                                 \
    X(OptionalString, in_reply_to_screen_name) X(TweetUser, user) X(OptionalString, geo) X(OptionalString, coordinates)   \
    X(OptionalString, place) X(OptionalString, contributors) X(std::unique_ptr<Tweet>, retweeted_status)                  \
    X(u32, retweet_count) X(u32, favorite_count) X(TweetEntities, entities) X(bool, favorited) X(bool, retweeted)         \
    X(std::optional<bool>, possibly_sensitive) X(String, lang)
STRUCT(Tweet, TWEET)
#define TWITTER_METADATA(X)                                                                                          \
    X(double, completed_in) X(u64, max_id) X(String, max_id_str) X(String, next_results) X(String, query)             \
    X(String, refresh_url) X(u64, count) X(u64, since_id) X(String, since_id_str)
STRUCT(TwitterMetadata, TWITTER_METADATA)
#define TWITTER(X) X(std::vector<Tweet>, statuses) X(TwitterMetadata, search_metadata)
STRUCT(Twitter, TWITTER)

#define EVENT(X)                                                                                                     \
    X(OptionalString, description) X(u32, id) X(OptionalString, logo) X(String, name) X(Numbers, subTopicIds)        \
    X(OptionalString, subjectCode) X(OptionalString, subtitle) X(Numbers, topicIds)
STRUCT(Event, EVENT)
using Events = std::map<String, Event>;
#define CITM(X)                                                                                                     \
    X(Names, areaNames) X(Names, audienceSubCategoryNames) X(Names, blockNames) X(Events, events)                   \
    X(std::vector<Performance>, performances) X(Names, seatCategoryNames) X(Names, subTopicNames)                   \
    X(Names, subjectNames) X(Names, topicNames) X(Topics, topicSubTopics) X(Names, venueNames)
STRUCT(Citm, CITM)

// Check values, as in the suite in Rust.

static u64 check(const ApiResponse& r) { return r.data.has_value() + r.request_id.size() + r.timestamp; }
static u64 check(const PageResponse& r) {
    u64 sum = r.total + r.page_size;
    if (r.data) {
        for (const auto& user : r.data->list) sum += user.metadata.login_count + user.username.size();
    }
    return sum;
}
static u64 check(const Canada& c) { return c.features.size() + c.type.size(); }
static u64 check(const Twitter& t) {
    u64 check = t.search_metadata.count;
    for (const auto& status : t.statuses) check += status.user.screen_name.size();
    return check;
}
static u64 check(const Citm& c) {
    u64 check = c.events.size() + c.venueNames.size();
    for (const auto& performance : c.performances) check += performance.prices.size();
    return check;
}

template <class T>
static resident::Operation decoding(const std::string& text) {
    return [document = std::make_shared<simdjson::padded_string>(text), parser = std::make_shared<ondemand::parser>()] {
        auto found = parser->iterate(*document);
        T into;
        read(ondemand::value(found), into);
        return check(into);
    };
}

int main() {
    resident::serve([](std::string row, const std::string& name) -> resident::Operation {
        bool is_known;
        const bool decodes = documents::decodes(row, is_known);
        const auto text = decodes && name == "simdjson on-demand" ? documents::of(row) : "";
        if (text.empty()) return {};
        if (row == "api_response") return decoding<ApiResponse>(text);
        if (row == "page_response" || row.starts_with("users_")) return decoding<PageResponse>(text);
        if (row.starts_with("twitter_")) return decoding<Twitter>(text);
        if (row.starts_with("citm_")) return decoding<Citm>(text);
        return decoding<Canada>(text);
    });
}
