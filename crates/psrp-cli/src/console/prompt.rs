//! Prompts for values, credentials and choices.

use psrp::host::{ChoiceDescription, FieldDescription, HostResult};
use psrp::record::PsCredential;
use psrp::value::{PsString, SecureString, Value};

use super::convert::FieldType;
use super::session::{CallError, Session};
use super::style::Style;
use super::terminal::{Cancel, Channel, Echo};

/// Maximum number of invalid answers to a question.
const MAX_ATTEMPTS: usize = 100;
/// Maximum number of list items.
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
        cancel: &Cancel,
    ) -> Result<Vec<(PsString, Value)>, CallError> {
        self.write_heading(caption, message)?;
        if fields.iter().any(|field| field.help_message.as_ref().is_some_and(|help| !help.is_empty())) {
            self.write_note("(Type !? for help.)")?;
        }
        let mut answers = Vec::with_capacity(fields.len());
        for field in fields {
            let label = field.label.as_ref().filter(|label| !label.is_empty()).unwrap_or(&field.name);
            let (label, _) = label_and_key(&label.to_str_lossy());
            let answer = self.field(field, &label, &FieldType::of(field), cancel)?;
            answers.push((field.name.clone(), answer));
        }
        Ok(answers)
    }

    fn field(
        &mut self,
        field: &FieldDescription,
        label: &str,
        kind: &FieldType,
        cancel: &Cancel,
    ) -> Result<Value, CallError> {
        match kind {
            FieldType::Secure => {
                self.write_note(ASKS_FOR_SECRETS)?;
                let text = self.ask(&format!("{label}: "), Echo::Hidden, cancel)?;
                Ok(SecureString::new(&text).into())
            }
            FieldType::Credential => {
                let none = PsString::default();
                Ok(match self.credential(&none, &none, &none, &none, cancel)? {
                    HostResult::Credential(credential) => credential.to_value(),
                    _ => Value::Nil,
                })
            }
            FieldType::List(item) => self.list(field, label, item, cancel),
            kind => {
                let default = field.default_value.as_ref().filter(|value| !value.is_nil());
                let shown = default.and_then(super::show::short_text);
                let question = match shown {
                    Some(default) => format!("{label} [{default}]: "),
                    None => format!("{label}: "),
                };
                for _ in 0..MAX_ATTEMPTS {
                    let text = self.ask(&question, Echo::Shown, cancel)?;
                    if self.is_help(field, &text)? {
                        continue;
                    }
                    if text.is_empty() {
                        match default {
                            Some(default) => return Ok(default.clone()),
                            None if field.is_mandatory => continue,
                            None if matches!(kind, FieldType::Text) => return Ok("".into()),
                            None => return Ok(Value::Nil),
                        }
                    }
                    match kind.convert(&text) {
                        Some(value) => return Ok(value),
                        None => self.report_invalid_answer(field)?,
                    }
                }
                Err(CallError::Invalid(TOO_MANY_ATTEMPTS))
            }
        }
    }

    /// Prompts for list items until an empty line.
    fn list(
        &mut self,
        field: &FieldDescription,
        label: &str,
        kind: &FieldType,
        cancel: &Cancel,
    ) -> Result<Value, CallError> {
        let mut items = Vec::new();
        let mut attempts = 0;
        while items.len() < MAX_LIST_ITEMS && attempts < MAX_ATTEMPTS {
            let question = format!("{label}[{}]: ", items.len());
            let echo = if matches!(kind, FieldType::Secure) { Echo::Hidden } else { Echo::Shown };
            let text = self.ask(&question, echo, cancel)?;
            match kind {
                FieldType::Secure | FieldType::Credential if text.is_empty() => {
                    return Ok(psrp::Object::list(items).into());
                }
                FieldType::Secure => {
                    items.push(SecureString::new(&text).into());
                    continue;
                }
                FieldType::Credential => {
                    let (none, user) = (PsString::default(), (&**text).into());
                    if let HostResult::Credential(credential) =
                        self.credential(&none, &none, &user, &none, cancel)?
                    {
                        items.push(credential.to_value());
                    }
                    continue;
                }
                _ => {}
            }
            if self.is_help(field, &text)? {
                attempts += 1;
                continue;
            }
            if text.is_empty() {
                if field.is_mandatory && items.is_empty() {
                    attempts += 1;
                    continue;
                }
                return Ok(psrp::Object::list(items).into());
            }
            match kind.convert(&text) {
                Some(value) => items.push(value),
                None => {
                    attempts += 1;
                    self.report_invalid_answer(field)?;
                }
            }
        }
        Err(CallError::Invalid(if attempts < MAX_ATTEMPTS {
            "The list is too long."
        } else {
            TOO_MANY_ATTEMPTS
        }))
    }

    /// Shows help if the answer requests it, and returns whether it did.
    fn is_help(&mut self, field: &FieldDescription, text: &str) -> Result<bool, CallError> {
        if text != "!?" {
            return Ok(false);
        }
        let help = field.help_message.as_ref().filter(|help| !help.is_empty());
        let help = help.map_or("There is no help.".into(), |help| help.to_str_lossy());
        self.write_note(&help)?;
        Ok(true)
    }

    fn report_invalid_answer(&mut self, field: &FieldDescription) -> Result<(), CallError> {
        let name = field.parameter_type_name.as_ref().or(field.parameter_type_full_name.as_ref());
        let name = name.map(|name| name.to_str_lossy()).unwrap_or_default();
        Ok(self.write_line(
            Channel::Messages,
            Style::ERROR,
            &format!("This is not a valid value of type {name}."),
        )?)
    }

    /// Prompts for a password, and for a user name unless it is given.
    pub(super) fn credential(
        &mut self,
        caption: &PsString,
        message: &PsString,
        user: &PsString,
        target: &PsString,
        cancel: &Cancel,
    ) -> Result<HostResult, CallError> {
        self.write_heading(caption, message)?;
        self.write_note(ASKS_FOR_SECRETS)?;
        let mut user = user.to_str_lossy().into_owned();
        if user.is_empty() {
            user.push_str(&self.ask("User: ", Echo::Shown, cancel)?);
            if user.is_empty() {
                return Ok(HostResult::Nothing);
            }
        }
        let password = self.ask(&format!("Password for user {user}: "), Echo::Hidden, cancel)?;
        if !target.is_empty() && !user.contains(['\\', '@']) {
            user = format!("{}\\{user}", target.to_str_lossy());
        }
        Ok(HostResult::Credential(PsCredential::new(user, SecureString::new(&password))))
    }

    /// Prompts for one choice.
    pub(super) fn choose_one(
        &mut self,
        caption: &PsString,
        message: &PsString,
        choices: &[ChoiceDescription],
        default: i32,
        cancel: &Cancel,
    ) -> Result<i32, CallError> {
        let menu = Menu::new(choices, &[default])?;
        self.write_heading(caption, message)?;
        for _ in 0..MAX_ATTEMPTS {
            let text = self.ask(&menu.question(""), Echo::Shown, cancel)?;
            match menu.find(&text) {
                Selection::Choice(index) => return Ok(index),
                Selection::Empty if menu.defaults.is_empty() => {}
                Selection::Empty => return Ok(default),
                Selection::Help => self.show_help(&menu)?,
                Selection::Invalid => {}
            }
        }
        Err(CallError::Invalid(TOO_MANY_ATTEMPTS))
    }

    /// Prompts for any number of choices, one per line, until an empty line.
    pub(super) fn choose_any(
        &mut self,
        caption: &PsString,
        message: &PsString,
        choices: &[ChoiceDescription],
        defaults: &[i32],
        cancel: &Cancel,
    ) -> Result<Vec<i32>, CallError> {
        let menu = Menu::new(choices, defaults)?;
        self.write_heading(caption, message)?;
        let mut chosen: Vec<i32> = Vec::new();
        for _ in 0..MAX_ATTEMPTS.max(2 * choices.len()) {
            let text =
                self.ask(&menu.question(&format!("Choice[{}]: ", chosen.len())), Echo::Shown, cancel)?;
            match menu.find(&text) {
                Selection::Choice(index) if chosen.contains(&index) => {}
                Selection::Choice(index) => chosen.push(index),
                Selection::Empty if chosen.is_empty() => return Ok(menu.defaults),
                Selection::Empty => return Ok(chosen),
                Selection::Help => self.show_help(&menu)?,
                Selection::Invalid => {}
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

/// Choices of a prompt.
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

enum Selection {
    Choice(i32),
    Empty,
    Help,
    Invalid,
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
        match (&defaults[..], end) {
            ([], "") => question += ": ",
            ([], end) => question = format!("{question}\n{end}"),
            (defaults, "") => question += &format!(" (default is \"{}\"): ", defaults.join(",")),
            (defaults, end) => {
                question = format!("{question} (default is \"{}\")\n{end}", defaults.join(","));
            }
        }
        question
    }

    fn find(&self, text: &str) -> Selection {
        let text = text.trim();
        if text.is_empty() {
            return Selection::Empty;
        }
        let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
        let has_key =
            |choice: &Choice| choice.key.is_some_and(|key| same(key.encode_utf8(&mut [0; 4]), text));
        let by_key = self.choices.iter().position(has_key);
        let found = by_key.or_else(|| self.choices.iter().position(|choice| same(&choice.label, text)));
        match found.and_then(|index| i32::try_from(index).ok()) {
            Some(index) => Selection::Choice(index),
            None if text == "?" => Selection::Help,
            None => Selection::Invalid,
        }
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
