package parcowire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
)

// Schema describes one type. Which members it has depends on T, the name of the type.
type Schema struct {
	T string `json:"t"`
	// Order is "le" or "be" for numbers of two bytes and more, empty for all else.
	Order string `json:"order,omitempty"`
	// Header carries the length of a string or blob, the count of a slice or map, or the id of a multi.
	Header *Schema `json:"header,omitempty"`
	// Elem is the type of the elements of a slice or array.
	Elem *Schema `json:"elem,omitempty"`
	// Len is the number of elements of an array.
	Len *int `json:"len,omitempty"`
	// Key is the type of the keys of a map.
	Key *Schema `json:"key,omitempty"`
	// Value is the type of the values of a map.
	Value *Schema `json:"value,omitempty"`
	// Inner is the type of what an option holds.
	Inner *Schema `json:"inner,omitempty"`
	// Fields are the fields of a struct in the order of the wire.
	Fields []Field `json:"fields,omitzero"`
	// N is the number of bytes of a skip.
	N *int `json:"n,omitempty"`
	// Models are the types of a multi by id.
	Models Models `json:"models,omitempty"`
	// Names are the names of the models by id, if they have any. They are not on the wire.
	Names map[string]string `json:"names,omitempty"`
	// Name is the name of a struct or multi, which is not on the wire.
	Name string `json:"name,omitempty"`
	// Logical is the meaning of the type, which is not on the wire.
	Logical string `json:"logical,omitempty"`
}

// Field is a field of a struct; the name is not on the wire.
type Field struct {
	Name string
	Type *Schema
}

// Models are types by id, which is in decimal where the header of the multi is a number.
type Models map[string]*Schema

// number describes how a type that is one number is written.
type number struct {
	width int
	kind  numberKind
	// signed says whether the range includes negative numbers.
	signed bool
}

type numberKind int

const (
	integer numberKind = iota
	header
	float
)

var numbers = map[string]number{
	"uint8": {1, integer, false}, "int8": {1, integer, true},
	"uint16": {2, integer, false}, "int16": {2, integer, true},
	"uint32": {4, integer, false}, "int32": {4, integer, true},
	"uint64": {8, integer, false}, "int64": {8, integer, true},
	// Of a 64-bit platform.
	"uint": {8, integer, false}, "int": {8, integer, true},

	"uint8_header": {1, header, false}, "int8_header": {1, header, true},
	"uint16_header": {2, header, false}, "int16_header": {2, header, true},
	"uint32_header": {4, header, false}, "int32_header": {4, header, true},
	"uint64_header": {8, header, false}, "int64_header": {8, header, true},
	"uint_header": {8, header, false}, "int_header": {8, header, true},

	"float32": {4, float, false}, "float64": {8, float, false},
}

// ParseSchema reads a schema and checks it, all its parts included.
func ParseSchema(data []byte) (*Schema, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	schema := new(Schema)
	if err := decoder.Decode(schema); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if err := schema.check(); err != nil {
		return nil, err
	}
	return schema, nil
}

// Register gives a multi a model, with the id in the form of [Models].
func (s *Schema) Register(id string, model *Schema) error {
	if _, found := s.Models[id]; found {
		return fmt.Errorf("%q: %w", id, ErrAlreadyRegistered)
	}
	if s.Models == nil {
		s.Models = Models{}
	}
	s.Models[id] = model
	return nil
}

// MarshalJSON writes a pair of name and type.
func (f Field) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{f.Name, f.Type})
}

// UnmarshalJSON reads a pair of name and type.
func (f *Field) UnmarshalJSON(data []byte) error {
	var pair []json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("a field is a pair, not %d members", len(pair))
	}
	if err := json.Unmarshal(pair[0], &f.Name); err != nil {
		return err
	}
	return json.Unmarshal(pair[1], &f.Type)
}

// UnmarshalJSON reads an object whose keys are all different, which the target of a plain map does not notice.
func (m *Models) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("models are an object: %v", err)
	}
	models := Schema{Models: Models{}}
	for decoder.More() {
		id, err := decoder.Token()
		if err != nil {
			return err
		}
		var model *Schema
		if err := decoder.Decode(&model); err != nil {
			return err
		}
		if err := models.Register(fmt.Sprint(id), model); err != nil {
			return err
		}
	}
	*m = models.Models
	return nil
}

