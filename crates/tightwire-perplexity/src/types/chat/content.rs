//! Message content: a string, or a list of typed parts.

use crate::types::NumberOrText;
use crate::types::wire::{object, tagged, untagged};

untagged! {
    /// Content of a message.
    pub enum Content {
        /// Plain text.
        Text = text String,
        /// Text, images and files.
        Parts = list Part,
    }
}

impl Content {
    /// Returns the text if the content is a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the parts, or an empty slice if the content is a string.
    pub fn parts(&self) -> &[Part] {
        match self {
            Self::Parts(parts) => parts,
            _ => &[],
        }
    }

    /// Returns the text, or the texts of all text parts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.as_text().into_iter().chain(self.parts().iter().filter_map(Part::as_text))
    }
}

tagged! {
    /// One part of a message's content.
    pub enum Part by "type" from {
        /// Text.
        "text" => Text(TextPart),
        /// Image.
        "image_url" => Image(ImagePart),
        /// Document.
        "file_url" => File(FilePart),
        /// PDF document.
        "pdf_url" => Pdf(PdfPart),
        /// Video.
        "video_url" => Video(VideoPart),
    }
}

impl Part {
    /// Creates a text part.
    pub fn text(text: impl Into<String>) -> Self {
        TextPart::new(text).into()
    }

    /// Creates an image part from an `https` or `data` URL.
    pub fn image(url: impl Into<Source>) -> Self {
        ImagePart::new(url).into()
    }

    /// Creates a document part from an `https` or `data` URL.
    pub fn file(url: impl Into<Source>) -> Self {
        FilePart::new(url).into()
    }

    /// Creates a PDF part from an `https` or `data` URL.
    pub fn pdf(url: impl Into<Source>) -> Self {
        PdfPart::new(url).into()
    }

    /// Creates a video part from an `https` or `data` URL.
    pub fn video(url: impl Into<Source>) -> Self {
        VideoPart::new(url).into()
    }

    /// Returns the text if this is a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(part) => Some(&part.text),
            _ => None,
        }
    }
}

object! {
    /// A text part.
    pub struct TextPart: nested, new {
        /// Text of the part.
        text: required String,
    }

    /// An image part: PNG, JPEG, WebP or GIF.
    pub struct ImagePart: nested, new {
        /// URL of the image.
        image_url: required Source,
    }

    /// A document part.
    pub struct FilePart: nested, new {
        /// URL of the document.
        file_url: required Source,
        /// File name of the document.
        file_name: optional String,
    }

    /// A PDF part.
    pub struct PdfPart: nested, new {
        /// URL of the document.
        pdf_url: required Source,
    }

    /// A video part.
    pub struct VideoPart: nested, new {
        /// URL of the video.
        video_url: required Source,
    }
}

untagged! {
    /// A URL, written as a string or as an object. Both mean the same; decoding preserves the form.
    pub enum Source {
        /// The URL as a string.
        Plain = text String,
        /// The URL in an object, with options.
        Object = object Url,
    }
}

impl Source {
    /// Returns the URL, if any.
    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Plain(url) => Some(url),
            Self::Object(object) => Some(&object.url),
            Self::Unknown(_) => None,
        }
    }
}

object! {
    /// A URL with options for videos.
    pub struct Url: nested, new {
        /// The URL, `https` or `data`.
        url: required String,
        /// Analyze every n-th frame of a video [server default: 25].
        frame_interval: optional NumberOrText,
    }
}
