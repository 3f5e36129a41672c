package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"peers/parcowire"
)

// deepest is how many levels a schema nests; the type of a message is the first.
const deepest = 4

// generator makes schemas and values. It deals the kinds of types from decks, so that all come soon and none prevails.
type generator struct {
	random     *rand.Rand
	leaves     deck[parcowire.Schema]
	headers    deck[parcowire.Schema]
	keys       deck[parcowire.Schema]
	ids        deck[parcowire.Schema]
	composites deck[string]
	alone      deck[string]
}

// deck deals its cards in random order, and begins anew when all are dealt.
type deck[T any] struct {
	cards []T
	dealt int
}

func (d *deck[T]) next(random *rand.Rand) T {
	if d.dealt == 0 {
		random.Shuffle(len(d.cards), func(i, j int) { d.cards[i], d.cards[j] = d.cards[j], d.cards[i] })
	}
	card := d.cards[d.dealt]
	d.dealt = (d.dealt + 1) % len(d.cards)
	return card
}

// ordered are the types of these names in both byte orders.
func ordered(names ...string) []parcowire.Schema {
	var types []parcowire.Schema
	for _, name := range names {
		types = append(types, parcowire.Schema{T: name, Order: "le"}, parcowire.Schema{T: name, Order: "be"})
	}
	return types
}

// plain are the types of these names, which have no byte order.
func plain(names ...string) []parcowire.Schema {
	types := make([]parcowire.Schema, len(names))
	for index, name := range names {
		types[index] = parcowire.Schema{T: name}
	}
	return types
}

func newGenerator(seed uint64) *generator {
	integers := append(plain("uint8", "int8"),
		ordered("uint16", "int16", "uint32", "int32", "uint64", "int64", "uint", "int")...)
	headers := append(plain("uint8_header", "int8_header"),
		ordered("uint16_header", "int16_header", "uint32_header", "int32_header", "uint64_header", "int64_header",
			"uint_header", "int_header")...)
	others := append(plain("bool", "time_utc", "time_location"), ordered("float32", "float64")...)
	text := parcowire.Schema{T: "string", Header: &parcowire.Schema{T: "uint8_header"}}
	keys := slices.Concat(integers, plain("bool", "time_utc", "time_location"), []parcowire.Schema{text})
	ids := slices.Concat(plain("uint8_header", "int8"), ordered("uint16"), []parcowire.Schema{text})
	return &generator{
		random:     rand.New(rand.NewPCG(seed, 0)),
		leaves:     deck[parcowire.Schema]{cards: slices.Concat(integers, headers, others)},
		headers:    deck[parcowire.Schema]{cards: slices.Clone(headers)},
		keys:       deck[parcowire.Schema]{cards: keys},
		ids:        deck[parcowire.Schema]{cards: ids},
		composites: deck[string]{cards: []string{"string", "blob", "slice", "array", "map", "struct"}},
		alone:      deck[string]{cards: []string{"slice", "array", "map", "option", "skip"}},
	}
}

// message is the type of a whole message: a multi, then anything, then three structs.
func (g *generator) message(index int) *parcowire.Schema {
	switch index % 5 {
	case 0:
		return g.multi()
	case 1:
		return g.composite(g.alone.next(g.random), 1)
	default:
		return g.structure(1, 7)
	}
}

// element is a type at this level, for whatever holds types.
func (g *generator) element(level int) *parcowire.Schema {
	if level < deepest && g.random.IntN(2) == 0 {
		return g.composite(g.composites.next(g.random), level)
	}
	leaf := g.leaves.next(g.random)
	return &leaf
}

// field is a type at this level, for a struct.
func (g *generator) field(level int) *parcowire.Schema {
	switch {
	case g.random.IntN(10) == 0:
		return g.composite("skip", level)
	case level < deepest && g.random.IntN(5) == 0:
		return g.composite("option", level)
	default:
		return g.element(level)
	}
}

func (g *generator) composite(name string, level int) *parcowire.Schema {
	schema := &parcowire.Schema{T: name}
	switch name {
	case "string", "blob":
		schema.Header = g.header()
	case "slice":
		schema.Header, schema.Elem = g.header(), g.element(level+1)
	case "array":
		schema.Len, schema.Elem = new(g.random.IntN(5)), g.element(level+1)
	case "map":
		key := g.keys.next(g.random)
		schema.Header, schema.Key, schema.Value = g.header(), &key, g.element(level+1)
	case "option":
		schema.Inner = g.element(level + 1)
	case "skip":
		schema.N = new(g.random.IntN(12))
	default:
		return g.structure(level, 1)
	}
	return schema
}

func (g *generator) header() *parcowire.Schema {
	header := g.headers.next(g.random)
	return &header
}

// structure is a struct at this level with at least so many fields.
func (g *generator) structure(level, least int) *parcowire.Schema {
	fields := make([]parcowire.Field, least+g.random.IntN(4))
	for index := range fields {
		fields[index] = parcowire.Field{Name: fmt.Sprintf("f%d", index), Type: g.field(level + 1)}
	}
	return &parcowire.Schema{T: "struct", Fields: fields}
}

