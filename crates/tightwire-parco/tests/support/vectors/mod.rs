//! Runs the cases of a file in the format of `tests/data/parco-vectors.json`.
//!
//! Every case runs with a run-time schema: to vectors and slices, from slices and streams. If `wire_types` has static
//! wire types, derived types or builder schemas of the same schema, a case with bytes runs with them as well, and all
//! must have the same outcome. Where strict decoding differs from the Go library on purpose, a rule states the
//! expected outcome, and the report counts the cases by rule.

/// Fails a case unless a condition holds.
macro_rules! expect {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(format!($($text)+).into());
        }
    };
}

mod wire_types;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tightwire_parco::schema::{Dynamic, Schema, SchemaError, Value, Variant};
use tightwire_parco::{Decoder, Error, Limits, Mode, Options, Timestamp, WireExt as _};

/// Results of a file.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Number of cases that passed.
    pub(crate) passed: usize,
    /// Number of passed cases that also ran with a static wire type.
    pub(crate) with_static_form: usize,
    /// Ids of the failed cases, each with the reason.
    pub(crate) failures: Vec<(String, String)>,
    /// Number of cases that passed by a rule instead of matching the Go library.
    pub(crate) rules: BTreeMap<&'static str, usize>,
}

/// Why a case failed.
type Problem = Box<dyn std::error::Error>;

/// The rule by which a case passed, if any.
type Outcome = Result<Option<&'static str>, Problem>;

/// Check of a case of a list.
type Check = fn(&Case<'_>) -> Outcome;

const SILENT_WRAP: &str = "a count that wraps silently in Go is an overflow";
const INVALID_FLAG: &str = "a flag byte above 1 is an error unless decoding is lenient";
const MISSING_ZONE: &str = "a time without a zone is preserved unless decoding is lenient";
const UNKNOWN_ZONE: &str = "zone names are not looked up while decoding";
const PARTIAL_MODEL: &str = "a truncated message is an error, not a partial model";

/// Runs all lists of a file.
///
/// # Errors
///
/// Fails if the text is not JSON or has none of the lists.
pub(crate) fn run(text: &str) -> Result<Report, Problem> {
    let file: Json = serde_json::from_str(text)?;
    let lists: [(&str, Check); 6] = [
        ("roundtrip", round_trip),
        ("decode_only", decode_only),
        ("encode_errors", encode_error),
        ("decode_errors", decode_error),
        ("model_decode_truncation", truncation),
        ("streams", stream),
    ];
    let mut report = Report::default();
    let mut found = 0;
    for (name, examine) in lists {
        for (index, case) in file[name].as_array().into_iter().flatten().enumerate() {
            found += 1;
            let id = case["id"].as_str().map_or_else(|| format!("{name}[{index}]"), str::to_owned);
            match Case::new(case).and_then(|case| examine(&case).map(|rule| (rule, case.has_static_form()))) {
                Ok((rule, is_static)) => {
                    report.passed += 1;
                    report.with_static_form += usize::from(is_static);
                    if let Some(rule) = rule {
                        *report.rules.entry(rule).or_default() += 1;
                    }
                }
                Err(problem) => report.failures.push((id, problem.to_string())),
            }
        }
    }
    if found == 0 {
        return Err("the file has no cases".into());
    }
    Ok(report)
}

/// A case of any list; each list has its own keys.
struct Case<'a> {
    json: &'a Json,
    schema: Schema,
    wire: Dynamic,
}

impl<'a> Case<'a> {
    fn new(json: &'a Json) -> Result<Self, Problem> {
        let schema = Schema::from_json(&json["schema"].to_string())?;
        expect!(
            Schema::from_json(&schema.to_json())? == schema,
            "the schema as JSON is {}",
            schema.to_json()
        );
        let wire = schema.compile()?;
        Ok(Self { json, schema, wire })
    }

    fn has_static_form(&self) -> bool {
        wire_types::find(&self.schema).next().is_some()
    }

    fn text(&self, name: &str) -> Result<&'a str, Problem> {
        self.json[name].as_str().ok_or_else(|| format!("no key {name}").into())
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, Problem> {
        unhex(self.text(name)?)
    }

    fn number(&self, name: &str) -> Option<usize> {
        usize::try_from(self.json[name].as_u64()?).ok()
    }

    fn value(&self) -> Result<Value, SchemaError> {
        self.value_of(&self.json["value"])
    }

    fn value_of(&self, json: &Json) -> Result<Value, SchemaError> {
        let mut json = json.clone();
        expand(&self.schema, &mut json);
        self.wire.value_from_json(&json.to_string())
    }

