// Command json has the rows of the suite json for the libraries of Go.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"peers/library"
	"peers/payload"
	"peers/resident"
)

// value is what rows encode and decode.
type value struct {
	encoded any
	// fresh makes the target of decoding.
	fresh func() payload.Checked
	// document is what is decoded; nil for the document of the value as encoding/json writes it.
	document []byte
	// wholeNumbers are those that the Rust suite writes as 83.0 and Go as 83.
	wholeNumbers int
}

func of[T any, P interface {
	*T
	payload.Checked
}](encoded P) value {
	return value{encoded: encoded, fresh: func() payload.Checked { return P(new(T)) }}
}

// published are the values of the rows in the report of the original, by the beginning of the names. The first match
// counts.
var published = []struct {
	prefix string
	value  func() value
}{
	{"api_response", func() value { return of(payload.API()) }},
	{"round_trip_api_response", func() value { return of(payload.API()) }},
	{"user_data", func() value { return value{encoded: payload.User()} }},
	{"page_response", func() value { return of(payload.Page(20)) }},
	{"round_trip_page_response", func() value { return of(payload.Page(20)) }},
	{"http_page_response", func() value { return of(payload.Page(20)) }},
	{"marshal_complex", func() value { return value{encoded: payload.Complex()} }},
	{"marshal_small", func() value { return value{encoded: payload.Simple()} }},
	{"marshal", func() value { return of(payload.Test()) }},
	{"encoder", func() value { return of(payload.Test()) }},
	{"unmarshal", func() value {
		// The original reuses the target.
		reused := new(payload.TestResponse)
		return value{encoded: payload.Test(), fresh: func() payload.Checked { return reused }}
	}},
	{"roundtrip", func() value { return of(payload.Test()) }},
}

func setUp(row, implementation string) (resident.Batch, error) {
	name := implementation
	if implementation == "sonic" && row == "marshal_fastest_mode" || strings.HasPrefix(implementation, "sonic ") {
		name = "sonic fastest"
	}
	coder, known := library.Named(name)
	if !known {
		return nil, nil
	}
	if name, decodes := strings.CutSuffix(row, "_decode"); decodes {
		v, err := document(name, implementation)
		if v == nil || err != nil {
			return nil, err
		}
		return decode(coder, *v)
	}
	if name, encodes := strings.CutSuffix(row, "_encode"); encodes {
		v, err := document(name, implementation)
		if v == nil || err != nil {
			return nil, err
		}
		return encode(coder, *v)
	}
	for _, one := range published {
		if !strings.HasPrefix(row, one.prefix) {
			continue
		}
		v := one.value()
		switch rest := row[len(one.prefix):]; {
		case strings.HasPrefix(rest, "_unmarshal"), strings.HasPrefix(row, "unmarshal"):
			return decode(coder, v)
		case strings.HasPrefix(rest, "_decoder"):
			return decodeNext(coder, v)
		case strings.HasPrefix(row, "round"):
			return roundTrip(coder, v)
		case strings.HasPrefix(row, "http"), strings.Contains(row, "encoder"):
			return encodeLine(coder, v.encoded, strings.HasPrefix(row, "http"))
		default:
			return encode(coder, v)
		}
	}
	return nil, nil
}

// document makes the value of a row such as twitter_100k: typed, or a tree if the implementation says so. It is nil if
// there is none.
func document(name, implementation string) (*value, error) {
	kind, _, _ := strings.Cut(name, "_")
	fresh := payload.Types[kind]
	text, err := os.ReadFile(filepath.Join(os.Getenv("BENCH_DOCUMENTS"), name+".json"))
	if fresh == nil || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := &value{document: text}
	if strings.HasSuffix(implementation, " tree") {
		if kind == "canada" {
			v.wholeNumbers = bytes.Count(text, []byte(".0,")) + bytes.Count(text, []byte(".0]"))
		}
		return v, json.Unmarshal(text, &v.encoded)
	}
	typed := fresh()
	err = json.Unmarshal(text, typed)
	if canada, ok := typed.(*payload.Canada); ok {
		v.wholeNumbers = canada.WholeNumbers()
	}
	v.encoded, v.fresh = typed, fresh
	return v, err
}

