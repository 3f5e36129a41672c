package parcowire

import (
	"encoding/binary"
	"fmt"
)

// Decode reads one value from the beginning of data. It says how many bytes it read where it fails as well: all of them
// where there are too few, else those up to the end of the byte or header that is wrong.
func (s *Schema) Decode(data []byte) (value any, used int, err error) {
	input := input{data: data}
	if value, err = s.decode(&input); err != nil {
		value = nil
	}
	return value, input.at, err
}

// input is what is decoded, and how far that is done.
type input struct {
	data []byte
	at   int
}

// take gives the next count bytes.
func (i *input) take(count int) ([]byte, error) {
	if count > len(i.data)-i.at {
		i.at = len(i.data)
		return nil, ErrShortInput
	}
	i.at += count
	return i.data[i.at-count : i.at], nil
}

// flag reads a byte that says yes or no.
func (i *input) flag() (bool, error) {
	bytes, err := i.take(1)
	if err != nil {
		return false, err
	}
	if bytes[0] > 1 {
		return false, ErrInvalidBool
	}
	return bytes[0] == 1, nil
}

func (s *Schema) decode(input *input) (any, error) {
	if number, isNumber := numbers[s.T]; isNumber {
		return s.decodeNumber(input, number)
	}
	switch s.T {
	case "bool":
		return input.flag()
	case "time_utc":
		return decodeNanos(input)
	case "time_location":
		return decodeLocated(input)
	case "string":
		bytes, err := decodeBytes(input, s.Header)
		return string(bytes), err
	case "blob":
		bytes, err := decodeBytes(input, s.Header)
		return append([]byte{}, bytes...), err
	case "slice":
		count, err := decodeCount(input, s.Header, s.Elem.least())
		if err != nil {
			return nil, err
		}
		return decodeList(input, s.Elem, count)
	case "array":
		return decodeList(input, s.Elem, *s.Len)
	case "map":
		return s.decodeMap(input)
	case "option":
		present, err := input.flag()
		if err != nil || !present {
			return nil, err
		}
		value, err := s.Inner.decode(input)
		return Some{value}, err
	case "struct":
		values := make([]any, len(s.Fields))
		for index, field := range s.Fields {
			var err error
			if values[index], err = field.Type.decode(input); err != nil {
				return nil, fmt.Errorf("%s: %w", field.Name, err)
			}
		}
		return values, nil
	case "skip":
		_, err := input.take(*s.N)
		return nil, err
	case "multi":
		return s.decodeFrame(input)
	default:
		return nil, invalid("%q is no type", s.T)
	}
}

func (s *Schema) decodeNumber(input *input, number number) (any, error) {
	bytes, err := input.take(number.width)
	if err != nil {
		return nil, err
	}
	var order binary.ByteOrder = binary.LittleEndian
	if s.Order == "be" {
		order = binary.BigEndian
	}
	var bits uint64
	switch number.width {
	case 1:
		bits = uint64(bytes[0])
	case 2:
		bits = uint64(order.Uint16(bytes))
	case 4:
		bits = uint64(order.Uint32(bytes))
	default:
		bits = order.Uint64(bytes)
	}
	switch {
	case number.kind == float:
		return Bits(bits), nil
	case number.signed:
		spare := 64 - 8*number.width
		return int64(bits<<spare) >> spare, nil
	case number.kind == header:
		// From 2^63 on it is negative, as the int of the original.
		return int64(bits), nil
	default:
		return bits, nil
	}
}

func decodeNanos(input *input) (any, error) {
	bytes, err := input.take(8)
	if err != nil {
		return nil, err
	}
	return int64(binary.LittleEndian.Uint64(bytes)), nil
}

// decodeLocated reads an instant with a zone, which is UTC where the name is absent or empty.
func decodeLocated(input *input) (any, error) {
	nanos, err := decodeNanos(input)
	if err != nil {
		return nil, err
	}
	located := Located{nanos.(int64), "UTC"}
	named, err := input.flag()
	if err != nil || !named {
		return located, err
	}
	name, err := decodeBytes(input, zoneHeader)
	if len(name) > 0 {
		located.Zone = string(name)
	}
	return located, err
}

// decodeBytes reads a length and so many bytes, which are those of the input.
func decodeBytes(input *input, header *Schema) ([]byte, error) {
	length, err := decodeLength(input, header, maxBytes)
	if err != nil {
		return nil, err
	}
	return input.take(length)
}

func decodeLength(input *input, header *Schema, limit int64) (int, error) {
	value, err := header.decode(input)
	if err != nil {
		return 0, err
	}
	length := value.(int64)
	if length < 0 || length > limit {
		return 0, fmt.Errorf("%s: %w", header.T, ErrOverflow)
	}
	return int(length), nil
}

// decodeCount reads the number of elements that take at least so many bytes each.
func decodeCount(input *input, header *Schema, least int) (int, error) {
	limit := int64(maxCount)
	if least == 0 {
		limit = maxEmptyElements
	}
	return decodeLength(input, header, limit)
}

func decodeList(input *input, elem *Schema, count int) (any, error) {
	values := make([]any, 0, min(count, maxTrusted))
	for range count {
		value, err := elem.decode(input)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// decodeMap takes the last value of a key that comes twice.
func (s *Schema) decodeMap(input *input) (any, error) {
	count, err := decodeCount(input, s.Header, s.Key.least()+s.Value.least())
	if err != nil {
		return nil, err
	}
	entries := make(Map, 0, min(count, maxTrusted))
	places := make(map[any]int, min(count, maxTrusted))
	for range count {
		key, err := s.Key.decode(input)
		if err != nil {
			return nil, err
		}
		value, err := s.Value.decode(input)
		if err != nil {
			return nil, err
		}
		if place, found := places[key]; found {
			entries[place].Value = value
			continue
		}
		places[key] = len(entries)
		entries = append(entries, Entry{key, value})
	}
	return entries, nil
}

func (s *Schema) decodeFrame(input *input) (any, error) {
	id, err := s.Header.decode(input)
	if err != nil {
		return nil, err
	}
	schema, err := s.model(id)
	if err != nil {
		return nil, err
	}
	model, err := schema.decode(input)
	return Frame{id, model}, err
}
