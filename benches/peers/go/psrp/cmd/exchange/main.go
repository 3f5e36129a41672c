// Command exchange trades random values with another implementation of CLIXML.
//
//	exchange write COUNT SEED    prints COUNT lines {"value": TREE, "xml": TEXT}, the text as go-psrpcore writes it
//	exchange check COUNT SEED    makes the same values, reads a line of XML for each from standard input, and prints
//	                             the line "ok", or what is different
//
// A tree is the form of a value in the vectors of the Rust crate. Values are of the types that go-psrpcore has, without
// what it is known to lose: names that need an escape, adapted members beside extended ones, and containers inside
// others or as members, after which its reader loses its place.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/smnsjas/go-psrpcore/serialization"
)

type tree = map[string]any

// maker makes values with their trees.
type maker struct {
	random *rand.Rand
	types  int
}

var texts = []string{
	"", "plain", "two words", " blanks ", "<&>\"'", "tab\tand\r\nlines\n", "_x0041_", "äöü", "日本語", "\U0001f600", "C:\\path", "_x005F_",
}

// arrayNames are the type names that go-psrpcore gives every list.
var arrayNames = []string{"System.Object[]", "System.Array", "System.Object"}

var names = []string{"Id", "Name", "Other", "with blank"}

// value makes a value, which is a container or an object only where it is not inside another.
func (m *maker) value(top bool) (any, tree) {
	kinds := 8
	if top {
		kinds = 11
	}
	switch m.random.IntN(kinds) {
	case 0:
		return nil, tree{"type": "Nil"}
	case 1:
		value := m.random.IntN(2) == 0
		return value, tree{"type": "B", "value": value}
	case 2:
		value := int32(m.random.Uint32())
		return value, tree{"type": "I32", "value": value}
	case 3:
		value := int64(m.random.Uint64())
		return value, tree{"type": "I64", "value": value}
	case 4:
		value := (m.random.Float64() - 0.5) * math.Pow(10, float64(m.random.IntN(40)-20))
		return value, tree{"type": "Db", "bits": fmt.Sprintf("%016x", math.Float64bits(value))}
	case 5:
		value := make([]byte, 1+m.random.IntN(20))
		for i := range value {
			value[i] = byte(m.random.Uint32())
		}
		return value, tree{"type": "BA", "base64": base64.StdEncoding.EncodeToString(value)}
	case 6:
		var value uuid.UUID
		for i := range value {
			value[i] = byte(m.random.Uint32())
		}
		return value, tree{"type": "G", "value": value.String()}
	case 7:
		value := texts[m.random.IntN(len(texts))] + texts[m.random.IntN(len(texts))]
		return value, tree{"type": "S", "value": value}
	case 8:
		value := time.Unix(m.random.Int64N(4e9), m.random.Int64N(1e7)*100).UTC()
		return value, tree{"type": "DT", "value": value.Format(time.RFC3339Nano)}
	case 9:
		value, items := []any{}, []tree{}
		for range m.random.IntN(5) {
			item, shown := m.value(false)
			value, items = append(value, item), append(items, shown)
		}
		return value, tree{"type": "LST", "typeNames": arrayNames, "items": items}
	default:
		return m.members()
	}
}

// members makes a hashtable or an object. Names are sorted, as a map has no order.
func (m *maker) members() (any, tree) {
	value, shown := map[string]any{}, [][]any{}
	hashtable := m.random.IntN(2) == 0
	for _, name := range names {
		if m.random.IntN(2) == 0 {
			continue
		}
		member, memberTree := m.value(false)
		value[name] = member
		if hashtable {
			shown = append(shown, []any{tree{"type": "S", "value": name}, memberTree})
		} else {
			shown = append(shown, []any{name, memberTree})
		}
	}
	if hashtable {
		return value, tree{"type": "DCT", "entries": shown}
	}
	m.types++
	typeNames := []string{fmt.Sprintf("Test.Type%d", m.types), "System.Object"}
	return &serialization.PSObject{TypeNames: typeNames, Properties: value},
		tree{"type": "Obj", "typeNames": typeNames, "props": shown}
}

// difference says how a value that was read differs from what was meant, nothing if it does not.
func difference(found, expected any) string {
	switch expected := expected.(type) {
	case *serialization.PSObject:
		object, ok := found.(*serialization.PSObject)
		if !ok || !slices.Equal(object.TypeNames, expected.TypeNames) {
			return fmt.Sprintf("found %#v, expected %#v", found, expected)
		}
		return difference(object.Properties, expected.Properties)
	case map[string]any:
		members, ok := found.(map[string]any)
		if !ok || len(members) != len(expected) {
			return fmt.Sprintf("found %#v, expected %#v", found, expected)
		}
		for name, member := range expected {
			if text := difference(members[name], member); text != "" {
				return name + ": " + text
			}
		}
		return ""
	case []any:
		items, ok := found.([]any)
		if !ok || len(items) != len(expected) {
			return fmt.Sprintf("found %#v, expected %#v", found, expected)
		}
		for index, item := range expected {
			if text := difference(items[index], item); text != "" {
				return fmt.Sprint(index) + ": " + text
			}
		}
		return ""
	case time.Time:
		if moment, ok := found.(time.Time); ok && moment.Equal(expected) {
			return ""
		}
	default:
		if reflect.DeepEqual(found, expected) {
			return ""
		}
	}
	return fmt.Sprintf("found %#v, expected %#v", found, expected)
}

func write(m *maker, count int, output *json.Encoder) error {
	for range count {
		value, shown := m.value(true)
		serializer := serialization.NewSerializer()
		document, err := serializer.SerializeRaw(value)
		if err != nil {
			return err
		}
		serializer.Close()
		if err := output.Encode(tree{"value": shown, "xml": string(document)}); err != nil {
			return err
		}
	}
	return nil
}

func check(m *maker, count int, input *bufio.Scanner) error {
	input.Buffer(nil, 1<<24)
	for range count {
		value, _ := m.value(true)
		if !input.Scan() {
			return fmt.Errorf("a line is missing: %w", input.Err())
		}
		found, err := serialization.NewDeserializer().Deserialize(input.Bytes())
		switch {
		case err != nil:
			fmt.Println("cannot read:", err)
		case len(found) != 1:
			fmt.Println("found", len(found), "values")
		default:
			if text := difference(found[0], value); text != "" {
				fmt.Println(strconv.Quote(text))
			} else {
				fmt.Println("ok")
			}
		}
	}
	return nil
}

func run(arguments []string) error {
	if len(arguments) != 3 {
		return fmt.Errorf("expected a mode, a count and a seed")
	}
	count, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	seed, err := strconv.ParseUint(arguments[2], 10, 64)
	if err != nil {
		return err
	}
	m := &maker{random: rand.New(rand.NewPCG(seed, 0))}
	switch arguments[0] {
	case "write":
		return write(m, count, json.NewEncoder(os.Stdout))
	case "check":
		return check(m, count, bufio.NewScanner(os.Stdin))
	default:
		return fmt.Errorf("unknown mode %q", arguments[0])
	}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
