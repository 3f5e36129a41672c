"""Rows of the suite `client` for the official Python SDK.

The server is a thread of this process, as in the other languages. It sends prepared bytes, so that it costs as little as
Python allows. The client does what `get` and `post` of the SDK do, without decoding: the result is the response, read whole.
"""

import os
import socket
import threading

import httpx
from perplexity import Perplexity

import resident

STATUS = b'{"status": "ok"}'
POSTED = b'{"id": "test-123", "status": "completed"}'
LARGE = b'{"chunk": "data"}\n' * 1024
PAYLOAD = {"model": "sonar", "messages": [{"role": "user", "content": "Hello"}]}
HEADERS = {"X-Custom-Header": "test-value", "X-Request-ID": "req-123"}

# Row: (body of the request, headers of the request, body of the response).
ROWS = {
    "client_do_simple": (None, None, STATUS),
    "client_do_with_json_body": (PAYLOAD, None, POSTED),
    "client_do_large_response": (None, None, LARGE),
    "client_do_with_headers": (None, HEADERS, STATUS),
}


def serve(listener, body):
    """Answers every request of one connection."""
    size = b"Transfer-Encoding: chunked" if body is LARGE else b"Content-Length: %d" % len(body)
    content = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if body is LARGE else body
    response = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + size + b"\r\n\r\n" + content
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
        head, end, rest = received.partition(b"\r\n\r\n")
        # A request with a body comes in two parts.
        if end and (not head.startswith(b"POST") or rest.endswith(b"}")):
            received = b""
            connection.sendall(response)


def set_up(row, name):
    if row not in ROWS or name != "perplexityai":
        return None
    body, headers, expected = ROWS[row]
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, expected), daemon=True).start()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    client = Perplexity(api_key="test-key", base_url=address, max_retries=0)
    options = {"headers": headers} if headers else {}

    def get():
        return len(client.get("/test", cast_to=httpx.Response, options=options).content)

    def post():
        return len(client.post("/chat/completions", body=body, cast_to=httpx.Response).content)

    operation = post if body else get
    resident.expect(operation() == len(expected), "another response")
    return operation


if __name__ == "__main__":
    os.environ["NO_PROXY"] = "*"
    resident.serve(set_up)
