//! Prompts for values, credentials and choices.

use psrp::Object;
use psrp::host::{ChoiceDescription, FieldDescription, HostResult};
use psrp::record::PsCredential;
use psrp::value::{PsString, SecureString, Value};

use super::convert::FieldType;
use super::session::{CallError, Session};
use super::style::Style;
use super::terminal::{Channel, Echo};

/// Maximum number of invalid answers to a question.
const MAX_ATTEMPTS: usize = 100;
const MAX_LIST_ITEMS: usize = 10_000;

/// Shown before prompts for secrets, as by PowerShell's clients, so that a script cannot imitate the local system.
const ASKS_FOR_SECRETS: &str = "A script on the server asks for this.";
const TOO_MANY_ATTEMPTS: &str = "Too many invalid answers.";

impl Session {
    fn write_heading(&mut self, caption: &PsString, message: &PsString) -> Result<(), CallError> {
        self.end_partial_line()?;
        for (style, text) in [(Style::CAPTION, caption), (Style::PLAIN, message)] {
            if !text.is_empty() {
                self.write_line(Channel::Messages, style, &text.to_str_lossy())?;
            }
        }
        Ok(())
    }

    fn write_note(&mut self, text: &str) -> Result<(), CallError> {
        Ok(self.write_line(Channel::Messages, Style::FAINT, text)?)
    }

    /// Prompts for several values.
    pub(super) fn prompt(
        &mut self,
        caption: &PsString,
        message: &PsString,
        fields: &[FieldDescription],
    ) -> Result<Vec<(PsString, Value)>, CallError> {
        self.write_heading(caption, message)?;
        if fields.iter().any(|field| field.help_message.as_ref().is_some_and(|help| !help.is_empty())) {
            self.write_note("(Type !? for help.)")?;
        }
        let mut answers = Vec::with_capacity(fields.len());
        for field in fields {
            let label = field.label.as_ref().filter(|label| !label.is_empty()).unwrap_or(&field.name);
            let (label, _) = label_and_key(&label.to_str_lossy());
            answers.push((field.name.clone(), self.field(field, &label)?));
        }
        Ok(answers)
    }

    fn field(&mut self, field: &FieldDescription, label: &str) -> Result<Value, CallError> {
        let mut attempts = MAX_ATTEMPTS;
        match FieldType::of(field) {
            FieldType::Secure => {
                self.write_note(ASKS_FOR_SECRETS)?;
                let text = self.ask(&format!("{label}: "), Echo::Hidden)?;
                Ok(SecureString::new(&text).into())
            }
            FieldType::Credential => {
                let none = PsString::default();
                Ok(match self.credential(&none, &none, &none, &none)? {
                    HostResult::Credential(credential) => credential.to_value(),
                    _ => Value::Nil,
                })
            }
            FieldType::List(kind) => {
                let mut items = Vec::new();
                let is_required =
                    field.is_mandatory && !matches!(*kind, FieldType::Secure | FieldType::Credential);
                while items.len() < MAX_LIST_ITEMS {
                    let question = format!("{label}[{}]: ", items.len());
                    match self.value(field, &question, &kind, &mut attempts)? {
                        Some(item) => items.push(item),
                        None if is_required && items.is_empty() => attempts -= 1,
                        None => return Ok(Object::list(items).into()),
                    }
                }
                Err(CallError::Invalid("The list is too long."))
            }
            kind => {
                let default = field.default_value.as_ref().filter(|value| !value.is_nil());
                let question = match default.and_then(super::show::short_text) {
                    Some(default) => format!("{label} [{default}]: "),
                    None => format!("{label}: "),
                };
                loop {
                    match (self.value(field, &question, &kind, &mut attempts)?, default) {
                        (Some(value), _) => return Ok(value),
                        (None, Some(default)) => return Ok(default.clone()),
                        (None, None) if field.is_mandatory => attempts -= 1,
                        (None, None) if matches!(kind, FieldType::Text) => return Ok("".into()),
                        (None, None) => return Ok(Value::Nil),
                    }
                }
            }
        }
    }

