// Package api is a stand-in for the types and the HTTP client of the Go SDK that the published figures come
// from, which no module proxy serves: our own program with the same members, the same way of telling the alternatives
// of a union apart, and the same work per request.
package api

// UsageInfo counts tokens and cost.
type UsageInfo struct {
	CompletionTokens  int     `json:"completion_tokens"`
	Cost              Cost    `json:"cost"`
	PromptTokens      int     `json:"prompt_tokens"`
	TotalTokens       int     `json:"total_tokens"`
	CitationTokens    *int    `json:"citation_tokens,omitempty"`
	NumSearchQueries  *int    `json:"num_search_queries,omitempty"`
	ReasoningTokens   *int    `json:"reasoning_tokens,omitempty"`
	SearchContextSize *string `json:"search_context_size,omitempty"`
}

// Cost is in dollars.
type Cost struct {
	InputTokensCost     float64  `json:"input_tokens_cost"`
	OutputTokensCost    float64  `json:"output_tokens_cost"`
	TotalCost           float64  `json:"total_cost"`
	CitationTokensCost  *float64 `json:"citation_tokens_cost,omitempty"`
	ReasoningTokensCost *float64 `json:"reasoning_tokens_cost,omitempty"`
	RequestCost         *float64 `json:"request_cost,omitempty"`
	SearchQueriesCost   *float64 `json:"search_queries_cost,omitempty"`
}

// StreamChunk is a completion or a part of one.
type StreamChunk struct {
	ID            string         `json:"id"`
	Choices       []Choice       `json:"choices"`
	Created       int64          `json:"created"`
	Model         string         `json:"model"`
	Citations     []string       `json:"citations,omitempty"`
	Object        *string        `json:"object,omitempty"`
	SearchResults []SearchResult `json:"search_results,omitempty"`
	Status        *string        `json:"status,omitempty"`
	Type          *string        `json:"type,omitempty"`
	Usage         *UsageInfo     `json:"usage,omitempty"`
}

// Choice has both messages always, empty ones included.
type Choice struct {
	Delta        ChatMessage `json:"delta"`
	Index        int         `json:"index"`
	Message      ChatMessage `json:"message"`
	FinishReason *string     `json:"finish_reason,omitempty"`
}

// SearchResult is a page that an answer cites.
type SearchResult struct {
	Title       string  `json:"title"`
	URL         string  `json:"url"`
	Date        *string `json:"date,omitempty"`
	LastUpdated *string `json:"last_updated,omitempty"`
	Snippet     *string `json:"snippet,omitempty"`
	Source      *string `json:"source,omitempty"`
}

// ToolCall may be a fragment, so that everything is optional.
type ToolCall struct {
	ID       *string   `json:"id,omitempty"`
	Function *Function `json:"function,omitempty"`
	Type     *string   `json:"type,omitempty"`
}

// Function is what a tool call calls.
type Function struct {
	Arguments *string `json:"arguments,omitempty"`
	Name      *string `json:"name,omitempty"`
}

// ReasoningStep is one of the things that a model did before it answered.
type ReasoningStep struct {
	Thought              string                `json:"thought"`
	AgentProgress        *AgentProgress        `json:"agent_progress,omitempty"`
	BrowserAgent         *BrowserAgent         `json:"browser_agent,omitempty"`
	BrowserToolExecution *BrowserToolExecution `json:"browser_tool_execution,omitempty"`
	ExecutePython        *ExecutePython        `json:"execute_python,omitempty"`
	FetchURLContent      *FetchURLContent      `json:"fetch_url_content,omitempty"`
	FileAttachmentSearch *FileAttachmentSearch `json:"file_attachment_search,omitempty"`
	Type                 *string               `json:"type,omitempty"`
	WebSearch            *WebSearch            `json:"web_search,omitempty"`
}

// AgentProgress is a detail of a reasoning step.
type AgentProgress struct {
	Action     *string `json:"action,omitempty"`
	Screenshot *string `json:"screenshot,omitempty"`
	URL        *string `json:"url,omitempty"`
}

// BrowserAgent is a detail of a reasoning step.
type BrowserAgent struct {
	Result string `json:"result"`
	URL    string `json:"url"`
}

// BrowserToolExecution is a detail of a reasoning step.
type BrowserToolExecution struct {
	Tool map[string]any `json:"tool"`
}

// ExecutePython is a detail of a reasoning step.
type ExecutePython struct {
	Code   string `json:"code"`
	Result string `json:"result"`
}

// FetchURLContent is a detail of a reasoning step.
type FetchURLContent struct {
	Contents []SearchResult `json:"contents"`
}

// FileAttachmentSearch is a detail of a reasoning step.
type FileAttachmentSearch struct {
	AttachmentURLs []string `json:"attachment_urls"`
}

// WebSearch is a detail of a reasoning step.
type WebSearch struct {
	SearchKeywords []string       `json:"search_keywords"`
	SearchResults  []SearchResult `json:"search_results"`
}

// SearchResponse is the answer of the search endpoint.
type SearchResponse struct {
	ID         string  `json:"id"`
	Results    []Page  `json:"results"`
	ServerTime *string `json:"server_time,omitempty"`
}

// Page is a result of the search endpoint.
type Page struct {
	Snippet     string  `json:"snippet"`
	Title       string  `json:"title"`
	URL         string  `json:"url"`
	Date        *string `json:"date,omitempty"`
	LastUpdated *string `json:"last_updated,omitempty"`
}
