//! Arbitrary values, with shared objects and cycles.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use psrp::value::{
    ContainerKind, Cycle, DateTime, DateTimeKind, Decimal, ObjectBuilder, Progress, SecureString, TimeSpan,
    Version,
};
use psrp::{Object, PsString, Value};

/// Any value that can be written and read without loss. Nesting stays far below all limits.
pub fn any_value() -> impl Strategy<Value = Value> {
    plan().prop_map(|plan| Builder::default().value(&plan))
}

/// Any value except objects, member sets and null.
pub fn any_primitive() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<u16>().prop_map(Value::Char),
        any::<i8>().prop_map(Value::SByte),
        any::<u8>().prop_map(Value::Byte),
        any::<i16>().prop_map(Value::Int16),
        any::<u16>().prop_map(Value::UInt16),
        any::<i32>().prop_map(Value::Int32),
        any::<u32>().prop_map(Value::UInt32),
        any::<i64>().prop_map(Value::Int64),
        any::<u64>().prop_map(Value::UInt64),
        // Other NaN payloads have no text form.
        any::<u32>().prop_map(f32::from_bits).prop_map(|n| if n.is_nan() { f32::NAN } else { n }.into()),
        any::<u64>().prop_map(f64::from_bits).prop_map(|n| if n.is_nan() { f64::NAN } else { n }.into()),
        any_decimal().prop_map(Value::Decimal),
        any_text().prop_map(Value::String),
        any_text().prop_map(Value::Uri),
        any_text().prop_map(Value::Xml),
        any_text().prop_map(Value::ScriptBlock),
        any::<u128>().prop_map(|id| Value::Guid(uuid::Uuid::from_u128(id))),
        any_version().prop_map(Value::Version),
        any_date().prop_map(Value::DateTime),
        any::<i64>().prop_map(|ticks| Value::TimeSpan(TimeSpan::from_ticks(ticks))),
        vec(any::<u8>(), 0..20).prop_map(Value::from),
        vec(any::<u8>(), 1..20).prop_map(|bytes| SecureString::from_encrypted(bytes).into()),
        any_progress().prop_map(Value::from),
    ]
}

/// Any text, including lone surrogates and text that looks like escapes.
pub fn any_text() -> impl Strategy<Value = PsString> {
    let part = prop_oneof![
        3 => "[a-zA-Z0-9 ]{0,12}".prop_map(|text| text.encode_utf16().collect::<Vec<_>>()),
        1 => "[_xX0-9A-Fa-f<&>\"'\\t\\r\\n]{0,8}".prop_map(|text| text.encode_utf16().collect()),
        1 => "\\PC{0,4}".prop_map(|text| text.encode_utf16().collect()),
        1 => vec(any::<u16>(), 0..3),
        1 => vec(0xD700..0xE100_u16, 0..3),
    ];
    vec(part, 0..4).prop_map(|parts| PsString::from_utf16(&parts.concat()))
}

fn any_decimal() -> impl Strategy<Value = Decimal> {
    (any::<bool>(), any::<u128>(), 32..128_u32, 0..=Decimal::MAX_SCALE).prop_map(
        |(negative, digits, shift, scale)| {
            Decimal::new(negative, digits >> shift, scale).expect("96 bits and 28 digits")
        },
    )
}

fn any_version() -> impl Strategy<Value = Version> {
    let part = || 0..=i32::MAX as u32;
    (part(), part(), option::of((part(), option::of(part())))).prop_map(|(major, minor, more)| {
        let version = Version::new(major, minor);
        match more {
            None => version,
            Some((build, None)) => version.with_build(build),
            Some((build, Some(revision))) => version.with_revision(build, revision),
        }
    })
}

fn any_date() -> impl Strategy<Value = DateTime> {
    let kind = prop_oneof![
        Just(DateTimeKind::Unspecified),
        Just(DateTimeKind::Utc),
        (-DateTime::MAX_OFFSET..=DateTime::MAX_OFFSET).prop_map(DateTimeKind::Local),
    ];
    (0..=DateTime::MAX_TICKS, any::<bool>(), kind).prop_map(|(ticks, whole, kind)| {
        let ticks = if whole { ticks - ticks % TimeSpan::TICKS_PER_SECOND } else { ticks };
        DateTime::from_ticks(ticks, kind).expect("a date of the calendar")
    })
}

fn any_progress() -> impl Strategy<Value = Progress> {
    let texts = (any_text(), any_text(), option::of(any_text()));
    let numbers = (any::<i32>(), any::<i32>(), any::<i32>(), any::<i32>());
    (texts, numbers, any::<bool>()).prop_map(|((activity, status, operation), numbers, completed)| {
        let mut record = Progress::new(numbers.0, activity, status);
        record.current_operation = operation;
        record.parent_activity_id = numbers.1;
        record.percent_complete = numbers.2;
        record.seconds_remaining = numbers.3;
        record.completed = completed;
        record
    })
}

/// A description of a value. Objects are created only when it is built.
#[derive(Clone, Debug)]
enum Plan {
    Nil,
    Primitive(Value),
    Object(Box<ObjectPlan>),
    /// An existing object, including enclosing ones, selected by index; null if there is none.
    Again(usize),
    /// A member set, which only an extended member can be.
    Set(Vec<(PsString, Self)>),
}

