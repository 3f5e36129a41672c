"""Decodes the messages of standard input with generated modules, and prints their values."""

import dataclasses
import importlib
import json
import struct
import sys

import parco


def dump(value):
    """Returns what the test expects: lists of fields, and scalars as strings."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, float):
        return {"float": "nan" if value != value else struct.pack(">d", value).hex()}
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, (list, tuple)):
        return [dump(part) for part in value]
    if isinstance(value, dict):
        return {"map": [[dump(key), dump(part)] for key, part in value.items()]}
    if isinstance(value, parco.Some):
        return {"some": dump(value.value)}
    return [dump(getattr(value, field.name)) for field in dataclasses.fields(value)]


tree = importlib.import_module("types_tree")
deep = tree.Tree(0, [])
for _ in range(64):
    deep = tree.Tree(0, [deep])
try:
    tree.encode_tree(deep)
    sys.exit("65 levels were encoded, which no reader accepts")
except parco.ParcoError as error:
    assert error.kind == "limit"

for line in sys.stdin:
    name, digits = line.rstrip("\n").split(" ")
    module = importlib.import_module(f"types_{name.lower()}")
    try:
        value = getattr(module, f"decode_{name.lower()}")(bytes.fromhex(digits))
        again = getattr(module, f"encode_{name.lower()}")(value)
        print(json.dumps({"value": dump(value), "hex": again.hex()}))
    except parco.ParcoError as error:
        print(json.dumps({"error": error.kind}))