    /// Prompts for a value until the answer is valid. Returns `None` for an empty line.
    fn value(
        &mut self,
        field: &FieldDescription,
        question: &str,
        kind: &FieldType,
        attempts: &mut usize,
    ) -> Result<Option<Value>, CallError> {
        let echo = if matches!(kind, FieldType::Secure) { Echo::Hidden } else { Echo::Shown };
        while *attempts > 0 {
            let text = self.ask(question, echo)?;
            let value = match kind {
                _ if text.is_empty() => return Ok(None),
                FieldType::Secure => Some(SecureString::new(&text).into()),
                FieldType::Credential => {
                    let (none, user) = (PsString::default(), (&**text).into());
                    match self.credential(&none, &none, &user, &none)? {
                        HostResult::Credential(credential) => Some(credential.to_value()),
                        _ => None,
                    }
                }
                _ if *text == *"!?" => {
                    let help = field.help_message.as_ref().filter(|help| !help.is_empty());
                    let help = help.map_or("There is no help.".into(), |help| help.to_str_lossy());
                    self.write_note(&help)?;
                    None
                }
                kind => {
                    let value = kind.convert(&text);
                    if value.is_none() {
                        self.report_invalid_answer(field)?;
                    }
                    value
                }
            };
            if value.is_some() {
                return Ok(value);
            }
            *attempts -= 1;
        }
        Err(CallError::Invalid(TOO_MANY_ATTEMPTS))
    }

    fn report_invalid_answer(&mut self, field: &FieldDescription) -> Result<(), CallError> {
        let name = field.parameter_type_name.as_ref().or(field.parameter_type_full_name.as_ref());
        let name = name.map(|name| name.to_str_lossy()).unwrap_or_default();
        let text = format!("This is not a valid value of type {name}.");
        Ok(self.write_line(Channel::Messages, Style::ERROR, &text)?)
    }

    /// Prompts for a password, and for a user name unless it is given.
    pub(super) fn credential(
        &mut self,
        caption: &PsString,
        message: &PsString,
        user: &PsString,
        target: &PsString,
    ) -> Result<HostResult, CallError> {
        self.write_heading(caption, message)?;
        self.write_note(ASKS_FOR_SECRETS)?;
        let mut user = user.to_str_lossy().into_owned();
        if user.is_empty() {
            user.push_str(&self.ask("User: ", Echo::Shown)?);
            if user.is_empty() {
                return Ok(HostResult::Nothing);
            }
        }
        let password = self.ask(&format!("Password for user {user}: "), Echo::Hidden)?;
        if !target.is_empty() && !user.contains(['\\', '@']) {
            user = format!("{}\\{user}", target.to_str_lossy());
        }
        Ok(HostResult::Credential(PsCredential::new(user, SecureString::new(&password))))
    }

    /// Prompts for one choice, or for any number of choices, one per line, until an empty line.
    pub(super) fn choose(
        &mut self,
        caption: &PsString,
        message: &PsString,
        choices: &[ChoiceDescription],
        defaults: &[i32],
        is_multiple: bool,
    ) -> Result<Vec<i32>, CallError> {
        let menu = Menu::new(choices, defaults)?;
        self.write_heading(caption, message)?;
        let mut chosen = Vec::new();
        for _ in 0..MAX_ATTEMPTS.max(2 * choices.len()) {
            let end = if is_multiple { format!("Choice[{}]: ", chosen.len()) } else { String::new() };
            let text = self.ask(&menu.question(&end), Echo::Shown)?;
            let text = text.trim();
            match menu.find(text) {
                Some(index) if !is_multiple => return Ok(vec![index]),
                Some(index) if chosen.contains(&index) => {}
                Some(index) => chosen.push(index),
                None if text == "?" => self.show_help(&menu)?,
                None if !text.is_empty() => {}
                None if !chosen.is_empty() => return Ok(chosen),
                None if is_multiple || !menu.defaults.is_empty() => return Ok(menu.defaults),
                None => {}
            }
        }
        Err(CallError::Invalid(TOO_MANY_ATTEMPTS))
    }

