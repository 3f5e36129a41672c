"""Rows of the suite `sse` for decoders written in Python. Inputs and stop rules are those of the Rust suite, byte for byte."""

import codecs
import functools

import resident

TOKENS = [
    " the", " quick", " brown", " fox", " jumps", " over", " a", " lazy", " dog", ".", ",", " Rust", " stream",
    " of", " tokens", " that", " arrive", " one", " at", " time", " café", " naïve", "\\n\\n", " —",
]

SIMULATION = [
    '{"id":"1","choices":[{"delta":{"role":"assistant"}}]}',
    '{"id":"1","choices":[{"delta":{"content":"Hello"}}]}',
    '{"id":"1","choices":[{"delta":{"content":" world"}}]}',
    '{"id":"1","choices":[{"delta":{"content":"!"}}]}',
    '{"id":"1","choices":[{"finish_reason":"stop"}],"usage":{"total_tokens":10}}',
    "[DONE]",
]

SIMPLE = 'data: {"test": "value"}\n\n'

LARGE = (
    'data: {"id":"test-123","model":"sonar-pro","choices":[{"index":0,"delta":{"role":"assistant","content":"'
    + ("This is a long response with lots of text. " * 187)[:8008]
    + '"}}],"usage":{"completion_tokens":500,"prompt_tokens":100,"total_tokens":600}}\n\n'
)

# When a row ends: after one event, after the event whose data is "[DONE]", or at the end of input.
FIRST, DONE, END = range(3)


@functools.cache
def chat(length):
    """A stream as a chat model sends it, at least `length` bytes long before the end marker."""
    events = [
        (
            'data: {"id":"chatcmpl-5d2a9c70e4b14f6c","object":"chat.completion.chunk","created":1763424000,'
            '"model":"sonar-pro","choices":[{"index":0,"delta":{"role":"assistant","content":"'
            + token
            + '"},"finish_reason":null}]}\n\n'
        ).encode()
        for token in TOKENS
    ]
    out = bytearray()
    index = 0
    while len(out) < length:
        out += events[index % len(events)]
        index += 1
    return bytes(out + b"data: [DONE]\n\n")


def short(length):
    """At least `length` bytes of 20-byte events."""
    hundred = "".join(f'data: {{"chunk": {index % 10}}}\n\n' for index in range(100))
    return hundred * -(-length // 2000)


def line(length):
    """One data line of `length` characters."""
    return "data: " + "a" * length + "\n\n"


# Row: (function that builds the input, bytes per chunk or None for all at once, stop rule).
ROWS = {
    "decode_simple_event": (lambda: SIMPLE, None, FIRST),
    "decode_complex_event": (
        lambda: 'event: message\nid: msg-123\ndata: {"id":"test","model":"sonar","choices":[{"index":0,'
        '"delta":{"role":"assistant","content":"Hello"}}]}\n\n',
        None,
        FIRST,
    ),
    "decode_multiline_data": (
        lambda: 'data: {"chunk": "line1"}\ndata: {"chunk": "line2"}\ndata: {"chunk": "line3"}\n\n',
        None,
        FIRST,
    ),
    "decode_large_payload": (lambda: LARGE, None, FIRST),
    "decode_multiple_events": (
        lambda: 'data: {"chunk": 1}\n\ndata: {"chunk": 2}\n\ndata: {"chunk": 3}\n\ndata: [DONE]\n\n',
        None,
        DONE,
    ),
    "decode_with_all_fields": (
        lambda: 'event: message\nid: msg-456\nretry: 1000\ndata: {"status": "processing"}\n\n',
        None,
        FIRST,
    ),
    "decode_stream_simulation": (lambda: "".join(f"data: {data}\n\n" for data in SIMULATION), None, DONE),
    "decode_buffered_stream": (lambda: short(2000), None, END),
    "decode_comment_filtering": (
        lambda: ': This is a comment\n: Another comment\ndata: {"actual": "data"}\n\n',
        None,
        FIRST,
    ),
    "large_8k": (lambda: chat(50_000_000), 8 << 10, END),
    "large_64k": (lambda: chat(50_000_000), 64 << 10, END),
    "tiny_17": (lambda: chat(2_000_000), 17, END),
    "tiny_1": (lambda: chat(2_000_000), 1, END),
    "patho_line_256k_by_16": (lambda: line(256 << 10), 16, END),
    "patho_line_1m_by_1k": (lambda: line(1 << 20), 1 << 10, END),
    "patho_chat_1m_whole": (lambda: chat(1 << 20), None, END),
    "patho_short_1m_whole": (lambda: short(1 << 20), None, END),
    "patho_lines_13107": (lambda: ("data: " + "x" * 73 + "\n") * 13_107 + "\n", 8 << 10, END),
}


def httpx_sse(chunks):
    """httpx-sse: the two decoders behind its `EventSource`, without the HTTP response around them."""
    from httpx_sse._decoders import SSEDecoder, SSELineDecoder

    text, lines, decoder = codecs.getincrementaldecoder("utf-8")(errors="replace"), SSELineDecoder(), SSEDecoder()
    for chunk in chunks:
        for one in lines.decode(text.decode(chunk)):
            event = decoder.decode(one)
            if event is not None:
                yield event.data


def perplexityai(chunks):
    """The official Python SDK: the decoder behind its `Stream`."""
    from perplexity._streaming import SSEDecoder

    for event in SSEDecoder().iter_bytes(iter(chunks)):
        yield event.data


IMPLEMENTATIONS = {"httpx-sse": httpx_sse, "perplexityai": perplexityai}


def prepared(row):
    """The chunks and the stop rule of a row."""
    build, length, stop = ROWS[row]
    content = build()
    content = content.encode() if isinstance(content, str) else content
    length = length or len(content)
    return [content[at : at + length] for at in range(0, len(content), length)], stop


def set_up(row, name):
    if row not in ROWS or name not in IMPLEMENTATIONS:
        return None
    decode, (chunks, stop) = IMPLEMENTATIONS[name], prepared(row)

    def decoded():
        for data in decode(chunks):
            yield data
            if stop == FIRST or (stop == DONE and data == "[DONE]"):
                break

    # Python does not know how long a text is in UTF-8, so that this is found before.
    lengths = [len(data.encode()) for data in decoded()]
    events, check = len(lengths), (len(lengths) << 32) + sum(lengths)

    def operation():
        found = 0
        for _ in decoded():
            found += 1
        return check if found == events else 0

    return operation


if __name__ == "__main__":
    resident.serve(set_up)
