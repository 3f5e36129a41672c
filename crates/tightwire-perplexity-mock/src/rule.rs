//! Which requests a scenario answers itself, and with what.

use http::{HeaderName, Method};
use serde_json::Value;

use crate::answer::Answer;
use crate::pattern::PathPattern;
use crate::request::Request;

/// A condition on requests, and the sequence of answers that they get.
///
/// Answers are given in order, each as many [times](Answer::times) as it says. The last one repeats without end unless
/// it says otherwise; when all are used up the rule no longer applies, or begins again if it [cycles](Self::cycle).
///
/// ```
/// use tightwire_perplexity_mock::{Answer, Rule};
/// use std::time::Duration;
///
/// let rule = Rule::new("/chat/completions")
///     .method("POST")
///     .body_member("/model", "sonar")
///     .answer(Answer::rate_limited(Duration::from_millis(20)).times(2))
///     .answer(Answer::api());
/// ```
#[derive(Debug, Clone)]
pub struct Rule {
    path: PathPattern,
    method: Option<Method>,
    headers: Vec<(HeaderName, String)>,
    query: Vec<(String, String)>,
    body: Vec<(String, Value)>,
    answers: Vec<Answer>,
    cycles: bool,
}

/// How far the sequence of a rule's answers has been used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    index: usize,
    served: u32,
}

impl Rule {
    /// A rule for a path: `*` stands for one segment, a final `**` for any number of them. Segments are compared
    /// after percent-decoding.
    ///
    /// # Panics
    ///
    /// If the pattern does not begin with a slash, or has `**` elsewhere than at its end.
    pub fn new(path: &str) -> Self {
        Self::of(
            PathPattern::parse(path).expect("a pattern that begins with / and has ** at most at its end"),
        )
    }

    pub(crate) fn of(path: PathPattern) -> Self {
        Self {
            path,
            method: None,
            headers: Vec::new(),
            query: Vec::new(),
            body: Vec::new(),
            answers: Vec::new(),
            cycles: false,
        }
    }

    /// Requires a method. Any will do unless set.
    ///
    /// # Panics
    ///
    /// If the method is not a token.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.method = Some(method.parse().expect("a valid method"));
        self
    }

    /// Requires a header with this value, or with any value where it is `*`.
    ///
    /// # Panics
    ///
    /// If the name is not valid.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.parse().expect("a valid header name"), value.to_owned()));
        self
    }

    /// Requires a member of the query with this value, or with any value where it is `*`.
    #[must_use]
    pub fn query(mut self, name: &str, value: &str) -> Self {
        self.query.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Requires that the body is JSON with this value at the JSON pointer (RFC 6901).
    #[must_use]
    pub fn body_member(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        self.body.push((pointer.to_owned(), value.into()));
        self
    }

    /// Adds an answer to the end of the sequence. A rule without answers applies to no request.
    #[must_use]
    pub fn answer(mut self, answer: Answer) -> Self {
        self.answers.push(answer);
        self
    }

    /// Begins again with the first answer when all are used up.
    #[must_use]
    pub fn cycle(mut self) -> Self {
        self.cycles = true;
        self
    }

    pub(crate) fn matches(&self, request: &Request) -> bool {
        let fits = |expected: &str, found: Option<&str>| {
            found.is_some_and(|found| expected == "*" || expected == found)
        };
        self.method.as_ref().is_none_or(|method| *method == request.method)
            && self.path.matches(&request.segments())
            && self.headers.iter().all(|(name, value)| fits(value, request.header(name.as_str())))
            && self.query.iter().all(|(name, value)| fits(value, request.query_value(name).as_deref()))
            && (self.body.is_empty() || self.has_members(request))
    }

    fn has_members(&self, request: &Request) -> bool {
        let Some(body) = request.json() else { return false };
        self.body.iter().all(|(pointer, value)| body.pointer(pointer) == Some(value))
    }

    /// The answer whose turn it is, or `None` if all are used up.
    pub(crate) fn next(&self, progress: &mut Progress) -> Option<&Answer> {
        loop {
            let answer = self.answers.get(progress.index)?;
            let is_last = progress.index + 1 == self.answers.len();
            let times = match answer.times {
                Some(times) => times.get(),
                None if is_last && !self.cycles => return Some(answer),
                None => 1,
            };
            if progress.served < times {
                progress.served += 1;
                return Some(answer);
            }
            progress.served = 0;
            progress.index = if is_last && self.cycles { 0 } else { progress.index + 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statuses(rule: &Rule, requests: usize) -> Vec<Option<u16>> {
        let mut progress = Progress::default();
        (0..requests)
            .map(|_| rule.next(&mut progress).map(|answer| answer.status.unwrap().as_u16()))
            .collect()
    }

    #[test]
    fn the_last_answer_repeats() {
        let rule = Rule::new("/").answer(Answer::status(429).times(2)).answer(Answer::status(200));
        assert_eq!(statuses(&rule, 5), [429, 429, 200, 200, 200].map(Some));
    }

    #[test]
    fn a_counted_last_answer_uses_the_rule_up() {
        let rule = Rule::new("/").answer(Answer::status(500)).answer(Answer::status(200).times(1));
        assert_eq!(statuses(&rule, 3), [Some(500), Some(200), None]);
        assert_eq!(statuses(&Rule::new("/"), 1), [None]);
    }

    #[test]
    fn a_cycle_begins_again() {
        let rule = Rule::new("/").cycle().answer(Answer::status(429)).answer(Answer::status(200));
        assert_eq!(statuses(&rule, 5), [429, 200, 429, 200, 429].map(Some));
    }
}
