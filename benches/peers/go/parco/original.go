// Package parco measures codecs written in Go on the message of the fifth report.
package parco

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
)

// This file stands in for the Go codec behind the fifth report, which no module proxy has. It is written from a
// description of how that codec works: a schema is a list of fields that close over a getter and a setter; a struct is
// collected in a pooled buffer and written at once; elsewhere every scalar goes through a box from a pool; a slice passes
// as an interface with a method that calls back for every element; a map is written in Go's own order. Only the types
// that the message needs are here.

// Type is how one value is written and read.
type Type[T any] interface {
	Compile(value T, w io.Writer) error
	Parse(r io.Reader) (T, error)
}

var (
	errOverflow    = errors.New("overflow")
	errCannotRead  = errors.New("cannot read")
	errCannotWrite = errors.New("cannot write")
)

const (
	maxBytes   = 100 << 20
	maxCount   = 10_000_000
	maxTrusted = 4096
)

// box is memory for one value on its way.
type box struct{ bytes []byte }

// pools are one per size class.
var pools = [...]struct {
	size int
	pool *sync.Pool
}{{1, pool(1)}, {2, pool(2)}, {4, pool(4)}, {8, pool(8)}, {256, pool(256)}, {8192, pool(8192)}}

func pool(size int) *sync.Pool {
	return &sync.Pool{New: func() any { return &box{make([]byte, size)} }}
}

// class is the pool with boxes of at least so many bytes, or the last.
func class(size int) *sync.Pool {
	for i := range pools {
		if size <= pools[i].size {
			return pools[i].pool
		}
	}
	return pools[len(pools)-1].pool
}

// fixed is a type with values of one size.
type fixed[T any] struct {
	size int
	put  func(value T, to []byte) error
	get  func(from []byte) (T, error)
}

func (t fixed[T]) Compile(value T, w io.Writer) error {
	if message, ok := w.(*message); ok {
		return t.put(value, message.extend(t.size))
	}
	pool := class(t.size)
	box := pool.Get().(*box)
	defer pool.Put(box)
	bytes := box.bytes[:t.size]
	if err := t.put(value, bytes); err != nil {
		return err
	}
	return write(w, bytes)
}

func (t fixed[T]) Parse(r io.Reader) (T, error) {
	pool := class(t.size)
	box := pool.Get().(*box)
	defer pool.Put(box)
	bytes := box.bytes[:t.size]
	if err := read(r, bytes); err != nil {
		var none T
		return none, err
	}
	return t.get(bytes)
}

func write(w io.Writer, bytes []byte) error {
	count, err := w.Write(bytes)
	if err == nil && count < len(bytes) {
		err = errCannotWrite
	}
	return err
}

func read(r io.Reader, bytes []byte) error {
	_, err := io.ReadFull(r, bytes)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errCannotRead
	}
	return err
}

func uint8Type() Type[uint8] {
	return fixed[uint8]{1,
		func(value uint8, to []byte) error { to[0] = value; return nil },
		func(from []byte) (uint8, error) { return from[0], nil },
	}
}

func boolType() Type[bool] {
	return fixed[bool]{1,
		func(value bool, to []byte) error {
			to[0] = 0
			if value {
				to[0] = 1
			}
			return nil
		},
		func(from []byte) (bool, error) { return from[0] == 1, nil },
	}
}

func uint16Type(order binary.ByteOrder) Type[uint16] {
	return fixed[uint16]{2,
		func(value uint16, to []byte) error { order.PutUint16(to, value); return nil },
		func(from []byte) (uint16, error) { return order.Uint16(from), nil },
	}
}

func float32Type(order binary.ByteOrder) Type[float32] {
	return fixed[float32]{4,
		func(value float32, to []byte) error { order.PutUint32(to, math.Float32bits(value)); return nil },
		func(from []byte) (float32, error) { return math.Float32frombits(order.Uint32(from)), nil },
	}
}

func float64Type(order binary.ByteOrder) Type[float64] {
	return fixed[float64]{8,
		func(value float64, to []byte) error { order.PutUint64(to, math.Float64bits(value)); return nil },
		func(from []byte) (float64, error) { return math.Float64frombits(order.Uint64(from)), nil },
	}
}

func uint8Header() Type[int] {
	return fixed[int]{1,
		func(value int, to []byte) error {
			if value < 0 || value > math.MaxUint8 {
				return errOverflow
			}
			to[0] = uint8(value)
			return nil
		},
		func(from []byte) (int, error) { return int(from[0]), nil },
	}
}

// uint16Header takes the low bits of any value.
func uint16Header(order binary.ByteOrder) Type[int] {
	return fixed[int]{2,
		func(value int, to []byte) error { order.PutUint16(to, uint16(value)); return nil },
		func(from []byte) (int, error) { return int(order.Uint16(from)), nil },
	}
}

// stringType is a length and so many bytes.
type stringType struct {
	header  Type[int]
	longest int
}

func (t stringType) Compile(value string, w io.Writer) error {
	if len(value) > t.longest {
		return errOverflow
	}
	if err := t.header.Compile(len(value), w); err != nil {
		return err
	}
	count, err := io.WriteString(w, value)
	if err == nil && count < len(value) {
		err = errCannotWrite
	}
	return err
}