#[derive(Clone, Debug)]
struct ObjectPlan {
    /// Whether nested objects may refer to this one.
    cyclic: bool,
    /// Small numbers, so that lists repeat.
    type_names: Option<Vec<u8>>,
    to_string: Option<PsString>,
    base: BasePlan,
    adapted: Vec<(PsString, Plan)>,
    extended: Vec<(PsString, Plan)>,
}

#[derive(Clone, Debug)]
enum BasePlan {
    None,
    Primitive(Value),
    Object(Plan),
    List(ContainerKind, Vec<Plan>),
    Dictionary(Vec<(Plan, Plan)>),
}

fn plan() -> impl Strategy<Value = Plan> {
    let leaf = prop_oneof![
        1 => Just(Plan::Nil),
        6 => any_primitive().prop_map(Plan::Primitive),
        2 => any::<usize>().prop_map(Plan::Again),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| object(inner).prop_map(|object| Plan::Object(Box::new(object))))
}

fn object(inner: impl Strategy<Value = Plan> + Clone + 'static) -> impl Strategy<Value = ObjectPlan> {
    let kind = prop_oneof![
        Just(ContainerKind::List),
        Just(ContainerKind::Enumerable),
        Just(ContainerKind::Queue),
        Just(ContainerKind::Stack),
    ];
    let members = || vec((any_text(), inner.clone()), 0..4);
    let member = prop_oneof![
        4 => inner.clone(),
        1 => vec((any_text(), inner.clone()), 0..3).prop_map(Plan::Set),
    ];
    let base = prop_oneof![
        3 => Just(BasePlan::None),
        1 => any_primitive().prop_map(BasePlan::Primitive),
        1 => inner.clone().prop_map(BasePlan::Object),
        2 => (kind, vec(inner.clone(), 0..4)).prop_map(|(kind, items)| BasePlan::List(kind, items)),
        2 => vec((inner.clone(), inner.clone()), 0..4).prop_map(BasePlan::Dictionary),
    ];
    let names = option::of(vec(0..3_u8, 1..3));
    (
        any::<bool>(),
        names,
        option::weighted(0.3, any_text()),
        base,
        members(),
        vec((any_text(), member), 0..4),
    )
        .prop_map(|(cyclic, type_names, to_string, base, adapted, extended)| ObjectPlan {
            cyclic,
            type_names,
            to_string,
            base,
            adapted,
            extended,
        })
}

#[derive(Default)]
struct Builder {
    done: Vec<Object>,
    open: Vec<Cycle>,
}

impl Builder {
    fn value(&mut self, plan: &Plan) -> Value {
        match plan {
            Plan::Nil => Value::Nil,
            Plan::Primitive(value) => value.clone(),
            Plan::Object(object) => self.object(object).into(),
            Plan::Again(choice) => self.again(*choice),
            Plan::Set(members) => {
                let set = members.iter().map(|(name, plan)| (name.clone(), self.value(plan)));
                Value::MemberSet(Box::new(set.collect()))
            }
        }
    }

    fn again(&self, choice: usize) -> Value {
        let count = self.done.len() + self.open.len();
        let choice = choice.checked_rem(count).unwrap_or(0);
        match (self.done.get(choice), self.open.get(choice.wrapping_sub(self.done.len()))) {
            (Some(object), _) => object.clone().into(),
            (None, Some(cycle)) => Value::Cycle(cycle.clone()),
            (None, None) => Value::Nil,
        }
    }

    fn object(&mut self, plan: &ObjectPlan) -> Object {
        let object = if plan.cyclic {
            let object = Object::new_cyclic(|me| {
                self.open.push(me);
                self.builder(plan)
            });
            self.open.pop();
            object
        } else {
            self.builder(plan).build()
        };
        self.done.push(object.clone());
        object
    }

    /// In the order of the parts in a document.
    fn builder(&mut self, plan: &ObjectPlan) -> ObjectBuilder {
        let mut builder = Object::builder();
        if let Some(names) = &plan.type_names {
            builder = builder.type_names(names.iter().map(|name| format!("Type{name}")));
        }
        if let Some(text) = &plan.to_string {
            builder = builder.to_string(text.clone());
        }
        match &plan.base {
            BasePlan::None => {}
            BasePlan::Primitive(value) => builder = builder.wrap(value.clone()),
            BasePlan::Object(plan) => {
                // Only a new object: a wrapped null is equal to nothing, and a cycle would never end.
                if let Plan::Object(object) = plan {
                    builder = builder.wrap(self.object(object));
                }
            }
            BasePlan::List(kind, items) => {
                let items: Vec<_> = items.iter().map(|item| self.value(item)).collect();
                builder = builder.list(*kind, items);
            }
            BasePlan::Dictionary(entries) => {
                let mut preserved = Vec::new();
                for (key, value) in entries {
                    let key = self.value(key);
                    // Built objects are stored: another value may refer to a nested object, and that to its enclosing
                    // ones.
                    if !key.is_nil() {
                        preserved.push((key, self.value(value)));
                    }
                }
                builder = builder.dictionary(preserved);
            }
        }
        for (name, plan) in &plan.adapted {
            builder = builder.adapted(name.clone(), self.value(plan));
        }
        for (name, plan) in &plan.extended {
            builder = builder.extended(name.clone(), self.value(plan));
        }
        builder
    }
}
