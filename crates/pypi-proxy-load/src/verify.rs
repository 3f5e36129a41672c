//! Verifies that a server's responses are correct before they are timed.

use std::io::Read;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use bench_report::model::Role;
use flate2::read::GzDecoder;
use serde_json::Value;
use url::Url;

use crate::client::{self, Header, Response};
use crate::data::{Data, EMPTY};
use crate::pause;
use crate::rows::{Request, Resource};
use crate::servers::Server;

/// Timeout for the requested content coding: some servers compress in the background after the first response.
const TIMEOUT: Duration = Duration::from_secs(3);

/// A verified request.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    pub(crate) path: String,
    pub(crate) headers: Vec<Header>,
    pub(crate) status: u16,
    /// Bytes of the body as sent.
    pub(crate) body: usize,
    /// Bytes of the whole response on a persistent connection.
    pub(crate) wire: usize,
    /// Content coding of the response, which may differ from the requested one.
    pub(crate) coding: String,
    /// Whether the content was checked and is the same as that of the other servers.
    pub(crate) is_alike: bool,
}

/// Sends a request and checks the response. Fails with the reason why the response is wrong.
pub(crate) fn verify(server: &Server, request: &Request, data: &Data) -> Result<Verified> {
    let Request { mut path, mut headers, resource } = request.clone();
    match resource {
        Resource::Wheel(project) | Resource::Tail(project) | Resource::Head(project) => {
            path = find_file(server, data, project)?;
        }
        Resource::Locked(project) if server.role == Role::Ours => path = data.wheel(project)?.path(),
        Resource::Locked(project) => path = find_file(server, data, project)?,
        Resource::Unchanged(_) => {
            let response = client::request(server.address, "GET", &path, &headers)?;
            let tag = response.header("etag").context("the page has no ETag")?;
            headers.push(("If-None-Match", tag.to_owned()));
        }
        Resource::Health | Resource::Page { .. } => {}
    }
    // The headers of a file are only known after it was downloaded once.
    let mut response = request_until_coded(server.address, &path, &headers)?;
    if matches!(resource, Resource::Head(_)) {
        response = client::request(server.address, "HEAD", &path, &headers)?;
    }
    let status = match resource {
        Resource::Unchanged(_) => 304,
        Resource::Tail(_) => 206,
        _ => 200,
    };
    ensure!(response.status == status, "status {} instead of {status}", response.status);
    let body = decoded(&response)?;
    let mut is_alike = resource != Resource::Health;
    match resource {
        Resource::Health => ensure!(!body.is_empty(), "empty response"),
        Resource::Unchanged(_) => ensure!(body.is_empty(), "unexpected body"),
        Resource::Head(project) => {
            let size = data.wheel(project)?.size.to_string();
            ensure!(response.header("content-length") == Some(&size), "wrong or missing Content-Length");
        }
        Resource::Page { project, accept, .. } => {
            let found = check(&body, accept == Some(client::JSON), &data.entries(project)?);
            // The HTML list of groxpi is a placeholder without names.
            is_alike = found.is_ok() || !(project.is_empty() && server.role == Role::Original);
            if is_alike {
                found?;
            }
            if project == EMPTY {
                ensure!((200..250).contains(&body.len()), "{} bytes instead of about 224", body.len());
            }
        }
        Resource::Wheel(project) | Resource::Locked(project) => {
            ensure!(body == data.content(project)?, "the bytes differ from the wheel");
        }
        Resource::Tail(project) => {
            let content = data.content(project)?;
            let tail = content.len().checked_sub(16384).map(|start| &content[start..]);
            ensure!(tail == Some(&body), "the bytes differ from the wheel");
        }
    }
    Ok(Verified {
        path,
        headers,
        status: response.status,
        body: response.body.len(),
        wire: response.wire_len(),
        coding: response.header("content-encoding").unwrap_or("identity").to_owned(),
        is_alike,
    })
}

fn request_until_coded(address: SocketAddr, path: &str, headers: &[Header]) -> Result<Response> {
    let wanted = headers.iter().find(|(name, _)| *name == "Accept-Encoding").map(|(_, value)| value.as_str());
    let start = Instant::now();
    // The first response may be created on the fly; the second one comes from the cache.
    client::request(address, "GET", path, headers)?;
    loop {
        let response = client::request(address, "GET", path, headers)?;
        if wanted.is_none() || response.header("content-encoding") == wanted || start.elapsed() > TIMEOUT {
            return Ok(response);
        }
        pause(Duration::from_millis(50));
    }
}

