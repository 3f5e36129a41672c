"""Windows Remote Management service for tests: SOAP over HTTP, with a psrpcore server behind it.

It runs no PowerShell but the few statements of `Pipeline.statement`. It prints the line `PORT number` and
serves until its standard input ends. Options: `--auth basic|negotiate`, `--tls CERTIFICATE KEY`, `--binding CERTIFICATE`
(of the channel binding, if it is not the one of `--tls`), `--user NAME PASSWORD`, `--envelope BYTES` (maximum size of a
response), `--log` (actions on standard error).

Responses follow MS-WSMV; `wsman_check.py` verifies them with pypsrp's client.
"""

import argparse
import base64
import hashlib
import http.server
import os
import re
import ssl
import struct
import sys
import tempfile
import threading
import time
import uuid
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import psrpcore
import psrpcore.types as types

SOAP = "http://www.w3.org/2003/05/soap-envelope"
ADDRESSING = "http://schemas.xmlsoap.org/ws/2004/08/addressing"
WSMAN = "http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd"
SHELL = "http://schemas.microsoft.com/wbem/wsman/1/windows/shell"
FAULT = "http://schemas.microsoft.com/wbem/wsman/1/wsmanfault"
TRANSFER = "http://schemas.xmlsoap.org/ws/2004/09/transfer"
ENUMERATION = "http://schemas.xmlsoap.org/ws/2004/09/enumeration"
POWERSHELL = "http://schemas.microsoft.com/powershell"
RESOURCE = POWERSHELL + "/Microsoft.PowerShell"
NAMES = {"s": SOAP, "a": ADDRESSING, "w": WSMAN, "rsp": SHELL, "x": TRANSFER, "n": ENUMERATION, "p": POWERSHELL}
DECLARED = "".join(f' xmlns:{prefix}="{name}"' for prefix, name in NAMES.items())
TIMED_OUT = 2150858793
NO_SHELL = 2150858843
DISCONNECTED = 2150859230
SEALED = "application/HTTP-SPNEGO-session-encrypted"


def split(data):
    """Splits data into fragments with headers of 21 bytes."""
    fragments = []
    while data:
        size = 21 + int.from_bytes(data[17:21], "big")
        fragments.append(data[:size])
        data = data[size:]
    return fragments


class Fault(Exception):
    def __init__(self, code, subcode, reason):
        super().__init__(reason)
        self.code, self.subcode, self.reason = code, subcode, reason


class Stopped(Exception):
    pass