    /// Decodes in every way, compares the results, and returns the outcome with the number of bytes used.
    fn decode(&self, options: Options, bytes: &[u8]) -> Result<Result<(Value, usize), Error>, Problem> {
        let outcome = self.wire.decode_with::<Value>(options, bytes);
        let outcome = outcome.map(|(value, rest)| (value, bytes.len() - rest.len()));
        let streamed = Decoder::with_options(bytes, options).decode_as::<_, Value>(&self.wire);
        match (&outcome, &streamed) {
            (Ok((value, _)), Ok(Some(streamed))) => {
                expect!(value == streamed, "a stream gives another value")
            }
            // An empty stream has ended between values.
            (Ok((_, 0)), Ok(None)) => {}
            (Err(error), Ok(None)) => expect!(error.is_unexpected_end() && bytes.is_empty(), "a stream ends"),
            (Err(error), Err(streamed)) => {
                expect!(same_kind(error, streamed), "{error}; in a stream {streamed}")
            }
            _ => return Err(format!("{outcome:?}; in a stream {streamed:?}").into()),
        }
        for wire in wire_types::find(&self.schema) {
            wire.agrees(&self.wire, options, bytes, &outcome)?;
        }
        Ok(outcome)
    }

    /// Checks that a value encodes to these bytes with every encoder.
    fn encodes(&self, value: &Value, expected: &[u8]) -> Result<(), Problem> {
        let bytes = self.wire.to_vec(value)?;
        expect!(bytes == expected, "encoded {bytes:02x?}, expected {expected:02x?}");
        expect!(self.wire.encoded_len(value)? == expected.len(), "the length is not {}", expected.len());
        let mut room = vec![0xaa; expected.len()];
        expect!(self.wire.encode_to_slice(value, &mut room)? == room.len(), "a slice is not filled");
        expect!(room == expected, "a slice has other bytes");
        if let Some((_, room)) = room.split_last_mut() {
            let refused = self.wire.encode_to_slice(value, room).is_err_and(|error| error.is_buffer_full());
            expect!(refused, "a slice that is too short is taken");
        }
        for wire in wire_types::find(&self.schema) {
            wire.encodes(expected, self.json["unordered"] == true)?;
        }
        Ok(())
    }

    /// Checks that the first bytes of a slice decode to a value.
    fn decodes(&self, options: Options, bytes: &[u8], expected: &Value, used: usize) -> Result<(), Problem> {
        let (value, found) = self.decode(options, bytes)??;
        expect!(value == *expected, "decoded {value:?}, expected {expected:?}");
        expect!(found == used, "used {found} bytes, expected {used}");
        Ok(())
    }
}

/// Expands `{"repeat": X, "count": N}` in place of a string or list to N times X, and `{"count": N}` in place of a map to
/// the keys 0 to N - 1, each with the value 0. The schema tells them from a struct with such fields.
fn expand(schema: &Schema, json: &mut Json) {
    let count = json.get("count").and_then(Json::as_u64).map(|count| count as usize);
    match schema {
        Schema::String { .. } | Schema::Blob { .. } => {
            if let (Some(count), Some(unit)) = (count, json["repeat"].as_str()) {
                *json = unit.repeat(count).into();
            }
        }
        Schema::Slice { element, .. } | Schema::Array { element, .. } => {
            if let Some(count) = count {
                *json = vec![json["repeat"].take(); count].into();
            }
            json.as_array_mut().into_iter().flatten().for_each(|json| expand(element, json));
        }
        Schema::Map { key, value, .. } => {
            if let Some(count) = count {
                *json = (0..count).map(|key| vec![key, 0]).collect();
            }
            for entry in json.as_array_mut().into_iter().flatten() {
                if let Some([a_key, a_value]) = entry.as_array_mut().map(Vec::as_mut_slice) {
                    expand(key, a_key);
                    expand(value, a_value);
                }
            }
        }
        Schema::Option(inner) => json.get_mut("some").into_iter().for_each(|json| expand(inner, json)),
        Schema::Struct(fields) | Schema::Evolve { fields, .. } => {
            for (name, field) in fields {
                json.get_mut(name).into_iter().for_each(|json| expand(field, json));
            }
        }
        Schema::Multi { models, .. } => {
            if let Some([id, json]) = json.as_array_mut().map(Vec::as_mut_slice) {
                let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
                models.iter().filter(|model| model.id == id).for_each(|model| expand(&model.schema, json));
            }
        }
        _ => {}
    }
}

/// Limits that reject what exceeds those of the Go library.
fn strict() -> Options {
    Options::new().limits(Limits::new().max_bytes(100 << 20).max_elements(10_000_000))
}

