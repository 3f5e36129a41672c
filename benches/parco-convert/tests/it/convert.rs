//! Files written by the other libraries are converted and compared record by record.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use parco_convert::{Event, Format, Record, convert};
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

/// Decodes a converted file.
fn decode(path: &Path) -> Vec<Record> {
    let bytes = fs::read(path).unwrap();
    let mut decoder = Decoder::new(&*bytes);
    std::iter::from_fn(|| decoder.decode().unwrap()).collect()
}

/// Returns the names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn every_format_is_converted() {
    let named: Write = |record| rmp_serde::to_vec_named(record).unwrap();
    for (format, write) in FORMATS.into_iter().chain([(Format::RmpSerde, named)]) {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        // The last string is longer than the buffers of readers.
        let mut records: Vec<Record> = (0..1000).map(record).collect();
        records.push(Record { device: "long".repeat(1 << 18), ..record(9) });
        let bytes: Vec<u8> = records.iter().flat_map(write).collect();
        fs::write(&input, &bytes).unwrap();

        let summary = convert(format, &input, &output).unwrap();
        assert_eq!((summary.records, summary.read), (1001, bytes.len() as u64), "{format:?}");
        assert_eq!(summary.written, fs::metadata(&output).unwrap().len());
        assert!(decode(&output) == records, "{format:?}");

        // An existing file is not replaced.
        let error = convert(format, &input, &output).unwrap_err();
        assert!(error.to_string().ends_with("out exists"), "{error}");
        assert!(decode(&output) == records);
    }
}

#[test]
fn nan_is_converted() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let mut nan = record(1);
    nan.values.insert("missing".into(), f64::NAN);
    fs::write(&input, bincode1::serialize(&nan).unwrap()).unwrap();
    assert_eq!(convert(Format::Bincode1, &input, &output).unwrap().records, 1);
    assert!(decode(&output)[0].values["missing"].is_nan());
}

#[test]
fn truncated_files_fail_and_leave_no_output() {
    for (format, write) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        let first = write(&record(7));
        let bytes = [first.clone(), write(&record(8))].concat();
        for len in (1..bytes.len()).filter(|len| *len != first.len()) {
            fs::write(&input, &bytes[..len]).unwrap();
            let error = format!("{:#}", convert(format, &input, &output).unwrap_err());
            let at = if len < first.len() { (1, 0) } else { (2, first.len()) };
            let expected = format!("record {} at byte {} is invalid: ", at.0, at.1);
            assert!(error.starts_with(&expected), "{format:?} {len}: {error}");
            assert_eq!(files(folder.path()), ["in"]);
        }
    }
}

#[test]
fn corrupt_files_fail_and_leave_no_output() {
    for (format, write) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        let bytes = [write(&record(11)), write(&record(12))].concat();
        let mut failed = 0;
        for at in 0..bytes.len() {
            let mut corrupt = bytes.clone();
            corrupt[at] = 0xff;
            fs::write(&input, &corrupt).unwrap();
            // A changed number is a valid record.
            match convert(format, &input, &output) {
                Ok(summary) => {
                    assert_eq!(decode(&output).len() as u64, summary.records);
                    fs::remove_file(&output).unwrap();
                }
                Err(error) => {
                    let error = format!("{error:#}");
                    assert!(error.contains(" is invalid: "), "{format:?} {at}: {error}");
                    failed += 1;
                }
            }
            assert_eq!(files(folder.path()), ["in"]);
        }
        assert!(failed > 20, "{format:?}: {failed} of {}", bytes.len());
    }
}

#[test]
fn large_records_fail() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    let mut large = record(1);
    large.note = Some("x".repeat(parco_convert::MAX_RECORD));
    for (format, write) in FORMATS {
        fs::write(&input, write(&large)).unwrap();
        let error = convert(format, &input, &output).unwrap_err();
        assert!(error.to_string().starts_with("record 1 at byte 0 is invalid"), "{format:?}: {error:#}");
        assert!(!output.exists());
    }
}

#[cfg(unix)]
#[test]
fn the_output_has_the_permissions_of_the_input() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    fs::write(&input, b"").unwrap();
    for mode in [0o644, 0o600, 0o400] {
        File::open(&input).unwrap().set_permissions(fs::Permissions::from_mode(mode)).unwrap();
        convert(Format::Borsh, &input, &output).unwrap();
        assert_eq!(fs::metadata(&output).unwrap().permissions().mode() & 0o777, mode);
        fs::remove_file(&output).unwrap();
    }
}

#[test]
fn the_program_reports_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..3).flat_map(|number| bincode1::serialize(&record(number)).unwrap()).collect();
    fs::write(folder.path().join("old"), &bytes).unwrap();
    let run = |from: &str| {
        let program = env!("CARGO_BIN_EXE_parco-convert");
        let output = Command::new(program)
            .args(["--from", from, "old", "new"])
            .current_dir(folder.path())
            .env_remove("RUST_BACKTRACE")
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    };
    let (success, _, error) = run("borsh");
    assert!(!success && error.starts_with("Error: record ") && files(folder.path()) == ["old"], "{error}");
    let (success, text, error) = run("bincode1");
    let written = fs::metadata(folder.path().join("new")).unwrap().len();
    let read = bytes.len();
    assert!(success, "{error}");
    assert_eq!(text, format!("3 records: {read} bytes read, {written} bytes written and verified\n"));
}
