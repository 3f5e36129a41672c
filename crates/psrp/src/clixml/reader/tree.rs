//! Builds values from elements, without recursion.

use super::attributes::{self, Attributes};
use super::leaf::{self, Leaf};
use super::markup::{Markup, Source};
use super::primitive;
use super::references::{Id, Table};
use super::tag::{Primitive, StartTag, Tag};
use super::text::Text;
use crate::Error;
use crate::clixml::{Limits, ReadOptions};
use crate::error::Kind;
use crate::value::object::Content;
use crate::value::{Base, ContainerKind, Cycle, Members, Object, PsString, TypeNames, Value};

/// Builds values: the open elements, and the objects and type names by identifier.
#[derive(Default)]
pub(super) struct Tree {
    options: ReadOptions,
    /// Number of values and type names so far.
    nodes: usize,
    /// Memory of all values so far in bytes, including those already returned.
    pub(super) decoded_size: usize,
    /// Number of open objects and member sets.
    depth: usize,
    objects: Table<ObjectState>,
    type_names: Table<TypeNames>,
    /// Open elements, outermost first.
    open_elements: Vec<OpenElement>,
    /// Open objects, outermost first.
    open_objects: Vec<OpenObject>,
    // The contents of the open elements, those of the innermost last. One vector per kind: when an element is closed,
    // its part is split off with the exact size.
    members: Vec<Member>,
    // If nothing is open, the value that was read.
    values: Vec<Value>,
    entries: Vec<(Value, Value)>,
    names: Vec<PsString>,
}

type Member = (PsString, Value);

/// Bytes charged for each identifier in a table of references, in addition to its text.
const IDENTIFIER: usize = 64;

/// Bytes that the XML reader allocates for each level of skipped elements.
const SKIPPED_LEVEL: usize = 16;

/// An element that contains other elements. The numbers are the offset of its contents in a vector of the tree.
enum OpenElement {
    Object,
    Adapted(usize),
    Extended(usize),
    /// A named set of extended members.
    Set(PsString, usize),
    Items(ContainerKind, usize),
    Dictionary(usize),
    /// The key and the value are in `values`.
    Entry(usize),
}

/// An object that is not complete.
struct OpenObject {
    content: Content,
    /// Name of this object as a member of the enclosing object.
    name: PsString,
    id: Option<Id>,
    /// Created by the first reference from inside the object.
    cycle: Option<Cycle>,
    /// Number of enclosing objects and member sets.
    level: usize,
    /// Deepest level inside it, also through references.
    deepest: usize,
}

/// The object with an identifier.
enum ObjectState {
    /// The index of an open object.
    Open(usize),
    /// A complete object and its height in levels.
    Closed(Object, usize),
}

