package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"peers/library"
	"peers/perplexity/api"
	"peers/resident"
)

// typeRow has the value of a row, and how to make the target that its document is decoded into.
type typeRow struct {
	document string // its name in the file
	fresh    func() any
	// copies gives the value by value, as the original does: every call copies it.
	copies func(value any) func() any
}

func of[T any](document string) typeRow {
	return typeRow{document, func() any { return new(T) }, func(value any) func() any {
		copied := *value.(*T)
		return func() any { return copied }
	}}
}

// typeRows are the rows of the suite types, with a place for the direction.
var typeRows = map[string]typeRow{
	"usage_info_%s":                      of[api.UsageInfo]("UsageInfo%s"),
	"stream_chunk_%s":                    of[api.StreamChunk]("StreamChunk%s"),
	"chat_message_%s_simple_text":        of[api.ChatMessage]("ChatMessage%s_SimpleText"),
	"chat_message_%s_structured_content": of[api.ChatMessage]("ChatMessage%s_StructuredContent"),
	"tool_call_%s":                       of[api.ToolCall]("ToolCall%s"),
	"reasoning_step_%s":                  of[api.ReasoningStep]("ReasoningStep%s"),
	"search_response_%s":                 of[api.SearchResponse]("SearchResponse%s"),
	"complex_response_%s":                of[api.StreamChunk]("ComplexResponse%s"),
}

// documents are those of the original's benchmarks to the byte: its white space is part of the work, and the encoded
// forms are what its marshaller writes.
type documents struct {
	Inputs  map[string]string `json:"unmarshal_inputs_exact_text"`
	Outputs map[string]string `json:"marshal_expected_output"`
}

// load finds the file from the folder of the peers, or one below it.
func load() (found documents, err error) {
	const file = "crates/tightwire-perplexity/tests/data/perplexity-bench-data.json"
	for _, root := range []string{"../../..", "../../../.."} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err == nil {
			return found, json.Unmarshal(text, &found)
		}
	}
	return found, fmt.Errorf("there is no %s", file)
}

// setUpType prepares a row of the suite types, whose check value is the length of the document.
func setUpType(name, implementation string) (resident.Batch, error) {
	coder, known := library.Named(implementation)
	if implementation == "stand-in for perplexity-go" {
		// encoding/json, as in the original, with methods for the unions.
		coder, known = library.Standard, true
	}
	row, found := typeRows[strings.Replace(name, "unmarshal", "%s", 1)]
	decodes := found
	if !found {
		row, found = typeRows[strings.Replace(name, "marshal", "%s", 1)]
	}
	if !known || !found {
		return nil, nil
	}
	files, err := load()
	if err != nil {
		return nil, err
	}
	input, output := files.Inputs[fmt.Sprintf(row.document, "_Unmarshal")], files.Outputs[fmt.Sprintf(row.document, "")]
	value := row.fresh()
	if err := json.Unmarshal([]byte(input), value); err != nil {
		return nil, err
	}
	if decodes {
		document, target := []byte(input), row.fresh()
		if err := coder.Unmarshal(document, target); err != nil || !reflect.DeepEqual(target, value) {
			return nil, fmt.Errorf("decoded %+v (%v), expected %+v", target, err, value)
		}
		return resident.Each(func() (uint64, error) {
			return uint64(len(document)), coder.Unmarshal(document, row.fresh())
		}), nil
	}
	given := func() any { return value }
	if implementation == "stand-in for perplexity-go" {
		given = row.copies(value)
	}
	encoded, err := coder.Marshal(given())
	if err != nil || string(encoded) != output {
		return nil, fmt.Errorf("encoded %s (%v), expected %s", encoded, err, output)
	}
	check := uint64(len(output))
	if name == "stream_chunk_marshal" {
		// Ours writes two costs as 0.0.
		check += 4
	}
	return resident.Checked(uint64(len(output)), check, func() (int, error) {
		encoded, err := coder.Marshal(given())
		return len(encoded), err
	}), nil
}
