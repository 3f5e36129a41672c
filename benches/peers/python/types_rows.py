"""Rows of the `types` suite for the models of the official Python SDK, timed by pyperf.

    types_rows.py --list
    types_rows.py --row ROW [--impl IMPL] [--millis MS] [pyperf options, such as -o FILE]

Unmarshal rows do what the SDK does with an answer: they parse the text and construct the model. Marshal rows call the
model's `to_json`, without line breaks. Every implementation is checked before it is timed.
"""

import functools
import importlib.metadata
import json
import pathlib
import sys

import rows

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENTS = ROOT / "crates/tightwire-perplexity/tests/data/perplexity-bench-data.json"

# Row, with a place for the direction: (name of the input, name of the output, name of the model).
PAIRS = {
    "usage_info_{}": ("UsageInfo_Unmarshal", "UsageInfo", "UsageInfo"),
    "stream_chunk_{}": ("StreamChunk_Unmarshal", "StreamChunk", "StreamChunk"),
    "chat_message_{}_simple_text": (
        "ChatMessage_Unmarshal_SimpleText",
        "ChatMessage_SimpleText",
        "ChatMessageOutput",
    ),
    "chat_message_{}_structured_content": (
        "ChatMessage_Unmarshal_StructuredContent",
        "ChatMessage_StructuredContent",
        "ChatMessageOutput",
    ),
    "tool_call_{}": ("ToolCall_Unmarshal", "ToolCall", "ToolCall"),
    "reasoning_step_{}": ("ReasoningStep_Unmarshal", "ReasoningStep", "ReasoningStep"),
    "search_response_{}": ("SearchResponse_Unmarshal", "SearchResponse", "SearchCreateResponse"),
    "complex_response_{}": ("ComplexResponse_Unmarshal", "ComplexResponse", "StreamChunk"),
}

# Row: (whether it encodes, name of its text, name of the model).
ROWS = {
    row.format(direction): (encodes, texts[0 if direction == "unmarshal" else 1], texts[2])
    for row, texts in PAIRS.items()
    for direction, encodes in (("marshal", True), ("unmarshal", False))
}


def load_text(row):
    """The text that an unmarshal row decodes, or a marshal row encodes."""
    encodes, name, _ = ROWS[row]
    form = "marshal_expected_output" if encodes else "unmarshal_inputs_exact_text"
    return json.loads(DOCUMENTS.read_text())[form][name]


def model(row):
    """The class of a row's values. Calls and steps have no public name in the SDK."""
    from perplexity import types
    from perplexity.types.shared import chat_message_output

    name = ROWS[row][2]
    return getattr(types, name, None) or getattr(chat_message_output, name)


def operation(row):
    """The function to time, without arguments."""
    from perplexity._models import construct_type

    text, of, loads = load_text(row), model(row), json.loads

    def decode():
        return construct_type(type_=of, value=loads(text))

    return functools.partial(decode().to_json, indent=None) if ROWS[row][0] else decode


def check(row, name, function):
    """Ends the program unless what the operation gives has all of the text."""
    found = function()
    if not ROWS[row][0]:
        if not isinstance(found, model(row)):
            sys.exit(f"types/{row}/{name}: made a {type(found).__name__}")
        found = found.to_json(indent=None)
    if json.loads(found) != json.loads(load_text(row)):
        sys.exit(f"types/{row}/{name}: {found} is not the document")


def bench(runner, row, name):
    function = operation(row)
    if runner.args.worker:
        check(row, name, function)
    rows.measure(runner, f"types/{row}/{name}", function, version=importlib.metadata.version(name))


IMPLEMENTATIONS = ["perplexityai"]


if __name__ == "__main__":
    rows.run("types", ROWS, IMPLEMENTATIONS, bench)
