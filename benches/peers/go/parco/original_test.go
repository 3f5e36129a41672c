package main

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"peers/parcowire"
)

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
	for row, count := range expected {
		batch, err := setUp(row, "stand-in for parco")
		if err != nil || batch == nil {
			t.Fatalf("%s: no stand-in (%v)", row, err)
		}
		if allocs := testing.AllocsPerRun(20, func() { _, _ = batch(1) }); allocs != count {
			t.Errorf("%s: %v allocations, the original has %v", row, allocs, count)
		}
	}
}
