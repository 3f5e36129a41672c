package json

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/bytedance/sonic"

	"peers/sampler"
)

type encoder interface{ Encode(any) error }
type decoder interface{ Decode(any) error }

// backend is one implementation: what the original's wrapper has.
type backend struct {
	name       string
	marshal    func(any) ([]byte, error)
	unmarshal  func([]byte, any) error
	newEncoder func(io.Writer) encoder
	newDecoder func(io.Reader) decoder
}

func sonicBackend(api sonic.API) backend {
	return backend{
		name:       "sonic",
		marshal:    api.Marshal,
		unmarshal:  api.Unmarshal,
		newEncoder: func(w io.Writer) encoder { return api.NewEncoder(w) },
		newDecoder: func(r io.Reader) decoder { return api.NewDecoder(r) },
	}
}

var (
	standard = backend{
		name:       "encoding-json",
		marshal:    json.Marshal,
		unmarshal:  json.Unmarshal,
		newEncoder: func(w io.Writer) encoder { return json.NewEncoder(w) },
		newDecoder: func(r io.Reader) decoder { return json.NewDecoder(r) },
	}
	native  = sonicBackend(sonic.ConfigDefault)
	fastest = sonicBackend(sonic.ConfigFastest)
)

// operation is what a row does, once.
type operation func(b backend) error

// row is one row of the suite.
type row struct {
	name  string
	bytes int
	check func(b backend) error // compares whole values, before the timing
	run   operation
}

// marshalRow encodes to a fresh slice.
func marshalRow(name string, value any) row {
	return row{
		name:  name,
		bytes: size(value),
		check: func(b backend) error {
			document, err := b.marshal(value)
			if err != nil {
				return err
			}
			return same(document, value)
		},
		run: func(b backend) error {
			_, err := b.marshal(value)
			return err
		},
	}
}

// encoderRow encodes to a new buffer through a new encoder and writes the buffer away where it is asked to.
func encoderRow(name string, value any, http bool) row {
	once := func(b backend) (*bytes.Buffer, error) {
		var buffer bytes.Buffer
		err := b.newEncoder(&buffer).Encode(value)
		return &buffer, err
	}
	return row{
		name:  name,
		bytes: size(value) + 1,
		check: func(b backend) error {
			buffer, err := once(b)
			if err != nil {
				return err
			}
			return same(buffer.Bytes(), value)
		},
		run: func(b backend) error {
			buffer, err := once(b)
			if err != nil || !http {
				return err
			}
			_, err = io.Copy(io.Discard, buffer)
			return err
		},
	}
}

// unmarshalRow decodes into what fresh makes, which is the same value every time where the original reuses it.
func unmarshalRow(name string, value any, fresh func() any) row {
	document := marshalled(value)
	return row{
		name:  name,
		bytes: len(document),
		check: func(b backend) error {
			target := fresh()
			if err := b.unmarshal(document, target); err != nil {
				return err
			}
			return same(document, target)
		},
		run: func(b backend) error { return b.unmarshal(document, fresh()) },
	}
}

func decoderRow(name string, value any, fresh func() any) row {
	document := marshalled(value)
	once := func(b backend) (any, error) {
		target := fresh()
		return target, b.newDecoder(bytes.NewReader(document)).Decode(target)
	}
	return row{
		name:  name,
		bytes: len(document),
		check: func(b backend) error {
			target, err := once(b)
			if err != nil {
				return err
			}
			return same(document, target)
		},
		run: func(b backend) error {
			_, err := once(b)
			return err
		},
	}
}

func roundTripRow(name string, value any, fresh func() any) row {
	once := func(b backend) (any, error) {
		document, err := b.marshal(value)
		if err != nil {
			return nil, err
		}
		target := fresh()
		return target, b.unmarshal(document, target)
	}
	return row{
		name:  name,
		bytes: size(value),
		check: func(b backend) error {
			target, err := once(b)
			if err != nil {
				return err
			}
			return same(marshalled(value), target)
		},
		run: func(b backend) error {
			_, err := once(b)
			return err
		},
	}
}

func marshalled(value any) []byte {
	document, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return document
}

func size(value any) int { return len(marshalled(value)) }

// same says whether a document holds the value, whatever the order of the keys.
func same(document []byte, value any) error {
	var found, expected any
	if err := json.Unmarshal(document, &found); err != nil {
		return err
	}
	if err := json.Unmarshal(marshalled(value), &expected); err != nil {
		return err
	}
	if !reflect.DeepEqual(found, expected) {
		return fmt.Errorf("found %v, expected %v", found, expected)
	}
	return nil
}

func newAPI() any  { return new(apiResponse) }
func newPage() any { return new(pageResponse) }

