//! Multipart uploads.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;

use crate::request::Request;

/// The part of a multipart form that is named `file`.
#[derive(Debug)]
pub(crate) struct UploadedFile {
    pub(crate) name: String,
    pub(crate) content: Bytes,
}

/// Returns `None` if the request is not a valid form with a file.
pub(crate) async fn file(request: &Request) -> Option<UploadedFile> {
    let boundary = multer::parse_boundary(request.header(CONTENT_TYPE.as_str())?).ok()?;
    let body = request.body.clone();
    let mut form = multer::Multipart::new(stream::iter([Ok::<_, Infallible>(body)]), boundary);
    loop {
        let field = form.next_field().await.ok()??;
        if field.name() == Some("file") {
            let name = field.file_name().unwrap_or("upload").to_owned();
            return Some(UploadedFile { name, content: field.bytes().await.ok()? });
        }
    }
}
