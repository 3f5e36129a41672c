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


def carry(client, server, act):
    """Moves payloads between the two machines until neither has any; `act` is told of the server's events."""
    moved = True
    while moved:
        moved = False
        for sender, receiver in ((client, server), (server, client)):
            while (payload := sender.data_to_send(32768)) is not None:
                receiver.receive_data(payload)
                moved = True
        while (event := server.next_event()) is not None:
            act(event)
            moved = True
        while client.next_event() is not None:
            moved = True


class Session:
    """Its client and its server in memory, without packets: there are none in psrpcore."""

    def __init__(self):
        import psrpcore

        self.core = psrpcore
        self.client, self.server = psrpcore.ClientRunspacePool(), psrpcore.ServerRunspacePool()
        self.client.open()
        carry(self.client, self.server, lambda event: None)

    def numbers(self, count):
        """How many numbers a pipeline writes, and their sum."""
        pipeline = self.core.ClientPowerShell(self.client)
        pipeline.add_script(str(count))
        other = self.core.ServerPipeline(self.server, pipeline.pipeline_id)
        pipeline.start()
        found = []

        def act(event):
            if type(event).__name__ != "CreatePipelineEvent":
                return
            other.start()
            for number in range(int(event.pipeline.commands[0].command_text)):
                other.write_output(number)
            other.complete()

        while (payload := self.client.data_to_send(32768)) is not None:
            self.server.receive_data(payload)
        while (event := self.server.next_event()) is not None:
            act(event)
        while (payload := self.server.data_to_send(32768)) is not None:
            self.client.receive_data(payload)
            while (event := self.client.next_event()) is not None:
                if type(event).__name__ == "PipelineOutputEvent":
                    found.append(event.data)
        pipeline.close()
        other.close()
        return len(found), sum(found)

    def close(self):
        self.client.close()
        self.server.close()


def session(row):
    """The same for a row of sessions."""
    if row == "session_10000_objects":
        kept = Session()
        return lambda: kept.numbers(10_000), kept.numbers(10_000) == (10_000, 49_995_000)

    def whole():
        session = Session()
        found = session.numbers(1)
        session.close()
        return found

    return whole, whole() == (1, 0)


PACKETS = ["fragment_encode_1kb", "fragment_decode_1kb", "message_encode", "message_decode"]
SESSIONS = ["session_open_invoke_close", "session_10000_objects"]
ROWS = [*VALUES, *PACKETS, *SESSIONS]


def bench(runner, row, name):
    kind = document if row in VALUES else session if row in SESSIONS else packet
    function, is_right = kind(row)
    if not is_right:
        sys.exit(f"psrp/{row}/{name}: another result: {function()}")
    rows.measure(runner, f"psrp/{row}/{name}", function, version=importlib.metadata.version(name))


IMPLEMENTATIONS = ["psrpcore"]


if __name__ == "__main__":
    rows.run("psrp", ROWS, IMPLEMENTATIONS, bench)
