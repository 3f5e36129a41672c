//! Models: `GET /v1/models`.

use super::ObjectKind;
use super::wire::object;

object! {
    /// All models.
    pub struct List: answer {
        /// What it is.
        object: must ObjectKind,
        /// The models.
        data: must Vec<Model>,
    }
}

object! {
    /// A model of the agent API.
    pub struct Model: answer {
        /// Its identifier, such as `perplexity/sonar`.
        id: must String,
        /// What it is.
        object: must ObjectKind,
        /// When it was added, in Unix seconds.
        created: must i64,
        /// Who offers it.
        owned_by: must String,
    }
}
