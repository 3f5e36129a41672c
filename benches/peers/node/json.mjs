// Rows of the `json` suite for the JSON object of Node.js.
//
//   json.mjs --list
//   json.mjs --row ROW [--impl IMPL] [--millis MS]
//
// Prints one line of JSON per implementation. Payloads are those of the Rust suite; where it has structs, JavaScript
// has plain objects. Documents are bytes on both sides, as a service receives and sends them.

import { isDeepStrictEqual } from 'node:util'

import { measure, options } from './rows.mjs'

const TIME = 1703001234567

const API = {
  code: 0,
  http_code: 200,
  message: 'success',
  data: {
    count: 42,
    email: 'test@example.com',
    id: 12345,
    name: 'Test User',
    score: 95.5,
    settings: { notifications: true, theme_dark: false },
    status: 'active',
    tags: ['admin', 'developer', 'reviewer'],
  },
  request_id: 'req-12345678-abcd-1234-efgh-123456789abc',
  timestamp: TIME,
}

const PAGE = {
  code: 0,
  message: 'success',
  data: {
    list: Array.from({ length: 20 }, (_, i) => {
      const username = `user${String.fromCharCode(65 + i)}`
      return {
        id: 10000 + i,
        username,
        email: `${username}@example.com`,
        role: 'user',
        active: i % 2 === 0,
        created_at: TIME + 1000 * i,
        updated_at: TIME + 2000 * i,
        metadata: {
          last_login: TIME + 3000 * i,
          login_count: 100 + 10 * i,
          permissions: ['read', 'write'],
          department: 'Engineering',
          preferred_lang: 'en',
        },
      }
    }),
    total_pages: 10,
  },
  total: 200,
  page: 1,
  page_size: 20,
}

const encode = (value) => Buffer.from(JSON.stringify(value))
const decode = (document) => JSON.parse(document.toString())

// Row: payload, length of its document, the operation, its argument.
const ROWS = {
  api_response_sonic: [API, 329, encode, API],
  page_response_sonic: [PAGE, 5711, encode, PAGE],
  api_response_unmarshal_sonic: [API, 329, decode, encode(API)],
  page_response_unmarshal_sonic: [PAGE, 5711, decode, encode(PAGE)],
  round_trip_api_response_sonic: [API, 329, (value) => decode(encode(value)), API],
  round_trip_page_response_sonic: [PAGE, 5711, (value) => decode(encode(value)), PAGE],
}

const NAME = 'JSON'

const given = options()

if (given.list) {
  for (const row of Object.keys(ROWS)) {
    console.log(`json/${row}/${NAME}`)
  }
} else {
  if (!Object.hasOwn(ROWS, given.row ?? '')) {
    throw new Error(`unknown row ${given.row}`)
  }
  if (given.impl !== undefined && given.impl !== NAME) {
    throw new Error(`unknown implementation ${given.impl}`)
  }
  const [payload, length, operation, argument] = ROWS[given.row]
  const document = encode(payload)
  if (document.length !== length || !isDeepStrictEqual(decode(document), payload)) {
    throw new Error(`json/${given.row}/${NAME}: wrote ${document.length} bytes, expected ${length}`)
  }
  const line = {
    key: `json/${given.row}`,
    implementation: NAME,
    version: process.versions.node,
    time_ns: measure(() => operation(argument), Number(given.millis)),
    bytes_op: null,
    allocs_op: null,
    payload_bytes: length,
  }
  console.log(JSON.stringify(line))
}
