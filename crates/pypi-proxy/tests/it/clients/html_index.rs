//! A minimal index: HTML links without hashes, sizes, times and metadata.

use std::path::{Path, PathBuf};

use http::{HeaderMap, Response};

use crate::support::{Body, Server, ranged, respond};

/// Serves the files below `folder/files` like a plain web server.
pub(crate) async fn start(folder: &Path) -> Server {
    let files = folder.join("files");
    Server::start(move |path, headers| {
        let files = files.clone();
        async move {
            let parts: Vec<_> = path.trim_start_matches('/').split('/').collect();
            match parts[..] {
                ["simple", project, ""] => page(&files.join(project), project, &headers),
                ["files", project, file] => {
                    let file = percent_encoding::percent_decode_str(file).decode_utf8().unwrap();
                    content(&files.join(project).join(&*file), &headers)
                }
                _ => respond(404, &[], ""),
            }
        }
    })
    .await
}

fn page(folder: &PathBuf, project: &str, headers: &HeaderMap) -> Response<Body> {
    let Ok(entries) = std::fs::read_dir(folder) else { return respond(404, &[], "") };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let etag = format!("\"{project}-{}\"", names.len());
    if headers.get("if-none-match").is_some_and(|known| *known == etag) {
        return respond(304, &[("etag", &etag)], "");
    }
    let links: String = names
        .iter()
        .map(|name| {
            format!("<a href=\"../../files/{project}/{}\">{name}</a><br>\n", name.replace('+', "%2B"))
        })
        .collect();
    let page = format!("<!DOCTYPE html>\n<html><body>\n{links}</body></html>\n");
    respond(200, &[("content-type", "text/html"), ("etag", &etag)], page)
}

fn content(path: &Path, headers: &HeaderMap) -> Response<Body> {
    let Ok(content) = std::fs::read(path) else { return respond(404, &[], "") };
    let etag = format!("\"{:x}\"", content.len());
    let common = [("etag", &*etag), ("accept-ranges", "bytes"), ("content-type", "application/octet-stream")];
    ranged(headers, &common, &content.into())
}
