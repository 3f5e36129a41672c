//! Files written by the other libraries are converted and compared record by record.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use parco_convert::{Event, Format, Record, Summary, convert};
use tempfile::TempDir;
use tightwire_parco::Decoder;

/// Encodes a record with one of the other libraries.
type Write = fn(&Record) -> Vec<u8>;

const FORMATS: [(Format, Write); 6] = [
    (Format::Bincode1, |record| bincode1::serialize(record).unwrap()),
    (Format::Bincode1, |record| bincode::encode_to_vec(record, bincode::config::legacy()).unwrap()),
    (Format::Bincode2, |record| bincode::encode_to_vec(record, bincode::config::standard()).unwrap()),
    (Format::Postcard, |record| postcard::to_stdvec(record).unwrap()),
    (Format::Borsh, |record| borsh::to_vec(record).unwrap()),
    (Format::RmpSerde, |record| rmp_serde::to_vec(record).unwrap()),
];

fn record(number: u64) -> Record {
    Record {
        id: number << (number % 60),
        at: 1_700_000_000_000 - 40_000 * number as i64,
        device: "x".repeat(number as usize % 7),
        labels: (0..number % 4).map(|label| format!("label {label} ü")).collect(),
        values: BTreeMap::from([("load".into(), number as f64 / 3.0), ("temperature".into(), -4.5)]),
        note: number.is_multiple_of(2).then(|| "checked".into()),
        event: match number % 3 {
            0 => Event::Started,
            1 => Event::Stopped(-(number as i32)),
            _ => Event::Updated { version: "2.1".into(), size: 70_000 },
        },
    }
}

/// A temporary folder with the file `in`, which is converted to `out`.
struct Folder(TempDir);

impl Folder {
    fn new(input: impl AsRef<[u8]>) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::write(folder.path("in"), input).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Converts the file. Returns the error as a text.
    fn convert(&self, format: Format) -> Result<Summary, String> {
        let converted = convert(format, &self.path("in"), &self.path("out"));
        converted.map_err(|error| {
            assert!(!self.path("out").exists() || error.to_string().ends_with("out exists"));
            format!("{error:#}")
        })
    }

    fn records(&self) -> Vec<Record> {
        let bytes = fs::read(self.path("out")).unwrap();
        let mut decoder = Decoder::new(&*bytes);
        std::iter::from_fn(|| decoder.decode().unwrap()).collect()
    }

    /// Returns the number of files, among them temporary ones.
    fn len(&self) -> usize {
        fs::read_dir(self.0.path()).unwrap().count()
    }
}

#[test]
fn every_format_is_converted() {
    let named: Write = |record| rmp_serde::to_vec_named(record).unwrap();
    for (format, write) in FORMATS.into_iter().chain([(Format::RmpSerde, named)]) {
        // The last string is longer than the buffers of readers.
        let mut records: Vec<Record> = (0..1000).map(record).collect();
        records.push(Record { device: "long".repeat(1 << 18), ..record(9) });
        let bytes: Vec<u8> = records.iter().flat_map(write).collect();
        let folder = Folder::new(&bytes);

        let summary = folder.convert(format).unwrap();
        assert_eq!((summary.records, summary.read), (1001, bytes.len() as u64), "{format:?}");
        assert_eq!(summary.written, fs::metadata(folder.path("out")).unwrap().len());
        assert!(folder.records() == records, "{format:?}");

        // An existing file is not replaced.
        assert!(folder.convert(format).unwrap_err().ends_with("out exists"));
        assert!(folder.records() == records);
    }
}

#[test]
fn nan_is_converted() {
    let mut nan = record(1);
    nan.values.insert("missing".into(), f64::NAN);
    let folder = Folder::new(bincode1::serialize(&nan).unwrap());
    assert_eq!(folder.convert(Format::Bincode1).unwrap().records, 1);
    assert!(folder.records()[0].values["missing"].is_nan());
}

#[test]
fn truncated_files_fail_and_leave_no_output() {
    for (format, write) in FORMATS {
        let first = write(&record(7));
        let bytes = [first.clone(), write(&record(8))].concat();
        for len in (1..bytes.len()).filter(|len| *len != first.len()) {
            let folder = Folder::new(&bytes[..len]);
            let error = folder.convert(format).unwrap_err();
            let at = if len < first.len() { (1, 0) } else { (2, first.len()) };
            let expected = format!("record {} at byte {} is invalid: ", at.0, at.1);
            assert!(error.starts_with(&expected), "{format:?} {len}: {error}");
            assert_eq!(folder.len(), 1);
        }
    }
}

#[test]
fn corrupt_files_fail_and_leave_no_output() {
    for (format, write) in FORMATS {
        let bytes = [write(&record(11)), write(&record(12))].concat();
        let mut failed = 0;
        for at in 0..bytes.len() {
            let mut corrupt = bytes.clone();
            corrupt[at] = 0xff;
            let folder = Folder::new(corrupt);
            // A changed number is a valid record.
            match folder.convert(format) {
                Ok(summary) => assert_eq!(folder.records().len() as u64, summary.records),
                Err(error) => {
                    assert!(error.contains(" is invalid: "), "{format:?} {at}: {error}");
                    assert_eq!(folder.len(), 1);
                    failed += 1;
                }
            }
        }
        assert!(failed > 20, "{format:?}: {failed} of {}", bytes.len());
    }
}

#[test]
fn large_records_fail() {
    let mut large = record(1);
    large.note = Some("x".repeat(parco_convert::MAX_RECORD));
    for (format, write) in FORMATS {
        let error = Folder::new(write(&large)).convert(format).unwrap_err();
        assert!(error.starts_with("record 1 at byte 0 is invalid"), "{format:?}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn the_output_has_the_permissions_of_the_input() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("");
    for mode in [0o644, 0o600, 0o400] {
        fs::set_permissions(folder.path("in"), fs::Permissions::from_mode(mode)).unwrap();
        folder.convert(Format::Borsh).unwrap();
        let output = folder.path("out");
        assert_eq!(fs::metadata(&output).unwrap().permissions().mode() & 0o777, mode);
        fs::remove_file(&output).unwrap();
    }
}

#[test]
fn the_program_reports_the_result() {
    let bytes: Vec<u8> = (0..3).flat_map(|number| bincode1::serialize(&record(number)).unwrap()).collect();
    let folder = Folder::new(&bytes);
    let run = |from: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_parco-convert"));
        program.args(["--from", from, "in", "out"]).current_dir(folder.0.path()).env_remove("RUST_BACKTRACE");
        let output = program.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    };
    let (success, _, error) = run("borsh");
    assert!(!success && error.starts_with("Error: record ") && folder.len() == 1, "{error}");
    let (success, text, error) = run("bincode1");
    assert!(success, "{error}");
    let (read, written) = (bytes.len(), fs::metadata(folder.path("out")).unwrap().len());
    assert_eq!(text, format!("3 records: {read} bytes read, {written} bytes written and verified\n"));
}
