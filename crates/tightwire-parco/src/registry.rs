//! Several message types on one stream, each preceded by an id.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::collections::btree_map;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::any::Any;
use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;

use crate::default_wire::{DecodeOwned, Encode};
use crate::error::{Error, ErrorKind, Fault};
use crate::message::WireExt;
use crate::options::{Levels, Options};
use crate::read::{Context, Input, Reader, State};
use crate::schema::{Schema, SchemaContext, Variant, short_name};
use crate::wire::{Get, Put, StaticWire, Wire, WireOf};
use crate::write::{self, Writer};

/// Maps ids to message types. A frame is an id followed by a message of the type registered under it.
///
/// `W` is the wire type of ids and `I` their Rust type: a number, a string, or any other ordered type. Frames have no
/// length, so nothing after an unknown id can be decoded.
///
/// Fill a registry once and then share it, for example in a static.
///
/// ```
/// use std::sync::LazyLock;
///
/// use tightwire_parco::wire::U8;
/// use tightwire_parco::{HasId, Registry, builder};
///
/// #[derive(Debug, Default, PartialEq)]
/// struct Animal {
///     age: u8,
/// }
///
/// impl HasId<u8> for Animal {
///     fn id(&self) -> u8 {
///         7
///     }
/// }
///
/// static MODELS: LazyLock<Registry<U8, u8>> = LazyLock::new(|| {
///     let mut models = Registry::new(U8);
///     models.register(7, builder::<Animal>().field(U8, |a| &a.age, |a, age| a.age = age)).expect("the only one");
///     models
/// });
///
/// let mut stream = Vec::new();
/// MODELS.encode(&Animal { age: 3 }, &mut stream)?;
/// assert_eq!(stream, [7, 3]);
/// for frame in MODELS.frames(&stream) {
///     assert_eq!(frame?.downcast_ref(), Some(&Animal { age: 3 }));
/// }
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub struct Registry<W, I> {
    id: W,
    models: BTreeMap<I, Box<dyn Model>>,
}

/// A wire type that can encode and decode ids of type `I`.
pub trait IdWire<I>: Put<I> + for<'de> Get<'de, I> {}

impl<I, W: Put<I> + for<'de> Get<'de, I>> IdWire<I> for W {}

/// A type that knows the id it is registered under.
pub trait HasId<I> {
    /// Returns the id.
    fn id(&self) -> I;
}

/// A decoded message and its id.
#[derive(Debug)]
pub struct Frame<I> {
    /// Id that the message begins with.
    pub id: I,
    /// The message, of the type that is registered under the id.
    pub value: Box<dyn Any + Send>,
}

impl<W: IdWire<I>, I: Ord + fmt::Display> Registry<W, I> {
    /// Creates an empty registry whose ids have this wire type.
    ///
    /// [`HeaderInt`](crate::wire::HeaderInt) is the wire type for ids that are Go's `int`.
    pub const fn new(id: W) -> Self {
        Self { id, models: BTreeMap::new() }
    }

    /// Registers a type with a wire type, for example a schema made by [`builder`](crate::builder()).
    ///
    /// # Errors
    ///
    /// Fails if the id is already registered; the existing entry is unchanged.
    pub fn register<T, F>(&mut self, id: I, wire: F) -> Result<&mut Self, Error>
    where
        T: Any + Send,
        F: Put<T> + for<'de> Get<'de, T> + Send + Sync + 'static,
    {
        match self.models.entry(id) {
            btree_map::Entry::Occupied(_) => Err(Error::bare(ErrorKind::AlreadyRegistered)),
            btree_map::Entry::Vacant(entry) => {
                entry.insert(Box::new((wire, PhantomData::<fn() -> T>)));
                Ok(self)
            }
        }
    }

    /// Same as [`register`](Self::register), with the default wire type, such as that of a struct with derived codecs.
    pub fn register_type<T>(&mut self, id: I) -> Result<&mut Self, Error>
    where
        T: Any + Send + Encode + DecodeOwned,
    {
        self.register::<T, _>(id, WireOf::NEW)
    }