impl Tree {
    pub(super) fn new(options: ReadOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Clears the tables of identifiers at the start of another document.
    pub(super) fn clear_references(&mut self) {
        self.objects.clear();
        self.type_names.clear();
    }

    /// Reads the value whose start tag was just read.
    pub(super) fn read(&mut self, source: &mut Source<'_>, start: &StartTag<'_>) -> Result<Value, Error> {
        let at = source.offset();
        self.value(source, start, PsString::default()).map_err(|error| error.or_offset(at))?;
        while !self.open_elements.is_empty() {
            let done = match source.rest() {
                Some(rest) if source.end(rest) => Some(self.close()),
                Some(rest) => self.fast_path(source, rest),
                None => None,
            };
            done.unwrap_or_else(|| self.xml_markup(source))
                .map_err(|error| error.or_offset(source.offset()))?;
        }
        Ok(self.values.pop().unwrap_or_default())
    }

    /// Reads a tag or comment with the XML reader.
    fn xml_markup(&mut self, source: &mut Source<'_>) -> Result<(), Error> {
        let markup = source.xml_markup()?;
        let at = source.offset();
        match markup {
            None => Ok(()),
            Some(Markup::Start(start)) => self.element(source, &start),
            Some(Markup::End) => self.close(),
            Some(Markup::Eof) => Err(source.unexpected_end()),
        }
        .map_err(|error| error.or_offset(at))
    }

    /// Reads the element at the start of the rest if it is in the usual form.
    #[inline]
    fn fast_path<'a>(&mut self, source: &mut Source<'a>, rest: &'a str) -> Option<Result<(), Error>> {
        let (tag, name, inside) = Tag::read(rest)?;
        let element = self.open_elements.last()?;
        if let Tag::Primitive(primitive) = tag
            && !matches!(element, OpenElement::Dictionary(_))
            && let Some((leaf, after)) = Leaf::read(primitive, name, inside)
        {
            source.take_until(rest, after);
            return Some(self.leaf(leaf));
        }
        if tag == Tag::ToString
            && matches!(element, OpenElement::Object)
            && let Some((text, after)) = inside.strip_prefix('>').and_then(|text| leaf::content(text, name))
        {
            source.take_until(rest, after);
            return Some(Text::of(text).and_then(|text| self.set_text(text)));
        }
        let start = StartTag::of(tag, inside);
        let (start, after) = start.as_ref()?;
        source.open(rest, name, start.is_empty, after);
        let at = source.offset();
        Some(self.element(source, start).map_err(|error| error.or_offset(at)))
    }

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Error> {
        self.count_value()?;
        match self.open_elements.last() {
            Some(OpenElement::Adapted(_) | OpenElement::Extended(_) | OpenElement::Set(..)) => {
                let name = leaf.name.ok_or_else(missing_name)?;
                let name = if name.plain { name.text.into() } else { PsString::from_escaped(name.text) };
                let value = primitive::value(leaf.tag, Text::of(leaf.text)?, &self.options)?;
                self.charge(size_of::<PsString>() + name.heap_size() + value.heap_size())?;
                self.members.push((name, value));
                Ok(())
            }
            element => {
                if let Some(&OpenElement::Entry(from)) = element {
                    self.expect_part(from, leaf.name.map(|name| name.text))?;
                }
                let value = primitive::value(leaf.tag, Text::of(leaf.text)?, &self.options)?;
                self.charge(value.heap_size())?;
                self.add_value(PsString::default(), value)
            }
        }
    }

    /// Checks the name of the next element of an entry: `Key`, then `Value`.
    fn expect_part(&self, from: usize, name: Option<&str>) -> Result<(), Error> {
        let part = ["Key", "Value"].get(self.values.len() - from);
        match (part, name) {
            (Some(part), Some(name)) if name.eq_ignore_ascii_case(part) => Ok(()),
            _ => Err(structure("an entry has a key and then a value")),
        }
    }

    /// Adds an element to the innermost open element.
    fn element(&mut self, source: &mut Source<'_>, start: &StartTag<'_>) -> Result<(), Error> {
        match self.open_elements.last() {
            Some(OpenElement::Object) => self.object_child(source, start),
            Some(OpenElement::Adapted(_)) => {
                let name = self.member_name(&start.attributes)?;
                self.value(source, start, name)
            }
            Some(OpenElement::Extended(_) | OpenElement::Set(..)) => {
                let name = self.member_name(&start.attributes)?;
                match start.tag {
                    Tag::Extended => self.set(start, name),
                    _ => self.value(source, start, name),
                }
            }
            Some(OpenElement::Items(..)) | None => self.value(source, start, PsString::default()),
            Some(OpenElement::Dictionary(_)) => match start.tag {
                Tag::Entry if !start.is_empty => {
                    self.open_elements.push(OpenElement::Entry(self.values.len()));
                    Ok(())
                }
                Tag::Entry => Err(structure("an entry without key and value")),
                _ => Err(structure("a dictionary has nothing but entries")),
            },
            Some(&OpenElement::Entry(from)) => {
                self.expect_part(from, start.attributes.name)?;
                self.value(source, start, PsString::default())
            }
        }
    }

    /// Reads an element that is a value: a primitive, an object or a reference.
    fn value(&mut self, source: &mut Source<'_>, start: &StartTag<'_>, name: PsString) -> Result<(), Error> {
        self.count_value()?;
        let value = match start.tag {
            Tag::Primitive(Primitive::Nil) if start.is_empty => Value::Nil,
            Tag::Primitive(tag) => primitive::value(tag, start.text(source)?, &self.options)?,
            Tag::Object => {
                self.open(&start.attributes, name)?;
                return if start.is_empty { self.close() } else { Ok(()) };
            }
            Tag::Reference => {
                start.expect_no_text(source)?;
                self.resolve(&start.attributes)?
            }
            Tag::Progress if !start.is_empty => primitive::progress_record(source)?.into(),
            Tag::Progress => return Err(structure("an incomplete progress record")),
            _ => return Err(structure("an element that is not a value")),
        };
        self.charge(value.heap_size())?;
        self.add_value(name, value)
    }