class Pipeline:
    def __init__(self, shell, command_id):
        self.shell, self.id = shell, command_id
        self.machine = psrpcore.ServerPipeline(shell.pool, command_id)
        self.stop, self.done, self.input_ended = threading.Event(), False, False
        self.input, self.answers = [], {}

    def do(self, function, *arguments):
        if self.stop.is_set():
            raise Stopped()
        with self.shell.changed:
            result = function(*arguments)
            self.shell.flush()
        return result

    def ask(self, function, *arguments):
        call = self.do(function, *arguments)
        while call not in self.answers:
            self.do(lambda: None)
            time.sleep(0.005)
        return self.answers.pop(call)

    def statement(self, text, host):
        verb, _, argument = text.partition(" ")
        pipe = self.machine
        if verb == "Write-Output":
            self.do(pipe.write_output, argument)
        elif verb == "Write-Error":
            self.do(pipe.write_error, types.NETException(Message=argument), types.ErrorCategoryInfo())
        elif verb in ("Write-Warning", "Write-Verbose", "Write-Debug"):
            self.do(getattr(pipe, verb.lower().replace("-", "_")), argument)
        elif verb == "Write-Information":
            self.do(pipe.write_information, argument, "fake")
        elif verb == "Write-Progress":
            self.do(pipe.write_progress, argument, 1, "working")
        elif verb == "Write-Host":
            self.do(host.write_line, argument)
        elif verb == "Read-Host":
            self.do(pipe.write_output, self.ask(host.read_line))
        elif verb == "Start-Sleep":
            end = time.monotonic() + float(argument)
            while time.monotonic() < end:
                self.do(lambda: None)
                time.sleep(0.01)
        elif verb == "New-Text":
            self.do(pipe.write_output, "x" * int(argument))
        elif verb == "Measure-Input":
            while True:
                self.do(lambda: None)
                if self.input_ended:
                    break
                time.sleep(0.005)
            for value in self.input:
                self.do(pipe.write_output, len(value))
        elif text == "$input":
            taken = 0
            while not self.input_ended or taken < len(self.input):
                self.do(lambda: None)
                if taken < len(self.input):
                    self.do(pipe.write_output, self.input[taken])
                    taken += 1
                else:
                    time.sleep(0.005)
        elif verb == "throw":
            raise RuntimeError(argument)
        elif re.fullmatch(r"\d+\.\.\d+", text):
            start, end = map(int, text.split(".."))
            for number in range(start, end + 1):
                self.do(pipe.write_output, number)
        else:
            raise RuntimeError(f"The term '{text}' is not recognized")

    def run(self):
        pipe, shell = self.machine, self.shell
        host = psrpcore.ServerHostRequestor(pipe)
        try:
            self.do(pipe.start)
            for command in pipe.metadata.commands:
                for text in filter(None, map(str.strip, command.command_text.split(";"))):
                    self.statement(text, host)
            with shell.changed:
                pipe.complete()
        except Stopped:
            with shell.changed:
                pipe.begin_stop()
                pipe.stop()
        except RuntimeError as error:
            record = types.ErrorRecord(
                Exception=types.NETException(Message=str(error)),
                CategoryInfo=types.ErrorCategoryInfo(),
                FullyQualifiedErrorId="RuntimeException",
            )
            with shell.changed:
                pipe._change_state(types.PSInvocationState.Failed, error=record)
        with shell.changed:
            shell.flush()
            self.done = True
            shell.changed.notify_all()


class Shell:
    def __init__(self, shell_id, owner):
        self.id, self.owner = shell_id, owner
        self.changed = threading.Condition(threading.RLock())
        self.pipelines, self.output = {}, {None: []}
        self.is_disconnected = self.is_gone = False
        self.pool = psrpcore.ServerRunspacePool(application_private_data={"fake": True})

    def flush(self):
        """Queues the output of the state machine for Receive."""
        while (payload := self.pool.data_to_send(32768)) is not None:
            if payload.pipeline_id is None or payload.pipeline_id in self.output:
                self.output[payload.pipeline_id].append(payload.data)
        self.changed.notify_all()

    def take(self, target, data, priority=psrpcore.StreamType.default):
        """Processes fragments of the client."""
        with self.changed:
            self.pool.receive_data(psrpcore.PSRPPayload(data, priority, target))
            while (event := self.pool.next_event()) is not None:
                self.handle(event)
            self.flush()

    def handle(self, event):
        name = type(event).__name__
        pipeline = self.pipelines.get(getattr(event, "pipeline_id", None))
        if name in ("CreatePipelineEvent", "GetCommandMetadataEvent"):
            threading.Thread(target=pipeline.run, daemon=True).start()
        elif name == "PipelineInputEvent":
            pipeline.input.append(event.data)
        elif name == "EndOfPipelineInputEvent":
            pipeline.input_ended = True
        elif name == "PipelineHostResponseEvent":
            pipeline.answers[event.ci] = event.result
        elif name in ("SetMaxRunspacesEvent", "SetMinRunspacesEvent", "ResetRunspaceStateEvent"):
            self.pool.runspace_availability_response(event.ci, True)
        elif name == "GetAvailableRunspacesEvent":
            self.pool.runspace_availability_response(event.ci, self.pool.max_runspaces)

    def receive(self, target, seconds, room):
        """Returns the queued output of a target, and whether it has ended."""
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                if self.is_gone or target not in self.output:
                    raise Fault(NO_SHELL, "w:InvalidSelectors", "The request refers to a shell that is gone.")
                if self.is_disconnected:
                    raise Fault(DISCONNECTED, "w:InternalError", "The stream is disconnected.")
                waiting = self.output[target]
                if waiting:
                    # As many complete fragments as fit.
                    data = waiting.pop(0)
                    while waiting and len(data) + len(waiting[0]) <= room:
                        data += waiting.pop(0)
                    return data, self.is_done(target) and not waiting
                if self.is_done(target):
                    return b"", True
                left = end - time.monotonic()
                if left <= 0:
                    raise Fault(TIMED_OUT, "w:TimedOut", "The operation did not complete in time.")
                self.changed.wait(left)

    def is_done(self, target):
        return target is not None and self.pipelines[target].done

    def terminate(self, target):
        pipeline = self.pipelines.get(target)
        if pipeline is None:
            raise Fault(NO_SHELL, "w:InvalidSelectors", "There is no such command.")
        pipeline.stop.set()
        while not pipeline.done and pipeline.machine.state != types.PSInvocationState.NotStarted:
            time.sleep(0.005)
        with self.changed:
            self.pool.pipeline_table.pop(target, None)
            del self.pipelines[target], self.output[target]
            self.changed.notify_all()