    fn show_help(&mut self, menu: &Menu) -> Result<(), CallError> {
        for choice in &menu.choices {
            let line = format!("{} - {}", choice.name(), choice.help);
            self.write_line(Channel::Messages, Style::PLAIN, &line)?;
        }
        Ok(())
    }
}

struct Menu {
    choices: Vec<Choice>,
    /// Indexes of the default choices that exist.
    defaults: Vec<i32>,
}

struct Choice {
    label: String,
    key: Option<char>,
    help: String,
}

impl Choice {
    /// Returns the access key, otherwise the label.
    fn name(&self) -> String {
        self.key.map_or_else(|| self.label.clone(), String::from)
    }
}

impl Menu {
    fn new(choices: &[ChoiceDescription], defaults: &[i32]) -> Result<Self, CallError> {
        if choices.is_empty() {
            return Err(CallError::Invalid("The prompt has no choices."));
        }
        let choices: Vec<_> = choices
            .iter()
            .map(|choice| {
                let (label, key) = label_and_key(&choice.label.to_str_lossy());
                let help = choice.help_message.as_ref().map(|help| help.to_str_lossy().into_owned());
                Choice { label, key, help: help.unwrap_or_default() }
            })
            .collect();
        let exists = |index: &i32| usize::try_from(*index).is_ok_and(|index| index < choices.len());
        let defaults = defaults.iter().copied().filter(exists).collect();
        Ok(Self { choices, defaults })
    }

    /// Returns the prompt text: all choices and the defaults.
    fn question(&self, end: &str) -> String {
        let mut question = String::new();
        for Choice { label, key, .. } in &self.choices {
            question += &match key {
                Some(key) => format!("[{key}] {label}  "),
                None => format!("[{label}]  "),
            };
        }
        question += "[?] Help";
        let name = |index: &i32| self.choices[usize::try_from(*index).unwrap_or_default()].name();
        let defaults: Vec<String> = self.defaults.iter().map(name).collect();
        if !defaults.is_empty() {
            question += &format!(" (default is \"{}\")", defaults.join(","));
        }
        question += &if end.is_empty() { ": ".to_owned() } else { format!("\n{end}") };
        question
    }

    /// Returns the index of the choice with this access key or label.
    fn find(&self, text: &str) -> Option<i32> {
        let same = |a: &str| !text.is_empty() && a.to_lowercase() == text.to_lowercase();
        let has_key = |choice: &Choice| choice.key.is_some_and(|key| same(key.encode_utf8(&mut [0; 4])));
        let by_key = self.choices.iter().position(has_key);
        let index = by_key.or_else(|| self.choices.iter().position(|choice| same(&choice.label)))?;
        i32::try_from(index).ok()
    }
}

/// Splits a label into its text without the `&` and its access key.
fn label_and_key(label: &str) -> (String, Option<char>) {
    match label.split_once('&') {
        Some((before, after)) => {
            let key = after.chars().next().filter(|key| !key.is_whitespace());
            (format!("{before}{after}").trim().to_owned(), key.and_then(|key| key.to_uppercase().next()))
        }
        None => (label.trim().to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ampersand_marks_the_access_key() {
        assert_eq!(label_and_key("&Yes"), ("Yes".into(), Some('Y')));
        assert_eq!(label_and_key("Yes to &all"), ("Yes to all".into(), Some('A')));
        assert_eq!(label_and_key("plain"), ("plain".into(), None));
        assert_eq!(label_and_key("odd &"), ("odd".into(), None));
    }
}
