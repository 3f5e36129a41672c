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
    /// All streams and their names, in the order of the variants.
    const NAMES: [(Self, &'static str); 7] = [
        (Self::Output, "Output"),
        (Self::Error, "Error"),
        (Self::Warning, "Warning"),
        (Self::Verbose, "Verbose"),
        (Self::Debug, "Debug"),
        (Self::Information, "Information"),
        (Self::Progress, "Progress"),
    ];

    /// Returns the name as PowerShell writes it.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// Returns the stream with this name, ignoring case. Like in PowerShell, unknown names mean the output.
    pub fn from_name(name: &str) -> Self {
        let known = Self::NAMES.into_iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
        known.map_or(Self::Output, |(stream, _)| stream)
    }
}
