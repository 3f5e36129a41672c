//! The streams of PowerShell that a document can name.

/// The stream that an item of a document belongs to, its attribute `S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// What a command gives.
    Output,
    /// Error records.
    Error,
    /// Warnings.
    Warning,
    /// Verbose messages.
    Verbose,
    /// Debug messages.
    Debug,
    /// Information records.
    Information,
    /// Progress records.
    Progress,
}

impl Stream {
    const ALL: [Self; 7] = [
        Self::Output,
        Self::Error,
        Self::Warning,
        Self::Verbose,
        Self::Debug,
        Self::Information,
        Self::Progress,
    ];

    /// The name as PowerShell writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Output => "Output",
            Self::Error => "Error",
            Self::Warning => "Warning",
            Self::Verbose => "Verbose",
            Self::Debug => "Debug",
            Self::Information => "Information",
            Self::Progress => "Progress",
        }
    }

    /// The stream of this name in any case of letters; names that are not known mean the output, as they do to
    /// PowerShell.
    pub fn from_name(name: &str) -> Self {
        let known = |stream: &Self| stream.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(known).unwrap_or(Self::Output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        for stream in Stream::ALL {
            assert_eq!(Stream::from_name(stream.name()), stream);
            assert_eq!(Stream::from_name(&stream.name().to_uppercase()), stream);
        }
        assert_eq!(Stream::from_name("elsewhere"), Stream::Output);
    }
}
