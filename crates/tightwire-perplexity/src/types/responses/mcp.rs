//! Tools of MCP servers: what they are, calls of them, and approvals.

use tightwire_json::Value;

use crate::types::wire::{by_shape, object, open_enum};

object! {
    /// The tools of an MCP server.
    pub struct McpTools: part {
        /// The identifier of this item.
        id: may String,
        /// The server.
        server_label: may String,
        /// The tools.
        tools: many McpTool,
        /// The connector that the server belongs to.
        connector_id: may String,
        /// Why the tools are not known.
        error: may String,
    }
}

object! {
    /// A tool of an MCP server.
    pub struct McpTool: part {
        /// Its name.
        name: must String,
        /// What it takes: a JSON schema.
        input_schema: must Value,
        /// What it does.
        description: may String,
        /// What is known about it.
        annotations: may McpToolAnnotations,
    }
}

object! {
    /// What is known about a tool.
    pub struct McpToolAnnotations: part {
        /// Whether it changes nothing.
        read_only: copy bool,
    }
}

object! {
    /// A call of a tool of an MCP server.
    pub struct McpCall: part {
        /// The identifier of this item.
        id: must String,
        /// The server.
        server_label: must String,
        /// The tool.
        name: must String,
        /// The arguments, as the text of a JSON object.
        arguments: must String,
        /// The request for approval that came before.
        approval_request_id: may String,
        /// The connector that the server belongs to.
        connector_id: may String,
        /// Why it failed.
        error: may String,
        /// The result.
        output: may String,
    }
}

object! {
    /// A request of the model to approve a call.
    pub struct ApprovalRequest: part {
        /// The identifier of this item.
        id: must String,
        /// The server.
        server_label: must String,
        /// The tool.
        name: must String,
        /// The arguments, as the text of a JSON object.
        arguments: must String,
        /// The connector that the server belongs to.
        connector_id: may String,
        /// What the model thought, for itself alone.
        thought_signature: may String,
    }
}

object! {
    /// The answer to a request for approval.
    pub struct ApprovalResponse: part {
        /// The request.
        approval_request_id: must String,
        /// Whether the call may be made.
        approve: must bool,
        /// The identifier of this item.
        id: may String,
        /// Why, or why not.
        reason: may String,
    }
}

impl ApprovalResponse {
    /// Approves or refuses a call.
    pub fn new(approval_request_id: impl Into<String>, approve: bool) -> Self {
        Self { approval_request_id: approval_request_id.into(), approve, ..Self::default() }
    }
}

by_shape! {
    /// Which calls need approval.
    pub enum Approval {
        /// All of them or none.
        Mode = text ApprovalMode,
        /// Those of some tools.
        Rules = object ApprovalRules,
    }
}

open_enum! {
    /// Whether calls need approval.
    pub enum ApprovalMode {
        /// They do.
        Always = "always",
        /// They do not.
        Never = "never",
    }
}

object! {
    /// Which calls need approval.
    pub struct ApprovalRules: part {
        /// Tools whose calls do.
        always: may ApprovalFilter,
        /// Tools whose calls do not.
        never: may ApprovalFilter,
    }
}

object! {
    /// Some of the tools of a server.
    pub struct ApprovalFilter: part {
        /// Those that change nothing.
        read_only: copy bool,
        /// Those with these names.
        tool_names: many String,
    }
}

by_shape! {
    /// Which tools of a server the model may use.
    pub enum AllowedTools {
        /// Those with these names.
        Names = list String,
        /// Those of a filter.
        Filter = object ApprovalFilter,
    }
}
