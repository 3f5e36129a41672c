//! Stack of values for platforms on which [`Builder`](super::Builder) does not work.

use super::super::{Map, Value};
use super::Object;

/// Same as [`Builder`](super::Builder) for trees of vectors and boxes.
#[derive(Debug, Default)]
#[allow(unreachable_pub, reason = "part of a public type if it is the stack of the platform")]
pub struct Owned(Vec<Value>);

impl Owned {
    pub(crate) fn new(_rest: usize) -> Self {
        Self::default()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn push_scalar(&mut self, value: &Value) -> bool {
        let is_scalar = !matches!(value, Value::Array(_) | Value::Object(_));
        self.0.extend(is_scalar.then(|| value.clone()));
        is_scalar
    }

    pub(crate) fn push_copy(&mut self, text: &str) {
        self.0.push(text.into());
    }

    pub(crate) fn push_empty(&mut self, is_object: bool) {
        self.0.push(if is_object { Map::new().into() } else { Vec::<Value>::new().into() });
    }

    pub(crate) fn object(&self, _context: usize) -> Object {
        Object::new(self.0.len())
    }

    pub(crate) fn end_key(&self, _object: &mut Object) -> bool {
        matches!(self.0.last(), Some(Value::String(_)))
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    pub(crate) fn push_array(&mut self, from: usize) {
        let elements = self.0.split_off(from);
        self.0.push(elements.into());
    }

    pub(crate) fn push_object(&mut self, object: &Object) {
        let (mut map, mut entries) = (Map::new(), self.0.split_off(object.from()).into_iter());
        while let (Some(Value::String(key)), Some(value)) = (entries.next(), entries.next()) {
            map.insert(key, value);
        }
        self.0.push(map.into());
    }

    pub(crate) fn finish(mut self) -> Value {
        self.0.pop().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn containers_have_the_values_since_they_were_opened() {
        let mut stack = Owned::new(0);
        let mut object = stack.object(0);
        for (key, value) in [("a", json!(1)), ("b", json!(null)), ("a", json!("text"))] {
            stack.push_copy(key);
            assert!(stack.end_key(&mut object));
            assert!(stack.push_scalar(&value));
        }
        stack.push_copy("c");
        let from = stack.len();
        assert!(!stack.push_scalar(&Vec::<Value>::new().into()));
        stack.push_empty(false);
        stack.push_empty(true);
        stack.push_copy("removed");
        stack.truncate(from + 2);
        stack.push_array(from);
        stack.push_object(&object);
        assert_eq!(stack.finish().to_string(), r#"{"a":"text","b":null,"c":[[],{}]}"#);
    }
}
