package main

import (
	"io"
	"slices"
	"sync"
)

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
