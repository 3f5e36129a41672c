//! Verifies that a server's responses are correct before they are timed.

use std::io::Read;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use flate2::read::GzDecoder;
use url::Url;

use crate::client::{self, Header, Response};
use crate::data::{self, Data, EMPTY};
use crate::output::Role;
use crate::pause;
use crate::rows::{Format, Request, Resource};
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
    /// True if the content was checked and is the same as that of the other servers.
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
        Resource::Page { project, format, .. } => {
            let is_json = format == Format::Json;
            match project {
                // The HTML list of groxpi is a placeholder without names.
                "" if server.role == Role::Original && !is_json => {
                    is_alike = check_list(&body, false).is_ok()
                }
                "" => check_list(&body, is_json)?,
                EMPTY => {
                    ensure!((200..250).contains(&body.len()), "{} bytes instead of about 224", body.len());
                    check_files(&body, is_json, &[])?;
                }
                // All file names, and correct digests if the page contains any.
                project => check_files(&body, is_json, &data.files(project)?)?,
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
    let value: serde_json::Value = serde_json::from_slice(&response.body).context("the page is not JSON")?;
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

/// Checks the names of the files on a page, and their digests if it contains any.
fn check_files(page: &[u8], is_json: bool, wanted: &[(String, String)]) -> Result<()> {
    let mut found = if is_json { files_of_json(page)? } else { files_of_html(page) };
    found.sort();
    ensure!(found.len() == wanted.len(), "{} files instead of {}", found.len(), wanted.len());
    for ((name, digest), (wanted_name, wanted_digest)) in found.iter().zip(wanted) {
        ensure!(name == wanted_name, "file {name} instead of {wanted_name}");
        ensure!(digest.as_ref().is_none_or(|digest| digest == wanted_digest), "wrong digest of {name}");
    }
    Ok(())
}

fn files_of_json(page: &[u8]) -> Result<Vec<(String, Option<String>)>> {
    let value: serde_json::Value = serde_json::from_slice(page).context("the page is not JSON")?;
    let files = value["files"].as_array().context("the page has no files")?;
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    files
        .iter()
        .map(|file| {
            Ok((text(&file["filename"]).context("a file has no name")?, text(&file["hashes"]["sha256"])))
        })
        .collect()
}

/// Returns the text of each link and the SHA-256 in the fragment of its URL. This parser is sufficient for generated
/// pages.
fn files_of_html(page: &[u8]) -> Vec<(String, Option<String>)> {
    let text = String::from_utf8_lossy(page);
    text.split("<a ")
        .skip(1)
        .filter_map(|link| {
            let link = link.split("</a>").next()?;
            let name = link.rsplit('>').next()?.trim().to_owned();
            let digest = link.split_once("#sha256=").and_then(|(_, rest)| rest.get(..64)).map(str::to_owned);
            Some((name, digest))
        })
        .collect()
}

fn check_list(page: &[u8], is_json: bool) -> Result<()> {
    let mut found: Vec<String> = if is_json {
        let value: serde_json::Value = serde_json::from_slice(page).context("the list is not JSON")?;
        let projects = value["projects"].as_array().context("the list has no projects")?;
        projects.iter().filter_map(|project| project["name"].as_str().map(str::to_owned)).collect()
    } else {
        files_of_html(page).into_iter().map(|(name, _)| name).collect()
    };
    let mut wanted = data::names(data::NAMES);
    found.sort();
    wanted.sort();
    ensure!(found.len() == wanted.len(), "{} names instead of {}", found.len(), wanted.len());
    ensure!(found == wanted, "the names differ");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_and_wrong_digests_are_detected() {
        let digest = "a".repeat(64);
        let wanted = [("x-1.whl".to_owned(), digest.clone())];
        let json = |name: &str, digest: &str| {
            format!("{{\"files\":[{{\"filename\":\"{name}\",\"hashes\":{{\"sha256\":\"{digest}\"}}}}]}}")
        };
        check_files(json("x-1.whl", &digest).as_bytes(), true, &wanted).unwrap();
        assert!(check_files(json("x-2.whl", &digest).as_bytes(), true, &wanted).is_err());
        assert!(check_files(json("x-1.whl", "b").as_bytes(), true, &wanted).is_err());
        assert!(check_files(b"{\"files\":[]}", true, &wanted).is_err());
        let html = format!("<p><a class=x href=\"u#sha256={digest}\" data-y=\"&gt;\">x-1.whl</a></p>");
        check_files(html.as_bytes(), false, &wanted).unwrap();
        check_files(b"<a href=\"u\">x-1.whl</a>", false, &wanted).unwrap();
        assert!(check_files(b"<html></html>", false, &wanted).is_err());
    }
}
