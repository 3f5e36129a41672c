//! MCP (Model Context Protocol) tools: listing, calls and approvals.

use tightwire_json::Value;

use crate::types::wire::{object, open_enum, untagged};

object! {
    /// Tools of an MCP server.
    pub struct McpTools: nested {
        /// Identifier of this item.
        id: optional String,
        /// Label of the server.
        server_label: optional String,
        /// Tools that the server offers.
        tools: list McpTool,
        /// Identifier of the connector that provides the server.
        connector_id: optional String,
        /// Error if the tools could not be listed.
        error: optional String,
    }

    /// A tool of an MCP server.
    pub struct McpTool: nested {
        /// Name of the tool.
        name: required String,
        /// JSON schema of the input.
        input_schema: required Value,
        /// Description of the tool.
        description: optional String,
        /// Hints about the tool's behavior.
        annotations: optional McpToolAnnotations,
    }

    /// Hints about a tool's behavior.
    pub struct McpToolAnnotations: nested {
        /// Whether the tool has no side effects.
        read_only: scalar bool,
    }

    /// A call of an MCP tool.
    pub struct McpCall: nested {
        /// Identifier of this item.
        id: required String,
        /// Label of the server.
        server_label: required String,
        /// Name of the tool.
        name: required String,
        /// Arguments: a JSON object as a string.
        arguments: required String,
        /// Identifier of the preceding approval request.
        approval_request_id: optional String,
        /// Identifier of the connector that provides the server.
        connector_id: optional String,
        /// Error if the call failed.
        error: optional String,
        /// Output of the tool.
        output: optional String,
    }

    /// The model's request to approve a tool call.
    pub struct ApprovalRequest: nested {
        /// Identifier of this item.
        id: required String,
        /// Label of the server.
        server_label: required String,
        /// Name of the tool.
        name: required String,
        /// Arguments: a JSON object as a string.
        arguments: required String,
        /// Identifier of the connector that provides the server.
        connector_id: optional String,
        /// Opaque reasoning state; send it back unchanged.
        thought_signature: optional String,
    }

    /// The user's response to an approval request.
    pub struct ApprovalResponse: nested, new {
        /// Identifier of the approval request.
        approval_request_id: required String,
        /// Whether the call is approved.
        approve: required bool,
        /// Identifier of this item.
        id: optional String,
        /// Reason for the decision.
        reason: optional String,
    }
}

untagged! {
    /// Which tool calls require approval.
    pub enum Approval {
        /// One mode for all tools.
        Mode = text ApprovalMode,
        /// Rules by tool.
        Rules = object ApprovalRules,
    }
}

open_enum! {
    /// Whether tool calls require approval.
    pub enum ApprovalMode {
        /// Always ask.
        Always = "always",
        /// Never ask.
        Never = "never",
    }
}

object! {
    /// Approval rules by tool.
    pub struct ApprovalRules: nested {
        /// Tools that require approval.
        always: optional ApprovalFilter,
        /// Tools that do not require approval.
        never: optional ApprovalFilter,
    }

    /// Selection of tools of an MCP server.
    pub struct ApprovalFilter: nested {
        /// Whether to select tools without side effects.
        read_only: scalar bool,
        /// Names of the selected tools.
        tool_names: list String,
    }
}

untagged! {
    /// Tools of an MCP server that the model may use.
    pub enum AllowedTools {
        /// By name.
        Names = list String,
        /// By filter.
        Filter = object ApprovalFilter,
    }
}
