package payload

import (
	"fmt"
	"strings"
)

// The documents of the Rust suite, byte for byte.

// numbers is a linear congruential generator.
type numbers uint32

func (n *numbers) below(bound uint32) uint32 {
	*n = *n*1664525 + 1013904223
	return (uint32(*n) >> 16) % bound
}

var words = []string{
	"stream", "of", "tokens", "naïve", "東京", "the", "quick", `\"quoted\"`, `line\nbreak`, "café", "over",
	`\u00e9t\u00e9`, "dogs", `https:\/\/example.org`, "👍", "and",
}

func (n *numbers) text(out *strings.Builder, count int) {
	for index := range count {
		if index > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(words[n.below(16)])
	}
}

func messages(length int) string {
	n, out := numbers(1), &strings.Builder{}
	out.WriteString(`{"statuses":[`)
	index := 0
	for ; out.Len() < length; index++ {
		if index > 0 {
			out.WriteByte(',')
		}
		id := 505874924095815700 + index*7
		fmt.Fprintf(out, `{"created_at":"Sun Aug 31 00:29:%02d +0000 2014",`, n.below(60))
		fmt.Fprintf(out, `"id":%d,"id_str":"%d","text":"`, id, id)
		n.text(out, 6+index%12)
		fmt.Fprintf(out, `","truncated":false,"user":{"id":%d,`, 1186275104+index*3)
		fmt.Fprintf(out, `"screen_name":"user_%d","name":"`, n.below(10000))
		n.text(out, 2)
		fmt.Fprintf(out, `","followers_count":%d,`, n.below(60000))
		fmt.Fprintf(out, `"verified":%t,"description":"`, n.below(2) == 1)
		n.text(out, 4+index%8)
		fmt.Fprintf(out, `"},"retweet_count":%d,"entities":{"hashtags":[`, n.below(5000))
		for tag := range index % 3 {
			if tag > 0 {
				out.WriteByte(',')
			}
			start := n.below(100)
			fmt.Fprintf(out, `{"text":"tag%d","indices":[%d,%d]}`, tag, start, start+5)
		}
		language := []string{"ja", "en", "fr"}[n.below(3)]
		fmt.Fprintf(out, `]},"favorited":false,"in_reply_to":null,"lang":"%s"}`, language)
	}
	fmt.Fprintf(out, `],"search_metadata":{"completed_in":0.087,"count":%d}}`, index)
	return out.String()
}

func catalogue(length int) string {
	n, out := numbers(1), &strings.Builder{}
	out.WriteString(`{"performances":[`)
	index := 0
	for ; out.Len() < length; index++ {
		if index > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, `{"eventId":%d,"id":%d,"logo":null,"name":null,"prices":[`, 138586341+index*9, 339887544+index*11)
		for price := range 1 + index%4 {
			if price > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(out, `{"amount":%d,"audienceSubCategoryId":337100890,`, 9000+250*n.below(100))
			fmt.Fprintf(out, `"seatCategoryId":%d}`, 338937235+n.below(90))
		}
		out.WriteString(`],"seatCategories":[`)
		for category := range 1 + index%3 {
			if category > 0 {
				out.WriteByte(',')
			}
			out.WriteString(`{"areas":[`)
			for area := range 1 + n.below(6) {
				if area > 0 {
					out.WriteByte(',')
				}
				fmt.Fprintf(out, `{"areaId":%d,"blockIds":[]}`, 205705999+n.below(20))
			}
			fmt.Fprintf(out, `],"seatCategoryId":%d}`, 338937235+n.below(90))
		}
		fmt.Fprintf(out, `],"start":%d,"venueCode":"PLEYEL_%d"}`, 1372701600000+index*86400000, n.below(30))
	}
	fmt.Fprintf(out, `],"total":%d}`, index)
	return out.String()
}

