//! Skills: instructions that the model loads when it needs them.

use crate::types::invalid::{Invalid, at_most, present};
use crate::types::wire::{object, open_enum, tagged};

/// Maximum size of a skill's description, in bytes.
const MAX_DESCRIPTION: usize = 1_024;
/// Maximum size of a skill's instructions, in bytes.
const MAX_INSTRUCTIONS: usize = 65_536;

tagged! {
    /// Instructions that the model loads when it needs them.
    pub enum Skill by "type" from {
        /// A skill provided by the service.
        "builtin" => Builtin(BuiltinSkill),
        /// A skill defined in the request.
        "inline" => Inline(InlineSkill),
        /// A skill stored by the user.
        "custom" => Custom(CustomSkill),
    }
}

impl Skill {
    /// Validates the skill locally.
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

    /// Returns the size of inline instructions, in bytes.
    pub(super) fn inline_len(&self) -> usize {
        match self {
            Self::Inline(skill) => skill.instructions.len(),
            _ => 0,
        }
    }
}

object! {
    /// A skill provided by the service.
    pub struct BuiltinSkill: nested, new {
        /// Name of the skill.
        name: required BuiltinName,
    }
}

open_enum! {
    /// Name of a skill provided by the service.
    pub enum BuiltinName {
        /// All office formats.
        Office = "office",
        /// Word documents.
        Docx = "office/docx",
        /// PDF documents.
        Pdf = "office/pdf",
        /// Presentations.
        Pptx = "office/pptx",
        /// Spreadsheets.
        Xlsx = "office/xlsx",
    }
}

object! {
    /// A skill defined in the request.
    pub struct InlineSkill: nested, new {
        /// Name of the skill.
        name: required String,
        /// When to use the skill: at most 1,024 bytes.
        description: required String,
        /// Instructions: at most 65,536 bytes, and 262,144 bytes for all skills of a request.
        instructions: required String,
    }
}

object! {
    /// A skill stored by the user.
    pub struct CustomSkill: nested, new {
        /// Identifier of the skill.
        id: required String,
        /// Version [server default: latest].
        version: optional String,
    }
}
