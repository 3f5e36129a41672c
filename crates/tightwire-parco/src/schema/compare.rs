//! What a change of a schema does to those who have the other one.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use super::Schema;
use super::shape::{Circle, Kind, Shape};

/// How far two schemas understand each other's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compatibility {
    changes: Vec<Change>,
}

/// One difference between two schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    path: String,
    what: String,
    verdict: Verdict,
}

/// What a difference means for messages and readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// Each side reads the messages of the other, such as after a field has got another name.
    SameWire,
    /// Readers with the old schema read new messages: what they know is at the beginning, and bytes follow it, which
    /// `decode` hands back and `decode_exact` refuses. Or new messages have fewer models.
    ///
    /// Readers with the new schema reach the end of old messages too early, unless what is new has a default for that.
    OldReadsNew,
    /// Readers with the new schema read old messages, by the same rules; the other way there is no default.
    NewReadsOld,
    /// Neither reads the other's messages, or reads them as something else.
    Breaks,
}

/// Compares two schemas as they are on the wire.
///
/// It goes through both at once, and lists every difference it finds. A field is recognised by its place and, if the
/// places do not fit, by its name. Reserved bytes may become fields of the same total size: old messages have zeros
/// there, and so have all new fields their zero value. Only fields of fixed size can use them.
///
/// ```
/// use tightwire_parco::schema::{self, Schema, Verdict, compare};
///
/// let user = |more: &[(&str, Schema)]| {
///     let mut fields = vec![("name".to_string(), schema::of::<str>()), ("age".to_string(), schema::of::<u8>())];
///     fields.extend(more.iter().map(|(name, schema)| (name.to_string(), schema.clone())));
///     Schema::Struct(fields)
/// };
///
/// let comparison = compare(&user(&[]), &user(&[("email", schema::of::<Option<String>>())]));
/// assert!(comparison.old_reads_new() && !comparison.breaks());
/// assert_eq!(comparison.to_string(), "email: added at the end (old readers read new messages)\n");
/// ```
pub fn compare(old: &Schema, new: &Schema) -> Compatibility {
    let mut comparison = Comparison::default();
    let (old, new) = (Shape::of(old), Shape::of(new));
    match (&old.kind, &new.kind) {
        // Behind the fields of the message itself nothing follows.
        (Kind::Group(one, old), Kind::Group(other, new)) if !one.is_closed && !other.is_closed => {
            Fields::new(&mut comparison, "", old, new, true).compare();
        }
        _ => comparison.shape("", &old, &new),
    }
    Compatibility { changes: comparison.changes }
}

impl Compatibility {
    /// The differences, in the order of the new schema.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether messages look the same, whatever else differs.
    pub fn is_same_wire(&self) -> bool {
        self.changes.iter().all(|change| change.verdict == Verdict::SameWire)
    }

    /// Whether readers with the old schema understand new messages.
    pub fn old_reads_new(&self) -> bool {
        self.changes.iter().all(|change| matches!(change.verdict, Verdict::SameWire | Verdict::OldReadsNew))
    }

    /// Whether readers with the new schema understand old messages.
    ///
    /// After a field was added at the end they do not, unless they have a default for it; this is not in a schema.
    pub fn new_reads_old(&self) -> bool {
        self.changes.iter().all(|change| matches!(change.verdict, Verdict::SameWire | Verdict::NewReadsOld))
    }

    /// Whether a difference makes messages unreadable.
    pub fn breaks(&self) -> bool {
        self.changes.iter().any(|change| change.verdict == Verdict::Breaks)
    }
}

/// A line for each difference.
impl fmt::Display for Compatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes.iter().try_for_each(|change| writeln!(f, "{change}"))
    }
}

impl Change {
    /// The way to what differs, such as `pets[].name`: `[]` stands for elements, `[key]` and `[value]` for the parts
    /// of entries, `[ID]` for a model, `?` for what an option holds. Empty for the whole message.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The difference, in words.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What it means.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the message" } else { &self.path };
        write!(f, "{path}: {} ({})", self.what, self.verdict)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameWire => "same wire",
            Self::OldReadsNew => "old readers read new messages",
            Self::NewReadsOld => "new readers read old messages",
            Self::Breaks => "breaks",
        })
    }
}

#[derive(Default)]
struct Comparison {
    changes: Vec<Change>,
    /// The levels of the circles around, of either side.
    old_open: Vec<usize>,
    new_open: Vec<usize>,
}

