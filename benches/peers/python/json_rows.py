"""Rows of the suite `json` for encoders and decoders of Python.

Payloads are those of the Rust suite. Where it has structs, Python has dictionaries, but for the rows named "typed", where
msgspec has its structs.
"""

import json
import os

import msgspec
import orjson

import documents
import resident
import structs

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


def standard(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


# Reused as its documentation asks; it returns a new buffer.
encoder = msgspec.json.Encoder()

# Name: (encode, decode).
IMPLEMENTATIONS = {
    "json": (standard, json.loads),
    "orjson": (orjson.dumps, orjson.loads),
    "msgspec": (encoder.encode, msgspec.json.Decoder().decode),
}

PAYLOADS = {"api_response": API, "page_response": PAGE}


def tree_check(tree):
    """The number of values in the root, where an array counts its elements."""
    check = 0
    for value in tree.values():
        check += len(value) if type(value) is list else 1
    return check


def document(name):
    """The document of a row such as twitter_100k; `None` if there is none."""
    kind, _, size = name.partition("_")
    if size == "real":
        path = os.environ.get(f"BENCH_{kind.upper()}")
        return path and open(path, "rb").read()
    if kind in documents.GENERATORS and size in documents.SIZES:
        return documents.GENERATORS[kind](documents.SIZES[size]).encode()
    return None


def set_up(row, name):
    if name == "msgspec typed":
        return typed(row)
    if name not in IMPLEMENTATIONS:
        return None
    encode, decode = IMPLEMENTATIONS[name]
    base, _, direction = row.rpartition("_")
    if direction in ("encode", "decode"):
        text = document(base)
        if text is None:
            return None
        tree = json.loads(text)
    else:
        base = row.removeprefix("round_trip_").removesuffix("_sonic").removesuffix("_unmarshal")
        tree = PAYLOADS.get(base)
        if tree is None:
            return None
        text = standard(tree)
        kinds = {f"{base}_sonic": "encode", f"{base}_unmarshal_sonic": "decode", f"round_trip_{base}_sonic": "both"}
        direction = kinds.get(row)
    resident.expect(json.loads(encode(tree)) == tree and decode(text) == tree, "another value")
    return {
        "encode": lambda: len(encode(tree)),
        "decode": lambda: tree_check(decode(text)),
        "both": lambda: tree_check(decode(encode(tree))),
    }.get(direction)


def typed(row):
    """Documents as structs."""
    base, _, direction = row.rpartition("_")
    kind = base.partition("_")[0]
    text = document(base)
    if text is None or kind not in structs.CHECKS or base.endswith("_real"):
        return None
    root, check = structs.CHECKS[kind]
    decode = msgspec.json.Decoder(root).decode
    value = decode(text)
    resident.expect(json.loads(encoder.encode(value)) == json.loads(text), "another value")
    if direction == "encode":
        return lambda: len(encoder.encode(value))
    return lambda: check(decode(text))


if __name__ == "__main__":
    resident.serve(set_up)
