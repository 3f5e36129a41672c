"""Rows of the `json` suite for encoders and decoders of Python, timed by pyperf.

    json_rows.py --list
    json_rows.py --row ROW [--impl IMPL] [--millis MS] [pyperf options, such as -o FILE]

Payloads are those of the Rust suite; where it has structs, Python has dictionaries. Every implementation is checked
before it is timed.
"""

import argparse
import importlib.metadata
import json
import platform
import sys

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


def main():
    if "--list" in sys.argv[1:]:
        for row in ROWS:
            for name in IMPLEMENTATIONS:
                print(f"json/{row}/{name}")
        return

    import pyperf

    def forward(command, options):
        command += ["--row", options.row, "--millis", str(options.millis)]
        if options.impl:
            command += ["--impl", options.impl]

    # pyperf takes its time per value when it is made, before it has read the command line.
    own = argparse.ArgumentParser(add_help=False)
    own.add_argument("--millis", type=int, default=300)
    millis = own.parse_known_args()[0].millis
    values = 5
    runner = pyperf.Runner(
        processes=1, values=values, warmups=1, min_time=millis / 1000 / values, add_cmdline_args=forward
    )
    runner.argparser.add_argument("--row", required=True, choices=ROWS)
    runner.argparser.add_argument("--impl", choices=IMPLEMENTATIONS)
    runner.argparser.add_argument("--millis", type=int, default=300, help="time to measure, in milliseconds")
    options = runner.parse_args()

    for name in [options.impl] if options.impl else IMPLEMENTATIONS:
        check(options.row, name)
        function, argument = operation(options.row, name)
        runner.bench_func(
            f"json/{options.row}/{name}",
            function,
            argument,
            metadata={"version": IMPLEMENTATIONS[name].version},
        )


if __name__ == "__main__":
    main()
