"""Rows of the suite `psrp` for psrpcore.

Documents have no wrapper, for psrpcore writes and reads one element, from and to a text by way of ElementTree. Its
functions for fragments and messages are private ones. The check values are those of ours, once a result is right.
"""

import uuid
from xml.etree import ElementTree

import resident

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


# Row: (value, length of its document without a wrapper, check value).
VALUES = {
    "serialize_small_object": (small, 96, 183),
    "serialize_medium_object": (lambda: numbered("Property", 10), 375, 462),
    "serialize_large_object": (lambda: numbered("Property", 50), 1535, 1622),
    "serialize_with_references": (references, 229, 316),
    "serialize_string": (lambda: types().PSString("test string value"), 24, 24),
    "serialize_int32": (lambda: types().PSInt(12345), 16, 16),
    "serialize_hashtable": (hashtable, 313, 313),
    "deserialize_small_object": (small, 96, 1),
    "deserialize_ps_object": (described, 186, 3),
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
    """The operation of a row of documents, and whether its result is right."""
    ps, cipher = types(), no_cipher()
    make, length, check = VALUES[row]
    value = make()

    def write():
        return check if len(ElementTree.tostring(ps.serialize(value, cipher))) == length else 0

    text = ElementTree.tostring(ps.serialize(value, cipher))

    def read():
        ps.deserialize(ElementTree.fromstring(text), cipher)
        return check

    is_right = len(text) == length and members(ps.deserialize(ElementTree.fromstring(text), cipher)) == members(value)
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

        unpack, header = _payload.unpack_fragment, 21
    else:
        def write():
            return _payload.create_message(False, PSRPMessageType.CreatePipeline, DATA, pool, pipeline)

        unpack, header = _payload.unpack_message, 40
    encoded = bytearray(write())

    is_right = len(encoded) == header + len(DATA) and unpack(encoded).data == DATA
    return (lambda: len(write())) if "encode" in row else (lambda: len(unpack(encoded).data)), is_right


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
        return lambda: kept.numbers(10_000)[1], kept.numbers(10_000) == (10_000, 49_995_000)

    def whole():
        session = Session()
        found, _ = session.numbers(1)
        session.close()
        return found

    return whole, whole() == 1


PACKETS = ["fragment_encode_1kb", "fragment_decode_1kb", "message_encode", "message_decode"]
SESSIONS = ["session_open_invoke_close", "session_10000_objects"]


def set_up(row, name):
    kind = document if row in VALUES else packet if row in PACKETS else session if row in SESSIONS else None
    if kind is None or name != "psrpcore":
        return None
    operation, is_right = kind(row)
    resident.expect(is_right, "another result")
    return operation


if __name__ == "__main__":
    resident.serve(set_up)
