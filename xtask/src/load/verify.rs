//! Before something is timed: whether the answer is the right one.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::client::{self, Answer};
use super::data::{self, Data};
use super::pause;
use super::rows::Request;
use super::servers::{Layout, Server};

/// How long a server may take to have the coding that is asked for: some compress behind the first answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// What has to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Any answer with 200 and a body.
    Something,
    /// The page of the large project: the names of all files, and their digests if it tells any.
    Large { is_json: bool },
    /// The page of a project of one file.
    Project { project: &'static str, is_json: bool },
    /// All names.
    List { is_json: bool },
    /// The bytes of a wheel, which the page leads to.
    Wheel { project: &'static str },
    /// The last 16 KiB of it.
    Tail { project: &'static str },
    /// The headers of a wheel, and nothing behind them.
    Head { project: &'static str },
    /// 304 to the tag of the page.
    Unchanged,
}

/// What was found, and how to ask for it.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) status: u16,
    /// Bytes of the body as it is sent.
    pub(crate) body: usize,
    /// Bytes of the whole answer on a connection that is kept.
    pub(crate) wire: usize,
    /// The coding that came, which may be another than what was asked for.
    pub(crate) coding: String,
}

/// Asks a server once, and looks at what comes.
///
/// # Errors
///
/// Fails with what is wrong with the answer.
pub(crate) fn verify(server: &Server, request: &Request, data: &Data, scratch: &Path) -> Result<Verified> {
    let Request { mut path, mut headers, expected } = request.clone();
    match expected {
        Expected::Wheel { project } | Expected::Tail { project } | Expected::Head { project } => {
            path = find_file(server, data, project)?;
        }
        Expected::Unchanged => {
            let answer = client::ask(server.address, "GET", &path, &headers)?;
            let tag = answer.header("etag").context("its page has no ETag")?;
            headers.push(("If-None-Match".to_owned(), tag.to_owned()));
        }
        _ => {}
    }
    // A file that is not here has no headers yet.
    let mut answer = ask_until_coded(server.address, &path, &headers)?;
    if matches!(expected, Expected::Head { .. }) {
        answer = client::ask(server.address, "HEAD", &path, &headers)?;
    }
    let status = match expected {
        Expected::Unchanged => 304,
        Expected::Tail { .. } => 206,
        _ => 200,
    };
    ensure!(answer.status == status, "status {} instead of {status}", answer.status);
    let body = decoded(&answer, scratch)?;
    match expected {
        Expected::Something => ensure!(!body.is_empty(), "an empty answer"),
        Expected::Unchanged => ensure!(body.is_empty(), "a body"),
        Expected::Head { project } => {
            let size = data.wheel(project).context("no such project")?.size.to_string();
            ensure!(answer.header("content-length") == Some(&size), "another length, or none");
        }
        Expected::Large { is_json } => check_files(&body, is_json, &data::large_files())?,
        Expected::Project { project, is_json } => {
            let wheel = data.wheel(project).context("no such project")?;
            check_files(&body, is_json, &[(wheel.file.clone(), wheel.sha256.clone())])?;
        }
        Expected::List { is_json } => check_list(&body, is_json)?,
        Expected::Wheel { project } => {
            ensure!(body == content(data, project)?, "other bytes than the wheel's");
        }
        Expected::Tail { project } => {
            let content = content(data, project)?;
            ensure!(content.len() > 16384 && body == content[content.len() - 16384..], "other bytes");
        }
    }
    Ok(Verified {
        path,
        headers,
        status: answer.status,
        body: answer.wire_len - answer.head_len,
        // `Connection: close` is not there on a connection that is kept.
        wire: answer.wire_len
            - if answer.header("connection").is_some() { "Connection: close\r\n".len() } else { 0 },
        coding: answer.header("content-encoding").unwrap_or("identity").to_owned(),
    })
}

fn ask_until_coded(address: SocketAddr, path: &str, headers: &[(String, String)]) -> Result<Answer> {
    let wanted = headers.iter().find(|(name, _)| name == "Accept-Encoding").map(|(_, value)| value.as_str());
    let start = Instant::now();
    // The second answer is what is kept; the first may have been made on the way.
    client::ask(address, "GET", path, headers)?;
    loop {
        let answer = client::ask(address, "GET", path, headers)?;
        if wanted.is_none() || answer.header("content-encoding") == wanted || start.elapsed() > PATIENCE {
            return Ok(answer);
        }
        pause(Duration::from_millis(50));
    }
}

/// Where the page of a project says that its wheel is.
pub(crate) fn find_file(server: &Server, data: &Data, project: &str) -> Result<String> {
    if server.layout == Layout::Folder {
        let wheel = data.wheel(project).context("no such project")?;
        return Ok(format!("/files/{}", wheel.file));
    }
    let page = server.page(project, true);
    let accept = [("Accept".to_owned(), "application/vnd.pypi.simple.v1+json".to_owned())];
    let answer = client::ask(server.address, "GET", &page, &accept)?;
    ensure!(answer.status == 200, "{page}: status {}", answer.status);
    let value: serde_json::Value = serde_json::from_slice(&answer.body).context("a page that is no JSON")?;
    let link = value["files"][0]["url"].as_str().context("a page without files")?;
    Ok(client::resolve(&page, link))
}

fn content(data: &Data, project: &str) -> Result<Vec<u8>> {
    let wheel = data.wheel(project).context("no such project")?;
    Ok(fs::read(data.dir.join("files").join(&wheel.file))?)
}

fn decoded(answer: &Answer, scratch: &Path) -> Result<Vec<u8>> {
    let program = match answer.header("content-encoding") {
        None | Some("identity") => return Ok(answer.body.clone()),
        Some(coding @ ("gzip" | "zstd")) => coding.to_owned(),
        Some(other) => bail!("the coding {other}, which nobody asked for"),
    };
    let path = scratch.join("coded");
    fs::write(&path, &answer.body)?;
    let output = Command::new(&program)
        .arg("-dc")
        .stdin(File::open(&path)?)
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("no {program} here"))?;
    ensure!(output.status.success(), "{program} cannot read it");
    Ok(output.stdout)
}

/// Names and digests of files on a page have to be these. A digest that is not told is not compared.
fn check_files(page: &[u8], is_json: bool, wanted: &[(String, String)]) -> Result<()> {
    let mut found = if is_json { files_of_json(page)? } else { files_of_html(page) };
    found.sort();
    ensure!(found.len() == wanted.len(), "{} files instead of {}", found.len(), wanted.len());
    for ((name, digest), (wanted_name, wanted_digest)) in found.iter().zip(wanted) {
        ensure!(name == wanted_name, "a file {name} instead of {wanted_name}");
        ensure!(digest.as_ref().is_none_or(|digest| digest == wanted_digest), "another digest of {name}");
    }
    Ok(())
}

fn files_of_json(page: &[u8]) -> Result<Vec<(String, Option<String>)>> {
    let value: serde_json::Value = serde_json::from_slice(page).context("a page that is no JSON")?;
    let files = value["files"].as_array().context("a page without files")?;
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    files
        .iter()
        .map(|file| Ok((text(&file["filename"]).context("no name")?, text(&file["hashes"]["sha256"]))))
        .collect()
}

/// Enough for pages of machines: the text of each link, and the fragment of where it leads.
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
        let value: serde_json::Value = serde_json::from_slice(page).context("a list that is no JSON")?;
        let projects = value["projects"].as_array().context("a list without projects")?;
        projects.iter().filter_map(|project| project["name"].as_str().map(str::to_owned)).collect()
    } else {
        files_of_html(page).into_iter().map(|(name, _)| name).collect()
    };
    let mut wanted = data::names(data::NAMES);
    found.sort();
    wanted.sort();
    ensure!(found.len() == wanted.len(), "{} names instead of {}", found.len(), wanted.len());
    ensure!(found == wanted, "other names");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_lacks_a_file_or_changes_a_digest_is_noticed() {
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
