//! Collected output of a pipeline.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::client::PipelineEvent;
use crate::clixml::Stream;
use crate::error::{Error, Kind};
use crate::io::peer_text::peer_text;
use crate::message::{PipelineState, PipelineStateInfo};
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord};
use crate::value::{Progress, Value};

/// Collected output of a pipeline, by stream. [`records`](Self::records) iterates over all streams in order of arrival.
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
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// Objects of the output stream.
    pub output: Vec<Value>,
    /// Non-terminating errors.
    pub errors: Vec<ErrorRecord>,
    /// Records of the warning stream.
    pub warnings: Vec<InformationalRecord>,
    /// Records of the verbose stream.
    pub verbose: Vec<InformationalRecord>,
    /// Records of the debug stream.
    pub debug: Vec<InformationalRecord>,
    /// Records of the information stream.
    pub information: Vec<InformationRecord>,
    /// Last progress record of each activity.
    pub progress: Vec<Progress>,
    /// Final state: completed, failed or stopped.
    pub state: PipelineState,
    /// Reason for the failure or stop, if the server sent one.
    pub reason: Option<Box<ErrorRecord>>,
    /// Stream of each record in order of arrival, without progress.
    order: Vec<Stream>,
}

/// A record of any stream of an [`Output`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum OutputRecord<'a> {
    /// Object of the output stream.
    Output(&'a Value),
    /// Non-terminating error.
    Error(&'a ErrorRecord),
    /// Warning.
    Warning(&'a InformationalRecord),
    /// Verbose message.
    Verbose(&'a InformationalRecord),
    /// Debug message.
    Debug(&'a InformationalRecord),
    /// Information record.
    Information(&'a InformationRecord),
}

impl Output {
    /// Returns the output if the pipeline has completed.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_pipeline`] if the pipeline has failed or was stopped. The error text contains at most 4
    /// KiB of the [`reason`](Self::reason), escaped for terminals.
    pub fn completed(self) -> Result<Self, Error> {
        match self.state {
            PipelineState::Completed => Ok(self),
            state => Err(not_completed(state, self.reason.as_deref())),
        }
    }

    /// Returns whether the pipeline wrote error records or failed.
    pub fn had_errors(&self) -> bool {
        !self.errors.is_empty() || self.state == PipelineState::Failed
    }

    /// Iterates over the records of all streams except progress, in order of arrival. If records were removed from the
    /// public fields, the iterator ends that stream early.
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
            // Progress has no entries in `order`.
            Stream::Progress => None,
        })
    }

    /// Deserializes the objects of the output stream. Requires the feature `serde`.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::is_mismatch`] if an object does not have the shape of `T`.
    #[cfg(feature = "serde")]
    pub fn output_as<T: ::serde::de::DeserializeOwned>(&self) -> Result<Vec<T>, Error> {
        self.output.iter().map(crate::from_value).collect()
    }
}

/// Returns the error of a pipeline that has failed or was stopped.
pub(in crate::io) fn not_completed(state: PipelineState, reason: Option<&ErrorRecord>) -> Error {
    let text = reason.and_then(ErrorRecord::message).map(|message| peer_text(&message.to_str_lossy()));
    Error::with(
        Kind::Pipeline,
        match text {
            Some(text) => format!("{state}: {text}"),
            None => state.to_string(),
        },
    )
}

/// Collects events into an [`Output`], up to a maximum size.
pub(super) struct OutputCollector {
    output: Output,
    /// Activity to index in `Output::progress` and size of that record.
    progress: HashMap<i32, (usize, usize)>,
    size: usize,
    max_size: usize,
}

impl OutputCollector {
    pub(super) fn new(max_size: usize) -> Self {
        let output = Output { state: PipelineState::Running, ..Output::default() };
        Self { output, progress: HashMap::new(), size: 0, max_size }
    }

    pub(super) fn push(&mut self, event: PipelineEvent, size: usize) -> Result<(), Error> {
        self.size += size;
        let order = &mut self.output.order;
        match event {
            PipelineEvent::Output(value) => add(&mut self.output.output, value, order, Stream::Output),
            PipelineEvent::Error(record) => add(&mut self.output.errors, *record, order, Stream::Error),
            PipelineEvent::Warning(record) => add(&mut self.output.warnings, *record, order, Stream::Warning),
            PipelineEvent::Verbose(record) => add(&mut self.output.verbose, *record, order, Stream::Verbose),
            PipelineEvent::Debug(record) => add(&mut self.output.debug, *record, order, Stream::Debug),
            PipelineEvent::Information(record) => {
                add(&mut self.output.information, *record, order, Stream::Information)
            }
            PipelineEvent::Progress(record) => self.push_progress(*record, size),
            PipelineEvent::State(PipelineStateInfo { state, error }) => {
                (self.output.state, self.output.reason) = (state, error);
            }
            PipelineEvent::Closed => {}
        }
        if self.size > self.max_size {
            return Err(Error::with(Kind::Limit, "bytes of a pipeline's output (see max_output_bytes)"));
        }
        Ok(())
    }

    /// A progress record replaces the previous one of its activity, which no longer counts.
    fn push_progress(&mut self, record: Progress, size: usize) {
        match self.progress.entry(record.activity_id) {
            Entry::Occupied(mut entry) => {
                let (index, old_size) = entry.get_mut();
                self.size -= std::mem::replace(old_size, size);
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

fn add<T>(records: &mut Vec<T>, record: T, order: &mut Vec<Stream>, stream: Stream) {
    records.push(record);
    order.push(stream);
}