fn lenient() -> Options {
    strict().mode(Mode::Compat)
}

fn round_trip(case: &Case<'_>) -> Outcome {
    let (value, bytes) = (case.value()?, case.bytes("hex")?);
    expect!(case.number("len") == Some(bytes.len()), "the case says another length");
    case.encodes(&value, &bytes)?;
    case.decodes(strict(), &bytes, &value, bytes.len())?;
    case.decodes(lenient(), &bytes, &value, bytes.len())?;
    let followed = [&*bytes, &[0xff]].concat();
    case.decodes(strict(), &followed, &value, bytes.len())?;
    let trailing = case.wire.decode_exact::<Value>(&followed);
    expect!(trailing.is_err_and(|error| error.is_trailing_bytes()), "bytes behind the value are taken");

    // Long messages are repetitive; the step is not a multiple of the sizes of their parts.
    for len in (0..bytes.len()).step_by(1 + bytes.len() / 1000 * 6) {
        match case.decode(strict(), &bytes[..len])? {
            Err(error) if error.is_unexpected_end() => {
                expect!(error.missing() > Some(0), "nothing is missing after {len} bytes");
            }
            other => return Err(format!("the first {len} bytes give {other:?}").into()),
        }
    }
    let text = case.wire.value_to_json(&value)?;
    expect!(case.wire.value_from_json(&text)? == value, "as JSON it is {text}");
    Ok(None)
}

fn decode_only(case: &Case<'_>) -> Outcome {
    let (bytes, canonical) = (case.bytes("hex")?, case.bytes("canonical_hex")?);
    let used = case.number("consumed").unwrap_or(bytes.len());
    let located = case.schema == Schema::TimeLocation;
    let value = if located && case.json["value"].get("zone").is_none() {
        Value::TimeLocation { unix_nanos: Timestamp::GO_ZERO.as_nanos(), zone: "UTC".into() }
    } else {
        case.value()?
    };
    case.decodes(lenient(), &bytes, &value, used)?;
    case.encodes(&value, &canonical)?;

    let flag = match case.schema {
        Schema::Bool | Schema::Option(_) => bytes.first(),
        Schema::TimeLocation => bytes.get(8),
        _ => None,
    };
    if flag > Some(&1) {
        let refused = case.decode(strict(), &bytes)?.is_err_and(|error| error.is_invalid_bool());
        expect!(refused, "strict decoding takes the flag");
        return Ok(Some(INVALID_FLAG));
    }
    if located && flag == Some(&0) {
        let instant = bytes.first_chunk().map(|bytes| i64::from_le_bytes(*bytes)).unwrap_or_default();
        let kept = Value::TimeLocation { unix_nanos: instant, zone: "UTC".into() };
        case.decodes(strict(), &bytes, &kept, used)?;
        return Ok(Some(MISSING_ZONE));
    }
    match case.decode(strict(), &bytes)? {
        // The flag is nested.
        Err(error) if error.is_invalid_bool() => Ok(Some(INVALID_FLAG)),
        _ => case.decodes(strict(), &bytes, &value, used).map(|()| None),
    }
}

fn encode_error(case: &Case<'_>) -> Outcome {
    let expected = case.text("error")?;
    if case.json["phase"] == "register" {
        let Schema::Multi { header, mut models } = case.schema.clone() else {
            return Err("nothing can be registered".into());
        };
        let id = case.json["value"].as_str().map_or_else(|| case.json["value"].to_string(), str::to_owned);
        models.push(Variant { id, name: String::new(), schema: Schema::Struct(Vec::new()) });
        let refused = Schema::Multi { header, models }.compile().is_err_and(|error| error.is_duplicate());
        expect!(refused && expected == "already_registered", "two models have one id");
        return Ok(None);
    }
    let value = match case.value() {
        Ok(value) => value,
        Err(error) => {
            let expected = match expected {
                "unknown_type" => error.is_unknown_id() || error.is_mismatch(),
                "overflow" => error.is_out_of_range(),
                _ => false,
            };
            expect!(expected, "reading the value: {error}");
            return Ok(None);
        }
    };
    let mut buffer = vec![0xaa];
    let Err(error) = case.wire.encode(&value, &mut buffer) else {
        return Err("encoding succeeds".into());
    };
    expect!(buffer == [0xaa], "a part of the message is left in the buffer");
    expect!(case.wire.encoded_len(&value).is_err_and(|len| same_kind(&len, &error)), "its length is known");
    // Without an error name, the Go library reports no error.
    let rule = expected.is_empty().then_some(SILENT_WRAP);
    expect!(is_named(&error, if rule.is_some() { "overflow" } else { expected }), "{error}");
    Ok(rule)
}

