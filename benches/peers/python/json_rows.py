"""Rows of the `json` suite for encoders and decoders of Python, timed by pyperf.

    json_rows.py --list
    json_rows.py --row ROW [--impl IMPL] [--millis MS] [pyperf options, such as -o FILE]

Payloads are those of the Rust suite; where it has structs, Python has dictionaries. Every implementation is checked
before it is timed.
"""

import importlib.metadata
import json
import platform
import sys

import rows

TIME = 1703001234567

API = {
    "code": 0,
    "http_code": 200,
    "message": "success",
    "data": {
        "count": 42,
        "email": "test@example.com",
        "id": 12345,
        "name": "Test User",
        "score": 95.5,
        "settings": {"notifications": True, "theme_dark": False},
        "status": "active",
        "tags": ["admin", "developer", "reviewer"],
    },
    "request_id": "req-12345678-abcd-1234-efgh-123456789abc",
    "timestamp": TIME,
}

PAGE = {
    "code": 0,
    "message": "success",
    "data": {
        "list": [
            {
                "id": 10000 + i,
                "username": f"user{chr(ord('A') + i)}",
                "email": f"user{chr(ord('A') + i)}@example.com",
                "role": "user",
                "active": i % 2 == 0,
                "created_at": TIME + 1000 * i,
                "updated_at": TIME + 2000 * i,
                "metadata": {
                    "last_login": TIME + 3000 * i,
                    "login_count": 100 + 10 * i,
                    "permissions": ["read", "write"],
                    "department": "Engineering",
                    "preferred_lang": "en",
                },
            }
            for i in range(20)
        ],
        "total_pages": 10,
    },
    "total": 200,
    "page": 1,
    "page_size": 20,
}


class Standard:
    """The json module of the standard library."""

    version = platform.python_version()

    @staticmethod
    def encode(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    decode = staticmethod(json.loads)


class Orjson:
    """orjson, an encoder and decoder written in Rust."""

    @property
    def version(self):
        return importlib.metadata.version("orjson")

    @staticmethod
    def encode(value):
        import orjson

        return orjson.dumps(value)

    @staticmethod
    def decode(document):
        import orjson

        return orjson.loads(document)


IMPLEMENTATIONS = {"json": Standard(), "orjson": Orjson()}

# Row: (payload, length of its document, what is done).
ROWS = {
    "api_response_sonic": (API, 329, "encode"),
    "page_response_sonic": (PAGE, 5711, "encode"),
    "api_response_unmarshal_sonic": (API, 329, "decode"),
    "page_response_unmarshal_sonic": (PAGE, 5711, "decode"),
    "round_trip_api_response_sonic": (API, 329, "round_trip"),
    "round_trip_page_response_sonic": (PAGE, 5711, "round_trip"),
}


def check(row, name):
    """Ends the program unless the implementation writes and reads the payload."""
    payload, length, _ = ROWS[row]
    implementation = IMPLEMENTATIONS[name]
    document = implementation.encode(payload)
    if len(document) != length or implementation.decode(document) != payload:
        sys.exit(f"json/{row}/{name}: wrote {len(document)} bytes, expected {length}, or read another value")


def operation(row, name):
    """The function to time, and its argument."""
    payload, _, what = ROWS[row]
    implementation = IMPLEMENTATIONS[name]
    encode, decode = implementation.encode, implementation.decode
    if what == "encode":
        return encode, payload
    if what == "decode":
        return decode, encode(payload)
    return (lambda value: decode(encode(value))), payload


def bench(runner, row, name):
    if runner.args.worker:
        check(row, name)
    function, argument = operation(row, name)
    version = IMPLEMENTATIONS[name].version
    rows.measure(runner, f"json/{row}/{name}", function, argument, version=version)


if __name__ == "__main__":
    rows.run("json", ROWS, IMPLEMENTATIONS, bench)
