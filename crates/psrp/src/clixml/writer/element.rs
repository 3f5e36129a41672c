//! Writing of elements.

use super::super::escape::{Context, push_ps_string};
use super::super::short_text::{SHORT, copy, put};
use super::super::{Stream, WriteOptions, number};
use super::references::{ObjectTable, TypeNameTable};
use super::tag::{Tag, TagPart, tag};
use crate::error::Kind;
use crate::value::{
    Base, ContainerKind, Cycle, Members, Progress, PsString, SecureString, TypeNames, Value, Version,
};
use crate::{Error, Object, b64};

/// Maximum capacity of the buffer that is reused for the next document.
const MAX_REUSED_CAPACITY: usize = 1 << 20;

/// Maximum size of an element that is written at once: two parts of tags, a name, a text, and two bytes in between.
const WINDOW: usize = TagPart::CAPACITY + SHORT + 2 + SHORT + TagPart::CAPACITY;

/// Position of an element in its parent, which determines its attributes.
#[derive(Clone, Copy)]
pub(in super::super) enum Position<'a> {
    /// An item, without attributes.
    Item,
    /// A top-level item of a document.
    Top(Stream),
    /// A member of an object.
    Member(&'a PsString),
    /// The key of a dictionary entry.
    Key,
    /// The value of a dictionary entry.
    Value,
}

/// Writes elements into a buffer and remembers the objects of the current document.
#[derive(Default)]
pub(in super::super) struct ElementWriter {
    pub(in super::super) out: Vec<u8>,
    objects: ObjectTable,
    lists: TypeNameTable,
    pub(in super::super) options: WriteOptions,
    /// Whether values may be dropped before the document ends, so that their objects must be kept alive.
    pins_objects: bool,
}