    /// Returns the registered ids in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = &I> {
        self.models.keys()
    }

    /// Same as [`encode_as`](Self::encode_as), with the id that the value returns.
    pub fn encode<T: HasId<I> + Any>(&self, item: &T, vec: &mut Vec<u8>) -> Result<(), Error> {
        self.encode_as(&item.id(), item, vec)
    }

    /// Encodes a frame with this id and appends it to a vector.
    ///
    /// To set a maximum depth, encode a [`Frame`] with [`WireExt::encode_with`](crate::WireExt::encode_with).
    ///
    /// # Errors
    ///
    /// Fails if the id does not fit its wire type ([`Error::is_overflow`]), if it is not registered or registered for
    /// another type ([`Error::is_unknown_type`]), and if the value does not fit its wire type. The vector is unchanged
    /// on failure.
    pub fn encode_as<Q, T>(&self, id: &Q, item: &T, vec: &mut Vec<u8>) -> Result<(), Error>
    where
        I: Borrow<Q>,
        Q: Ord + ?Sized,
        W: Put<Q>,
        T: Any,
    {
        write::append(vec, Options::DEFAULT, |writer| self.put_frame(id, item, writer))
    }

    /// Decodes a frame from the start of a slice and returns the remaining bytes.
    ///
    /// A registry is itself a wire type: to set options, use the methods of [`WireExt`](crate::WireExt).
    ///
    /// # Errors
    ///
    /// Fails if the id is not registered ([`Error::is_unknown_type`]), or the bytes after it are not a valid message.
    pub fn decode<'de>(&self, bytes: &'de [u8]) -> Result<(Frame<I>, &'de [u8]), Error> {
        self.decode_with(Options::new(), bytes)
    }

    /// Decodes a frame that contains a `T` from the start of a slice, and returns the remaining bytes.
    ///
    /// # Errors
    ///
    /// Fails if the id is not registered or registered for another type ([`Error::is_unknown_type`]), or the bytes
    /// after it are not a valid message.
    pub fn decode_as<'de, T: Any>(&self, bytes: &'de [u8]) -> Result<((I, T), &'de [u8]), Error> {
        let (frame, rest) = self.decode(bytes)?;
        match frame.value.downcast() {
            Ok(value) => Ok(((frame.id, *value), rest)),
            Err(_) => Err(Error::at(ErrorKind::UnknownType, 0)),
        }
    }

    /// Returns an iterator that decodes the frames of a slice.
    pub fn frames<'a>(&'a self, bytes: &'a [u8]) -> Frames<'a, W, I> {
        self.frames_with(Options::new(), bytes)
    }

    /// Same as [`frames`](Self::frames), with options. The limits apply to each frame.
    pub fn frames_with<'a>(&'a self, options: Options, bytes: &'a [u8]) -> Frames<'a, W, I> {
        Frames { registry: self, options, rest: bytes, total: bytes.len(), failed: false }
    }

    fn put_frame<Q>(&self, id: &Q, item: &dyn Any, writer: &mut Writer<'_>) -> Result<(), Fault>
    where
        I: Borrow<Q>,
        Q: Ord + ?Sized,
        W: Put<Q>,
    {
        self.id.put(id, writer)?;
        self.models.get(id).ok_or(Fault::UNKNOWN_TYPE)?.put(item, writer)
    }
}

impl<W: IdWire<I>, I: Ord + fmt::Display> Wire for Registry<W, I> {
    fn min_size(&self) -> usize {
        self.id.min_size() + self.models.values().map(|model| model.min_size()).min().unwrap_or(0)
    }

    fn walk<J: Input>(&self, input: &mut J) -> Result<(), Fault> {
        let mut input = AnyInput { input, id: Vec::new(), is_id: true };
        self.id.walk(&mut input)?;
        input.is_id = false;
        let mut context = Context::new(&input.id, *input.options());
        let id = self.id.get(&mut Reader::new(&input.id, &mut context))?;
        self.models.get(&id).ok_or(Fault::UNKNOWN_TYPE)?.walk(&mut input)
    }

    fn schema(&self, context: &mut SchemaContext) -> Schema {
        let header = Box::new(self.id.schema(context));
        context.enclosed(core::any::type_name::<Self>(), |context| {
            let models = self.models.iter().map(|(id, model)| model.variant(id.to_string(), context));
            Schema::Multi { header, models: models.collect() }
        })
    }
}

impl<W: IdWire<I>, I: Ord + fmt::Display> Put<Frame<I>> for Registry<W, I> {
    fn put(&self, frame: &Frame<I>, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.put_frame(&frame.id, &*frame.value, writer)
    }

    fn size(&self, frame: &Frame<I>, levels: Levels) -> Result<usize, Fault> {
        let id = self.id.size(&frame.id, levels)?;
        Ok(id + self.models.get(&frame.id).ok_or(Fault::UNKNOWN_TYPE)?.size(&*frame.value, levels)?)
    }
}

impl<'de, W: IdWire<I>, I: Ord + fmt::Display> Get<'de, Frame<I>> for Registry<W, I> {
    fn get(&self, reader: &mut Reader<'_, 'de>) -> Result<Frame<I>, Fault> {
        let start = reader.rest();
        let id = self.id.get(reader)?;
        match self.models.get(&id) {
            Some(model) => Ok(Frame { value: model.get(reader)?, id }),
            // Reported at the first byte of the id.
            None => Err(reader.fail_at(start, Fault::UNKNOWN_TYPE)),
        }
    }
}

impl<W, I: fmt::Debug> fmt::Debug for Registry<W, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<&I> = self.models.keys().collect();
        f.debug_struct("Registry").field("ids", &ids).finish_non_exhaustive()
    }
}

