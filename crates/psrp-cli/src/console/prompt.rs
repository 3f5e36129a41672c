//! Questions to the user: values, credentials and choices.

use psrp::host::{ChoiceDescription, FieldDescription, HostResult};
use psrp::record::PsCredential;
use psrp::value::{PsString, SecureString, Value};

use super::convert::FieldType;
use super::session::{Refusal, Session};
use super::style::Style;
use super::terminal::{Cancel, Channel, Echo};

/// How often a question is asked until its answer makes sense.
const TRIES: usize = 100;
/// The most items that a list may get.
const LONGEST_LIST: usize = 10_000;

/// PowerShell's clients mark what asks for secrets too: a script must not look like the system.
const ASKS_FOR_SECRETS: &str = "A script of the other side asks for this.";
const AGAIN: &str = "This question was answered wrongly too often.";

impl Session {
    fn head(&mut self, caption: &PsString, message: &PsString) -> Result<(), Refusal> {
        self.fresh_line()?;
        for (style, text) in [(Style::CAPTION, caption), (Style::PLAIN, message)] {
            if !text.is_empty() {
                self.write_line(Channel::Messages, style, &text.to_str_lossy())?;
            }
        }
        Ok(())
    }

    fn note(&mut self, text: &str) -> Result<(), Refusal> {
        Ok(self.write_line(Channel::Messages, Style::FAINT, text)?)
    }