    /// Reads a child element of an object.
    fn object_child(&mut self, source: &mut Source<'_>, start: &StartTag<'_>) -> Result<(), Error> {
        match start.tag {
            Tag::Adapted | Tag::Extended if start.is_empty => {}
            Tag::Adapted => self.open_elements.push(OpenElement::Adapted(self.members.len())),
            Tag::Extended => self.open_elements.push(OpenElement::Extended(self.members.len())),
            Tag::TypeNames => {
                let names = self.read_type_names(source, start)?;
                self.set_type_names(names)?;
            }
            Tag::TypeNamesReference => {
                start.expect_no_text(source)?;
                let id = attributes::value(start.attributes.ref_id.ok_or_else(missing_id)?)?;
                let names =
                    self.type_names.get(&id).cloned().ok_or_else(|| {
                        Error::with(Kind::UnknownReference, "an undefined list of type names")
                    })?;
                self.set_type_names(names)?;
            }
            Tag::ToString => {
                let text = start.text(source)?;
                self.set_text(text)?;
            }
            Tag::Items(kind) => {
                self.set_base(Base::List(kind, Vec::new()))?;
                if !start.is_empty {
                    self.open_elements.push(OpenElement::Items(kind, self.values.len()));
                }
            }
            Tag::Dictionary => {
                self.set_base(Base::Dictionary(Vec::new()))?;
                if !start.is_empty {
                    self.open_elements.push(OpenElement::Dictionary(self.entries.len()));
                }
            }
            Tag::Primitive(_) | Tag::Progress | Tag::Object | Tag::Reference => {
                return self.value(source, start, PsString::default());
            }
            // Like PowerShell does for later versions of the format.
            Tag::Unknown => {
                if !start.is_empty {
                    source.skip(|| self.charge(SKIPPED_LEVEL))?;
                }
            }
            Tag::Entry | Tag::Document => {
                return Err(structure("an element that is not part of an object"));
            }
        }
        Ok(())
    }

    /// Opens an object.
    fn open(&mut self, attributes: &Attributes<'_>, name: PsString) -> Result<(), Error> {
        self.charge(Object::SIZE)?;
        let id = match attributes.ref_id {
            None => None,
            Some(id) => {
                let id = attributes::value(id)?;
                self.charge(IDENTIFIER + id.len())?;
                Some(self.objects.insert(&id, ObjectState::Open(self.open_objects.len())))
            }
        };
        let level = self.depth;
        self.depth += 1;
        self.open_elements.push(OpenElement::Object);
        self.open_objects.push(OpenObject {
            content: Content::default(),
            name,
            id,
            cycle: None,
            level,
            deepest: self.depth,
        });
        Ok(())
    }

    /// Opens a named set of extended members.
    fn set(&mut self, start: &StartTag<'_>, name: PsString) -> Result<(), Error> {
        self.count_value()?;
        self.charge(size_of::<Members>())?;
        if start.is_empty {
            return self.add_value(name, Value::MemberSet(Box::default()));
        }
        self.depth += 1;
        self.record_depth(self.depth)?;
        self.open_elements.push(OpenElement::Set(name, self.members.len()));
        Ok(())
    }

