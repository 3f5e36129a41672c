//! Queries of the shell: tab completion by the server, and the location of the session.

use std::ops::Range;
use std::time::Duration;

use psrp::Value;
use psrp::io::Session;
use psrp::message::{Command, CreatePipeline, HostInfo, PowerShell};
use psrp::terminal_safe;
use rustyline::completion::Pair;

/// Timeout of a query. The user cannot type meanwhile.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct Completions {
    /// Range of the script to replace, in bytes.
    pub(crate) range: Range<usize>,
    pub(crate) candidates: Vec<Pair>,
}

/// Requests completions from the server's `TabExpansion2`. `cursor` is a byte offset. Returns no candidates if the
/// server has no such function, fails or exceeds the timeout.
pub(crate) async fn complete(session: &Session, script: &str, cursor: usize) -> Completions {
    let Ok(column) = i32::try_from(script[..cursor].encode_utf16().count()) else {
        return Completions::default();
    };
    let command =
        Command::new("TabExpansion2").parameter("inputScript", script).parameter("cursorColumn", column);
    let found = query(session, command).await;
    found.and_then(|found| completions(&found, script, cursor)).unwrap_or_default()
}

/// Returns the current location of the session, safe for the terminal. `None` if the session allows no scripts or the
/// server fails or exceeds the timeout.
pub(crate) async fn location(session: &Session) -> Option<String> {
    // The command `Get-Location` is in a module, which a session may not have.
    let found = query(session, Command::script("\"$PWD\"")).await?;
    found.as_str().map(|path| terminal_safe(path).replace(['\t', '\n'], " "))
}

/// Runs a command without a host and returns its first object.
async fn query(session: &Session, command: Command) -> Option<Value> {
    let mut create = CreatePipeline::new(PowerShell::new().command(command));
    // Completers must not show or ask anything while the user types.
    create.host_info = HostInfo { use_runspace_host: false, ..HostInfo::none() };
    let output = tokio::time::timeout(TIMEOUT, session.invoke(create)).await.ok()?.ok()?;
    output.output.into_iter().next()
}

/// Converts a `CommandCompletion`. Candidates with control characters are omitted.
fn completions(found: &Value, script: &str, cursor: usize) -> Option<Completions> {
    let index = found["ReplacementIndex"].as_i32()?;
    let end = index.checked_add(found["ReplacementLength"].as_i32()?)?;
    let range = byte_offset(script, index)?..byte_offset(script, end)?;
    if !(range.start..=range.end).contains(&cursor) {
        return None;
    }
    let pair = |candidate: &Value| {
        let replacement = candidate["CompletionText"].as_str()?;
        let display = candidate["ListItemText"].as_str().unwrap_or(replacement);
        let is_safe = |text: &str| !text.contains('\n') && terminal_safe(text) == text;
        (is_safe(replacement) && is_safe(display))
            .then(|| Pair { display: display.to_owned(), replacement: replacement.to_owned() })
    };
    let candidates = found["CompletionMatches"].items()?.iter().filter_map(pair).collect();
    Some(Completions { range, candidates })
}

