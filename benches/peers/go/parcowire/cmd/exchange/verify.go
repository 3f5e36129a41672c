package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"peers/parcowire"
)

// line is either kind of line.
type line struct {
	Schema      json.RawMessage `json:"schema"`
	SchemaIndex *int            `json:"schema_index"`
	Value       json.RawMessage `json:"value"`
	Hex         *string         `json:"hex"`
}

// verifier keeps the schemas that had lines of their own.
type verifier struct {
	schemas        []*parcowire.Schema
	passed, failed int
}

func verify(in io.Reader, out, complaints io.Writer) int {
	var v verifier
	lines := bufio.NewReader(in)
	for number := 1; ; number++ {
		text, err := lines.ReadBytes('\n')
		if text = bytes.TrimSpace(text); len(text) > 0 {
			if err := v.line(text); err != nil {
				v.failed++
				fmt.Fprintf(complaints, "line %d: %v\n", number, err)
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintln(complaints, err)
			return 1
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", v.passed, v.failed)
	if v.failed > 0 || v.passed == 0 {
		return 1
	}
	return 0
}

func (v *verifier) line(text []byte) error {
	var line line
	if err := json.Unmarshal(text, &line); err != nil {
		return err
	}
	var schema *parcowire.Schema
	switch {
	case line.Schema != nil:
		var err error
		schema, err = parcowire.ParseSchema(line.Schema)
		if line.Hex == nil && line.Value == nil {
			// A schema that is none keeps its place, so that the others keep their indices.
			v.schemas = append(v.schemas, schema)
			return err
		}
		if err != nil {
			return err
		}
	case line.SchemaIndex != nil && *line.SchemaIndex >= 0 && *line.SchemaIndex < len(v.schemas):
		schema = v.schemas[*line.SchemaIndex]
	}
	if schema == nil || line.Value == nil || line.Hex == nil {
		return errors.New("a message needs a schema, a value and hex")
	}
	data, err := hex.DecodeString(*line.Hex)
	if err != nil {
		return err
	}
	value, err := schema.ReadValue(line.Value)
	if err != nil {
		return err
	}
	if err := check(schema, value, data); err != nil {
		return err
	}
	v.passed++
	return nil
}

// check holds value and message to each other, both ways.
func check(schema *parcowire.Schema, value any, data []byte) error {
	decoded, used, err := schema.Decode(data)
	if err != nil {
		return fmt.Errorf("decoding stops at byte %d: %w", used, err)
	}
	if used < len(data) {
		return fmt.Errorf("%d bytes are left over", len(data)-used)
	}
	if !reflect.DeepEqual(decoded, value) {
		return fmt.Errorf("decoded %#v, expected %#v", decoded, value)
	}
	encoded, err := schema.Encode(value)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	if !bytes.Equal(encoded, data) {
		return fmt.Errorf("encoded %x, expected %x", encoded, data)
	}
	return nil
}
