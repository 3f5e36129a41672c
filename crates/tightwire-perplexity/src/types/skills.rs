//! Skills that are kept by the service: `/v1/skills`.

use super::Secret;
use super::wire::object;

object! {
    /// A skill.
    pub struct ManagedSkill: answer {
        /// Its identifier for the service.
        skill_id: must String,
        /// Its name for the model.
        name: may String,
        /// What it is good for.
        description: may String,
        /// Which revision this is.
        revision: may String,
        /// Which revision is the newest.
        latest_revision: may String,
        /// When it was made.
        created_at: may String,
        /// When it was changed.
        updated_at: may String,
    }
}

object! {
    /// A skill in a list.
    pub struct Summary: answer {
        /// Its identifier for the service.
        skill_id: must String,
        /// Its name for the model.
        name: may String,
        /// Which revision this is.
        revision: may String,
        /// When it was made.
        created_at: may String,
        /// When it was changed.
        updated_at: may String,
    }
}

object! {
    /// A page of skills.
    pub struct List: answer {
        /// The skills.
        skills: must Vec<Summary>,
        /// Where the next page begins, if there is one.
        next_page_token: may String,
    }
}

object! {
    /// One revision of a skill.
    pub struct Revision: answer {
        /// Which one.
        revision: must String,
        /// Its name for the model.
        name: may String,
        /// When it was made.
        created_at: may String,
    }
}

object! {
    /// A page of revisions.
    pub struct Revisions: answer {
        /// The revisions.
        revisions: must Vec<Revision>,
        /// Where the next page begins, if there is one.
        next_page_token: may String,
    }
}

object! {
    /// Where the files of a skill are.
    pub struct Download: answer {
        /// The URL. Whoever knows it can read the files.
        download_url: must Secret,
        /// The skill's name for the model.
        name: may String,
        /// Which revision it is.
        revision: may String,
    }
}

object! {
    /// The query of a list of skills or revisions.
    pub struct ListParams: part {
        /// How many a page has.
        limit: copy u32,
        /// Where the page begins: `next_page_token` of the one before.
        page_token: may String,
    }
}

object! {
    /// The query of one skill or its files.
    pub struct RevisionParams: part {
        /// Which revision; the newest if absent.
        revision: may String,
    }
}

object! {
    /// The query of a change: it is refused if somebody else made another one before.
    pub struct ChangeParams: part {
        /// The revision that is to be changed.
        expected_revision: must String,
    }
}

impl ChangeParams {
    /// Expects that `revision` is the newest.
    pub fn new(revision: impl Into<String>) -> Self {
        Self { expected_revision: revision.into(), ..Self::default() }
    }
}
