"""The documents of the suite `json`, byte for byte as the Rust suite generates them."""

WORDS = r"""stream of tokens naïve 東京 the quick \"quoted\" line\nbreak café over \u00e9t\u00e9 dogs https:\/\/example.org 👍 and""".split(" ")


def generator():
    """A function that gives the next number below a bound."""
    state = 1

    def below(bound):
        nonlocal state
        state = (state * 1664525 + 1013904223) % (1 << 32)
        return (state >> 16) % bound

    return below


def elements(before, length, element):
    """The beginning of a document with an array of at least so many bytes, and the number of elements."""
    parts, size, count = [before], len(before.encode()), 0
    while size < length:
        parts.append(("," if count else "") + element(count))
        size += len(parts[-1].encode())
        count += 1
    return "".join(parts), count


def messages(length):
    below = generator()

    def text(words):
        return " ".join(WORDS[below(16)] for _ in range(words))

    def tag(index):
        start = below(100)
        return f'{{"text":"tag{index}","indices":[{start},{start + 5}]}}'

    def message(index):
        identity = 505874924095815700 + index * 7
        return (
            f'{{"created_at":"Sun Aug 31 00:29:{below(60):02} +0000 2014","id":{identity},"id_str":"{identity}","text":"'
            f'{text(6 + index % 12)}","truncated":false,"user":{{"id":{1186275104 + index * 3},'
            f'"screen_name":"user_{below(10000)}","name":"{text(2)}","followers_count":{below(60000)},'
            f'"verified":{"true" if below(2) == 1 else "false"},"description":"{text(4 + index % 8)}"}},'
            f'"retweet_count":{below(5000)},"entities":{{"hashtags":[{",".join(map(tag, range(index % 3)))}]}},'
            f'"favorited":false,"in_reply_to":null,"lang":"{("ja", "en", "fr")[below(3)]}"}}'
        )

    out, count = elements('{"statuses":[', length, message)
    return out + f'],"search_metadata":{{"completed_in":0.087,"count":{count}}}}}'


def catalogue(length):
    below = generator()

    def price(_):
        return (
            f'{{"amount":{9000 + 250 * below(100)},"audienceSubCategoryId":337100890,'
            f'"seatCategoryId":{338937235 + below(90)}}}'
        )

    def area(_):
        return f'{{"areaId":{205705999 + below(20)},"blockIds":[]}}'

    def category(_):
        areas = ",".join(map(area, range(1 + below(6))))
        return f'{{"areas":[{areas}],"seatCategoryId":{338937235 + below(90)}}}'

    def performance(index):
        return (
            f'{{"eventId":{138586341 + index * 9},"id":{339887544 + index * 11},"logo":null,"name":null,'
            f'"prices":[{",".join(map(price, range(1 + index % 4)))}],'
            f'"seatCategories":[{",".join(map(category, range(1 + index % 3)))}],'
            f'"start":{1372701600000 + index * 86400000},"venueCode":"PLEYEL_{below(30)}"}}'
        )

    out, count = elements('{"performances":[', length, performance)
    return out + f'],"total":{count}}}'


def coastline(length):
    below = generator()

    def decimal(sign, whole):
        return f"{sign}{whole}.{below(10000):04}{below(10000):04}{below(10000):04}{below(5) * 2 + 1}"

    def point(_):
        return f'[{decimal("-", 60 + below(80))},{decimal("", 41 + below(42))}]'

    def feature(_):
        points = ",".join(map(point, range(24 + below(40))))
        return (
            '{"type":"Feature","properties":{"name":"Canada"},"geometry":{"type":"Polygon","coordinates":[['
            + points
            + "]]}}"
        )

    return elements('{"type":"FeatureCollection","features":[', length, feature)[0] + "]}"


GENERATORS = {"twitter": messages, "citm": catalogue, "canada": coastline}
SIZES = {"10k": 10 << 10, "100k": 100 << 10, "1m": 1 << 20}
