"""Runs psrpcore's client with our server on standard input and output.

    psrpcore_client.py SERVER

SERVER is the example program `psrp_server`. Prints a line `ok NAME` for each case and exits at the first failure.
"""

import base64
import contextlib
import subprocess
import sys
import threading
import time
import uuid
from xml.etree import ElementTree

import psrpcore
import psrpcore._payload as payloads
import psrpcore.types as ps
from pypsrp.serializer import Serializer, TaggedValue

NIL = uuid.UUID(int=0)
FRAGMENT = 32768
# A server that does not respond must not block the tests.
LIMIT = 120
State = ps.PSInvocationState


class Client:
    """A session. It waits for an acknowledgement before it sends more data to the same target."""

    def __init__(self, server, **options):
        self.process = subprocess.Popen(
            [server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.watchdog = threading.Timer(LIMIT, self.process.kill)
        self.watchdog.start()
        self.pool = psrpcore.ClientRunspacePool(**options)
        self.acknowledged = []
        self.events = []
        # Undecoded output documents.
        self.documents = []
        inner = self.pool._process_message

        def process(message):
            if message.message_type == ps.PSRPMessageType.PipelineOutput:
                self.documents.append(bytes(message.data))
            return inner(message)

        self.pool._process_message = process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.watchdog.cancel()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def line(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """Processes one packet of the server. Returns false at the end."""
        line = self.process.stdout.readline()
        if not line:
            return False
        element = ElementTree.fromstring(line)
        target = uuid.UUID(element.attrib["PSGuid"])
        if element.tag != "Data":
            self.acknowledged.append((element.tag, target))
            return True
        data = base64.b64decode(element.text)
        target = None if target == NIL else target
        self.pool.receive_data(psrpcore.PSRPPayload(data, psrpcore.StreamType.default, target))
        while (event := self.pool.next_event()) is not None:
            self.events.append(event)
        return True

    def until(self, condition):
        while not (found := condition()):
            assert self.receive(), "the server has ended: " + self.process.stderr.read().decode()
        return found

    def acknowledgement(self, tag, target):
        self.until(lambda: (tag, target or NIL) in self.acknowledged)
        self.acknowledged.remove((tag, target or NIL))

    def send(self):
        while (payload := self.pool.data_to_send(FRAGMENT)) is not None:
            stream = "PromptResponse" if payload.stream_type == psrpcore.StreamType.prompt_response else "Default"
            target = payload.pipeline_id or NIL
            self.line(f"<Data Stream='{stream}' PSGuid='{target}'>{base64.b64encode(payload.data).decode()}</Data>")
            self.acknowledgement("DataAck", target)

    def take(self, kind, pipeline=None):
        """Removes and returns the events of a type and a pipeline."""
        def fits(event):
            return type(event).__name__ == kind and (pipeline is None or event.pipeline_id == pipeline.pipeline_id)

        taken = [event for event in self.events if fits(event)]
        self.events = [event for event in self.events if not fits(event)]
        return taken

    def wait(self, kind, pipeline=None):
        return self.until(lambda: self.take(kind, pipeline))

    def open(self):
        self.pool.open()
        self.send()
        self.until(lambda: self.pool.state == ps.RunspacePoolState.Opened)
        return self

    def close(self):
        self.line(f"<Close PSGuid='{NIL}' />")
        self.acknowledgement("CloseAck", NIL)
        assert self.pool.state == ps.RunspacePoolState.Closed, self.pool.state
        assert self.process.wait(LIMIT) == 0
        assert self.process.stderr.read() == b""

    def start(self, script=None, build=None, **options):
        pipeline = psrpcore.ClientPowerShell(self.pool, **options)
        if script is not None:
            pipeline.add_script(script)
        else:
            build(pipeline)
        self.line(f"<Command PSGuid='{pipeline.pipeline_id}' />")
        self.acknowledgement("CommandAck", pipeline.pipeline_id)
        pipeline.start()
        self.send()
        return pipeline

    def end(self, pipeline, state=State.Completed):
        """Waits until a pipeline has ended, closes it, and returns its output."""
        self.until(lambda: pipeline.state not in (State.NotStarted, State.Running, State.Stopping))
        assert pipeline.state == state, pipeline.state
        self.line(f"<Close PSGuid='{pipeline.pipeline_id}' />")
        self.acknowledgement("CloseAck", pipeline.pipeline_id)
        pipeline.close()
        return [event.data for event in self.take("PipelineOutputEvent", pipeline)]

    def run(self, script, **options):
        return self.end(self.start(script, **options))

    def feed(self, pipeline, values):
        for value in values:
            pipeline.send(value)
            self.send()
        pipeline.send_eof()
        self.send()

    def feed_documents(self, pipeline, documents):
        """Sends objects encoded by another serializer."""
        for document in documents:
            kind = ps.PSRPMessageType.PipelineInput
            blob = payloads.create_message(True, kind, document, self.pool.runspace_pool_id, pipeline.pipeline_id)
            number = self.pool._fragment_counter
            stream = psrpcore.StreamType.default
            message = payloads.PSRPMessage if hasattr(payloads, "PSRPMessage") else psrpcore._base.PSRPMessage
            self.pool._send_buffer.append(
                message(kind, bytearray(blob), self.pool.runspace_pool_id, pipeline.pipeline_id, number, stream)
            )
            self.send()
        pipeline.send_eof()
        self.send()


@contextlib.contextmanager
def opened(server, **options):
    with Client(server, **options) as client:
        yield client.open()
        client.close()


def same(found, expected):
    """Returns whether two values are equal, including object members."""
    assert type(found) is type(expected) or found is expected or isinstance(expected, (int, str, bool)), (
        type(found), type(expected)
    )
    if isinstance(expected, ps.PSStack):
        assert list(found) == list(expected)
    elif isinstance(expected, ps.PSQueue):
        assert [found.get() for _ in range(found.qsize())] == [expected.get() for _ in range(expected.qsize())]
    elif isinstance(expected, ps.PSCustomObject):
        members = [{one.name: one.get_value(value) for one in value.PSObject.extended_properties}
                   for value in (found, expected)]
        assert members[0] == members[1], members
    else:
        assert found == expected, (found, expected)


def all_types():
    # Without $null, for which psrpcore sends a server-only message.
    queue = ps.PSQueue()
    queue.put("first")
    queue.put(2)
    return [
        True, ps.PSByte(200), ps.PSSByte(-100), ps.PSInt16(-30000), ps.PSUInt16(60000), ps.PSInt(-5), ps.PSUInt(2**32 - 1),
        ps.PSInt64(-(2**63)), ps.PSUInt64(2**64 - 1), ps.PSSingle(1.5), ps.PSDouble(-0.25), ps.PSDecimal("123.450"),
        ps.PSChar("ö"), ps.PSString("line\r\n_x000A_ \U0001f600 ö"), ps.PSUri("https://example.org/a?b=c&d"),
        ps.PSXml("<a b=\"c\">d</a>"), ps.PSScriptBlock("Get-Item ."), ps.PSByteArray(bytes(range(256))),
        ps.PSGuid("12345678-1234-1234-1234-123456789012"), ps.PSVersion("1.2.3.4"), ps.PSDuration(days=1, microseconds=7),
        ps.PSDateTime(2024, 2, 29, 12, 30, 15, 123456), ps.PSList(["a", 1, None]), ps.PSStack([1, 2, 3]), queue,
        ps.PSDict({"a": 1, "b": ps.PSList([True])}), ps.PSCustomObject(name="value", number=7),
    ]


def values(server):
    """Objects of every type are echoed unchanged."""
    with opened(server) as client:
        pipeline = client.start("$input", no_input=False)
        expected = all_types()
        client.feed(pipeline, expected)
        found = client.end(pipeline)
        assert len(found) == len(expected)
        for one, other in zip(found, all_types()):
            same(one, other)


def values_of_pypsrp(server):
    """Like above, with an older serializer."""
    tagged = [
        TaggedValue("I32", -5), TaggedValue("I64", 2**40), TaggedValue("By", 200), TaggedValue("Db", "0.5"),
        TaggedValue("S", "a_x000A_\n<&>ö"), TaggedValue("G", uuid.UUID(int=7)), TaggedValue("BA", b"bytes"),
        TaggedValue("SBK", "$_"), TaggedValue("Version", "1.2"), True, None, ["a", 1], {"key": "value"},
    ]
    expected = [-5, 2**40, 200, 0.5, "a_x000A_\n<&>ö", uuid.UUID(int=7), b"bytes", "$_", "1.2", True, None, ["a", 1],
                {"key": "value"}]
    written = [Serializer().serialize(value) for value in tagged]
    documents = [one if isinstance(one, bytes) else ElementTree.tostring(one, encoding="utf-8") for one in written]
    with opened(server) as client:
        pipeline = client.start("$input", no_input=False)
        client.feed_documents(pipeline, documents)
        client.end(pipeline)
        # $null is a message without a document, as in PowerShell.
        found = [Serializer().deserialize(one.decode()) if one else None for one in client.documents]
        assert len(found) == len(expected), found
        for one, other in zip(found, expected):
            assert one == other or str(one) == str(other), (one, other)


def streams(server):
    """All streams arrive in order."""
    script = """Write-Output out
        Write-Error wrong
        Write-Warning careful
        Write-Verbose much
        Write-Debug deep
        Write-Information known
        Write-Progress moving
        $null"""
    with opened(server) as client:
        pipeline = client.start(script)
        client.until(lambda: pipeline.state == State.Completed)
        take = lambda kind: [event for event in client.take(kind, pipeline)]
        assert str(take("ErrorRecordEvent")[0].record.Exception.Message) == "wrong"
        assert take("WarningRecordEvent")[0].record.Message == "careful"
        assert take("VerboseRecordEvent")[0].record.Message == "much"
        assert take("DebugRecordEvent")[0].record.Message == "deep"
        assert take("InformationRecordEvent")[0].record.MessageData == "known"
        assert take("ProgressRecordEvent")[0].record.Activity == "moving"
        assert client.end(pipeline) == ["out", None]


def failure(server):
    """A failed pipeline has a reason, and the next one runs."""
    with opened(server) as client:
        for script, reason in [("Write-Output 1; throw no way", "no way"), ("Oops", "The term 'Oops' is not recognized")]:
            pipeline = client.start(script)
            client.until(lambda: pipeline.state == State.Failed)
            event = [event for event in client.events if type(event).__name__ == "PipelineStateEvent"][-1]
            assert str(event.reason.Exception.Message) == reason
            client.end(pipeline, State.Failed)
        assert client.run("Write-Output after") == ["after"]


def commands(server):
    """Commands with parameters of several types, and several statements."""
    def build(pipeline):
        pipeline.add_command("Get-Item").add_parameter("Path", "/tmp").add_parameter("Depth", ps.PSInt(3))
        pipeline.add_argument(ps.PSGuid("12345678-1234-1234-1234-123456789012"))
        pipeline.add_statement()
        pipeline.add_script("Write-Output second")

    with opened(server) as client:
        first, second = client.end(client.start(build=build))
        assert first["Command"] == "Get-Item" and second == "second"
        parameters = [tuple(one) for one in first["Parameters"]]
        assert parameters == [
            ("Path", "/tmp"), ("Depth", 3), (None, ps.PSGuid("12345678-1234-1234-1234-123456789012"))
        ], parameters


def metadata(server):
    """The list of commands."""
    with opened(server) as client:
        pipeline = psrpcore.ClientGetCommandMetadata(client.pool, name=["Write-*", "read-host"])
        client.line(f"<Command PSGuid='{pipeline.pipeline_id}' />")
        client.acknowledgement("CommandAck", pipeline.pipeline_id)
        pipeline.start()
        client.send()
        count, *found = client.end(pipeline)
        assert count.Count == len(found) == 9, found
        assert [str(one.Name) for one in found][:2] == ["Read-Host", "Write-Debug"], found


def host_calls(server):
    """Host calls with and without a response, and a failing one."""
    with opened(server) as client:
        pipeline = client.start("Write-Host to the user; Read-Host; Write-Output after")
        calls = []

        def both():
            calls.extend(client.take("PipelineHostCallEvent", pipeline))
            return len(calls) == 2

        client.until(both)
        write, read = calls
        assert write.method_identifier == ps.HostMethodIdentifier.WriteLine2
        assert list(write.method_parameters) == ["to the user"]
        assert read.method_identifier == ps.HostMethodIdentifier.ReadLine
        pipeline.host_response(read.ci, return_value="typed")
        client.send()
        assert client.end(pipeline) == ["typed", "after"]

        pipeline = client.start("Read-Host")
        call = client.wait("PipelineHostCallEvent", pipeline)[0]
        record = ps.ErrorRecord(Exception=ps.NETException(Message="no terminal"), CategoryInfo=ps.ErrorCategoryInfo())
        pipeline.host_response(call.ci, error_record=record)
        client.send()
        client.until(lambda: pipeline.state == State.Failed)
        event = [event for event in client.events if type(event).__name__ == "PipelineStateEvent"][-1]
        assert str(event.reason.Exception.Message) == "no terminal"
        client.end(pipeline, State.Failed)


def secure_strings(server):
    """Secrets in both directions; the client starts the key exchange."""
    with opened(server) as client:
        client.pool.exchange_key()
        client.send()
        client.wait("EncryptedSessionKeyEvent")
        pipeline = client.start("Read-Host -AsSecureString; $input", no_input=False)
        call = client.wait("PipelineHostCallEvent", pipeline)[0]
        pipeline.host_response(call.ci, return_value=ps.PSSecureString("answered"))
        client.send()
        client.feed(pipeline, [ps.PSSecureString("fed ö")])
        found = client.end(pipeline)
        assert [one.decrypt() for one in found] == ["answered", "fed ö"]
        for document in client.documents:
            assert b"answered" not in document and b"fed" not in document


def stop(server):
    """A running pipeline is stopped."""
    with opened(server) as client:
        pipeline = client.start("1..3; Start-Sleep 600; Write-Output never")
        client.until(lambda: sum(type(event).__name__ == "PipelineOutputEvent" for event in client.events) == 3)
        start = time.monotonic()
        pipeline.begin_stop()
        client.line(f"<Signal PSGuid='{pipeline.pipeline_id}' />")
        client.acknowledgement("SignalAck", pipeline.pipeline_id)
        assert client.end(pipeline, State.Stopped) == [1, 2, 3]
        assert time.monotonic() - start < 60
        event = [event for event in client.events if type(event).__name__ == "PipelineStateEvent"][-1]
        assert event.reason.FullyQualifiedErrorId == "PipelineStopped"
        assert client.run("Write-Output after") == ["after"]


def abandon(server):
    """A pipeline that is closed without a stop is cancelled."""
    with opened(server) as client:
        pipeline = client.start("Start-Sleep 600")
        client.line(f"<Close PSGuid='{pipeline.pipeline_id}' />")
        client.acknowledgement("CloseAck", pipeline.pipeline_id)
        assert client.run("Write-Output after") == ["after"]


def two_pipelines(server):
    """Two concurrent pipelines with separate input."""
    with opened(server, max_runspaces=2) as client:
        first = client.start("$input; Write-Output one", no_input=False)
        second = client.start("$input; Write-Output two", no_input=False)
        for number in range(50):
            for pipeline in (first, second):
                pipeline.send(f"{number} of {pipeline.pipeline_id}")
                client.send()
        for pipeline in (second, first):
            pipeline.send_eof()
            client.send()
        for pipeline, last in ((first, "one"), (second, "two")):
            expected = [f"{number} of {pipeline.pipeline_id}" for number in range(50)]
            assert client.end(pipeline) == [*expected, last]


def nested(server):
    """A nested pipeline runs in a pool with a single runspace."""
    with opened(server) as client:
        outer = client.start("$input", no_input=False)
        inner = client.start("Write-Output inner", is_nested=True)
        assert client.end(inner) == ["inner"]
        client.feed(outer, ["outer"])
        assert client.end(outer) == ["outer"]


def departure(server):
    """The server exits if the client disappears while a pipeline runs."""
    with Client(server) as client:
        client.open()
        client.start("1..3; Start-Sleep 600")
        client.until(lambda: sum(type(event).__name__ == "PipelineOutputEvent" for event in client.events) == 3)
        client.process.stdin.close()
        while client.receive():
            pass
        assert client.process.wait(LIMIT) == 0, client.process.returncode


def requests(server):
    """Requests of the pool."""
    with opened(server) as client:
        def answer(call):
            client.send()
            return client.wait("SetRunspaceAvailabilityEvent")[0] if call else None

        number = client.pool.get_available_runspaces()
        client.send()
        event = client.wait("GetRunspaceAvailabilityEvent")[0]
        assert (event.ci, event.count) == (number, 1)
        assert answer(client.pool.set_max_runspaces(5)).success
        assert not answer(client.pool.set_max_runspaces(-1)).success
        assert answer(client.pool.set_min_runspaces(5)).success
        assert answer(client.pool.reset_runspace_state()).success
        client.pool.get_available_runspaces()
        client.send()
        assert client.wait("GetRunspaceAvailabilityEvent")[0].count == 5


def many_objects(server):
    """Ten thousand objects."""
    with opened(server) as client:
        assert client.run("1..10000") == list(range(1, 10001))


def large_object(server):
    """An object of five megabytes, in both directions."""
    with opened(server) as client:
        large = "0123456789abcdef" * (5 * 2**20 // 16)
        pipeline = client.start("$input", no_input=False)
        client.feed(pipeline, [large])
        assert client.end(pipeline) == [large]


def ends_with(server, lines, is_open, code, reason=None):
    with Client(server) as client:
        if is_open:
            client.open()
        # It may have exited before reading the whole line.
        with contextlib.suppress(BrokenPipeError):
            for line in lines:
                client.line(line)
        while client.receive():
            pass
        assert client.process.wait(LIMIT) == code, client.process.returncode
        if is_open and code:
            assert client.pool.state == ps.RunspacePoolState.Broken, client.pool.state
        if reason:
            assert reason in client.process.stderr.read().decode()


def garbage(server):
    """Malformed and server-only packets end the server with an error; an empty line ends it successfully."""
    wrong = 4000 % 256
    for is_open in (False, True):
        ends_with(server, ["garbage"], is_open, wrong)
        ends_with(server, ["<Data Stream='Default' PSGuid='0'>????</Data>"], is_open, wrong)
        ends_with(server, [f"<Unknown PSGuid='{NIL}' />"], is_open, wrong)
        ends_with(server, [f"<DataAck PSGuid='{NIL}' />"], is_open, wrong, "a packet that only servers send")
        ends_with(server, [f"<Data Stream='Default' PSGuid='{NIL}'>{'A' * 100_000}</Data>"], is_open, wrong)
        fragment = base64.b64encode(payloads.create_fragment(1, 7, bytearray(b"x"), True)).decode()
        ends_with(server, [f"<Data Stream='Default' PSGuid='{NIL}'>{fragment}</Data>"], is_open, wrong)
        ends_with(server, [""], is_open, 0)


CASES = [
    values, values_of_pypsrp, streams, failure, commands, metadata, host_calls, secure_strings, stop, abandon,
    two_pipelines, nested, departure, requests, many_objects, large_object, garbage,
]

if __name__ == "__main__":
    for case in CASES:
        case(sys.argv[1])
        print("ok", case.__name__, flush=True)
