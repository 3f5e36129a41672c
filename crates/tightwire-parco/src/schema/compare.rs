//! Compatibility of two versions of a schema.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;

use super::Schema;
use super::layout::{Layout, LayoutKind, Recursion};

/// The differences between two schemas, and whether each can decode the other's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compatibility {
    /// The differences, in the order of the new schema.
    pub changes: Vec<Change>,
}

/// One difference between two schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Path of the difference, such as `pets[].name`: `[]` stands for elements, `[key]` and `[value]` for the parts of
    /// entries, `[ID]` for a model, `?` for the value of an option. It is empty for the whole message.
    pub path: String,
    /// Description of the difference.
    pub what: String,
    /// Effect of the difference.
    pub verdict: Verdict,
}

/// Effect of a difference on compatibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// Both schemas decode each other's messages, for example after a field was renamed.
    SameWire,
    /// Both schemas decode each other's messages, but their encodings differ: a field that may be missing was added at
    /// the end of an evolve struct, or removed from there.
    Compatible,
    /// Readers with the old schema can decode new messages: they decode the fields they know, and bytes remain, which
    /// `decode` returns and `decode_exact` rejects. The remaining bytes of an evolve struct are skipped. This is also the
    /// verdict if the new schema has fewer models.
    ///
    /// Readers with the new schema reach the end of old messages too early, unless the new fields have the attribute
    /// `default_on_eof`. New fields of an evolve struct that have it are [`Compatible`](Self::Compatible) instead.
    OldReadsNew,
    /// Readers with the new schema can decode old messages: the reverse of [`OldReadsNew`](Self::OldReadsNew), without
    /// the exception for defaults.
    NewReadsOld,
    /// Neither can decode the other's messages, or decodes them to different values.
    Breaks,
}

/// Compares the encodings of two schemas.
///
/// Walks over both schemas and reports every difference. Fields are matched by position and, if the names at a position
/// differ, by name. Variants are matched by name: a variant that has another id breaks. A variant whose name is in only one
/// of the schemas, and whose id is in both, was renamed. Reserved bytes may be replaced by fields of the same total size: old messages have zeros there, so
/// all new fields decode to zero. Only fields of fixed size can replace reserved bytes.
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
    let (old, new) = (Layout::of(old), Layout::of(new));
    match (old.kind, new.kind) {
        // The fields of the message itself come last, so fields can be added or removed at the end.
        (LayoutKind::Struct(one, None), LayoutKind::Struct(other, None))
            if !one.is_recursive && !other.is_recursive && old.logical == new.logical =>
        {
            Fields::new(&mut comparison, "", &old.parts, &new.parts, End::Message).compare();
        }
        _ => comparison.layout("", &old, &new),
    }
    Compatibility { changes: comparison.changes }
}

impl Compatibility {
    /// Returns whether the encodings are equal, whatever else differs.
    pub fn is_same_wire(&self) -> bool {
        self.changes.iter().all(|change| change.verdict == Verdict::SameWire)
    }

    /// Returns whether readers with the old schema can decode new messages.
    pub fn old_reads_new(&self) -> bool {
        self.changes.iter().all(|change| change.verdict.reads_both_or(Verdict::OldReadsNew))
    }

    /// Returns whether readers with the new schema can decode old messages.
    ///
    /// This is false after a field was added at the end of a message, even if it has a default: a schema contains
    /// defaults only for evolve structs.
    pub fn new_reads_old(&self) -> bool {
        self.changes.iter().all(|change| change.verdict.reads_both_or(Verdict::NewReadsOld))
    }

    /// Returns whether a difference makes messages unreadable in both directions.
    pub fn breaks(&self) -> bool {
        self.changes.iter().any(|change| change.verdict == Verdict::Breaks)
    }
}

impl Verdict {
    /// Returns whether both schemas decode each other's messages, or it is this verdict.
    fn reads_both_or(self, one: Self) -> bool {
        matches!(self, Self::SameWire | Self::Compatible) || self == one
    }
}

/// Prints one line per difference.
impl fmt::Display for Compatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.changes.iter().try_for_each(|change| writeln!(f, "{change}"))
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
            Self::Compatible => "compatible",
            Self::OldReadsNew => "old readers read new messages",
            Self::NewReadsOld => "new readers read old messages",
            Self::Breaks => "breaks",
        })
    }
}

#[derive(Default)]
struct Comparison {
    changes: Vec<Change>,
    /// Levels of the enclosing recursive types in the old and the new schema.
    old_ancestors: Vec<usize>,
    new_ancestors: Vec<usize>,
}

impl Comparison {
    fn note(&mut self, path: &str, verdict: Verdict, what: impl Into<String>) {
        self.changes.push(Change { path: path.to_string(), what: what.into(), verdict });
    }

    fn became(&mut self, path: &str, verdict: Verdict, old: impl fmt::Display, new: impl fmt::Display) {
        self.note(path, verdict, alloc::format!("{old} became {new}"));
    }

