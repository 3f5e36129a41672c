"""Random values as syntax trees in the format of the vectors: see tests/data/README.md.

Each peer converts trees to its own objects and back. Its program is

    PEER.py write COUNT SEED    prints COUNT lines {"value": TREE, "xml": TEXT} with the peer's encoding
    PEER.py check COUNT SEED    creates the same trees, decodes a line of XML for each from standard input with the peer,
                                and prints "ok" or the difference
"""

import json
import random
import struct
import sys

TEXTS = [
    "", "plain", "two words", " blanks ", "<&>\"'", "tab\tand\r\nlines\n", "_x0041_", "_X_x_", "\u00e4\u00f6\u00fc",
    "\u65e5\u672c\u8a9e", "\U0001f600", "\u007f\u0085\u009f\u00a0", "\u2028\ufeff", "a_", "_x000", "C:\\path", "_x005F_",
    "\U0010ffff", "\u0001\u001f", "e\u0301",
]
NAMES = ["Name", "Id", "with blank", "<\"&'>", "Line\nbreak", "_x0041_", "\u00fc", "Very.Long.Name.Of.A.Property", "\U0001f600"]
# Ranges of the integers.
INTEGERS = {
    "SB": (-(2**7), 2**7 - 1), "By": (0, 2**8 - 1), "I16": (-(2**15), 2**15 - 1), "U16": (0, 2**16 - 1),
    "I32": (-(2**31), 2**31 - 1), "U32": (0, 2**32 - 1), "I64": (-(2**63), 2**63 - 1), "U64": (0, 2**64 - 1),
}


class Trees:
    """Creates trees of the types that a peer supports, avoiding its known defects."""

    def __init__(self, seed, primitives, containers, objects=True, shared=True):
        self.random = random.Random(seed)
        self.primitives = primitives
        self.containers = containers
        self.objects = objects
        self.shared = shared
        self.types = 0
        self.labels = []

    def document(self):
        self.labels = []
        return self.value(3)

    def text(self):
        return "".join(self.random.choices(TEXTS, k=self.random.randint(1, 3)))

    def value(self, depth):
        kinds = ["primitive"] * 3
        if depth > 0:
            kinds += self.containers
            if self.objects:
                kinds += ["Obj", "Obj"]
            if self.shared and self.labels:
                kinds.append("Ref")
        kind = self.random.choice(kinds)
        if kind == "primitive":
            return self.primitive(self.random.choice(self.primitives))
        if kind == "Ref":
            return {"type": "Ref", "to": self.random.choice(self.labels)}
        if kind == "Obj":
            # Each list of type names has a unique first name, because one peer identifies lists by it.
            self.types += 1
            tree = {"type": "Obj", "typeNames": [f"Test.Type{self.types}", "System.Object"]}
            for members in ("props", "extended"):
                if self.random.random() < 0.6:
                    tree[members] = self.members(depth)
        elif kind == "DCT":
            keys = self.random.sample(NAMES, self.random.randint(0, 4))
            tree = {"type": kind, "entries": [[{"type": "S", "value": key}, self.value(depth - 1)] for key in keys]}
        else:
            tree = {"type": kind, "items": [self.value(depth - 1) for _ in range(self.random.randint(0, 4))]}
        if self.shared and self.random.random() < 0.3:
            tree["id"] = f"{len(self.labels)}"
            self.labels.append(tree["id"])
        return tree

    def members(self, depth):
        return [[name, self.value(depth - 1)] for name in self.random.sample(NAMES, self.random.randint(1, 4))]

    def primitive(self, kind):
        pick = self.random
        if kind == "Nil":
            return {"type": "Nil"}
        if kind == "B":
            return {"type": kind, "value": pick.random() < 0.5}
        if kind in INTEGERS:
            low, high = INTEGERS[kind]
            return {"type": kind, "value": pick.choice([low, high, 0, 1, pick.randint(low, high)])}
        if kind == "C":
            return {"type": kind, "value": pick.choice([0, 97, 0x20AC, pick.randint(0, 0xD7FF)])}
        if kind == "Sg":
            number = struct.unpack(">f", struct.pack(">f", pick.choice([0.0, 1.5, -1e10, 1e-10, pick.uniform(-1e6, 1e6)])))
            return {"type": kind, "bits": struct.pack(">f", *number).hex()}
        if kind == "Db":
            number = pick.choice([0.0, -0.0, 1.5, 1e300, 1e-300, 1e15, 123456789012345.6, pick.uniform(-1e9, 1e9)])
            return {"type": kind, "bits": struct.pack(">d", number).hex()}
        if kind == "D":
            digits = str(pick.randint(1, 10**20))
            scale = pick.randint(0, 6)
            return {"type": kind, "value": digits if scale == 0 else f"{digits}.{pick.randint(1, 9) * 10 ** (scale - 1)}"}
        if kind == "BA":
            return {"type": kind, "base64": pick.choice(["", "AA==", "AAEC", "/////w==", "ZGF0YQ=="])}
        if kind == "G":
            return {"type": kind, "value": "%08x-1234-4321-89ab-%012x" % (pick.getrandbits(32), pick.getrandbits(48))}
        if kind == "Version":
            parts = [str(pick.randint(0, 2**31 - 1)) for _ in range(pick.randint(2, 4))]
            return {"type": kind, "value": ".".join(parts)}
        if kind == "TS":
            # No multiples of ten seconds: one peer loses a digit.
            seconds = pick.randint(0, 10**6) * 10 + pick.randint(1, 9)
            return {"type": kind, "ticks": pick.choice([1, -1]) * (seconds * 10**7 + pick.choice([0, 1234567]))}
        if kind == "DT":
            moment = "%04d-%02d-%02dT%02d:%02d:%02d" % (
                pick.randint(1000, 9999), pick.randint(1, 12), pick.randint(1, 28),
                pick.randint(0, 23), pick.randint(0, 59), pick.randint(0, 59),
            )
            return {"type": kind, "value": moment + pick.choice(["", ".1234567"]) + pick.choice(["", "Z", "+02:00", "-05:30"])}
        return {"type": kind, "value": self.text()}


