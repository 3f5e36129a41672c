"""pypsrp as a peer of the interoperability tests: an older serializer that preserves less.

Values it cannot represent are left out of the trees (stacks, queues of several types, shared objects, names that need
an escape, types that it has as text) or of the comparison: it reads integers of all widths as one type, and all texts.
"""

import base64
import struct
import uuid
from xml.etree import ElementTree

from pypsrp.complex_objects import GenericComplexObject, ListMeta
from pypsrp.serializer import Serializer, TaggedValue
from trees import INTEGERS, Trees, run

PRIMITIVES = [
    "Nil", "B", "SB", "By", "I16", "U16", "I32", "U32", "I64", "U64", "Db", "S", "URI", "XD", "SBK", "BA", "G",
    "Version",
]
CONTAINERS = ["LST", "DCT"]
TEXTS = ["S", "URI", "XD", "SBK", "Version"]


class Kept(Trees):
    def members(self, depth):
        # pypsrp writes names unescaped and sorted.
        names = sorted(self.random.sample(["Id", "Name", "Other", "with blank"], self.random.randint(1, 3)))
        return [[name, self.value(depth - 1)] for name in names]

    def primitive(self, kind):
        # pypsrp's reader fails on empty bytes.
        tree = super().primitive(kind)
        return tree if tree.get("base64") != "" else {"type": "Nil"}


def to_object(tree):
    kind = tree["type"]
    if kind == "Nil":
        return None
    if kind == "B":
        return tree["value"]
    if kind == "Db":
        return TaggedValue(kind, repr(struct.unpack(">d", bytes.fromhex(tree["bits"]))[0]))
    if kind == "BA":
        return TaggedValue(kind, base64.b64decode(tree["base64"]))
    if kind == "LST":
        tree["typeNames"] = list(ListMeta().list_types)
        return [to_object(item) for item in tree["items"]]
    if kind == "DCT":
        return {key["value"]: to_object(value) for key, value in tree["entries"]}
    if kind == "Obj":
        made = GenericComplexObject()
        made.types = tree["typeNames"]
        made.adapted_properties = {name: to_object(value) for name, value in tree.get("props", [])}
        made.extended_properties = {name: to_object(value) for name, value in tree.get("extended", [])}
        return made
    return TaggedValue(kind, tree["value"])


def to_tree(value):
    if value is None:
        return {"type": "Nil"}
    if isinstance(value, bool):
        return {"type": "B", "value": value}
    if isinstance(value, int):
        return {"type": "I64", "value": value}
    if isinstance(value, float):
        return {"type": "Db", "bits": struct.pack(">d", value).hex()}
    if isinstance(value, str):
        return {"type": "S", "value": value}
    if isinstance(value, bytes):
        return {"type": "BA", "base64": base64.b64encode(value).decode()}
    if isinstance(value, uuid.UUID):
        return {"type": "G", "value": str(value)}
    if isinstance(value, list):
        return {"type": "LST", "items": [to_tree(item) for item in value]}
    if isinstance(value, dict):
        return {"type": "DCT", "entries": [[to_tree(key), to_tree(item)] for key, item in value.items()]}
    tree = {"type": "Obj", "typeNames": value.types}
    if value.adapted_properties:
        tree["props"] = [[name, to_tree(item)] for name, item in value.adapted_properties.items()]
    if value.extended_properties:
        tree["extended"] = [[name, to_tree(item)] for name, item in value.extended_properties.items()]
    return tree


def same(tree):
    kind = tree["type"]
    if kind in INTEGERS:
        return {"type": "I64", "value": tree["value"]}
    if kind in TEXTS:
        return {"type": "S", "value": tree["value"]}
    found = dict(tree)
    if "items" in tree:
        found["items"] = [same(item) for item in tree["items"]]
    for pairs in ("props", "extended"):
        if pairs in tree:
            found[pairs] = [[name, same(value)] for name, value in tree[pairs]]
    if "entries" in tree:
        found["entries"] = [[same(key), same(value)] for key, value in tree["entries"]]
    return found


def write(tree):
    return ElementTree.tostring(Serializer().serialize(to_object(tree)), encoding="unicode")


if __name__ == "__main__":
    run(
        lambda seed: Kept(seed, PRIMITIVES, CONTAINERS, shared=False),
        write,
        lambda xml: to_tree(Serializer().deserialize(ElementTree.fromstring(xml))),
        same,
    )
