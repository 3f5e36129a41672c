//! `Debug` output that shows lengths instead of bytes, because messages may contain secrets.

use std::fmt;

use super::assembler::Assembler;
use super::fragmenter::Fragments;
use super::header::Fragment;
use super::queue::SendQueue;

impl fmt::Debug for Fragment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fragment")
            .field("object_id", &self.object_id)
            .field("fragment_id", &self.fragment_id)
            .field("start", &self.start)
            .field("end", &self.end)
            .field("len", &self.blob.len())
            .finish()
    }
}

impl fmt::Debug for Fragments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fragments").field("left", &self.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Assembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembler")
            .field("options", &self.options)
            .field("pending", &self.is_pending())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SendQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendQueue")
            .field("fragmenter", self.fragmenter())
            .field("lanes", &self.lanes().collect::<Vec<_>>())
            .field("pending_bytes", &self.pending_bytes())
            .finish_non_exhaustive()
    }
}
