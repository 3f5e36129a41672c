package json

import "fmt"

// The payloads of the original, with the fields in the order of its JSON.

type apiResponse struct {
	Code      int    `json:"code"`
	HTTPCode  int    `json:"http_code,omitempty"`
	Message   string `json:"message"`
	Data      any    `json:"data,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Timestamp int64  `json:"timestamp,omitempty"`
}

type userData struct {
	ID        int64        `json:"id"`
	Username  string       `json:"username"`
	Email     string       `json:"email"`
	Role      string       `json:"role"`
	Active    bool         `json:"active"`
	CreatedAt int64        `json:"created_at"`
	UpdatedAt int64        `json:"updated_at"`
	Metadata  userMetadata `json:"metadata"`
}

type userMetadata struct {
	LastLogin     int64    `json:"last_login"`
	LoginCount    int      `json:"login_count"`
	Permissions   []string `json:"permissions"`
	Department    string   `json:"department"`
	PreferredLang string   `json:"preferred_lang"`
}

type pageResponse struct {
	Code     int       `json:"code"`
	Message  string    `json:"message"`
	Data     *pageData `json:"data,omitempty"`
	Total    int64     `json:"total"`
	Page     int       `json:"page"`
	PageSize int       `json:"page_size"`
}

type pageData struct {
	List       []userData `json:"list"`
	TotalPages int        `json:"total_pages"`
}

type testResponse struct {
	Code     int            `json:"code"`
	Message  string         `json:"message"`
	Data     map[string]any `json:"data"`
	List     []string       `json:"list"`
	Metadata map[string]any `json:"metadata"`
}

type complexStruct struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name"`
	Email     string         `json:"email"`
	Active    bool           `json:"active"`
	Score     float64        `json:"score"`
	Tags      []string       `json:"tags"`
	Metadata  map[string]any `json:"metadata"`
	Nested    simpleStruct   `json:"nested"`
	Timestamp int64          `json:"timestamp"`
}

type simpleStruct struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

const moment = 1703001234567

func api() *apiResponse {
	return &apiResponse{
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

func user() *userData {
	return &userData{
		ID: 12345, Username: "johndoe", Email: "john.doe@example.com", Role: "admin", Active: true,
		CreatedAt: moment, UpdatedAt: moment,
		Metadata: userMetadata{
			LastLogin: moment, LoginCount: 150,
			Permissions: []string{"read", "write", "delete", "admin", "audit"},
			Department:  "Engineering", PreferredLang: "en",
		},
	}
}

func page() *pageResponse {
	users := make([]userData, 20)
	for i := range users {
		name := fmt.Sprintf("user%c", 'A'+i)
		at := int64(i)
		users[i] = userData{
			ID: 10000 + at, Username: name, Email: name + "@example.com", Role: "user", Active: i%2 == 0,
			CreatedAt: moment + 1000*at, UpdatedAt: moment + 2000*at,
			Metadata: userMetadata{
				LastLogin: moment + 3000*at, LoginCount: 100 + 10*i, Permissions: []string{"read", "write"},
				Department: "Engineering", PreferredLang: "en",
			},
		}
	}
	data := &pageData{List: users, TotalPages: 10}
	return &pageResponse{Message: "success", Data: data, Total: 200, Page: 1, PageSize: 20}
}

func test() *testResponse {
	return &testResponse{
		Message: "success",
		Data: map[string]any{
			"id": 12345, "name": "John Doe", "email": "john.doe@example.com", "age": 30, "active": true,
			"score": 98.5, "role": "admin", "department": "Engineering",
		},
		List:     []string{"permission1", "permission2", "permission3", "permission4", "permission5"},
		Metadata: map[string]any{"version": "1.0.0", "api_version": "v1", "region": "us-west-2"},
	}
}

func complexPayload() *complexStruct {
	return &complexStruct{
		ID: 12345, Name: "John Doe", Email: "john.doe@example.com", Active: true, Score: 98.5,
		Tags: []string{"go", "performance", "json", "optimization"},
		Metadata: map[string]any{
			"version": "1.0.0", "environment": "production", "region": "us-west-2", "count": 42, "ratio": 3.14159,
		},
		Nested:    simpleStruct{ID: 999, Name: "nested", Message: "nested message"},
		Timestamp: moment,
	}
}

func simple() *simpleStruct {
	return &simpleStruct{ID: 1, Name: "test", Message: "hello"}
}
