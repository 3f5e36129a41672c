//! Ctrl+C: the first stops what goes on, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// What the program ends with then, as programs do that a signal ends.
pub(crate) const EXIT_CODE: u8 = 130;

/// Tells of Ctrl+C.
#[derive(Clone, Default)]
pub(crate) struct Interrupts(Arc<State>);

#[derive(Default)]
struct State {
    was_told: AtomicBool,
    notify: Notify,
}

impl Interrupts {
    /// Catches the signal from now on.
    pub(crate) fn catch() -> std::io::Result<Self> {
        let interrupts = Self::default();
        let state = interrupts.clone();
        #[cfg(unix)]
        let mut signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt())?;
        #[cfg(windows)]
        let mut signal = tokio::signal::windows::ctrl_c()?;
        tokio::spawn(async move {
            while signal.recv().await.is_some() {
                state.raise();
            }
        });
        Ok(interrupts)
    }

    /// Ctrl+C was pressed.
    pub(crate) fn raise(&self) {
        if self.0.was_told.swap(true, Ordering::AcqRel) {
            // A prompt may be open, and the terminal take keys one by one.
            let _ = crossterm::terminal::disable_raw_mode();
            std::process::exit(EXIT_CODE.into());
        }
        self.0.notify.notify_one();
    }

    /// Waits for Ctrl+C.
    pub(crate) async fn wait(&self) {
        self.0.notify.notified().await;
    }

    /// What was to be stopped has ended: the next one counts as the first again.
    pub(crate) fn forget(&self) {
        self.0.was_told.store(false, Ordering::Release);
    }
}
