// Reference for tests/it/canonical.rs: writes numbers and documents as ECMAScript does.
//
// `canonical.js numbers` reads doubles as 16 hexadecimal digits each and writes one number per line.
// `canonical.js documents` reads one document per line and writes each with sorted keys.
'use strict';

const fs = require('fs');

function canonical(value) {
  if (Array.isArray(value)) {
    return '[' + value.map(canonical).join(',') + ']';
  }
  if (value !== null && typeof value === 'object') {
    // `sort` compares by UTF-16 code units.
    const entries = Object.keys(value).sort().map((key) => JSON.stringify(key) + ':' + canonical(value[key]));
    return '{' + entries.join(',') + '}';
  }
  return JSON.stringify(value);
}

const input = fs.readFileSync(0, 'utf8');
const lines = [];
if (process.argv[2] === 'numbers') {
  const bytes = Buffer.from(input, 'hex');
  for (let at = 0; at < bytes.length; at += 8) {
    lines.push(String(bytes.readDoubleBE(at)));
  }
} else {
  for (const line of input.split('\n').slice(0, -1)) {
    lines.push(canonical(JSON.parse(line)));
  }
}
fs.writeFileSync(1, lines.map((line) => line + '\n').join(''));
