"""Reads and writes messages in the format of parco. Generated modules use it; it needs Python 3.10."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")
Coder = TypeVar("Coder", "Reader", "Writer")

MAX_LENGTH = 1 << 32
MAX_EMPTY = 4096
MAX_DEPTH = 64


class ParcoError(ValueError):
    """A message or value that is invalid.

    `kind` is `end` (the input is truncated), `trailing` (bytes follow the message), `flag`, `text`, `range`, `id`, `limit`, or
    `value` for anything else.
    """

    def __init__(self, kind: str, offset: int | None = None) -> None:
        super().__init__(kind if offset is None else f"{kind} at byte {offset}")
        self.kind = kind
        self.offset = offset


@dataclass(frozen=True)
class Some(Generic[T]):
    """A present option whose value can be None."""

    value: T


@dataclass
class ZonedTime:
    """Nanoseconds since 1970, and the name of a time zone."""

    unix_nanos: int
    zone: str


def decode(data: bytes, read: Callable[[Reader], T]) -> T:
    """Decodes a message that ends with the data."""
    reader = Reader(data)
    try:
        value = read(reader)
    except RecursionError:
        raise reader.error("limit") from None
    if not reader.at_end():
        raise reader.error("trailing")
    return value


def encode(value: T, write: Callable[[Writer, T], None]) -> bytes:
    """Encodes a message."""
    writer = Writer()
    write(writer, value)
    return bytes(writer.data)


def nested(visit: Callable[Concatenate[Coder, P], T]) -> Callable[Concatenate[Coder, P], T]:
    """Limits the nesting of a type that can contain itself."""

    def visit_nested(coder: Coder, *args: P.args, **kwargs: P.kwargs) -> T:
        coder.depth += 1
        if coder.depth > MAX_DEPTH:
            raise coder.error("limit")
        value = visit(coder, *args, **kwargs)
        coder.depth -= 1
        return value

    return visit_nested


class Reader:
    """A position in a message, or in an evolve struct."""

    def __init__(self, data: bytes, depth: int = 0, is_sized: bool = False) -> None:
        self.data = data
        self.at = 0
        self.depth = depth
        self.is_sized = is_sized

    def error(self, kind: str) -> ParcoError:
        return ParcoError(kind, self.at)

    def at_end(self) -> bool:
        return self.at == len(self.data)

    def need(self, count: int) -> None:
        if count > len(self.data) - self.at:
            raise self.error("value" if self.is_sized else "end")

    def take(self, count: int) -> bytes:
        self.need(count)
        self.at += count
        return self.data[self.at - count : self.at]

    def skip(self, count: int) -> None:
        self.take(count)

    def unpack(self, form: str, size: int) -> Any:
        return struct.unpack(form, self.take(size))[0]

    def boolean(self) -> bool:
        flag = self.u8()
        if flag > 1:
            raise self.error("flag")
        return flag == 1

    def u8(self) -> int:
        return self.unpack("B", 1)

    def i8(self) -> int:
        return self.unpack("b", 1)

    def u16le(self) -> int:
        return self.unpack("<H", 2)

    def u16be(self) -> int:
        return self.unpack(">H", 2)

    def i16le(self) -> int:
        return self.unpack("<h", 2)

    def i16be(self) -> int:
        return self.unpack(">h", 2)

    def u32le(self) -> int:
        return self.unpack("<I", 4)

    def u32be(self) -> int:
        return self.unpack(">I", 4)

    def i32le(self) -> int:
        return self.unpack("<i", 4)

    def i32be(self) -> int:
        return self.unpack(">i", 4)

    def u64le(self) -> int:
        return self.unpack("<Q", 8)

    def u64be(self) -> int:
        return self.unpack(">Q", 8)

    def u63le(self) -> int:
        return self.u63(self.u64le())

    def u63be(self) -> int:
        return self.u63(self.u64be())

    def u63(self, number: int) -> int:
        if number >> 63:
            raise self.error("range")
        return number

    def i64le(self) -> int:
        return self.unpack("<q", 8)

    def i64be(self) -> int:
        return self.unpack(">q", 8)

    def f32le(self) -> float:
        return self.unpack("<f", 4)

    def f32be(self) -> float:
        return self.unpack(">f", 4)

    def f64le(self) -> float:
        return self.unpack("<d", 8)

    def f64be(self) -> float:
        return self.unpack(">d", 8)

    def u128le(self) -> int:
        return int.from_bytes(self.take(16), "little")

    def u128be(self) -> int:
        return int.from_bytes(self.take(16), "big")

    def i128le(self) -> int:
        return int.from_bytes(self.take(16), "little", signed=True)

    def i128be(self) -> int:
        return int.from_bytes(self.take(16), "big", signed=True)

    def varint(self) -> int:
        value = 0
        for index in range(10):
            byte = self.u8()
            value |= (byte & 0x7F) << (7 * index)
            if byte < 0x80:
                if value >> 64:
                    break
                if index > 0 and byte == 0:
                    raise self.error("value")
                return value
        raise self.error("range")

    def char(self, number: int) -> str:
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            raise self.error("value")
        return chr(number)

    def length(self, length: int | None) -> int:
        length = self.varint() if length is None else length
        if length < 0:
            raise self.error("range")
        if length > MAX_LENGTH:
            raise self.error("limit")
        return length

    def count(self, count: int | None, min_size: int) -> int:
        count = self.length(count)
        if min_size == 0 and count > MAX_EMPTY:
            raise self.error("limit")
        self.need(count * min_size)
        return count

    def blob(self, length: int | None = None) -> bytes:
        return self.take(self.length(length))

    def string(self, length: int | None = None) -> str:
        try:
            return self.blob(length).decode()
        except UnicodeDecodeError:
            raise self.error("text") from None

    def slice(self, min_size: int, read: Callable[[], T], count: int | None = None) -> list[T]:
        return [read() for _ in range(self.count(count, min_size))]

    def array(self, count: int, min_size: int, read: Callable[[], T]) -> list[T]:
        self.need(count * min_size)
        return [read() for _ in range(count)]

    def entries(
        self, min_size: int, key: Callable[[], K], value: Callable[[], V], count: int | None = None
    ) -> list[tuple[K, V]]:
        """Compares keys by their bytes. The last value of a key wins."""
        entries: dict[bytes, tuple[K, V]] = {}
        for _ in range(self.count(count, min_size)):
            start = self.at
            a_key = key()
            octets = self.data[start : self.at]
            entries[octets] = (a_key, value())
        return list(entries.values())

    def map(
        self, min_size: int, key: Callable[[], K], value: Callable[[], V], count: int | None = None
    ) -> dict[K, V]:
        return dict(self.entries(min_size, key, value, count))

    def option(self, read: Callable[[], T]) -> T | None:
        return read() if self.boolean() else None

    def some(self, read: Callable[[], T]) -> Some[T] | None:
        return Some(read()) if self.boolean() else None

    def zoned(self) -> ZonedTime:
        return ZonedTime(self.i64le(), self.option(lambda: self.string(self.u8())) or "UTC")

    def sized(self) -> Reader:
        """Returns a reader of an evolve struct, and moves behind it."""
        return Reader(self.take(self.varint()), self.depth, is_sized=True)


class Writer:
    """A message, or the fields of an evolve struct."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.depth = 0
        self.has_ended = False

    def error(self, kind: str) -> ParcoError:
        return ParcoError(kind)

    def octets(self, value: bytes, count: int) -> None:
        if len(value) != count:
            raise ParcoError("range")
        self.data += value

    def skip(self, count: int) -> None:
        self.data += bytes(count)

    def pack(self, form: str, value: object) -> None:
        try:
            self.data += struct.pack(form, value)
        except (struct.error, OverflowError):
            raise ParcoError("range") from None

    def boolean(self, value: bool) -> None:
        self.data.append(1 if value else 0)

    def u8(self, value: int) -> None:
        self.pack("B", value)

    def i8(self, value: int) -> None:
        self.pack("b", value)

    def u16le(self, value: int) -> None:
        self.pack("<H", value)

    def u16be(self, value: int) -> None:
        self.pack(">H", value)

    def i16le(self, value: int) -> None:
        self.pack("<h", value)

    def i16be(self, value: int) -> None:
        self.pack(">h", value)

    def u32le(self, value: int) -> None:
        self.pack("<I", value)

    def u32be(self, value: int) -> None:
        self.pack(">I", value)

    def i32le(self, value: int) -> None:
        self.pack("<i", value)

    def i32be(self, value: int) -> None:
        self.pack(">i", value)

    def u64le(self, value: int) -> None:
        self.pack("<Q", value)

    def u64be(self, value: int) -> None:
        self.pack(">Q", value)

    def u63le(self, value: int) -> None:
        self.u64le(self.u63(value))

    def u63be(self, value: int) -> None:
        self.u64be(self.u63(value))

    def u63(self, value: int) -> int:
        if value >> 63:
            raise ParcoError("range")
        return value

    def i64le(self, value: int) -> None:
        self.pack("<q", value)

    def i64be(self, value: int) -> None:
        self.pack(">q", value)

    def f32le(self, value: float) -> None:
        self.pack("<f", value)

    def f32be(self, value: float) -> None:
        self.pack(">f", value)

    def f64le(self, value: float) -> None:
        self.pack("<d", value)

    def f64be(self, value: float) -> None:
        self.pack(">d", value)

    def int128(self, value: int, order: str, signed: bool) -> None:
        try:
            self.data += value.to_bytes(16, order, signed=signed)  # type: ignore[arg-type]
        except OverflowError:
            raise ParcoError("range") from None

    def u128le(self, value: int) -> None:
        self.int128(value, "little", False)

    def u128be(self, value: int) -> None:
        self.int128(value, "big", False)

    def i128le(self, value: int) -> None:
        self.int128(value, "little", True)

    def i128be(self, value: int) -> None:
        self.int128(value, "big", True)

    def varint(self, value: int) -> None:
        if value < 0 or value >> 64:
            raise ParcoError("range")
        while value >= 0x80:
            self.data.append(value & 0x7F | 0x80)
            value >>= 7
        self.data.append(value)

    def char(self, value: str) -> int:
        if len(value) != 1 or 0xD800 <= ord(value) < 0xE000:
            raise ParcoError("value")
        return ord(value)

    def length(self, length: int, header: Callable[[int], None] | None) -> None:
        if length > MAX_LENGTH:
            raise ParcoError("limit")
        (header or self.varint)(length)

    def blob(self, value: bytes, header: Callable[[int], None] | None = None) -> None:
        self.length(len(value), header)
        self.data += value

    def string(self, value: str, header: Callable[[int], None] | None = None) -> None:
        try:
            self.blob(value.encode(), header)
        except UnicodeEncodeError:
            raise ParcoError("text") from None

    def slice(
        self, values: list[T], write: Callable[[T], None], header: Callable[[int], None] | None = None
    ) -> None:
        self.length(len(values), header)
        start = len(self.data)
        for value in values:
            write(value)
        if len(values) > MAX_EMPTY and len(self.data) == start:
            raise ParcoError("limit")

    def array(self, values: list[T], count: int, write: Callable[[T], None]) -> None:
        if len(values) != count:
            raise ParcoError("range")
        for value in values:
            write(value)

    def entries(
        self,
        entries: list[tuple[K, V]],
        key: Callable[[K], None],
        value: Callable[[V], None],
        header: Callable[[int], None] | None = None,
    ) -> None:
        def write(entry: tuple[K, V]) -> None:
            key(entry[0])
            value(entry[1])

        self.slice(entries, write, header)

    def map(
        self,
        entries: dict[K, V],
        key: Callable[[K], None],
        value: Callable[[V], None],
        header: Callable[[int], None] | None = None,
    ) -> None:
        self.entries(list(entries.items()), key, value, header)

    def option(self, value: T | None, write: Callable[[T], None]) -> None:
        self.boolean(value is not None)
        if value is not None:
            write(value)

    def some(self, value: Some[T] | None, write: Callable[[T], None]) -> None:
        self.option(value, lambda some: write(some.value))

    def zoned(self, value: ZonedTime) -> None:
        self.i64le(value.unix_nanos)
        self.boolean(True)
        self.string(value.zone, self.u8)

    def has(self, value: object, is_option: bool = False) -> bool:
        """Returns whether an optional field of an evolve struct is written. After an absent field, all are absent."""
        if value is None and not is_option:
            self.has_ended = True
        if value is not None and self.has_ended:
            raise ParcoError("value")
        return not self.has_ended

    def sized(self, write: Callable[[Writer], None]) -> None:
        """Writes the fields of an evolve struct after their length."""
        fields = Writer()
        fields.depth = self.depth
        write(fields)
        self.blob(bytes(fields.data))