fn decode_error(case: &Case<'_>) -> Outcome {
    let (bytes, expected) = (case.bytes("hex")?, case.text("error")?);
    let used = case.number("consumed").unwrap_or(bytes.len());
    // The elements have one byte, and count as bytes.
    let is_bytes = case.json["id"] == "slice-10000001";
    let limits = Limits::new().max_bytes(10_000_000);
    let options = if is_bytes { strict().limits(limits) } else { strict() };
    let outcome = case.decode(options, &bytes)?;
    if expected.starts_with("other: unknown time zone") {
        let (value, found) = outcome?;
        let zone = expected.rsplit(' ').next();
        let is_kept = matches!(&value, Value::TimeLocation { zone: name, .. } if Some(&**name) == zone);
        expect!(is_kept && found == used, "decoded {value:?} from {found} bytes");
        return Ok(Some(UNKNOWN_ZONE));
    }
    let Err(error) = outcome else { return Err("decoding succeeds".into()) };
    expect!(is_named(&error, expected), "{error}");
    let offset = error.offset().unwrap_or(usize::MAX);
    // The Go library consumes the invalid header or id, and the available part of a truncated value. Here the offset is
    // the start of the header, id or value.
    expect!(offset <= used, "the error is at byte {offset}");
    expect!(!error.is_unexpected_end() || used == bytes.len(), "the input ends behind byte {used}");
    let again = case.decode(if is_bytes { lenient().limits(limits) } else { lenient() }, &bytes)?;
    expect!(again.is_err_and(|again| same_kind(&again, &error)), "lenient decoding differs");
    Ok(None)
}

fn truncation(case: &Case<'_>) -> Outcome {
    let bytes = case.bytes("hex")?;
    match case.decode(strict(), &bytes)? {
        Ok((_, used)) => {
            expect!(
                case.json["complete"] == true && used == bytes.len(),
                "the message is taken for complete"
            );
            Ok(None)
        }
        Err(error) => {
            expect!(case.json["complete"] != true && error.is_unexpected_end(), "{error}");
            expect!(case.decode(lenient(), &bytes)?.is_err(), "lenient decoding takes it");
            Ok(Some(PARTIAL_MODEL))
        }
    }
}

fn stream(case: &Case<'_>) -> Outcome {
    let bytes = case.bytes("hex")?;
    let values = case.json["values"].as_array().ok_or("no values")?;
    let mut decoder = Decoder::with_options(&*bytes, strict());
    let (mut rest, mut lengths) = (&*bytes, Vec::new());
    for value in values {
        let value = case.value_of(value)?;
        let len = case.wire.encoded_len(&value)?;
        expect!(len <= rest.len(), "the frames are too long");
        case.decodes(strict(), rest, &value, len)?;
        case.encodes(&value, &rest[..len])?;
        expect!(decoder.decode_as::<_, Value>(&case.wire)? == Some(value), "a stream gives another value");
        lengths.push(len);
        rest = &rest[len..];
    }
    expect!(rest.is_empty() && decoder.decode_as::<_, Value>(&case.wire)?.is_none(), "bytes are left");
    if let Some(expected) = case.json["frame_lengths"].as_array() {
        let is_equal = lengths.iter().map(|len| Json::from(*len)).eq(expected.iter().cloned());
        expect!(is_equal, "the frames have {lengths:?} bytes");
    }
    Ok(None)
}

/// Returns whether an error has this name in the file.
fn is_named(error: &Error, name: &str) -> bool {
    match name {
        "overflow" => error.is_overflow() || error.is_limit(),
        "cannot_read" => error.is_unexpected_end(),
        "invalid_length" => error.is_invalid_length(),
        "unknown_type" => error.is_unknown_type(),
        _ => false,
    }
}

fn same_kind(one: &Error, other: &Error) -> bool {
    let kinds = |error: &Error| {
        [
            error.is_unexpected_end(),
            error.is_overflow(),
            error.is_limit(),
            error.is_invalid_bool(),
            error.is_invalid_utf8(),
            error.is_invalid_length(),
            error.is_unknown_type(),
        ]
    };
    kinds(one) == kinds(other)
}

fn unhex(digits: &str) -> Result<Vec<u8>, Problem> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else {
        return Err("odd number of hexadecimal digits".into());
    };
    pairs.iter().map(|pair| Ok(u8::from_str_radix(str::from_utf8(pair)?, 16)?)).collect()
}
