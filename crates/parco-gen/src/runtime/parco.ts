/** Reads and writes messages in the format of parco. Generated modules use it; it has no dependencies. */

const MAX_LENGTH = 2 ** 32;
const MAX_EMPTY = 4096;
const MAX_DEPTH = 64;

/** `end` is a truncated input, `trailing` are bytes after the message, `value` is anything that has no kind of its own. */
export type ErrorKind = "end" | "trailing" | "flag" | "text" | "range" | "id" | "limit" | "value";

/** A message or value that is invalid. */
export class ParcoError extends Error {
  readonly kind: ErrorKind;
  readonly offset: number | undefined;

  constructor(kind: ErrorKind, offset?: number) {
    super(offset === undefined ? kind : `${kind} at byte ${offset}`);
    this.kind = kind;
    this.offset = offset;
  }
}

/** A present option whose value can be null. */
export interface Some<T> {
  some: T;
}

/** Nanoseconds since 1970, and the name of a time zone. */
export interface ZonedTime {
  unixNanos: bigint;
  zone: string;
}

/** Decodes a message that ends with the data. */
export function decode<T>(data: Uint8Array, read: (r: Reader) => T): T {
  const reader = new Reader(data);
  const value = read(reader);
  if (!reader.atEnd()) throw reader.error("trailing");
  return value;
}

/** Encodes a message. */
export function encode<T>(value: T, write: (w: Writer, value: T) => void): Uint8Array {
  const writer = new Writer();
  write(writer, value);
  return writer.bytes();
}

/** Limits the nesting of a type that can contain itself. */
export function nested<C extends Reader | Writer, A extends unknown[], T>(
  visit: (coder: C, ...rest: A) => T,
): (coder: C, ...rest: A) => T {
  return (coder, ...rest) => {
    coder.depth += 1;
    if (coder.depth > MAX_DEPTH) throw coder.error("limit");
    const value = visit(coder, ...rest);
    coder.depth -= 1;
    return value;
  };
}

/** A position in a message, or in an evolve struct. */
export class Reader {
  private at = 0;
  private readonly data: Uint8Array;
  private readonly view: DataView;
  depth: number;
  private readonly isSized: boolean;

  constructor(data: Uint8Array, depth = 0, isSized = false) {
    this.data = data;
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    this.depth = depth;
    this.isSized = isSized;
  }

  error(kind: ErrorKind): ParcoError {
    return new ParcoError(kind, this.at);
  }

  atEnd(): boolean {
    return this.at === this.data.length;
  }

  private need(count: number): void {
    if (count > this.data.length - this.at) throw this.error(this.isSized ? "value" : "end");
  }

  /** Moves behind this number of bytes, and returns where they start. */
  private advance(count: number): number {
    this.need(count);
    this.at += count;
    return this.at - count;
  }

  take(count: number): Uint8Array {
    const start = this.advance(count);
    return this.data.slice(start, this.at);
  }

  skip(count: number): null {
    this.advance(count);
    return null;
  }

  boolean(): boolean {
    const flag = this.u8();
    if (flag > 1) throw this.error("flag");
    return flag === 1;
  }

  u8 = (): number => this.view.getUint8(this.advance(1));
  i8 = (): number => this.view.getInt8(this.advance(1));
  u16le = (): number => this.view.getUint16(this.advance(2), true);
  u16be = (): number => this.view.getUint16(this.advance(2));
  i16le = (): number => this.view.getInt16(this.advance(2), true);
  i16be = (): number => this.view.getInt16(this.advance(2));
  u32le = (): number => this.view.getUint32(this.advance(4), true);
  u32be = (): number => this.view.getUint32(this.advance(4));
  i32le = (): number => this.view.getInt32(this.advance(4), true);
  i32be = (): number => this.view.getInt32(this.advance(4));
  u64le = (): bigint => this.view.getBigUint64(this.advance(8), true);
  u64be = (): bigint => this.view.getBigUint64(this.advance(8));
  u63le = (): bigint => this.u63(this.u64le());
  u63be = (): bigint => this.u63(this.u64be());
  i64le = (): bigint => this.view.getBigInt64(this.advance(8), true);
  i64be = (): bigint => this.view.getBigInt64(this.advance(8));
  f32le = (): number => this.view.getFloat32(this.advance(4), true);
  f32be = (): number => this.view.getFloat32(this.advance(4));
  f64le = (): number => this.view.getFloat64(this.advance(8), true);
  f64be = (): number => this.view.getFloat64(this.advance(8));

  private u63(value: bigint): bigint {
    if (value >> 63n) throw this.error("range");
    return value;
  }

  u128le(): bigint {
    const low = this.u64le();
    return (this.u64le() << 64n) | low;
  }

  u128be(): bigint {
    const high = this.u64be();
    return (high << 64n) | this.u64be();
  }

  i128le(): bigint {
    return BigInt.asIntN(128, this.u128le());
  }

  i128be(): bigint {
    return BigInt.asIntN(128, this.u128be());
  }

