"""Rows of the `psrp` suite for psrpcore, timed by pyperf.

    psrp_rows.py --list
    psrp_rows.py --row ROW [--impl IMPL] [--millis MS] [pyperf options, such as -o FILE]

Documents have no wrapper, for psrpcore writes and reads one element, from and to a text by way of ElementTree. Its
functions for fragments and messages are private ones. Every row is checked before it is timed.
"""

import importlib.metadata
import sys
import uuid
from xml.etree import ElementTree

import rows

CUSTOM = "System.Management.Automation.PSCustomObject"
DATA = bytearray(1024)


def types():
    import psrpcore.types

    return psrpcore.types


def made(type_names, properties):
    ps = types()
    found = ps.PSObject()
    found.PSObject.type_names = type_names
    own = found.PSObject.adapted_properties
    own.extend(ps.PSNoteProperty(name, value) for name, value in properties)
    return found


def small():
    return made(["System.String"], [("Value", "test")])


def numbered(prefix, count):
    return made([CUSTOM], [(f"{prefix}{number}", f"Value{number}") for number in sorted(map(str, range(count)))])


def references():
    inner = made(["InnerObject"], [("Inner", "value")])
    return made(["OuterObject"], [(name, inner) for name in ("Ref1", "Ref2", "Ref3")])


def hashtable():
    return types().PSDict({"Key1": "Value1", "Key2": types().PSInt(123), "Key3": True, "Key4": b"data"})


def described():
    found = made(["System.String", "System.Object"], [("baz", types().PSInt(123)), ("foo", "bar"), ("qux", True)])
    found.PSObject.to_string = "test object"
    return found


# Row: (value, length of its document without a wrapper).
VALUES = {
    "serialize_small_object": (small, 96),
    "serialize_medium_object": (lambda: numbered("Property", 10), 375),
    "serialize_large_object": (lambda: numbered("Property", 50), 1535),
    "serialize_with_references": (references, 229),
    "serialize_string": (lambda: types().PSString("test string value"), 24),
    "serialize_int32": (lambda: types().PSInt(12345), 16),
    "serialize_hashtable": (hashtable, 313),
    "deserialize_small_object": (small, 96),
    "deserialize_ps_object": (described, 186),
}


def no_cipher():
    import psrpcore.types as ps

    class NoCipher(ps.PSCryptoProvider):
        def encrypt(self, value):
            raise NotImplementedError

        def decrypt(self, value):
            raise NotImplementedError

        def register_key(self, key):
            raise NotImplementedError

    return NoCipher()


def document(row):
    """The function to time for a row of documents, and whether its result is right."""
    ps, cipher = types(), no_cipher()
    make, length = VALUES[row]
    value = make()

    def write():
        return ElementTree.tostring(ps.serialize(value, cipher))

    text = write()

    def read():
        return ps.deserialize(ElementTree.fromstring(text), cipher)

    is_right = len(text) == length and members(read()) == members(value)
    return (write if row.startswith("serialize") else read), is_right


def members(value):
    """What a value consists of: texts and numbers as they are, objects as their members."""
    own = getattr(value, "PSObject", None)
    found = (*own.adapted_properties, *own.extended_properties) if own else ()
    return [(member.name, members(member.get_value(value))) for member in found] or value


def packet(row):
    """The same for a row of fragments or messages."""
    from psrpcore import _payload
    from psrpcore.types import PSRPMessageType

    pool, pipeline = uuid.uuid4(), uuid.uuid4()
    if row.startswith("fragment"):
        def write():
            return _payload.create_fragment(1, 0, DATA, True)

        encoded, unpack, header = write(), _payload.unpack_fragment, 21
    else:
        def write():
            return _payload.create_message(False, PSRPMessageType.CreatePipeline, DATA, pool, pipeline)

        encoded, unpack, header = write(), _payload.unpack_message, 40
    encoded = bytearray(encoded)

    def read():
        return unpack(encoded)

    is_right = len(encoded) == header + len(DATA) and read().data == DATA
    return (write if "encode" in row else read), is_right


PACKETS = ["fragment_encode_1kb", "fragment_decode_1kb", "message_encode", "message_decode"]
ROWS = [*VALUES, *PACKETS]


def bench(runner, row, name):
    function, is_right = (document if row in VALUES else packet)(row)
    if not is_right:
        sys.exit(f"psrp/{row}/{name}: another result: {function()}")
    runner.bench_func(
        f"psrp/{row}/{name}",
        function,
        metadata={"version": importlib.metadata.version(name)},
    )


IMPLEMENTATIONS = ["psrpcore"]


if __name__ == "__main__":
    rows.run("psrp", ROWS, IMPLEMENTATIONS, bench)
