package parco

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"peers/parcowire"
	"peers/sampler"
)

// side is what one implementation does in a row.
type side struct {
	name string
	// payload is the length of the message.
	payload int
	// check compares whole values, before the timing.
	check func() error
	run   func() error
}

// row is one row of the suite.
type row struct {
	name  string
	sides []side
}

// counter only adds up lengths.
type counter struct{ length int }

func (c *counter) Write(bytes []byte) (int, error) {
	c.length += len(bytes)
	return len(bytes), nil
}

func rows() []row {
	var rows []row
	for _, w := range workloads() {
		row := func(name string, sides ...side) { rows = append(rows, row{name + "_" + w.name, sides}) }
		m := model(len(w.data.Arr))
		var compiled bytes.Buffer
		if err := m.Compile(w.data, &compiled); err != nil {
			panic(err)
		}
		document := compiled.Bytes()
		standardJSON := marshal("encoding-json", w.data, w.json, json.Marshal, json.Unmarshal)
		msgPack := marshal("msgpack", w.data, w.msgpack, msgpack.Marshal, msgpack.Unmarshal)
		fromJSON := unmarshal("encoding-json", w.data, json.Marshal, json.Unmarshal)
		fromMsgpack := unmarshal("msgpack", w.data, msgpack.Marshal, msgpack.Unmarshal)

		row("parco_compile", compile(m, w), standardJSON, msgPack)
		row("parco_discard_compile", discard(m, w))
		row("json_compile", standardJSON)
		row("msgpack_compile", msgPack)
		row("parco_parse", parse(w.data, document, m.ParseBytes), fromJSON, fromMsgpack)
		reader := bytes.NewReader(nil)
		row("parco_parse_reader", parse(w.data, document, func(document []byte) (data, error) {
			reader.Reset(document)
			return m.Parse(reader)
		}))
	}
	return rows
}

// compile writes to a buffer that is kept.
func compile(m *Model[data], w workload) side {
	buffer := new(bytes.Buffer)
	return side{
		name:    "original-standin",
		payload: w.parco,
		check: func() error {
			defer buffer.Reset()
			if err := m.Compile(w.data, buffer); err != nil {
				return err
			}
			found, err := m.ParseBytes(buffer.Bytes())
			return same(found, w.data, buffer.Len(), w.parco, err)
		},
		run: func() error {
			defer buffer.Reset()
			return m.Compile(w.data, buffer)
		},
	}
}

// discard writes to nowhere.
func discard(m *Model[data], w workload) side {
	sink := new(counter)
	run := func() error {
		sink.length = 0
		return m.Compile(w.data, sink)
	}
	return side{
		name:    "original-standin",
		payload: w.parco,
		check: func() error {
			err := run()
			return same(w.data, w.data, sink.length, w.parco, err)
		},
		run: run,
	}
}

// parse reads with the stand-in.
func parse(expected data, document []byte, parse func([]byte) (data, error)) side {
	return side{
		name:    "original-standin",
		payload: len(document),
		check: func() error {
			found, err := parse(document)
			return same(found, expected, 0, 0, err)
		},
		run: func() error {
			_, err := parse(document)
			return err
		},
	}
}

// marshal encodes to a fresh slice.
func marshal(
	name string, value data, length int, encode func(any) ([]byte, error), decode func([]byte, any) error,
) side {
	return side{
		name:    name,
		payload: length,
		check: func() error {
			document, err := encode(value)
			if err != nil {
				return err
			}
			var found data
			err = decode(document, &found)
			return same(found, value, len(document), length, err)
		},
		run: func() error {
			_, err := encode(value)
			return err
		},
	}
}

// unmarshal decodes into a fresh struct.
func unmarshal(name string, value data, encode func(any) ([]byte, error), decode func([]byte, any) error) side {
	document, err := encode(value)
	if err != nil {
		panic(err)
	}
	return side{
		name:    name,
		payload: len(document),
		check: func() error {
			var found data
			err := decode(document, &found)
			return same(found, value, 0, 0, err)
		},
		run: func() error {
			var found data
			return decode(document, &found)
		},
	}
}

