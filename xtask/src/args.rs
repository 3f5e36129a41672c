//! Command line parser. Options may come in any order, as `--name value` or `--name=value`.

use anyhow::{Context, Result, bail};

/// The arguments of one command. Each method removes what it returns; [`Args::finish`] rejects the rest.
#[derive(Debug)]
pub(crate) struct Args {
    arguments: Vec<String>,
}

impl Args {
    pub(crate) fn new(arguments: impl IntoIterator<Item = String>) -> Self {
        Self { arguments: arguments.into_iter().collect() }
    }

    /// Removes `--name` and returns whether it was present.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let before = self.arguments.len();
        self.arguments.retain(|argument| argument != name);
        self.arguments.len() < before
    }

    /// Removes every `--name value` and returns the values.
    pub(crate) fn values(&mut self, name: &str) -> Result<Vec<String>> {
        let mut values = Vec::new();
        while let Some(at) = self.arguments.iter().position(|argument| {
            argument.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        }) {
            let argument = self.arguments.remove(at);
            match argument.split_once('=') {
                Some((_, value)) => values.push(value.to_owned()),
                None if at < self.arguments.len() && !self.arguments[at].starts_with("--") => {
                    values.push(self.arguments.remove(at));
                }
                None => bail!("{name} needs a value"),
            }
        }
        Ok(values)
    }

    /// Removes `--name value`, which may be given once.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<String>> {
        let mut values = self.values(name)?;
        if values.len() > 1 {
            bail!("{name} is given more than once");
        }
        Ok(values.pop())
    }

    /// Removes `--name N`.
    pub(crate) fn number(&mut self, name: &str) -> Result<Option<usize>> {
        self.value(name)?
            .map(|text| text.parse().with_context(|| format!("{name}: {text:?} is no whole number")))
            .transpose()
    }

    /// Removes the next argument that is not an option. Read the options first: their values look the same.
    pub(crate) fn positional(&mut self) -> Result<Option<String>> {
        match self.arguments.first() {
            Some(first) if first.starts_with("--") => bail!("unknown option {first}"),
            Some(_) => Ok(Some(self.arguments.remove(0))),
            None => Ok(None),
        }
    }

    /// Removes all arguments that are not options.
    pub(crate) fn positionals(&mut self) -> Result<Vec<String>> {
        std::iter::from_fn(|| self.positional().transpose()).collect()
    }

    /// Returns the remaining arguments, including options.
    pub(crate) fn rest(self) -> Vec<String> {
        self.arguments
    }

    /// Fails if arguments remain.
    pub(crate) fn finish(self) -> Result<()> {
        match self.arguments.first() {
            Some(first) => bail!("unexpected argument {first}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        Args::new(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_and_positionals_mix() {
        let mut args = args("sse --rounds 3 json --quick --import=a --import b");
        assert_eq!(args.number("--rounds").unwrap(), Some(3));
        assert_eq!(args.values("--import").unwrap(), ["a", "b"]);
        assert!(args.flag("--quick") && !args.flag("--quick"));
        assert_eq!(args.positionals().unwrap(), ["sse", "json"]);
        args.finish().unwrap();
    }

    #[test]
    fn mistakes_are_named() {
        assert!(args("--rounds x").number("--rounds").unwrap_err().to_string().contains("\"x\""));
        assert!(args("--row").value("--row").unwrap_err().to_string().contains("needs a value"));
        assert!(args("--row --quick").value("--row").is_err());
        assert!(args("--row a --row b").value("--row").is_err());
        assert!(args("--speed").positionals().unwrap_err().to_string().contains("--speed"));
        assert!(args("left").finish().is_err());
    }

    #[test]
    fn a_name_is_no_prefix() {
        let mut args = args("--rows a");
        assert_eq!(args.value("--row").unwrap(), None);
    }
}
