//! Managed skills and their revisions.

use http::StatusCode;
use serde_json::{Value, json};

use super::refusal::Refusal;
use super::state::State;
use super::upload::{self, Upload};
use super::{Outcome, page, refusal};
use crate::reply::Reply;
use crate::request::Request;

/// The times of skills are texts, and always the same.
const TIME: &str = "2024-01-01T00:00:00Z";

const MAX_NAME: usize = 64;
const MAX_REVISIONS: usize = 1_000;

#[derive(Debug)]
pub(crate) struct Skill {
    id: String,
    /// The name of each revision; the last is the latest.
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

    /// The revision that the query names, or the latest.
    fn asked(&self, request: &Request) -> Result<usize, Refusal> {
        let Some(wanted) = request.query_value("revision") else { return Ok(self.latest()) };
        (0..self.names.len())
            .find(|index| revision(*index) == wanted)
            .ok_or_else(|| refusal::not_found("Revision", &wanted))
    }

    /// Refuses a change that was made for another revision than the latest.
    fn expect_latest(&self, request: &Request) -> Result<(), Refusal> {
        let missing =
            || refusal::schema(&[json!("query"), json!("expected_revision")], "Field required", "missing");
        let expected = request.query_value("expected_revision").ok_or_else(missing)?;
        if expected == revision(self.latest()) {
            Ok(())
        } else {
            Err(refusal::conflict("The skill has another revision by now"))
        }
    }
}

/// The name of a bundle: that of its file, without the extension, and not longer than names are.
fn name(file: &str) -> String {
    file.strip_suffix(".zip").unwrap_or(file).chars().take(MAX_NAME).collect()
}

pub(crate) fn create(state: &mut State, upload: Option<Upload>) -> Outcome {
    let file = upload::file(upload)?;
    let id = state.id("sk_");
    let skill = Skill { id: id.clone(), names: vec![name(&file.name)] };
    let view = skill.view(0);
    state.skills.insert(id, MAX_NAME, skill);
    Ok(Reply::json(&view))
}

fn with_token(member: &str, (objects, next): (Vec<Value>, Option<String>)) -> Reply {
    let mut body = json!({member: objects});
    if let Some(token) = next {
        body["next_page_token"] = json!(token);
    }
    Reply::json(&body)
}

pub(crate) fn list(state: &State, request: &Request) -> Outcome {
    let skills = state.skills.values().map(|skill| skill.summary(skill.latest())).collect();
    Ok(with_token("skills", page::token(request, "page_token", skills)?))
}

fn find<'a>(state: &'a State, id: &str) -> Result<&'a Skill, Refusal> {
    state.skills.get(id).ok_or_else(|| refusal::not_found("Skill", id))
}

pub(crate) fn retrieve(state: &State, request: &Request, id: &str) -> Outcome {
    let skill = find(state, id)?;
    Ok(Reply::json(&skill.view(skill.asked(request)?)))
}

pub(crate) fn update(state: &mut State, request: &Request, id: &str, upload: Option<Upload>) -> Outcome {
    let skill = state.skills.get_mut(id).ok_or_else(|| refusal::not_found("Skill", id))?;
    skill.expect_latest(request)?;
    let file = upload::file(upload)?;
    if skill.names.len() == MAX_REVISIONS {
        return Err(refusal::invalid("too_many_revisions", "A skill has at most 1000 revisions"));
    }
    skill.names.push(name(&file.name));
    Ok(Reply::json(&skill.view(skill.latest())))
}

pub(crate) fn delete(state: &mut State, request: &Request, id: &str) -> Outcome {
    find(state, id)?.expect_latest(request)?;
    state.skills.remove(id);
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

pub(crate) fn download(state: &State, request: &Request, id: &str) -> Outcome {
    let skill = find(state, id)?;
    let index = skill.asked(request)?;
    let revision = revision(index);
    Ok(Reply::json(&json!({
        "download_url": format!("https://example.org/skills/{id}/{revision}.zip"),
        "name": skill.names[index],
        "revision": revision,
    })))
}

pub(crate) fn revisions(state: &State, request: &Request, id: &str) -> Outcome {
    let skill = find(state, id)?;
    let revisions = skill
        .names
        .iter()
        .enumerate()
        .map(|(index, name)| json!({"revision": revision(index), "name": name, "created_at": TIME}))
        .collect();
    Ok(with_token("revisions", page::token(request, "page_token", revisions)?))
}
