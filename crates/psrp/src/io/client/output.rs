//! All that a pipeline has sent.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::client::PipelineEvent;
use crate::clixml::Stream;
use crate::error::{Error, Kind};
use crate::io::remote::remote_text;
use crate::message::{PipelineState, PipelineStateInfo};
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord};
use crate::value::{Progress, Value};

/// All that a pipeline has sent, by stream. [`records`](Self::records) returns the streams in the order of arrival.
///
/// ```no_run
/// # async fn example() -> Result<(), psrp::Error> {
/// use psrp::io::{Child, OutputRecord};
///
/// let output = psrp::run(&Child::default(), "1; Write-Error 'no'; Write-Warning 'careful'; 2").await?;
/// assert!(output.had_errors());
/// for record in output.records() {
///     match record {
///         OutputRecord::Output(value) => println!("{value:?}"),
///         OutputRecord::Error(error) => println!("error: {:?}", error.message()),
///         OutputRecord::Warning(warning) => println!("warning: {}", warning.message),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// The objects of the output.
    pub output: Vec<Value>,
    /// The errors that did not end the pipeline.
    pub errors: Vec<ErrorRecord>,
    /// The warnings.
    pub warnings: Vec<InformationalRecord>,
    /// The verbose messages.
    pub verbose: Vec<InformationalRecord>,
    /// The debug messages.
    pub debug: Vec<InformationalRecord>,
    /// The information records.
    pub information: Vec<InformationRecord>,
    /// The last progress of each activity.
    pub progress: Vec<Progress>,
    /// How the pipeline has ended: completed, failed or stopped.
    pub state: PipelineState,
    /// Why it has failed or was stopped, if the server has told.
    pub reason: Option<Box<ErrorRecord>>,
    /// The stream of each record, without progress.
    order: Vec<Stream>,
}

/// A record of any stream of an [`Output`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum OutputRecord<'a> {
    /// An object of the output.
    Output(&'a Value),
    /// An error that did not end the pipeline.
    Error(&'a ErrorRecord),
    /// A warning.
    Warning(&'a InformationalRecord),
    /// A verbose message.
    Verbose(&'a InformationalRecord),
    /// A debug message.
    Debug(&'a InformationalRecord),
    /// An information record.
    Information(&'a InformationRecord),
}

impl Output {
    /// The same if the pipeline has completed.
    ///
    /// # Errors
    ///
    /// Fails if it has failed or was stopped ([`Error::is_pipeline`]). The text of the error has the message of the
    /// [`reason`](Self::reason), safe for a terminal and at most 4 KiB of it.
    pub fn completed(self) -> Result<Self, Error> {
        match self.state {
            PipelineState::Completed => Ok(self),
            state => Err(not_completed(state, self.reason.as_deref())),
        }
    }

    /// Whether the pipeline has written error records or failed.
    pub fn had_errors(&self) -> bool {
        !self.errors.is_empty() || self.state == PipelineState::Failed
    }

    /// The records of all streams but progress, in the order in which the server has sent them. Records that were removed
    /// from their fields are left out at the end of their stream.
    pub fn records(&self) -> impl Iterator<Item = OutputRecord<'_>> {
        let mut output = self.output.iter();
        let mut errors = self.errors.iter();
        let [mut warnings, mut verbose, mut debug] =
            [&self.warnings, &self.verbose, &self.debug].map(|records| records.iter());
        let mut information = self.information.iter();
        self.order.iter().filter_map(move |stream| match stream {
            Stream::Output => output.next().map(OutputRecord::Output),
            Stream::Error => errors.next().map(OutputRecord::Error),
            Stream::Warning => warnings.next().map(OutputRecord::Warning),
            Stream::Verbose => verbose.next().map(OutputRecord::Verbose),
            Stream::Debug => debug.next().map(OutputRecord::Debug),
            Stream::Information => information.next().map(OutputRecord::Information),
            // Its order is not kept.
            Stream::Progress => None,
        })
    }

    /// The objects of the output as another type. With the feature `serde`.
    ///
    /// # Errors
    ///
    /// Fails if one is not of that shape ([`Error::is_mismatch`]).
    #[cfg(feature = "serde")]
    pub fn output_as<T: ::serde::de::DeserializeOwned>(&self) -> Result<Vec<T>, Error> {
        self.output.iter().map(crate::from_value).collect()
    }
}

/// The error of a pipeline that has failed or was stopped.
pub(in crate::io) fn not_completed(state: PipelineState, reason: Option<&ErrorRecord>) -> Error {
    let text = reason.and_then(ErrorRecord::message).map(|message| remote_text(&message.to_str_lossy()));
    Error::with(
        Kind::Pipeline,
        match text {
            Some(text) => format!("{state}: {text}"),
            None => state.to_string(),
        },
    )
}

/// Collects events.
pub(super) struct Collector {
    output: Output,
    /// Where the progress of an activity is, and what it counts.
    progress: HashMap<i32, (usize, usize)>,
    size: usize,
    max_size: usize,
}

impl Collector {
    pub(super) fn new(max_size: usize) -> Self {
        let output = Output {
            output: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            verbose: Vec::new(),
            debug: Vec::new(),
            information: Vec::new(),
            progress: Vec::new(),
            state: PipelineState::Running,
            reason: None,
            order: Vec::new(),
        };
        Self { output, progress: HashMap::new(), size: 0, max_size }
    }

    pub(super) fn take(&mut self, event: PipelineEvent, size: usize) -> Result<(), Error> {
        self.size += size;
        self.output.order.extend(stream_of(&event));
        match event {
            PipelineEvent::Output(value) => self.output.output.push(value),
            PipelineEvent::Error(record) => self.output.errors.push(*record),
            PipelineEvent::Warning(record) => self.output.warnings.push(*record),
            PipelineEvent::Verbose(record) => self.output.verbose.push(*record),
            PipelineEvent::Debug(record) => self.output.debug.push(*record),
            PipelineEvent::Information(record) => self.output.information.push(*record),
            PipelineEvent::Progress(record) => self.take_progress(*record, size),
            PipelineEvent::State(PipelineStateInfo { state, error }) => {
                self.output.state = state;
                self.output.reason = error;
            }
            PipelineEvent::Closed => {}
        }
        if self.size > self.max_size {
            return Err(Error::with(Kind::Limit, "bytes of the output of a pipeline"));
        }
        Ok(())
    }

    /// Progress that is over counts nothing.
    fn take_progress(&mut self, record: Progress, size: usize) {
        match self.progress.entry(record.activity_id) {
            Entry::Occupied(mut known) => {
                let (index, own) = known.get_mut();
                self.size -= std::mem::replace(own, size);
                self.output.progress[*index] = record;
            }
            Entry::Vacant(new) => {
                new.insert((self.output.progress.len(), size));
                self.output.progress.push(record);
            }
        }
    }

    pub(super) fn finish(self) -> Output {
        self.output
    }
}

/// The stream of an event whose order an [`Output`] keeps.
fn stream_of(event: &PipelineEvent) -> Option<Stream> {
    match event {
        PipelineEvent::Output(_) => Some(Stream::Output),
        PipelineEvent::Error(_) => Some(Stream::Error),
        PipelineEvent::Warning(_) => Some(Stream::Warning),
        PipelineEvent::Verbose(_) => Some(Stream::Verbose),
        PipelineEvent::Debug(_) => Some(Stream::Debug),
        PipelineEvent::Information(_) => Some(Stream::Information),
        PipelineEvent::Progress(_) | PipelineEvent::State(_) | PipelineEvent::Closed => None,
    }
}
