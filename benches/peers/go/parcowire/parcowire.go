// Package parcowire reads and writes the binary messages of the parco format, driven by a schema in JSON.
//
// It is our own and independent of both the Go library that the format comes from and the Rust crate of this
// workspace: it is written from a description of the format, and shares no code with either. The three are compared
// through it. The vectors of the crate's tests, which the original produced, pin it, and the command exchange
// trades messages with the Rust side. It is made for being right and easy to check by reading, not for speed.
//
// A [Schema] is data, in the language of the vector file. A value is a tree of Go values whose shape follows the
// schema:
//
//	uint8 to uint64, uint                 uint64
//	int8 to int64, int, every header      int64
//	time_utc                              int64, nanoseconds since 1970
//	float32, float64                      [Bits]
//	bool                                  bool
//	string                                string, of any bytes
//	blob                                  []byte, never nil
//	slice, array                          []any, never nil
//	map                                   [Map], in the order of the wire, never nil
//	option                                [Some] or nil
//	struct                                []any, one per field
//	skip                                  nil
//	time_location                         [Located]
//	multi                                 [Frame]
//
// [Schema.ReadValue] and [Schema.WriteValue] translate between these trees and the JSON language of the vector file.
// Trees of one schema are equal when reflect.DeepEqual says so.
//
// Decoding is strict where the original is lenient or silent: a bool or a flag other than 00 and 01 is an error, and so
// is the end of input anywhere within a message. A located time keeps its instant when its zone is absent, and
// zone names are not looked up. A count that its header cannot carry is an error for every header.
package parcowire

import "errors"

// What can be wrong. Errors name the field and the type on top of these.
var (
	// ErrShortInput means that the input ends within the message.
	ErrShortInput = errors.New("the input ends within the message")
	// ErrOverflow means a number or length out of the range of its type, or a length beyond the limits.
	ErrOverflow = errors.New("out of range")
	// ErrInvalidLength means an array with another number of elements than its schema says.
	ErrInvalidLength = errors.New("wrong number of elements")
	// ErrInvalidBool means a byte other than 00 and 01 where a bool or a flag is expected.
	ErrInvalidBool = errors.New("neither 00 nor 01")
	// ErrUnknownModel means an id without a model, or a value that is none of the id's model.
	ErrUnknownModel = errors.New("unknown model")
	// ErrAlreadyRegistered means a second model for one id.
	ErrAlreadyRegistered = errors.New("the id has a model already")
	// ErrSchema means a schema that describes no type of the format.
	ErrSchema = errors.New("invalid schema")
	// ErrValue means a value that is none of the schema's type.
	ErrValue = errors.New("the value does not fit the schema")
)

// The limits of the original, and one of our own for elements that take no bytes, of which any number fits into any
// input.
const (
	maxBytes         = 100 << 20
	maxCount         = 10_000_000
	maxEmptyElements = 4096
	// What is allocated on the word of a header alone.
	maxTrusted = 4096
)
