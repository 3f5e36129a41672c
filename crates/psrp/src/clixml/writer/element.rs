//! The elements of values.

use super::super::escape::{Context, push_ps_string};
use super::super::short::{SHORT, copy, put};
use super::super::{Stream, number};
use super::WriteOptions;
use super::references::{Lists, Objects};
use super::tag::{Piece, Tag, tag};
use crate::error::Kind;
use crate::value::{
    Base, ContainerKind, Cycle, Members, Progress, PsString, SecureString, TypeNames, Value, Version,
};
use crate::{Error, Object, b64};

/// Buffers larger than this are not kept for the next document.
const KEPT: usize = 1 << 20;

/// The space of an element that is written in one go: two pieces of tags, a name and a text, and two bytes in between.
const WINDOW: usize = Piece::LONGEST + SHORT + 2 + SHORT + Piece::LONGEST;

/// Where an element stands, which its attributes tell.
#[derive(Clone, Copy)]
pub(in super::super) enum Place<'a> {
    /// Among other elements, without an attribute.
    Item,
    /// At the top of a document.
    Top(Stream),
    /// A member of an object.
    Member(&'a PsString),
    /// The key of an entry of a dictionary.
    Key,
    /// The value of an entry of a dictionary.
    Value,
}

/// A buffer, and what a document remembers.
#[derive(Default)]
pub(in super::super) struct Elements {
    out: Vec<u8>,
    objects: Objects,
    lists: Lists,
    options: WriteOptions,
    /// Whether values can go away before the document ends, so that their objects have to be held.
    pinning: bool,
}

impl Elements {
    pub(in super::super) fn new(options: WriteOptions) -> Self {
        Self { options, ..Self::default() }
    }

    pub(in super::super) fn options(&self) -> &WriteOptions {
        &self.options
    }

    /// Begins a document.
    pub(in super::super) fn start(&mut self) {
        self.forget();
        self.pinning = false;
        self.empty();
    }

    /// Begins another part of a document whose values may be gone in between.
    pub(in super::super) fn go_on(&mut self) {
        if !self.pinning {
            self.forget();
            self.pinning = true;
        }
        self.empty();
    }

    /// Ends the document, and gives its bytes unless writing failed.
    // Inlined, for the length of the buffer was stored just now and would be loaded together with its address.
    #[inline(always)]
    pub(in super::super) fn finish(&mut self, result: Result<(), Error>) -> Result<&[u8], Error> {
        self.forget();
        self.pause(result)
    }

    /// Gives the bytes of a part of a document, which ends if writing failed.
    #[inline(always)]
    pub(in super::super) fn pause(&mut self, result: Result<(), Error>) -> Result<&[u8], Error> {
        if result.is_err() {
            self.start();
        }
        result.map(|()| &*self.out)
    }

    /// The bytes so far.
    pub(in super::super) fn output(&self) -> &[u8] {
        &self.out
    }

    /// Takes back what was written behind this place. Nothing before it can be referred to any more, for the tables do not
    /// tell what is gone.
    pub(in super::super) fn take_back(&mut self, len: usize) {
        self.out.truncate(len);
        self.objects.forget();
        self.lists.forget();
    }

