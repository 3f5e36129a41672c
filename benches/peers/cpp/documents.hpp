// The documents of the suite json, byte for byte as the Rust suite generates them.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace documents {

using Number = unsigned long long;

class Generator {
   public:
    std::string out;

    Number below(std::uint32_t bound) {
        state = state * 1664525 + 1013904223;
        return (state >> 16) % bound;
    }

    template <class... Arguments>
    void print(const char* format, Arguments... arguments) {
        std::array<char, 512> line;
        out.append(line.data(), std::snprintf(line.data(), line.size(), format, arguments...));
    }

    void separate(Number index) {
        if (index > 0) out += ',';
    }

    void text(Number count) {
        static constexpr std::array words = {
            "stream", "of", "tokens", "naïve", "東京", "the", "quick", R"(\"quoted\")", R"(line\nbreak)", "café", "over",
            R"(\u00e9t\u00e9)", "dogs", R"(https:\/\/example.org)", "👍", "and",
        };
        for (Number index = 0; index < count; ++index) {
            if (index > 0) out += ' ';
            out += words[below(16)];
        }
    }

    // Thirteen decimals.
    void decimal(const char* sign, Number whole) {
        const auto high = below(10000), middle = below(10000), low = below(10000);
        print("%s%llu.%04llu%04llu%04llu%llu", sign, whole, high, middle, low, below(5) * 2 + 1);
    }

   private:
    std::uint32_t state = 1;
};

