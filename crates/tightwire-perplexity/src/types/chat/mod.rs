//! Chat completions: `POST /chat/completions`.

mod accumulator;
mod completion;
mod content;
mod deltas;
mod format;
mod message;
mod reasoning;
mod request;
mod tool;

pub use accumulator::Accumulator;
pub use completion::{Choice, ChunkKind, Completion, CompletionStatus, Cost, FinishReason, Image, Usage};
pub use content::{Content, FilePart, ImagePart, Part, PdfPart, Source, TextPart, Url, VideoPart};
pub use deltas::{DeltaChoice, DeltaChunk, Ignored};
pub use format::{JsonSchema, JsonSchemaFormat, Regex, RegexFormat, ResponseFormat, TextFormat};
pub use message::{Delta, Message, Role};
pub use reasoning::{
    AgentProgress, AttachmentSearch, BrowserAgent, BrowserTool, CodeRun, FetchedPages, PublicResult,
    ReasoningStep, ResultSource, StepKind, StepSearch,
};
pub use request::{
    MediaOverrides, MediaResponse, Messages, ReasoningEffort, Request, SearchType, StreamMode, UserLocation,
    WebSearchOptions,
};
pub use tool::{Function, FunctionCall, Schema, Tool, ToolCall, ToolChoice, ToolKind};
