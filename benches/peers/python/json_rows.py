"""Rows of the suite `json` for encoders and decoders of Python.

Documents are those of the Rust suite. Where it has structs, Python has dictionaries, but for the rows named "typed", where
msgspec has its structs.
"""

import json
import os
import pathlib

import msgspec
import orjson

import resident
import structs


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


def tree_check(tree):
    """The number of values in the root, where an array counts its elements."""
    check = 0
    for value in tree.values():
        check += len(value) if type(value) is list else 1
    return check


def document(name):
    """The document of a row such as twitter_100k; `None` if there is none."""
    path = pathlib.Path(os.environ.get("BENCH_DOCUMENTS", ""), f"{name}.json")
    return path.read_bytes() if path.is_file() else None


def set_up(row, name):
    if name == "msgspec typed":
        return typed(row)
    if name not in IMPLEMENTATIONS:
        return None
    encode, decode = IMPLEMENTATIONS[name]
    base, _, direction = row.rpartition("_")
    if direction not in ("encode", "decode"):
        base = row.removeprefix("round_trip_").removesuffix("_sonic").removesuffix("_unmarshal")
        kinds = {f"{base}_sonic": "encode", f"{base}_unmarshal_sonic": "decode", f"round_trip_{base}_sonic": "both"}
        direction = kinds.get(row)
    text = document(base)
    if text is None:
        return None
    tree = json.loads(text)
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
    if text is None or kind not in structs.CHECKS:
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
