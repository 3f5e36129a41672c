//! Stored skills and their revisions.

use http::StatusCode;
use serde_json::{Value, json};

use super::error::{ApiError, ApiResult};
use super::store::{Counters, Store};
use super::upload::{self, Upload};
use super::{error, page};
use crate::api_response::ApiResponse;
use crate::request::Request;

/// Fixed time of all skills, a string in this API.
const TIME: &str = "2024-01-01T00:00:00Z";

const MAX_NAME: usize = 64;
const MAX_REVISIONS: usize = 1_000;

#[derive(Debug)]
pub(crate) struct Skill {
    id: String,
    /// Name of each revision; the last is the latest.
    names: Vec<String>,
}

fn revision(index: usize) -> String {
    format!("r{}", index + 1)
}

impl Skill {
    fn latest(&self) -> usize {
        self.names.len() - 1
    }

    fn summary(&self, index: usize) -> Value {
        json!({
            "skill_id": self.id,
            "name": self.names[index],
            "revision": revision(index),
            "created_at": TIME,
            "updated_at": TIME,
        })
    }

    fn view(&self, index: usize) -> Value {
        let mut view = self.summary(index);
        view["description"] = json!(format!("What {} does", self.names[index]));
        view["latest_revision"] = json!(revision(self.latest()));
        view
    }

    /// Returns the revision of the query, or the latest.
    fn requested_revision(&self, request: &Request) -> Result<usize, ApiError> {
        let Some(wanted) = request.query_value("revision") else { return Ok(self.latest()) };
        (0..self.names.len())
            .find(|index| revision(*index) == wanted)
            .ok_or_else(|| error::not_found("Revision", &wanted))
    }

    /// Rejects a change based on another revision than the latest.
    fn expect_latest(&self, request: &Request) -> Result<(), ApiError> {
        let missing =
            || error::schema(&[json!("query"), json!("expected_revision")], "Field required", "missing");
        let expected = request.query_value("expected_revision").ok_or_else(missing)?;
        if expected == revision(self.latest()) {
            Ok(())
        } else {
            Err(error::conflict("The skill has another revision by now"))
        }
    }
}

/// Returns the name of a bundle: its file name without extension, truncated to the maximum length.
fn name(file: &str) -> String {
    file.strip_suffix(".zip").unwrap_or(file).chars().take(MAX_NAME).collect()
}

pub(crate) fn create(counters: &mut Counters, store: &mut Store<Skill>, upload: Option<Upload>) -> ApiResult {
    let file = upload::file(upload)?;
    let id = counters.id("sk_");
    let skill = Skill { id: id.clone(), names: vec![name(&file.name)] };
    let view = skill.view(0);
    store.insert(id, MAX_NAME, skill);
    Ok(ApiResponse::json(&view))
}

fn with_token(member: &str, (objects, next): (Vec<Value>, Option<String>)) -> ApiResponse {
    let mut body = json!({member: objects});
    if let Some(token) = next {
        body["next_page_token"] = json!(token);
    }
    ApiResponse::json(&body)
}

pub(crate) fn list(store: &Store<Skill>, request: &Request) -> ApiResult {
    let skills = store.values().map(|skill| skill.summary(skill.latest())).collect();
    Ok(with_token("skills", page::token(request, "page_token", skills)?))
}

fn find<'a>(store: &'a Store<Skill>, id: &str) -> Result<&'a Skill, ApiError> {
    store.get(id).ok_or_else(|| error::not_found("Skill", id))
}

pub(crate) fn retrieve(store: &Store<Skill>, request: &Request, id: &str) -> ApiResult {
    let skill = find(store, id)?;
    Ok(ApiResponse::json(&skill.view(skill.requested_revision(request)?)))
}

pub(crate) fn update(
    store: &mut Store<Skill>,
    request: &Request,
    id: &str,
    upload: Option<Upload>,
) -> ApiResult {
    let skill = store.get_mut(id).ok_or_else(|| error::not_found("Skill", id))?;
    skill.expect_latest(request)?;
    let file = upload::file(upload)?;
    if skill.names.len() == MAX_REVISIONS {
        return Err(error::invalid("too_many_revisions", "A skill has at most 1000 revisions"));
    }
    skill.names.push(name(&file.name));
    Ok(ApiResponse::json(&skill.view(skill.latest())))
}

pub(crate) fn delete(store: &mut Store<Skill>, request: &Request, id: &str) -> ApiResult {
    find(store, id)?.expect_latest(request)?;
    store.remove(id);
    Ok(ApiResponse::empty(StatusCode::NO_CONTENT))
}

pub(crate) fn download(store: &Store<Skill>, request: &Request, id: &str) -> ApiResult {
    let skill = find(store, id)?;
    let index = skill.requested_revision(request)?;
    let revision = revision(index);
    Ok(ApiResponse::json(&json!({
        "download_url": format!("https://example.org/skills/{id}/{revision}.zip"),
        "name": skill.names[index],
        "revision": revision,
    })))
}

pub(crate) fn revisions(store: &Store<Skill>, request: &Request, id: &str) -> ApiResult {
    let skill = find(store, id)?;
    let revisions = skill
        .names
        .iter()
        .enumerate()
        .map(|(index, name)| json!({"revision": revision(index), "name": name, "created_at": TIME}))
        .collect();
    Ok(with_token("revisions", page::token(request, "page_token", revisions)?))
}