/// Converts an offset in UTF-16 code units to bytes. Returns `None` if it is out of range or inside a character.
fn byte_offset(text: &str, units: i32) -> Option<usize> {
    let mut left = usize::try_from(units).ok()?;
    for (offset, char) in text.char_indices() {
        if left == 0 {
            return Some(offset);
        }
        left = left.checked_sub(char.len_utf16())?;
    }
    (left == 0).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use psrp::Object;
    use psrp::io::serve::{self, Handler, Input, Outcome};
    use psrp::io::{Child, Lines, Options, ScriptedHost};
    use psrp::outofproc::Role;
    use test_support::optional;

    use super::*;

    fn candidate(text: &str) -> Value {
        Object::custom([("CompletionText", text), ("ListItemText", text)]).into()
    }

    fn found(index: i32, length: i32, candidates: Vec<Value>) -> Value {
        let builder =
            Object::builder().adapted("ReplacementIndex", index).adapted("ReplacementLength", length);
        builder.adapted("CompletionMatches", Object::list(candidates)).build().into()
    }

    proptest! {
        #[test]
        fn utf16_offsets_are_converted(text in "[a-zä€😀]{0,20}", units in -2..50) {
            let inside = text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
            let expected = inside.into_iter().find(|&offset| text[..offset].encode_utf16().count() as i32 == units);
            prop_assert_eq!(byte_offset(&text, units), expected);
        }

        #[test]
        fn completion_ranges_are_inside_the_script(
            text in "[a😀]{0,4}", index in any::<i32>(), small in -1..9, length in -1..9, huge in any::<bool>(),
        ) {
            for cursor in (0..=text.len()).filter(|&cursor| text.is_char_boundary(cursor)) {
                let found = found(if huge { index } else { small }, length, vec![candidate("x")]);
                if let Some(Completions { range, .. }) = completions(&found, &text, cursor) {
                    prop_assert!(text.get(range.clone()).is_some() && range.start <= cursor && cursor <= range.end);
                }
            }
        }
    }

    #[test]
    fn candidates_with_control_characters_are_omitted() {
        let candidates = ["good", "\x1b[2J", "a\nb", "a\u{202e}b"].map(candidate);
        let found = found(0, 1, candidates.to_vec());
        let candidates = completions(&found, "x", 1).unwrap().candidates;
        assert_eq!(candidates.iter().map(|pair| &*pair.replacement).collect::<Vec<_>>(), ["good"]);
        assert!(completions(&Value::Nil, "x", 1).is_none());
    }

    /// A server whose pipelines never end.
    struct Silent;

    impl Handler for Silent {
        async fn run(&self, _: CreatePipeline, _: serve::Pipeline, _: Input) -> Outcome {
            std::future::pending().await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_unresponsive_server_yields_no_candidates() {
        let (near, far) = tokio::io::duplex(4096);
        let ((read, write), (far_read, far_write)) = (tokio::io::split(near), tokio::io::split(far));
        let far = Lines::new(Role::Server, far_read, far_write);
        tokio::spawn(serve::serve(far, Silent, serve::Options::default()));
        let near = Lines::new(Role::Client, read, write);
        let session = Session::over(near, Options::new()).await.unwrap();
        assert!(complete(&session, "x", 1).await.candidates.is_empty());
        assert_eq!(location(&session).await, None);
        session.close().await.unwrap();
    }

    /// Completion of members needs `Sort-Object`, and completion of paths needs a module; an installation without
    /// modules has neither. This script defines `Sort-Object` and a completer that returns a path, writes to the host
    /// and prompts.
    const SETUP: &str = "
        New-Module Microsoft.PowerShell.Utility { function Sort-Object { param($Property) $input } } | Import-Module
        $größe = [Version]'1.2'
        function Open-It { param($Path, [switch]$Fast) }
        Register-ArgumentCompleter -CommandName Open-It -ParameterName Path -ScriptBlock {
            Write-Host shown; Write-Progress shown; Write-Warning shown; try { Read-Host asked } catch { }
            [System.Management.Automation.CompletionResult]::new(\"'./größe 😀 1'\")
        }";

    #[tokio::test]
    async fn powershell_completes_scripts() {
        let Some(program) = optional::powershell() else { return };
        let child = Child::new(program).args(["-s", "-NoLogo", "-NoProfile"]);
        let host = Arc::new(ScriptedHost::new());
        let session = Session::open(&child, Options::new().host(Arc::<ScriptedHost>::clone(&host)));
        let session = session.await.unwrap();
        session.invoke(PowerShell::script(SETUP)).await.unwrap().completed().unwrap();
        // `|` marks the cursor.
        for (script, expected) in [
            ("get-comman|", "Get-Command|"),
            ("1; Open-It -Fa| x", "1; Open-It -Fast| x"),
            ("'😀ä'; $größe.majorr|", "'😀ä'; $größe.MajorRevision|"),
            ("'😀'; $gr|ö; 'ä'", "'😀'; $größe|; 'ä'"),
            ("Open-It ./gr|ö -Fast", "Open-It './größe 😀 1'| -Fast"),
            ("if ($true) {\n  Get-Comman|", "if ($true) {\n  Get-Command|"),
        ] {
            let cursor = script.find('|').unwrap();
            let text = script.replace('|', "");
            let Completions { range, candidates } = complete(&session, &text, cursor).await;
            let [only] = &candidates[..] else { panic!("{script}: {} candidates", candidates.len()) };
            let replaced = format!("{}{}|{}", &text[..range.start], only.replacement, &text[range.end..]);
            assert_eq!(replaced, expected);
        }
        assert!(complete(&session, "Write-", 6).await.candidates.len() > 1);
        assert!(complete(&session, "no-such-command-at-al", 21).await.candidates.is_empty());
        session
            .invoke(PowerShell::script("$ExecutionContext.SessionState.Path.SetLocation('/')"))
            .await
            .unwrap();
        assert_eq!(location(&session).await.as_deref(), Some("/"));
        session.close().await.unwrap();
        assert_eq!(host.calls(), []);
    }
}
