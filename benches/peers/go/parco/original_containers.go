package main

import "io"

const (
	maxBytes = 100 << 20
	maxCount = 10_000_000
	// What is allocated on the word of a header alone.
	maxTrusted = 4096
)

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
