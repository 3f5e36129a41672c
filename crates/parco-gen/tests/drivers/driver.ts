// Decodes the messages of standard input with generated modules, and prints their values.

import { readFileSync } from "node:fs";

import { ParcoError } from "./parco.ts";

/** Returns what the test expects: lists of fields, and scalars as strings. Numbers may be integers or floats. */
function dump(value: unknown): unknown {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "bigint") return { int: value.toString() };
  if (typeof value === "number") {
    if (Number.isNaN(value)) return { float: "nan" };
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return { float: bytes.toString("hex") };
  }
  if (value instanceof Uint8Array) return { hex: Buffer.from(value).toString("hex") };
  if (Array.isArray(value)) return value.map(dump);
  if (value instanceof Map) return { map: [...value].map(dump) };
  const members = Object.entries(value as object);
  if (members.length === 1 && members[0][0] === "some") return { some: dump(members[0][1]) };
  return members.filter(([name]) => name !== "kind").map(([, part]) => dump(part));
}

// By a path that the compiler does not follow.
const { encodeTree } = await import("./types_tree.ts" as string);
let deep: object = { value: 0, children: [] };
for (let level = 0; level < 64; level++) deep = { value: 0, children: [deep] };
try {
  encodeTree(deep);
  throw new Error("65 levels were encoded, which no reader accepts");
} catch (error) {
  if (!(error instanceof ParcoError && error.kind === "limit")) throw error;
}

for (const line of readFileSync(0, "utf8").split("\n")) {
  if (line === "") continue;
  const [name, digits] = line.split(" ");
  const module = await import(`./types_${name.toLowerCase()}.ts`);
  try {
    const value = module[`decode${name}`](new Uint8Array(Buffer.from(digits, "hex")));
    const again = Buffer.from(module[`encode${name}`](value)).toString("hex");
    console.log(JSON.stringify({ value: dump(value), hex: again }));
  } catch (error) {
    if (!(error instanceof ParcoError)) throw error;
    console.log(JSON.stringify({ error: error.kind }));
  }
}