    fn layout(&mut self, path: &str, old: &Layout, new: &Layout) {
        if old.logical != new.logical {
            let name = |layout: &Layout| match &*layout.logical {
                "" => layout.label.to_string(),
                logical => logical.to_string(),
            };
            return self.became(path, Verdict::Breaks, name(old), name(new));
        }
        match (old.kind, new.kind) {
            (LayoutKind::Struct(one, old_required), LayoutKind::Struct(other, new_required))
                if old_required.is_some() == new_required.is_some() =>
            {
                let required = old_required.zip(new_required);
                let end = required.map_or(End::Inside, |(old, new)| End::Evolve { old, new });
                self.inside(one, other, |comparison| {
                    Fields::new(comparison, path, &old.parts, &new.parts, end).compare();
                });
            }
            (LayoutKind::Multi(one), LayoutKind::Multi(other)) => {
                let ([(_, old_id), old @ ..], [(_, new_id), new @ ..]) = (&*old.parts, &*new.parts) else {
                    unreachable!("the first part is the id")
                };
                self.layout(&alloc::format!("{path}[id]"), old_id, new_id);
                self.inside(one, other, |comparison| comparison.models(path, old, new));
            }
            (LayoutKind::Recursive(one), LayoutKind::Recursive(other)) => {
                // Structs that are recursive in neither schema may differ in number, and are not among the ancestors.
                let place = |open: &[usize], level| open.iter().position(|open| *open == level);
                if place(&self.old_ancestors, one) != place(&self.new_ancestors, other) {
                    self.note(path, Verdict::Breaks, "refers to another struct");
                }
            }
            (LayoutKind::Leaf(_), LayoutKind::Leaf(_)) if old.name != new.name => {
                self.became(path, Verdict::Breaks, &old.name, &new.name);
            }
            (LayoutKind::Struct(..) | LayoutKind::Multi(_) | LayoutKind::Recursive(_), _) => {
                self.became(path, Verdict::Breaks, old.label, new.label);
            }
            _ if old.name != new.name => self.became(path, Verdict::Breaks, old.label, new.label),
            (kind, _) => {
                let (one, other) = (&old.argument, &new.argument);
                if one != other {
                    let what = match kind {
                        LayoutKind::Array(_) => alloc::format!("{one} elements became {other}"),
                        LayoutKind::Skip(_) => alloc::format!("{one} reserved bytes became {other}"),
                        _ => alloc::format!("the header {one} became {other}"),
                    };
                    self.note(path, Verdict::Breaks, what);
                }
                // Types that have the same encoding but different names in the schema.
                if old.label != new.label {
                    self.became(path, Verdict::SameWire, old.label, new.label);
                }
                for ((step, old), (_, new)) in old.parts.iter().zip(&new.parts) {
                    self.layout(&alloc::format!("{path}{step}"), old, new);
                }
            }
        }
    }

    /// Compares the contents of two structs or multis. If one of them is recursive, references to it inside are compared with those
    /// to the other one.
    fn inside(&mut self, old: Recursion, new: Recursion, compare: impl FnOnce(&mut Self)) {
        let open = self.old_ancestors.len();
        if old.is_recursive || new.is_recursive {
            self.old_ancestors.push(old.level);
            self.new_ancestors.push(new.level);
        }
        compare(self);
        self.old_ancestors.truncate(open);
        self.new_ancestors.truncate(open);
    }

    fn models(&mut self, path: &str, old: &[(String, Layout)], new: &[(String, Layout)]) {
        // The id of the only variant with this name, if both schemas have one.
        let moved =
            |name: &str| Some((only(old, name)?, only(new, name)?)).filter(|(one, other)| one != other);
        for (id, model) in new {
            let path = alloc::format!("{path}[{id}]");
            let name = &model.variant;
            if let Some((old_id, _)) = moved(name) {
                self.note(&path, Verdict::Breaks, alloc::format!("`{name}` had the id {old_id}"));
                continue;
            }
            match old.iter().find(|(old, _)| old == id) {
                None => self.note(&path, Verdict::NewReadsOld, "model added"),
                Some((_, old)) if moved(&old.variant).is_some() => {
                    self.note(&path, Verdict::Breaks, alloc::format!("was the id of `{}`", old.variant));
                }
                Some((_, old)) => {
                    if old.variant != *name && !old.variant.is_empty() && !name.is_empty() {
                        let what = alloc::format!("renamed from `{}` to `{name}`", old.variant);
                        self.note(&path, Verdict::SameWire, what);
                    }
                    self.layout(&path, old, model);
                }
            }
        }
        for (id, _) in old.iter().filter(|(id, model)| !has(new, id) && moved(&model.variant).is_none()) {
            self.note(&alloc::format!("{path}[{id}]"), Verdict::OldReadsNew, "model removed");
        }
    }
}

/// Returns the id of the only variant with this name, if it has one.
fn only<'a>(models: &'a [(String, Layout)], name: &str) -> Option<&'a str> {
    let mut found = models.iter().filter(|(_, model)| model.variant == name && !name.is_empty());
    found.next().filter(|_| found.next().is_none()).map(|(id, _)| &**id)
}

