//! Rows compared with PowerShell: a document of a thousand objects, and sessions with child process servers.

use std::env;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use psrp::Error;
use psrp::io::{Child, Options, Output};
use psrp::message::PowerShell;
use tokio::runtime::Runtime;

/// Returns the document of a list of objects, byte for byte as PowerShell 7.6.9 writes it for this script and 1,000 objects:
///
/// ```powershell
/// [System.Management.Automation.PSSerializer]::Serialize(@(foreach ($n in 1..1000) { [pscustomobject]@{
///     Id = $n; Name = "object $n"; When = [datetime]'2026-01-02T03:04:05Z'; Size = [long]($n * 1000); Ratio = [double]$n / 8
///     On = $true; Path = "C:\Program Files\Worker & Sons\object $n.log"; Owner = $null; Key = [guid]::Empty
///     Elapsed = [timespan]::FromSeconds($n); Tags = 'a', 'b', "tag $n" } }), 3)
/// ```
pub fn objects(count: u64) -> String {
    let mut document = String::from(
        "<Objs Version=\"1.1.0.1\" xmlns=\"http://schemas.microsoft.com/powershell/2004/04\">\n  <Obj RefId=\"0\">\n    <TN RefId=\"0\">\n      <T>System.Object[]</T>\n      <T>System.Array</T>\n      \
         <T>System.Object</T>\n    </TN>\n    <LST>\n",
    );
    for number in 1..=count {
        object(&mut document, number);
    }
    document.push_str("    </LST>\n  </Obj>\n</Objs>");
    document
}

fn object(out: &mut String, number: u64) {
    let id = 2 * number - 1;
    let types = match number {
        1 => {
            "<TN RefId=\"1\">\n          <T>System.Management.Automation.PSCustomObject</T>\n          \
             <T>System.Object</T>\n        </TN>"
        }
        _ => "<TNRef RefId=\"1\" />",
    };
    let elapsed = match (number / 60 % 60, number % 60) {
        (0, seconds) => format!("{seconds}S"),
        (minutes, 0) => format!("{minutes}M"),
        (minutes, seconds) => format!("{minutes}M{seconds}S"),
    };
    let _ = write!(
        out,
        "      <Obj RefId=\"{id}\">\n        {types}\n        <MS>\n          \
         <I32 N=\"Id\">{number}</I32>\n          \
         <S N=\"Name\">object {number}</S>\n          \
         <DT N=\"When\">2026-01-02T03:04:05+00:00</DT>\n          \
         <I64 N=\"Size\">{number}000</I64>\n          \
         <Db N=\"Ratio\">{ratio}</Db>\n          \
         <B N=\"On\">true</B>\n          \
         <S N=\"Path\">C:\\Program Files\\Worker &amp; Sons\\object {number}.log</S>\n          \
         <Nil N=\"Owner\" />\n          \
         <G N=\"Key\">00000000-0000-0000-0000-000000000000</G>\n          \
         <TS N=\"Elapsed\">PT{elapsed}</TS>\n          \
         <Obj N=\"Tags\" RefId=\"{tags}\">\n            <TNRef RefId=\"0\" />\n            <LST>\n              \
         <S>a</S>\n              <S>b</S>\n              <S>tag {number}</S>\n            </LST>\n          </Obj>\n        \
         </MS>\n      </Obj>\n",
        ratio = number as f64 / 8.0,
        tags = id + 1,
    );
}

/// Returns PowerShell's server if installed: the program named by `PSRP_TEST_PWSH`, or `pwsh` on the search path.
pub fn server() -> Option<Child> {
    let named = env::var_os("PSRP_TEST_PWSH").filter(|name| !name.is_empty());
    let found = || {
        let folders = env::var_os("PATH")?;
        env::split_paths(&folders).map(|folder| folder.join("pwsh")).find(|file| file.is_file())
    };
    let program = named.or_else(|| found().map(PathBuf::into_os_string));
    program.map(|program: OsString| Child::new(program).args(["-s", "-NoLogo", "-NoProfile"]))
}

/// A session with a child process server.
#[derive(Debug)]
pub struct Session {
    runtime: Runtime,
    pool: psrp::io::Session,
}

impl Session {
    /// Starts the server and opens a session.
    pub fn open(server: &Child) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let pool = runtime.block_on(psrp::io::Session::open(server, Options::new()))?;
        Ok(Self { runtime, pool })
    }

    /// Runs a pipeline that writes the numbers from one to `count`, and returns their sum.
    pub fn receive(&self, count: u32) -> Result<u64, Error> {
        let script = PowerShell::script(format!("1..{count}"));
        self.runtime.block_on(self.pool.invoke(script)).and_then(sum)
    }

    /// Runs a pipeline that outputs its input, the numbers from one to `count`, and returns their sum.
    pub fn send(&self, count: u32) -> Result<u64, Error> {
        let script = PowerShell::script("$input");
        self.runtime.block_on(self.pool.invoke_with_input(script, 1..=i64::from(count))).and_then(sum)
    }
}

fn sum(output: Output) -> Result<u64, Error> {
    let values = output.completed()?.output;
    Ok(values.iter().map(|value| value.as_i64().and_then(|number| number.try_into().ok()).unwrap_or(0)).sum())
}

#[cfg(test)]
mod tests {
    use psrp::Value;
    use psrp::clixml::{Writer, from_slice};

    use super::*;

    #[test]
    fn objects_decode_to_the_intended_values() {
        let document = objects(1000);
        assert_eq!(document.len(), 719_910);
        let value = from_slice(document.as_bytes()).unwrap();
        let objects = value.items().unwrap();
        assert_eq!(objects.len(), 1000);
        let last = &objects[999];
        assert_eq!(last["Ratio"], Value::Double(125.0));
        assert_eq!(last["Path"], "C:\\Program Files\\Worker & Sons\\object 1000.log");
        assert_eq!(last["Tags"].items().map(|tags| tags[2].clone()), Some("tag 1000".into()));
        // Apart from indentation, the writer produces the same document.
        let written = Writer::new().write_document([(None, &value)]).unwrap().to_vec();
        let compact: String = document.lines().map(str::trim_start).collect();
        assert_eq!(String::from_utf8(written).unwrap(), compact);
    }
}
