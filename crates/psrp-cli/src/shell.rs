//! `psrp shell`.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::IsTerminal;
use std::sync::mpsc;

use psrp::io::Session;
use psrp::message::{Command, CreatePipeline, PowerShell, RemoteStreamOptions};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::line_buffer::LineBuffer;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Changeset, CompletionType, Config, Context, Editor, Helper};
use tokio::runtime::Handle;

use crate::args::ShellArgs;
use crate::balance::is_unfinished;
use crate::complete::{complete, location};
use crate::connect;
use crate::exit::{Exit, Failure};
use crate::history::{self, History};
use crate::interrupts::Interrupts;
use crate::run::{PipelineRunner, console};

/// Line editor helper: completion by the server, and continuation of unfinished scripts.
struct LineHelper {
    session: Session,
    runtime: Handle,
    /// End of the range that the last completions replace.
    end: Cell<usize>,
}

impl Completer for LineHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, cursor: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (sender, completions) = mpsc::channel();
        let (session, line) = (self.session.clone(), line.to_owned());
        self.runtime.spawn(async move { sender.send(complete(&session, &line, cursor).await) });
        // The sender is dropped when the program ends.
        let completions = completions.recv().unwrap_or_default();
        self.end.set(completions.range.end);
        Ok((completions.range.start, completions.candidates))
    }

    fn update(&self, line: &mut LineBuffer, start: usize, elected: &str, changes: &mut Changeset) {
        line.replace(start..self.end.get(), elected, changes);
    }
}

impl Hinter for LineHelper {
    type Hint = String;
}

impl Highlighter for LineHelper {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Borrowed(prompt)
    }
}

impl Validator for LineHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_unfinished(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Helper for LineHelper {}

type LineEditor = Editor<LineHelper, MemHistory>;

pub(crate) async fn shell(args: ShellArgs) -> Result<Exit, Failure> {
    let interrupts = Interrupts::catch().map_err(Failure::usage)?;
    let host = console(&args.display).stdio();
    let runner = PipelineRunner::new(host, interrupts);
    let session = match args.session {
        None => connect::open(&args.target, &runner.host, &runner.interrupts).await?,
        Some(id) => {
            let (session, pipelines) =
                connect::attach(&args.target, id, &runner.host, &runner.interrupts).await?;
            runner.receive(&session, pipelines).await?;
            runner.interrupts.reset();
            session
        }
    };
    let result = lines(&runner, &session, &args).await;
    runner.close(&session).await;
    Ok(runner.exit(result?))
}

async fn lines(runner: &PipelineRunner, session: &Session, args: &ShellArgs) -> Result<Exit, Failure> {
    let config = Config::builder().completion_type(CompletionType::List).build();
    let lines = MemHistory::with_config(&history::config());
    let mut editor = LineEditor::with_history(config, lines).map_err(Failure::usage)?;
    editor.set_helper(Some(LineHelper {
        session: session.clone(),
        runtime: Handle::current(),
        end: Cell::new(0),
    }));
    let is_interactive = std::io::stdin().is_terminal();
    let mut history = history::path(args.history.as_deref()).filter(|_| is_interactive).map(History::open);
    for line in history.iter().flat_map(History::lines) {
        let _ = editor.add_history_entry(line);
    }
    let mut last = Exit::Ok;
    let mut has_location = is_interactive;
    loop {
        let location = if has_location { location(session).await } else { None };
        // A server that does not tell it is not asked again.
        has_location = location.is_some();
        let prompt = location.map_or_else(|| "psrp> ".to_owned(), |location| format!("psrp {location}> "));
        let (returned, line) = read_line(editor, prompt, runner, session).await?;
        editor = returned;
        let line = match line {
            Ok(line) => line,
            // Ctrl+C discards the line.
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(last),
            Err(error) => return Err(Failure::usage(error)),
        };
        match line.trim() {
            "" => continue,
            "exit" | "quit" => return Ok(last),
            _ => {}
        }
        // The shell continues without a history.
        let _ = editor.add_history_entry(line.as_str());
        if let Some(Err(error)) = history.as_mut().map(|history| history.add(&line)) {
            runner.host.print_error(error).await.map_err(Failure::output)?;
            history = None;
        }
        let mut shell = PowerShell::script(line);
        if !args.plain {
            shell = shell.command(Command::new("Out-String").switch("Stream"));
        }
        let mut create = CreatePipeline::new(shell);
        create.remote_stream_options = RemoteStreamOptions::ERROR;
        create.add_to_history = true;
        last = runner.pipeline(session, create, None).await?;
        runner.interrupts.reset();
        if runner.host.exit_code().is_some() {
            return Ok(last);
        }
    }
}

/// Reads a line on a blocking thread, until the connection ends.
async fn read_line(
    mut editor: LineEditor,
    prompt: String,
    runner: &PipelineRunner,
    session: &Session,
) -> Result<(LineEditor, Result<String, ReadlineError>), Failure> {
    let reading = tokio::task::spawn_blocking(move || {
        let line = editor.readline(&prompt);
        (editor, line)
    });
    tokio::select! {
        read = reading => read.map_err(Failure::usage),
        error = session.closed() => Err(Failure::connection(error)),
        // Without a terminal, Ctrl+C is a signal and not a key.
        () = runner.interrupts.wait() => Err(Failure::interrupted()),
    }
}