# Default type names of containers.
DEFAULTS = {
    "LST": ["System.Collections.ArrayList", "System.Object"],
    "QUE": ["System.Collections.Queue", "System.Object"],
    "STK": ["System.Collections.Stack", "System.Object"],
    "DCT": ["System.Collections.Hashtable", "System.Object"],
}


def resolved(tree, known=None):
    """Returns the tree with references resolved and without node names."""
    known = {} if known is None else known
    if tree["type"] == "Ref":
        return known[tree["to"]]
    found = {key: value for key, value in tree.items() if key != "id"}
    if tree["type"] in DEFAULTS:
        found.setdefault("typeNames", DEFAULTS[tree["type"]])
    if "items" in tree:
        found["items"] = [resolved(item, known) for item in tree["items"]]
    for pairs in ("props", "extended"):
        if pairs in tree:
            found[pairs] = [[name, resolved(value, known)] for name, value in tree[pairs]]
    if "entries" in tree:
        found["entries"] = [[resolved(key, known), resolved(value, known)] for key, value in tree["entries"]]
    if "id" in tree:
        known[tree["id"]] = found
    return found


def run(trees, write, read, same=lambda tree: tree):
    """Main program of a peer: `write` converts a tree to XML, `read` XML to a tree.

    `same` returns what the peer preserves of a tree.
    """
    mode, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    trees = trees(seed)
    for _ in range(count):
        tree = trees.document()
        if mode == "write":
            xml = write(tree)
            print(json.dumps({"value": tree, "xml": xml}))
            continue
        line = sys.stdin.readline()
        try:
            found, expected = resolved(read(line)), same(resolved(tree))
            print("ok" if found == expected else json.dumps({"found": found, "expected": expected}), flush=True)
        except Exception as error:  # report any error of the peer and continue with the next line
            print(json.dumps({"raised": repr(error), "xml": line}), flush=True)
