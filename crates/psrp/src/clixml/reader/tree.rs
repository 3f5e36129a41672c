//! Values from elements, without recursion.

use quick_xml::events::{BytesStart, Event};

use super::attributes::{self, Attributes};
use super::leaf::{self, Leaf};
use super::markup::{Markup, Opening};
use super::references::{Id, Table};
use super::source::Source;
use super::tag::{Primitive, Tag};
use super::text::Text;
use super::{ReadOptions, Unknown, primitive, progress};
use crate::Error;
use crate::clixml::Limits;
use crate::error::Kind;
use crate::value::object::Content;
use crate::value::{Base, ContainerKind, Cycle, Members, Object, PsString, TypeNames, Value};

/// What is being built: everything that is open, and what is known by identifier.
pub(super) struct Tree {
    options: ReadOptions,
    /// How many values and type names there were.
    nodes: usize,
    /// Bytes that the values take in memory, those that were handed out included.
    decoded_size: usize,
    /// How many objects and sets of members are open.
    depth: usize,
    objects: Table<Known>,
    type_names: Table<TypeNames>,
    /// What is open, from the outside inwards.
    places: Vec<Place>,
    /// The objects that are open.
    frames: Vec<Frame>,
    // What the open places have so far, those of the innermost place last. One vector for all of a kind: when a place
    // is closed it takes exactly what it needs.
    members: Vec<Member>,
    // With nothing open, the value that was read.
    values: Vec<Value>,
    entries: Vec<(Value, Value)>,
    names: Vec<PsString>,
}

type Member = (PsString, Value);

/// Bytes that an identifier takes in a table, without its text.
const IDENTIFIER: usize = 64;

/// Bytes that the XML reader keeps for each level of elements that are skipped.
const SKIPPED_LEVEL: usize = 16;

/// An element that has other elements in it. Numbers are where its part of a vector of the tree begins.
enum Place {
    Object,
    Adapted(usize),
    Extended(usize),
    /// A named set in the extended members.
    Set(PsString, usize),
    Items(ContainerKind, usize),
    Dictionary(usize),
    /// Key and value are among the values.
    Entry(usize),
}

/// An object that is open.
struct Frame {
    content: Content,
    /// Under which name it is a member of what it is in.
    name: PsString,
    id: Option<Id>,
    /// What refers to it from inside.
    cycle: Option<Cycle>,
    /// How many objects and sets are around it.
    level: usize,
    /// The deepest level in it, also of what it refers to.
    deepest: usize,
}

/// What an identifier of an object stands for.
enum Known {
    /// The open object at this index.
    Open(usize),
    /// An object, and how many levels there are in it.
    Closed(Object, usize),
}

