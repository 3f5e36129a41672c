//! All that a pipeline has sent.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::client::PipelineEvent;
use crate::error::{Error, Kind};
use crate::io::remote::remote_text;
use crate::message::{PipelineState, PipelineStateInfo};
use crate::record::{ErrorRecord, InformationRecord, InformationalRecord};
use crate::value::{Progress, Value};

/// All that a pipeline has sent, by stream.
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
}

impl Output {
    /// The same if the pipeline has completed.
    ///
    /// # Errors
    ///
    /// Fails if it has failed or was stopped ([`Error::is_pipeline`]). The text of the error has the message of the
    /// [`reason`](Self::reason), safe for a terminal and at most 4 KiB of it.
    pub fn completed(self) -> Result<Self, Error> {
        if self.state == PipelineState::Completed {
            return Ok(self);
        }
        let message = self.reason.as_ref().and_then(|record| record.message());
        let text = message.map(|message| remote_text(&message.to_str_lossy()));
        Err(Error::with(
            Kind::Pipeline,
            match text {
                Some(text) => format!("{}: {text}", self.state),
                None => self.state.to_string(),
            },
        ))
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
        };
        Self { output, progress: HashMap::new(), size: 0, max_size }
    }

    pub(super) fn take(&mut self, event: PipelineEvent, size: usize) -> Result<(), Error> {
        self.size += size;
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
