package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// stop says when a row ends.
type stop int

const (
	stopFirst stop = iota // after one event
	stopDone              // after the event whose data is "[DONE]"
	stopEnd               // at the end of input
)

// row is one row of the suite, with the inputs of the Rust suite byte for byte.
type row struct {
	input string
	chunk int // bytes per read; 0 for all at once
	stop  stop
}

func seedRows() map[string]row {
	simple := "data: {\"test\": \"value\"}\n\n"
	large := "data: {\"id\":\"test-123\",\"model\":\"sonar-pro\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"," +
		"\"content\":\"" + strings.Repeat("This is a long response with lots of text. ", 187)[:8008] +
		"\"}}],\"usage\":{\"completion_tokens\":500,\"prompt_tokens\":100,\"total_tokens\":600}}\n\n"
	simulation := ""
	for _, data := range []string{
		`{"id":"1","choices":[{"delta":{"role":"assistant"}}]}`,
		`{"id":"1","choices":[{"delta":{"content":"Hello"}}]}`,
		`{"id":"1","choices":[{"delta":{"content":" world"}}]}`,
		`{"id":"1","choices":[{"delta":{"content":"!"}}]}`,
		`{"id":"1","choices":[{"finish_reason":"stop"}],"usage":{"total_tokens":10}}`,
		`[DONE]`,
	} {
		simulation += "data: " + data + "\n\n"
	}
	return map[string]row{
		"decode_simple_event": {simple, 0, stopFirst},
		"decode_complex_event": {"event: message\nid: msg-123\ndata: {\"id\":\"test\",\"model\":\"sonar\",\"choices\":[{\"index\":0," +
			"\"delta\":{\"role\":\"assistant\",\"content\":\"Hello\"}}]}\n\n", 0, stopFirst},
		"decode_multiline_data": {
			"data: {\"chunk\": \"line1\"}\ndata: {\"chunk\": \"line2\"}\ndata: {\"chunk\": \"line3\"}\n\n", 0, stopFirst},
		"decode_large_payload": {large, 0, stopFirst},
		"decode_multiple_events": {
			"data: {\"chunk\": 1}\n\ndata: {\"chunk\": 2}\n\ndata: {\"chunk\": 3}\n\ndata: [DONE]\n\n", 0, stopDone},
		"decode_with_all_fields": {
			"event: message\nid: msg-456\nretry: 1000\ndata: {\"status\": \"processing\"}\n\n", 0, stopFirst},
		"decode_stream_simulation": {simulation, 0, stopDone},
		"decode_buffered_stream":   {short(2000), 0, stopEnd},
		"decode_comment_filtering": {
			": This is a comment\n: Another comment\ndata: {\"actual\": \"data\"}\n\n", 0, stopFirst},
	}
}

var large = sync.OnceValue(func() string { return chat(50_000_000) })

// bulkRow builds a long input when it is asked for.
func bulkRow(name string) (row, bool) {
	line := func(bytes int) string { return "data: " + strings.Repeat("a", bytes) + "\n\n" }
	switch name {
	case "large_8k":
		return row{large(), 8 << 10, stopEnd}, true
	case "large_64k":
		return row{large(), 64 << 10, stopEnd}, true
	case "tiny_17":
		return row{chat(2_000_000), 17, stopEnd}, true
	case "tiny_1":
		return row{chat(2_000_000), 1, stopEnd}, true
	case "patho_line_256k_by_16":
		return row{line(256 << 10), 16, stopEnd}, true
	case "patho_line_1m_by_1k":
		return row{line(1 << 20), 1 << 10, stopEnd}, true
	case "patho_chat_1m_whole":
		return row{chat(1 << 20), 0, stopEnd}, true
	case "patho_short_1m_whole":
		return row{short(1 << 20), 0, stopEnd}, true
	case "patho_lines_13107":
		return row{strings.Repeat("data: "+strings.Repeat("x", 73)+"\n", 13_107) + "\n", 8 << 10, stopEnd}, true
	}
	return row{}, false
}

// chat is a stream as a chat model sends it, at least bytes long before the end marker.
func chat(bytes int) string {
	tokens := []string{" the", " quick", " brown", " fox", " jumps", " over", " a", " lazy", " dog", ".", ",", " Rust",
		" stream", " of", " tokens", " that", " arrive", " one", " at", " time", " café", " naïve", `\n\n`, " —"}
	var out strings.Builder
	out.Grow(bytes + 256)
	for i := 0; out.Len() < bytes; i++ {
		out.WriteString(`data: {"id":"chatcmpl-5d2a9c70e4b14f6c","object":"chat.completion.chunk","created":1763424000,` +
			`"model":"sonar-pro","choices":[{"index":0,"delta":{"role":"assistant","content":"`)
		out.WriteString(tokens[i%len(tokens)])
		out.WriteString("\"},\"finish_reason\":null}]}\n\n")
	}
	out.WriteString("data: [DONE]\n\n")
	return out.String()
}

// short is at least bytes of 20-byte events.
func short(bytes int) string {
	var hundred strings.Builder
	for i := range 100 {
		fmt.Fprintf(&hundred, "data: {\"chunk\": %d}\n\n", i%10)
	}
	return strings.Repeat(hundred.String(), (bytes+1999)/2000)
}

// reader gives the input of a row in reads of at most its chunk length.
func (r row) reader() io.Reader {
	if r.chunk == 0 {
		return strings.NewReader(r.input)
	}
	return &chunkReader{rest: r.input, chunk: r.chunk}
}

type chunkReader struct {
	rest  string
	chunk int
}

func (r *chunkReader) Read(p []byte) (int, error) {
	if r.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, r.rest[:min(r.chunk, len(r.rest))])
	r.rest = r.rest[n:]
	return n, nil
}
