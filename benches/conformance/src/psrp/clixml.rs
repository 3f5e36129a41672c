//! Values and CLIXML documents.

use std::sync::Arc;

use anyhow::{bail, ensure};
use psrp::clixml::{ReadOptions, Reader, WriteOptions, Writer};
use psrp::crypto::SessionKey;
use psrp::{Error, Value};
use serde_json::Value as Json;

use super::vectors::{DecodeCase, ValueCase};

/// The key of all encrypted strings in these files.
fn cipher() -> Result<Arc<SessionKey>, Error> {
    SessionKey::from_bytes(std::array::from_fn(|index| index as u8)).map(Arc::new)
}

fn read(xml: &str) -> Result<Vec<Value>, Error> {
    let options = ReadOptions::new().cipher(cipher()?);
    Reader::with_options(xml.as_bytes(), options).map(|item| item.map(|(_, value)| value)).collect()
}

/// Checks that the value is written as the reference, and the reference is read as the value.
pub(super) fn value(case: &Json) -> anyhow::Result<()> {
    let case = ValueCase::new(case);
    let mut writer = Writer::with_options(WriteOptions::new().cipher(cipher()?));
    let written = str::from_utf8(writer.write(&case.value)?)?;
    ensure!(written == case.written(), "wrote {written}");
    let values = read(&case.reference)?;
    ensure!(values == [case.value], "read {values:?}");
    Ok(())
}

/// Checks that the document yields its values, or an error with a position.
pub(super) fn document(tree: &Json) -> anyhow::Result<()> {
    let case = DecodeCase::new(tree);
    match (case.expect.as_str(), read(&case.xml)) {
        ("accept", Ok(values)) => match case.values {
            Some(expected) => ensure!(values == expected, "read {values:?}"),
            None => ensure!(!values.is_empty(), "read nothing"),
        },
        ("reject" | "accept_bounded", Err(error)) => {
            ensure!(error.offset().is_some(), "an error without a place: {error}");
        }
        ("accept_bounded", Ok(values)) => ensure!(values.len() == 1, "read {} values", values.len()),
        // PowerShell accepts it, so a reader may as well.
        ("reject", Ok(_)) if tree["lenient_ok"] == true => {}
        ("reject", Ok(values)) => bail!("read {values:?}"),
        (_, Err(error)) => return Err(error.into()),
        (expect, Ok(_)) => bail!("unknown expectation {expect}"),
    }
    Ok(())
}
