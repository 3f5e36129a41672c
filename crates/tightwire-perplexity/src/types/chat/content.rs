//! What a message says: a text, or parts of several kinds.

use crate::types::NumberOrText;
use crate::types::wire::{by_shape, object, tagged};

by_shape! {
    /// What a message says.
    pub enum Content {
        /// A text.
        Text = text String,
        /// Texts, images and files.
        Parts = list Part,
    }
}

impl Content {
    /// The text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The parts, if there are some.
    pub fn parts(&self) -> &[Part] {
        match self {
            Self::Parts(parts) => parts,
            _ => &[],
        }
    }

    /// The text, or those of all parts that are texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.as_text().into_iter().chain(self.parts().iter().filter_map(Part::as_text))
    }
}

tagged! {
    /// One part of a message.
    pub enum Part by "type" from {
        /// A text.
        "text" => Text(TextPart),
        /// An image.
        "image_url" => Image(ImagePart),
        /// A document.
        "file_url" => File(FilePart),
        /// A document in PDF.
        "pdf_url" => Pdf(PdfPart),
        /// A video.
        "video_url" => Video(VideoPart),
    }
}

impl Part {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        TextPart { text: text.into(), ..TextPart::default() }.into()
    }

    /// An image at an `https` or `data` URL.
    pub fn image(url: impl Into<Source>) -> Self {
        ImagePart { image_url: url.into(), ..ImagePart::default() }.into()
    }

    /// A document at an `https` or `data` URL.
    pub fn file(url: impl Into<Source>) -> Self {
        FilePart { file_url: url.into(), ..FilePart::default() }.into()
    }

    /// A document in PDF at an `https` or `data` URL.
    pub fn pdf(url: impl Into<Source>) -> Self {
        PdfPart { pdf_url: url.into(), ..PdfPart::default() }.into()
    }

    /// A video at an `https` or `data` URL.
    pub fn video(url: impl Into<Source>) -> Self {
        VideoPart { video_url: url.into(), ..VideoPart::default() }.into()
    }

    /// The text, if the part is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(part) => Some(&part.text),
            _ => None,
        }
    }
}

object! {
    /// A text.
    pub struct TextPart: part {
        /// The text.
        text: must String,
    }
}

object! {
    /// An image: PNG, JPEG, WEBP or GIF.
    pub struct ImagePart: part {
        /// Where it is.
        image_url: must Source,
    }
}

object! {
    /// A document.
    pub struct FilePart: part {
        /// Where it is.
        file_url: must Source,
        /// What it is called.
        file_name: may String,
    }
}

object! {
    /// A document in PDF.
    pub struct PdfPart: part {
        /// Where it is.
        pdf_url: must Source,
    }
}

object! {
    /// A video.
    pub struct VideoPart: part {
        /// Where it is.
        video_url: must Source,
    }
}

by_shape! {
    /// A URL: as a text, or as the member of an object. Both mean the same; the form is kept.
    pub enum Source {
        /// The URL itself.
        Plain = text String,
        /// An object around the URL.
        Object = object Url,
    }
}

impl Source {
    /// The URL, if there is one.
    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Plain(url) => Some(url),
            Self::Object(object) => Some(&object.url),
            Self::Unknown(_) => None,
        }
    }
}

object! {
    /// A URL, and for videos which frames to look at.
    pub struct Url: part {
        /// The URL, `https` or `data`.
        url: must String,
        /// Every how many frames of a video to look. The server's default is 25.
        frame_interval: may NumberOrText,
    }
}

impl Url {
    /// An object around `url`.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }
}
