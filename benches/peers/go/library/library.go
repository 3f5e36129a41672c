// Package library has the JSON libraries of Go, each in the fastest configuration of its documentation that loses no
// data and checks its input.
package library

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/bytedance/sonic"
	v2 "github.com/go-json-experiment/json"
	goccy "github.com/goccy/go-json"
	jsoniter "github.com/json-iterator/go"
	"github.com/mailru/easyjson"
	"github.com/mailru/easyjson/jwriter"
)

// Coder encodes and decodes values of any type.
type Coder struct {
	Marshal   func(any) ([]byte, error)
	Unmarshal func([]byte, any) error
	// Line encodes a value and a line break with a new encoder; Next decodes with a new decoder.
	Line func(io.Writer, any) error
	Next func(io.Reader, any) error
}

// Standard is encoding/json.
var Standard = Coder{
	json.Marshal, json.Unmarshal,
	func(to io.Writer, value any) error { return json.NewEncoder(to).Encode(value) },
	func(from io.Reader, value any) error { return json.NewDecoder(from).Decode(value) },
}

var iterator = jsoniter.Config{ObjectFieldMustBeSimpleString: true}.Froze()

var coders = map[string]Coder{
	"encoding/json": Standard,
	"sonic":         ofSonic(sonic.ConfigDefault),
	"sonic fastest": ofSonic(sonic.ConfigFastest),
	"encoding/json/v2": {
		Marshal:   func(value any) ([]byte, error) { return v2.Marshal(value) },
		Unmarshal: func(document []byte, value any) error { return v2.Unmarshal(document, value) },
	},
	"goccy/go-json": {
		Marshal: func(value any) ([]byte, error) {
			return goccy.MarshalWithOption(value, goccy.UnorderedMap(), goccy.DisableHTMLEscape())
		},
		Unmarshal: goccy.Unmarshal,
	},
	"json-iterator/go": {Marshal: iterator.Marshal, Unmarshal: iterator.Unmarshal},
	"mailru/easyjson":  {Marshal: marshalEasy, Unmarshal: unmarshalEasy},
}

func ofSonic(api sonic.API) Coder {
	return Coder{
		api.Marshal, api.Unmarshal,
		func(to io.Writer, value any) error { return api.NewEncoder(to).Encode(value) },
		func(from io.Reader, value any) error { return api.NewDecoder(from).Decode(value) },
	}
}

// The methods are generated when the peer is built.

func marshalEasy(value any) ([]byte, error) {
	if value, ok := value.(easyjson.Marshaler); ok {
		writer := jwriter.Writer{NoEscapeHTML: true}
		value.MarshalEasyJSON(&writer)
		return writer.BuildBytes()
	}
	return nil, fmt.Errorf("easyjson generated no encoder of %T", value)
}

func unmarshalEasy(document []byte, value any) error {
	if value, ok := value.(easyjson.Unmarshaler); ok {
		return easyjson.Unmarshal(document, value)
	}
	return fmt.Errorf("easyjson generated no decoder of %T", value)
}

// Named finds the library of an implementation, whose name may end with the form of the value, " tree" or " typed".
func Named(implementation string) (Coder, bool) {
	name := strings.TrimSuffix(strings.TrimSuffix(implementation, " tree"), " typed")
	coder, found := coders[name]
	return coder, found
}
