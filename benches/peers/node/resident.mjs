// Answers the requests of the suites: one line on standard input, one on standard output, see benches/README.md.

import { createInterface } from 'node:readline'

/**
 * Answers requests until the end of input. `setUp(row, implementation)` returns a function that does the operation once
 * and returns its check value, or nothing if there is no such row. It is called once for each.
 */
export function serve(setUp) {
  const ready = new Map()
  const answer = (line) => {
    const [request, row, name, count] = line.split('\t')
    const key = `${row}\t${name}`
    if (!ready.has(key)) {
      ready.set(key, setUp(row, name))
    }
    const operation = ready.get(key)
    // Node.js does not count allocations.
    return operation && request === 'run' ? run(operation, Number(count)) : 'none'
  }
  createInterface({ input: process.stdin }).on('line', (line) => {
    let text
    try {
      text = answer(line)
    } catch (error) {
      text = `error\t${String(error).replace(/\s+/g, ' ')}`
    }
    process.stdout.write(`${text}\n`)
  })
}

function run(operation, count) {
  let check = 0
  const start = process.hrtime.bigint()
  for (let index = 0; index < count; index += 1) {
    check = operation()
  }
  return `ok\t${process.hrtime.bigint() - start}\t${check}`
}

/** Fails unless a result is right. */
export function expect(isRight, message) {
  if (!isRight) {
    throw new Error(message)
  }
}
