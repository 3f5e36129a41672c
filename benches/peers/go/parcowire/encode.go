package parcowire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Encode writes a value. The bytes are nil where it fails.
func (s *Schema) Encode(value any) ([]byte, error) {
	return s.append([]byte{}, value)
}

func (s *Schema) append(out []byte, value any) ([]byte, error) {
	if number, isNumber := numbers[s.T]; isNumber {
		return s.appendNumber(out, number, value)
	}
	switch s.T {
	case "bool":
		flag, err := as[bool](s, value)
		if err != nil {
			return nil, err
		}
		return appendFlag(out, flag), nil
	case "time_utc":
		nanos, err := as[int64](s, value)
		if err != nil {
			return nil, err
		}
		return binary.LittleEndian.AppendUint64(out, uint64(nanos)), nil
	case "time_location":
		return s.appendLocated(out, value)
	case "string":
		text, err := as[string](s, value)
		if err != nil {
			return nil, err
		}
		return appendBytes(out, s.Header, text)
	case "blob":
		bytes, err := as[[]byte](s, value)
		if err != nil {
			return nil, err
		}
		return appendBytes(out, s.Header, bytes)
	case "slice", "array":
		return s.appendList(out, value)
	case "map":
		return s.appendMap(out, value)
	case "option":
		if value == nil {
			return appendFlag(out, false), nil
		}
		some, err := as[Some](s, value)
		if err != nil {
			return nil, err
		}
		return s.Inner.append(appendFlag(out, true), some.Value)
	case "struct":
		return s.appendStruct(out, value)
	case "skip":
		if value != nil {
			return nil, s.misfit(value)
		}
		return append(out, make([]byte, *s.N)...), nil
	case "multi":
		return s.appendFrame(out, value)
	default:
		return nil, invalid("%q is no type", s.T)
	}
}

func appendFlag(out []byte, flag bool) []byte {
	if flag {
		return append(out, 1)
	}
	return append(out, 0)
}

func (s *Schema) appendNumber(out []byte, number number, value any) ([]byte, error) {
	var bits uint64
	switch value := value.(type) {
	case uint64:
		if number.kind != integer || number.signed {
			return nil, s.misfit(value)
		}
		if number.width < 8 && value>>(8*number.width) != 0 {
			return nil, fmt.Errorf("%s: %w", s.T, ErrOverflow)
		}
		bits = value
	case int64:
		if number.kind == float || number.kind == integer && !number.signed {
			return nil, s.misfit(value)
		}
		if !number.holds(value) {
			return nil, fmt.Errorf("%s: %w", s.T, ErrOverflow)
		}
		bits = uint64(value)
	case Bits:
		if number.kind != float {
			return nil, s.misfit(value)
		}
		if number.width == 4 && value > math.MaxUint32 {
			return nil, fmt.Errorf("%s: %w", s.T, ErrOverflow)
		}
		bits = uint64(value)
	default:
		return nil, s.misfit(value)
	}
	switch order := s.byteOrder(); number.width {
	case 1:
		return append(out, byte(bits)), nil
	case 2:
		return order.AppendUint16(out, uint16(bits)), nil
	case 4:
		return order.AppendUint32(out, uint32(bits)), nil
	default:
		return order.AppendUint64(out, bits), nil
	}
}

// holds says whether a value is in the range of the type.
func (n number) holds(value int64) bool {
	if !n.signed {
		return value >= 0 && (n.width == 8 || value>>(8*n.width) == 0)
	}
	spare := 64 - 8*n.width
	return value<<spare>>spare == value
}

// appendBytes writes the length and the bytes.
func appendBytes[B string | []byte](out []byte, header *Schema, bytes B) ([]byte, error) {
	out, err := header.append(out, int64(len(bytes)))
	if err != nil {
		return nil, err
	}
	return append(out, bytes...), nil
}

func (s *Schema) appendLocated(out []byte, value any) ([]byte, error) {
	located, err := as[Located](s, value)
	if err != nil {
		return nil, err
	}
	out = binary.LittleEndian.AppendUint64(out, uint64(located.UnixNanos))
	return appendBytes(appendFlag(out, true), zoneHeader, located.Zone)
}

// zoneHeader carries the length of the name of a zone.
var zoneHeader = &Schema{T: "uint8_header"}

func (s *Schema) appendList(out []byte, value any) ([]byte, error) {
	list, err := as[[]any](s, value)
	if err != nil {
		return nil, err
	}
	if s.T == "slice" {
		if out, err = s.Header.append(out, int64(len(list))); err != nil {
			return nil, err
		}
	} else if len(list) != *s.Len {
		return nil, fmt.Errorf("%d elements for an array of %d: %w", len(list), *s.Len, ErrInvalidLength)
	}
	for _, element := range list {
		if out, err = s.Elem.append(out, element); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Schema) appendMap(out []byte, value any) ([]byte, error) {
	entries, err := as[Map](s, value)
	if err != nil {
		return nil, err
	}
	if out, err = s.Header.append(out, int64(len(entries))); err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if out, err = s.Key.append(out, entry.Key); err != nil {
			return nil, err
		}
		if out, err = s.Value.append(out, entry.Value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Schema) appendStruct(out []byte, value any) ([]byte, error) {
	values, err := as[[]any](s, value)
	if err != nil {
		return nil, err
	}
	if len(values) != len(s.Fields) {
		return nil, fmt.Errorf("%w: %d values for %d fields", ErrValue, len(values), len(s.Fields))
	}
	for index, field := range s.Fields {
		if out, err = field.Type.append(out, values[index]); err != nil {
			return nil, fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	return out, nil
}

func (s *Schema) appendFrame(out []byte, value any) ([]byte, error) {
	frame, err := as[Frame](s, value)
	if err != nil {
		return nil, err
	}
	if out, err = s.Header.append(out, frame.ID); err != nil {
		return nil, err
	}
	model, err := s.model(frame.ID)
	if err != nil {
		return nil, err
	}
	return model.append(out, frame.Model)
}
