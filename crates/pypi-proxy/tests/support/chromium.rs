//! A headless Chromium, controlled by its debugging protocol over two pipes.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tightwire_json::{Value, json};

/// Timeout of one operation. The browser starts slowly on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Returns the browser's program if it can be started: `chromium` on the path, or the value of the variable `CHROMIUM`.
pub(crate) fn program() -> Option<OsString> {
    let program = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
    super::is_available(&program).then_some(program)
}

/// A browser with a temporary profile. Dropping it stops the browser and deletes the profile.
pub(crate) struct Browser {
    process: Child,
    to: File,
    from: Receiver<Value>,
    next: u64,
    /// Events received so far.
    pub(crate) events: Vec<Value>,
    /// Whether pages opened from now on run their scripts.
    pub(crate) runs_scripts: bool,
    _dir: tempfile::TempDir,
}

impl Browser {
    pub(crate) fn start(program: &OsString) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (to, from) = (dir.path().join("to"), dir.path().join("from"));
        for pipe in [&to, &from] {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        }
        // A shell connects the pipes to the file descriptors that the browser uses.
        let process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<\"$TO\" 4>\"$FROM\"", "sh"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", dir.path().join("profile").display()))
            .env("TO", &to)
            .env("FROM", &from)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("Chromium starts");
        let open = |path: &Path| OpenOptions::new().read(true).write(true).open(path).unwrap();
        let (to, answers) = (open(&to), open(&from));
        let (sender, from) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(answers).split(0) {
                let message = tightwire_json::from_slice(&message.unwrap()).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { process, to, from, next: 0, events: Vec::new(), runs_scripts: true, _dir: dir }
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.try_call(session, method, params).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_call(&mut self, session: Option<&str>, method: &str, params: Value) -> Result<Value, Value> {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let mut response = self.from.recv_timeout(TIMEOUT).expect("the browser answers in time");
            if response["id"] == self.next {
                return match response.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(response["result"].take()),
                };
            }
            self.events.push(response);
        }
    }

    /// Opens a page with this window size and color scheme.
    pub(crate) fn open(&mut self, url: &str, (width, height): (u32, u32), is_dark: bool) -> Tab<'_> {
        let target = self.call(None, "Target.createTarget", json!({"url": "about:blank"}))["targetId"].take();
        let session = self.call(None, "Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        let mut tab = Tab { browser: self, session: session["sessionId"].as_str().unwrap().to_owned() };
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        tab.call("Emulation.setDeviceMetricsOverride", size);
        let is_off = !tab.browser.runs_scripts;
        tab.call("Emulation.setScriptExecutionDisabled", json!({"value": is_off}));
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        tab.call("Emulation.setEmulatedMedia", json!({"features": features}));
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            tab.call(domain, json!({}));
        }
        tab.call("Page.navigate", json!({"url": url}));
        tab
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser consists of several processes.
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.process.id())]).status();
        let _ = self.process.wait();
    }
}

pub(crate) struct Tab<'b> {
    browser: &'b mut Browser,
    session: String,
}

impl Tab<'_> {
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.browser.call(Some(&self.session), method, params)
    }

    pub(crate) fn value(&mut self, expression: &str) -> Value {
        self.try_value(expression).unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// # Errors
    ///
    /// The page was left before the expression had a value.
    fn try_value(&mut self, expression: &str) -> Result<Value, Value> {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut result = self.browser.try_call(Some(&self.session), "Runtime.evaluate", params)?;
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result}");
        Ok(result["result"]["value"].take())
    }

    pub(crate) fn wait(&mut self, expression: &str) {
        let started = std::time::Instant::now();
        // The expression has no value while a click replaces the page.
        while !self.try_value(expression).is_ok_and(|value| value == true) {
            assert!(started.elapsed() < TIMEOUT, "{expression}: {}", self.value("document.body.innerText"));
            // Check again after an event.
            self.browser.events.extend(self.browser.from.recv_timeout(Duration::from_millis(50)));
        }
    }

    pub(crate) fn type_into(&mut self, selector: &str, text: &str) {
        self.value(&format!("document.querySelector({selector:?}).focus()"));
        self.call("Input.insertText", json!({"text": text}));
    }

    pub(crate) fn click(&mut self, selector: &str) {
        let place = self.value(&format!(
            "(() => {{ const element = document.querySelector({selector:?}); element.scrollIntoView({{ block: 'center' }}); \
             const {{ x, y, width, height }} = element.getBoundingClientRect(); return {{ x: x + width / 2, y: y + height / 2 }}; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event =
                json!({"type": kind, "x": place["x"], "y": place["y"], "button": "left", "clickCount": 1});
            // The click may replace the page before the browser answers.
            let _ = self.browser.try_call(Some(&self.session), "Input.dispatchMouseEvent", event);
        }
    }

    /// Takes a screenshot of the whole page. Returns a PNG in Base64.
    pub(crate) fn picture(&mut self) -> String {
        let params = json!({"format": "png", "captureBeyondViewport": true});
        self.call("Page.captureScreenshot", params)["data"].as_str().unwrap().to_owned()
    }
}
