//! Methods of a serializer that return an error.

/// Defines methods of serde's `Serializer` that return the error of the method `rejected`, and the types of arrays and objects.
macro_rules! reject {
    ($ok:ty; $($kind:ident)*) => {
        type SerializeSeq = serde::ser::Impossible<$ok, Error>;
        type SerializeTuple = serde::ser::Impossible<$ok, Error>;
        type SerializeTupleStruct = serde::ser::Impossible<$ok, Error>;
        type SerializeTupleVariant = serde::ser::Impossible<$ok, Error>;
        type SerializeMap = serde::ser::Impossible<$ok, Error>;
        type SerializeStruct = serde::ser::Impossible<$ok, Error>;
        type SerializeStructVariant = serde::ser::Impossible<$ok, Error>;

        fn serialize_unit(self) -> Result<$ok> {
            Err(self.rejected())
        }

        fn serialize_none(self) -> Result<$ok> {
            Err(self.rejected())
        }

        fn serialize_bytes(self, _value: &[u8]) -> Result<$ok> {
            Err(self.rejected())
        }

        fn serialize_unit_struct(self, _name: &'static str) -> Result<$ok> {
            Err(self.rejected())
        }

        fn serialize_newtype_variant<X: ?Sized + serde::Serialize>(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _value: &X,
        ) -> Result<$ok> {
            Err(self.rejected())
        }

        fn serialize_seq(self, _len: Option<usize>) -> Result<Self::SerializeSeq> {
            Err(self.rejected())
        }

        fn serialize_tuple(self, _len: usize) -> Result<Self::SerializeTuple> {
            Err(self.rejected())
        }

        fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Self::SerializeTupleStruct> {
            Err(self.rejected())
        }

        fn serialize_tuple_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeTupleVariant> {
            Err(self.rejected())
        }

        fn serialize_map(self, _len: Option<usize>) -> Result<Self::SerializeMap> {
            Err(self.rejected())
        }

        fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Self::SerializeStruct> {
            Err(self.rejected())
        }

        fn serialize_struct_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
            _len: usize,
        ) -> Result<Self::SerializeStructVariant> {
            Err(self.rejected())
        }

        $(reject!(@$kind $ok);)*
    };
    (@scalars $ok:ty) => {
        reject! {
            @each $ok;
            serialize_bool(bool) serialize_char(char) serialize_f32(f32) serialize_f64(f64)
            serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
            serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        }
    };
    (@each $ok:ty; $($method:ident($type:ty))*) => {
        $(
            fn $method(self, _value: $type) -> Result<$ok> {
                Err(self.rejected())
            }
        )*
    };
    (@unit_variant $ok:ty) => {
        fn serialize_unit_variant(
            self,
            _name: &'static str,
            _index: u32,
            _variant: &'static str,
        ) -> Result<$ok> {
            Err(self.rejected())
        }
    };
    (@newtype_struct $ok:ty) => {
        fn serialize_newtype_struct<X: ?Sized + serde::Serialize>(
            self,
            _name: &'static str,
            _value: &X,
        ) -> Result<$ok> {
            Err(self.rejected())
        }
    };
    (@some $ok:ty) => {
        fn serialize_some<X: ?Sized + serde::Serialize>(self, _value: &X) -> Result<$ok> {
            Err(self.rejected())
        }
    };
}

pub(crate) use reject;
