package parcowire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadValue reads a value in the JSON language of the vector file.
func (s *Schema) ReadValue(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrValue, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: more than one value", ErrValue)
	}
	return s.fromJSON(tree)
}

func (s *Schema) fromJSON(tree any) (any, error) {
	if number, isNumber := numbers[s.T]; isNumber {
		return s.numberFromJSON(number, tree)
	}
	switch s.T {
	case "bool":
		return as[bool](s, tree)
	case "time_utc":
		return s.integerFromJSON(tree, number{8, integer, true})
	case "time_location":
		return s.locatedFromJSON(tree)
	case "string", "blob":
		return s.bytesFromJSON(tree)
	case "slice", "array":
		return s.listFromJSON(tree)
	case "map":
		return s.mapFromJSON(tree)
	case "option":
		return s.optionFromJSON(tree)
	case "struct":
		return s.structFromJSON(tree)
	case "skip":
		if tree != nil {
			return nil, s.misfit(tree)
		}
		return nil, nil
	case "multi":
		return s.frameFromJSON(tree)
	default:
		return nil, invalid("%q is no type", s.T)
	}
}

func (s *Schema) numberFromJSON(number number, tree any) (any, error) {
	if number.kind == float {
		object, err := as[map[string]any](s, tree)
		if err != nil {
			return nil, err
		}
		text, err := as[string](s, object["bits"])
		if err != nil {
			return nil, err
		}
		bits, err := strconv.ParseUint(text, 0, 8*number.width)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrValue, err)
		}
		return Bits(bits), nil
	}
	if number.kind == header {
		// The value is an int to the program; whether the header carries it shows when it is encoded.
		number.width, number.signed = 8, true
	}
	return s.integerFromJSON(tree, number)
}

// integerFromJSON reads a number or a string of decimal digits.
func (s *Schema) integerFromJSON(tree any, number number) (any, error) {
	text := ""
	switch tree := tree.(type) {
	case json.Number:
		text = tree.String()
	case string:
		text = tree
	default:
		return nil, s.misfit(tree)
	}
	if number.signed {
		value, err := strconv.ParseInt(text, 10, 8*number.width)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrValue, err)
		}
		return value, nil
	}
	value, err := strconv.ParseUint(text, 10, 8*number.width)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrValue, err)
	}
	return value, nil
}

func (s *Schema) locatedFromJSON(tree any) (any, error) {
	object, err := as[map[string]any](s, tree)
	if err != nil {
		return nil, err
	}
	nanos, err := s.integerFromJSON(object["unix_nanos"], number{8, integer, true})
	if err != nil {
		return nil, err
	}
	zone, err := as[string](s, object["zone"])
	return Located{nanos.(int64), zone}, err
}

// bytesFromJSON reads text, {hex}, {repeat, count}, and for a blob null.
func (s *Schema) bytesFromJSON(tree any) (any, error) {
	text := ""
	switch tree := tree.(type) {
	case string:
		text = tree
	case map[string]any:
		if repeated, count, ok := repetition(tree); ok {
			unit, err := as[string](s, repeated)
			if err != nil {
				return nil, err
			}
			text = strings.Repeat(unit, count)
			break
		}
		digits, err := as[string](s, tree["hex"])
		if err != nil {
			return nil, err
		}
		decoded, err := hex.DecodeString(digits)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrValue, err)
		}
		text = string(decoded)
	default:
		if tree != nil || s.T == "string" {
			return nil, s.misfit(tree)
		}
	}
	if s.T == "string" {
		return text, nil
	}
	return []byte(text), nil
}

// repetition reads {repeat, count}; the count alone stands for as many different things.
func repetition(object map[string]any) (repeated any, count int, ok bool) {
	digits, ok := object["count"].(json.Number)
	if !ok {
		return nil, 0, false
	}
	count, err := strconv.Atoi(digits.String())
	return object["repeat"], count, err == nil && count >= 0 && count <= maxCount
}

func (s *Schema) listFromJSON(tree any) (any, error) {
	list, ok := tree.([]any)
	if object, isObject := tree.(map[string]any); isObject {
		var repeated any
		var count int
		if repeated, count, ok = repetition(object); ok {
			list = make([]any, count)
			for index := range list {
				list[index] = repeated
			}
		}
	}
	if !ok && tree != nil {
		return nil, s.misfit(tree)
	}
	values := make([]any, len(list))
	for index, element := range list {
		var err error
		if values[index], err = s.Elem.fromJSON(element); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func (s *Schema) mapFromJSON(tree any) (any, error) {
	list, ok := tree.([]any)
	if object, isObject := tree.(map[string]any); isObject {
		// A count alone is for maps from numbers to numbers: the keys count up, and the values are zero.
		var count int
		if _, count, ok = repetition(object); ok {
			for key := range count {
				list = append(list, []any{json.Number(strconv.Itoa(key)), json.Number("0")})
			}
		}
	}
	if !ok && tree != nil {
		return nil, s.misfit(tree)
	}
	values := make(Map, len(list))
	seen := make(map[any]bool, len(list))
	for index, member := range list {
		pair, ok := member.([]any)
		if !ok || len(pair) != 2 {
			return nil, s.misfit(member)
		}
		key, err := s.Key.fromJSON(pair[0])
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, fmt.Errorf("%w: a key twice", ErrValue)
		}
		seen[key] = true
		value, err := s.Value.fromJSON(pair[1])
		if err != nil {
			return nil, err
		}
		values[index] = Entry{key, value}
	}
	return values, nil
}

func (s *Schema) optionFromJSON(tree any) (any, error) {
	if tree == nil {
		return nil, nil
	}
	object, ok := tree.(map[string]any)
	inner, found := object["some"]
	if !ok || !found || len(object) != 1 {
		return nil, s.misfit(tree)
	}
	value, err := s.Inner.fromJSON(inner)
	if err != nil {
		return nil, err
	}
	return Some{value}, nil
}

func (s *Schema) structFromJSON(tree any) (any, error) {
	object, err := as[map[string]any](s, tree)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(s.Fields))
	for index, field := range s.Fields {
		member, found := object[field.Name]
		if !found {
			return nil, fmt.Errorf("%w: no field %s", ErrValue, field.Name)
		}
		if values[index], err = field.Type.fromJSON(member); err != nil {
			return nil, fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	if len(object) != len(values) {
		return nil, fmt.Errorf("%w: more members than fields", ErrValue)
	}
	return values, nil
}

func (s *Schema) frameFromJSON(tree any) (any, error) {
	pair, ok := tree.([]any)
	if !ok || len(pair) != 2 {
		return nil, s.misfit(tree)
	}
	id, err := s.Header.fromJSON(pair[0])
	if err != nil {
		return nil, err
	}
	// The model of an id is looked up only when the header can carry the id.
	if _, err := s.Header.Encode(id); err != nil {
		return nil, err
	}
	schema, err := s.model(id)
	if err != nil {
		return nil, err
	}
	model, err := schema.fromJSON(pair[1])
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %w", id, ErrUnknownModel, err)
	}
	return Frame{id, model}, nil
}