impl Comparison {
    fn note(&mut self, path: &str, verdict: Verdict, what: impl Into<String>) {
        self.changes.push(Change { path: path.to_string(), what: what.into(), verdict });
    }

    fn became(&mut self, path: &str, verdict: Verdict, old: impl fmt::Display, new: impl fmt::Display) {
        self.note(path, verdict, alloc::format!("{old} became {new}"));
    }

    fn header(&mut self, path: &str, old: &str, new: &str) {
        if old != new {
            self.note(path, Verdict::Breaks, alloc::format!("the header {old} became {new}"));
        }
    }

    /// What is the same on the wire may have another name in the schema.
    fn label(&mut self, path: &str, old: &Shape, new: &Shape) {
        if old.label != new.label {
            self.became(path, Verdict::SameWire, old.label, new.label);
        }
    }

    fn shape(&mut self, path: &str, old: &Shape, new: &Shape) {
        match (&old.kind, &new.kind) {
            (Kind::Leaf(one, _), Kind::Leaf(other, _)) if one == other => self.label(path, old, new),
            (Kind::Leaf(one, _), Kind::Leaf(other, _)) => self.became(path, Verdict::Breaks, one, other),
            (Kind::Bytes(one), Kind::Bytes(other)) => {
                self.header(path, one, other);
                self.label(path, old, new);
            }
            (Kind::Slice(one, old), Kind::Slice(other, new)) => {
                self.header(path, one, other);
                self.shape(&alloc::format!("{path}[]"), old, new);
            }
            (Kind::Array(one, old), Kind::Array(other, new)) => {
                if one != other {
                    self.note(path, Verdict::Breaks, alloc::format!("{one} elements became {other}"));
                }
                self.shape(&alloc::format!("{path}[]"), old, new);
            }
            (Kind::Map(one, old_key, old_value), Kind::Map(other, new_key, new_value)) => {
                self.header(path, one, other);
                self.shape(&alloc::format!("{path}[key]"), old_key, new_key);
                self.shape(&alloc::format!("{path}[value]"), old_value, new_value);
            }
            (Kind::Option(old), Kind::Option(new)) => self.shape(&alloc::format!("{path}?"), old, new),
            (Kind::Skip(one), Kind::Skip(other)) if one == other => {}
            (Kind::Skip(one), Kind::Skip(other)) => {
                self.note(path, Verdict::Breaks, alloc::format!("{one} reserved bytes became {other}"));
            }
            (Kind::Located, Kind::Located) => {}
            (Kind::Group(one, old), Kind::Group(other, new)) if one.is_closed == other.is_closed => {
                self.enter(*one, *other);
                Fields::new(self, path, old, new, false).compare();
                self.leave(*one);
            }
            (Kind::Multi(one, old_id, old), Kind::Multi(other, new_id, new))
                if one.is_closed == other.is_closed =>
            {
                self.shape(&alloc::format!("{path}[id]"), old_id, new_id);
                self.enter(*one, *other);
                self.models(path, old, new);
                self.leave(*one);
            }
            (Kind::Back(one), Kind::Back(other)) => {
                let place = |open: &[usize], level| open.iter().position(|open| *open == level);
                if place(&self.old_open, *one) != place(&self.new_open, *other) {
                    self.note(path, Verdict::Breaks, "another struct comes again");
                }
            }
            _ => self.became(path, Verdict::Breaks, old.label, new.label),
        }
    }

    fn enter(&mut self, old: Circle, new: Circle) {
        if old.is_closed {
            self.old_open.push(old.level);
            self.new_open.push(new.level);
        }
    }

    fn leave(&mut self, circle: Circle) {
        if circle.is_closed {
            self.old_open.pop();
            self.new_open.pop();
        }
    }

    fn models(&mut self, path: &str, old: &[(String, Shape)], new: &[(String, Shape)]) {
        for (id, model) in new {
            let path = alloc::format!("{path}[{id}]");
            match old.iter().find(|(old, _)| old == id) {
                Some((_, old)) => self.shape(&path, old, model),
                None => self.note(&path, Verdict::NewReadsOld, "a new model"),
            }
        }
        for (id, _) in old.iter().filter(|(id, _)| !has(new, id)) {
            self.note(&alloc::format!("{path}[{id}]"), Verdict::OldReadsNew, "the model is gone");
        }
    }
}