  varint(): bigint {
    let value = 0n;
    for (let index = 0; index < 10; index++) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << BigInt(7 * index);
      if (byte < 0x80) {
        if (value >> 64n) break;
        if (index > 0 && byte === 0) throw this.error("value");
        return value;
      }
    }
    throw this.error("range");
  }

  char(number: number): string {
    if (number > 0x10ffff || (number >= 0xd800 && number < 0xe000)) throw this.error("value");
    return String.fromCodePoint(number);
  }

  private length(length: number | bigint): number {
    if (length < 0) throw this.error("range");
    if (length > MAX_LENGTH) throw this.error("limit");
    return Number(length);
  }

  private count(length: number | bigint, minSize: number): number {
    const count = this.length(length);
    if (minSize === 0 && count > MAX_EMPTY) throw this.error("limit");
    this.need(count * minSize);
    return count;
  }

  blob(length: number | bigint = this.varint()): Uint8Array {
    return this.take(this.length(length));
  }

  string(length: number | bigint = this.varint()): string {
    const bytes = this.blob(length);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw this.error("text");
    }
  }

  slice<T>(minSize: number, read: () => T, count: number | bigint = this.varint()): T[] {
    return this.list(this.count(count, minSize), read);
  }

  array<T>(count: number, minSize: number, read: () => T): T[] {
    this.need(count * minSize);
    return this.list(count, read);
  }

  private list<T>(count: number, read: () => T): T[] {
    const values: T[] = [];
    for (let index = 0; index < count; index++) values.push(read());
    return values;
  }

  /** Compares keys by their bytes. The last value of a key wins. */
  entries<K, V>(
    minSize: number,
    key: () => K,
    value: () => V,
    count: number | bigint = this.varint(),
  ): [K, V][] {
    const entries = new Map<string, [K, V]>();
    for (let left = this.count(count, minSize); left > 0; left--) {
      const start = this.at;
      const aKey = key();
      entries.set(this.data.subarray(start, this.at).join(), [aKey, value()]);
    }
    return [...entries.values()];
  }

  map<K, V>(
    minSize: number,
    key: () => K,
    value: () => V,
    count: number | bigint = this.varint(),
  ): Map<K, V> {
    return new Map(this.entries(minSize, key, value, count));
  }

  option<T>(read: () => T): T | null {
    return this.boolean() ? read() : null;
  }

  some<T>(read: () => T): Some<T> | null {
    return this.boolean() ? { some: read() } : null;
  }

  zoned(): ZonedTime {
    return { unixNanos: this.i64le(), zone: this.option(() => this.string(this.u8())) || "UTC" };
  }

  /** Returns a reader of an evolve struct, and moves behind it. */
  sized(): Reader {
    return new Reader(this.take(Number(this.varint())), this.depth, true);
  }
}

/** Writes a length. */
export type Header = (length: number) => void;

/** A message, or the fields of an evolve struct. */
export class Writer {
  private data = new Uint8Array(64);
  private view = new DataView(this.data.buffer);
  private at = 0;
  private hasEnded = false;
  depth = 0;

  error(kind: ErrorKind): ParcoError {
    return new ParcoError(kind);
  }

  bytes(): Uint8Array {
    return this.data.slice(0, this.at);
  }

  /** Makes room for this number of bytes, and returns where they start. */
  private advance(count: number): number {
    const start = this.at;
    this.at += count;
    if (this.at > this.data.length) {
      const data = new Uint8Array(Math.max(2 * this.data.length, this.at));
      data.set(this.data);
      this.data = data;
      this.view = new DataView(data.buffer);
    }
    return start;
  }

  private raw(value: Uint8Array): void {
    const start = this.advance(value.length);
    this.data.set(value, start);
  }

  private int(value: number, min: number, max: number): number {
    if (!Number.isInteger(value) || value < min || value > max) throw new ParcoError("range");
    return value;
  }