impl Tree {
    pub(super) fn new(options: ReadOptions) -> Self {
        Self {
            options,
            nodes: 0,
            decoded_size: 0,
            depth: 0,
            objects: Table::new(),
            type_names: Table::new(),
            places: Vec::new(),
            frames: Vec::new(),
            members: Vec::new(),
            values: Vec::new(),
            entries: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Bytes that all values so far take in memory.
    pub(super) fn decoded_size(&self) -> usize {
        self.decoded_size
    }

    /// Forgets what identifiers stand for: another document begins.
    pub(super) fn forget(&mut self) {
        self.objects.clear();
        self.type_names.clear();
    }

    /// Reads the value whose start tag was read last.
    pub(super) fn read(
        &mut self,
        source: &mut Source<'_>,
        start: &Start<'_>,
        attributes: &Attributes<'_>,
    ) -> Result<Value, Error> {
        let at = source.offset();
        self.value(source, start, attributes, PsString::default()).map_err(|error| error.or_offset(at))?;
        while !self.places.is_empty() {
            let done = match source.rest() {
                Some(rest) if rest.starts_with("</") => source.end(rest)?.then(|| self.close()),
                Some(rest) => self.usual(source, rest),
                None => None,
            };
            done.unwrap_or_else(|| self.event(source)).map_err(|error| error.or_offset(source.offset()))?;
        }
        Ok(self.values.pop().unwrap_or_default())
    }

    /// Takes what is not in a usual form.
    fn event(&mut self, source: &mut Source<'_>) -> Result<(), Error> {
        let event = source.next()?;
        let at = source.offset();
        let start = match &event {
            Event::Start(tag) => Start::new(tag, false),
            Event::Empty(tag) => Start::new(tag, true),
            Event::End(_) => return self.close().map_err(|error| error.or_offset(at)),
            event => return source.blank(event),
        };
        let attributes = Attributes::parse(start.attributes).map_err(|error| error.or_offset(at))?;
        self.element(source, &start, &attributes).map_err(|error| error.or_offset(at))
    }

    /// Takes the element at the start of the rest into the innermost place, unless the XML reader has to read it.
    #[inline]
    fn usual<'a>(&mut self, source: &mut Source<'a>, rest: &'a str) -> Option<Result<(), Error>> {
        let (tag, name, inside) = Tag::read(rest)?;
        let place = self.places.last()?;
        if let Tag::Primitive(primitive) = tag
            && !matches!(place, Place::Dictionary(_))
            && let Some((leaf, after)) = Leaf::read(primitive, name, inside)
        {
            source.take_until(rest, after);
            return Some(self.leaf(leaf));
        }
        if tag == Tag::ToString
            && matches!(place, Place::Object)
            && let Some((text, after)) = inside.strip_prefix('>').and_then(|text| leaf::content(text, name))
        {
            source.take_until(rest, after);
            return Some(Text::of(text).and_then(|text| self.set_text(text)));
        }
        let opening = Opening::of(tag, name, inside);
        let (opening, after) = opening.as_ref()?;
        source.open(rest, opening, after);
        let start = Start { tag, attributes: "", empty: opening.empty };
        let at = source.offset();
        Some(self.element(source, &start, &opening.attributes).map_err(|error| error.or_offset(at)))
    }

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<(), Error> {
        self.enter()?;
        match self.places.last() {
            Some(Place::Adapted(_) | Place::Extended(_) | Place::Set(..)) => {
                let name = leaf.name.ok_or_else(without_name)?;
                let name = if name.plain { name.text.into() } else { PsString::from_escaped(name.text) };
                let value = primitive::value(leaf.tag, Text::of(leaf.text)?, &self.options)?;
                self.charge(size_of::<PsString>() + name.heap_size() + value.heap_size())?;
                self.members.push((name, value));
                Ok(())
            }
            place => {
                if let Some(&Place::Entry(from)) = place {
                    self.expect_part(from, leaf.name.map(|name| name.text))?;
                }
                let value = primitive::value(leaf.tag, Text::of(leaf.text)?, &self.options)?;
                self.charge(value.heap_size())?;
                self.put(PsString::default(), value)
            }
        }
    }

    /// Checks that this is the name of the next part of the entry whose parts begin there.
    fn expect_part(&self, from: usize, name: Option<&str>) -> Result<(), Error> {
        let part = ["Key", "Value"].get(self.values.len() - from);
        match (part, name) {
            (Some(part), Some(name)) if name.eq_ignore_ascii_case(part) => Ok(()),
            _ => Err(structure("an entry has a key and then a value")),
        }
    }

    /// Takes an element into the innermost place that is open.
    fn element(
        &mut self,
        source: &mut Source<'_>,
        start: &Start<'_>,
        attributes: &Attributes<'_>,
    ) -> Result<(), Error> {
        match self.places.last() {
            Some(Place::Object) => self.part(source, start, attributes),
            Some(Place::Adapted(_)) => {
                let name = self.member_name(attributes)?;
                self.value(source, start, attributes, name)
            }
            Some(Place::Extended(_) | Place::Set(..)) => {
                let name = self.member_name(attributes)?;
                match start.tag {
                    Tag::Extended => self.set(start, name),
                    _ => self.value(source, start, attributes, name),
                }
            }
            Some(Place::Items(..)) | None => self.value(source, start, attributes, PsString::default()),
            Some(Place::Dictionary(_)) => match start.tag {
                Tag::Entry if !start.empty => {
                    self.places.push(Place::Entry(self.values.len()));
                    Ok(())
                }
                Tag::Entry => Err(structure("an entry without key and value")),
                _ => Err(structure("a dictionary has nothing but entries")),
            },
            Some(&Place::Entry(from)) => {
                self.expect_part(from, attributes.name)?;
                self.value(source, start, attributes, PsString::default())
            }
        }
    }

    /// Reads an element that is a value: a primitive, an object or a reference.
    fn value(
        &mut self,
        source: &mut Source<'_>,
        start: &Start<'_>,
        attributes: &Attributes<'_>,
        name: PsString,
    ) -> Result<(), Error> {
        self.enter()?;
        let value = match start.tag {
            Tag::Primitive(Primitive::Nil) if start.empty => Value::Nil,
            Tag::Primitive(tag) => primitive::value(tag, start.text(source)?, &self.options)?,
            Tag::Object => {
                self.open(attributes, name)?;
                return if start.empty { self.close() } else { Ok(()) };
            }
            Tag::Reference => {
                start.nothing_inside(source)?;
                self.resolve(attributes)?
            }
            Tag::Progress if !start.empty => progress::record(source)?.into(),
            Tag::Progress => return Err(structure("an incomplete progress record")),
            _ => return Err(structure("an element that is no value")),
        };
        self.charge(value.heap_size())?;
        self.put(name, value)
    }

    /// Reads an element directly inside of an object.
    fn part(
        &mut self,
        source: &mut Source<'_>,
        start: &Start<'_>,
        attributes: &Attributes<'_>,
    ) -> Result<(), Error> {
        match start.tag {
            Tag::Adapted if !start.empty => self.places.push(Place::Adapted(self.members.len())),
            Tag::Extended if !start.empty => self.places.push(Place::Extended(self.members.len())),
            Tag::Adapted | Tag::Extended => {}
            Tag::TypeNames => {
                let names = self.list_of_names(source, start, attributes)?;
                self.set_type_names(names)?;
            }
            Tag::TypeNamesReference => {
                start.nothing_inside(source)?;
                let id = attributes::value(attributes.ref_id.ok_or_else(without_id)?)?;
                let names = self.type_names.get(&id).cloned().ok_or_else(|| {
                    Error::with(Kind::UnknownReference, "a list of type names that was not there before")
                })?;
                self.set_type_names(names)?;
            }
            Tag::ToString => {
                let text = start.text(source)?;
                self.set_text(text)?;
            }
            Tag::Items(kind) => {
                self.wrap(Base::List(kind, Vec::new()))?;
                if !start.empty {
                    self.places.push(Place::Items(kind, self.values.len()));
                }
            }
            Tag::Dictionary => {
                self.wrap(Base::Dictionary(Vec::new()))?;
                if !start.empty {
                    self.places.push(Place::Dictionary(self.entries.len()));
                }
            }
            Tag::Primitive(_) | Tag::Progress | Tag::Object | Tag::Reference => {
                return self.value(source, start, attributes, PsString::default());
            }
            Tag::Unknown if self.options.unknown == Unknown::Skip => {
                if !start.empty {
                    source.skip(|| self.charge(SKIPPED_LEVEL))?;
                }
            }
            Tag::Unknown => return Err(structure("an unknown element in an object")),
            Tag::Entry | Tag::Document => {
                return Err(structure("an element that is no part of an object"));
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
                Some(self.objects.insert(&id, Known::Open(self.frames.len())))
            }
        };
        let level = self.depth;
        self.depth += 1;
        self.places.push(Place::Object);
        self.frames.push(Frame {
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
    fn set(&mut self, start: &Start<'_>, name: PsString) -> Result<(), Error> {
        self.enter()?;
        self.charge(size_of::<Members>())?;
        if start.empty {
            return self.put(name, Value::MemberSet(Box::default()));
        }
        self.depth += 1;
        self.reach(self.depth)?;
        self.places.push(Place::Set(name, self.members.len()));
        Ok(())
    }

    /// Closes the innermost place.
    fn close(&mut self) -> Result<(), Error> {
        match self.places.pop() {
            Some(Place::Object) => return self.close_object(),
            Some(Place::Adapted(from)) => {
                let members = Members::from_vec(self.members.split_off(from));
                add(&mut self.content().adapted, members);
            }
            Some(Place::Extended(from)) => {
                let members = Members::from_vec(self.members.split_off(from));
                add(&mut self.content().extended, members);
            }
            Some(Place::Set(name, from)) => {
                self.depth -= 1;
                let members = Members::from_vec(self.members.split_off(from));
                return self.put(name, Value::MemberSet(Box::new(members)));
            }
            Some(Place::Items(kind, from)) => {
                let items = self.values.split_off(from);
                self.content().base = Base::List(kind, items);
            }
            Some(Place::Dictionary(from)) => {
                let entries = self.entries.split_off(from);
                self.content().base = Base::Dictionary(entries);
            }
            Some(Place::Entry(from)) => {
                let mut parts = self.values.drain(from..);
                match (parts.next(), parts.next()) {
                    (Some(key), Some(value)) => self.entries.push((key, value)),
                    _ => return Err(structure("an entry without a value")),
                }
            }
            // The XML reader has refused an end without a start.
            None => return Err(structure("an end tag without a start")),
        }
        Ok(())
    }

    fn close_object(&mut self) -> Result<(), Error> {
        self.depth -= 1;
        // There is a frame for each such place.
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let object = Object::from_content(frame.content);
        if let Some(cycle) = frame.cycle {
            cycle.set(&object);
        }
        if let Some(known) = frame.id.and_then(|id| self.objects.get_mut(&id))
            // Not if another object has taken the identifier.
            && matches!(known, Known::Open(index) if *index == self.frames.len())
        {
            *known = Known::Closed(object.clone(), frame.deepest - frame.level);
        }
        if let Some(outer) = self.frames.last_mut() {
            outer.deepest = outer.deepest.max(frame.deepest);
        }
        self.put(frame.name, object.into())
    }

    /// Puts a value into the innermost place.
    #[inline]
    fn put(&mut self, name: PsString, value: Value) -> Result<(), Error> {
        match self.places.last() {
            Some(Place::Object) => self.wrap(Base::Value(value))?,
            Some(Place::Adapted(_) | Place::Extended(_) | Place::Set(..)) => self.members.push((name, value)),
            Some(Place::Entry(from)) if *from == self.values.len() && value.is_nil() => {
                return Err(structure("an entry with null as its key"));
            }
            _ => self.values.push(value),
        }
        Ok(())
    }

    /// Finds what a reference refers to.
    fn resolve(&mut self, attributes: &Attributes<'_>) -> Result<Value, Error> {
        let id = attributes::value(attributes.ref_id.ok_or_else(without_id)?)?;
        match self.objects.get(&id) {
            None => Err(Error::with(Kind::UnknownReference, "an object that was not there before")),
            Some(Known::Closed(object, levels)) => {
                let value = object.clone().into();
                let levels = *levels;
                self.reach(self.depth + levels)?;
                Ok(value)
            }
            Some(&Known::Open(index)) => {
                if self.frames[index].cycle.is_none() {
                    self.charge(Cycle::SIZE)?;
                }
                let cycle = self.frames[index].cycle.get_or_insert_with(Cycle::unset);
                Ok(Value::Cycle(cycle.clone()))
            }
        }
    }

    /// Notes that the innermost object has something at this level.
    ///
    /// References let a flat document build objects of any depth. What works through values goes down into them, so that
    /// the depth is bounded whatever the way there.
    fn reach(&mut self, level: usize) -> Result<(), Error> {
        if level > Limits::MAX_DEPTH {
            return Err(Error::with(Kind::Limit, "references make a way that is too long"));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.deepest = frame.deepest.max(level);
        }
        Ok(())
    }

    /// Reads the list of type names whose start tag was read last.
    fn list_of_names(
        &mut self,
        source: &mut Source<'_>,
        start: &Start<'_>,
        attributes: &Attributes<'_>,
    ) -> Result<TypeNames, Error> {
        self.names.clear();
        let mut open = !start.empty;
        while open {
            if let Some(name) = source.element_text("T") {
                self.type_name(name)?;
                continue;
            }
            match source.markup()? {
                Some(Markup::End) => break,
                Some(Markup::Start(..)) => {
                    return Err(source.structure("a list of type names has nothing but type names"));
                }
                None => {}
            }
            match source.next()? {
                Event::Start(tag) if tag.name().as_ref() == "T" => {
                    let name = source.text()?;
                    self.type_name(name)?;
                }
                Event::Empty(tag) if tag.name().as_ref() == "T" => self.type_name(Text::Raw(""))?,
                Event::End(_) => open = false,
                Event::Start(_) | Event::Empty(_) => {
                    return Err(source.structure("a list of type names has nothing but type names"));
                }
                event => source.blank(&event)?,
            }
        }
        self.charge(TypeNames::SIZE)?;
        let names = TypeNames::new(self.names.drain(..));
        if let Some(id) = attributes.ref_id {
            let id = attributes::value(id)?;
            self.charge(IDENTIFIER + id.len())?;
            self.type_names.insert(&id, names.clone());
        }
        Ok(names)
    }

    fn type_name(&mut self, text: Text<'_>) -> Result<(), Error> {
        self.count()?;
        let name = text.into_string();
        self.charge(size_of::<PsString>() + name.heap_size())?;
        self.names.push(name);
        Ok(())
    }

    fn member_name(&mut self, attributes: &Attributes<'_>) -> Result<PsString, Error> {
        let name = attributes.name.ok_or_else(without_name)?;
        let name = PsString::from_escaped(&attributes::value(name)?);
        self.charge(size_of::<PsString>() + name.heap_size())?;
        Ok(name)
    }

    /// Gives the innermost object its text.
    fn set_text(&mut self, text: Text<'_>) -> Result<(), Error> {
        let text = text.into_string();
        self.charge(text.heap_size())?;
        match self.content().to_string.replace(text) {
            None => Ok(()),
            Some(_) => Err(structure("an object with two texts")),
        }
    }

    /// Gives the innermost object its type names; none at all are the same as no list.
    fn set_type_names(&mut self, names: TypeNames) -> Result<(), Error> {
        if names.as_slice().is_empty() {
            return Ok(());
        }
        match self.content().type_names.replace(names) {
            None => Ok(()),
            Some(_) => Err(structure("an object with two lists of type names")),
        }
    }

    /// Sets what the innermost object wraps.
    fn wrap(&mut self, base: Base) -> Result<(), Error> {
        let content = self.content();
        if !matches!(content.base, Base::None) {
            return Err(structure("an object that wraps two values"));
        }
        content.base = base;
        Ok(())
    }

    /// The innermost object that is open.
    fn content(&mut self) -> &mut Content {
        let Some(frame) = self.frames.last_mut() else {
            unreachable!("parts of objects are only read inside of objects");
        };
        &mut frame.content
    }

    /// Counts a value at the level at hand.
    fn enter(&mut self) -> Result<(), Error> {
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

    /// Charges for memory that a value takes.
    #[inline]
    fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        self.decoded_size = self.decoded_size.saturating_add(bytes);
        if self.decoded_size > self.options.limits.decoded_size {
            return Err(Error::with(Kind::Limit, "decoded size of the values (set max_decoded_size)"));
        }
        Ok(())
    }
}

/// The start tag of an element.
pub(super) struct Start<'s> {
    pub(super) tag: Tag,
    pub(super) attributes: &'s str,
    /// Whether it is the end as well.
    pub(super) empty: bool,
}

impl<'s> Start<'s> {
    pub(super) fn new(start: &'s BytesStart<'_>, empty: bool) -> Self {
        Self { tag: Tag::of(start.name().into_inner().as_bytes()), attributes: start.attributes_raw(), empty }
    }

    fn text<'a>(&self, source: &mut Source<'a>) -> Result<Text<'a>, Error> {
        if self.empty { Ok(Text::Raw("")) } else { source.text() }
    }

    fn nothing_inside(&self, source: &mut Source<'_>) -> Result<(), Error> {
        match self.text(source)?.plain() {
            Ok(text) if text.trim_ascii().is_empty() => Ok(()),
            _ => Err(structure("a text in a reference")),
        }
    }
}

/// Adds members to those that are there, which mostly are none.
fn add(members: &mut Members, more: Members) {
    if members.is_empty() {
        *members = more;
    } else {
        for (name, value) in more {
            members.push(name, value);
        }
    }
}

fn without_name() -> Error {
    structure("a member without a name")
}

fn without_id() -> Error {
    structure("a reference without an identifier")
}

fn structure(what: &'static str) -> Error {
    Error::with(Kind::Structure, what)
}
