package payload

import "math"

// The types of the documents twitter.json, citm_catalog.json and canada.json, with all of their members. Members that the
// documents lack in places are not written there.

// Types make the targets of decoding, by the beginning of the names of documents.
var Types = map[string]func() Checked{
	"twitter": func() Checked { return new(Twitter) },
	"citm":    func() Checked { return new(Citm) },
	"canada":  func() Checked { return new(Canada) },
	"users":   func() Checked { return new(PageResponse) },
}

func (t *Twitter) Check() uint64 {
	check := t.SearchMetadata.Count
	for i := range t.Statuses {
		check += uint64(len(t.Statuses[i].User.ScreenName))
	}
	return check
}

func (c *Citm) Check() uint64 {
	check := len(c.Events) + len(c.VenueNames)
	for i := range c.Performances {
		check += len(c.Performances[i].Prices)
	}
	return uint64(check)
}

func (c *Canada) Check() uint64 { return uint64(len(c.Features) + len(c.Type)) }

// WholeNumbers counts the coordinates that other languages write as 83.0 and Go as 83.
func (c *Canada) WholeNumbers() (count int) {
	for _, feature := range c.Features {
		for _, ring := range feature.Geometry.Coordinates {
			for _, point := range ring {
				for _, coordinate := range point {
					if coordinate == math.Trunc(coordinate) {
						count++
					}
				}
			}
		}
	}
	return count
}

// Twitter is the document twitter.json.
type Twitter struct {
	Statuses       []Tweet       `json:"statuses"`
	SearchMetadata TweetMetadata `json:"search_metadata"`
}

type TweetMetadata struct {
	CompletedIn float64 `json:"completed_in"`
	MaxID       uint64  `json:"max_id"`
	MaxIDStr    string  `json:"max_id_str"`
	NextResults string  `json:"next_results"`
	Query       string  `json:"query"`
	RefreshURL  string  `json:"refresh_url"`
	Count       uint64  `json:"count"`
	SinceID     uint64  `json:"since_id"`
	SinceIDStr  string  `json:"since_id_str"`
}

type Tweet struct {
	Metadata struct {
		ResultType      string `json:"result_type"`
		IsoLanguageCode string `json:"iso_language_code"`
	} `json:"metadata"`
	CreatedAt            string        `json:"created_at"`
	ID                   uint64        `json:"id"`
	IDStr                string        `json:"id_str"`
	Text                 string        `json:"text"`
	Source               string        `json:"source"`
	Truncated            bool          `json:"truncated"`
	InReplyToStatusID    *uint64       `json:"in_reply_to_status_id"`
	InReplyToStatusIDStr *string       `json:"in_reply_to_status_id_str"`
	InReplyToUserID      *uint32       `json:"in_reply_to_user_id"`
	InReplyToUserIDStr   *string       `json:"in_reply_to_user_id_str"`
	InReplyToScreenName  *string       `json:"in_reply_to_screen_name"`
	User                 TweetUser     `json:"user"`
	Geo                  *struct{}     `json:"geo"`
	Coordinates          *struct{}     `json:"coordinates"`
	Place                *struct{}     `json:"place"`
	Contributors         *struct{}     `json:"contributors"`
	RetweetedStatus      *Tweet        `json:"retweeted_status,omitempty"`
	RetweetCount         uint32        `json:"retweet_count"`
	FavoriteCount        uint32        `json:"favorite_count"`
	Entities             TweetEntities `json:"entities"`
	Favorited            bool          `json:"favorited"`
	Retweeted            bool          `json:"retweeted"`
	PossiblySensitive    *bool         `json:"possibly_sensitive,omitempty"`
	Lang                 string        `json:"lang"`
}

