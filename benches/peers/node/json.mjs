// Rows of the suite `json` for the JSON object of Node.js. Where the Rust suite has structs, JavaScript has plain objects.
// Documents are bytes on both sides, as a service receives and sends them.

import { existsSync, readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'

import { expect, serve } from './resident.mjs'

const encode = (value) => Buffer.from(JSON.stringify(value))
const decode = (document) => JSON.parse(document.toString())

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
  const [, both, name, unmarshal, end] =
    row.match(/^(round_trip_)?(\w+?)(_unmarshal)?_(sonic|encode|decode)$/) ?? []
  const path = `${process.env.BENCH_DOCUMENTS}/${name}.json`
  if (!existsSync(path)) {
    return undefined
  }
  const document = readFileSync(path)
  const direction = both ? 'both' : unmarshal ? 'decode' : end === 'sonic' ? 'encode' : end
  return [decode(document), document, direction]
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
