//! What a model can read up.

use crate::types::invalid::{Invalid, at_most, present};
use crate::types::wire::{object, open_enum, tagged};

/// The length of the description of a skill in bytes.
const MAX_DESCRIPTION: usize = 1_024;
/// The length of the instructions of a skill in bytes.
const MAX_INSTRUCTIONS: usize = 65_536;

tagged! {
    /// What a model can read up when it needs it.
    pub enum Skill by "type" from {
        /// A skill of the service.
        "builtin" => Builtin(BuiltinSkill),
        /// A skill that is part of the request.
        "inline" => Inline(InlineSkill),
        /// A skill that is kept by the service.
        "custom" => Custom(CustomSkill),
    }
}

impl Skill {
    /// Checks what the server would refuse.
    pub(super) fn validate(&self) -> Result<(), Invalid> {
        match self {
            Self::Builtin(skill) => present("name", skill.name == ""),
            Self::Custom(skill) => present("id", skill.id.is_empty()),
            Self::Inline(skill) => {
                present("name", skill.name.is_empty())?;
                present("description", skill.description.is_empty())?;
                at_most("description", skill.description.len(), MAX_DESCRIPTION, "bytes")?;
                present("instructions", skill.instructions.is_empty())?;
                at_most("instructions", skill.instructions.len(), MAX_INSTRUCTIONS, "bytes")
            }
            Self::Unknown(_) => Ok(()),
        }
    }

    /// The length of the instructions that are part of the request, in bytes.
    pub(super) fn inline_len(&self) -> usize {
        match self {
            Self::Inline(skill) => skill.instructions.len(),
            _ => 0,
        }
    }
}

object! {
    /// A skill of the service.
    pub struct BuiltinSkill: part {
        /// Which one.
        name: must BuiltinName,
    }
}

impl BuiltinSkill {
    /// The skill `name`.
    pub fn new(name: impl Into<BuiltinName>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

open_enum! {
    /// A skill of the service.
    pub enum BuiltinName {
        /// Office documents of all kinds.
        Office = "office",
        /// Texts.
        Docx = "office/docx",
        /// PDF.
        Pdf = "office/pdf",
        /// Presentations.
        Pptx = "office/pptx",
        /// Spreadsheets.
        Xlsx = "office/xlsx",
    }
}

object! {
    /// A skill that is part of the request.
    pub struct InlineSkill: part {
        /// Its name.
        name: must String,
        /// What it is good for: at most 1,024 bytes.
        description: must String,
        /// What to do: at most 65,536 bytes, and 262,144 in all skills of a request.
        instructions: must String,
    }
}

impl InlineSkill {
    /// A skill.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        instructions: impl Into<String>,
    ) -> Self {
        let (name, description, instructions) = (name.into(), description.into(), instructions.into());
        Self { name, description, instructions, ..Self::default() }
    }
}

object! {
    /// A skill that is kept by the service.
    pub struct CustomSkill: part {
        /// Which one.
        id: must String,
        /// Which version.
        version: may String,
    }
}

impl CustomSkill {
    /// The newest version of the skill `id`.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }
}