fn has(list: &[(String, Shape)], name: &str) -> bool {
    list.iter().any(|(other, _)| other == name)
}

/// The fields of one struct on both sides, and how far they are compared.
struct Fields<'a> {
    comparison: &'a mut Comparison,
    path: &'a str,
    all_old: &'a [(String, Shape)],
    all_new: &'a [(String, Shape)],
    /// What of them is left.
    old: &'a [(String, Shape)],
    new: &'a [(String, Shape)],
    /// Whether nothing follows the struct.
    is_last: bool,
    /// What of the reserved bytes that are next on either side is used up.
    used: (u64, u64),
}

impl<'a> Fields<'a> {
    fn new(
        comparison: &'a mut Comparison,
        path: &'a str,
        old: &'a [(String, Shape)],
        new: &'a [(String, Shape)],
        is_last: bool,
    ) -> Self {
        Self { comparison, path, all_old: old, all_new: new, old, new, is_last, used: (0, 0) }
    }

    fn compare(mut self) {
        while let ([(old_name, old), old_rest @ ..], [(new_name, new), new_rest @ ..]) = (self.old, self.new)
        {
            if self.reserved((old_name, old), (new_name, new)) {
                continue;
            }
            let is_gone = !has(self.all_new, old_name);
            let is_new = !has(self.all_old, new_name);
            if old_name != new_name && !(is_gone && is_new) {
                // One of the names is elsewhere on the other side.
                if is_new {
                    self.note(new_name, Verdict::Breaks, "inserted");
                    self.new = new_rest;
                    continue;
                }
                if is_gone {
                    self.note(old_name, Verdict::Breaks, "removed");
                    self.old = old_rest;
                    continue;
                }
                self.note(new_name, Verdict::Breaks, "moved");
            } else {
                if old_name != new_name {
                    self.note(new_name, Verdict::SameWire, &alloc::format!("was called {old_name}"));
                }
                let path = self.at(new_name);
                self.comparison.shape(&path, old, new);
            }
            (self.old, self.new, self.used) = (old_rest, new_rest, (0, 0));
        }
        let is_last = self.is_last;
        let verdict = |verdict| if is_last { verdict } else { Verdict::Breaks };
        for (name, _) in self.new {
            self.note(name, verdict(Verdict::OldReadsNew), "added at the end");
        }
        for (name, _) in self.old {
            self.note(name, verdict(Verdict::NewReadsOld), "removed from the end");
        }
    }

    /// Passes over reserved bytes, and what has taken their place or has given way to them.
    fn reserved(&mut self, (old_name, old): (&str, &Shape), (new_name, new): (&str, &Shape)) -> bool {
        let size = match (&old.kind, &new.kind) {
            (Kind::Skip(one), Kind::Skip(other)) => (one - self.used.0).min(other - self.used.1),
            (Kind::Skip(room), _) if !has(self.all_old, new_name) => {
                let Some(size) = new.fixed_size().filter(|size| *size <= room - self.used.0) else {
                    return false;
                };
                self.note(
                    new_name,
                    Verdict::SameWire,
                    "uses reserved bytes, which are zeros in old messages",
                );
                size
            }
            (_, Kind::Skip(room)) if !has(self.all_new, old_name) => {
                let Some(size) = old.fixed_size().filter(|size| *size <= room - self.used.1) else {
                    return false;
                };
                self.note(
                    old_name,
                    Verdict::SameWire,
                    "became reserved bytes, which are zeros in new messages",
                );
                size
            }
            _ => return false,
        };
        (self.old, self.used.0) = advance(self.old, self.used.0 + size);
        (self.new, self.used.1) = advance(self.new, self.used.1 + size);
        true
    }

    fn note(&mut self, name: &str, verdict: Verdict, what: &str) {
        let path = self.at(name);
        self.comparison.note(&path, verdict, what);
    }

    fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { alloc::format!("{}.{name}", self.path) }
    }
}

/// Leaves the first field behind, unless it is reserved bytes of which not all are used.
fn advance(fields: &[(String, Shape)], used: u64) -> (&[(String, Shape)], u64) {
    match fields {
        [(_, Shape { kind: Kind::Skip(room), .. }), ..] if used < *room => (fields, used),
        [_, rest @ ..] => (rest, 0),
        [] => (fields, 0),
    }
}
