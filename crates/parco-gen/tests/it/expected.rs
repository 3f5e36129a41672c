//! The text that the drivers of the languages print for a value.

use serde_json::{Value as Json, json};
use tightwire_parco::schema::{Number, Schema};
use tightwire_parco::wire::Endian;

/// A language whose driver prints values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Go,
    Python,
    Typescript,
}

impl Language {
    /// Returns the value of a message. A message that is no struct or enum is the field of one.
    pub(crate) fn message(self, schema: &Schema, value: &Json) -> Json {
        let printed = Walk { language: self, open: Vec::new() }.value(schema, value);
        let is_type = matches!(
            schema,
            Schema::Struct(_) | Schema::Evolve { .. } | Schema::Multi { .. } | Schema::Named { .. }
        );
        if is_type { printed } else { json!([printed]) }
    }
}

struct Walk<'a> {
    language: Language,
    /// Enclosing structs and multis.
    open: Vec<&'a Schema>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, schema: &'a Schema, value: &Json) -> Json {
        match schema {
            Schema::Bool | Schema::String { .. } | Schema::Blob { .. } => value.clone(),
            Schema::Number(number, _) if number.is_float() => float(double(value)),
            Schema::Number(number, _) | Schema::Header(number, _) => {
                self.integer(integer(value), number.width() == 8)
            }
            Schema::Varint | Schema::TimeUtc => self.integer(integer(value), true),
            Schema::Slice { element, .. } | Schema::Array { element, .. } => {
                let parts = value.as_array().expect("a list");
                if matches!(**element, Schema::Number(Number::Uint8, _)) {
                    let digits: String = parts.iter().map(|byte| format!("{:02x}", integer(byte))).collect();
                    return json!({"hex": digits});
                }
                parts.iter().map(|part| self.value(element, part)).collect()
            }
            Schema::Map { key, value: inner, .. } => {
                let entries = value.as_array().expect("a list").iter();
                let entries: Json = entries
                    .map(|entry| json!([self.value(key, &entry[0]), self.value(inner, &entry[1])]))
                    .collect();
                let is_key = match &**key {
                    Schema::Number(number, _) => !number.is_float(),
                    Schema::String { .. } => true,
                    _ => false,
                };
                if is_key { json!({"map": entries}) } else { entries }
            }
            Schema::Option(_) if value.is_null() => Json::Null,
            Schema::Option(inner) => {
                let some = self.value(inner, &value["some"]);
                let is_nullable = matches!(**inner, Schema::Option(_) | Schema::Skip(_));
                if is_nullable { json!({"some": some}) } else { some }
            }
            Schema::Evolve { required: 1, fields } if fields.len() == 1 && fields[0].0 == "variant" => {
                self.open.push(schema);
                let variant = self.value(&fields[0].1, &value["variant"]);
                self.open.pop();
                variant
            }
            Schema::Struct(fields) | Schema::Evolve { fields, .. } => {
                self.open.push(schema);
                let fields = fields.iter().filter(|(_, field)| !matches!(field, Schema::Skip(_)));
                let fields = fields.map(|(name, field)| {
                    value.get(name).map_or(Json::Null, |value| self.value(field, value))
                });
                let fields = fields.collect();
                self.open.pop();
                fields
            }
            Schema::Skip(_) => Json::Null,
            Schema::TimeLocation => {
                json!([self.integer(integer(&value["unix_nanos"]), true), value["zone"]])
            }
            Schema::Multi { models, .. } => {
                let id = value[0].as_str().map_or_else(|| value[0].to_string(), str::to_owned);
                let model = models.iter().find(|model| model.id == id).expect("a known id");
                self.open.push(schema);
                let contents = self.value(&model.schema, &value[1]);
                self.open.pop();
                if let Schema::Struct(_) = model.schema { contents } else { json!([contents]) }
            }
            Schema::Logical { name, .. } if name == "char" => {
                let number = integer(value);
                match self.language {
                    Language::Go => self.integer(number, false),
                    _ => json!(u32::try_from(number).ok().and_then(char::from_u32).expect("a character")),
                }
            }
            Schema::Logical { name, inner } if name == "u128" || name == "i128" => {
                let Schema::Struct(halves) = &**inner else { panic!("two halves") };
                let is_little = matches!(halves[0].1, Schema::Number(_, Endian::Little));
                let (low, high) = if is_little { ("0", "1") } else { ("1", "0") };
                // The halves have 64 bits, so the casts preserve them.
                let bits = (integer(&value[high]) as u128) << 64 | integer(&value[low]) as u128;
                json!({"int": if name == "u128" { bits.to_string() } else { (bits as i128).to_string() }})
            }
            Schema::Logical { inner, .. } | Schema::Named { inner, .. } => self.value(inner, value),
            Schema::Recursive(levels) => {
                let inner = self.open.split_off(self.open.len() - levels);
                let value = self.value(inner[0], value);
                self.open.extend(inner);
                value
            }
            _ => panic!("the vectors have no such schema"),
        }
    }

    /// Numbers of TypeScript have no type that tells integers from floats.
    fn integer(&self, value: i128, is_long: bool) -> Json {
        if self.language == Language::Typescript && !is_long {
            // It has at most 32 bits.
            return float(value as f64);
        }
        json!({"int": value.to_string()})
    }
}

fn integer(value: &Json) -> i128 {
    let digits = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    digits.parse().expect("an integer")
}

/// Returns a float of either width.
fn double(value: &Json) -> f64 {
    let digits = value["bits"].as_str().and_then(|bits| bits.strip_prefix("0x")).expect("bits of a float");
    let bits = u64::from_str_radix(digits, 16).expect("hexadecimal digits");
    match u32::try_from(bits) {
        Ok(bits) if digits.len() == 8 => f32::from_bits(bits).into(),
        _ => f64::from_bits(bits),
    }
}

fn float(value: f64) -> Json {
    if value.is_nan() {
        json!({"float": "nan"})
    } else {
        json!({"float": format!("{:016x}", value.to_bits())})
    }
}

/// Sorts the entries of maps, whose order differs between languages.
pub(crate) fn sort_maps(json: &mut Json) {
    match json {
        Json::Array(parts) => parts.iter_mut().for_each(sort_maps),
        Json::Object(members) => members.values_mut().for_each(sort_maps),
        _ => {}
    }
    if let Some(entries) = json.get_mut("map").and_then(Json::as_array_mut) {
        entries.sort_by_key(Json::to_string);
    }
}