    /// Asks for several values.
    pub(super) fn prompt(
        &mut self,
        caption: &PsString,
        message: &PsString,
        fields: &[FieldDescription],
        cancel: &Cancel,
    ) -> Result<Vec<(PsString, Value)>, Refusal> {
        self.head(caption, message)?;
        if fields.iter().any(|field| field.help_message.as_ref().is_some_and(|help| !help.is_empty())) {
            self.note("(Type !? for help.)")?;
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
    ) -> Result<Value, Refusal> {
        match kind {
            FieldType::Secure => {
                self.note(ASKS_FOR_SECRETS)?;
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
                for _ in 0..TRIES {
                    let text = self.ask(&question, Echo::Shown, cancel)?;
                    if self.is_help(field, &text)? {
                        continue;
                    }
                    if text.is_empty() {
                        match default {
                            Some(default) => return Ok(default.clone()),
                            None if field.is_mandatory => continue,
                            None if *kind == FieldType::Text => return Ok("".into()),
                            None => return Ok(Value::Nil),
                        }
                    }
                    match kind.convert(&text) {
                        Some(value) => return Ok(value),
                        None => self.complain(field)?,
                    }
                }
                Err(Refusal::Invalid(AGAIN))
            }
        }
    }

    /// Asks for the items of a list until one is empty.
    fn list(
        &mut self,
        field: &FieldDescription,
        label: &str,
        kind: &FieldType,
        cancel: &Cancel,
    ) -> Result<Value, Refusal> {
        let mut items = Vec::new();
        let mut tries = 0;
        while items.len() < LONGEST_LIST && tries < TRIES {
            let question = format!("{label}[{}]: ", items.len());
            if matches!(kind, FieldType::Secure | FieldType::Credential) {
                let echo = if *kind == FieldType::Secure { Echo::Hidden } else { Echo::Shown };
                let text = self.ask(&question, echo, cancel)?;
                match text.is_empty() {
                    true => return Ok(psrp::Object::list(items).into()),
                    false if *kind == FieldType::Secure => items.push(Value::from(SecureString::new(&text))),
                    false => {
                        let (none, user) = (PsString::default(), (&**text).into());
                        if let HostResult::Credential(credential) =
                            self.credential(&none, &none, &user, &none, cancel)?
                        {
                            items.push(credential.to_value());
                        }
                    }
                }
                continue;
            }
            let text = self.ask(&question, Echo::Shown, cancel)?;
            if self.is_help(field, &text)? {
                tries += 1;
                continue;
            }
            if text.is_empty() {
                if field.is_mandatory && items.is_empty() {
                    tries += 1;
                    continue;
                }
                return Ok(psrp::Object::list(items).into());
            }
            match kind.convert(&text) {
                Some(value) => items.push(value),
                None => {
                    tries += 1;
                    self.complain(field)?;
                }
            }
        }
        Err(Refusal::Invalid(if tries < TRIES { "The list is too long." } else { AGAIN }))
    }

    /// Whether help is asked for, which is shown then.
    fn is_help(&mut self, field: &FieldDescription, text: &str) -> Result<bool, Refusal> {
        if text != "!?" {
            return Ok(false);
        }
        let help = field.help_message.as_ref().filter(|help| !help.is_empty());
        let help = help.map_or("There is no help.".into(), |help| help.to_str_lossy());
        self.note(&help)?;
        Ok(true)
    }

    fn complain(&mut self, field: &FieldDescription) -> Result<(), Refusal> {
        let name = field.parameter_type_name.as_ref().or(field.parameter_type_full_name.as_ref());
        let name = name.map(|name| name.to_str_lossy()).unwrap_or_default();
        Ok(self.write_line(
            Channel::Messages,
            Style::ERROR,
            &format!("This is no value of the type {name}."),
        )?)
    }

    /// Asks for a password, and for a user where none is given.
    pub(super) fn credential(
        &mut self,
        caption: &PsString,
        message: &PsString,
        user: &PsString,
        target: &PsString,
        cancel: &Cancel,
    ) -> Result<HostResult, Refusal> {
        self.head(caption, message)?;
        self.note(ASKS_FOR_SECRETS)?;
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

    /// Asks for one choice.
    pub(super) fn choose_one(
        &mut self,
        caption: &PsString,
        message: &PsString,
        choices: &[ChoiceDescription],
        default: i32,
        cancel: &Cancel,
    ) -> Result<i32, Refusal> {
        let menu = Menu::new(choices, &[default])?;
        self.head(caption, message)?;
        for _ in 0..TRIES {
            let text = self.ask(&menu.question(""), Echo::Shown, cancel)?;
            match menu.find(&text) {
                Picked::Choice(index) => return Ok(index),
                Picked::Empty if menu.defaults.is_empty() => {}
                Picked::Empty => return Ok(default),
                Picked::Help => self.explain(&menu)?,
                Picked::Nothing => {}
            }
        }
        Err(Refusal::Invalid(AGAIN))
    }

    /// Asks for any number of choices, one in each line, until a line is empty.
    pub(super) fn choose_any(
        &mut self,
        caption: &PsString,
        message: &PsString,
        choices: &[ChoiceDescription],
        defaults: &[i32],
        cancel: &Cancel,
    ) -> Result<Vec<i32>, Refusal> {
        let menu = Menu::new(choices, defaults)?;
        self.head(caption, message)?;
        let mut chosen: Vec<i32> = Vec::new();
        for _ in 0..TRIES.max(2 * choices.len()) {
            let text =
                self.ask(&menu.question(&format!("Choice[{}]: ", chosen.len())), Echo::Shown, cancel)?;
            match menu.find(&text) {
                Picked::Choice(index) if chosen.contains(&index) => {}
                Picked::Choice(index) => chosen.push(index),
                Picked::Empty if chosen.is_empty() => return Ok(menu.defaults),
                Picked::Empty => return Ok(chosen),
                Picked::Help => self.explain(&menu)?,
                Picked::Nothing => {}
            }
        }
        Err(Refusal::Invalid(AGAIN))
    }

    fn explain(&mut self, menu: &Menu) -> Result<(), Refusal> {
        for choice in &menu.choices {
            let line = format!("{} - {}", choice.name(), choice.help);
            self.write_line(Channel::Messages, Style::PLAIN, &line)?;
        }
        Ok(())
    }
}

/// Choices with their keys.
struct Menu {
    choices: Vec<Choice>,
    /// Those that exist.
    defaults: Vec<i32>,
}

struct Choice {
    label: String,
    key: Option<char>,
    help: String,
}

impl Choice {
    /// The key, else the label.
    fn name(&self) -> String {
        self.key.map_or_else(|| self.label.clone(), String::from)
    }
}

enum Picked {
    Choice(i32),
    Empty,
    Help,
    Nothing,
}

impl Menu {
    fn new(choices: &[ChoiceDescription], defaults: &[i32]) -> Result<Self, Refusal> {
        if choices.is_empty() {
            return Err(Refusal::Invalid("There is nothing to choose from."));
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

    /// All choices in one line, with the ones to assume.
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

    fn find(&self, text: &str) -> Picked {
        let text = text.trim();
        if text.is_empty() {
            return Picked::Empty;
        }
        let same = |a: &str, b: &str| a.to_lowercase() == b.to_lowercase();
        let has_key =
            |choice: &Choice| choice.key.is_some_and(|key| same(key.encode_utf8(&mut [0; 4]), text));
        let by_key = self.choices.iter().position(has_key);
        let found = by_key.or_else(|| self.choices.iter().position(|choice| same(&choice.label, text)));
        match found.and_then(|index| i32::try_from(index).ok()) {
            Some(index) => Picked::Choice(index),
            None if text == "?" => Picked::Help,
            None => Picked::Nothing,
        }
    }
}

/// A label without its mark, and the character behind the mark.
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
    fn a_mark_tells_the_key() {
        assert_eq!(label_and_key("&Yes"), ("Yes".into(), Some('Y')));
        assert_eq!(label_and_key("Yes to &all"), ("Yes to all".into(), Some('A')));
        assert_eq!(label_and_key("plain"), ("plain".into(), None));
        assert_eq!(label_and_key("odd &"), ("odd".into(), None));
    }
}
