"""WS-Management service for tests that authenticates with GSSAPI: MIT Kerberos, with a key distribution centre of its
own, and NTLM by gss-ntlmssp.

It lists one shell in two pages, so that each connection has several messages in both directions. It prints the line
`PORT number KDC number NTLM 0|1` (or `SKIP reason`) and serves until its standard input ends. Options: `--tls CERTIFICATE KEY`,
`--binding CERTIFICATE` (of the channel binding, if it is not the one of `--tls`), `--scheme Negotiate|Kerberos`. The user is
`user@EXAMPLE.TEST` or `EXAMPLE\\user`, with the password `correct horse`.
"""

import argparse
import base64
import hashlib
import http.server
import importlib.util
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading

REALM, PASSWORD = "EXAMPLE.TEST", "correct horse"
KERBEROS, NTLM = "1.2.840.113554.1.2.2", "1.3.6.1.4.1.311.2.2.10"
os.environ["PATH"] += ":/usr/sbin:/sbin"


def start_kdc(folder):
    """Starts a key distribution centre with its files in a folder. Returns the process and its port."""
    # Bound until the KDC listens, so that no other process gets the port. The KDC sets the same option.
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    port = reserved.getsockname()[1]
    files = {
        "krb5.conf": f"[libdefaults]\ndefault_realm={REALM}\ndns_lookup_kdc=false\nrdns=false\n"
        f"[realms]\n{REALM}={{\nkdc=127.0.0.1:{port}\n}}\n",
        "kdc.conf": f"[kdcdefaults]\nkdc_listen=\"\"\nkdc_tcp_listen=127.0.0.1:{port}\n"
        f"[realms]\n{REALM}={{\ndatabase_name={folder}/principal\nkey_stash_file={folder}/stash\n}}\n",
        "users": f"EXAMPLE:user:{PASSWORD}\n",
    }
    for name, text in files.items():
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    os.environ.update(
        KRB5_CONFIG=f"{folder}/krb5.conf", KRB5_KDC_PROFILE=f"{folder}/kdc.conf", KRB5_KTNAME=f"{folder}/keytab",
        KRB5RCACHETYPE="none", NTLM_USER_FILE=f"{folder}/users",
    )
    run = lambda *command: subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
    admin = lambda query: run("kadmin.local", "-q", query)
    admin(f'addprinc +requires_preauth -pw "{PASSWORD}" user')
    admin("addprinc -randkey HTTP/localhost")
    admin(f"ktadd -k {folder}/keytab HTTP/localhost")
    kdc = subprocess.Popen(["krb5kdc", "-n"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert b"starting" in kdc.stdout.readline()
    reserved.close()
    return kdc, port


def list_shells(request):
    """Returns the response to an envelope: a page with a shell, then one without."""
    name = re.search(rb"/(Enumerate|Pull)<", request)[1].decode()
    message_id = re.search(rb"<a:MessageID>([^<]*)<", request)[1].decode()
    ends = ("<n:EnumerationContext>1</n:EnumerationContext>", "<w:EndOfSequence/>")
    shell = (
        "<r:Shell><r:ShellId>00000000-0000-0000-0000-000000000001</r:ShellId><r:State>Connected</r:State>"
        "<r:ResourceUri>http://schemas.microsoft.com/powershell/Microsoft.PowerShell</r:ResourceUri></r:Shell>"
    )
    return (
        '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"'
        ' xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing"'
        ' xmlns:n="http://schemas.xmlsoap.org/ws/2004/09/enumeration"'
        ' xmlns:w="http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd"'
        ' xmlns:r="http://schemas.microsoft.com/wbem/wsman/1/windows/shell"><s:Header>'
        f"<a:Action>http://schemas.xmlsoap.org/ws/2004/09/enumeration/{name}Response</a:Action>"
        f"<a:RelatesTo>{message_id}</a:RelatesTo></s:Header><s:Body><n:{name}Response>"
        f"<w:Items>{shell * (name == 'Enumerate')}</w:Items>{ends[name == 'Pull']}"
        f"</n:{name}Response></s:Body></s:Envelope>"
    ).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    context = None

    def log_message(self, *_):
        pass

    def reply(self, status, content=b"", kind="application/soap+xml;charset=UTF-8", challenge=None):
        self.send_response(status)
        if challenge:
            self.send_header("WWW-Authenticate", challenge)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self):
        request = self.rfile.read(int(self.headers["Content-Length"] or 0))
        scheme, _, token = (self.headers["Authorization"] or "").partition(" ")
        if scheme == self.server.scheme:
            return self.authenticate(token)
        if scheme or self.context is None or not self.context.complete:
            return self.reply(401, challenge=self.server.scheme)
        if self.server.bindings:
            return self.reply(200, list_shells(request))
        self.reply(200, *self.encrypt(list_shells(self.decrypt(request))))

    def authenticate(self, token):
        if self.context is None or self.context.complete:
            bindings = self.server.bindings and gssapi.raw.ChannelBindings(application_data=self.server.bindings)
            self.context = gssapi.SecurityContext(usage="accept", channel_bindings=bindings)
        try:
            token = self.context.step(base64.b64decode(token)) or b""
        except gssapi.exceptions.GSSError:
            self.context = None
            return self.reply(401, challenge=self.server.scheme)
        challenge = f"{self.server.scheme} {base64.b64encode(token).decode()}".strip()
        self.reply(200 if self.context.complete else 401, challenge=challenge)

    def decrypt(self, body):
        """Decrypts a message of MS-WSMV 2.2.9.1."""
        encrypted = body.split(b"octet-stream\r\n", 1)[1].removesuffix(b"--Encrypted Boundary--\r\n")
        message = self.context.unwrap(encrypted[4:])
        assert message.encrypted
        return message.message

    def encrypt(self, message):
        if self.context.mech.dotted_form == NTLM:
            wrapped = self.context.wrap(message, True).message
            signature, data = wrapped[:16], wrapped[16:]
        else:
            kinds = gssapi.raw.IOVBufferType
            buffers = gssapi.raw.IOV(kinds.header, message, kinds.padding, std_layout=False)
            gssapi.raw.wrap_iov(self.context, buffers, confidential=True)
            signature, data = buffers[0].value, buffers[1].value + (buffers[2].value or b"")
        protocol = "SPNEGO" if self.server.scheme == "Negotiate" else "Kerberos"
        kind = f"application/HTTP-{protocol}-session-encrypted"
        content = (
            f"--Encrypted Boundary\r\n\tContent-Type: {kind}\r\n"
            f"\tOriginalContent: type=application/soap+xml;charset=UTF-8;Length={len(message)}\r\n"
            "--Encrypted Boundary\r\n\tContent-Type: application/octet-stream\r\n"
        ).encode() + struct.pack("<I", len(signature)) + signature + data + b"--Encrypted Boundary--\r\n"
        return content, f'multipart/encrypted;protocol="{kind}";boundary="Encrypted Boundary"'


def serve(options, kdc_port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.scheme, server.bindings = options.scheme, None
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        with open(options.binding or options.tls[0]) as certificate:
            digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate.read())).digest()
        server.bindings = b"tls-server-end-point:" + digest
    threading.Thread(target=server.serve_forever, daemon=True).start()
    has_ntlm = NTLM in {mech.dotted_form for mech in gssapi.raw.indicate_mechs()}
    print("PORT", server.server_address[1], "KDC", kdc_port, "NTLM", int(has_ntlm), flush=True)
    sys.stdin.read()


parser = argparse.ArgumentParser()
parser.add_argument("--scheme", default="Negotiate", choices=["Negotiate", "Kerberos"])
parser.add_argument("--tls", nargs=2)
parser.add_argument("--binding")
options = parser.parse_args()
missing = [name for name in ("krb5kdc", "kadmin.local", "kdb5_util") if not shutil.which(name)]
missing += [] if importlib.util.find_spec("gssapi") else ["Python's module gssapi"]
if missing:
    sys.exit(print("SKIP no", ", ".join(missing)))
with tempfile.TemporaryDirectory() as folder:
    kdc, port = start_kdc(folder)
    try:
        # It reads the environment.
        import gssapi.raw

        # Raises the errors of a step although there is a token for the client.
        gssapi.SecurityContext.__DEFER_STEP_ERRORS__ = False
        serve(options, port)
    finally:
        kdc.kill()
        kdc.wait()