func (g *generator) multi() *parcowire.Schema {
	id := g.ids.next(g.random)
	schema := &parcowire.Schema{T: "multi", Header: &id, Models: parcowire.Models{}}
	for count := 2 + g.random.IntN(3); len(schema.Models) < count; {
		// An id that comes again gets another model; the loop goes on until there are enough.
		schema.Models[fmt.Sprint(g.value(&id))] = g.structure(2, 1)
	}
	return schema
}

// value is a value of the type.
func (g *generator) value(schema *parcowire.Schema) any {
	switch schema.T {
	case "bool":
		return g.random.IntN(2) == 0
	case "time_utc":
		return g.signed(64)
	case "time_location":
		return parcowire.Located{UnixNanos: g.signed(64), Zone: pick(g, zones)}
	case "float32":
		return parcowire.Bits(pick(g, []uint32{0, 1 << 31, 0x7f7fffff, 0x7f800000, 0x7fc12345, 1, g.random.Uint32()}))
	case "float64":
		return parcowire.Bits(pick(g, []uint64{
			0, 1 << 63, 0x7fefffffffffffff, 0xfff0000000000000, 0x7ff8000000012345, 1, g.random.Uint64(),
		}))
	case "string":
		return g.text(g.length(schema.Header))
	case "blob":
		blob := make([]byte, g.length(schema.Header))
		for index := range blob {
			blob[index] = byte(g.random.Uint32())
		}
		return blob
	case "slice":
		return g.list(schema.Elem, g.random.IntN(6))
	case "array":
		return g.list(schema.Elem, *schema.Len)
	case "map":
		return g.entries(schema)
	case "option":
		if g.random.IntN(3) == 0 {
			return nil
		}
		return parcowire.Some{Value: g.value(schema.Inner)}
	case "struct":
		values := make([]any, len(schema.Fields))
		for index, field := range schema.Fields {
			values[index] = g.value(field.Type)
		}
		return values
	case "skip":
		return nil
	case "multi":
		return g.frame(schema)
	default:
		return g.integer(schema.T)
	}
}

// integer is a value of an integer or header.
func (g *generator) integer(name string) any {
	switch name {
	case "uint8", "uint16", "uint32", "uint64", "uint":
		bits := map[string]int{"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "uint": 64}[name]
		return pick(g, []uint64{0, 1, math.MaxUint64 >> (64 - bits), g.random.Uint64() >> (64 - bits)})
	case "uint8_header", "uint16_header", "uint32_header":
		bits := map[string]int{"uint8_header": 8, "uint16_header": 16, "uint32_header": 32}[name]
		return pick(g, []int64{0, 1, 1<<bits - 1, g.random.Int64() >> (63 - bits)})
	case "uint64_header", "uint_header":
		return pick(g, []int64{0, 1, math.MaxInt64, g.random.Int64()})
	case "int8", "int8_header":
		return g.signed(8)
	case "int16", "int16_header":
		return g.signed(16)
	case "int32", "int32_header":
		return g.signed(32)
	default:
		return g.signed(64)
	}
}

// signed is a number of so many bits.
func (g *generator) signed(bits int) int64 {
	spare := 64 - bits
	return pick(g, []int64{0, -1, math.MinInt64 >> spare, math.MaxInt64 >> spare, int64(g.random.Uint64()) >> spare})
}

// length is how many bytes of text or blob, which every header can carry: mostly few, sometimes many.
func (g *generator) length(header *parcowire.Schema) int {
	if g.random.IntN(8) > 0 {
		return g.random.IntN(16)
	}
	if header.Order == "" {
		return g.random.IntN(128)
	}
	return g.random.IntN(400)
}

var zones = []string{"UTC", "Europe/Paris", "America/New_York", "Asia/Kolkata", "Pacific/Chatham"}

var pieces = []string{"a", "Z", "0", " ", "\"", "\\", "\n", "\x00", "é", "ß", "東", "\u2028", "👍"}

// text is UTF-8 of at most so many bytes.
func (g *generator) text(length int) string {
	text := ""
	for {
		piece := pick(g, pieces)
		if len(text)+len(piece) > length {
			return text
		}
		text += piece
	}
}

func (g *generator) list(elem *parcowire.Schema, count int) []any {
	values := make([]any, count)
	for index := range values {
		values[index] = g.value(elem)
	}
	return values
}

func (g *generator) entries(schema *parcowire.Schema) parcowire.Map {
	entries := parcowire.Map{}
	for range g.random.IntN(6) {
		key := g.value(schema.Key)
		if slices.ContainsFunc(entries, func(entry parcowire.Entry) bool { return entry.Key == key }) {
			continue
		}
		entries = append(entries, parcowire.Entry{Key: key, Value: g.value(schema.Value)})
	}
	return entries
}

func (g *generator) frame(schema *parcowire.Schema) any {
	ids := make([]string, 0, len(schema.Models))
	for id := range schema.Models {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	name := pick(g, ids)
	quoted, err := json.Marshal(name)
	if err != nil {
		panic(err)
	}
	// Numbers are read from text as well.
	id, err := schema.Header.ReadValue(quoted)
	if err != nil {
		panic(err)
	}
	return parcowire.Frame{ID: id, Model: g.value(schema.Models[name])}
}

func pick[T any](g *generator, list []T) T { return list[g.random.IntN(len(list))] }