impl ElementWriter {
    pub(in super::super) fn new(options: WriteOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Begins a document.
    pub(in super::super) fn begin(&mut self) {
        self.clear_tables();
        self.pins_objects = false;
        self.clear_output();
    }

    /// Begins the next part of a document; values of earlier parts may have been dropped.
    pub(in super::super) fn continue_document(&mut self) {
        if !self.pins_objects {
            self.clear_tables();
            self.pins_objects = true;
        }
        self.clear_output();
    }

    /// Ends the document. Returns its bytes, or the error.
    // Inlined: a call would reload the length of the buffer right after it was stored.
    #[inline(always)]
    pub(in super::super) fn finish(&mut self, result: Result<(), Error>) -> Result<&[u8], Error> {
        self.clear_tables();
        self.finish_part(result)
    }

    /// Ends a part of a document and returns its bytes. An error ends the document.
    #[inline(always)]
    pub(in super::super) fn finish_part(&mut self, result: Result<(), Error>) -> Result<&[u8], Error> {
        if result.is_err() {
            self.begin();
        }
        result.map(|()| &*self.out)
    }

    /// Removes everything after this length. References to earlier objects are given up as well, because the tables do
    /// not record which objects were removed.
    pub(in super::super) fn truncate(&mut self, len: usize) {
        self.out.truncate(len);
        self.objects.clear_objects();
        self.lists.clear_lists();
    }

    fn clear_tables(&mut self) {
        self.objects.clear();
        self.lists.clear();
    }

    pub(in super::super) fn clear_output(&mut self) {
        if self.out.capacity() > MAX_REUSED_CAPACITY {
            self.out = Vec::new();
        } else {
            self.out.clear();
        }
    }

    #[inline(always)]
    fn push_part(&mut self, part: &TagPart) {
        let end = self.out.len() + part.len;
        self.out.extend_from_slice(&part.bytes);
        self.out.truncate(end);
    }

    #[inline(always)]
    pub(in super::super) fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes a top-level value of a document.
    pub(super) fn item(&mut self, stream: Option<Stream>, value: &Value) -> Result<(), Error> {
        let position = stream.map_or(Position::Item, Position::Top);
        match value {
            // The caller may pass the same object twice without cloning the handle.
            Value::Object(object) => self.object(object, position, 1, true),
            value => self.value(value, position, 1),
        }
    }

    /// Writes a value at this nesting level; the top level is 1.
    pub(in super::super) fn value(
        &mut self,
        value: &Value,
        position: Position<'_>,
        level: usize,
    ) -> Result<(), Error> {
        if level > self.options.depth {
            return self.too_deep(position);
        }
        match value {
            Value::Object(object) => self.object(object, position, level, false),
            Value::Cycle(cycle) => self.cycle(cycle, position, level),
            Value::SecureString(secret) => self.secret(secret, position),
            Value::MemberSet(_) => Err(Error::with(Kind::Unwritable, "a member set outside of members")),
            value => {
                self.simple(value, position);
                Ok(())
            }
        }
    }

    /// Writes a value without nested values. Not inlined, to keep its buffers out of the stack frames of the recursion.
    #[inline(never)]
    fn simple(&mut self, value: &Value, position: Position<'_>) {
        match value {
            Value::Nil => self.nil(position),
            Value::Bool(true) => self.primitive(tag!("B"), position, b"true"),
            Value::Bool(false) => self.primitive(tag!("B"), position, b"false"),
            Value::Char(unit) => self.integer(tag!("C"), position, *unit),
            Value::SByte(number) => self.integer(tag!("SB"), position, *number),
            Value::Byte(number) => self.integer(tag!("By"), position, *number),
            Value::Int16(number) => self.integer(tag!("I16"), position, *number),
            Value::UInt16(number) => self.integer(tag!("U16"), position, *number),
            Value::Int32(number) => self.integer(tag!("I32"), position, *number),
            Value::UInt32(number) => self.integer(tag!("U32"), position, *number),
            Value::Int64(number) => self.integer(tag!("I64"), position, *number),
            Value::UInt64(number) => self.integer(tag!("U64"), position, *number),
            Value::Single(number) => self.primitive(tag!("Sg"), position, number::text(*number).as_bytes()),
            Value::Double(number) => self.primitive(tag!("Db"), position, number::text(*number).as_bytes()),
            Value::Decimal(number) => self.primitive(tag!("D"), position, number.text().as_bytes()),
            Value::String(text) => self.text(tag!("S"), position, text),
            Value::Uri(text) => self.text(tag!("URI"), position, text),
            Value::Xml(text) => self.text(tag!("XD"), position, text),
            Value::ScriptBlock(text) => self.text(tag!("SBK"), position, text),
            Value::Guid(id) => {
                let mut buffer = uuid::Uuid::encode_buffer();
                self.primitive(tag!("G"), position, id.hyphenated().encode_lower(&mut buffer).as_bytes());
            }
            Value::Version(version) => self.version(*version, position),
            Value::DateTime(date) => self.primitive(tag!("DT"), position, date.text().as_bytes()),
            Value::TimeSpan(span) => self.primitive(tag!("TS"), position, span.text().as_bytes()),
            Value::Bytes(bytes) => self.base64(tag!("BA"), position, bytes),
            Value::Progress(record) => self.progress(record, position),
            Value::SecureString(_) | Value::Object(_) | Value::Cycle(_) | Value::MemberSet(_) => {}
        }
    }

    #[cold]
    fn too_deep(&mut self, position: Position<'_>) -> Result<(), Error> {
        match self.options.too_deep.clone() {
            Some(text) => {
                self.text(tag!("S"), position, &text);
                Ok(())
            }
            None => Err(Error::with(Kind::Limit, "values are nested too deep")),
        }
    }

    /// Writes a start tag.
    #[inline(always)]
    fn start_tag(&mut self, tag: &'static Tag, position: Position<'_>) {
        match position {
            Position::Member(name) => {
                self.push_part(&tag.member);
                push_ps_string(&mut self.out, name, Context::Attribute);
                self.raw("\">");
            }
            Position::Item => self.push_part(&tag.item),
            Position::Key => self.push_part(&tag.key),
            Position::Value => self.push_part(&tag.value),
            Position::Top(_) => {
                self.push_part(&tag.open);
                self.attributes(position);
                self.raw(">");
            }
        }
    }

    /// Writes an element without content.
    fn empty_element(&mut self, tag: &'static Tag, position: Position<'_>) {
        self.push_part(&tag.open);
        self.attributes(position);
        self.raw(" />");
    }

    /// Writes the attributes that the position requires.
    #[inline(always)]
    fn attributes(&mut self, position: Position<'_>) {
        match position {
            Position::Item => {}
            Position::Top(stream) => {
                self.raw(" S=\"");
                self.raw(stream.name());
                self.raw("\"");
            }
            Position::Member(name) => {
                self.raw(" N=\"");
                push_ps_string(&mut self.out, name, Context::Attribute);
                self.raw("\"");
            }
            Position::Key => self.raw(" N=\"Key\""),
            Position::Value => self.raw(" N=\"Value\""),
        }
    }

    fn nil(&mut self, position: Position<'_>) {
        self.empty_element(tag!("Nil"), position);
    }

    /// Writes an element with a short text at once, the most frequent case. Returns false, and writes nothing, if the
    /// name or text is longer or may need an escape.
    fn short(&mut self, tag: &'static Tag, position: Position<'_>, text: &[u8]) -> bool {
        if text.len() > SHORT {
            return false;
        }
        let (part, name) = match position {
            Position::Member(name) => match name.as_str() {
                Some(name) if name.len() <= SHORT => (&tag.member, Some(name.as_bytes())),
                _ => return false,
            },
            Position::Item => (&tag.item, None),
            Position::Key => (&tag.key, None),
            Position::Value => (&tag.value, None),
            Position::Top(_) => return false,
        };
        let start = self.out.len();
        self.out.extend_from_slice(&[0; WINDOW]);
        let Some(window) = self.out.last_chunk_mut::<WINDOW>() else { return false };
        put(window, 0, &part.bytes);
        let (mut at, mut plain) = (part.len, true);
        if let Some(name) = name {
            plain = copy(name, window, at);
            at += name.len();
            put(window, at, b"\">");
            at += 2;
        }
        plain &= copy(text, window, at);
        at += text.len();
        put(window, at, &tag.end.bytes);
        at += tag.end.len;
        self.out.truncate(if plain { start + at } else { start });
        plain
    }

    /// Writes text that is not empty and needs no escape.
    #[inline(always)]
    fn primitive(&mut self, tag: &'static Tag, position: Position<'_>, text: &[u8]) {
        // Without a name there is nothing to check, and writing the parts separately takes less time.
        if matches!(position, Position::Member(_)) && self.short(tag, position, text) {
            return;
        }
        self.start_tag(tag, position);
        self.out.extend_from_slice(text);
        self.push_part(&tag.end);
    }

    #[inline(always)]
    fn integer(&mut self, tag: &'static Tag, position: Position<'_>, number: impl itoa::Integer) {
        self.primitive(tag, position, itoa::Buffer::new().format(number).as_bytes());
    }

    #[inline(always)]
    fn text(&mut self, tag: &'static Tag, position: Position<'_>, text: &PsString) {
        if text.is_empty() {
            return self.empty_element(tag, position);
        }
        if let Some(text) = text.as_str()
            && self.short(tag, position, text.as_bytes())
        {
            return;
        }
        self.start_tag(tag, position);
        push_ps_string(&mut self.out, text, Context::Content);
        self.push_part(&tag.end);
    }

    fn base64(&mut self, tag: &'static Tag, position: Position<'_>, bytes: &[u8]) {
        if bytes.is_empty() {
            return self.empty_element(tag, position);
        }
        self.start_tag(tag, position);
        b64::encode(bytes, &mut self.out);
        self.push_part(&tag.end);
    }

    fn version(&mut self, version: Version, position: Position<'_>) {
        let tag = tag!("Version");
        self.start_tag(tag, position);
        let mut buffer = itoa::Buffer::new();
        self.raw(buffer.format(version.major()));
        for part in [Some(version.minor()), version.build(), version.revision()].into_iter().flatten() {
            self.raw(".");
            self.raw(buffer.format(part));
        }
        self.push_part(&tag.end);
    }

    fn secret(&mut self, secret: &SecureString, position: Position<'_>) -> Result<(), Error> {
        let tag = tag!("SS");
        match (self.options.cipher.as_ref(), secret.encrypted()) {
            (Some(cipher), _) => self.base64(tag, position, &secret.encrypt(&**cipher)?),
            (None, Some(encrypted)) => self.base64(tag, position, encrypted),
            (None, None) => return Err(Error::with(Kind::NoKey, "an unencrypted secure string")),
        }
        Ok(())
    }

    fn progress(&mut self, record: &Progress, position: Position<'_>) {
        let tag = tag!("PR");
        self.start_tag(tag, position);
        self.text(tag!("AV"), Position::Item, &record.activity);
        self.integer(tag!("AI"), Position::Item, record.activity_id);
        match &record.current_operation {
            Some(text) => self.text(tag!("S"), Position::Item, text),
            None => self.nil(Position::Item),
        }
        self.integer(tag!("PI"), Position::Item, record.parent_activity_id);
        self.integer(tag!("PC"), Position::Item, record.percent_complete);
        self.raw(if record.completed { "<T>Completed</T>" } else { "<T>Processing</T>" });
        self.integer(tag!("SR"), Position::Item, record.seconds_remaining);
        self.text(tag!("SD"), Position::Item, &record.status_description);
        self.push_part(&tag.end);
    }

    #[cold]
    fn cycle(&mut self, cycle: &Cycle, position: Position<'_>, level: usize) -> Result<(), Error> {
        let object = cycle.upgrade();
        let object = object.ok_or_else(|| Error::with(Kind::Unwritable, "a cycle to a dropped object"))?;
        // Even if the object does not enclose this position, this may be the only handle to it.
        self.objects.pin(&object);
        self.object(&object, position, level, true)
    }

    /// Writes an object, or a reference to it if the document contains it already. The object is only looked up and
    /// remembered if `may_recur` is set or it is shared; other objects can't occur again.
    fn object(
        &mut self,
        object: &Object,
        position: Position<'_>,
        level: usize,
        may_recur: bool,
    ) -> Result<(), Error> {
        let may_recur = may_recur || object.is_shared();
        if may_recur && let Some(number) = self.objects.find(object) {
            self.raw("<Ref");
            self.attributes(position);
            self.ref_id(number);
            self.raw(" />");
            return Ok(());
        }
        if may_recur && self.pins_objects {
            self.objects.pin(object);
        }
        let number = self.objects.add(object, may_recur);
        self.raw("<Obj");
        self.attributes(position);
        self.ref_id(number);
        let content = object.content();
        let empty = content.type_names.as_ref().is_none_or(|names| names.as_slice().is_empty())
            && content.to_string.is_none()
            && matches!(content.base, Base::None)
            && content.adapted.is_empty()
            && content.extended.is_empty();
        if empty {
            self.raw(" />");
            return Ok(());
        }
        self.raw(">");
        if let Some(names) = &content.type_names {
            self.type_names(names);
        }
        if let Some(text) = &content.to_string {
            self.text_form(text);
        }
        self.base(&content.base, level + 1)?;
        if !content.adapted.is_empty() {
            self.raw("<Props>");
            self.members(&content.adapted, level + 1)?;
            self.raw("</Props>");
        }
        if !content.extended.is_empty() {
            self.raw("<MS>");
            self.members(&content.extended, level + 1)?;
            self.raw("</MS>");
        }
        self.raw("</Obj>");
        Ok(())
    }

    /// Writes the text form of an object. Not inlined, for the same reason as [`simple`](Self::simple).
    #[inline(never)]
    fn text_form(&mut self, text: &PsString) {
        self.text(tag!("ToString"), Position::Item, text);
    }

    #[inline(always)]
    fn ref_id(&mut self, number: u32) {
        self.raw(" RefId=\"");
        self.raw(itoa::Buffer::new().format(number));
        self.raw("\"");
    }

    fn type_names(&mut self, names: &TypeNames) {
        if names.as_slice().is_empty() {
            return;
        }
        match self.lists.find_or_add(names) {
            Ok(number) => {
                self.raw("<TNRef");
                self.ref_id(number);
                self.raw(" />");
            }
            Err(number) => {
                self.raw("<TN");
                self.ref_id(number);
                self.raw(">");
                for name in names {
                    self.text(tag!("T"), Position::Item, name);
                }
                self.raw("</TN>");
            }
        }
    }

    fn base(&mut self, base: &Base, level: usize) -> Result<(), Error> {
        match base {
            Base::None => Ok(()),
            Base::Value(value) => self.value(value, Position::Item, level),
            Base::List(kind, items) => {
                let tag = match kind {
                    ContainerKind::List => tag!("LST"),
                    ContainerKind::Enumerable => tag!("IE"),
                    ContainerKind::Queue => tag!("QUE"),
                    ContainerKind::Stack => tag!("STK"),
                };
                if items.is_empty() {
                    self.empty_element(tag, Position::Item);
                    return Ok(());
                }
                self.push_part(&tag.item);
                for item in items {
                    self.value(item, Position::Item, level)?;
                }
                self.push_part(&tag.end);
                Ok(())
            }
            Base::Dictionary(entries) => self.dictionary(entries, level),
        }
    }

    fn dictionary(&mut self, entries: &[(Value, Value)], level: usize) -> Result<(), Error> {
        let tag = tag!("DCT");
        if entries.is_empty() {
            self.empty_element(tag, Position::Item);
            return Ok(());
        }
        self.push_part(&tag.item);
        for (key, value) in entries {
            if key.is_nil() {
                return Err(Error::with(Kind::Unwritable, "a dictionary with a null key"));
            }
            self.raw("<En>");
            self.value(key, Position::Key, level)?;
            self.value(value, Position::Value, level)?;
            self.raw("</En>");
        }
        self.push_part(&tag.end);
        Ok(())
    }

    fn members(&mut self, members: &Members, level: usize) -> Result<(), Error> {
        for (name, value) in members.iter() {
            match value {
                Value::MemberSet(set) => self.member_set(name, set, level)?,
                value => self.value(value, Position::Member(name), level)?,
            }
        }
        Ok(())
    }

    fn member_set(&mut self, name: &PsString, set: &Members, level: usize) -> Result<(), Error> {
        let (tag, position) = (tag!("MS"), Position::Member(name));
        if level > self.options.depth {
            return self.too_deep(position);
        }
        if set.is_empty() {
            self.empty_element(tag, position);
            return Ok(());
        }
        self.start_tag(tag, position);
        self.members(set, level + 1)?;
        self.push_part(&tag.end);
        Ok(())
    }
}
