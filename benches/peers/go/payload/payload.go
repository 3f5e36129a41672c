// Package payload has the values of the suite json, byte for byte, and their types.
package payload

import "fmt"

// The payloads of the original, with the fields in the order of its JSON.

type APIResponse struct {
	Code      int    `json:"code"`
	HTTPCode  int    `json:"http_code,omitempty"`
	Message   string `json:"message"`
	Data      any    `json:"data,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Timestamp int64  `json:"timestamp,omitempty"`
}

type UserData struct {
	ID        int64        `json:"id"`
	Username  string       `json:"username"`
	Email     string       `json:"email"`
	Role      string       `json:"role"`
	Active    bool         `json:"active"`
	CreatedAt int64        `json:"created_at"`
	UpdatedAt int64        `json:"updated_at"`
	Metadata  UserMetadata `json:"metadata"`
}

type UserMetadata struct {
	LastLogin     int64    `json:"last_login"`
	LoginCount    int      `json:"login_count"`
	Permissions   []string `json:"permissions"`
	Department    string   `json:"department"`
	PreferredLang string   `json:"preferred_lang"`
}

type PageResponse struct {
	Code     int       `json:"code"`
	Message  string    `json:"message"`
	Data     *PageData `json:"data,omitempty"`
	Total    int64     `json:"total"`
	Page     int       `json:"page"`
	PageSize int       `json:"page_size"`
}

type PageData struct {
	List       []UserData `json:"list"`
	TotalPages int        `json:"total_pages"`
}

type TestResponse struct {
	Code     int            `json:"code"`
	Message  string         `json:"message"`
	Data     map[string]any `json:"data"`
	List     []string       `json:"list"`
	Metadata map[string]any `json:"metadata"`
}

type ComplexStruct struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name"`
	Email     string         `json:"email"`
	Active    bool           `json:"active"`
	Score     float64        `json:"score"`
	Tags      []string       `json:"tags"`
	Metadata  map[string]any `json:"metadata"`
	Nested    SimpleStruct   `json:"nested"`
	Timestamp int64          `json:"timestamp"`
}

type SimpleStruct struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

const moment = 1703001234567

func API() *APIResponse {
	return &APIResponse{
		HTTPCode: 200,
		Message:  "success",
		Data: map[string]any{
			"id":       12345,
			"name":     "Test User",
			"email":    "test@example.com",
			"status":   "active",
			"score":    95.5,
			"count":    42,
			"tags":     []string{"admin", "developer", "reviewer"},
			"settings": map[string]bool{"notifications": true, "theme_dark": false},
		},
		RequestID: "req-12345678-abcd-1234-efgh-123456789abc",
		Timestamp: moment,
	}
}

func User() *UserData {
	return &UserData{
		ID: 12345, Username: "johndoe", Email: "john.doe@example.com", Role: "admin", Active: true,
		CreatedAt: moment, UpdatedAt: moment,
		Metadata: UserMetadata{
			LastLogin: moment, LoginCount: 150,
			Permissions: []string{"read", "write", "delete", "admin", "audit"},
			Department:  "Engineering", PreferredLang: "en",
		},
	}
}

// Page has so many users.
func Page(count int) *PageResponse {
	users := make([]UserData, count)
	for i := range users {
		name := fmt.Sprintf("user%c", 'A'+i%26)
		at := int64(i)
		users[i] = UserData{
			ID: 10000 + at, Username: name, Email: name + "@example.com", Role: "user", Active: i%2 == 0,
			CreatedAt: moment + 1000*at, UpdatedAt: moment + 2000*at,
			Metadata: UserMetadata{
				LastLogin: moment + 3000*at, LoginCount: 100 + 10*i, Permissions: []string{"read", "write"},
				Department: "Engineering", PreferredLang: "en",
			},
		}
	}
	data := &PageData{List: users, TotalPages: 10}
	return &PageResponse{Message: "success", Data: data, Total: 200, Page: 1, PageSize: 20}
}

func Test() *TestResponse {
	return &TestResponse{
		Message: "success",
		Data: map[string]any{
			"id": 12345, "name": "John Doe", "email": "john.doe@example.com", "age": 30, "active": true,
			"score": 98.5, "role": "admin", "department": "Engineering",
		},
		List:     []string{"permission1", "permission2", "permission3", "permission4", "permission5"},
		Metadata: map[string]any{"version": "1.0.0", "api_version": "v1", "region": "us-west-2"},
	}
}

func Complex() *ComplexStruct {
	return &ComplexStruct{
		ID: 12345, Name: "John Doe", Email: "john.doe@example.com", Active: true, Score: 98.5,
		Tags: []string{"go", "performance", "json", "optimization"},
		Metadata: map[string]any{
			"version": "1.0.0", "environment": "production", "region": "us-west-2", "count": 42, "ratio": 3.14159,
		},
		Nested:    SimpleStruct{ID: 999, Name: "nested", Message: "nested message"},
		Timestamp: moment,
	}
}

func Simple() *SimpleStruct {
	return &SimpleStruct{ID: 1, Name: "test", Message: "hello"}
}
