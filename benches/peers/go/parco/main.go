package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strings"

	"github.com/vmihailenco/msgpack/v5"

	"peers/resident"
)

// counter only adds up lengths.
type counter struct{ length int }

func (c *counter) Write(bytes []byte) (int, error) {
	c.length += len(bytes)
	return len(bytes), nil
}

// format is a library that encodes to a new slice.
type format struct {
	encode func(any) ([]byte, error)
	decode func([]byte, any) error
}

var formats = map[string]format{
	"encoding/json":          {json.Marshal, json.Unmarshal},
	"vmihailenco/msgpack/v5": {msgpack.Marshal, msgpack.Unmarshal},
}

// setUp prepares a row. Its result has been compared with the whole message.
func setUp(row, implementation string) (resident.Batch, error) {
	for _, w := range workloads() {
		kind, isOfSize := strings.CutSuffix(row, "_"+w.name)
		if !isOfSize {
			continue
		}
		if implementation == "stand-in for parco" {
			return standIn(kind, w)
		}
		library, known := formats[implementation]
		if !known {
			return nil, nil
		}
		document, err := library.encode(w.data)
		if err != nil {
			return nil, err
		}
		if err := same(w.data, func() (found data, err error) { return found, library.decode(document, &found) }); err != nil {
			return nil, err
		}
		length := uint64(len(document))
		check := map[string]uint64{"parco_compile": uint64(w.parco), "json_compile": length, "msgpack_compile": length}[kind]
		if check > 0 {
			return resident.Checked(length, check, func() (int, error) {
				document, err := library.encode(w.data)
				return len(document), err
			}), nil
		}
		if kind == "parco_parse" {
			return resident.Each(func() (uint64, error) {
				var found data
				err := library.decode(document, &found)
				return found.check(), err
			}), nil
		}
	}
	return nil, nil
}

func standIn(kind string, w workload) (resident.Batch, error) {
	m, buffer, sink, reader := model(len(w.data.Arr)), new(bytes.Buffer), new(counter), bytes.NewReader(nil)
	if err := m.Compile(w.data, buffer); err != nil {
		return nil, err
	}
	document := bytes.Clone(buffer.Bytes())
	parse := func() (data, error) { return m.ParseBytes(document) }
	if kind == "parco_parse_reader" {
		parse = func() (data, error) {
			reader.Reset(document)
			return m.Parse(reader)
		}
	}
	if err := same(w.data, parse); err != nil {
		return nil, err
	}
	switch kind {
	case "parco_compile":
		// The buffer is kept.
		return resident.Each(func() (uint64, error) {
			buffer.Reset()
			err := m.Compile(w.data, buffer)
			return uint64(buffer.Len()), err
		}), nil
	case "parco_discard_compile":
		return resident.Each(func() (uint64, error) {
			sink.length = 0
			err := m.Compile(w.data, sink)
			return uint64(sink.length), err
		}), nil
	case "parco_parse", "parco_parse_reader":
		return resident.Each(func() (uint64, error) {
			found, err := parse()
			return found.check(), err
		}), nil
	}
	return nil, nil
}

// check is the check value of a decoded message in the suite.
func (d *data) check() uint64 {
	turned := func(value uint64, by int) uint64 { return bits.RotateLeft64(value, by) }
	var number, last uint64
	if d.Bool {
		number = 1
	}
	if len(d.Arr) > 0 {
		last = uint64(d.Arr[len(d.Arr)-1])
	}
	number ^= turned(uint64(d.Num), 48) ^ turned(last, 7)
	lengths := uint64(len(d.Name)) ^ turned(uint64(len(d.Str)), 12)
	counts := turned(uint64(len(d.Arr)), 24) ^ turned(uint64(len(d.Map)), 36)
	floats := turned(uint64(math.Float32bits(d.Float32)), 17) ^ math.Float64bits(d.Float64)
	return lengths ^ counts ^ number ^ floats
}

// same says what is wrong with a decoded message.
func same(expected data, decode func() (data, error)) error {
	found, err := decode()
	if err == nil && !reflect.DeepEqual(found, expected) {
		err = fmt.Errorf("found %v, expected %v", found, expected)
	}
	return err
}

func main() { resident.Serve(setUp) }