// BenchmarkRow has a sub-benchmark for every row and implementation. Each is checked before it is timed.
func BenchmarkRow(b *testing.B) {
	type entry struct {
		row      row
		backends []backend
	}
	var entries []entry
	add := func(backends []backend, row row) { entries = append(entries, entry{row, backends}) }
	both, one, other := []backend{native, standard}, []backend{native}, []backend{standard}

	add(both, marshalRow("api_response_sonic", api()))
	add(other, marshalRow("api_response_stdlib", api()))
	add(one, marshalRow("api_response_sonic_direct", api()))
	add(both, marshalRow("user_data_sonic", user()))
	add(other, marshalRow("user_data_stdlib", user()))
	add(both, marshalRow("page_response_sonic", page()))
	add(other, marshalRow("page_response_stdlib", page()))
	add(both, marshalRow("marshal", test()))
	add(other, marshalRow("marshal_stdlib", test()))
	add(one, marshalRow("marshal_sonic", test()))
	add([]backend{fastest}, marshalRow("marshal_fastest_mode", test()))
	add(both, marshalRow("marshal_complex", complexPayload()))
	add(other, marshalRow("marshal_complex_stdlib", complexPayload()))
	add(one, marshalRow("marshal_complex_sonic", complexPayload()))
	add(both, marshalRow("marshal_small", simple()))
	add(other, marshalRow("marshal_small_stdlib", simple()))

	add(both, encoderRow("api_response_encoder_sonic", api(), false))
	add(other, encoderRow("api_response_encoder_stdlib", api(), false))
	add(both, encoderRow("http_response_sonic", api(), true))
	add(other, encoderRow("http_response_stdlib", api(), true))
	add(both, encoderRow("http_page_response_sonic", page(), true))
	add(other, encoderRow("http_page_response_stdlib", page(), true))
	add(both, encoderRow("encoder", test(), false))
	add(other, encoderRow("encoder_stdlib", test(), false))
	add(one, encoderRow("encoder_sonic", test(), false))

	// The original reuses the target of these three.
	reused := new(testResponse)
	again := func() any { return reused }
	add(both, unmarshalRow("api_response_unmarshal_sonic", api(), newAPI))
	add(other, unmarshalRow("api_response_unmarshal_stdlib", api(), newAPI))
	add(both, unmarshalRow("page_response_unmarshal_sonic", page(), newPage))
	add(other, unmarshalRow("page_response_unmarshal_stdlib", page(), newPage))
	add(both, unmarshalRow("unmarshal", test(), again))
	add(other, unmarshalRow("unmarshal_stdlib", test(), again))
	add(one, unmarshalRow("unmarshal_sonic", test(), again))
	add(both, decoderRow("api_response_decoder_sonic", api(), newAPI))
	add(other, decoderRow("api_response_decoder_stdlib", api(), newAPI))

	add(both, roundTripRow("round_trip_api_response_sonic", api(), newAPI))
	add(other, roundTripRow("round_trip_api_response_stdlib", api(), newAPI))
	add(both, roundTripRow("round_trip_page_response_sonic", page(), newPage))
	add(other, roundTripRow("round_trip_page_response_stdlib", page(), newPage))
	newTest := func() any { return new(testResponse) }
	add(both, roundTripRow("roundtrip", test(), newTest))
	add(other, roundTripRow("roundtrip_stdlib", test(), newTest))

	for _, entry := range entries {
		b.Run(entry.row.name, func(b *testing.B) { run(b, entry.row, entry.backends) })
	}
	for kind, generate := range documents {
		for name, length := range sizes {
			for _, direction := range []string{"decode", "encode"} {
				name := kind + "_" + name + "_" + direction
				b.Run(name, func(b *testing.B) { run(b, documentRow(name, generate(length), direction), both) })
			}
		}
	}
}

var documents = map[string]func(int) string{"twitter": messages, "citm": catalogue, "canada": coastline}
var sizes = map[string]int{"10k": 10 << 10, "100k": 100 << 10, "1m": 1 << 20}

// documentRow decodes to maps of anything, or encodes them.
func documentRow(name, document, direction string) row {
	var tree any
	if err := json.Unmarshal([]byte(document), &tree); err != nil {
		panic(err)
	}
	if direction == "encode" {
		return marshalRow(name, tree)
	}
	row := unmarshalRow(name, json.RawMessage(document), func() any { return new(any) })
	row.bytes = len(document)
	return row
}

func run(b *testing.B, r row, backends []backend) {
	for _, backend := range backends {
		b.Run(backend.name, func(b *testing.B) {
			if err := r.check(backend); err != nil {
				b.Fatal(err)
			}
			sampler.Run(b, r.bytes, func() error { return r.run(backend) })
		})
	}
}

// TestSonicIsNative makes sure that the rows measure the native code and not its fallback to the standard library.
func TestSonicIsNative(t *testing.T) {
	if sonic.APIKind != sonic.UseSonicJSON {
		t.Fatalf("sonic runs as %v on this machine", sonic.APIKind)
	}
}

// TestDocumentsAreThoseOfTheRustSuite compares checksums that the Rust suite holds as well.
func TestDocumentsAreThoseOfTheRustSuite(t *testing.T) {
	for kind, expected := range map[string]string{"twitter": "49c0f407c1d0767b", "citm": "2f4b27589b8d58da", "canada": "92de37c166e5fb45"} {
		sum := fnv.New64a()
		io.Copy(sum, strings.NewReader(documents[kind](100<<10)))
		if found := fmt.Sprintf("%016x", sum.Sum64()); found != expected {
			t.Errorf("%s: %s, expected %s", kind, found, expected)
		}
	}
}