func (t stringType) Parse(r io.Reader) (string, error) {
	length, err := t.header.Parse(r)
	if err != nil {
		return "", err
	}
	if length < 0 || length > maxBytes {
		return "", errOverflow
	}
	pool := class(length)
	box := pool.Get().(*box)
	defer pool.Put(box)
	if length <= len(box.bytes) {
		bytes := box.bytes[:length]
		if err := read(r, bytes); err != nil {
			return "", err
		}
		return string(bytes), nil
	}
	// Memory grows with what really comes.
	var long []byte
	for len(long) < length {
		bytes := box.bytes[:min(length-len(long), len(box.bytes))]
		if err := read(r, bytes); err != nil {
			return "", err
		}
		long = append(long, bytes...)
	}
	return string(long), nil
}

// Iterable is how a slice passes through the schema.
type Iterable[T any] interface {
	Len() int
	Range(each func(T) error) error
	Unwrap() SliceView[T]
}

// SliceView is a slice as an [Iterable].
type SliceView[T any] []T

func (s SliceView[T]) Len() int             { return len(s) }
func (s SliceView[T]) Unwrap() SliceView[T] { return s }

func (s SliceView[T]) Range(each func(T) error) error {
	for _, value := range s {
		if err := each(value); err != nil {
			return err
		}
	}
	return nil
}

type sliceType[T any] struct {
	header Type[int]
	elem   Type[T]
}

func (t sliceType[T]) Compile(values Iterable[T], w io.Writer) error {
	if err := t.header.Compile(values.Len(), w); err != nil {
		return err
	}
	return values.Range(func(value T) error { return t.elem.Compile(value, w) })
}

func (t sliceType[T]) Parse(r io.Reader) (Iterable[T], error) {
	count, err := parseCount(t.header, r)
	if err != nil {
		return nil, err
	}
	values := make(SliceView[T], 0, min(count, maxTrusted))
	for range count {
		value, err := t.elem.Parse(r)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

func parseCount(header Type[int], r io.Reader) (int, error) {
	count, err := header.Parse(r)
	if err == nil && (count < 0 || count > maxCount) {
		err = errOverflow
	}
	return count, err
}

type mapType[K comparable, V any] struct {
	header Type[int]
	key    Type[K]
	value  Type[V]
}

func (t mapType[K, V]) Compile(values map[K]V, w io.Writer) error {
	if err := t.header.Compile(len(values), w); err != nil {
		return err
	}
	for key, value := range values {
		if err := t.key.Compile(key, w); err != nil {
			return err
		}
		if err := t.value.Compile(value, w); err != nil {
			return err
		}
	}
	return nil
}

func (t mapType[K, V]) Parse(r io.Reader) (map[K]V, error) {
	count, err := parseCount(t.header, r)
	if err != nil {
		return nil, err
	}
	values := make(map[K]V, min(count, maxTrusted))
	for range count {
		key, err := t.key.Parse(r)
		if err != nil {
			return nil, err
		}
		value, err := t.value.Parse(r)
		if err != nil {
			return nil, err
		}
		values[key] = value
	}
	return values, nil
}

// Field is a part of a message.
type Field[M any] interface {
	Compile(model *M, w io.Writer) error
	Parse(model *M, r io.Reader) error
}

// fieldOf is a field of one type, reached through a getter and a setter.
type fieldOf[M, T any] struct {
	kind Type[T]
	get  func(*M) T
	set  func(*M, T)
}

func (f fieldOf[M, T]) Compile(model *M, w io.Writer) error { return f.kind.Compile(f.get(model), w) }

func (f fieldOf[M, T]) Parse(model *M, r io.Reader) error {
	value, err := f.kind.Parse(r)
	if err == nil {
		f.set(model, value)
	}
	return err
}

// Model is the schema of a message: its fields in the order of the wire.
type Model[M any] struct{ fields []Field[M] }

func with[M, T any](m *Model[M], kind Type[T], get func(*M) T, set func(*M, T)) {
	m.fields = append(m.fields, fieldOf[M, T]{kind, get, set})
}

// message collects what a struct is written as.
type message struct{ bytes []byte }

// extend gives memory for so many bytes more.
func (m *message) extend(count int) []byte {
	from := len(m.bytes)
	m.bytes = slices.Grow(m.bytes, count)[:from+count]
	return m.bytes[from:]
}

func (m *message) Write(bytes []byte) (int, error) {
	m.bytes = append(m.bytes, bytes...)
	return len(bytes), nil
}

func (m *message) WriteString(text string) (int, error) {
	m.bytes = append(m.bytes, text...)
	return len(text), nil
}

var messages = sync.Pool{New: func() any { return new(message) }}

// Compile writes the message with one call of w. The model comes as a copy.
func (m *Model[M]) Compile(model M, w io.Writer) error {
	collected := messages.Get().(*message)
	defer messages.Put(collected)
	collected.bytes = collected.bytes[:0]
	for _, field := range m.fields {
		if err := field.Compile(&model, collected); err != nil {
			return err
		}
	}
	return write(w, collected.bytes)
}

// Parse reads a message into a new model. Where the original gives back what it has so far without an error, this one
// gives the error as well.
func (m *Model[M]) Parse(r io.Reader) (M, error) {
	var model M
	for _, field := range m.fields {
		if err := field.Parse(&model, r); err != nil {
			return model, err
		}
	}
	return model, nil
}

// cursor reads from a slice.
type cursor struct {
	data []byte
	at   int
}

func (c *cursor) Read(to []byte) (int, error) {
	if c.at == len(c.data) && len(to) > 0 {
		return 0, io.EOF
	}
	count := copy(to, c.data[c.at:])
	c.at += count
	return count, nil
}

// ParseBytes reads a message from the beginning of data.
func (m *Model[M]) ParseBytes(data []byte) (M, error) {
	return m.Parse(&cursor{data: data})
}
