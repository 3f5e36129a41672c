//! Writer of the Prometheus text format, version 0.0.4.

use std::fmt::{Display, Write as _};

use crate::metrics::HistogramSnapshot;

/// Text of all metric families so far.
#[derive(Default)]
pub(super) struct Exposition {
    out: String,
    name: &'static str,
}

pub(super) type Label<'a> = (&'a str, &'a str);

// Writing to a string can't fail, so results are ignored.
impl Exposition {
    pub(super) const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Starts a family of a kind: `counter`, whose name ends with `_total`, `gauge` or `histogram`.
    pub(super) fn family(&mut self, kind: &str, name: &'static str, help: &str) -> &mut Self {
        let _ = writeln!(self.out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        self.name = name;
        self
    }

    pub(super) fn counter(&mut self, name: &'static str, help: &str, value: impl Display) {
        self.family("counter", name, help).value(&[], value);
    }

    pub(super) fn gauge(&mut self, name: &'static str, help: &str, value: impl Display) {
        self.family("gauge", name, help).value(&[], value);
    }

    pub(super) fn value(&mut self, labels: &[Label<'_>], value: impl Display) {
        self.sample("", labels, None, value);
    }

    /// Adds a value for each value of another label to the family.
    pub(super) fn values(
        &mut self,
        labels: &[Label<'_>],
        label: &str,
        values: impl IntoIterator<Item = (&'static str, u64)>,
    ) {
        for (name, value) in values {
            self.sample("", labels, Some((label, name)), value);
        }
    }

    /// Adds all samples of a histogram to the family.
    pub(super) fn times(&mut self, labels: &[Label<'_>], counted: &HistogramSnapshot) {
        for (bound, count) in counted.cumulative() {
            let bound = bound.map_or_else(|| "+Inf".to_owned(), |bound| bound.to_string());
            self.sample("_bucket", labels, Some(("le", &bound)), count);
        }
        self.sample("_sum", labels, None, counted.seconds());
        self.sample("_count", labels, None, counted.count());
    }

    fn sample(&mut self, suffix: &str, labels: &[Label<'_>], more: Option<Label<'_>>, value: impl Display) {
        let _ = write!(self.out, "{}{suffix}", self.name);
        let mut start = '{';
        for (name, value) in labels.iter().copied().chain(more) {
            let _ = write!(self.out, "{start}{name}=\"");
            for character in value.chars() {
                match character {
                    '\\' => self.out.push_str("\\\\"),
                    '"' => self.out.push_str("\\\""),
                    '\n' => self.out.push_str("\\n"),
                    character => self.out.push(character),
                }
            }
            self.out.push('"');
            start = ',';
        }
        if start == ',' {
            self.out.push('}');
        }
        let _ = writeln!(self.out, " {value}");
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let mut out = Exposition::default();
        out.family("gauge", "x_info", "Help.").value(&[("a", "q\"b\\\n"), ("b", "")], 1);
        assert_eq!(
            out.finish(),
            "# HELP x_info Help.\n# TYPE x_info gauge\nx_info{a=\"q\\\"b\\\\\\n\",b=\"\"} 1\n"
        );
    }
}
