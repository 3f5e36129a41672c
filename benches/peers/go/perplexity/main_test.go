package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"peers/perplexity/api"
)

// TestARetryWaitsAndAsksAgain without taking the time.
func TestARetryWaitsAndAsksAgain(t *testing.T) {
	server := httptest.NewServer(answerEverySecond())
	defer server.Close()
	client := NewClient(server.URL, 1)
	var waited []time.Duration
	client.Sleep = func(_ context.Context, delay time.Duration) error {
		waited = append(waited, delay)
		return nil
	}
	response, err := client.Do(context.Background(), &Request{Method: http.MethodGet, Path: "/test"})
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	if len(waited) != 1 || waited[0] < 250*time.Millisecond || waited[0] > 750*time.Millisecond {
		t.Errorf("waited %v", waited)
	}
	gone := errors.New("gone")
	client.Sleep = func(context.Context, time.Duration) error { return gone }
	if _, err := client.Do(context.Background(), &Request{Method: http.MethodGet, Path: "/test"}); err != gone {
		t.Errorf("%v in place of the error of the wait", err)
	}
}

// TestBothFormsOfAURL are kept as they came.
func TestBothFormsOfAURL(t *testing.T) {
	for _, text := range []string{
		`{"role":"user","content":[{"type":"image_url","image_url":"https://example.org"}]}`,
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.org"}}]}`,
		`{"role":"user","content":null}`,
	} {
		var message api.ChatMessage
		if err := json.Unmarshal([]byte(text), &message); err != nil {
			t.Fatal(err)
		}
		if encoded, err := json.Marshal(message); err != nil || string(encoded) != text {
			t.Errorf("%s (%v), expected %s", encoded, err, text)
		}
	}
}
