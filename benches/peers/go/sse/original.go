package main

import (
	"bufio"
	"io"
	"strings"
)

// Event is what [Decoder] gives.
type Event struct {
	Event string
	Data  string
	ID    string
	Retry int
}

// Decoder stands in for the decoder in the report of perplexity-go, which no module proxy has. It is written from a
// description of that decoder's behaviour: one string per line out of a buffered reader of 4096 bytes, data lines
// collected in a slice and joined at the empty line, LF and CRLF line ends only, no byte order mark, ids that do not
// persist, "retry" seen but not parsed, and a pending event handed over at the end of input.
type Decoder struct {
	reader *bufio.Reader
}

// NewDecoder reads from r through a buffer of 4096 bytes, unless r already is one.
func NewDecoder(r io.Reader) *Decoder {
	return &Decoder{reader: bufio.NewReader(r)}
}

// Decode gives the next event, or io.EOF at the end of input.
func (d *Decoder) Decode() (*Event, error) {
	event := &Event{}
	var data []string
	for {
		line, err := d.reader.ReadString('\n')
		if err != nil {
			if err == io.EOF && len(data) > 0 {
				event.Data = strings.Join(data, "\n")
				return event, nil
			}
			return nil, err
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if line == "" {
			if len(data) == 0 && event.Event == "" && event.ID == "" {
				continue
			}
			event.Data = strings.Join(data, "\n")
			return event, nil
		}
		name, value, found := strings.Cut(line, ":")
		if !found || name == "" {
			continue
		}
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			event.Event = value
		case "data":
			data = append(data, value)
		case "id":
			event.ID = value
		case "retry":
			event.Retry = 0
		}
	}
}
