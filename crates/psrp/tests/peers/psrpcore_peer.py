"""psrpcore as a peer of the interoperability tests."""

import base64
import decimal
import queue
import struct
import uuid
from xml.etree import ElementTree

import psrpcore.types as ps
from trees import Trees, run

PRIMITIVES = [
    "Nil", "B", "SB", "By", "I16", "U16", "I32", "U32", "I64", "U64", "C", "Sg", "Db", "D", "S", "URI", "XD", "SBK",
    "BA", "G", "Version", "TS", "DT",
]
CONTAINERS = ["LST", "IE", "STK", "QUE", "DCT"]
INTEGERS = {
    "SB": ps.PSSByte, "By": ps.PSByte, "I16": ps.PSInt16, "U16": ps.PSUInt16, "I32": ps.PSInt, "U32": ps.PSUInt,
    "I64": ps.PSInt64, "U64": ps.PSUInt64,
}
TEXTS = {"S": ps.PSString, "URI": ps.PSUri, "XD": ps.PSXml, "SBK": ps.PSScriptBlock}
LISTS = {"LST": ps.PSList, "IE": ps.PSIEnumerable, "STK": ps.PSStack}


class NoCipher(ps.PSCryptoProvider):
    def encrypt(self, value):
        raise NotImplementedError

    def decrypt(self, value):
        raise NotImplementedError

    def register_key(self, key):
        raise NotImplementedError


def to_object(tree, known):
    kind = tree["type"]
    if kind == "Nil":
        return None
    if kind == "Ref":
        return known[tree["to"]]
    if kind == "B":
        return tree["value"]
    if kind in INTEGERS:
        return INTEGERS[kind](tree["value"])
    if kind == "C":
        return ps.PSChar(tree["value"])
    if kind == "Sg":
        return ps.PSSingle(struct.unpack(">f", bytes.fromhex(tree["bits"]))[0])
    if kind == "Db":
        return ps.PSDouble(struct.unpack(">d", bytes.fromhex(tree["bits"]))[0])
    if kind == "D":
        return ps.PSDecimal(tree["value"])
    if kind in TEXTS:
        return TEXTS[kind](tree["value"])
    if kind == "BA":
        return ps.PSByteArray(base64.b64decode(tree["base64"]))
    if kind == "G":
        return ps.PSGuid(tree["value"])
    if kind == "Version":
        return ps.PSVersion(tree["value"])
    if kind in ("TS", "DT"):
        # psrpcore's parser of the text keeps all digits.
        text = tree.get("value")
        if kind == "TS":
            sign, ticks = ("-" if tree["ticks"] < 0 else ""), abs(tree["ticks"])
            text = f"{sign}PT{ticks // 10**7}.{ticks % 10**7:07}S"
        return read(f"<{kind}>{text}</{kind}>")
    if kind in LISTS:
        made = LISTS[kind]()
        remember(tree, made, known)
        made.extend(to_object(item, known) for item in tree["items"])
        tree.setdefault("typeNames", list(made.PSObject.type_names))
        return made
    if kind == "QUE":
        made = ps.PSQueue()
        for item in tree["items"]:
            made.put(to_object(item, known))
        return remember(tree, made, known)
    if kind == "DCT":
        made = ps.PSDict()
        for key, value in tree["entries"]:
            made[to_object(key, known)] = to_object(value, known)
        return remember(tree, made, known)
    made = ps.PSObject()
    made.PSObject.type_names = tree["typeNames"]
    for members, own in (("props", "adapted_properties"), ("extended", "extended_properties")):
        for name, value in tree.get(members, []):
            getattr(made.PSObject, own).append(ps.PSNoteProperty(name, to_object(value, known)))
    return remember(tree, made, known)


def remember(tree, made, known):
    if "id" in tree:
        known[tree["id"]] = made
    return made


def to_tree(value, seen):
    if value is None:
        return {"type": "Nil"}
    if isinstance(value, bool):
        return {"type": "B", "value": value}
    for kind, own in INTEGERS.items():
        if type(value) is own:
            return {"type": kind, "value": int(value)}
    for kind, own in TEXTS.items():
        if type(value) is own:
            return {"type": kind, "value": str(value)}
    if isinstance(value, ps.PSChar):
        return {"type": "C", "value": int(value)}
    if isinstance(value, ps.PSSingle):
        return {"type": "Sg", "bits": struct.pack(">f", value).hex()}
    if isinstance(value, ps.PSDouble):
        return {"type": "Db", "bits": struct.pack(">d", value).hex()}
    if isinstance(value, decimal.Decimal):
        return {"type": "D", "value": f"{value:f}"}
    if isinstance(value, bytes):
        return {"type": "BA", "base64": base64.b64encode(value).decode()}
    if isinstance(value, uuid.UUID):
        return {"type": "G", "value": str(value)}
    if isinstance(value, ps.PSVersion):
        return {"type": "Version", "value": str(value)}
    if isinstance(value, ps.PSDuration):
        whole = (value.days * 86400 + value.seconds) * 10**7 + value.microseconds * 10
        return {"type": "TS", "ticks": whole + value.nanoseconds // 100}
    if isinstance(value, ps.PSDateTime):
        text = value.strftime("%Y-%m-%dT%H:%M:%S")
        ticks = value.microsecond * 10 + value.nanosecond // 100
        if ticks:
            text += f".{ticks:07}".rstrip("0")
        zone = value.strftime("%z")
        if zone:
            text += "Z" if zone == "+0000" else f"{zone[:3]}:{zone[3:]}"
        return {"type": "DT", "value": text}
    if id(value) in seen:
        return {"type": "Ref", "to": seen[id(value)]}
    name = seen[id(value)] = str(len(seen))
    # psrpcore marks types without a class with a prefix.
    names = [name.removeprefix("Deserialized.") for name in value.PSObject.type_names]
    tree = {"id": name, "typeNames": names}
    for kind, own in LISTS.items():
        if isinstance(value, own):
            return tree | {"type": kind, "items": [to_tree(item, seen) for item in value]}
    if isinstance(value, queue.Queue):
        items = [value.get() for _ in range(value.qsize())]
        return tree | {"type": "QUE", "items": [to_tree(item, seen) for item in items]}
    if isinstance(value, dict):
        entries = [[to_tree(key, seen), to_tree(item, seen)] for key, item in value.items()]
        return tree | {"type": "DCT", "entries": entries}
    for members, own in (("props", "adapted_properties"), ("extended", "extended_properties")):
        found = getattr(value.PSObject, own)
        if found:
            tree[members] = [[member.name, to_tree(member.get_value(value), seen)] for member in found]
    if value.PSObject.to_string:
        tree["toString"] = value.PSObject.to_string
    return tree | {"type": "Obj"}


def read(xml):
    return ps.deserialize(ElementTree.fromstring(xml), NoCipher())


def same(tree):
    """Enumerables get psrpcore's type names, and trailing zeros of times are removed."""
    if tree["type"] == "IE":
        tree.setdefault("typeNames", list(ps.PSIEnumerable.PSObject.type_names))
    for key in ("items", "props", "extended", "entries"):
        for item in tree.get(key, []):
            for node in item if isinstance(item, list) else [item]:
                if isinstance(node, dict):
                    same(node)
    return tree


def write(tree):
    return ElementTree.tostring(ps.serialize(to_object(tree, {}), NoCipher()), encoding="unicode")


if __name__ == "__main__":
    run(lambda seed: Trees(seed, PRIMITIVES, CONTAINERS), write, lambda xml: to_tree(read(xml), {}), same)
