//! Logical types: the meaning of a value, beside its wire type.

use core::fmt;
use core::marker::PhantomData;

use super::prelude::*;

/// The name of a logical type, for [`Logical`].
pub trait LogicalType {
    /// The name in schemas: ASCII letters, digits and underscores.
    const NAME: &'static str;
}

macro_rules! names {
    ($($name:ident = $text:literal;)*) => {$(
        #[doc = concat!("The logical type `", $text, "`.")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl LogicalType for $name {
            const NAME: &'static str = $text;
        }
    )*};
}

names! {
    Char = "char";
    Uint128 = "u128";
    Int128 = "i128";
    Duration = "duration";
    SignedDuration = "signed_duration";
    Instant = "instant";
    OffsetTime = "offset_time";
    Date = "date";
    TimeOfDay = "time_of_day";
    DateTime = "date_time";
    Ipv4 = "ipv4";
    Ipv6 = "ipv6";
    Ip = "ip";
    SocketV4 = "socket_v4";
    SocketV6 = "socket_v6";
    Socket = "socket";
    Uuid = "uuid";
    Decimal = "decimal";
}

/// Wire type `W` whose values have the meaning `L`. The bytes are those of `W`; schema and fingerprint contain the name of `L`.
///
/// ```
/// use tightwire_parco::wire::{I16, Le};
/// use tightwire_parco::wire::logical::{Logical, LogicalType};
/// use tightwire_parco::{Encode, schema, to_vec};
///
/// enum Celsius {}
///
/// impl LogicalType for Celsius {
///     const NAME: &'static str = "celsius";
/// }
///
/// #[derive(Encode)]
/// struct Reading {
///     #[parco(with = Logical<Celsius, I16<Le>>)]
///     degrees: i16,
/// }
///
/// assert_eq!(to_vec(&Reading { degrees: 21 })?, [21, 0]);
/// assert_eq!(schema::of::<Reading>().canonical(), "(celsius:i16le)");
/// # Ok::<(), tightwire_parco::Error>(())
/// ```
pub struct Logical<L, W>(W, PhantomData<fn() -> L>);

impl<L, W: Clone> Clone for Logical<L, W> {
    fn clone(&self) -> Self {
        Self(self.0.clone(), PhantomData)
    }
}

impl<L, W: Copy> Copy for Logical<L, W> {}

impl<L: LogicalType, W: fmt::Debug> fmt::Debug for Logical<L, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(L::NAME).field(&self.0).finish()
    }
}

same_wire! {
    [L: LogicalType, W: Wire] Logical<L, W>: |logical| logical.0,
        |inner| Schema::Logical { name: L::NAME.into(), inner: inner.into() }
}

static_wire!([L: LogicalType, W: StaticWire] Logical<L, W> = Self(W::NEW, PhantomData));

put_as! { [T: ?Sized, L: LogicalType, W: Put<T>] T, Logical<L, W>: |logical, value| value, logical.0; }

same_get! { [L: LogicalType, W: Wire] Logical<L, W>, W }
