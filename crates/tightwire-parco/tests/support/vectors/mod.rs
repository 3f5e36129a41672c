//! The cases of a file in the format of `tests/data/parco-vectors.json`, and what they say about this crate.
//!
//! Every case runs through a schema that is data: into vectors and slices, from slices and streams. Where the crate has
//! a static form or a derived type of the same schema in `forms`, it runs through that as well, and the two have to
//! agree on every outcome. Where strict decoding differs from the original on purpose, a rule says what is expected
//! instead, and the report counts the cases by rule.

/// Fails a case unless a condition holds.
macro_rules! expect {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(format!($($text)+).into());
        }
    };
}

mod forms;

use std::collections::BTreeMap;

use tightwire_parco::schema::{Dynamic, Schema, SchemaError, Value};
use tightwire_parco::{Decoder, Error, Mode, Options, Timestamp, WireExt as _};
use serde_json::Value as Json;

/// What became of a file.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// How many cases did what they say.
    pub(crate) passed: usize,
    /// How many of them went through a static form as well.
    pub(crate) with_static_form: usize,
    /// The ids of the others, each with what was wrong.
    pub(crate) failures: Vec<(String, String)>,
    /// How many cases passed by a rule rather than by doing what the original does.
    pub(crate) rules: BTreeMap<&'static str, usize>,
}

/// Why a case did not do as it says.
type Problem = Box<dyn std::error::Error>;

/// Nothing, or the rule by which a case passed.
type Outcome = Result<Option<&'static str>, Problem>;

