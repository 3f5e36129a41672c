package perplexity

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"peers/sampler"
)

// document is a value in both forms, and how to make the target that it is decoded into.
type document struct {
	name   string // with a verb for the direction
	input  string
	output string
	value  any
	// marshal hands the value over by value, as in the original: every call copies it.
	marshal func() ([]byte, error)
	fresh   func() any
}

// of makes a document from its text.
func of[T any](name, input, output string) document {
	var value T
	if err := json.Unmarshal([]byte(input), &value); err != nil {
		panic(err)
	}
	return document{
		name:    name,
		input:   input,
		output:  output,
		value:   value,
		marshal: func() ([]byte, error) { return json.Marshal(value) },
		fresh:   func() any { return new(T) },
	}
}

func documents() []document {
	return []document{
		of[UsageInfo]("usage_info_%s", usageInfoInput, usageInfoOutput),
		of[StreamChunk]("stream_chunk_%s", streamChunkInput, streamChunkOutput),
		of[ChatMessage]("chat_message_%s_simple_text", simpleMessageInput, simpleMessageOutput),
		of[ChatMessage]("chat_message_%s_structured_content", structuredMessageInput, structuredMessageOutput),
		of[ToolCall]("tool_call_%s", toolCallInput, toolCallOutput),
		of[ReasoningStep]("reasoning_step_%s", reasoningStepInput, reasoningStepOutput),
		of[SearchResponse]("search_response_%s", searchResponseInput, searchResponseOutput),
		of[StreamChunk]("complex_response_%s", complexResponseInput, complexResponseOutput),
	}
}

// typeRows are the rows of the suite `types`. Their values are checked before anything is timed.
func typeRows(b *testing.B) {
	for _, d := range documents() {
		b.Run(fmt.Sprintf(d.name, "marshal"), func(b *testing.B) {
			b.Run("original-standin", func(b *testing.B) {
				encoded, err := d.marshal()
				if err != nil || string(encoded) != d.output {
					b.Fatalf("encoded %s (%v), expected %s", encoded, err, d.output)
				}
				sampler.Run(b, len(d.output), func() error {
					_, err := d.marshal()
					return err
				})
			})
		})
		b.Run(fmt.Sprintf(d.name, "unmarshal"), func(b *testing.B) {
			b.Run("original-standin", func(b *testing.B) {
				input := []byte(d.input)
				sampler.Run(b, len(input), func() error { return json.Unmarshal(input, d.fresh()) })
			})
		})
	}
}

// TestNothingIsLost decodes both forms of every document to the same value, and finds all of it again.
func TestNothingIsLost(t *testing.T) {
	for _, d := range documents() {
		decoded := d.fresh()
		if err := json.Unmarshal([]byte(d.output), decoded); err != nil {
			t.Fatal(err)
		}
		if found := reflect.ValueOf(decoded).Elem().Interface(); !reflect.DeepEqual(found, d.value) {
			t.Errorf("%s: decoded %+v, expected %+v", d.name, found, d.value)
		}
	}
}

// TestBothFormsOfAURL are kept as they came.
func TestBothFormsOfAURL(t *testing.T) {
	for _, text := range []string{
		`{"role":"user","content":[{"type":"image_url","image_url":"https://example.org"}]}`,
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.org"}}]}`,
		`{"role":"user","content":null}`,
	} {
		var message ChatMessage
		if err := json.Unmarshal([]byte(text), &message); err != nil {
			t.Fatal(err)
		}
		if encoded, err := json.Marshal(message); err != nil || string(encoded) != text {
			t.Errorf("%s (%v), expected %s", encoded, err, text)
		}
	}
}
