//! Types shared by requests and responses of the Agent API.

use crate::types::wire::open_enum;

open_enum! {
    /// Status of a response or of an output item.
    pub enum Status {
        Completed = "completed",
        Failed = "failed",
        InProgress = "in_progress",
        /// Generation stopped early.
        Incomplete = "incomplete",
        /// Waiting to be processed.
        Queued = "queued",
        Cancelled = "cancelled",
        Cancelling = "cancelling",
        /// The caller must act first, for example run a function or approve a tool call.
        RequiresAction = "requires_action",
    }
}

impl Status {
    /// Returns whether the status cannot change without action of the caller.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Incomplete | Self::Cancelled | Self::RequiresAction
        )
    }
}

open_enum! {
    /// Author of a message.
    pub enum Role {
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// Instructions to the model.
        System = "system",
        /// Instructions to the model from the application.
        Developer = "developer",
    }

    /// Amount of work or reasoning.
    pub enum Effort {
        None = "none",
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        /// Extra high.
        Xhigh = "xhigh",
        /// Lowest effort of an agent.
        Fast = "fast",
        /// Highest amount of reasoning.
        Max = "max",
    }

    /// Handling of an input that is larger than the context of the model.
    pub enum Truncation {
        /// The oldest input is dropped.
        Auto = "auto",
        /// The request fails.
        Disabled = "disabled",
    }

    /// Reason why a response is incomplete.
    pub enum IncompleteReason {
        /// The maximum number of output tokens was reached.
        MaxOutputTokens = "max_output_tokens",
        /// A filter rejected the output.
        ContentFilter = "content_filter",
        /// The response was cancelled.
        Cancelled = "cancelled",
    }

    /// Processing priority of a request.
    pub enum ServiceTier {
        /// The service decides.
        Auto = "auto",
        /// Standard priority.
        Default = "default",
        /// Lower priority at a lower price.
        Flex = "flex",
        /// Higher priority at a higher price.
        Priority = "priority",
        /// Highest speed.
        Fast = "fast",
    }
}
