// Command parco measures codecs written in Go on the message of the fifth report.
package main

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"sync"
)

// This and the other files named after the original stand in for the Go codec behind the fifth report, which no module
// proxy has. They are written from a description of how that codec works: a schema is a list of fields that close over
// a getter and a setter; a struct is collected in a pooled buffer and written at once; elsewhere every scalar goes
// through a box from a pool; a slice passes as an interface with a method that calls back for every element; a map is
// written in Go's own order. Only the types that the message needs are here.

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
