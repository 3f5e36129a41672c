//! PowerShell's streams as named in documents.

/// The stream of an item of a document, its attribute `S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Output of a command.
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

    /// Returns the name as PowerShell writes it.
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

    /// Returns the stream with this name, ignoring case. Like in PowerShell, unknown names mean the output.
    pub fn from_name(name: &str) -> Self {
        let known = |stream: &Self| stream.name().eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(known).unwrap_or(Self::Output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_ignoring_case() {
        for stream in Stream::ALL {
            assert_eq!(Stream::from_name(stream.name()), stream);
            assert_eq!(Stream::from_name(&stream.name().to_uppercase()), stream);
        }
        assert_eq!(Stream::from_name("elsewhere"), Stream::Output);
    }
}
