package api

import (
	"encoding/json"
	"fmt"
)

// ChatMessage has a content that is a text or a list of parts.
type ChatMessage struct {
	Role           string          `json:"role"`
	ReasoningSteps []ReasoningStep `json:"reasoning_steps,omitempty"`
	ToolCalls      []ToolCall      `json:"tool_calls,omitempty"`
	Content        Content         `json:"-"`
}

// Content is Text or Parts.
type Content interface{ isContent() }

// Text is a content without parts.
type Text string

// Parts is a content of several parts.
type Parts []Part

func (Text) isContent()  {}
func (Parts) isContent() {}

// Part is one part of a content: TextPart or URLPart.
type Part interface{ isPart() }

// TextPart is a text.
type TextPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// ImagePart is an image.
type ImagePart struct {
	Type     string `json:"type"`
	ImageURL URL    `json:"image_url"`
}

// FilePart is a file.
type FilePart struct {
	Type     string  `json:"type"`
	FileURL  URL     `json:"file_url"`
	FileName *string `json:"file_name,omitempty"`
}

// PDFPart is a PDF file.
type PDFPart struct {
	Type   string `json:"type"`
	PDFURL URL    `json:"pdf_url"`
}

// VideoPart is a video.
type VideoPart struct {
	Type     string `json:"type"`
	VideoURL URL    `json:"video_url"`
}

func (*TextPart) isPart()  {}
func (*ImagePart) isPart() {}
func (*FilePart) isPart()  {}
func (*PDFPart) isPart()   {}
func (*VideoPart) isPart() {}

// URL is a string, or an object with a string.
type URL struct {
	Plain  string
	Object *URLObject
}

// URLObject is the long form of a URL.
type URLObject struct {
	URL string `json:"url"`
}

// MarshalJSON writes the members first and the content last, null where there is none.
func (m ChatMessage) MarshalJSON() ([]byte, error) {
	type members ChatMessage
	return json.Marshal(&struct {
		members
		Content Content `json:"content"`
	}{members(m), m.Content})
}

// UnmarshalJSON decodes the content after the rest, once its raw form is known.
func (m *ChatMessage) UnmarshalJSON(document []byte) error {
	type members ChatMessage
	whole := struct {
		*members
		Content json.RawMessage `json:"content"`
	}{members: (*members)(m)}
	if err := json.Unmarshal(document, &whole); err != nil {
		return err
	}
	if len(whole.Content) == 0 || string(whole.Content) == "null" {
		return nil
	}
	var text string
	if err := json.Unmarshal(whole.Content, &text); err == nil {
		m.Content = Text(text)
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(whole.Content, &items); err != nil {
		return fmt.Errorf("content is neither a string nor a list: %w", err)
	}
	parts := make(Parts, 0, len(items))
	for _, item := range items {
		part, err := unmarshalPart(item)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	m.Content = parts
	return nil
}

// unmarshalPart looks at the type alone first, and decodes the whole part then.
func unmarshalPart(item json.RawMessage) (Part, error) {
	var tag struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(item, &tag); err != nil {
		return nil, err
	}
	var part Part
	switch tag.Type {
	case "text":
		part = new(TextPart)
	case "image_url":
		part = new(ImagePart)
	case "file_url":
		part = new(FilePart)
	case "pdf_url":
		part = new(PDFPart)
	case "video_url":
		part = new(VideoPart)
	default:
		return nil, fmt.Errorf("unknown type of part %q", tag.Type)
	}
	return part, json.Unmarshal(item, part)
}

// MarshalJSON writes the form that the URL has.
func (u URL) MarshalJSON() ([]byte, error) {
	if u.Object != nil {
		return json.Marshal(u.Object)
	}
	return json.Marshal(u.Plain)
}

// UnmarshalJSON tries the string before the object.
func (u *URL) UnmarshalJSON(document []byte) error {
	if err := json.Unmarshal(document, &u.Plain); err == nil {
		return nil
	}
	u.Object = new(URLObject)
	return json.Unmarshal(document, u.Object)
}
