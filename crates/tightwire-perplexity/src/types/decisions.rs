//! Decisions: `POST /v1/decisions`.

use std::collections::BTreeMap;

use tightwire_json::Value;

use super::invalid::{Invalid, present};
use super::wire::{object, tagged};

object! {
    /// The body of a request for decisions.
    ///
    /// # Examples
    /// ```
    /// use tightwire_perplexity::types::decisions::{Choice, Noul, Request};
    ///
    /// let request = Request::new("m", "The tank is almost empty.")
    ///     .question("refuel", Noul::new().instructions("Is it time to refuel?"))
    ///     .question("where", Choice::new(["here", "there"]));
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: body {
        /// The model.
        model: must String,
        /// What is to be decided about: a text, an object or a list.
        state: must Value,
        /// What is asked, by name.
        questions: must BTreeMap<String, Question>,
    }
}

impl Request {
    /// Decisions of `model` about `state`, without questions yet.
    pub fn new(model: impl Into<String>, state: impl Into<Value>) -> Self {
        Self { model: model.into(), state: state.into(), ..Self::default() }
    }

    /// Adds a question.
    #[must_use]
    pub fn question(mut self, name: impl Into<String>, question: impl Into<Question>) -> Self {
        self.questions.insert(name.into(), question.into());
        self
    }

    /// Checks what the server would refuse.
    ///
    /// # Errors
    /// The model, the state or the questions are missing, or a question has no options.
    pub fn validate(&self) -> Result<(), Invalid> {
        present("model", self.model.is_empty())?;
        present("state", self.state.is_null())?;
        present("questions", self.questions.is_empty())?;
        for (name, question) in &self.questions {
            let is_empty = match question {
                Question::Choice(choice) => choice.criteria.is_empty(),
                Question::Score(score) => score.criteria.is_empty(),
                Question::Noul(_) | Question::Unknown(_) => false,
            };
            present("criteria", is_empty)
                .map_err(|invalid| invalid.inside(format_args!("questions.{name}")))?;
        }
        Ok(())
    }
}

tagged! {
    /// What is asked.
    pub enum Question by "type" from {
        /// A degree between false and true.
        "noul" => Noul(Noul),
        /// One of several options.
        "choice" => Choice(Choice),
        /// One of several grades.
        "score" => Score(Score),
    }
}

object! {
    /// Asks for a degree between false and true.
    pub struct Noul: part {
        /// What is asked.
        instructions: may String,
        /// What true and false mean.
        criteria: may NoulCriteria,
    }
}

impl Noul {
    /// A question without criteria.
    pub fn new() -> Self {
        Self::default()
    }
}

object! {
    /// What true and false mean.
    pub struct NoulCriteria: part {
        /// What true means.
        yes as "true": may Value,
        /// What false means.
        no as "false": may Value,
    }
}

object! {
    /// Asks for one of several options.
    pub struct Choice: part {
        /// What each option means: a text, an object, a list, or `null` if its name says it.
        criteria: must BTreeMap<String, Value>,
        /// What is asked.
        instructions: may String,
    }
}

impl Choice {
    /// A question with options whose names say what they mean.
    pub fn new(options: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let criteria = options.into_iter().map(|option| (option.into(), Value::Null)).collect();
        Self { criteria, ..Self::default() }
    }

    /// Adds an option and what it means.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, meaning: impl Into<Value>) -> Self {
        self.criteria.insert(name.into(), meaning.into());
        self
    }
}

object! {
    /// Asks for one of several grades.
    pub struct Score: part {
        /// What each grade means, the lowest first: a text, an object or a list.
        criteria: must Vec<Value>,
        /// What is asked.
        instructions: may String,
    }
}

impl Score {
    /// A question with grades, the lowest first.
    pub fn new(criteria: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        Self { criteria: criteria.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

object! {
    /// Decisions.
    pub struct Response: answer {
        /// The answer to each question, by its name.
        answers: must BTreeMap<String, Answer>,
        /// The model.
        model: must String,
        /// What they took.
        usage: may Usage,
    }
}

tagged! {
    /// The answer to a question.
    pub enum Answer by "type" from {
        /// A degree between false and true.
        "noul" => Noul(NoulAnswer),
        /// One of the options.
        "choice" => Choice(ChoiceAnswer),
        /// One of the grades.
        "score" => Score(ScoreAnswer),
    }
}

object! {
    /// A degree between false and true.
    pub struct NoulAnswer: answer {
        /// From 0, false, to 1, true.
        noul: must f64,
    }
}

object! {
    /// One of the options.
    pub struct ChoiceAnswer: answer {
        /// Its name.
        choice: must String,
        /// How sure it is, from 0 to 1.
        confidence: must f64,
        /// How probable each option is, from 0 to 1.
        probabilities: must BTreeMap<String, f64>,
    }
}

object! {
    /// One of the grades.
    pub struct ScoreAnswer: answer {
        /// The grade.
        score: must f64,
        /// How sure it is, from 0 to 1.
        confidence: must f64,
        /// How probable each grade is, from 0 to 1.
        probabilities: must BTreeMap<String, f64>,
        /// What the grades mean.
        legend: must BTreeMap<String, Value>,
    }
}

object! {
    /// What decisions took.
    pub struct Usage: answer {
        /// Tokens of the request.
        input_tokens: must u64,
        /// Tokens of the answer.
        output_tokens: must u64,
    }
}