// encode writes to a new slice. The check value is the length without the escapes for HTML that encoding/json has.
func encode(coder library.Coder, v value) (resident.Batch, error) {
	document, err := coder.Marshal(v.encoded)
	if err := same(document, v.encoded, err); err != nil {
		return nil, err
	}
	check := len(document) + len(".0")*v.wholeNumbers
	for _, escape := range []string{`\u003c`, `\u003e`, `\u0026`} {
		check -= (len(escape) - 1) * bytes.Count(document, []byte(escape))
	}
	return resident.Checked(uint64(len(document)), uint64(check), func() (int, error) {
		document, err := coder.Marshal(v.encoded)
		return len(document), err
	}), nil
}

// encodeLine writes to a new buffer through a new encoder, and writes the buffer away where it is asked to.
func encodeLine(coder library.Coder, value any, http bool) (resident.Batch, error) {
	if coder.Line == nil {
		return nil, nil
	}
	once := func() (*bytes.Buffer, error) {
		var buffer bytes.Buffer
		err := coder.Line(&buffer, value)
		return &buffer, err
	}
	buffer, err := once()
	if err := same(buffer.Bytes(), value, err); err != nil {
		return nil, err
	}
	return resident.Each(func() (uint64, error) {
		buffer, err := once()
		length := uint64(buffer.Len())
		if http && err == nil {
			_, err = io.Copy(io.Discard, buffer)
		}
		return length, err
	}), nil
}

func decode(coder library.Coder, v value) (resident.Batch, error) {
	document := v.document
	if document == nil {
		document = marshalled(v.encoded)
	}
	if v.fresh == nil {
		var tree any
		if err := coder.Unmarshal(document, &tree); err != nil || !reflect.DeepEqual(tree, v.encoded) {
			return nil, fmt.Errorf("decoded another tree (%v)", err)
		}
		return resident.Each(func() (uint64, error) {
			var tree payload.Tree
			err := coder.Unmarshal(document, &tree.Value)
			return tree.Check(), err
		}), nil
	}
	target := v.fresh()
	if err := coder.Unmarshal(document, target); err != nil {
		return nil, err
	}
	if v.document != nil && !reflect.DeepEqual(target, v.encoded) {
		return nil, errors.New("decoded another value")
	}
	if v.document == nil {
		if err := same(document, target, nil); err != nil {
			return nil, err
		}
	}
	return resident.Each(func() (uint64, error) {
		target := v.fresh()
		err := coder.Unmarshal(document, target)
		return target.Check(), err
	}), nil
}

// decodeNext reads from a new reader with a new decoder.
func decodeNext(coder library.Coder, v value) (resident.Batch, error) {
	if coder.Next == nil {
		return nil, nil
	}
	document := marshalled(v.encoded)
	return resident.Each(func() (uint64, error) {
		target := v.fresh()
		err := coder.Next(bytes.NewReader(document), target)
		return target.Check(), err
	}), nil
}

func roundTrip(coder library.Coder, v value) (resident.Batch, error) {
	return resident.Each(func() (uint64, error) {
		document, err := coder.Marshal(v.encoded)
		if err != nil {
			return 0, err
		}
		target := v.fresh()
		err = coder.Unmarshal(document, target)
		return target.Check(), err
	}), nil
}

func marshalled(value any) []byte {
	document, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return document
}

// same says whether a document holds the value, whatever the order of the keys.
func same(document []byte, value any, err error) error {
	var found, expected any
	if err == nil {
		err = json.Unmarshal(document, &found)
	}
	if err == nil {
		err = json.Unmarshal(marshalled(value), &expected)
	}
	if err == nil && !reflect.DeepEqual(found, expected) {
		err = fmt.Errorf("found %.200v, expected %.200v", found, expected)
	}
	return err
}

func main() { resident.Serve(setUp) }