    /// Closes the innermost open element.
    fn close(&mut self) -> Result<(), Error> {
        match self.open_elements.pop() {
            Some(OpenElement::Object) => return self.close_object(),
            Some(OpenElement::Adapted(from)) => {
                let members = Members(self.members.split_off(from));
                append(&mut self.content().adapted, members);
            }
            Some(OpenElement::Extended(from)) => {
                let members = Members(self.members.split_off(from));
                append(&mut self.content().extended, members);
            }
            Some(OpenElement::Set(name, from)) => {
                self.depth -= 1;
                let members = Members(self.members.split_off(from));
                return self.add_value(name, Value::MemberSet(Box::new(members)));
            }
            Some(OpenElement::Items(kind, from)) => {
                let items = self.values.split_off(from);
                self.content().base = Base::List(kind, items);
            }
            Some(OpenElement::Dictionary(from)) => {
                let entries = self.entries.split_off(from);
                self.content().base = Base::Dictionary(entries);
            }
            Some(OpenElement::Entry(from)) => {
                let mut parts = self.values.drain(from..);
                match (parts.next(), parts.next()) {
                    (Some(key), Some(value)) => self.entries.push((key, value)),
                    _ => return Err(structure("an entry without a value")),
                }
            }
            // The XML reader rejects end tags without a start tag.
            None => return Err(structure("an end tag without a start")),
        }
        Ok(())
    }

    fn close_object(&mut self) -> Result<(), Error> {
        self.depth -= 1;
        // Each open object has an `OpenElement::Object`.
        let Some(open_object) = self.open_objects.pop() else { return Ok(()) };
        let object = Object::from_content(open_object.content);
        if let Some(cycle) = open_object.cycle {
            cycle.set(&object);
        }
        if let Some(state) = open_object.id.and_then(|id| self.objects.get_mut(&id))
            // Not if another object has taken over the identifier.
            && matches!(state, ObjectState::Open(index) if *index == self.open_objects.len())
        {
            *state = ObjectState::Closed(object.clone(), open_object.deepest - open_object.level);
        }
        if let Some(outer) = self.open_objects.last_mut() {
            outer.deepest = outer.deepest.max(open_object.deepest);
        }
        self.add_value(open_object.name, object.into())
    }

    /// Adds a value to the innermost open element.
    #[inline]
    fn add_value(&mut self, name: PsString, value: Value) -> Result<(), Error> {
        match self.open_elements.last() {
            Some(OpenElement::Object) => self.set_base(Base::Value(value))?,
            Some(OpenElement::Adapted(_) | OpenElement::Extended(_) | OpenElement::Set(..)) => {
                self.members.push((name, value))
            }
            Some(OpenElement::Entry(from)) if *from == self.values.len() && value.is_nil() => {
                return Err(structure("an entry with null as its key"));
            }
            _ => self.values.push(value),
        }
        Ok(())
    }

    /// Resolves a reference.
    fn resolve(&mut self, attributes: &Attributes<'_>) -> Result<Value, Error> {
        let id = attributes::value(attributes.ref_id.ok_or_else(missing_id)?)?;
        match self.objects.get(&id) {
            None => Err(Error::with(Kind::UnknownReference, "an undefined object")),
            Some(ObjectState::Closed(object, levels)) => {
                let value = object.clone().into();
                let levels = *levels;
                self.record_depth(self.depth + levels)?;
                Ok(value)
            }
            Some(&ObjectState::Open(index)) => {
                if self.open_objects[index].cycle.is_none() {
                    self.charge(Cycle::SIZE)?;
                }
                let cycle = self.open_objects[index].cycle.get_or_insert_with(Cycle::unset);
                Ok(Value::Cycle(cycle.clone()))
            }
        }
    }

    /// Records that the innermost object contains something at this level.
    ///
    /// With references, a flat document can build objects of any depth. The depth is limited because other code
    /// recurses into values.
    fn record_depth(&mut self, level: usize) -> Result<(), Error> {
        if level > Limits::MAX_DEPTH {
            return Err(Error::with(Kind::Limit, "objects are nested too deep by references"));
        }
        if let Some(open_object) = self.open_objects.last_mut() {
            open_object.deepest = open_object.deepest.max(level);
        }
        Ok(())
    }

    /// Reads the list of type names whose start tag was just read.
    fn read_type_names(&mut self, source: &mut Source<'_>, start: &StartTag<'_>) -> Result<TypeNames, Error> {
        self.names.clear();
        if !start.is_empty {
            while let Some(name) = next_type_name(source)? {
                self.count()?;
                let name = name.into_string();
                self.charge(size_of::<PsString>() + name.heap_size())?;
                self.names.push(name);
            }
        }
        self.charge(TypeNames::SIZE)?;
        let names = TypeNames::new(self.names.drain(..));
        if let Some(id) = start.attributes.ref_id {
            let id = attributes::value(id)?;
            self.charge(IDENTIFIER + id.len())?;
            self.type_names.insert(&id, names.clone());
        }
        Ok(names)
    }

