// Rows of the `sse` suite for decoders written in JavaScript.
//
//     node sse.mjs --list
//     node sse.mjs --row ROW [--impl IMPL] [--millis MS]
//
// Prints one JSON object per row and implementation. Inputs and stop rules are those of the Rust suite, byte for byte;
// every implementation is checked before it is timed.

import { readFileSync } from 'node:fs'

import { createParser } from 'eventsource-parser'

import { measure, options } from './rows.mjs'

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
  'This is a long response with lots of text. '.repeat(100) +
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

// Events that hold only chat or short data: their number and size follow from the input.
const DERIVED = undefined

// Row: function that builds the input, bytes per chunk or 0 for all at once, stop rule, [events, bytes of data].
const ROWS = {
  decode_simple_event: [() => SIMPLE, 0, FIRST, [1, 17]],
  decode_complex_event: [
    () =>
      'event: message\nid: msg-123\ndata: {"id":"test","model":"sonar","choices":[{"index":0,' +
      '"delta":{"role":"assistant","content":"Hello"}}]}\n\n',
    0,
    FIRST,
    [1, 100],
  ],
  decode_multiline_data: [
    () => 'data: {"chunk": "line1"}\ndata: {"chunk": "line2"}\ndata: {"chunk": "line3"}\n\n',
    0,
    FIRST,
    [1, 56],
  ],
  decode_large_payload: [() => LARGE, 0, FIRST, [1, 4476]],
  decode_multiple_events: [
    () => 'data: {"chunk": 1}\n\ndata: {"chunk": 2}\n\ndata: {"chunk": 3}\n\ndata: [DONE]\n\n',
    0,
    DONE,
    [4, 42],
  ],
  decode_with_all_fields: [
    () => 'event: message\nid: msg-456\nretry: 1000\ndata: {"status": "processing"}\n\n',
    0,
    FIRST,
    [1, 24],
  ],
  decode_stream_simulation: [() => SIMULATION.map((data) => `data: ${data}\n\n`).join(''), 0, DONE, [6, 287]],
  decode_allocations: [() => SIMPLE, 0, FIRST, [1, 17]],
  decode_buffered_stream: [() => short(2000), 0, END, DERIVED],
  decode_comment_filtering: [
    () => ': This is a comment\n: Another comment\ndata: {"actual": "data"}\n\n',
    0,
    FIRST,
    [1, 18],
  ],
  large_8k: [() => chat(50_000_000), 8 << 10, END, DERIVED],
  large_64k: [() => chat(50_000_000), 64 << 10, END, DERIVED],
  tiny_17: [() => chat(2_000_000), 17, END, DERIVED],
  tiny_1: [() => chat(2_000_000), 1, END, DERIVED],
  patho_line_256k_by_16: [() => line(256 << 10), 16, END, [1, 256 << 10]],
  patho_line_1m_by_1k: [() => line(1 << 20), 1 << 10, END, [1, 1 << 20]],
  patho_chat_1m_whole: [() => chat(1 << 20), 0, END, DERIVED],
  patho_short_1m_whole: [() => short(1 << 20), 0, END, DERIVED],
  patho_lines_13107: [() => `data: ${'x'.repeat(73)}\n`.repeat(13_107) + '\n', 8 << 10, END, [1, 13_107 * 74 - 1]],
}

/** eventsource-parser takes text, so that a streaming TextDecoder stands before it, as in its documentation. */
function eventsourceParser(chunks, onData) {
  const decoder = new TextDecoder()
  const parser = createParser({ onEvent: (event) => onData(event.data) })
  for (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }))
  }
}

const IMPLEMENTATIONS = {
  'eventsource-parser': { decode: eventsourceParser, version: versionOf('eventsource-parser') },
}

/** The version that is installed. */
function versionOf(name) {
  const file = new URL(`./node_modules/${name}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}

/** The chunks and the stop rule of a row, and what decoding it has to give. */
function prepared(row) {
  const [build, length, stop, known] = ROWS[row]
  const content = Buffer.from(build())
  const size = length || content.length
  const chunks = []
  for (let at = 0; at < content.length; at += size) {
    chunks.push(content.subarray(at, at + size))
  }
  let expected = known
  if (!expected) {
    let events = 0
    for (let at = content.indexOf('\n\n'); at !== -1; at = content.indexOf('\n\n', at + 2)) {
      events += 1
    }
    expected = [events, content.length - 8 * events]
  }
  return { chunks, stop, expected, payload: content.length }
}

/** Decodes a row once; gives the check value of the suite: events * 2^32 + bytes of their data. */
function check({ decode }, { chunks, stop }) {
  let [events, bytes, ended] = [0, 0, false]
  decode(chunks, (data) => {
    if (ended) {
      return
    }
    events += 1
    bytes += Buffer.byteLength(data)
    ended = stop === FIRST || (stop === DONE && data === '[DONE]')
  })
  return events * 2 ** 32 + bytes
}

let sink = 0

/** The timed operation. */
function operation({ decode }, { chunks, stop }) {
  decode(chunks, (data) => {
    sink += stop === DONE && data === '[DONE]' ? 1 : data.length
  })
}

const given = options()

if (given.list) {
  for (const row of Object.keys(ROWS)) {
    for (const name of Object.keys(IMPLEMENTATIONS)) {
      console.log(`sse/${row}/${name}`)
    }
  }
} else {
  if (!Object.hasOwn(ROWS, given.row ?? '')) {
    throw new Error(`unknown row ${given.row}`)
  }
  const input = prepared(given.row)
  const expected = input.expected[0] * 2 ** 32 + input.expected[1]
  for (const name of given.impl ? [given.impl] : Object.keys(IMPLEMENTATIONS)) {
    const implementation = IMPLEMENTATIONS[name]
    const found = check(implementation, input)
    if (found !== expected) {
      throw new Error(`sse/${given.row}/${name}: check value ${found}, expected ${expected}`)
    }
    const line = {
      key: `sse/${given.row}`,
      implementation: name,
      version: implementation.version,
      time_ns: measure(() => operation(implementation, input), Number(given.millis)),
      bytes_op: null,
      allocs_op: null,
      payload_bytes: input.payload,
      check: found,
    }
    console.log(JSON.stringify(line))
  }
}
