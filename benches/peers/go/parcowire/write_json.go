package parcowire

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// WriteValue writes a value in the JSON language of the vector file.
//
// Integers of 64 bits and times are strings of decimal digits, and so are headers that do not fit into an int32. Blobs
// are {hex}, and so are strings that are no UTF-8.
func (s *Schema) WriteValue(value any) ([]byte, error) {
	// What the encoder refuses has no form in JSON either.
	if _, err := s.Encode(value); err != nil {
		return nil, err
	}
	return json.Marshal(s.toJSON(value))
}

// toJSON is the tree of a value that fits the schema.
func (s *Schema) toJSON(value any) any {
	switch value := value.(type) {
	case uint64:
		if numbers[s.T].width == 8 {
			return strconv.FormatUint(value, 10)
		}
		return value
	case int64:
		number := numbers[s.T]
		fits := number.width < 8
		if number.kind == header {
			fits = value == int64(int32(value))
		}
		if s.T == "time_utc" || !fits {
			return strconv.FormatInt(value, 10)
		}
		return value
	case Bits:
		if s.T == "float32" {
			text := strconv.FormatFloat(float64(math.Float32frombits(uint32(value))), 'g', -1, 32)
			return map[string]any{"bits": fmt.Sprintf("0x%08x", uint32(value)), "text": text}
		}
		text := strconv.FormatFloat(math.Float64frombits(uint64(value)), 'g', -1, 64)
		return map[string]any{"bits": fmt.Sprintf("0x%016x", uint64(value)), "text": text}
	case string:
		if utf8.ValidString(value) {
			return value
		}
		return map[string]any{"hex": hex.EncodeToString([]byte(value))}
	case []byte:
		return map[string]any{"hex": hex.EncodeToString(value)}
	case []any:
		if s.T == "struct" {
			object := make(map[string]any, len(value))
			for index, field := range s.Fields {
				object[field.Name] = field.Type.toJSON(value[index])
			}
			return object
		}
		list := make([]any, len(value))
		for index, element := range value {
			list[index] = s.Elem.toJSON(element)
		}
		return list
	case Map:
		list := make([]any, len(value))
		for index, entry := range value {
			list[index] = []any{s.Key.toJSON(entry.Key), s.Value.toJSON(entry.Value)}
		}
		return list
	case Some:
		return map[string]any{"some": s.Inner.toJSON(value.Value)}
	case Located:
		return map[string]any{"unix_nanos": strconv.FormatInt(value.UnixNanos, 10), "zone": value.Zone}
	case Frame:
		model := s.Models[fmt.Sprint(value.ID)]
		return []any{s.Header.toJSON(value.ID), model.toJSON(value.Model)}
	default:
		// A bool is itself, and null is for what is absent.
		return value
	}
}
