// Rows of the suite `sse` for decoders written in JavaScript. Inputs and stop rules are those of the Rust suite, byte for
// byte.

import { createParser } from 'eventsource-parser'

import { serve } from './resident.mjs'

const TOKENS = [
  ' the', ' quick', ' brown', ' fox', ' jumps', ' over', ' a', ' lazy', ' dog', '.', ',', ' Rust', ' stream',
  ' of', ' tokens', ' that', ' arrive', ' one', ' at', ' time', ' café', ' naïve', '\\n\\n', ' —',
]

const SIMULATION = [
  '{"id":"1","choices":[{"delta":{"role":"assistant"}}]}',
  '{"id":"1","choices":[{"delta":{"content":"Hello"}}]}',
  '{"id":"1","choices":[{"delta":{"content":" world"}}]}',
  '{"id":"1","choices":[{"delta":{"content":"!"}}]}',
  '{"id":"1","choices":[{"finish_reason":"stop"}],"usage":{"total_tokens":10}}',
  '[DONE]',
]

const SIMPLE = 'data: {"test": "value"}\n\n'

const LARGE =
  'data: {"id":"test-123","model":"sonar-pro","choices":[{"index":0,"delta":{"role":"assistant","content":"' +
  'This is a long response with lots of text. '.repeat(187).slice(0, 8008) +
  '"}}],"usage":{"completion_tokens":500,"prompt_tokens":100,"total_tokens":600}}\n\n'

/** A stream as a chat model sends it, at least `length` bytes long before the end marker. */
function chat(length) {
  const events = TOKENS.map((token) =>
    Buffer.from(
      'data: {"id":"chatcmpl-5d2a9c70e4b14f6c","object":"chat.completion.chunk","created":1763424000,' +
        '"model":"sonar-pro","choices":[{"index":0,"delta":{"role":"assistant","content":"' +
        token +
        '"},"finish_reason":null}]}\n\n',
    ),
  )
  const parts = []
  for (let total = 0; total < length; total += parts.at(-1).length) {
    parts.push(events[parts.length % events.length])
  }
  parts.push(Buffer.from('data: [DONE]\n\n'))
  return Buffer.concat(parts)
}

/** At least `length` bytes of 20-byte events. */
function short(length) {
  const hundred = Array.from({ length: 100 }, (_, index) => `data: {"chunk": ${index % 10}}\n\n`).join('')
  return hundred.repeat(Math.ceil(length / 2000))
}

/** One data line of `length` characters. */
const line = (length) => `data: ${'a'.repeat(length)}\n\n`

// When a row ends: after one event, after the event whose data is "[DONE]", or at the end of input.
const [FIRST, DONE, END] = [0, 1, 2]

// Row: function that builds the input, bytes per chunk or 0 for all at once, stop rule.
const ROWS = {
  decode_simple_event: [() => SIMPLE, 0, FIRST],
  decode_complex_event: [
    () =>
      'event: message\nid: msg-123\ndata: {"id":"test","model":"sonar","choices":[{"index":0,' +
      '"delta":{"role":"assistant","content":"Hello"}}]}\n\n',
    0,
    FIRST,
  ],
  decode_multiline_data: [
    () => 'data: {"chunk": "line1"}\ndata: {"chunk": "line2"}\ndata: {"chunk": "line3"}\n\n',
    0,
    FIRST,
  ],
  decode_large_payload: [() => LARGE, 0, FIRST],
  decode_multiple_events: [
    () => 'data: {"chunk": 1}\n\ndata: {"chunk": 2}\n\ndata: {"chunk": 3}\n\ndata: [DONE]\n\n',
    0,
    DONE,
  ],
  decode_with_all_fields: [
    () => 'event: message\nid: msg-456\nretry: 1000\ndata: {"status": "processing"}\n\n',
    0,
    FIRST,
  ],
  decode_stream_simulation: [() => SIMULATION.map((data) => `data: ${data}\n\n`).join(''), 0, DONE],
  decode_buffered_stream: [() => short(2000), 0, END],
  decode_comment_filtering: [
    () => ': This is a comment\n: Another comment\ndata: {"actual": "data"}\n\n',
    0,
    FIRST,
  ],
  large_8k: [() => chat(50_000_000), 8 << 10, END],
  large_64k: [() => chat(50_000_000), 64 << 10, END],
  tiny_17: [() => chat(2_000_000), 17, END],
  tiny_1: [() => chat(2_000_000), 1, END],
  patho_line_256k_by_16: [() => line(256 << 10), 16, END],
  patho_line_1m_by_1k: [() => line(1 << 20), 1 << 10, END],
  patho_chat_1m_whole: [() => chat(1 << 20), 0, END],
  patho_short_1m_whole: [() => short(1 << 20), 0, END],
  patho_lines_13107: [() => `data: ${'x'.repeat(73)}\n`.repeat(13_107) + '\n', 8 << 10, END],
}

/** eventsource-parser takes text, so that a streaming TextDecoder stands before it, as in its documentation. */
function eventsourceParser(chunks, onData) {
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: (event) => onData(event.data) })
  for (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }))
  }
}

serve((row, name) => {
  if (name !== 'eventsource-parser' || !Object.hasOwn(ROWS, row)) {
    return undefined
  }
  const [build, length, stop] = ROWS[row]
  const content = Buffer.from(build())
  const size = length || content.length
  const chunks = []
  for (let at = 0; at < content.length; at += size) {
    chunks.push(content.subarray(at, at + size))
  }
  // Decodes the row. JavaScript does not know how long a text is in UTF-8, so that this is found before.
  const decoded = (lengthOf) => {
    let [events, total, ended] = [0, 0, false]
    eventsourceParser(chunks, (data) => {
      if (!ended) {
        events += 1
        total += lengthOf(data)
        ended = stop === FIRST || (stop === DONE && data === '[DONE]')
      }
    })
    return [events, total]
  }
  const [events, bytes] = decoded((data) => Buffer.byteLength(data))
  const [, units] = decoded((data) => data.length)
  const check = events * 2 ** 32 + bytes
  return () => {
    const [found, total] = decoded((data) => data.length)
    return found === events && total === units ? check : 0
  }
})
