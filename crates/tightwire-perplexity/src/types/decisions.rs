//! Decisions: `POST /v1/decisions`.

use std::collections::BTreeMap;

use tightwire_json::Value;

use super::invalid::{Invalid, present};
use super::wire::{object, tagged};

object! {
    /// Request body of `POST /v1/decisions`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tightwire_perplexity::types::decisions::{Choice, Noul, Request};
    ///
    /// let request = Request::new("m", "The tank is almost empty.")
    ///     .question("refuel", Noul::new().instructions("Is it time to refuel?"))
    ///     .question("where", Choice::new(["here", "there"]));
    /// request.validate()?;
    /// # Ok::<(), tightwire_perplexity::types::Invalid>(())
    /// ```
    pub struct Request: request {
        /// Name of the model.
        model: required String,
        /// Context for the decisions: a string, an object or an array.
        state: required Value,
        /// The questions, by name.
        questions: required BTreeMap<String, Question>,
    }
}

impl Request {
    /// Creates a request without questions.
    pub fn new(model: impl Into<String>, state: impl Into<Value>) -> Self {
        Self { model: model.into(), state: state.into(), ..Self::default() }
    }

    /// Adds a question.
    #[must_use]
    pub fn question(mut self, name: impl Into<String>, question: impl Into<Question>) -> Self {
        self.questions.insert(name.into(), question.into());
        self
    }

    /// Validates the request locally.
    ///
    /// # Errors
    ///
    /// Returns [`Invalid`] if the model, state or questions are missing, or if a choice or score has no
    /// criteria.
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
    /// A question of a decision request.
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
    /// A question whose answer is a degree between false and true.
    pub struct Noul: nested, new {
        /// The question in words.
        instructions: optional String,
        /// Definitions of true and false.
        criteria: optional NoulCriteria,
    }
}

object! {
    /// Definitions of true and false. Each is a string, an object or an array.
    pub struct NoulCriteria: nested {
        /// Meaning of true.
        yes as "true": optional Value,
        /// Meaning of false.
        no as "false": optional Value,
    }

    /// A question whose answer is one of several options.
    pub struct Choice: nested {
        /// Meaning of each option by name: a string, an object, an array, or `null` if the name is
        /// self-explanatory.
        criteria: required BTreeMap<String, Value>,
        /// The question in words.
        instructions: optional String,
    }
}

impl Choice {
    /// Creates a question from self-explanatory options.
    pub fn new(options: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let criteria = options.into_iter().map(|option| (option.into(), Value::Null)).collect();
        Self { criteria, ..Self::default() }
    }

    /// Adds an option with its meaning.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, meaning: impl Into<Value>) -> Self {
        self.criteria.insert(name.into(), meaning.into());
        self
    }
}

object! {
    /// A question whose answer is one of several grades.
    pub struct Score: nested {
        /// Meaning of each grade, lowest first: a string, an object or an array.
        criteria: required Vec<Value>,
        /// The question in words.
        instructions: optional String,
    }
}

impl Score {
    /// Creates a question from grades, lowest first.
    pub fn new(criteria: impl IntoIterator<Item = impl Into<Value>>) -> Self {
        Self { criteria: criteria.into_iter().map(Into::into).collect(), ..Self::default() }
    }
}

object! {
    /// Response to a decision request.
    pub struct Response: response {
        /// The answers, by name of the question.
        answers: BTreeMap<String, Answer>,
        /// Name of the model.
        model: String,
        /// Tokens used.
        usage: Option<Usage>,
    }
}

tagged! {
    /// Answer to a question.
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
    /// Answer to a [`Noul`] question.
    pub struct NoulAnswer: response {
        /// Degree from 0 (false) to 1 (true).
        noul: f64,
    }

    /// Answer to a [`Choice`] question.
    pub struct ChoiceAnswer: response {
        /// Name of the chosen option.
        choice: String,
        /// Confidence, from 0 to 1.
        confidence: f64,
        /// Probability of each option, from 0 to 1.
        probabilities: BTreeMap<String, f64>,
    }

    /// Answer to a [`Score`] question.
    pub struct ScoreAnswer: response {
        /// Grade; the criteria of the question have its meaning.
        score: f64,
        /// Confidence, from 0 to 1.
        confidence: f64,
        /// Probability of each grade, from 0 to 1.
        probabilities: BTreeMap<String, f64>,
        /// Meaning of each grade.
        legend: BTreeMap<String, Value>,
    }

    /// Tokens used by a decision request.
    pub struct Usage: response {
        /// Input tokens.
        input_tokens: u64,
        /// Output tokens.
        output_tokens: u64,
    }
}
