//! Ctrl+C handling: the first stops the current operation, the second exits the program.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Exit code after Ctrl+C, by convention 128 + SIGINT.
pub(crate) const EXIT_CODE: u8 = 130;

/// Notifies of Ctrl+C.
#[derive(Clone, Default)]
pub(crate) struct Interrupts(Arc<InterruptState>);

#[derive(Default)]
struct InterruptState {
    was_interrupted: AtomicBool,
    notify: Notify,
}

impl Interrupts {
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

    pub(crate) fn raise(&self) {
        if self.0.was_interrupted.swap(true, Ordering::AcqRel) {
            // A prompt may have enabled raw mode.
            let _ = crossterm::terminal::disable_raw_mode();
            std::process::exit(EXIT_CODE.into());
        }
        self.0.notify.notify_one();
    }

    pub(crate) async fn wait(&self) {
        self.0.notify.notified().await;
    }

    /// Resets the state: the next Ctrl+C counts as the first again. One that nothing has waited for is forgotten.
    pub(crate) fn reset(&self) {
        self.0.was_interrupted.store(false, Ordering::Release);
        pin!(self.0.notify.notified()).enable();
    }
}
