package parcowire

import "fmt"

// Bits is a float as its IEEE 754 bits, so that every NaN is equal to itself alone.
type Bits uint64

// Map is a map in the order of the wire, with no two equal keys.
type Map []Entry

// Entry is one entry of a [Map].
type Entry struct{ Key, Value any }

// Some is an option that is present.
type Some struct{ Value any }

// Located is an instant with the name of a time zone.
type Located struct {
	UnixNanos int64
	Zone      string
}

// Frame is a message of a multi: the id, and a value of the id's model.
type Frame struct{ ID, Model any }

// misfit is the error for a value of another type.
func (s *Schema) misfit(value any) error {
	return fmt.Errorf("%w: %T for %s", ErrValue, value, s.T)
}

// as is the value as a T, or the error for a value of another type.
func as[T any](s *Schema, value any) (T, error) {
	typed, ok := value.(T)
	if !ok {
		return typed, s.misfit(value)
	}
	return typed, nil
}

// model is the type that the id stands for.
func (s *Schema) model(id any) (*Schema, error) {
	if model, found := s.Models[fmt.Sprint(id)]; found {
		return model, nil
	}
	return nil, fmt.Errorf("%v: %w", id, ErrUnknownModel)
}