    pub(in super::super) fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes);
    }

    pub(in super::super) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    fn forget(&mut self) {
        self.objects.clear();
        self.lists.clear();
    }

    pub(in super::super) fn empty(&mut self) {
        if self.out.capacity() > KEPT {
            self.out = Vec::new();
        } else {
            self.out.clear();
        }
    }

    #[inline(always)]
    fn piece(&mut self, piece: &Piece) {
        let end = self.out.len() + piece.len;
        self.out.extend_from_slice(&piece.bytes);
        self.out.truncate(end);
    }

    #[inline(always)]
    pub(in super::super) fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Writes a value at the top of a document of several.
    pub(super) fn item(&mut self, stream: Option<Stream>, value: &Value) -> Result<(), Error> {
        let place = stream.map_or(Place::Item, Place::Top);
        match value {
            // The caller may have the same object at the top twice without sharing it.
            Value::Object(object) => self.object(object, place, 1, true),
            value => self.value(value, place, 1),
        }
    }

    /// Writes a value, which `level` elements including its own enclose.
    pub(in super::super) fn value(
        &mut self,
        value: &Value,
        place: Place<'_>,
        level: usize,
    ) -> Result<(), Error> {
        if level > self.options.depth {
            return self.too_deep(place);
        }
        match value {
            Value::Object(object) => self.object(object, place, level, false),
            Value::Cycle(cycle) => self.cycle(cycle, place, level),
            Value::SecureString(secret) => self.secret(secret, place),
            Value::MemberSet(_) => Err(Error::with(Kind::Unwritable, "a set of members that is no member")),
            value => {
                self.simple(value, place);
                Ok(())
            }
        }
    }

    /// Writes a value without others inside. Apart from the rest, for its buffers would take part in every level of nesting.
    #[inline(never)]
    fn simple(&mut self, value: &Value, place: Place<'_>) {
        match value {
            Value::Nil => self.nil(place),
            Value::Bool(true) => self.primitive(tag!("B"), place, b"true"),
            Value::Bool(false) => self.primitive(tag!("B"), place, b"false"),
            Value::Char(unit) => self.integer(tag!("C"), place, *unit),
            Value::SByte(number) => self.integer(tag!("SB"), place, *number),
            Value::Byte(number) => self.integer(tag!("By"), place, *number),
            Value::Int16(number) => self.integer(tag!("I16"), place, *number),
            Value::UInt16(number) => self.integer(tag!("U16"), place, *number),
            Value::Int32(number) => self.integer(tag!("I32"), place, *number),
            Value::UInt32(number) => self.integer(tag!("U32"), place, *number),
            Value::Int64(number) => self.integer(tag!("I64"), place, *number),
            Value::UInt64(number) => self.integer(tag!("U64"), place, *number),
            Value::Single(number) => self.primitive(tag!("Sg"), place, number::text(*number).as_bytes()),
            Value::Double(number) => self.primitive(tag!("Db"), place, number::text(*number).as_bytes()),
            Value::Decimal(number) => self.primitive(tag!("D"), place, number.text().as_bytes()),
            Value::String(text) => self.text(tag!("S"), place, text),
            Value::Uri(text) => self.text(tag!("URI"), place, text),
            Value::Xml(text) => self.text(tag!("XD"), place, text),
            Value::ScriptBlock(text) => self.text(tag!("SBK"), place, text),
            Value::Guid(id) => {
                let mut buffer = uuid::Uuid::encode_buffer();
                self.primitive(tag!("G"), place, id.hyphenated().encode_lower(&mut buffer).as_bytes());
            }
            Value::Version(version) => self.version(*version, place),
            Value::DateTime(date) => self.primitive(tag!("DT"), place, date.text().as_bytes()),
            Value::TimeSpan(span) => self.primitive(tag!("TS"), place, span.text().as_bytes()),
            Value::Bytes(bytes) => self.base64(tag!("BA"), place, bytes),
            Value::Progress(record) => self.progress(record, place),
            Value::SecureString(_) | Value::Object(_) | Value::Cycle(_) | Value::MemberSet(_) => {}
        }
    }

    #[cold]
    fn too_deep(&mut self, place: Place<'_>) -> Result<(), Error> {
        match self.options.too_deep.clone() {
            Some(text) => {
                self.text(tag!("S"), place, &text);
                Ok(())
            }
            None => Err(Error::with(Kind::Limit, "values are nested too deep")),
        }
    }

    /// Writes a start tag.
    #[inline(always)]
    fn start_tag(&mut self, tag: &'static Tag, place: Place<'_>) {
        match place {
            Place::Member(name) => {
                self.piece(&tag.member);
                push_ps_string(&mut self.out, name, Context::Attribute);
                self.raw("\">");
            }
            Place::Item => self.piece(&tag.item),
            Place::Key => self.piece(&tag.key),
            Place::Value => self.piece(&tag.value),
            Place::Top(_) => {
                self.piece(&tag.open);
                self.attributes(place);
                self.raw(">");
            }
        }
    }

    /// Writes an element without content.
    fn empty_element(&mut self, tag: &'static Tag, place: Place<'_>) {
        self.piece(&tag.open);
        self.attributes(place);
        self.raw(" />");
    }

    /// Writes what a place asks of any tag.
    #[inline(always)]
    fn attributes(&mut self, place: Place<'_>) {
        match place {
            Place::Item => {}
            Place::Top(stream) => {
                self.raw(" S=\"");
                self.raw(stream.name());
                self.raw("\"");
            }
            Place::Member(name) => {
                self.raw(" N=\"");
                push_ps_string(&mut self.out, name, Context::Attribute);
                self.raw("\"");
            }
            Place::Key => self.raw(" N=\"Key\""),
            Place::Value => self.raw(" N=\"Value\""),
        }
    }

    fn nil(&mut self, place: Place<'_>) {
        self.empty_element(tag!("Nil"), place);
    }

    /// Writes an element with a short text in one go, as most are. Nothing is written if the name or text is longer or
    /// may need an escape.
    fn short(&mut self, tag: &'static Tag, place: Place<'_>, text: &[u8]) -> bool {
        if text.len() > SHORT {
            return false;
        }
        let (piece, name) = match place {
            Place::Member(name) => match name.as_str() {
                Some(name) if name.len() <= SHORT => (&tag.member, Some(name.as_bytes())),
                _ => return false,
            },
            Place::Item => (&tag.item, None),
            Place::Key => (&tag.key, None),
            Place::Value => (&tag.value, None),
            Place::Top(_) => return false,
        };
        let start = self.out.len();
        self.out.extend_from_slice(&[0; WINDOW]);
        let Some(window) = self.out.last_chunk_mut::<WINDOW>() else { return false };
        put(window, 0, &piece.bytes);
        let (mut at, mut plain) = (piece.len, true);
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

    /// Writes text that needs no escape and is not empty.
    #[inline(always)]
    fn primitive(&mut self, tag: &'static Tag, place: Place<'_>, text: &[u8]) {
        // Without a name there is nothing to look at, and the parts by themselves take less time.
        if matches!(place, Place::Member(_)) && self.short(tag, place, text) {
            return;
        }
        self.start_tag(tag, place);
        self.out.extend_from_slice(text);
        self.piece(&tag.end);
    }

    #[inline(always)]
    fn integer(&mut self, tag: &'static Tag, place: Place<'_>, number: impl itoa::Integer) {
        self.primitive(tag, place, itoa::Buffer::new().format(number).as_bytes());
    }

    #[inline(always)]
    fn text(&mut self, tag: &'static Tag, place: Place<'_>, text: &PsString) {
        if text.is_empty() {
            return self.empty_element(tag, place);
        }
        if let Some(text) = text.as_str()
            && self.short(tag, place, text.as_bytes())
        {
            return;
        }
        self.start_tag(tag, place);
        push_ps_string(&mut self.out, text, Context::Content);
        self.piece(&tag.end);
    }

    fn base64(&mut self, tag: &'static Tag, place: Place<'_>, bytes: &[u8]) {
        if bytes.is_empty() {
            return self.empty_element(tag, place);
        }
        self.start_tag(tag, place);
        b64::encode(bytes, &mut self.out);
        self.piece(&tag.end);
    }

    fn version(&mut self, version: Version, place: Place<'_>) {
        let tag = tag!("Version");
        self.start_tag(tag, place);
        let mut buffer = itoa::Buffer::new();
        self.raw(buffer.format(version.major()));
        for part in [Some(version.minor()), version.build(), version.revision()].into_iter().flatten() {
            self.raw(".");
            self.raw(buffer.format(part));
        }
        self.piece(&tag.end);
    }

    fn secret(&mut self, secret: &SecureString, place: Place<'_>) -> Result<(), Error> {
        let tag = tag!("SS");
        match (self.options.cipher.as_ref(), secret.encrypted()) {
            (Some(cipher), _) => self.base64(tag, place, &secret.encrypt(&**cipher)?),
            (None, Some(encrypted)) => self.base64(tag, place, encrypted),
            (None, None) => return Err(Error::with(Kind::NoKey, "a string to be encrypted")),
        }
        Ok(())
    }

    fn progress(&mut self, record: &Progress, place: Place<'_>) {
        let tag = tag!("PR");
        self.start_tag(tag, place);
        self.text(tag!("AV"), Place::Item, &record.activity);
        self.integer(tag!("AI"), Place::Item, record.activity_id);
        match &record.current_operation {
            Some(text) => self.text(tag!("S"), Place::Item, text),
            None => self.nil(Place::Item),
        }
        self.integer(tag!("PI"), Place::Item, record.parent_activity_id);
        self.integer(tag!("PC"), Place::Item, record.percent_complete);
        self.raw(if record.completed { "<T>Completed</T>" } else { "<T>Processing</T>" });
        self.integer(tag!("SR"), Place::Item, record.seconds_remaining);
        self.text(tag!("SD"), Place::Item, &record.status_description);
        self.piece(&tag.end);
    }

    #[cold]
    fn cycle(&mut self, cycle: &Cycle, place: Place<'_>, level: usize) -> Result<(), Error> {
        let object = cycle.upgrade();
        let object =
            object.ok_or_else(|| Error::with(Kind::Unwritable, "a cycle to an object that is gone"))?;
        // Where the object does not enclose this place, nothing but the handle at hand may hold it.
        self.objects.pin(&object);
        self.object(&object, place, level, true)
    }

    /// Writes an object, or a reference to where the document has it already. It is looked for and remembered if `kept`
    /// or shared: others can't come again.
    fn object(&mut self, object: &Object, place: Place<'_>, level: usize, kept: bool) -> Result<(), Error> {
        let kept = kept || object.is_shared();
        if kept && let Some(number) = self.objects.find(object) {
            self.raw("<Ref");
            self.attributes(place);
            self.ref_id(number);
            self.raw(" />");
            return Ok(());
        }
        if kept && self.pinning {
            self.objects.pin(object);
        }
        let number = self.objects.add(object, kept);
        self.raw("<Obj");
        self.attributes(place);
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

    /// Writes the text of an object. Apart from it, for the same reason as [`simple`](Self::simple).
    #[inline(never)]
    fn text_form(&mut self, text: &PsString) {
        self.text(tag!("ToString"), Place::Item, text);
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
                    self.text(tag!("T"), Place::Item, name);
                }
                self.raw("</TN>");
            }
        }
    }

    fn base(&mut self, base: &Base, level: usize) -> Result<(), Error> {
        match base {
            Base::None => Ok(()),
            Base::Value(value) => self.value(value, Place::Item, level),
            Base::List(kind, items) => {
                let tag = match kind {
                    ContainerKind::List => tag!("LST"),
                    ContainerKind::Enumerable => tag!("IE"),
                    ContainerKind::Queue => tag!("QUE"),
                    ContainerKind::Stack => tag!("STK"),
                };
                if items.is_empty() {
                    self.empty_element(tag, Place::Item);
                    return Ok(());
                }
                self.piece(&tag.item);
                for item in items {
                    self.value(item, Place::Item, level)?;
                }
                self.piece(&tag.end);
                Ok(())
            }
            Base::Dictionary(entries) => self.dictionary(entries, level),
        }
    }

    fn dictionary(&mut self, entries: &[(Value, Value)], level: usize) -> Result<(), Error> {
        let tag = tag!("DCT");
        if entries.is_empty() {
            self.empty_element(tag, Place::Item);
            return Ok(());
        }
        self.piece(&tag.item);
        for (key, value) in entries {
            if key.is_nil() {
                return Err(Error::with(Kind::Unwritable, "a dictionary with null as a key"));
            }
            self.raw("<En>");
            self.value(key, Place::Key, level)?;
            self.value(value, Place::Value, level)?;
            self.raw("</En>");
        }
        self.piece(&tag.end);
        Ok(())
    }

    fn members(&mut self, members: &Members, level: usize) -> Result<(), Error> {
        for (name, value) in members.iter() {
            match value {
                Value::MemberSet(set) => self.member_set(name, set, level)?,
                value => self.value(value, Place::Member(name), level)?,
            }
        }
        Ok(())
    }

    fn member_set(&mut self, name: &PsString, set: &Members, level: usize) -> Result<(), Error> {
        let (tag, place) = (tag!("MS"), Place::Member(name));
        if level > self.options.depth {
            return self.too_deep(place);
        }
        if set.is_empty() {
            self.empty_element(tag, place);
            return Ok(());
        }
        self.start_tag(tag, place);
        self.members(set, level + 1)?;
        self.piece(&tag.end);
        Ok(())
    }
}
