//! Models: `GET /v1/models`.

use super::ObjectKind;
use super::wire::object;

object! {
    /// Response of `GET /v1/models`.
    pub struct List: response {
        /// Object type, [`ObjectKind::List`].
        object: ObjectKind,
        /// Available models.
        data: Vec<Model>,
    }

    /// A model of the Agent API.
    pub struct Model: response {
        /// Identifier, such as `perplexity/sonar`.
        id: String,
        /// Object type, [`ObjectKind::Model`].
        object: ObjectKind,
        /// Creation time, in Unix seconds.
        created: i64,
        /// Organization that provides the model.
        owned_by: String,
    }
}