inline std::string messages(std::size_t length) {
    Generator g;
    g.out = R"({"statuses":[)";
    Number index = 0;
    for (; g.out.size() < length; ++index) {
        g.separate(index);
        const Number id = 505874924095815700 + index * 7;
        g.print(R"({"created_at":"Sun Aug 31 00:29:%02llu +0000 2014",)", g.below(60));
        g.print(R"("id":%llu,"id_str":"%llu","text":")", id, id);
        g.text(6 + index % 12);
        g.print(R"(","truncated":false,"user":{"id":%llu,)", 1186275104 + index * 3);
        g.print(R"("screen_name":"user_%llu","name":")", g.below(10000));
        g.text(2);
        g.print(R"(","followers_count":%llu,)", g.below(60000));
        g.print(R"("verified":%s,"description":")", g.below(2) == 1 ? "true" : "false");
        g.text(4 + index % 8);
        g.print(R"("},"retweet_count":%llu,"entities":{"hashtags":[)", g.below(5000));
        for (Number tag = 0; tag < index % 3; ++tag) {
            g.separate(tag);
            const auto start = g.below(100);
            g.print(R"({"text":"tag%llu","indices":[%llu,%llu]})", tag, start, start + 5);
        }
        static constexpr std::array languages = {"ja", "en", "fr"};
        g.print(R"(]},"favorited":false,"in_reply_to":null,"lang":"%s"})", languages[g.below(3)]);
    }
    g.print(R"(],"search_metadata":{"completed_in":0.087,"count":%llu}})", index);
    return g.out;
}

inline std::string catalogue(std::size_t length) {
    Generator g;
    g.out = R"({"performances":[)";
    Number index = 0;
    for (; g.out.size() < length; ++index) {
        g.separate(index);
        g.print(R"({"eventId":%llu,"id":%llu,)", 138586341 + index * 9, 339887544 + index * 11);
        g.out += R"("logo":null,"name":null,"prices":[)";
        for (Number price = 0; price < 1 + index % 4; ++price) {
            g.separate(price);
            g.print(R"({"amount":%llu,"audienceSubCategoryId":337100890,)", 9000 + 250 * g.below(100));
            g.print(R"("seatCategoryId":%llu})", 338937235 + g.below(90));
        }
        g.out += R"(],"seatCategories":[)";
        for (Number category = 0; category < 1 + index % 3; ++category) {
            g.separate(category);
            g.out += R"({"areas":[)";
            const auto areas = 1 + g.below(6);
            for (Number area = 0; area < areas; ++area) {
                g.separate(area);
                g.print(R"({"areaId":%llu,"blockIds":[]})", 205705999 + g.below(20));
            }
            g.print(R"(],"seatCategoryId":%llu})", 338937235 + g.below(90));
        }
        g.print(R"(],"start":%llu,)", 1372701600000 + index * 86400000);
        g.print(R"("venueCode":"PLEYEL_%llu"})", g.below(30));
    }
    g.print(R"(],"total":%llu})", index);
    return g.out;
}

inline std::string coastline(std::size_t length) {
    Generator g;
    g.out = R"({"type":"FeatureCollection","features":[)";
    for (Number index = 0; g.out.size() < length; ++index) {
        g.separate(index);
        g.out += R"({"type":"Feature","properties":{"name":"Canada"},"geometry":{"type":"Polygon","coordinates":[[)";
        const auto points = 24 + g.below(40);
        for (Number point = 0; point < points; ++point) {
            g.separate(point);
            g.out += '[';
            g.decimal("-", 60 + g.below(80));
            g.out += ',';
            g.decimal("", 41 + g.below(42));
            g.out += ']';
        }
        g.out += "]]}}";
    }
    return g.out + "]}";
}

inline std::string page(int users) {
    constexpr Number time = 1703001234567;
    Generator g;
    g.out = R"({"code":0,"message":"success","data":{"list":[)";
    for (Number i = 0; i < static_cast<Number>(users); ++i) {
        g.separate(i);
        const char name = static_cast<char>('A' + i % 26);
        g.print(R"({"id":%llu,"username":"user%c","email":"user%c@example.com","role":"user",)", 10000 + i, name, name);
        g.print(R"("active":%s,"created_at":%llu,)", i % 2 == 0 ? "true" : "false", time + 1000 * i);
        g.print(R"("updated_at":%llu,"metadata":{"last_login":%llu,)", time + 2000 * i, time + 3000 * i);
        g.print(R"("login_count":%llu,"permissions":["read","write"],)", 100 + 10 * i);
        g.out += R"("department":"Engineering","preferred_lang":"en"}})";
    }
    return g.out + R"(],"total_pages":10},"total":200,"page":1,"page_size":20})";
}

inline const std::string api =
    R"({"code":0,"http_code":200,"message":"success","data":{"count":42,"email":"test@example.com","id":12345,)"
    R"("name":"Test User","score":95.5,"settings":{"notifications":true,"theme_dark":false},"status":"active",)"
    R"("tags":["admin","developer","reviewer"]},"request_id":"req-12345678-abcd-1234-efgh-123456789abc",)"
    R"("timestamp":1703001234567})";

// The document of a row without its direction, such as `citm_10k` or `api_response`; empty if there is none.
inline std::string of(const std::string& name) {
    if (name == "api_response") return api;
    if (name == "page_response") return page(20);
    const auto end = name.find('_');
    const auto kind = name.substr(0, end), size = end == name.npos ? "" : name.substr(end + 1);
    static const std::map<std::string, std::size_t> sizes = {{"10k", 10 << 10}, {"100k", 100 << 10}, {"1m", 1 << 20}};
    static const std::map<std::string, int> users = {{"10k", 37}, {"100k", 364}, {"1m", 3720}};
    static const std::map<std::string, std::string (*)(std::size_t)> kinds = {
        {"twitter", messages}, {"citm", catalogue}, {"canada", coastline}};
    if (kind == "users" && users.contains(size)) return page(users.at(size));
    if (!kinds.contains(kind)) return "";
    if (sizes.contains(size)) return kinds.at(kind)(sizes.at(size));
    const auto variable = kind == "twitter" ? "BENCH_TWITTER" : kind == "citm" ? "BENCH_CITM" : "BENCH_CANADA";
    const char* path = size == "real" ? std::getenv(variable) : nullptr;
    if (path == nullptr) return "";
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Removes an ending. Returns whether there was one.
inline bool cut(std::string& name, const std::string& ending) {
    if (!name.ends_with(ending)) return false;
    name.resize(name.size() - ending.size());
    return true;
}

// Removes the direction from a row. Returns whether the row decodes; `is_known` says whether it does either.
inline bool decodes(std::string& row, bool& is_known) {
    is_known = true;
    if (cut(row, "_decode") || cut(row, "_unmarshal_sonic")) return true;
    is_known = cut(row, "_encode") || cut(row, "_sonic");
    return false;
}

}  // namespace documents
