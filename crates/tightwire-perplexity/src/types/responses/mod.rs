//! Agent API: `/v1/responses`.

mod accumulator;
mod common;
mod event;
mod input;
mod mcp;
mod output;
mod request;
mod response;
mod sandbox;
mod skill;
mod tool;

pub use accumulator::Accumulator;
pub use common::{Effort, Role, ServiceTier, Status};
pub use event::{
    Event, FailedEvent, FetchQueriesEvent, FetchResultsEvent, ImageQueriesEvent, ImageResultsEvent,
    ItemEvent, ReasoningEvent, ResponseEvent, SearchQueriesEvent, SearchResultsEvent, SkillLoadedEvent,
    TextDeltaEvent, TextDoneEvent,
};
pub use input::{
    ImageDetail, Input, InputContent, InputFile, InputImage, InputItem, InputMessage, InputPart,
    InputReasoning, InputText, ReasoningKind, ReasoningText,
};
pub use mcp::{
    AllowedTools, Approval, ApprovalFilter, ApprovalMode, ApprovalRequest, ApprovalResponse, ApprovalRules,
    McpCall, McpTool, McpToolAnnotations, McpTools,
};
pub use output::{
    AdvisorResult, Annotation, FetchResults, FetchedPage, FunctionCall, FunctionCallOutput, ImageResults,
    Namespace, NamespaceFunction, OutputContent, OutputItem, OutputMessage, OutputText, SearchResult,
    SearchResults, SkillLoaded, ToolSearch, UnknownItem,
};
pub use request::{Profile, ProfileKind, Reasoning, Request, RetrieveFormat, RetrieveParams};
pub use response::{
    Cancelled, Cost, FileList, InputTokens, OutputTokens, Response, ResponseError, ResponseFile, TokenUsage,
    ToolCallDetails, Usage,
};
pub use sandbox::{Language, RunResult, RunStatus, SandboxOperation, SandboxResults};
pub use skill::{BuiltinName, BuiltinSkill, CustomSkill, InlineSkill, Skill};
pub use tool::{
    Connector, FetchUrl, FinanceSearch, FunctionTool, ImageFilters, ImageFormat, ImageSearch, McpServer,
    NamedTool, PeopleSearch, Sandbox, Tool, ToolChoice, ToolMode, WebFilters, WebSearch,
};
