//! Setters and defaults of options.

/// Defines consuming setters in the form `name(argument: Type) => field = value;`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty)?) => $($field:ident).+ = $value:expr;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(mut self, $($argument: $type)?) -> Self {
            self.$($field).+ = $value;
            self
        }
    )*};
}

/// Implements `Default` by `new`.
macro_rules! impl_default {
    ($type:ty) => {
        impl Default for $type {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}
