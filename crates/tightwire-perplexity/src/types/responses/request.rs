//! Request body of the Agent API.

use std::collections::BTreeMap;

use super::common::{Effort, ServiceTier, Truncation};
use super::input::Input;
use super::skill::Skill;
use super::tool::{Tool, ToolChoice};
use crate::types::TextOrList;
use crate::types::chat::ResponseFormat;
use crate::types::invalid::{Invalid, at_most, present, within};
use crate::types::wire::{object, open_enum};

/// Maximum models per request.
const MAX_MODELS: usize = 5;
/// Maximum agent steps per request.
const MAX_STEPS: u32 = 100;
/// Maximum length of a schema name, in characters.
const MAX_SCHEMA_NAME: usize = 64;
/// Maximum total size of the inline skills, in bytes.
const MAX_INLINE_SKILLS: usize = 262_144;
/// Largest integer that every JSON implementation represents exactly, `2^53 - 1`.
const MAX_SEQUENCE_NUMBER: u64 = (1 << 53) - 1;

object! {
    /// Request body of `POST /v1/agent`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::responses::{Effort, Request, Tool, WebSearch};
    ///
    /// let request = Request::new("openai/gpt-5", "Who found the first pulsar?")
    ///     .tools([Tool::from(WebSearch::new())])
    ///     .effort(Effort::Low);
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: request {
        /// Input: a string or conversation items.
        input: required Input,
        /// Model, as `provider/model`.
        model: optional String,
        /// One to five models in order of preference: each is a fallback for the one before. Overrides
        /// `model`.
        models: list String,
        /// Name of a preset of settings. Overridden by `effort`.
        preset: optional String,
        /// Effort of the agent, which selects model and settings.
        effort: optional Effort,
        /// System instructions.
        instructions: optional String,
        /// Language of the response, as an ISO 639-1 code.
        language_preference: optional String,
        /// Maximum tokens of the output.
        max_output_tokens: scalar u32,
        /// Maximum steps of the agent, from 1 to 100.
        max_steps: scalar u32,
        /// Whether to run in the background.
        background: scalar bool,
        /// Whether to stream the response as events.
        stream: scalar bool,
        /// Reasoning options.
        reasoning: optional Reasoning,
        /// Output format. A JSON schema requires a name here.
        response_format: optional ResponseFormat,
        /// Tools that the model may use.
        tools: list Tool,
        /// Whether the model may or must use tools.
        tool_choice: optional ToolChoice,
        /// Sampling temperature.
        temperature: scalar f64,
        /// Nucleus sampling: cumulative probability of the candidate tokens.
        top_p: scalar f64,
        /// Identifier of the response that this request continues.
        previous_response_id: optional String,
        /// Whether to store the response.
        store: scalar bool,
        /// Skills that the model can load.
        skills: list Skill,
        /// Stored settings to apply.
        profile: optional Profile,
        /// Prompt cache key: requests with the same key are routed to share a cache.
        prompt_cache_key: optional String,
        /// Processing priority.
        service_tier: optional ServiceTier,
        /// Whether to tell the model how many steps are left.
        step_budget_reminder: scalar bool,
        /// Up to 16 entries that the response repeats.
        metadata: optional BTreeMap<String, String>,
        /// Maximum number of tool calls. 0 disables all tools.
        max_tool_calls: scalar u32,
        /// Whether the model may call several tools at the same time.
        parallel_tool_calls: scalar bool,
        /// Handling of an input that is larger than the context of the model.
        truncation: optional Truncation,
        /// Options of the stream.
        stream_options: optional StreamOptions,
    }
}

impl Request {
    /// Creates a request for a model, or for several models in order of preference.
    pub fn new(model: impl Into<TextOrList>, input: impl Into<Input>) -> Self {
        let request = Self { input: input.into(), ..Self::default() };
        match model.into() {
            TextOrList::Text(model) => Self { model: Some(model), ..request },
            TextOrList::List(models) => Self { models: Some(models), ..request },
            TextOrList::Unknown(_) => request,
        }
    }

    /// Creates a request with a preset, which includes the model.
    pub fn with_preset(preset: impl Into<String>, input: impl Into<Input>) -> Self {
        Self { input: input.into(), preset: Some(preset.into()), ..Self::default() }
    }

