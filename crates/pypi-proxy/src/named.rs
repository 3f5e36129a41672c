//! Enumerations whose variants have names, such as values of metric labels.

/// Defines an enumeration with a list of its variants and a name for each.
macro_rules! named {
    ($(#[$about:meta])* $vis:vis enum $name:ident { $($(#[$one:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $($(#[$one])* $variant),* }

        impl $name {
            /// All variants.
            $vis const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            /// Returns the name, as in metrics and the output of commands.
            $vis fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }
    };
}

pub(crate) use named;
