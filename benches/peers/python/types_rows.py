"""Rows of the suite `types` for the models of the official Python SDK.

Unmarshal rows do what the SDK does with an answer: they parse the text and construct the model. Marshal rows call the
model's `to_json`, without line breaks.
"""

import json
import pathlib

import resident

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


def set_up(row, name):
    if row not in ROWS or name != "perplexityai":
        return None
    from perplexity._models import construct_type

    text, of, loads = load_text(row), model(row), json.loads
    value = construct_type(type_=of, value=loads(text))
    resident.expect(isinstance(value, of), f"made a {type(value).__name__}")
    found = value.to_json(indent=None)
    resident.expect(loads(found) == loads(text), f"{found} is not the document")
    check = len(text.encode())
    if ROWS[row][0]:
        # Ours writes two costs as 0.0.
        length, check = len(found), check + 4 * (row == "stream_chunk_marshal")
        return lambda: check if len(value.to_json(indent=None)) == length else 0

    def decode():
        construct_type(type_=of, value=loads(text))
        return check

    return decode


if __name__ == "__main__":
    resident.serve(set_up)
