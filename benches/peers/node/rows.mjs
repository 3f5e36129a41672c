// What the peers written for Node.js share: the command line and the measuring.

import { parseArgs } from 'node:util'

/** The options `--list`, `--row R`, `--impl I` and `--millis N`. */
export function options() {
  return parseArgs({
    options: {
      list: { type: 'boolean' },
      row: { type: 'string' },
      impl: { type: 'string' },
      millis: { type: 'string', default: '300' },
    },
  }).values
}

// What keeps the calls from being left out.
export let sink

/** The median time of one call of `operation` in nanoseconds, over about `millis` milliseconds. */
export function measure(operation, millis) {
  const time = (count) => {
    const start = process.hrtime.bigint()
    for (let index = 0; index < count; index += 1) {
      sink = operation()
    }
    return Number(process.hrtime.bigint() - start)
  }
  // The optimising compiler needs a few thousand calls of a short operation.
  const warmUp = process.hrtime.bigint()
  let calls = 0
  while (calls === 0 || Number(process.hrtime.bigint() - warmUp) < millis * 3e5) {
    sink = operation()
    calls += 1
  }
  const once = Number(process.hrtime.bigint() - warmUp) / calls
  const samples = Math.max(1, Math.min(10, Math.floor((millis * 1e6) / once)))
  const count = Math.max(1, Math.round((millis * 1e6) / once / samples))
  const times = Array.from({ length: samples }, () => time(count) / count).sort((a, b) => a - b)
  return times[Math.floor(times.length / 2)]
}
