package main

import (
	"io"
	"strings"
	"testing"
)

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