// same says what is wrong with a result.
func same(found, expected data, length, expectedLength int, err error) error {
	if err != nil {
		return err
	}
	if length != expectedLength {
		return fmt.Errorf("%d bytes, expected %d", length, expectedLength)
	}
	if !reflect.DeepEqual(found, expected) {
		return fmt.Errorf("found %v, expected %v", found, expected)
	}
	return nil
}

// BenchmarkRow has a sub-benchmark for every row and implementation. Each is checked before it is timed.
func BenchmarkRow(b *testing.B) {
	for _, row := range rows() {
		b.Run(row.name, func(b *testing.B) {
			for _, side := range row.sides {
				b.Run(side.name, func(b *testing.B) { run(b, side) })
			}
		})
	}
}

func run(b *testing.B, side side) {
	if err := side.check(); err != nil {
		b.Fatal(err)
	}
	sampler.Run(b, side.payload, side.run)
}

// TestRowsAreRight runs what is checked before the timing.
func TestRowsAreRight(t *testing.T) {
	for _, row := range rows() {
		for _, side := range row.sides {
			if err := side.check(); err != nil {
				t.Errorf("%s/%s: %v", row.name, side.name, err)
			}
		}
	}
}

// TestStandInWritesTheFormat compares its messages with the vectors of the original, which have the same data, through
// a codec that the vectors pin.
func TestStandInWritesTheFormat(t *testing.T) {
	text, err := os.ReadFile("../../../../crates/tightwire-parco/tests/data/parco-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		RoundTrip []struct {
			ID            string
			Schema, Value json.RawMessage
			Seed          *uint64 `json:"splitmix_seed"`
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, vector := range vectors.RoundTrip {
		for _, w := range workloads() {
			if vector.ID != "bench-splitmix-"+w.name {
				continue
			}
			schema, err := parcowire.ParseSchema(vector.Schema)
			if err != nil {
				t.Fatal(err)
			}
			expected, err := schema.ReadValue(vector.Value)
			if err != nil {
				t.Fatal(err)
			}
			var buffer bytes.Buffer
			if err := model(len(w.data.Arr)).Compile(w.data, &buffer); err != nil {
				t.Fatal(err)
			}
			found, used, err := schema.Decode(buffer.Bytes())
			if err != nil || used != w.parco {
				t.Fatalf("%s: used %d bytes, %v", vector.ID, used, err)
			}
			if !reflect.DeepEqual(unordered(found), unordered(expected)) {
				t.Errorf("%s: found %v, expected %v", vector.ID, found, expected)
			}
			compared++
		}
	}
	// The file has no vector of the small size.
	if compared != 2 {
		t.Errorf("compared %d messages", compared)
	}
}

// unordered is a struct whose maps have lost their order.
func unordered(value any) []any {
	fields := append([]any{}, value.([]any)...)
	for i, field := range fields {
		if entries, ok := field.(parcowire.Map); ok {
			loose := make(map[any]any, len(entries))
			for _, entry := range entries {
				loose[entry.Key] = entry.Value
			}
			fields[i] = loose
		}
	}
	return fields
}

// TestStandInAllocatesLikeTheOriginal holds the stand-in to the counts that the original was recorded with.
func TestStandInAllocatesLikeTheOriginal(t *testing.T) {
	expected := map[string]float64{
		"parco_compile_small": 3, "parco_compile_medium": 3, "parco_compile_large": 3,
		"parco_discard_compile_small": 3, "parco_discard_compile_medium": 3, "parco_discard_compile_large": 3,
		"parco_parse_small": 10, "parco_parse_medium": 100, "parco_parse_large": 1002,
		"parco_parse_reader_small": 9, "parco_parse_reader_medium": 99, "parco_parse_reader_large": 1001,
	}
	for _, row := range rows() {
		count, found := expected[row.name]
		if !found {
			continue
		}
		delete(expected, row.name)
		found = false
		for _, side := range row.sides {
			if side.name != "original-standin" {
				continue
			}
			found = true
			if allocs := testing.AllocsPerRun(20, func() { _ = side.run() }); allocs != count {
				t.Errorf("%s: %v allocations, the original has %v", row.name, allocs, count)
			}
		}
		if !found {
			t.Errorf("%s: no stand-in", row.name)
		}
	}
	if len(expected) > 0 {
		t.Errorf("no rows for %v", expected)
	}
}
