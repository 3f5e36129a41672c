//! String enums that accept unknown values.

/// Defines enums of string values, with a variant `Other` for unknown values.
///
/// Decoding any string succeeds, and allocates only for `Other`.
macro_rules! open_enum {
    ($($(#[$meta:meta])* pub enum $name:ident $variants:tt)+) => {
        $($crate::types::wire::open_enum! {
            @define
            $(#[$meta])*
            pub enum $name $variants
        })+
    };
    (
        @define
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$meta])*
        ///
        /// Equality compares the strings. The default is the empty string, which stands for a missing value.
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub enum $name {
            $(
                $(#[$variant_meta])*
                #[doc = ""]
                #[doc = concat!("JSON value: `", $text, "`.")]
                $variant,
            )+
            /// A value that this version does not know.
            Other(Box<str>),
        }

        impl $name {
            /// Returns the value as encoded in JSON.
            #[inline]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }

            #[inline]
            fn known(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }

        impl Default for $name {
            #[inline]
            fn default() -> Self {
                Self::Other(Box::default())
            }
        }

        impl From<&str> for $name {
            #[inline]
            fn from(text: &str) -> Self {
                Self::known(text).unwrap_or_else(|| Self::Other(text.into()))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self::known(&text).unwrap_or_else(|| Self::Other(text.into()))
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.as_str() == other.as_str()
            }
        }

        impl Eq for $name {}

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.as_str().hash(state);
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl serde::Serialize for $name {
            #[inline]
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            #[inline]
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::types::wire::object::Text(|text: &str| Self::from(text)))
            }
        }

        $crate::types::wire::field_value!(@checked $name);

        #[cfg(test)]
        impl $crate::types::arbitrary::Arbitrary for $name {
            fn arbitrary(source: &mut $crate::types::arbitrary::Source) -> Self {
                source.pick(&[$(Self::$variant,)+ Self::Other("of_the_future".into())]).clone()
            }

            fn describe(shape: &mut $crate::types::shape::Shape) {
                shape.values.extend([$($text,)+]);
            }
        }
    };
}

pub(crate) use open_enum;

#[cfg(test)]
mod tests {
    use crate::types::SearchContextSize as Size;

    #[test]
    fn known_and_unknown_texts_survive() {
        for (text, value) in [("low", Size::Low), ("high", Size::High), ("11", Size::Other("11".into()))] {
            assert_eq!(Size::from(text), value);
            assert_eq!(Size::from(text.to_owned()), value);
            assert_eq!(value.to_string(), text);
            assert_eq!(value, text);
            let document = tightwire_json::to_string(&value).unwrap();
            assert_eq!(document, format!("\"{text}\""));
            assert_eq!(tightwire_json::from_str::<Size>(&document).unwrap(), value);
        }
        assert_eq!(Size::Other("low".into()), Size::Low);
        assert_eq!(Size::default(), "");
        assert_eq!(format!("{:?} {:?}", Size::Low, Size::from("x")), r#"Low Other("x")"#);
        assert!(tightwire_json::from_str::<Size>("1").unwrap_err().is_data());
    }
}
