//! Skills stored by the service: `/v1/skills`.

use super::Secret;
use super::wire::object;

object! {
    /// A stored skill.
    pub struct ManagedSkill: response {
        /// Identifier of the skill.
        skill_id: String,
        /// Name of the skill, as the model sees it.
        name: Option<String>,
        /// Description of when to use the skill.
        description: Option<String>,
        /// Revision that this object describes.
        revision: Option<String>,
        /// Latest revision.
        latest_revision: Option<String>,
        /// Creation time.
        created_at: Option<String>,
        /// Time of the last update.
        updated_at: Option<String>,
    }

    /// One page of skills.
    pub struct List: response {
        /// The skills of this page, without descriptions.
        skills: Vec<ManagedSkill>,
        /// Token of the next page; absent on the last page.
        next_page_token: Option<String>,
    }

    /// One revision of a skill.
    pub struct Revision: response {
        /// Identifier of the revision.
        revision: String,
        /// Name of the skill in this revision.
        name: Option<String>,
        /// Creation time.
        created_at: Option<String>,
    }

    /// One page of revisions.
    pub struct Revisions: response {
        /// The revisions of this page.
        revisions: Vec<Revision>,
        /// Token of the next page; absent on the last page.
        next_page_token: Option<String>,
    }

    /// Download location of a skill's files.
    pub struct Download: response {
        /// Pre-signed URL: it gives access to the files without further authentication.
        download_url: Secret,
        /// Name of the skill.
        name: Option<String>,
        /// Revision of the files.
        revision: Option<String>,
    }

    /// Query parameters of a list of skills or revisions.
    pub struct ListParams: nested {
        /// Maximum entries per page.
        limit: scalar u32,
        /// Page token: `next_page_token` of the previous page.
        page_token: optional String,
    }

    /// Query parameters for retrieving a skill or its files.
    pub struct RevisionParams: nested {
        /// Revision to retrieve [server default: latest].
        revision: optional String,
    }

    /// Query parameters of an update. It fails if the skill was changed concurrently.
    pub struct ChangeParams: nested, new {
        /// Revision that the update is based on.
        expected_revision: required String,
    }
}