/// What the cases of a list go through.
type Examine = fn(&Case<'_>) -> Outcome;

const SILENT_WRAP: &str = "a count that wraps silently in the original is an overflow";
const REFUSED_FLAG: &str = "a flag byte above 1 is an error unless decoding is lenient";
const KEPT_INSTANT: &str = "a located time without a zone keeps its instant unless decoding is lenient";
const KEPT_ZONE: &str = "the name of a zone is not looked up while decoding";
const PARTIAL_MODEL: &str = "a message that ends early is an error instead of a partly filled model";

/// Runs all lists of a file.
///
/// # Errors
///
/// Fails if invalid JSON or has none of the lists.
pub(crate) fn run(text: &str) -> Result<Report, Problem> {
    let file: Json = serde_json::from_str(text)?;
    let lists: [(&str, Examine); 6] = [
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

/// One case of any list; each list has its own members.
struct Case<'a> {
    json: &'a Json,
    schema: Schema,
    form: Dynamic,
}

impl<'a> Case<'a> {
    fn new(json: &'a Json) -> Result<Self, Problem> {
        let schema = Schema::from_json(&json["schema"].to_string())?;
        expect!(
            Schema::from_json(&schema.to_json())? == schema,
            "the schema as JSON is {}",
            schema.to_json()
        );
        let form = schema.compile()?;
        Ok(Self { json, schema, form })
    }

    fn has_static_form(&self) -> bool {
        forms::find(&self.schema).is_some()
    }

    fn text(&self, name: &str) -> Result<&'a str, Problem> {
        self.json[name].as_str().ok_or_else(|| format!("no member {name}").into())
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, Problem> {
        unhex(self.text(name)?)
    }

    fn number(&self, name: &str) -> Option<usize> {
        usize::try_from(self.json[name].as_u64()?).ok()
    }

    fn value(&self) -> Result<Value, SchemaError> {
        self.form.value_from_json(&self.json["value"].to_string())
    }

    /// Decodes in all ways, which have to agree, and gives the outcome with the number of bytes used.
    fn decode(&self, options: Options, bytes: &[u8]) -> Result<Result<(Value, usize), Error>, Problem> {
        let outcome = self.form.decode_with::<Value>(options, bytes);
        let outcome = outcome.map(|(value, rest)| (value, bytes.len() - rest.len()));
        let streamed = Decoder::with_options(bytes, options).decode_as::<_, Value>(&self.form);
        match (&outcome, &streamed) {
            (Ok((value, _)), Ok(Some(streamed))) => {
                expect!(value == streamed, "a stream gives another value")
            }
            // A stream that is empty has ended between values.
            (Ok((_, 0)), Ok(None)) => {}
            (Err(error), Ok(None)) => expect!(error.is_unexpected_end() && bytes.is_empty(), "a stream ends"),
            (Err(error), Err(streamed)) => {
                expect!(same_kind(error, streamed), "{error}; in a stream {streamed}")
            }
            _ => return Err(format!("{outcome:?}; in a stream {streamed:?}").into()),
        }
        if let Some(form) = forms::find(&self.schema) {
            form.agrees(options, bytes, &outcome)?;
        }
        Ok(outcome)
    }

    /// Checks that a value is written as these bytes, in all ways.
    fn encodes(&self, value: &Value, expected: &[u8]) -> Result<(), Problem> {
        let bytes = self.form.to_vec(value)?;
        expect!(bytes == expected, "encoded {bytes:02x?}, expected {expected:02x?}");
        expect!(self.form.encoded_len(value)? == expected.len(), "the length is not {}", expected.len());
        let mut room = vec![0xaa; expected.len()];
        expect!(self.form.encode_to_slice(value, &mut room)? == room.len(), "a slice is not filled");
        expect!(room == expected, "a slice has other bytes");
        if let Some((_, room)) = room.split_last_mut() {
            let refused = self.form.encode_to_slice(value, room).is_err_and(|error| error.is_buffer_full());
            expect!(refused, "a slice that is too short is taken");
        }
        if let Some(form) = forms::find(&self.schema) {
            form.encodes(value, expected, self.json["unordered"] == true)?;
        }
        Ok(())
    }

    /// Checks that the first bytes of a slice are read as a value.
    fn decodes(&self, options: Options, bytes: &[u8], expected: &Value, used: usize) -> Result<(), Problem> {
        let (value, found) = self.decode(options, bytes)??;
        expect!(value == *expected, "decoded {value:?}, expected {expected:?}");
        expect!(found == used, "used {found} bytes, expected {used}");
        Ok(())
    }
}

fn strict() -> Options {
    Options::new()
}

fn lenient() -> Options {
    Options::new().mode(Mode::Compat)
}

fn round_trip(case: &Case<'_>) -> Outcome {
    let (value, bytes) = (case.value()?, case.bytes("hex")?);
    expect!(case.number("len") == Some(bytes.len()), "the case says another length");
    case.encodes(&value, &bytes)?;
    case.decodes(strict(), &bytes, &value, bytes.len())?;
    case.decodes(lenient(), &bytes, &value, bytes.len())?;
    let followed = [&*bytes, &[0xff]].concat();
    case.decodes(strict(), &followed, &value, bytes.len())?;
    let trailing = case.form.decode_exact::<Value>(&followed);
    expect!(trailing.is_err_and(|error| error.is_trailing_bytes()), "bytes behind the value are taken");

    // Long messages repeat themselves; the step is no multiple of the sizes of their parts.
    for len in (0..bytes.len()).step_by(1 + bytes.len() / 1000 * 6) {
        match case.decode(strict(), &bytes[..len])? {
            Err(error) if error.is_unexpected_end() => {
                expect!(error.missing() > Some(0), "nothing is missing after {len} bytes");
            }
            other => return Err(format!("the first {len} bytes give {other:?}").into()),
        }
    }
    let text = case.form.value_to_json(&value)?;
    expect!(case.form.value_from_json(&text)? == value, "as JSON it is {text}");
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
        return Ok(Some(REFUSED_FLAG));
    }
    if located && flag == Some(&0) {
        let instant = bytes.first_chunk().map(|bytes| i64::from_le_bytes(*bytes)).unwrap_or_default();
        let kept = Value::TimeLocation { unix_nanos: instant, zone: "UTC".into() };
        case.decodes(strict(), &bytes, &kept, used)?;
        return Ok(Some(KEPT_INSTANT));
    }
    match case.decode(strict(), &bytes)? {
        // The flag is further in.
        Err(error) if error.is_invalid_bool() => Ok(Some(REFUSED_FLAG)),
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
        models.push((id, Schema::Struct(Vec::new())));
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
    let Err(error) = case.form.encode(&value, &mut buffer) else {
        return Err("it is encoded".into());
    };
    expect!(buffer == [0xaa], "a part of the message is left in the buffer");
    expect!(case.form.encoded_len(&value).is_err_and(|len| same_kind(&len, &error)), "its length is known");
    if let Some(form) = forms::find(&case.schema) {
        form.refuses(&value, &error)?;
    }
    // The original notices nothing where no error is named.
    let rule = expected.is_empty().then_some(SILENT_WRAP);
    expect!(is_named(&error, if rule.is_some() { "overflow" } else { expected }), "{error}");
    Ok(rule)
}

fn decode_error(case: &Case<'_>) -> Outcome {
    let (bytes, expected) = (case.bytes("hex")?, case.text("error")?);
    let used = case.number("consumed").unwrap_or(bytes.len());
    let outcome = case.decode(strict(), &bytes)?;
    if expected.starts_with("other: unknown time zone") {
        let (value, found) = outcome?;
        let zone = expected.rsplit(' ').next();
        let is_kept = matches!(&value, Value::TimeLocation { zone: name, .. } if Some(&**name) == zone);
        expect!(is_kept && found == used, "decoded {value:?} from {found} bytes");
        return Ok(Some(KEPT_ZONE));
    }
    let Err(error) = outcome else { return Err("it is decoded".into()) };
    expect!(is_named(&error, expected), "{error}");
    let offset = error.offset().unwrap_or(usize::MAX);
    // The original uses up the header or id that is wrong, and what is there of a value that is not all there. Here the
    // offset is where these start.
    expect!(offset <= used, "the error is at byte {offset}");
    expect!(!error.is_unexpected_end() || used == bytes.len(), "the input ends behind byte {used}");
    let again = case.decode(lenient(), &bytes)?;
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
        let value = case.form.value_from_json(&value.to_string())?;
        let len = case.form.encoded_len(&value)?;
        expect!(len <= rest.len(), "the frames are too long");
        case.decodes(strict(), rest, &value, len)?;
        case.encodes(&value, &rest[..len])?;
        expect!(decoder.decode_as::<_, Value>(&case.form)? == Some(value), "a stream gives another value");
        lengths.push(len);
        rest = &rest[len..];
    }
    expect!(rest.is_empty() && decoder.decode_as::<_, Value>(&case.form)?.is_none(), "bytes are left");
    if let Some(expected) = case.json["frame_lengths"].as_array() {
        let is_equal = lengths.iter().map(|len| Json::from(*len)).eq(expected.iter().cloned());
        expect!(is_equal, "the frames have {lengths:?} bytes");
    }
    Ok(None)
}

/// Whether an error is the one that has this name in the file.
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
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return Err("half a byte".into()) };
    pairs.iter().map(|pair| Ok(u8::from_str_radix(str::from_utf8(pair)?, 16)?)).collect()
}