  private big(value: bigint, bits: number, isSigned: boolean): bigint {
    if (value !== (isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value))) {
      throw new ParcoError("range");
    }
    return value;
  }

  octets(value: Uint8Array, count: number): void {
    if (value.length !== count) throw new ParcoError("range");
    this.raw(value);
  }

  skip(count: number): void {
    this.raw(new Uint8Array(count));
  }

  boolean(value: boolean): void {
    this.u8(value ? 1 : 0);
  }

  u8(value: number): void {
    this.int(value, 0, 0xff);
    const start = this.advance(1);
    this.view.setUint8(start, value);
  }

  i8(value: number): void {
    this.int(value, -0x80, 0x7f);
    const start = this.advance(1);
    this.view.setInt8(start, value);
  }

  u16le(value: number, littleEndian = true): void {
    this.int(value, 0, 0xffff);
    const start = this.advance(2);
    this.view.setUint16(start, value, littleEndian);
  }

  u16be(value: number): void {
    this.u16le(value, false);
  }

  i16le(value: number, littleEndian = true): void {
    this.int(value, -0x8000, 0x7fff);
    const start = this.advance(2);
    this.view.setInt16(start, value, littleEndian);
  }

  i16be(value: number): void {
    this.i16le(value, false);
  }

  u32le(value: number, littleEndian = true): void {
    this.int(value, 0, 0xffff_ffff);
    const start = this.advance(4);
    this.view.setUint32(start, value, littleEndian);
  }

  u32be(value: number): void {
    this.u32le(value, false);
  }

  i32le(value: number, littleEndian = true): void {
    this.int(value, -0x8000_0000, 0x7fff_ffff);
    const start = this.advance(4);
    this.view.setInt32(start, value, littleEndian);
  }

  i32be(value: number): void {
    this.i32le(value, false);
  }

  u64le(value: bigint, littleEndian = true): void {
    this.big(value, 64, false);
    const start = this.advance(8);
    this.view.setBigUint64(start, value, littleEndian);
  }

  u64be(value: bigint): void {
    this.u64le(value, false);
  }

  u63le(value: bigint): void {
    this.u64le(this.big(value, 63, false));
  }

  u63be(value: bigint): void {
    this.u64be(this.big(value, 63, false));
  }

  i64le(value: bigint, littleEndian = true): void {
    this.big(value, 64, true);
    const start = this.advance(8);
    this.view.setBigInt64(start, value, littleEndian);
  }

  i64be(value: bigint): void {
    this.i64le(value, false);
  }

  f32le(value: number, littleEndian = true): void {
    const start = this.advance(4);
    this.view.setFloat32(start, value, littleEndian);
  }

  f32be(value: number): void {
    this.f32le(value, false);
  }

  f64le(value: number, littleEndian = true): void {
    const start = this.advance(8);
    this.view.setFloat64(start, value, littleEndian);
  }

  f64be(value: number): void {
    this.f64le(value, false);
  }

  u128le(value: bigint): void {
    this.big(value, 128, false);
    this.u64le(BigInt.asUintN(64, value));
    this.u64le(value >> 64n);
  }

  u128be(value: bigint): void {
    this.big(value, 128, false);
    this.u64be(value >> 64n);
    this.u64be(BigInt.asUintN(64, value));
  }

  i128le(value: bigint): void {
    this.u128le(BigInt.asUintN(128, this.big(value, 128, true)));
  }

  i128be(value: bigint): void {
    this.u128be(BigInt.asUintN(128, this.big(value, 128, true)));
  }

  varint(value: bigint | number): void {
    let rest = this.big(BigInt(value), 64, false);
    for (; rest >= 0x80n; rest >>= 7n) this.u8(Number(rest & 0x7fn) | 0x80);
    this.u8(Number(rest));
  }

  char(value: string): number {
    const number = value.codePointAt(0) ?? 0xd800;
    if (value !== String.fromCodePoint(number) || (number >= 0xd800 && number < 0xe000)) throw new ParcoError("value");
    return number;
  }

  private length(length: number, header: Header): void {
    if (length > MAX_LENGTH) throw new ParcoError("limit");
    header(length);
  }

  blob(value: Uint8Array, header: Header = (length) => this.varint(length)): void {
    this.length(value.length, header);
    this.raw(value);
  }

  string(value: string, header?: Header): void {
    // The pattern matches surrogates that are not part of a pair.
    if (/\p{Surrogate}/u.test(value)) throw new ParcoError("text");
    this.blob(new TextEncoder().encode(value), header);
  }

  slice<T>(values: T[], write: (value: T) => void, header: Header = (count) => this.varint(count)): void {
    this.length(values.length, header);
    const start = this.at;
    for (const value of values) write(value);
    if (values.length > MAX_EMPTY && this.at === start) throw new ParcoError("limit");
  }

  array<T>(values: T[], count: number, write: (value: T) => void): void {
    if (values.length !== count) throw new ParcoError("range");
    for (const value of values) write(value);
  }

  entries<K, V>(entries: [K, V][], key: (key: K) => void, value: (value: V) => void, header?: Header): void {
    const write = ([aKey, aValue]: [K, V]): void => {
      key(aKey);
      value(aValue);
    };
    this.slice(entries, write, header);
  }

  map<K, V>(map: Map<K, V>, key: (key: K) => void, value: (value: V) => void, header?: Header): void {
    this.entries([...map], key, value, header);
  }

  option<T>(value: T | null, write: (value: T) => void): void {
    this.boolean(value !== null);
    if (value !== null) write(value);
  }

  some<T>(value: Some<T> | null, write: (value: T) => void): void {
    this.option(value, (present) => write(present.some));
  }

  zoned(value: ZonedTime): void {
    this.i64le(value.unixNanos);
    this.boolean(true);
    this.string(value.zone, (length) => this.u8(length));
  }

  /** Returns whether an optional field of an evolve struct is written. After an absent field, all are absent. */
  has<T>(value: T | null, isOption = false): value is T {
    if (value === null && !isOption) this.hasEnded = true;
    if (value !== null && this.hasEnded) throw new ParcoError("value");
    return !this.hasEnded;
  }

  /** Writes the fields of an evolve struct after their length. */
  sized(write: (w: Writer) => void): void {
    const fields = new Writer();
    fields.depth = this.depth;
    write(fields);
    this.blob(fields.bytes());
  }
}
