// Decodes the messages of standard input with generated packages, and prints their values.

package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"reflect"
	"strings"
	"vectors/types_tree"
)

// codec returns a function that decodes a message and encodes it again.
func codec[T any](decode func([]byte) (T, error), encode func(T) ([]byte, error)) func([]byte) (any, []byte, error) {
	return func(data []byte) (any, []byte, error) {
		value, err := decode(data)
		if err != nil {
			return nil, nil, err
		}
		again, err := encode(value)
		return value, again, err
	}
}

type object map[string]any

// dump returns what the test expects: lists of fields, and scalars as strings.
func dump(value reflect.Value) any {
	if number, isBig := value.Interface().(*big.Int); isBig {
		return object{"int": number.String()}
	}
	switch value.Kind() {
	case reflect.Bool, reflect.String:
		return value.Interface()
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{"int": fmt.Sprint(value.Int())}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"int": fmt.Sprint(value.Uint())}
	case reflect.Float32, reflect.Float64:
		if math.IsNaN(value.Float()) {
			return object{"float": "nan"}
		}
		return object{"float": fmt.Sprintf("%016x", math.Float64bits(value.Float()))}
	case reflect.Interface:
		return dump(value.Elem())
	case reflect.Pointer:
		if value.IsNil() {
			return nil
		}
		inner := value.Elem()
		if inner.Kind() == reflect.Pointer || inner.Type() == reflect.TypeFor[struct{}]() {
			return object{"some": dump(inner)}
		}
		return dump(inner)
	case reflect.Map:
		entries := []any{}
		for _, key := range value.MapKeys() {
			entries = append(entries, []any{dump(key), dump(value.MapIndex(key))})
		}
		return object{"map": entries}
	case reflect.Slice, reflect.Array:
		parts := []any{}
		bytes := []byte{}
		for index := range value.Len() {
			part := value.Index(index)
			if part.Kind() == reflect.Uint8 {
				bytes = append(bytes, byte(part.Uint()))
			}
			parts = append(parts, dump(part))
		}
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return object{"hex": hex.EncodeToString(bytes)}
		}
		return parts
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[struct{}]() {
			return nil
		}
		parts := []any{}
		for index := range value.NumField() {
			parts = append(parts, dump(value.Field(index)))
		}
		return parts
	}
	panic(value.Kind())
}

func main() {
	deep := types_tree.Tree{}
	for range 64 {
		deep = types_tree.Tree{Children: []types_tree.Tree{deep}}
	}
	if _, err := types_tree.EncodeTree(deep); err == nil {
		panic("65 levels were encoded, which no reader accepts")
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for lines.Scan() {
		name, digits, _ := strings.Cut(lines.Text(), " ")
		data, err := hex.DecodeString(digits)
		if err != nil {
			panic(err)
		}
		value, again, err := codecs[name](data)
		if err != nil {
			kind := reflect.ValueOf(err).Elem().FieldByName("Kind").String()
			output.Encode(object{"error": kind})
			continue
		}
		output.Encode(object{"value": dump(reflect.ValueOf(value)), "hex": hex.EncodeToString(again)})
	}
}