/// Returns the path of a project's wheel from its page.
pub(crate) fn find_file(server: &Server, data: &Data, project: &str) -> Result<String> {
    if !server.is_proxy() {
        return Ok(data.wheel(project)?.path());
    }
    let page = server.page(project, true);
    let response = client::get(server.address, &page, &[client::accept(client::JSON)])?;
    let value: Value = serde_json::from_slice(&response.body).context("the page is not JSON")?;
    let link = value["files"][0]["url"].as_str().context("the page has no files")?;
    let page = Url::parse(&format!("http://{}{page}", server.address))?;
    Ok(page.join(link)?.path().to_owned())
}

fn decoded(response: &Response) -> Result<Vec<u8>> {
    let (body, mut content) = (&*response.body, Vec::new());
    match response.header("content-encoding") {
        None | Some("identity") => content.extend_from_slice(body),
        Some("gzip") => drop(GzDecoder::new(body).read_to_end(&mut content)?),
        Some("zstd") => drop(zstd::Decoder::new(body)?.read_to_end(&mut content)?),
        Some(other) => bail!("unexpected content coding {other}"),
    }
    Ok(content)
}

/// Name of a file or project, and digest of a file.
type Entry = (String, Option<String>);

/// Checks the names on a page, and their digests if it contains any.
fn check(page: &[u8], is_json: bool, wanted: &[Entry]) -> Result<()> {
    let mut found = if is_json { entries_of_json(page)? } else { entries_of_html(page) };
    found.sort();
    ensure!(found.len() == wanted.len(), "{} names instead of {}", found.len(), wanted.len());
    for ((name, digest), (wanted_name, wanted_digest)) in found.iter().zip(wanted) {
        ensure!(name == wanted_name, "{name} instead of {wanted_name}");
        ensure!(digest.is_none() || digest == wanted_digest, "wrong digest of {name}");
    }
    Ok(())
}

fn entries_of_json(page: &[u8]) -> Result<Vec<Entry>> {
    let value: Value = serde_json::from_slice(page).context("the page is not JSON")?;
    let entries =
        value["files"].as_array().or(value["projects"].as_array()).context("the page has no entries")?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let entry = |entry: &Value| {
        Some((text(&entry["filename"]).or(text(&entry["name"]))?, text(&entry["hashes"]["sha256"])))
    };
    entries.iter().map(|value| entry(value).context("an entry has no name")).collect()
}

/// Returns the text of each link and the SHA-256 in the fragment of its URL. This parser is sufficient for generated
/// pages.
fn entries_of_html(page: &[u8]) -> Vec<Entry> {
    let text = String::from_utf8_lossy(page);
    let entry = |link: &str| {
        let link = link.split("</a>").next()?;
        let digest = link.split_once("#sha256=").and_then(|(_, rest)| rest.get(..64)).map(str::to_owned);
        Some((link.rsplit('>').next()?.trim().to_owned(), digest))
    };
    text.split("<a ").skip(1).filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_and_wrong_digests_are_detected() {
        let digest = "a".repeat(64);
        let wanted = [("x-1.whl".to_owned(), Some(digest.clone()))];
        let check_json = |name: &str, digest: &str| {
            let page = serde_json::json!({ "files": [{ "filename": name, "hashes": { "sha256": digest } }] });
            check(page.to_string().as_bytes(), true, &wanted)
        };
        check_json("x-1.whl", &digest).unwrap();
        assert!(check_json("x-2.whl", &digest).is_err() && check_json("x-1.whl", "b").is_err());
        let html = format!("<p><a class=x href=\"u#sha256={digest}\" data-y=\"&gt;\">x-1.whl</a></p>");
        check(html.as_bytes(), false, &wanted).unwrap();
        check(b"<a href=\"u\">x-1.whl</a>", false, &wanted).unwrap();
        assert!(check(b"<html></html>", false, &wanted).is_err() && check(b"[]", true, &wanted).is_err());
    }
}
