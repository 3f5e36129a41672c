// Rows of the suite `json` for the JSON object of Node.js. Payloads are those of the Rust suite; where it has structs,
// JavaScript has plain objects. Documents are bytes on both sides, as a service receives and sends them.

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'

import { expect, serve } from './resident.mjs'

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

const PAYLOADS = { api_response: API, page_response: PAGE }

/** The check value of the suite: the number of values in the root, where an array counts its elements. */
function checked(tree) {
  let check = 0
  for (const key in tree) {
    check += Array.isArray(tree[key]) ? tree[key].length : 1
  }
  return check
}

/** The tree of a row, its document, and the direction. */
function prepared(row) {
  const [, kind, direction] = row.match(/^(twitter|citm|canada)_real_(decode|encode)$/) ?? []
  if (kind) {
    const path = process.env[`BENCH_${kind.toUpperCase()}`]
    const document = path && readFileSync(path)
    return document && [decode(document), document, direction]
  }
  const [, both, name, unmarshal] = row.match(/^(round_trip_)?(api_response|page_response)(_unmarshal)?_sonic$/) ?? []
  const tree = PAYLOADS[name]
  return tree && [tree, encode(tree), both ? 'both' : unmarshal ? 'decode' : 'encode']
}

serve((row, name) => {
  const [tree, document, direction] = (name === 'JSON' && prepared(row)) || []
  if (!tree) {
    return undefined
  }
  expect(isDeepStrictEqual(decode(encode(tree)), tree), 'another value')
  return {
    encode: () => encode(tree).length,
    decode: () => checked(decode(document)),
    both: () => checked(decode(encode(tree))),
  }[direction]
})