    /// Creates a request with an effort, from which the server selects the model.
    pub fn with_effort(effort: impl Into<Effort>, input: impl Into<Input>) -> Self {
        Self { input: input.into(), effort: Some(effort.into()), ..Self::default() }
    }

    /// Validates the request locally.
    ///
    /// # Errors
    ///
    /// Returns [`Invalid`] if the input or any choice of model is missing, or if a value is out of its
    /// documented range.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("input", self.input.is_blank())?;
        let has_settings = self.preset.is_some() || self.effort.is_some() || self.profile.is_some();
        let names_model = self.model.as_ref().is_some_and(|model| !model.is_empty()) || self.models.is_some();
        present("model", !names_model && !has_settings)?;
        if let Some(models) = &self.models {
            present("models", models.is_empty() || models.iter().any(String::is_empty))?;
            at_most("models", models.len(), MAX_MODELS, "models")?;
        }
        within("max_output_tokens", self.max_output_tokens, 1, u32::MAX)?;
        within("max_steps", self.max_steps, 1, MAX_STEPS)?;
        self.validate_format()?;
        for (index, tool) in self.tools.iter().flatten().enumerate() {
            tool.validate().map_err(|invalid| invalid.inside(format_args!("tools[{index}]")))?;
        }
        for (index, skill) in self.skills.iter().flatten().enumerate() {
            skill.validate().map_err(|invalid| invalid.inside(format_args!("skills[{index}]")))?;
        }
        let inline = self.skills.iter().flatten().map(Skill::inline_len).sum();
        at_most("skills", inline, MAX_INLINE_SKILLS, "bytes")
    }

    fn validate_format(&self) -> Result<(), Invalid> {
        let Some(ResponseFormat::JsonSchema(format)) = &self.response_format else { return Ok(()) };
        let field = "response_format.json_schema.name";
        let name = format.json_schema.name.as_deref().unwrap_or_default();
        present(field, name.is_empty())?;
        at_most(field, name.chars().count(), MAX_SCHEMA_NAME, "characters")
    }
}

object! {
    /// Options of a streamed response.
    pub struct StreamOptions: nested, new {
        /// Whether the last event has the usage [server default: true].
        include_usage: scalar bool,
    }
}

object! {
    /// Reasoning options.
    pub struct Reasoning: nested {
        /// Amount of reasoning.
        effort: optional Effort,
    }
}

impl Reasoning {
    /// Creates options with this amount of reasoning.
    pub fn new(effort: impl Into<Effort>) -> Self {
        Self { effort: Some(effort.into()), ..Self::default() }
    }
}

object! {
    /// Reference to stored settings.
    pub struct Profile: nested {
        /// Identifier of the profile.
        id: required String,
        /// Type of the profile.
        kind as "type": required ProfileKind,
        /// Version of the profile [server default: latest].
        version: optional String,
    }
}

impl Profile {
    /// Creates a reference to the profile `id`.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), kind: ProfileKind::Custom, ..Self::default() }
    }
}

open_enum! {
    /// Type of a profile.
    pub enum ProfileKind {
        /// Created by the user.
        Custom = "custom",
    }

    /// Level of detail of a retrieved response.
    pub enum RetrieveFormat {
        /// All fields.
        Default = "default",
        /// The most important fields.
        Short = "short",
    }
}

object! {
    /// Query parameters for retrieving a response.
    pub struct RetrieveParams: nested {
        /// Level of detail.
        format: optional RetrieveFormat,
        /// Resume an event stream after this sequence number.
        starting_after: scalar u64,
        /// Whether to stream the response as events.
        stream: scalar bool,
    }
}

impl RetrieveParams {
    /// Creates parameters that stream the events after `sequence_number`.
    pub fn events_after(sequence_number: u64) -> Self {
        Self { starting_after: Some(sequence_number), stream: Some(true), ..Self::default() }
    }

    /// Validates the parameters locally.
    ///
    /// # Errors
    ///
    /// Returns [`Invalid`] if `stream` is set without `starting_after`, or if that is above 2^53 - 1.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.stream == Some(true) && self.starting_after.is_none() {
            return Err(Invalid::empty("starting_after"));
        }
        within("starting_after", self.starting_after, 0, MAX_SEQUENCE_NUMBER)
    }
}
