package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
)

// Client sends requests, again where that may help.
type Client struct {
	BaseURL    string
	APIKey     string
	UserAgent  string
	Headers    map[string]string
	MaxRetries int
	HTTP       *http.Client
	// Sleep waits before a retry.
	Sleep func(context.Context, time.Duration) error
}

// Request is what a caller asks for.
type Request struct {
	Method  string
	Path    string
	Query   map[string]string
	Headers map[string]string
	Body    any
}

// Response is read whole, and not decoded.
type Response struct {
	StatusCode int
	Headers    http.Header
	Body       []byte
	RequestID  string
}

// NewClient makes a client with a transport of the default settings, two idle connections per host among them.
func NewClient(baseURL string, maxRetries int) *Client {
	return &Client{
		BaseURL:    baseURL,
		APIKey:     "test-key",
		UserAgent:  "test-agent",
		Headers:    map[string]string{},
		MaxRetries: maxRetries,
		HTTP: &http.Client{
			Timeout:   30 * time.Second,
			Transport: http.DefaultTransport.(*http.Transport).Clone(),
		},
		Sleep: sleep,
	}
}

// Do sends a request, and reads the whole response.
func (c *Client) Do(ctx context.Context, request *Request) (*Response, error) {
	for attempt := 0; ; attempt++ {
		response, err := c.once(ctx, request)
		if attempt == c.MaxRetries || !isRetryable(response, err) {
			return response, err
		}
		if err := c.Sleep(ctx, backoff(attempt)); err != nil {
			return nil, err
		}
	}
}

func (c *Client) once(ctx context.Context, request *Request) (*Response, error) {
	target, err := c.target(request)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if request.Body != nil {
		encoded, err := json.Marshal(request.Body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(encoded)
	}
	outgoing, err := http.NewRequestWithContext(ctx, request.Method, target, body)
	if err != nil {
		return nil, err
	}
	outgoing.Header.Set("Authorization", "Bearer "+c.APIKey)
	outgoing.Header.Set("Content-Type", "application/json")
	outgoing.Header.Set("User-Agent", c.UserAgent)
	for _, headers := range []map[string]string{c.Headers, request.Headers} {
		for name, value := range headers {
			outgoing.Header.Set(name, value)
		}
	}
	incoming, err := c.HTTP.Do(outgoing)
	if err != nil {
		return nil, err
	}
	defer incoming.Body.Close()
	content, err := io.ReadAll(incoming.Body)
	if err != nil {
		return nil, err
	}
	response := &Response{
		StatusCode: incoming.StatusCode,
		Headers:    incoming.Header,
		Body:       content,
		RequestID:  incoming.Header.Get("X-Request-ID"),
	}
	return response, nil
}

func (c *Client) target(request *Request) (string, error) {
	parsed, err := url.Parse(c.BaseURL + request.Path)
	if err != nil {
		return "", err
	}
	query := parsed.Query()
	for name, value := range request.Query {
		query.Set(name, value)
	}
	parsed.RawQuery = query.Encode()
	return parsed.String(), nil
}

func isRetryable(response *Response, err error) bool {
	if err != nil {
		return true
	}
	switch response.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return response.StatusCode >= 500
}

// backoff is half a second for the first retry and doubles, with half of it more or less at random.
func backoff(attempt int) time.Duration {
	delay := min(500*time.Millisecond<<attempt, time.Minute)
	return time.Duration(float64(delay) * (0.5 + rand.Float64()))
}

func sleep(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
