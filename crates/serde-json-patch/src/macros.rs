//! Macro for trees.

/// Returns a [`Value`](crate::Value) for JSON with expressions of Rust.
///
/// Elements of arrays and values of entries are JSON, or expressions whose type implements `Serialize`: they are borrowed
/// and converted by [`to_value`](crate::to_value), so that NaN and infinity become `null`. Keys are expressions whose type
/// implements `Into<String>`; an expression with a colon or comma needs parentheses. A comma after the last element or
/// entry is allowed.
///
/// # Panics
///
/// If an expression cannot be converted to JSON, for example a map whose keys are not strings.
///
/// # Examples
///
/// ```
/// use serde_json::json;
///
/// let (name, key) = ("Ada", "id");
/// let value = json!({
///     "tags": ["a", null, [true]],
///     "user": {key: 6 + 1, "name": name},
/// });
/// assert_eq!(value.to_string(), r#"{"tags":["a",null,[true]],"user":{"id":7,"name":"Ada"}}"#);
/// ```
#[macro_export]
macro_rules! json {
    ($($json:tt)+) => {
        $crate::json_internal!($($json)+)
    };
}

/// Implementation of `json!`: reads one element or entry after another. Some programs call it.
#[macro_export]
#[doc(hidden)]
macro_rules! json_internal {
    // `@array VECTOR ELEMENTS`
    (@array $array:ident) => {};
    (@array $array:ident null $(, $($rest:tt)*)?) => {
        $array.push($crate::Value::Null);
        $crate::json_internal!(@array $array $($($rest)*)?);
    };
    (@array $array:ident [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        $array.push($crate::json_internal!([$($inner)*]));
        $crate::json_internal!(@array $array $($($rest)*)?);
    };
    (@array $array:ident {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        $array.push($crate::json_internal!({$($inner)*}));
        $crate::json_internal!(@array $array $($($rest)*)?);
    };
    (@array $array:ident $element:expr $(, $($rest:tt)*)?) => {
        $array.push($crate::json_internal!($element));
        $crate::json_internal!(@array $array $($($rest)*)?);
    };
    (@array $array:ident $element:tt $unexpected:tt $($rest:tt)*) => {
        $crate::json_unexpected!($unexpected)
    };

    // `@object MAP (TOKENS OF THE KEY) REST`
    (@object $map:ident ()) => {};
    (@object $map:ident ($($key:tt)+) : null $(, $($rest:tt)*)?) => {
        let _ = $map.insert(($($key)+).into(), $crate::Value::Null);
        $crate::json_internal!(@object $map () $($($rest)*)?);
    };
    (@object $map:ident ($($key:tt)+) : [$($inner:tt)*] $(, $($rest:tt)*)?) => {
        let _ = $map.insert(($($key)+).into(), $crate::json_internal!([$($inner)*]));
        $crate::json_internal!(@object $map () $($($rest)*)?);
    };
    (@object $map:ident ($($key:tt)+) : {$($inner:tt)*} $(, $($rest:tt)*)?) => {
        let _ = $map.insert(($($key)+).into(), $crate::json_internal!({$($inner)*}));
        $crate::json_internal!(@object $map () $($($rest)*)?);
    };
    (@object $map:ident ($($key:tt)+) : $value:expr $(, $($rest:tt)*)?) => {
        let _ = $map.insert(($($key)+).into(), $crate::json_internal!($value));
        $crate::json_internal!(@object $map () $($($rest)*)?);
    };
    // Removes the parentheses of a key, which rustc would report as unused.
    (@object $map:ident () ($key:expr) : $($rest:tt)*) => {
        $crate::json_internal!(@object $map ($key) : $($rest)*);
    };
    // The end of the input where a colon or a value is expected.
    (@object $map:ident ($($key:tt)+) $(:)?) => {
        $crate::json_internal!();
    };
    (@object $map:ident ($($key:tt)+) : null $unexpected:tt $($rest:tt)*) => {
        $crate::json_unexpected!($unexpected);
    };
    (@object $map:ident ($($key:tt)+) : true $unexpected:tt $($rest:tt)*) => {
        $crate::json_unexpected!($unexpected);
    };
    (@object $map:ident ($($key:tt)+) : false $unexpected:tt $($rest:tt)*) => {
        $crate::json_unexpected!($unexpected);
    };
    (@object $map:ident ($($key:tt)+) : $($unexpected:tt)+) => {
        $crate::json_expect_expr_comma!($($unexpected)+);
    };
    (@object $map:ident ($($key:tt)*) $next:tt $($rest:tt)*) => {
        $crate::json_internal!(@key $map ($($key)*) [$next] $next $($rest)*);
    };

    // `@key MAP (TOKENS OF THE KEY) [COPY OF THE NEXT TOKEN] REST`: neither a colon nor a comma belongs to a key. The copy has
    // the position of the token in the program.
    (@key $map:ident () [$colon:tt] : $($rest:tt)*) => {
        $crate::json_unexpected!($colon);
    };
    (@key $map:ident ($($key:tt)*) [$comma:tt] , $($rest:tt)*) => {
        $crate::json_unexpected!($comma);
    };
    (@key $map:ident ($($key:tt)*) [$next:tt] $_next:tt $($rest:tt)*) => {
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
        $crate::Value::Array($crate::__private::Vec::new())
    };
    ([$($elements:tt)+]) => {{
        let mut array = $crate::__private::Vec::<$crate::Value>::new();
        $crate::json_internal!(@array array $($elements)+);
        $crate::Value::Array(array)
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
        $crate::to_value(&$value).unwrap()
    };
}

/// Old programs call it.
#[macro_export]
#[doc(hidden)]
macro_rules! json_internal_vec {
    ($($elements:tt)*) => {
        vec![$($elements)*]
    };
}

/// Reports a token that is not expected: has no rule with one.
#[macro_export]
#[doc(hidden)]
macro_rules! json_unexpected {
    () => {};
}

/// Reports a value that is no expression, or that no comma follows.
#[macro_export]
#[doc(hidden)]
macro_rules! json_expect_expr_comma {
    ($e:expr , $($tt:tt)*) => {};
}