    fn member_name(&mut self, attributes: &Attributes<'_>) -> Result<PsString, Error> {
        let name = attributes.name.ok_or_else(missing_name)?;
        let name = PsString::from_escaped(&attributes::value(name)?);
        self.charge(size_of::<PsString>() + name.heap_size())?;
        Ok(name)
    }

    /// Sets the text form of the innermost object.
    fn set_text(&mut self, text: Text<'_>) -> Result<(), Error> {
        let text = text.into_string();
        self.charge(text.heap_size())?;
        match self.content().to_string.replace(text) {
            None => Ok(()),
            Some(_) => Err(structure("an object with two texts")),
        }
    }

    /// Sets the type names of the innermost object; an empty list is the same as none.
    fn set_type_names(&mut self, names: TypeNames) -> Result<(), Error> {
        if names.as_slice().is_empty() {
            return Ok(());
        }
        match self.content().type_names.replace(names) {
            None => Ok(()),
            Some(_) => Err(structure("an object with two lists of type names")),
        }
    }

    /// Sets the wrapped value of the innermost object.
    fn set_base(&mut self, base: Base) -> Result<(), Error> {
        let content = self.content();
        if !matches!(content.base, Base::None) {
            return Err(structure("an object that wraps two values"));
        }
        content.base = base;
        Ok(())
    }

    /// Returns the content of the innermost open object.
    fn content(&mut self) -> &mut Content {
        let Some(open_object) = self.open_objects.last_mut() else {
            unreachable!("parts of objects are only read inside of objects");
        };
        &mut open_object.content
    }

    /// Counts a value at the current level.
    fn count_value(&mut self) -> Result<(), Error> {
        if self.depth >= self.options.limits.depth {
            return Err(Error::with(Kind::Limit, "elements are nested too deep"));
        }
        self.count()?;
        self.charge(size_of::<Value>())
    }

    fn count(&mut self) -> Result<(), Error> {
        if self.nodes >= self.options.limits.nodes {
            return Err(Error::with(Kind::Limit, "too many values"));
        }
        self.nodes += 1;
        Ok(())
    }

    /// Charges memory of a value.
    #[inline]
    fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        self.decoded_size = self.decoded_size.saturating_add(bytes);
        if self.decoded_size > self.options.limits.decoded_size {
            return Err(Error::with(Kind::Limit, "decoded size of the values (set max_decoded_size)"));
        }
        Ok(())
    }
}

impl StartTag<'_> {
    fn text<'a>(&self, source: &mut Source<'a>) -> Result<Text<'a>, Error> {
        if self.is_empty { Ok(Text::Raw("")) } else { source.text() }
    }

    fn expect_no_text(&self, source: &mut Source<'_>) -> Result<(), Error> {
        match self.text(source)?.plain() {
            Ok(text) if text.trim_ascii().is_empty() => Ok(()),
            _ => Err(structure("text in a reference")),
        }
    }
}

/// Reads the next name of a list of type names, or `None` at its end tag.
fn next_type_name<'a>(source: &mut Source<'a>) -> Result<Option<Text<'a>>, Error> {
    if let Some(name) = source.element_text("T") {
        return Ok(Some(name));
    }
    if source.rest().is_some_and(|rest| source.end(rest)) {
        return Ok(None);
    }
    match source.text_element()? {
        Some(("T", name)) => Ok(Some(name)),
        Some(_) => Err(source.structure("a list of type names has nothing but type names")),
        None => Ok(None),
    }
}

/// Appends members. Usually there are none yet.
fn append(members: &mut Members, more: Members) {
    if members.is_empty() {
        *members = more;
    } else {
        for (name, value) in more {
            members.push(name, value);
        }
    }
}

fn missing_name() -> Error {
    structure("a member without a name")
}

fn missing_id() -> Error {
    structure("a reference without an identifier")
}

fn structure(what: &'static str) -> Error {
    Error::with(Kind::Structure, what)
}