fn has(list: &[(String, Layout)], name: &str) -> bool {
    list.iter().any(|(other, _)| other == name)
}

/// The position of the end of a struct in the message.
#[derive(Clone, Copy)]
enum End {
    /// The end of the message.
    Message,
    /// The next field, element or message.
    Inside,
    /// The end of an evolve struct, which has a length. Contains how many parts every message has.
    Evolve { old: usize, new: usize },
}

/// Compares the fields of one struct in both schemas.
struct Fields<'a> {
    comparison: &'a mut Comparison,
    path: &'a str,
    all_old: &'a [(String, Layout)],
    all_new: &'a [(String, Layout)],
    /// Fields that are not compared yet.
    old: &'a [(String, Layout)],
    new: &'a [(String, Layout)],
    end: End,
    /// Bytes already matched of the next field, if it is reserved bytes: in the old and in the new schema.
    used: (u64, u64),
}

impl<'a> Fields<'a> {
    fn new(
        comparison: &'a mut Comparison,
        path: &'a str,
        old: &'a [(String, Layout)],
        new: &'a [(String, Layout)],
        end: End,
    ) -> Self {
        Self { comparison, path, all_old: old, all_new: new, old, new, end, used: (0, 0) }
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
                // The other schema contains one of the names at another position.
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
                    self.note(new_name, Verdict::SameWire, &alloc::format!("renamed from {old_name}"));
                }
                let path = self.at(new_name);
                self.comparison.layout(&path, old, new);
            }
            (self.old, self.new, self.used) = (old_rest, new_rest, (0, 0));
        }
        let (old_required, new_required) = match self.end {
            End::Evolve { old: old_required, new: new_required } => {
                // A message may end before the fields that are not required.
                let common = self.all_old.len().min(self.all_new.len());
                let (old, new) = (old_required.min(common), new_required.min(common));
                if old < new {
                    self.note(&self.all_new[old].0, Verdict::OldReadsNew, "became required");
                } else if new < old {
                    self.note(&self.all_new[new].0, Verdict::NewReadsOld, "is no longer required");
                }
                (Some(old_required), Some(new_required))
            }
            End::Message | End::Inside => (None, None),
        };
        self.rest(self.new, self.all_new, new_required, Verdict::OldReadsNew, "added at the end");
        self.rest(self.old, self.all_old, old_required, Verdict::NewReadsOld, "removed from the end");
    }

    /// Notes `fields`, the last ones of the longer struct `all`, which the shorter struct lacks. In an evolve struct,
    /// the fields after the `required` ones have a default.
    fn rest(
        &mut self,
        fields: &[(String, Layout)],
        all: &[(String, Layout)],
        required: Option<usize>,
        otherwise: Verdict,
        what: &str,
    ) {
        for (index, (name, _)) in (all.len() - fields.len()..).zip(fields) {
            let verdict = match self.end {
                End::Inside => Verdict::Breaks,
                _ if required.is_some_and(|required| index >= required) => Verdict::Compatible,
                _ => otherwise,
            };
            self.note(name, verdict, what);
        }
    }

    /// Skips reserved bytes, and fields that replaced reserved bytes or were replaced by them.
    fn reserved(&mut self, (old_name, old): (&str, &Layout), (new_name, new): (&str, &Layout)) -> bool {
        let (name, field, room, what) = match (old.kind, new.kind) {
            (LayoutKind::Skip(one), LayoutKind::Skip(other)) => {
                self.advance((one - self.used.0).min(other - self.used.1));
                return true;
            }
            (LayoutKind::Skip(room), _) if !has(self.all_old, new_name) => {
                (new_name, new, room - self.used.0, "uses reserved bytes, which are zeros in old messages")
            }
            (_, LayoutKind::Skip(room)) if !has(self.all_new, old_name) => {
                (old_name, old, room - self.used.1, "became reserved bytes, which are zeros in new messages")
            }
            _ => return false,
        };
        let Some(size) = field.fixed_size().filter(|size| *size <= room) else { return false };
        self.note(name, Verdict::SameWire, what);
        self.advance(size);
        true
    }

    /// Skips this many bytes in both schemas.
    fn advance(&mut self, size: u64) {
        (self.old, self.used.0) = advance(self.old, self.used.0 + size);
        (self.new, self.used.1) = advance(self.new, self.used.1 + size);
    }

    fn note(&mut self, name: &str, verdict: Verdict, what: &str) {
        let path = self.at(name);
        self.comparison.note(&path, verdict, what);
    }

    fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { alloc::format!("{}.{name}", self.path) }
    }
}

/// Skips the first field, unless it consists of reserved bytes that are not used up.
fn advance(fields: &[(String, Layout)], used: u64) -> (&[(String, Layout)], u64) {
    match fields {
        [(_, Layout { kind: LayoutKind::Skip(room), .. }), ..] if used < *room => (fields, used),
        [_, rest @ ..] => (rest, 0),
        [] => (fields, 0),
    }
}
