//! The body of a request to the agent API.

use super::input::Input;
use super::skill::Skill;
use super::tool::{Tool, ToolChoice};
use crate::types::chat::ResponseFormat;
use crate::types::invalid::{Invalid, at_most, present, within};
use crate::types::wire::{object, open_enum};

/// How many models one request may name.
const MAX_MODELS: usize = 5;
/// How many steps one request may take.
const MAX_STEPS: u32 = 100;
/// The length of the name of a schema in characters.
const MAX_SCHEMA_NAME: usize = 64;
/// The length of all inline skills in bytes.
const MAX_INLINE_SKILLS: usize = 262_144;
/// The largest number that every JSON implementation holds, `2^53 - 1`.
const MAX_SEQUENCE_NUMBER: u64 = (1 << 53) - 1;

object! {
    /// The body of a request to the agent API.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::responses::{Effort, Request, Tool, WebSearch};
    ///
    /// let request = Request::new("openai/gpt-5", "Who found the first pulsar?")
    ///     .tools([Tool::from(WebSearch::new())])
    ///     .effort(Effort::Low);
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: body {
        /// What is asked.
        input: must Input,
        /// The model, as `provider/model`.
        model: may String,
        /// One to five models, the next one for when those before fail. They go before `model`.
        models: many String,
        /// A name for a set of settings; `effort` replaces it.
        preset: may String,
        /// How much work to put into the answer.
        effort: may Effort,
        /// Instructions to the model.
        instructions: may String,
        /// Language of the answer, as ISO 639-1 code.
        language_preference: may String,
        /// Upper bound of the tokens of the answer.
        max_output_tokens: copy u32,
        /// Upper bound of the steps of the agent, from 1 to 100.
        max_steps: copy u32,
        /// Whether to answer in the background.
        background: null bool,
        /// Whether the answer comes as events.
        stream: copy bool,
        /// How the model thinks.
        reasoning: may Reasoning,
        /// The form of the answer. The name of a JSON schema is required here.
        response_format: may ResponseFormat,
        /// What the model may use.
        tools: many Tool,
        /// Whether it uses it.
        tool_choice: may ToolChoice,
        /// How varied the words of the answer are.
        temperature: copy f64,
        /// Restricts words to the likely ones with this total probability.
        top_p: copy f64,
        /// The answer that this request follows.
        previous_response_id: may String,
        /// Whether to keep the answer.
        store: copy bool,
        /// What the model can read up.
        skills: many Skill,
        /// Settings that are kept by the service.
        profile: may Profile,
        /// Requests with the same key are likely to share what is cached.
        prompt_cache_key: may String,
        /// How urgent the request is.
        service_tier: may ServiceTier,
        /// Whether to tell the model how many steps are left.
        step_budget_reminder: copy bool,
    }
}

impl Request {
    /// A request to a model, or to several of which the next one answers when those before fail.
    pub fn new(model: impl Into<Models>, input: impl Into<Input>) -> Self {
        let request = Self { input: input.into(), ..Self::default() };
        match model.into() {
            Models::One(model) => Self { model: Some(model), ..request },
            Models::Chain(models) => Self { models: Some(models), ..request },
        }
    }

    /// A request with settings of the service that include the model.
    pub fn with_preset(preset: impl Into<String>, input: impl Into<Input>) -> Self {
        Self { input: input.into(), preset: Some(preset.into()), ..Self::default() }
    }

    /// A request whose model follows from how much work to put into the answer.
    pub fn with_effort(effort: impl Into<Effort>, input: impl Into<Input>) -> Self {
        Self { input: input.into(), effort: Some(effort.into()), ..Self::default() }
    }

    /// Checks what the server would refuse.
    ///
    /// # Errors
    /// There is no input, nothing that tells the model, or something is out of its documented range.
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

/// The model of a new [`Request`]: a name, or a list of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Models {
    /// One model.
    One(String),
    /// Several models, the next one for when those before fail.
    Chain(Vec<String>),
}

impl From<&str> for Models {
    fn from(model: &str) -> Self {
        Self::One(model.to_owned())
    }
}

impl From<String> for Models {
    fn from(model: String) -> Self {
        Self::One(model)
    }
}

impl<T: Into<String>> From<Vec<T>> for Models {
    fn from(models: Vec<T>) -> Self {
        Self::Chain(models.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Models {
    fn from(models: [T; N]) -> Self {
        Self::Chain(models.into_iter().map(Into::into).collect())
    }
}

object! {
    /// How a model thinks.
    pub struct Reasoning: part {
        /// How much.
        effort: may Effort,
    }
}

impl Reasoning {
    /// Thinking with this effort.
    pub fn new(effort: impl Into<Effort>) -> Self {
        Self { effort: Some(effort.into()), ..Self::default() }
    }
}

open_enum! {
    /// How much work to put into something.
    pub enum Effort {
        /// No work at all.
        None = "none",
        /// Hardly any.
        Minimal = "minimal",
        /// Little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Much.
        High = "high",
        /// As much as possible.
        Xhigh = "xhigh",
    }
}

open_enum! {
    /// How urgent a request is.
    pub enum ServiceTier {
        /// As the service decides.
        Auto = "auto",
        /// As usual.
        Default = "default",
        /// Less, for a lower price.
        Flex = "flex",
        /// More, for a higher price.
        Priority = "priority",
        /// As fast as possible.
        Fast = "fast",
    }
}

object! {
    /// Settings that are kept by the service.
    pub struct Profile: part {
        /// Their identifier.
        id: must String,
        /// What they are, `custom`.
        kind as "type": must ProfileKind,
        /// Which version.
        version: may String,
    }
}

impl Profile {
    /// The settings named `id`.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), kind: ProfileKind::Custom, ..Self::default() }
    }
}

open_enum! {
    /// What settings are.
    pub enum ProfileKind {
        /// Made by the user.
        Custom = "custom",
    }
}

open_enum! {
    /// How much of an answer to retrieve.
    pub enum RetrieveFormat {
        /// All of it.
        Default = "default",
        /// The most important.
        Short = "short",
    }
}

object! {
    /// The query of one answer.
    pub struct RetrieveParams: part {
        /// How much of the answer to retrieve.
        format: may RetrieveFormat,
        /// The sequence number of the last event that is known. Events after it follow.
        starting_after: copy u64,
        /// Whether the answer comes as events.
        stream: copy bool,
    }
}

impl RetrieveParams {
    /// The events after `sequence_number`.
    pub fn events_after(sequence_number: u64) -> Self {
        Self { starting_after: Some(sequence_number), stream: Some(true), ..Self::default() }
    }

    /// Checks what the server would refuse.
    ///
    /// # Errors
    /// A stream has no start, or the start is beyond 2^53 - 1.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.stream == Some(true) && self.starting_after.is_none() {
            return Err(Invalid::empty("starting_after"));
        }
        within("starting_after", self.starting_after, 0, MAX_SEQUENCE_NUMBER)
    }
}
