// Command sse decodes event streams with decoders written in Go.
package main

import (
	"bufio"
	"io"

	launchdarkly "github.com/launchdarkly/eventsource"
	gosse "github.com/tmaxmax/go-sse"

	"peers/resident"
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
var implementations = map[string]func(r *row) (tally, error){
	"stand-in for perplexity-go": original,
	"tmaxmax/go-sse":             goSSE,
	"launchdarkly/eventsource":   launchDarkly,
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
	if len(r.input) > 64<<10 {
		// The default of 64 KiB refuses long events.
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

func main() {
	seeds := seedRows()
	resident.Serve(func(name, implementation string) (resident.Batch, error) {
		decode, known := implementations[implementation]
		r, found := seeds[name]
		if !found {
			r, found = bulkRow(name)
		}
		if !known || !found {
			return nil, nil
		}
		return resident.Each(func() (uint64, error) {
			found, err := decode(&r)
			return found.events<<32 + found.data, err
		}), nil
	})
}
