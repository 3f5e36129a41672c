//! Text of a program, line by line.

pub(crate) struct Code {
    pub(crate) text: String,
    unit: &'static str,
    level: usize,
}

impl Code {
    /// `unit` is the indentation of one level.
    pub(crate) fn new(unit: &'static str) -> Self {
        Self { text: String::new(), unit, level: 0 }
    }

    /// Adds a line, or several.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        for line in line.as_ref().split('\n') {
            if !line.is_empty() {
                self.text += &self.unit.repeat(self.level);
                self.text += line;
            }
            self.text.push('\n');
        }
    }

    /// Adds lines that are indented by one level.
    pub(crate) fn indented(&mut self, lines: impl FnOnce(&mut Self)) {
        self.level += 1;
        lines(self);
        self.level -= 1;
    }

    /// Adds a line, lines that are indented by one level, and a line.
    pub(crate) fn block(&mut self, open: impl AsRef<str>, close: &str, lines: impl FnOnce(&mut Self)) {
        self.line(open);
        self.indented(lines);
        self.line(close);
    }
}
