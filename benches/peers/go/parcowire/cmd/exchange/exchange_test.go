package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"peers/parcowire"
)

// output runs the command, and fails the test for another status.
func output(t *testing.T, status int, in string, arguments ...string) (out, complaints string) {
	t.Helper()
	var stdout, stderr strings.Builder
	if found := run(arguments, strings.NewReader(in), &stdout, &stderr); found != status {
		t.Fatalf("%v: status %d, expected %d: %s%s", arguments, found, status, &stdout, &stderr)
	}
	return stdout.String(), stderr.String()
}

func TestWhatIsGeneratedPasses(t *testing.T) {
	for seed := range 20 {
		lines, _ := output(t, 0, "", "generate", fmt.Sprint(seed), "20", "1000")
		if count := strings.Count(lines, "\n"); count != 1020 {
			t.Errorf("seed %d: %d lines", seed, count)
		}
		if result, _ := output(t, 0, lines, "verify"); result != "1000 passed, 0 failed\n" {
			t.Errorf("seed %d: %s", seed, result)
		}
	}
}

func TestASeedAlwaysGivesTheSame(t *testing.T) {
	one, _ := output(t, 0, "", "generate", "1", "20", "100")
	again, _ := output(t, 0, "", "generate", "1", "20", "100")
	other, _ := output(t, 0, "", "generate", "2", "20", "100")
	if one != again || one == other {
		t.Errorf("same as before: %t, same as with another seed: %t", one == again, one == other)
	}
}

// walk calls visit for the schema and all types in it, with their levels.
func walk(schema *parcowire.Schema, level int, visit func(*parcowire.Schema, int)) {
	if schema == nil {
		return
	}
	visit(schema, level)
	for _, inner := range []*parcowire.Schema{schema.Elem, schema.Key, schema.Value, schema.Inner} {
		walk(inner, level+1, visit)
	}
	for _, field := range schema.Fields {
		walk(field.Type, level+1, visit)
	}
	for _, model := range schema.Models {
		walk(model, level+1, visit)
	}
}

func TestTwentySchemasHaveEveryType(t *testing.T) {
	expected := slices.Concat(
		plain("uint8", "int8", "uint8_header", "int8_header", "bool", "time_utc", "time_location", "string", "blob",
			"slice", "array", "map", "option", "struct", "skip", "multi"),
		ordered("uint16", "int16", "uint32", "int32", "uint64", "int64", "uint", "int", "uint16_header", "int16_header",
			"uint32_header", "int32_header", "uint64_header", "int64_header", "uint_header", "int_header", "float32",
			"float64"),
	)
	for seed := range uint64(20) {
		random, found, levels := newGenerator(seed), map[string]bool{}, 0
		for index := range 20 {
			walk(random.message(index), 1, func(schema *parcowire.Schema, level int) {
				found[schema.T+schema.Order] = true
				levels = max(levels, level)
			})
		}
		for _, schema := range expected {
			if !found[schema.T+schema.Order] {
				t.Errorf("seed %d: no %s %s", seed, schema.T, schema.Order)
			}
		}
		if len(found) != len(expected) || levels != deepest {
			t.Errorf("seed %d: %d types, %d levels", seed, len(found), levels)
		}
	}
}

func TestBadLinesFail(t *testing.T) {
	const schema = `"schema": {"t": "slice", "header": {"t": "uint8_header"}, "elem": {"t": "bool"}}`
	good := `{` + schema + `, "value": [true], "hex": "0101"}`
	for about, line := range map[string]string{
		"no JSON":              `{`,
		"no schema":            `{"value": 1, "hex": "01"}`,
		"schema of no line":    `{"schema_index": 0, "value": 1, "hex": "01"}`,
		"negative index":       `{"schema_index": -1, "value": 1, "hex": "01"}`,
		"no value":             `{` + schema + `, "hex": "0101"}`,
		"no bytes":             `{` + schema + `, "value": [true]}`,
		"no digits":            `{` + schema + `, "value": [true], "hex": "01x"}`,
		"no type":              `{"schema": {"t": "varint"}, "value": 1, "hex": "01"}`,
		"value of another one": `{` + schema + `, "value": [1], "hex": "0101"}`,
		"another value":        `{` + schema + `, "value": [false], "hex": "0101"}`,
		"left over":            `{` + schema + `, "value": [true], "hex": "010101"}`,
		"too short":            `{` + schema + `, "value": [true], "hex": "01"}`,
		"padding is no zero":   `{"schema": {"t": "skip", "n": 1}, "value": null, "hex": "01"}`,
	} {
		result, complaints := output(t, 1, good+"\n\n"+line+"\n"+good, "verify")
		if result != "2 passed, 1 failed\n" || !strings.HasPrefix(complaints, "line 3: ") {
			t.Errorf("%s: %s%s", about, result, complaints)
		}
	}
	if result, _ := output(t, 1, "", "verify"); result != "0 passed, 0 failed\n" {
		t.Errorf("nothing to verify: %s", result)
	}
}

func TestABadSchemaKeepsItsPlace(t *testing.T) {
	lines := `{"schema": {"t": "varint"}}
{"schema": {"t": "bool"}}
{"schema_index": 1, "value": true, "hex": "01"}
{"schema_index": 0, "value": true, "hex": "01"}`
	if result, _ := output(t, 1, lines, "verify"); result != "1 passed, 2 failed\n" {
		t.Errorf("got %s", result)
	}
}

func TestWrongArguments(t *testing.T) {
	for _, arguments := range []string{
		"", "check", "verify all", "generate", "generate 1 0 1", "generate 1 20", "generate -1 1 1",
	} {
		if _, complaints := output(t, 2, "", strings.Fields(arguments)...); complaints != usage {
			t.Errorf("%s: %s", arguments, complaints)
		}
	}
}