func coastline(length int) string {
	n, out := numbers(1), &strings.Builder{}
	decimal := func(sign string, whole uint32) {
		high, middle, low := n.below(10000), n.below(10000), n.below(10000)
		fmt.Fprintf(out, "%s%d.%04d%04d%04d%d", sign, whole, high, middle, low, n.below(5)*2+1)
	}
	out.WriteString(`{"type":"FeatureCollection","features":[`)
	for features := 0; out.Len() < length; features++ {
		if features > 0 {
			out.WriteByte(',')
		}
		out.WriteString(`{"type":"Feature","properties":{"name":"Canada"},"geometry":{"type":"Polygon","coordinates":[[`)
		for point := range 24 + n.below(40) {
			if point > 0 {
				out.WriteByte(',')
			}
			out.WriteByte('[')
			decimal("-", 60+n.below(80))
			out.WriteByte(',')
			decimal("", 41+n.below(42))
			out.WriteByte(']')
		}
		out.WriteString("]]}}")
	}
	out.WriteString("]}")
	return out.String()
}

// Documents generates the three kinds of documents, at least so long.
var Documents = map[string]func(length int) string{"twitter": messages, "citm": catalogue, "canada": coastline}

// Sizes are the shortest lengths of the documents.
var Sizes = map[string]int{"10k": 10 << 10, "100k": 100 << 10, "1m": 1 << 20}

// Messages is a document of the kind twitter. The types below belong to it, and to those of the kinds citm and canada.
type Messages struct {
	Statuses       []Status       `json:"statuses"`
	SearchMetadata SearchMetadata `json:"search_metadata"`
}

type Status struct {
	CreatedAt    string   `json:"created_at"`
	ID           uint64   `json:"id"`
	IDStr        string   `json:"id_str"`
	Text         string   `json:"text"`
	Truncated    bool     `json:"truncated"`
	User         Author   `json:"user"`
	RetweetCount uint32   `json:"retweet_count"`
	Entities     Entities `json:"entities"`
	Favorited    bool     `json:"favorited"`
	InReplyTo    *uint64  `json:"in_reply_to"`
	Lang         string   `json:"lang"`
}

type Author struct {
	ID             uint64 `json:"id"`
	ScreenName     string `json:"screen_name"`
	Name           string `json:"name"`
	FollowersCount uint32 `json:"followers_count"`
	Verified       bool   `json:"verified"`
	Description    string `json:"description"`
}

type Entities struct {
	Hashtags []Hashtag `json:"hashtags"`
}

type Hashtag struct {
	Text    string    `json:"text"`
	Indices [2]uint32 `json:"indices"`
}

type SearchMetadata struct {
	CompletedIn float64 `json:"completed_in"`
	Count       uint64  `json:"count"`
}

// Catalogue is a document of the kind citm.
type Catalogue struct {
	Performances []Performance `json:"performances"`
	Total        uint64        `json:"total"`
}

type Performance struct {
	EventID        uint64         `json:"eventId"`
	ID             uint64         `json:"id"`
	Logo           *string        `json:"logo"`
	Name           *string        `json:"name"`
	Prices         []Price        `json:"prices"`
	SeatCategories []SeatCategory `json:"seatCategories"`
	Start          uint64         `json:"start"`
	VenueCode      string         `json:"venueCode"`
}

type Price struct {
	Amount                uint64 `json:"amount"`
	AudienceSubCategoryID uint64 `json:"audienceSubCategoryId"`
	SeatCategoryID        uint64 `json:"seatCategoryId"`
}

type SeatCategory struct {
	Areas          []Area `json:"areas"`
	SeatCategoryID uint64 `json:"seatCategoryId"`
}

type Area struct {
	AreaID   uint64   `json:"areaId"`
	BlockIDs []uint64 `json:"blockIds"`
}

// Coastline is a document of the kind canada.
type Coastline struct {
	Type     string    `json:"type"`
	Features []Feature `json:"features"`
}

type Feature struct {
	Type       string     `json:"type"`
	Properties Properties `json:"properties"`
	Geometry   Geometry   `json:"geometry"`
}

type Properties struct {
	Name string `json:"name"`
}

type Geometry struct {
	Type        string         `json:"type"`
	Coordinates [][][2]float64 `json:"coordinates"`
}
