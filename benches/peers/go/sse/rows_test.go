package sse

import (
	"bufio"
	"io"
	"strings"
	"testing"

	launchdarkly "github.com/launchdarkly/eventsource"
	gosse "github.com/tmaxmax/go-sse"

	"peers/sampler"
)

// tally counts events and the bytes of their data.
type tally struct {
	stop   stop
	events uint64
	data   uint64
}

// add counts an event and reports whether the row ends with it.
func (t *tally) add(data string) bool {
	t.events++
	t.data += uint64(len(data))
	return t.stop == stopFirst || t.stop == stopDone && data == "[DONE]"
}

// implementations decode a row from newly made readers.
var implementations = []struct {
	name   string
	decode func(r *row) (tally, error)
}{
	{"original-standin", original},
	{"go-sse", goSSE},
	{"launchdarkly-eventsource", launchDarkly},
}

func original(r *row) (tally, error) {
	t := tally{stop: r.stop}
	decoder := NewDecoder(bufio.NewReader(r.reader()))
	for {
		event, err := decoder.Decode()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		if t.add(event.Data) {
			return t, nil
		}
	}
}

func goSSE(r *row) (tally, error) {
	t := tally{stop: r.stop}
	var config *gosse.ReadConfig
	if strings.HasPrefix(r.name, "patho_") {
		// The default of 64 KiB refuses the inputs that these rows are about.
		config = &gosse.ReadConfig{MaxEventSize: 16 << 20}
	}
	for event, err := range gosse.Read(r.reader(), config) {
		if err != nil {
			return t, err
		}
		if t.add(event.Data) {
			return t, nil
		}
	}
	return t, nil
}

func launchDarkly(r *row) (tally, error) {
	t := tally{stop: r.stop}
	decoder := launchdarkly.NewDecoder(r.reader())
	done := false
	for {
		event, err := decoder.Decode()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		// Decoding goes on to the end of input, an end-of-file away, because the decoder's goroutine would block
		// for ever otherwise, one for every operation.
		done = done || t.add(event.Data())
	}
}

// BenchmarkRow has a sub-benchmark for every row and implementation. Each is checked before it is timed.
func BenchmarkRow(b *testing.B) {
	for _, r := range seedRows() {
		b.Run(r.name, func(b *testing.B) { run(b, &r) })
	}
	var bulk []row
	for _, name := range bulkNames {
		b.Run(name, func(b *testing.B) {
			if bulk == nil {
				bulk = bulkRows()
			}
			for i := range bulk {
				if bulk[i].name == name {
					run(b, &bulk[i])
				}
			}
		})
	}
}

func run(b *testing.B, r *row) {
	for _, implementation := range implementations {
		b.Run(implementation.name, func(b *testing.B) {
			check, err := implementation.decode(r)
			if err != nil {
				b.Fatal(err)
			}
			if check.events != r.events || check.data != r.data {
				b.Fatalf("decoded %d events with %d bytes, expected %d with %d", check.events, check.data, r.events, r.data)
			}
			sampler.Run(b, len(r.input), func() error {
				_, err := implementation.decode(r)
				return err
			})
		})
	}
}

// TestOriginalDeviatesAsDescribed holds the stand-in to the description that it is written from.
func TestOriginalDeviatesAsDescribed(t *testing.T) {
	cases := []struct{ about, input, data string }{
		{"CRLF", "data: a\r\n\r\n", "a"},
		{"joined lines", "data: a\ndata: b\n\n", "a\nb"},
		{"CR is no line end", "data: a\rb\n\n", "a\rb"},
		{"mark is part of the name", "\ufeffdata: a\ndata: b\n\n", "b"},
		{"line without a colon", "data\ndata: a\n\n", "a"},
		{"pending at the end of input", "data: a\ndata: lost", "a"},
	}
	for _, c := range cases {
		event, err := NewDecoder(strings.NewReader(c.input)).Decode()
		if err != nil || event.Data != c.data {
			t.Errorf("%s: got %v, %v", c.about, event, err)
		}
	}
	if event, err := NewDecoder(strings.NewReader("id: 7\n\n")).Decode(); err != nil || event.ID != "7" {
		t.Errorf("block without data: got %v, %v", event, err)
	}
	if _, err := NewDecoder(strings.NewReader("event: a\n")).Decode(); err != io.EOF {
		t.Errorf("nothing pending: got %v", err)
	}
}
