//! Parses the pages of upstreams.

use std::sync::Arc;

use super::disk::StoredPage;
use super::slot::{Slot, UpstreamContent, UpstreamPage};
use crate::Error;
use crate::page::{Page, ProjectFacts, ProjectList};
use crate::upstream::PageBody;

/// Parses the stored page of one upstream.
pub(super) fn parse_stored(stored: StoredPage, slot: &Slot) -> Option<UpstreamPage> {
    let (facts, facts_version) = slot.facts().clone();
    let validators = stored.body.validators.clone();
    let content = parse_body(stored.body, slot.name.is_some(), &facts).ok()?;
    let (checked, modified) = (Some(stored.checked), Some(stored.modified));
    Some(UpstreamPage {
        content: Some(content),
        validators,
        checked,
        modified,
        facts_version,
        bucket_version: None,
    })
}

/// Parses the body of a response: a project page or the project list, in JSON or HTML.
pub(super) fn parse_body(
    body: PageBody,
    is_project: bool,
    facts: &ProjectFacts,
) -> Result<UpstreamContent, Error> {
    Ok(match (is_project, body.is_json) {
        (true, true) => {
            let metadata = |wheel: &str, sha256: &[u8; 32]| facts.metadata(wheel, sha256);
            UpstreamContent::Project(Arc::new(Page::from_json_with_metadata(body.bytes, metadata)?))
        }
        (true, false) => UpstreamContent::Project(Arc::new(Page::from_html_with_facts(&body.bytes, facts)?)),
        (false, true) => UpstreamContent::List(Arc::new(ProjectList::from_json(body.bytes)?)),
        (false, false) => UpstreamContent::List(Arc::new(ProjectList::from_html(&body.bytes)?)),
    })
}
