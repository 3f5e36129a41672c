//! Macro for trees.

/// Returns a [`Value`](crate::Value) for JSON with expressions of Rust.
///
/// Elements of arrays and values of entries are JSON, or expressions whose type implements `Serialize`: they are
/// borrowed and converted by [`to_value`](crate::to_value), so that NaN and infinity become `null`. Keys are expressions
/// whose type implements `Into<JsonString>`; an expression with a colon needs parentheses. A comma after the last element or
/// entry is allowed.
///
/// # Panics
///
/// If an expression cannot be converted to JSON, for example a map whose keys are not strings.
///
/// # Examples
///
/// ```
/// use tightwire_json::json;
///
/// let (name, key) = ("Ada", "id");
/// let value = json!({
///     "user": {"name": name, key: 6 + 1},
///     "tags": ["a", null, [true]],
/// });
/// assert_eq!(value.to_string(), r#"{"user":{"name":"Ada","id":7},"tags":["a",null,[true]]}"#);
/// ```
#[macro_export]
macro_rules! json {
    ($($json:tt)+) => {
        $crate::json_internal!($($json)+)
    };
}

/// Implementation of `json!`: reads one element or entry after another.
#[macro_export]
#[doc(hidden)]
macro_rules! json_internal {
    // `@array VECTOR ELEMENTS`
    (@array $array:ident) => {};
    (@array $array:ident $json:tt $(, $($rest:tt)*)?) => {
        $array.push($crate::json_internal!($json));
        $crate::json_internal!(@array $array $($($rest)*)?);
    };
    (@array $array:ident $element:expr $(, $($rest:tt)*)?) => {
        $array.push($crate::json_internal!($element));
        $crate::json_internal!(@array $array $($($rest)*)?);
    };

    // `@object MAP (TOKENS OF THE KEY) REST`
    (@object $map:ident ()) => {};
    (@object $map:ident ($($key:tt)+) : $json:tt $(, $($rest:tt)*)?) => {
        $map.extend([($($key)+, $crate::json_internal!($json))]);
        $crate::json_internal!(@object $map () $($($rest)*)?);
    };
    (@object $map:ident ($($key:tt)+) : $value:expr $(, $($rest:tt)*)?) => {
        $map.extend([($($key)+, $crate::json_internal!($value))]);
        $crate::json_internal!(@object $map () $($($rest)*)?);
    };
    // Removes the parentheses of a key, which rustc would report as unused.
    (@object $map:ident () ($key:expr) : $($rest:tt)*) => {
        $crate::json_internal!(@object $map ($key) : $($rest)*);
    };
    (@object $map:ident ($($key:tt)*) $next:tt $($rest:tt)*) => {
        $crate::json_internal!(@object $map ($($key)* $next) $($rest)*);
    };

    (null) => {
        $crate::Value::Null
    };
    (true) => {
        $crate::Value::Bool(true)
    };
    (false) => {
        $crate::Value::Bool(false)
    };
    ([]) => {
        $crate::Value::Array($crate::Array::new())
    };
    ([$($elements:tt)+]) => {{
        let mut array = ::std::vec::Vec::<$crate::Value>::new();
        $crate::json_internal!(@array array $($elements)+);
        $crate::Value::from(array)
    }};
    ({}) => {
        $crate::Value::Object($crate::Map::new())
    };
    ({$($entries:tt)+}) => {{
        let mut map = $crate::Map::new();
        $crate::json_internal!(@object map () $($entries)+);
        $crate::Value::Object(map)
    }};
    ($value:expr) => {
        $crate::to_value(&$value).expect("an expression in `json!` cannot be converted to JSON")
    };
}