func invalid(format string, arguments ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrSchema}, arguments...)...)
}

// check reports the first part that describes no type.
func (s *Schema) check() error {
	if s == nil {
		return invalid("a type is missing")
	}
	number, isNumber := numbers[s.T]
	ordered := isNumber && number.width > 1
	if ordered != (s.Order == "le" || s.Order == "be") || !ordered && s.Order != "" {
		return invalid("%s with the byte order %q", s.T, s.Order)
	}
	if isNumber {
		return nil
	}
	switch s.T {
	case "bool", "time_utc", "time_location":
		return nil
	case "string", "blob":
		return s.checkHeader()
	case "slice":
		if err := s.checkHeader(); err != nil {
			return err
		}
		return s.Elem.check()
	case "array":
		if s.Len == nil || *s.Len < 0 || *s.Len > maxCount {
			return invalid("an array needs a length up to %d", maxCount)
		}
		return s.Elem.check()
	case "map":
		if err := s.checkHeader(); err != nil {
			return err
		}
		if err := s.Key.check(); err != nil {
			return err
		}
		if !s.Key.isKey() {
			return invalid("%s as the type of keys", s.Key.T)
		}
		return s.Value.check()
	case "option":
		return s.Inner.check()
	case "struct":
		return s.checkFields()
	case "skip":
		if s.N == nil || *s.N < 0 || *s.N > maxBytes {
			return invalid("a skip needs a number of bytes up to %d", maxBytes)
		}
		return nil
	case "multi":
		return s.checkModels()
	default:
		return invalid("%q is no type", s.T)
	}
}

func (s *Schema) checkHeader() error {
	if err := s.Header.check(); err != nil {
		return err
	}
	if found, isNumber := numbers[s.Header.T]; !isNumber || found.kind != header {
		return invalid("%s as the header of a %s", s.Header.T, s.T)
	}
	return nil
}

func (s *Schema) checkFields() error {
	names := make(map[string]bool, len(s.Fields))
	for _, field := range s.Fields {
		if names[field.Name] {
			return invalid("two fields named %q", field.Name)
		}
		names[field.Name] = true
		if err := field.Type.check(); err != nil {
			return fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	return nil
}

func (s *Schema) checkModels() error {
	if err := s.Header.check(); err != nil {
		return err
	}
	number, isNumber := numbers[s.Header.T]
	isNumber = isNumber && number.kind != float
	if !isNumber && s.Header.T != "string" {
		return invalid("%s as the id of models", s.Header.T)
	}
	for id, model := range s.Models {
		if isNumber {
			if _, err := strconv.ParseInt(id, 10, 64); err != nil && number.signed {
				return invalid("%q is no id", id)
			}
			if _, err := strconv.ParseUint(id, 10, 64); err != nil && !number.signed {
				return invalid("%q is no id", id)
			}
		}
		if err := model.check(); err != nil {
			return fmt.Errorf("model %s: %w", id, err)
		}
	}
	return nil
}

// isKey says whether values of the type compare, which Go asks of the keys of a map.
func (s *Schema) isKey() bool {
	_, isNumber := numbers[s.T]
	return isNumber || s.T == "bool" || s.T == "string" || s.T == "time_utc" || s.T == "time_location"
}

func (s *Schema) byteOrder() binary.AppendByteOrder {
	if s.Order == "be" {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// least is the smallest number of bytes that a value of the type takes.
func (s *Schema) least() int {
	if number, isNumber := numbers[s.T]; isNumber {
		return number.width
	}
	switch s.T {
	case "bool", "option":
		return 1
	case "time_utc":
		return 8
	case "time_location":
		return 9
	case "array":
		// Only whether it is zero matters, and the product could overflow.
		return min(*s.Len, 1) * s.Elem.least()
	case "struct":
		sum := 0
		for _, field := range s.Fields {
			sum += field.Type.least()
		}
		return sum
	case "skip":
		return *s.N
	default:
		return s.Header.least()
	}
}