type TweetUser struct {
	ID          uint64  `json:"id"`
	IDStr       string  `json:"id_str"`
	Name        string  `json:"name"`
	ScreenName  string  `json:"screen_name"`
	Location    string  `json:"location"`
	Description string  `json:"description"`
	URL         *string `json:"url"`
	Entities    struct {
		Description TweetURLs  `json:"description"`
		URL         *TweetURLs `json:"url,omitempty"`
	} `json:"entities"`
	Protected                      bool    `json:"protected"`
	FollowersCount                 uint32  `json:"followers_count"`
	FriendsCount                   uint32  `json:"friends_count"`
	ListedCount                    uint32  `json:"listed_count"`
	CreatedAt                      string  `json:"created_at"`
	FavouritesCount                uint32  `json:"favourites_count"`
	UTCOffset                      *int32  `json:"utc_offset"`
	TimeZone                       *string `json:"time_zone"`
	GeoEnabled                     bool    `json:"geo_enabled"`
	Verified                       bool    `json:"verified"`
	StatusesCount                  uint32  `json:"statuses_count"`
	Lang                           string  `json:"lang"`
	ContributorsEnabled            bool    `json:"contributors_enabled"`
	IsTranslator                   bool    `json:"is_translator"`
	IsTranslationEnabled           bool    `json:"is_translation_enabled"`
	ProfileBackgroundColor         string  `json:"profile_background_color"`
	ProfileBackgroundImageURL      string  `json:"profile_background_image_url"`
	ProfileBackgroundImageURLHTTPS string  `json:"profile_background_image_url_https"`
	ProfileBackgroundTile          bool    `json:"profile_background_tile"`
	ProfileImageURL                string  `json:"profile_image_url"`
	ProfileImageURLHTTPS           string  `json:"profile_image_url_https"`
	ProfileBannerURL               *string `json:"profile_banner_url,omitempty"`
	ProfileLinkColor               string  `json:"profile_link_color"`
	ProfileSidebarBorderColor      string  `json:"profile_sidebar_border_color"`
	ProfileSidebarFillColor        string  `json:"profile_sidebar_fill_color"`
	ProfileTextColor               string  `json:"profile_text_color"`
	ProfileUseBackgroundImage      bool    `json:"profile_use_background_image"`
	DefaultProfile                 bool    `json:"default_profile"`
	DefaultProfileImage            bool    `json:"default_profile_image"`
	Following                      bool    `json:"following"`
	FollowRequestSent              bool    `json:"follow_request_sent"`
	Notifications                  bool    `json:"notifications"`
}

type TweetURLs struct {
	URLs []TweetURL `json:"urls"`
}

type TweetURL struct {
	URL         string    `json:"url"`
	ExpandedURL string    `json:"expanded_url"`
	DisplayURL  string    `json:"display_url"`
	Indices     [2]uint16 `json:"indices"`
}

type TweetEntities struct {
	Hashtags     []Hashtag     `json:"hashtags"`
	Symbols      []struct{}    `json:"symbols"`
	URLs         []TweetURL    `json:"urls"`
	UserMentions []Mention     `json:"user_mentions"`
	Media        *[]TweetMedia `json:"media,omitempty"`
}

type Hashtag struct {
	Text    string    `json:"text"`
	Indices [2]uint32 `json:"indices"`
}

type Mention struct {
	ScreenName string    `json:"screen_name"`
	Name       string    `json:"name"`
	ID         uint64    `json:"id"`
	IDStr      string    `json:"id_str"`
	Indices    [2]uint16 `json:"indices"`
}

type TweetMedia struct {
	ID            uint64    `json:"id"`
	IDStr         string    `json:"id_str"`
	Indices       [2]uint16 `json:"indices"`
	MediaURL      string    `json:"media_url"`
	MediaURLHTTPS string    `json:"media_url_https"`
	URL           string    `json:"url"`
	DisplayURL    string    `json:"display_url"`
	ExpandedURL   string    `json:"expanded_url"`
	Type          string    `json:"type"`
	Sizes         struct {
		Medium MediaSize `json:"medium"`
		Small  MediaSize `json:"small"`
		Thumb  MediaSize `json:"thumb"`
		Large  MediaSize `json:"large"`
	} `json:"sizes"`
	SourceStatusID    *uint64 `json:"source_status_id,omitempty"`
	SourceStatusIDStr *string `json:"source_status_id_str,omitempty"`
}

type MediaSize struct {
	W      uint16 `json:"w"`
	H      uint16 `json:"h"`
	Resize string `json:"resize"`
}

// Citm is the document citm_catalog.json.
type Citm struct {
	AreaNames                map[string]string    `json:"areaNames"`
	AudienceSubCategoryNames map[string]string    `json:"audienceSubCategoryNames"`
	BlockNames               map[string]string    `json:"blockNames"`
	Events                   map[string]CitmEvent `json:"events"`
	Performances             []CitmPerformance    `json:"performances"`
	SeatCategoryNames        map[string]string    `json:"seatCategoryNames"`
	SubTopicNames            map[string]string    `json:"subTopicNames"`
	SubjectNames             map[string]string    `json:"subjectNames"`
	TopicNames               map[string]string    `json:"topicNames"`
	TopicSubTopics           map[string][]uint32  `json:"topicSubTopics"`
	VenueNames               map[string]string    `json:"venueNames"`
}

type CitmEvent struct {
	Description *string  `json:"description"`
	ID          uint32   `json:"id"`
	Logo        *string  `json:"logo"`
	Name        string   `json:"name"`
	SubTopicIDs []uint32 `json:"subTopicIds"`
	SubjectCode *string  `json:"subjectCode"`
	Subtitle    *string  `json:"subtitle"`
	TopicIDs    []uint32 `json:"topicIds"`
}

type CitmPerformance struct {
	EventID        uint32         `json:"eventId"`
	ID             uint32         `json:"id"`
	Logo           *string        `json:"logo"`
	Name           *string        `json:"name"`
	Prices         []Price        `json:"prices"`
	SeatCategories []SeatCategory `json:"seatCategories"`
	SeatMapImage   *string        `json:"seatMapImage"`
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

// Canada is the document canada.json.
type Canada struct {
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
