package parcowire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"testing"
)

// vectorFile is in the tests of the Rust crate; a README beside it tells its origin.
const vectorFile = "../../../../crates/tightwire-parco/tests/data/parco-vectors.json"

// vector is a case of any list; each list has its own members of these.
type vector struct {
	ID       string
	Schema   json.RawMessage
	Value    json.RawMessage
	Values   []json.RawMessage
	Hex      string
	Len      *int
	Consumed *int
	Error    string
	// Phase is "register" for the case that fails before a message is made.
	Phase string
	// CanonicalHex is the value of a lenient case, encoded again.
	CanonicalHex string `json:"canonical_hex"`
	// Complete says of a cut message that it is not cut.
	Complete     bool
	FrameLengths []int `json:"frame_lengths"`
}

type vectors struct {
	RoundTrip    []vector `json:"roundtrip"`
	DecodeOnly   []vector `json:"decode_only"`
	EncodeErrors []vector `json:"encode_errors"`
	DecodeErrors []vector `json:"decode_errors"`
	Truncation   []vector `json:"model_decode_truncation"`
	Streams      []vector `json:"streams"`
}

func load(t *testing.T) vectors {
	t.Helper()
	data, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var all vectors
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// each runs a subtest per case, and makes sure that none got lost on the way.
func each(t *testing.T, list []vector, count int, test func(*testing.T, vector)) {
	t.Helper()
	if len(list) != count {
		t.Errorf("%d cases, expected %d", len(list), count)
	}
	for _, vector := range list {
		t.Run(vector.ID, func(t *testing.T) { test(t, vector) })
	}
}

func (v vector) schema(t *testing.T) *Schema {
	t.Helper()
	schema, err := ParseSchema(v.Schema)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func (v vector) bytes(t *testing.T) []byte { return unhex(t, v.Hex) }

func unhex(t *testing.T, digits string) []byte {
	t.Helper()
	data, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func read(t *testing.T, schema *Schema, value json.RawMessage) any {
	t.Helper()
	read, err := schema.ReadValue(value)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// encodes checks that the value is written as these bytes.
func encodes(t *testing.T, schema *Schema, value any, expected []byte) {
	t.Helper()
	encoded, err := schema.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded, expected) {
		t.Errorf("encoded %x, expected %x", encoded, expected)
	}
}

// decodes checks that the first so many of these bytes are the value.
func decodes(t *testing.T, schema *Schema, data []byte, expected any, used int) {
	t.Helper()
	value, taken, err := schema.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(value, expected) {
		t.Errorf("decoded %#v, expected %#v", value, expected)
	}
	if taken != used {
		t.Errorf("used %d bytes, expected %d", taken, used)
	}
}

func TestRoundTrips(t *testing.T) {
	each(t, load(t).RoundTrip, 126, func(t *testing.T, v vector) {
		schema, data := v.schema(t), v.bytes(t)
		if v.Len == nil || len(data) != *v.Len {
			t.Errorf("%d bytes, expected %v", len(data), v.Len)
		}
		value := read(t, schema, v.Value)
		encodes(t, schema, value, data)
		decodes(t, schema, data, value, len(data))
		// What follows a message is left alone.
		decodes(t, schema, append(data[:len(data):len(data)], 0xff), value, len(data))
		written, err := schema.WriteValue(value)
		if err != nil {
			t.Fatal(err)
		}
		if again := read(t, schema, written); !reflect.DeepEqual(again, value) {
			t.Errorf("as JSON %s, which reads as %#v", written, again)
		}
	})
}

func TestEveryPrefixIsTooShort(t *testing.T) {
	each(t, load(t).RoundTrip, 126, func(t *testing.T, v vector) {
		schema, data := v.schema(t), v.bytes(t)
		// Long messages repeat themselves; the step is no multiple of the sizes of their parts.
		step := 1 + len(data)/1000*6
		for length := 0; length < len(data); length += step {
			_, used, err := schema.Decode(data[:length])
			if !errors.Is(err, ErrShortInput) || used != length {
				t.Fatalf("%d bytes of %d: used %d, %v", length, len(data), used, err)
			}
		}
	})
}

// TestLenientCases has what a strict reader takes as well, and the error for what it does not.
func TestLenientCases(t *testing.T) {
	refused := map[string]error{
		"bool-2-is-false": ErrInvalidBool, "bool-255-is-false": ErrInvalidBool, "opt-flag-2-is-none": ErrInvalidBool,
	}
	each(t, load(t).DecodeOnly, 8, func(t *testing.T, v vector) {
		schema, data := v.schema(t), v.bytes(t)
		if expected := refused[v.ID]; expected != nil {
			if _, _, err := schema.Decode(data); !errors.Is(err, expected) {
				t.Errorf("got %v, expected %v", err, expected)
			}
			return
		}
		if v.ID == "timeloc-absent-flag" {
			// The original gives its zero time instead of the instant that it read.
			decodes(t, schema, data, Located{0x0101010101010101, "UTC"}, *v.Consumed)
			return
		}
		value := read(t, schema, v.Value)
		decodes(t, schema, data, value, *v.Consumed)
		encodes(t, schema, value, unhex(t, v.CanonicalHex))
	})
}

// named are the errors by the names of the vector file.
var named = map[string]error{
	"overflow": ErrOverflow, "cannot_read": ErrShortInput, "invalid_length": ErrInvalidLength,
	"unknown_type": ErrUnknownModel, "already_registered": ErrAlreadyRegistered,
}

func TestEncodeErrors(t *testing.T) {
	each(t, load(t).EncodeErrors, 16, func(t *testing.T, v vector) {
		schema, expected := v.schema(t), named[v.Error]
		if v.ID == "slice-u16h-65537-SILENT-WRAP" {
			// The original writes the low half of the count and goes on.
			expected = ErrOverflow
		}
		if expected == nil {
			t.Fatalf("no error is named %q", v.Error)
		}
		if v.Phase == "register" {
			id := string(v.Value)
			if err := schema.Register(id, schema.Models[id]); !errors.Is(err, expected) {
				t.Errorf("got %v, expected %v", err, expected)
			}
			return
		}
		value, err := schema.ReadValue(v.Value)
		if err == nil {
			_, err = schema.Encode(value)
		}
		if !errors.Is(err, expected) {
			t.Errorf("got %v, expected %v", err, expected)
		}
	})
}

func TestDecodeErrors(t *testing.T) {
	each(t, load(t).DecodeErrors, 22, func(t *testing.T, v vector) {
		schema, data := v.schema(t), v.bytes(t)
		if v.ID == "timeloc-bad-zone" {
			// The original looks the zone up; here the name is part of the value, and no more.
			decodes(t, schema, data, Located{0, "Foo"}, *v.Consumed)
			return
		}
		expected := named[v.Error]
		if expected == nil {
			t.Fatalf("no error is named %q", v.Error)
		}
		_, used, err := schema.Decode(data)
		if !errors.Is(err, expected) || used != *v.Consumed {
			t.Errorf("used %d bytes, %v; expected %d, %v", used, err, *v.Consumed, expected)
		}
	})
}

// TestTruncatedModels has messages of which the original keeps what it read so far, without an error.
func TestTruncatedModels(t *testing.T) {
	each(t, load(t).Truncation, 8, func(t *testing.T, v vector) {
		data := v.bytes(t)
		_, used, err := v.schema(t).Decode(data)
		if used != len(data) {
			t.Errorf("used %d bytes of %d", used, len(data))
		}
		if v.Complete != (err == nil) || err != nil && !errors.Is(err, ErrShortInput) {
			t.Errorf("complete is %t, got %v", v.Complete, err)
		}
	})
}

func TestStreams(t *testing.T) {
	each(t, load(t).Streams, 3, func(t *testing.T, v vector) {
		schema, rest := v.schema(t), v.bytes(t)
		var lengths []int
		for _, value := range v.Values {
			frame := read(t, schema, value)
			_, length, err := schema.Decode(rest)
			if err != nil {
				t.Fatal(err)
			}
			decodes(t, schema, rest, frame, length)
			encodes(t, schema, frame, rest[:length])
			lengths, rest = append(lengths, length), rest[length:]
		}
		if len(rest) > 0 {
			t.Errorf("%d bytes are left", len(rest))
		}
		if v.FrameLengths != nil && !reflect.DeepEqual(lengths, v.FrameLengths) {
			t.Errorf("frames of %v bytes, expected %v", lengths, v.FrameLengths)
		}
	})
}
