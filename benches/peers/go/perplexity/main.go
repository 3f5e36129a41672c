// Command perplexity has the rows of a stand-in for the Go SDK of the published figures: its types and its HTTP client.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"peers/resident"
)

const (
	statusBody = `{"status": "ok"}`
	postedBody = `{"id": "test-123", "status": "completed"}`
	chunk      = "{\"chunk\": \"data\"}\n"
	chunks     = 1024

	// How many workers share a client in the concurrent row: as many as the original's machine has threads.
	workers = 32
)

func answer(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	io.WriteString(w, body)
}

func answerOK(w http.ResponseWriter, _ *http.Request) { answer(w, statusBody) }

// answerEverySecond refuses every other request, beginning with the first.
func answerEverySecond() http.HandlerFunc {
	var requests atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		answer(w, statusBody)
	}
}

// clientRow is a row of the suite `client`.
type clientRow struct {
	name    string
	handler http.HandlerFunc
	retries int
	// request makes what one operation sends; rows whose request is made outside of the loop return the same one.
	request  func() *Request
	body     int
	parallel bool
	sleep    func(context.Context, time.Duration) error
}

func clientTable() []clientRow {
	get := &Request{Method: http.MethodGet, Path: "/test"}
	outside := func() *Request { return get }
	payload := map[string]any{
		"model":    "sonar",
		"messages": []map[string]any{{"role": "user", "content": "Hello"}},
	}
	return []clientRow{
		{name: "client_do_simple", handler: answerOK, request: outside, body: len(statusBody)},
		{
			name: "client_do_with_json_body",
			handler: func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				answer(w, postedBody)
			},
			request: func() *Request {
				return &Request{Method: http.MethodPost, Path: "/chat/completions", Body: payload}
			},
			body: len(postedBody),
		},
		{
			name: "client_do_large_response",
			// Longer than what the server would find the length of by itself, and so in chunks.
			handler: func(w http.ResponseWriter, _ *http.Request) { answer(w, strings.Repeat(chunk, chunks)) },
			request: outside,
			body:    len(chunk) * chunks,
		},
		{
			name: "client_do_with_headers",
			handler: func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Custom-Header") == "" {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				answer(w, statusBody)
			},
			request: func() *Request {
				headers := map[string]string{"X-Custom-Header": "test-value", "X-Request-ID": "req-123"}
				return &Request{Method: http.MethodGet, Path: "/test", Headers: headers}
			},
			body: len(statusBody),
		},
		{
			// What a retry costs besides the waiting.
			name:    "client_do_with_retry_without_sleep",
			handler: answerEverySecond(),
			retries: 1,
			request: outside,
			body:    len(statusBody),
			sleep:   func(context.Context, time.Duration) error { return nil },
		},
		{
			name:     "client_do_concurrent",
			handler:  answerOK,
			request:  func() *Request { return &Request{Method: http.MethodGet, Path: "/test"} },
			body:     len(statusBody),
			parallel: true,
		},
	}
}

// standIn sends through the client with the original's work per request.
func standIn(r *clientRow, url string) func() error {
	client := NewClient(url, r.retries)
	if r.sleep != nil {
		client.Sleep = r.sleep
	}
	return func() error {
		response, err := client.Do(context.Background(), r.request())
		if err != nil {
			return err
		}
		return r.check(response.StatusCode, response.Body)
	}
}

// bare sends through net/http with what the row needs and no more, and with as many idle connections as workers.
func bare(r *clientRow, url string) func() error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = workers
	client := &http.Client{Timeout: 30 * time.Second, Transport: transport}
	return func() error {
		request := r.request()
		var body io.Reader
		if request.Body != nil {
			encoded, err := json.Marshal(request.Body)
			if err != nil {
				return err
			}
			body = bytes.NewReader(encoded)
		}
		outgoing, err := http.NewRequest(request.Method, url+request.Path, body)
		if err != nil {
			return err
		}
		outgoing.Header.Set("Authorization", "Bearer test-key")
		outgoing.Header.Set("Content-Type", "application/json")
		outgoing.Header.Set("User-Agent", "test-agent")
		for name, value := range request.Headers {
			outgoing.Header.Set(name, value)
		}
		incoming, err := client.Do(outgoing)
		if err != nil {
			return err
		}
		defer incoming.Body.Close()
		content, err := io.ReadAll(incoming.Body)
		if err != nil {
			return err
		}
		return r.check(incoming.StatusCode, content)
	}
}

func (r *clientRow) check(status int, body []byte) error {
	if status != http.StatusOK || len(body) != r.body {
		return fmt.Errorf("status %d with %d bytes, expected %d bytes", status, len(body), r.body)
	}
	return nil
}

// clients are the implementations of the suite client.
var clients = map[string]func(*clientRow, string) func() error{"stand-in for perplexity-go": standIn, "net/http": bare}

// setUpClient prepares a row with a server and a client of its own, in this process, as in the original.
func setUpClient(name, implementation string) (resident.Batch, error) {
	for _, r := range clientTable() {
		if r.name != name || clients[implementation] == nil || implementation != "stand-in for perplexity-go" && r.retries > 0 {
			continue
		}
		once := clients[implementation](&r, httptest.NewServer(r.handler).URL)
		if r.parallel {
			return concurrent(uint64(r.body), once), once()
		}
		return resident.Each(func() (uint64, error) { return uint64(r.body), once() }), once()
	}
	return nil, nil
}

// concurrent divides the operations among workers that share a client.
func concurrent(check uint64, once func() error) resident.Batch {
	return func(n int) (uint64, error) {
		var left atomic.Int64
		left.Store(int64(n))
		failures := make(chan error, workers)
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for left.Add(-1) >= 0 {
					if err := once(); err != nil {
						failures <- err
						return
					}
				}
			})
		}
		group.Wait()
		close(failures)
		return check, <-failures
	}
}

func main() {
	resident.Serve(func(row, implementation string) (resident.Batch, error) {
		if batch, err := setUpClient(row, implementation); batch != nil || err != nil {
			return batch, err
		}
		return setUpType(row, implementation)
	})
}
