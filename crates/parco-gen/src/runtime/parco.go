// Reads and writes messages in the format of parco. Generated files of this package use it.

package parco

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"unicode/utf8"
)

const (
	maxLength = 1 << 32
	maxEmpty  = 4096
	maxDepth  = 64
)

// Error is a message or value that is invalid. Kind is "end" (the input is truncated), "trailing" (bytes follow the message),
// "flag", "text", "range", "id", "limit", or "value" for anything else.
type Error struct {
	Kind   string
	Offset int
}

func (e *Error) Error() string {
	return fmt.Sprintf("parco: %s at byte %d", e.Kind, e.Offset)
}

// ZonedTime is nanoseconds since 1970, and the name of a time zone.
type ZonedTime struct {
	UnixNanos int64
	Zone      string
}

// Entry is an entry of a map whose keys cannot be sorted.
type Entry[K, V any] struct {
	Key   K
	Value V
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// reader is a position in a message, or in an evolve struct. After an error all values are zero.
type reader struct {
	data    []byte
	at      int
	depth   int
	isSized bool
	err     **Error
}

func decode[T any](data []byte, read func(r *reader) T) (T, error) {
	var err *Error
	r := &reader{data: data, err: &err}
	value := read(r)
	if err == nil && !r.atEnd() {
		r.fail("trailing")
	}
	if err != nil {
		var zero T
		return zero, err
	}
	return value, nil
}

func (r *reader) fail(kind string) {
	if *r.err == nil {
		*r.err = &Error{kind, r.at}
	}
}

func (r *reader) failed() bool {
	return *r.err != nil
}

func (r *reader) atEnd() bool {
	return r.at == len(r.data)
}

// has returns whether this number of bytes is left, and fails otherwise.
func (r *reader) has(count uint64) bool {
	if r.failed() {
		return false
	}
	if count <= uint64(len(r.data)-r.at) {
		return true
	}
	if r.isSized {
		r.fail("value")
	} else {
		r.fail("end")
	}
	return false
}

var zeros [16]byte

// fixed returns the next bytes, at most 16.
func (r *reader) fixed(count int) []byte {
	if !r.has(uint64(count)) {
		return zeros[:count]
	}
	r.at += count
	return r.data[r.at-count : r.at]
}

func (r *reader) skip(count int) struct{} {
	if r.has(uint64(count)) {
		r.at += count
	}
	return struct{}{}
}

func (r *reader) octets(to []byte) {
	if r.has(uint64(len(to))) {
		r.at += copy(to, r.data[r.at:])
	}
}

func (r *reader) boolean() bool {
	flag := r.u8()
	if flag > 1 {
		r.fail("flag")
	}
	return flag == 1
}

func (r *reader) u8() uint8        { return r.fixed(1)[0] }
func (r *reader) i8() int8         { return int8(r.u8()) }
func (r *reader) u16LE() uint16    { return binary.LittleEndian.Uint16(r.fixed(2)) }
func (r *reader) u16BE() uint16    { return binary.BigEndian.Uint16(r.fixed(2)) }
func (r *reader) i16LE() int16     { return int16(r.u16LE()) }
func (r *reader) i16BE() int16     { return int16(r.u16BE()) }
func (r *reader) u32LE() uint32    { return binary.LittleEndian.Uint32(r.fixed(4)) }
func (r *reader) u32BE() uint32    { return binary.BigEndian.Uint32(r.fixed(4)) }
func (r *reader) i32LE() int32     { return int32(r.u32LE()) }
func (r *reader) i32BE() int32     { return int32(r.u32BE()) }
func (r *reader) u64LE() uint64    { return binary.LittleEndian.Uint64(r.fixed(8)) }
func (r *reader) u64BE() uint64    { return binary.BigEndian.Uint64(r.fixed(8)) }
func (r *reader) u63LE() uint64    { return r.u63(r.u64LE()) }
func (r *reader) u63BE() uint64    { return r.u63(r.u64BE()) }
func (r *reader) i64LE() int64     { return int64(r.u64LE()) }
func (r *reader) i64BE() int64     { return int64(r.u64BE()) }
func (r *reader) f32LE() float32   { return math.Float32frombits(r.u32LE()) }
func (r *reader) f32BE() float32   { return math.Float32frombits(r.u32BE()) }
func (r *reader) f64LE() float64   { return math.Float64frombits(r.u64LE()) }
func (r *reader) f64BE() float64   { return math.Float64frombits(r.u64BE()) }
func (r *reader) u128LE() *big.Int { low := r.u64LE(); return join(r.u64LE(), low, false) }
func (r *reader) u128BE() *big.Int { high := r.u64BE(); return join(high, r.u64BE(), false) }
func (r *reader) i128LE() *big.Int { low := r.u64LE(); return join(r.u64LE(), low, true) }
func (r *reader) i128BE() *big.Int { high := r.u64BE(); return join(high, r.u64BE(), true) }

func (r *reader) u63(number uint64) uint64 {
	if number > math.MaxInt64 {
		r.fail("range")
	}
	return number
}

func join(high, low uint64, isSigned bool) *big.Int {
	number := new(big.Int).SetUint64(high)
	if isSigned {
		number.SetInt64(int64(high))
	}
	return number.Lsh(number, 64).Add(number, new(big.Int).SetUint64(low))
}

func (r *reader) varint() uint64 {
	var value uint64
	for index := range 10 {
		b := r.u8()
		if index == 9 && b > 1 {
			break
		}
		value |= uint64(b&0x7f) << (7 * index)
		if b < 0x80 {
			if index > 0 && b == 0 {
				r.fail("value")
			}
			return value
		}
	}
	r.fail("range")
	return 0
}

func (r *reader) char(number uint32) rune {
	if number > utf8.MaxRune || number >= 0xd800 && number < 0xe000 {
		r.fail("value")
		return 0
	}
	return rune(number)
}

func decodeLength[N integer](r *reader, length N) int {
	switch {
	case length < 0:
		r.fail("range")
	case uint64(length) > maxLength:
		r.fail("limit")
	}
	if r.failed() {
		return 0
	}
	return int(length)
}

func decodeCount[N integer](r *reader, length N, minSize int) int {
	count := decodeLength(r, length)
	if minSize == 0 && count > maxEmpty {
		r.fail("limit")
	}
	if !r.has(uint64(count) * uint64(minSize)) {
		return 0
	}
	return count
}

func decodeBlob[N integer](r *reader, length N) []byte {
	count := decodeLength(r, length)
	if !r.has(uint64(count)) {
		return nil
	}
	blob := make([]byte, count)
	r.octets(blob)
	return blob
}

func decodeString[N integer](r *reader, length N) string {
	text := decodeBlob(r, length)
	if !utf8.Valid(text) {
		r.fail("text")
	}
	return string(text)
}

func decodeSlice[N integer, T any](r *reader, length N, minSize int, read func() T) []T {
	values := []T{}
	for range decodeCount(r, length, minSize) {
		value := read()
		if r.failed() {
			break
		}
		values = append(values, value)
	}
	return values
}

func decodeArray[T any](r *reader, to []T, minSize int, read func() T) {
	if !r.has(uint64(len(to)) * uint64(minSize)) {
		return
	}
	for index := range to {
		to[index] = read()
	}
}

// decodeEntries compares keys by their bytes. The last value of a key wins.
func decodeEntries[N integer, K, V any](r *reader, length N, minSize int, key func() K, value func() V) []Entry[K, V] {
	entries, known := []Entry[K, V]{}, map[string]int{}
	for range decodeCount(r, length, minSize) {
		start := r.at
		aKey := key()
		bytes := string(r.data[start:r.at])
		aValue := value()
		if r.failed() {
			break
		}
		if index, isKnown := known[bytes]; isKnown {
			entries[index].Value = aValue
			continue
		}
		known[bytes] = len(entries)
		entries = append(entries, Entry[K, V]{aKey, aValue})
	}
	return entries
}

func decodeMap[N integer, K comparable, V any](r *reader, length N, minSize int, key func() K, value func() V) map[K]V {
	entries := map[K]V{}
	for _, entry := range decodeEntries(r, length, minSize, key, value) {
		entries[entry.Key] = entry.Value
	}
	return entries
}

func decodeOption[T any](r *reader, read func() T) *T {
	if !r.boolean() || r.failed() {
		return nil
	}
	value := read()
	return &value
}

func (r *reader) zoned() ZonedTime {
	at := r.i64LE()
	zone := decodeOption(r, func() string { return decodeString(r, r.u8()) })
	if zone == nil || *zone == "" {
		return ZonedTime{at, "UTC"}
	}
	return ZonedTime{at, *zone}
}

// sized returns a reader of an evolve struct, and moves behind it.
func (r *reader) sized() *reader {
	inner := &reader{depth: r.depth, isSized: true, err: r.err}
	if length := r.varint(); r.has(length) {
		start := r.at
		r.at += int(length)
		inner.data = r.data[start:r.at]
	}
	return inner
}

// enter enters a type that can contain itself, and fails if that is nested too deeply.
func (r *reader) enter() bool {
	r.depth++
	if r.depth > maxDepth {
		r.fail("limit")
	}
	return !r.failed()
}

func (r *reader) leave() {
	r.depth--
}

// writer is a message, or the fields of an evolve struct.
type writer struct {
	data     []byte
	depth    int
	hasEnded bool
	err      *Error
}

func encode[T any](value T, write func(w *writer, value T)) ([]byte, error) {
	w := new(writer)
	write(w, value)
	if w.err != nil {
		return nil, w.err
	}
	return w.data, nil
}

func (w *writer) fail(kind string) {
	if w.err == nil {
		w.err = &Error{kind, len(w.data)}
	}
}

// enter enters a type that can contain itself, and fails if that is nested too deeply.
func (w *writer) enter() bool {
	w.depth++
	if w.depth > maxDepth {
		w.fail("limit")
	}
	return w.err == nil
}

func (w *writer) leave() {
	w.depth--
}

func (w *writer) raw(bytes []byte) {
	w.data = append(w.data, bytes...)
}

func (w *writer) skip(count int) {
	w.raw(make([]byte, count))
}

func (w *writer) boolean(value bool) {
	if value {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

func (w *writer) u8(value uint8)      { w.data = append(w.data, value) }
func (w *writer) i8(value int8)       { w.u8(uint8(value)) }
func (w *writer) u16LE(value uint16)  { w.data = binary.LittleEndian.AppendUint16(w.data, value) }
func (w *writer) u16BE(value uint16)  { w.data = binary.BigEndian.AppendUint16(w.data, value) }
func (w *writer) i16LE(value int16)   { w.u16LE(uint16(value)) }
func (w *writer) i16BE(value int16)   { w.u16BE(uint16(value)) }
func (w *writer) u32LE(value uint32)  { w.data = binary.LittleEndian.AppendUint32(w.data, value) }
func (w *writer) u32BE(value uint32)  { w.data = binary.BigEndian.AppendUint32(w.data, value) }
func (w *writer) i32LE(value int32)   { w.u32LE(uint32(value)) }
func (w *writer) i32BE(value int32)   { w.u32BE(uint32(value)) }
func (w *writer) u64LE(value uint64)  { w.data = binary.LittleEndian.AppendUint64(w.data, value) }
func (w *writer) u64BE(value uint64)  { w.data = binary.BigEndian.AppendUint64(w.data, value) }
func (w *writer) u63LE(value uint64)  { w.u64LE(w.u63(value)) }
func (w *writer) u63BE(value uint64)  { w.u64BE(w.u63(value)) }
func (w *writer) i64LE(value int64)   { w.u64LE(uint64(value)) }
func (w *writer) i64BE(value int64)   { w.u64BE(uint64(value)) }
func (w *writer) f32LE(value float32) { w.u32LE(math.Float32bits(value)) }
func (w *writer) f32BE(value float32) { w.u32BE(math.Float32bits(value)) }
func (w *writer) f64LE(value float64) { w.u64LE(math.Float64bits(value)) }
func (w *writer) f64BE(value float64) { w.u64BE(math.Float64bits(value)) }
func (w *writer) varint(value uint64) { w.data = binary.AppendUvarint(w.data, value) }

func (w *writer) u63(number uint64) uint64 {
	if number > math.MaxInt64 {
		w.fail("range")
	}
	return number
}

func (w *writer) u128LE(value *big.Int) {
	high, low := w.split(value, 128)
	w.u64LE(low)
	w.u64LE(high)
}
func (w *writer) u128BE(value *big.Int) {
	high, low := w.split(value, 128)
	w.u64BE(high)
	w.u64BE(low)
}
func (w *writer) i128LE(value *big.Int) {
	high, low := w.split(value, 127)
	w.u64LE(low)
	w.u64LE(high)
}
func (w *writer) i128BE(value *big.Int) {
	high, low := w.split(value, 127)
	w.u64BE(high)
	w.u64BE(low)
}

// split returns the halves of a number, which has at most this number of bits; with 127 it can be negative. Nil is zero.
func (w *writer) split(value *big.Int, bits int) (high, low uint64) {
	if value == nil {
		return 0, 0
	}
	if value.Sign() < 0 {
		// In two's complement, the bits of -1 - value are the inverse of those of value.
		inverse := new(big.Int).Not(value)
		if bits == 128 || inverse.BitLen() > bits {
			w.fail("range")
		}
		high, low = w.split(inverse, 128)
		return ^high, ^low
	}
	if value.BitLen() > bits {
		w.fail("range")
		return 0, 0
	}
	return new(big.Int).Rsh(value, 64).Uint64(), new(big.Int).And(value, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

func (w *writer) char(value rune) uint32 {
	if !utf8.ValidRune(value) {
		w.fail("value")
	}
	return uint32(value)
}

func encodeLength[N integer](w *writer, header func(N), length int) {
	if N(length) < 0 || uint64(N(length)) != uint64(length) {
		w.fail("range")
	}
	if uint64(length) > maxLength {
		w.fail("limit")
	}
	header(N(length))
}

func encodeBlob[N integer](w *writer, header func(N), value []byte) {
	encodeLength(w, header, len(value))
	w.raw(value)
}

func encodeString[N integer](w *writer, header func(N), value string) {
	if !utf8.ValidString(value) {
		w.fail("text")
	}
	encodeLength(w, header, len(value))
	w.data = append(w.data, value...)
}

func encodeSlice[N integer, T any](w *writer, header func(N), values []T, write func(T)) {
	encodeLength(w, header, len(values))
	start := len(w.data)
	encodeArray(values, write)
	if len(values) > maxEmpty && len(w.data) == start {
		w.fail("limit")
	}
}

func encodeArray[T any](values []T, write func(T)) {
	for _, value := range values {
		write(value)
	}
}

func encodeEntries[N integer, K, V any](w *writer, header func(N), entries []Entry[K, V], key func(K), value func(V)) {
	encodeSlice(w, header, entries, func(entry Entry[K, V]) {
		key(entry.Key)
		value(entry.Value)
	})
}

// encodeMap writes the entries in the order of the keys.
func encodeMap[N integer, K cmp.Ordered, V any](w *writer, header func(N), entries map[K]V, key func(K), value func(V)) {
	encodeSlice(w, header, slices.Sorted(maps.Keys(entries)), func(aKey K) {
		key(aKey)
		value(entries[aKey])
	})
}

func encodeOption[T any](w *writer, value *T, write func(T)) {
	w.boolean(value != nil)
	if value != nil {
		write(*value)
	}
}

func (w *writer) zoned(value ZonedTime) {
	w.i64LE(value.UnixNanos)
	w.boolean(true)
	encodeString(w, w.u8, value.Zone)
}

// has returns whether an optional field of an evolve struct is written. After an absent field, all are absent.
func (w *writer) has(isPresent, isOption bool) bool {
	if !isPresent && !isOption {
		w.hasEnded = true
	}
	if isPresent && w.hasEnded {
		w.fail("value")
	}
	return !w.hasEnded
}

// sized writes the fields of an evolve struct after their length.
func (w *writer) sized(write func(w *writer)) {
	fields := &writer{depth: w.depth, err: w.err}
	write(fields)
	w.err = fields.err
	encodeBlob(w, w.varint, fields.data)
}