class Service:
    def __init__(self, options):
        self.options, self.shells, self.lock, self.bindings = options, {}, threading.Lock(), None
        if options.tls:
            # Requires channel binding of authentication and certificate (RFC 5929).
            with open(options.binding or options.tls[0]) as certificate:
                digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.read())).digest()
            self.bindings = b"tls-server-end-point:" + digest

    def answer(self, request):
        """Returns the status and body of the response to an envelope."""
        envelope = ElementTree.fromstring(request)
        header, body = envelope.find("s:Header", NAMES), envelope.find("s:Body", NAMES)
        action, message_id = (header.find(name, NAMES).text for name in ("a:Action", "a:MessageID"))
        if self.options.log:
            print(action.rsplit("/", 1)[1], len(request), file=sys.stderr, flush=True)
        status = 200
        try:
            found = self.act(action, header, body)
        except Fault as fault:
            status, action = 500, "http://schemas.dmtf.org/wbem/wsman/1/wsman/fault"
            found = (
                f"<s:Fault><s:Code><s:Value>s:Receiver</s:Value><s:Subcode><s:Value>{fault.subcode}</s:Value>"
                f'</s:Subcode></s:Code><s:Reason><s:Text xml:lang="en-US">{escape(fault.reason)}</s:Text></s:Reason>'
                f'<s:Detail><f:WSManFault xmlns:f="{FAULT}" Code="{fault.code}" Machine="server.example.org">'
                f"<f:Message>{escape(fault.reason)} </f:Message></f:WSManFault></s:Detail></s:Fault>"
            )
        else:
            action += "Response"
        return status, (
            f'<s:Envelope xml:lang="en-US"{DECLARED}><s:Header><a:Action>{action}</a:Action>'
            f"<a:MessageID>uuid:{str(uuid.uuid4()).upper()}</a:MessageID>"
            f"<a:To>{ADDRESSING}/role/anonymous</a:To><a:RelatesTo>{message_id}</a:RelatesTo></s:Header>"
            f"<s:Body>{found}</s:Body></s:Envelope>"
        ).encode()

    def shell(self, header):
        selector = header.find("w:SelectorSet/w:Selector[@Name='ShellId']", NAMES)
        shell = self.shells.get(uuid.UUID(selector.text)) if selector is not None else None
        if shell is None or shell.is_gone:
            raise Fault(NO_SHELL, "w:InvalidSelectors", "The request refers to a shell that is gone.")
        return shell

    def act(self, action, header, body):
        name = action.rsplit("/", 1)[1]
        body = body[0] if len(body) else None
        if name == "Create":
            return self.create(header, body)
        if name == "Enumerate":
            return self.enumerate(header, body)
        shell = self.shell(header)
        if name == "Connect":
            return self.connect(shell, body)
        if name == "Command":
            command = uuid.UUID(body.attrib["CommandId"])
            with shell.changed:
                shell.output[command] = []
                shell.pipelines[command] = Pipeline(shell, command)
            shell.take(command, base64.b64decode(body.find("rsp:Arguments", NAMES).text))
            text = str(command).upper()
            return f"<rsp:CommandResponse><rsp:CommandId>{text}</rsp:CommandId></rsp:CommandResponse>"
        if name == "Send":
            for stream in body.findall("rsp:Stream", NAMES):
                target = stream.attrib.get("CommandId")
                target = None if target is None else uuid.UUID(target)
                if target is not None and target not in shell.pipelines:
                    raise Fault(NO_SHELL, "w:InvalidSelectors", "There is no such command.")
                kinds = {"stdin": psrpcore.StreamType.default, "pr": psrpcore.StreamType.prompt_response}
                shell.take(target, base64.b64decode(stream.text), kinds[stream.attrib["Name"]])
            return "<rsp:SendResponse/>"
        if name == "Receive":
            return self.receive(shell, header, body.find("rsp:DesiredStream", NAMES))
        if name == "Signal":
            target, code = uuid.UUID(body.attrib["CommandId"]), body.find("rsp:Code", NAMES).text
            if code.lower().endswith("/signal/terminate"):
                shell.terminate(target)
            elif code in ("powershell/signal/crtl_c", "powershell/signal/ctrl_c"):
                shell.pipelines[target].stop.set()
            else:
                raise Fault(87, "w:InvalidParameter", "There is no such signal.")
            return "<rsp:SignalResponse/>"
        if name == "Delete":
            self.delete(shell)
            return ""
        if name in ("Disconnect", "Reconnect"):
            mode = body.findtext("rsp:BufferMode", "Block", NAMES) if body is not None else "Block"
            if mode not in ("Block", "Drop"):
                raise Fault(87, "w:InvalidParameter", "There is no such buffer mode.")
            with shell.changed:
                shell.is_disconnected = name == "Disconnect"
                shell.changed.notify_all()
            return "<rsp:DisconnectResponse/>" if name == "Disconnect" else "<rsp:ReconnectResponse/>"
        raise Fault(2150858778, "a:ActionNotSupported", "There is no such action.")

    def create(self, header, body):
        option = header.find("w:OptionSet/w:Option[@Name='protocolversion']", NAMES)
        uri = header.find("w:ResourceURI", NAMES).text
        if option is None or not uri.startswith(POWERSHELL + "/"):
            raise Fault(87, "w:InvalidParameter", "No version of the protocol, or no such resource.")
        if not uri.endswith("/Microsoft.PowerShell"):
            raise Fault(2150859065, "a:DestinationUnreachable", "Cannot find the session configuration.")
        shell = Shell(uuid.UUID(body.attrib["ShellId"]), self.options.user[0])
        with self.lock:
            self.shells[shell.id] = shell
        shell.take(None, base64.b64decode(body.find("p:creationXml", NAMES).text))
        text = str(shell.id).upper()
        return (
            f"<x:ResourceCreated><a:Address>http://server.example.org/wsman</a:Address><a:ReferenceParameters>"
            f'<w:ResourceURI>{uri}</w:ResourceURI><w:SelectorSet><w:Selector Name="ShellId">{text}</w:Selector>'
            f"</w:SelectorSet></a:ReferenceParameters></x:ResourceCreated>{self.describe(shell)}"
        )

    def describe(self, shell):
        state = "Disconnected" if shell.is_disconnected else "Connected"
        return (
            f"<rsp:Shell><rsp:ShellId>{str(shell.id).upper()}</rsp:ShellId><rsp:Name>Fake</rsp:Name>"
            f"<rsp:ResourceUri>{RESOURCE}</rsp:ResourceUri><rsp:Owner>{escape(shell.owner)}</rsp:Owner>"
            f"<rsp:State>{state}</rsp:State><rsp:ShellInactivity>P0DT1H1M1S</rsp:ShellInactivity>"
            "<rsp:IdleTimeOut>PT7200.000S</rsp:IdleTimeOut>"
            "<rsp:InputStreams>stdin pr</rsp:InputStreams><rsp:OutputStreams>stdout</rsp:OutputStreams></rsp:Shell>"
        )

    def connect(self, shell, body):
        if "CommandId" in body.attrib:
            if uuid.UUID(body.attrib["CommandId"]) not in shell.pipelines:
                raise Fault(NO_SHELL, "w:InvalidSelectors", "There is no such command.")
            return "<rsp:ConnectResponse/>"
        if not shell.is_disconnected:
            raise Fault(2150859229, "w:Concurrency", "The shell has a client already.")
        data = base64.b64decode(body.find("p:connectXml", NAMES).text)
        with shell.changed:
            shell.is_disconnected = False
            shell.pool.state = types.RunspacePoolState.Disconnected
            shell.pool.connect()
            shell.flush()
            shell.output[None].clear()
            # PowerShell sends its capabilities first, psrpcore omits them here.
            shell.pool.prepare_message(shell.pool.our_capability)
        shell.take(None, data)
        with shell.changed:
            # Capabilities and size are in the response, the rest is sent by Receive.
            fragments = split(b"".join(shell.output[None]))
            found = base64.b64encode(b"".join(fragments[:2])).decode()
            shell.output[None][:] = fragments[2:]
        xml = f'<connectResponseXml xmlns="{POWERSHELL}">{found}</connectResponseXml>'
        return f"<rsp:ConnectResponse>{xml}</rsp:ConnectResponse>"

    def receive(self, shell, header, desired):
        target = desired.attrib.get("CommandId")
        seconds = float(re.fullmatch(r"PT([\d.]+)S", header.find("w:OperationTimeout", NAMES).text)[1])
        limit = min(int(header.find("w:MaxEnvelopeSize", NAMES).text), self.options.envelope)
        room = (limit - 2000) // 4 * 3
        data, is_done = shell.receive(None if target is None else uuid.UUID(target), seconds, room)
        found = ""
        of = "" if target is None else f' CommandId="{target}"'
        if data:
            found += f'<rsp:Stream Name="stdout"{of}>{base64.b64encode(data).decode()}</rsp:Stream>'
        if is_done:
            found += f'<rsp:CommandState{of} State="{SHELL}/CommandState/Done"/>'
        elif target is not None:
            found += f'<rsp:CommandState{of} State="{SHELL}/CommandState/Running"/>'
        return f"<rsp:ReceiveResponse>{found}</rsp:ReceiveResponse>"

    def delete(self, shell):
        with self.lock:
            self.shells.pop(shell.id, None)
        for pipeline in list(shell.pipelines.values()):
            pipeline.stop.set()
        with shell.changed:
            shell.is_gone = True
            shell.changed.notify_all()

    def enumerate(self, header, body):
        selector = body.find("w:Filter/w:SelectorSet/w:Selector[@Name='ShellId']", NAMES)
        if header.find("w:ResourceURI", NAMES).text.endswith("/Command"):
            shell = self.shells.get(uuid.UUID(selector.text)) if selector is not None else None
            commands = list(shell.pipelines) if shell else []
            found = "".join(
                f"<rsp:Command><rsp:ShellId>{str(shell.id).upper()}</rsp:ShellId>"
                f"<rsp:CommandId>{str(command).upper()}</rsp:CommandId></rsp:Command>"
                for command in commands
            )
        else:
            with self.lock:
                found = "".join(map(self.describe, self.shells.values()))
        return (
            f"<n:EnumerateResponse><w:Items>{found}</w:Items><w:EndOfSequence/>"
            "<n:EnumerationContext/></n:EnumerateResponse>"
        )


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    context = None

    def setup(self):
        super().setup()
        self.connection.setsockopt(6, 1, 1)

    def log_message(self, *_):
        pass

    def reply(self, status, content=b"", kind="application/soap+xml;charset=UTF-8", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if content:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def do_POST(self):
        request = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        service = self.server.service
        authenticate = getattr(self, "authenticate_" + service.options.auth)
        headers = authenticate()
        if headers is None:
            return
        if self.path != "/wsman":
            return self.reply(404)
        if not request:
            return self.reply(200, **headers)
        kind = self.headers.get("Content-Type", "")
        if not kind.startswith("multipart/encrypted"):
            status, content = service.answer(request)
            return self.reply(status, content, **headers)
        parts = re.split(rb"--\s*Encrypted Boundary\r\n", request)
        length = int(parts[1].split(b"Length=")[1])
        sealed = re.sub(rb"--\s*Encrypted Boundary--\r\n$", b"", parts[2]).split(b"\r\n", 1)[1]
        size = struct.unpack("<i", sealed[:4])[0]
        request = self.context.unwrap_winrm(sealed[4 : 4 + size], sealed[4 + size :])
        if len(request) != length:
            return self.reply(400)
        status, content = service.answer(request)
        signature, data, padding = self.context.wrap_winrm(content)
        content = (
            f"--Encrypted Boundary\r\n\tContent-Type: {SEALED}\r\n"
            f"\tOriginalContent: type=application/soap+xml;charset=UTF-8;Length={len(content) + padding}\r\n"
            "--Encrypted Boundary\r\n\tContent-Type: application/octet-stream\r\n"
        ).encode() + struct.pack("<i", len(signature)) + signature + data + b"--Encrypted Boundary--\r\n"
        kind = f'multipart/encrypted;protocol="{SEALED}";boundary="Encrypted Boundary"'
        self.reply(status, content, kind)

    def authenticate_basic(self):
        wanted = base64.b64encode(":".join(self.server.service.options.user).encode()).decode()
        if self.headers.get("Authorization") != "Basic " + wanted:
            return self.reply(401, WWW_Authenticate='Basic realm="WSMAN"')
        return {}

    def authenticate_negotiate(self):
        import spnego
        import spnego.channel_bindings

        given, service = self.headers.get("Authorization", ""), self.server.service
        if not given:
            if self.context is not None and self.context.complete:
                return {}
            return self.reply(401, WWW_Authenticate="Negotiate")
        if self.context is None or self.context.complete:
            options = spnego.NegotiateOptions.use_negotiate | spnego.NegotiateOptions.wrapping_winrm
            bindings = service.bindings and spnego.channel_bindings.GssChannelBindings(
                application_data=service.bindings
            )
            self.context = spnego.server(protocol="negotiate", options=options, channel_bindings=bindings)
        try:
            token = self.context.step(base64.b64decode(given.split(" ")[1]))
        except Exception as error:
            if service.options.log:
                print("refused", repr(error), file=sys.stderr, flush=True)
            self.context = None
            return self.reply(401, WWW_Authenticate="Negotiate")
        answer = "Negotiate" + (" " + base64.b64encode(token).decode() if token else "")
        if not self.context.complete:
            return self.reply(401, WWW_Authenticate=answer)
        return {"WWW_Authenticate": answer}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--auth", default="basic", choices=["basic", "negotiate"])
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--binding")
    parser.add_argument("--user", nargs=2, default=["user", "correct horse"])
    parser.add_argument("--envelope", type=int, default=512000)
    parser.add_argument("--log", action="store_true")
    options = parser.parse_args()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as users:
        users.write(f"EXAMPLE:{options.user[0]}:{options.user[1]}\n")
        users.flush()
        os.environ["NTLM_USER_FILE"] = users.name
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.service = Service(options)
        if options.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*options.tls)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print("PORT", server.server_address[1], flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