impl<I> Frame<I> {
    /// Creates a frame.
    pub fn new<T: Any + Send>(id: I, value: T) -> Self {
        Self { id, value: Box::new(value) }
    }

    /// Returns the message if it is a `T`, and the frame otherwise.
    pub fn downcast<T: Any>(self) -> Result<T, Self> {
        match self.value.downcast() {
            Ok(value) => Ok(*value),
            Err(value) => Err(Self { id: self.id, value }),
        }
    }

    /// Borrows the message if it is a `T`.
    pub fn downcast_ref<T: Any>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }
}

/// Iterator over the frames of a slice.
///
/// It ends after the first error, because the start of the next frame is then unknown.
#[derive(Debug)]
#[must_use = "iterators do nothing unless consumed"]
pub struct Frames<'a, W, I> {
    registry: &'a Registry<W, I>,
    options: Options,
    rest: &'a [u8],
    total: usize,
    failed: bool,
}

impl<'a, W, I> Frames<'a, W, I> {
    /// Returns the offset of the next frame, or of the frame that failed, from the start of the slice. Offsets in
    /// errors are relative to the start of the failed frame.
    pub fn offset(&self) -> usize {
        self.total - self.rest.len()
    }

    /// Returns the bytes that are not decoded yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<W: IdWire<I>, I: Ord + fmt::Display> Iterator for Frames<'_, W, I> {
    type Item = Result<Frame<I>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.rest.is_empty() {
            return None;
        }
        let frame = match self.registry.decode_with(self.options, self.rest) {
            // Both the id and the message take no bytes: the iterator would never end.
            Ok((_, rest)) if rest.len() == self.rest.len() => Err(Error::at(ErrorKind::TrailingBytes, 0)),
            Ok((frame, rest)) => {
                self.rest = rest;
                Ok(frame)
            }
            Err(error) => Err(error),
        };
        self.failed = frame.is_err();
        Some(frame)
    }
}

/// A wire type and the type of its values, both erased.
trait Model: Send + Sync {
    fn min_size(&self) -> usize;
    fn walk(&self, input: &mut AnyInput<'_>) -> Result<(), Fault>;
    fn variant(&self, id: String, context: &mut SchemaContext) -> Variant;
    fn put(&self, item: &dyn Any, writer: &mut Writer<'_>) -> Result<(), Fault>;
    fn size(&self, item: &dyn Any, levels: Levels) -> Result<usize, Fault>;
    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<Box<dyn Any + Send>, Fault>;
}

impl<T, F> Model for (F, PhantomData<fn() -> T>)
where
    T: Any + Send,
    F: Put<T> + for<'de> Get<'de, T> + Send + Sync,
{
    fn min_size(&self) -> usize {
        self.0.min_size()
    }

    fn walk(&self, input: &mut AnyInput<'_>) -> Result<(), Fault> {
        self.0.walk(input)
    }

    fn variant(&self, id: String, context: &mut SchemaContext) -> Variant {
        Variant { id, name: short_name::<T>(), schema: self.0.schema(context) }
    }

    fn put(&self, item: &dyn Any, writer: &mut Writer<'_>) -> Result<(), Fault> {
        self.0.put(item.downcast_ref().ok_or(Fault::UNKNOWN_TYPE)?, writer)
    }

    fn size(&self, item: &dyn Any, levels: Levels) -> Result<usize, Fault> {
        self.0.size(item.downcast_ref().ok_or(Fault::UNKNOWN_TYPE)?, levels)
    }

    fn get(&self, reader: &mut Reader<'_, '_>) -> Result<Box<dyn Any + Send>, Fault> {
        let value: T = self.0.get(reader)?;
        Ok(Box::new(value))
    }
}

/// An input of any type, which records the bytes of the id.
struct AnyInput<'a> {
    input: &'a mut dyn Input,
    id: Vec<u8>,
    is_id: bool,
}

impl Input for AnyInput<'_> {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        self.input.fill(bytes)?;
        if self.is_id {
            self.id.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn skip(&mut self, count: usize) -> Result<(), Fault> {
        if !self.is_id {
            return self.input.skip(count);
        }
        self.input.expect(count)?;
        (0..count).try_for_each(|_| self.array::<1>().map(|_| ()))
    }

    fn expect(&mut self, count: usize) -> Result<(), Fault> {
        self.input.expect(count)
    }

    fn at_end(&mut self) -> Result<bool, Fault> {
        self.input.at_end()
    }

    fn state(&self) -> &State {
        self.input.state()
    }

    fn state_mut(&mut self) -> &mut State {
        self.input.state_mut()
    }

    // An id is always read from its start.

    fn begin_parts(&mut self) -> usize {
        if self.is_id { 0 } else { self.input.begin_parts() }
    }

    fn record_parts(&mut self, parts: usize) {
        if !self.is_id {
            self.input.record_parts(parts);
        }
    }

    fn finish_parts(&mut self) {
        if !self.is_id {
            self.input.finish_parts();
        }
    }
}
