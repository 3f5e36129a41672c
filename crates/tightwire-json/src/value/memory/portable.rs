//! Stack of values for platforms on which [`Builder`](super::Builder) does not work.

use super::super::{Map, Value};
use super::Object;

/// Same as [`Builder`](super::Builder) for trees of vectors and boxes. Each key precedes its value.
#[derive(Debug, Default)]
#[allow(unreachable_pub, reason = "part of a public type if it is the stack of the platform")]
pub struct PortableBuilder(Vec<Value>);

impl PortableBuilder {
    pub(crate) fn new(_document: &str, _rest: usize, _string_limit: usize) -> Self {
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

    pub(crate) fn end_key(&mut self, _object: &mut Object) -> bool {
        self.0.pop_if(|key| !key.is_string()).is_none()
    }

    pub(crate) fn has_key(&self, object: &Object) -> bool {
        (self.0.len() - object.from()) % 2 == 1
    }

    #[allow(clippy::needless_pass_by_ref_mut, reason = "same signature as that of `Builder`")]
    pub(crate) fn drop_key(&mut self, object: &mut Object) {
        if self.has_key(object) {
            self.0.pop();
        }
    }

    pub(crate) fn lens(&self) -> [usize; 2] {
        [self.0.len(), 0]
    }

    pub(crate) fn truncate(&mut self, [values, _]: [usize; 2]) {
        self.0.truncate(values);
    }

    pub(crate) fn push_array(&mut self, from: usize) {
        let elements = self.0.split_off(from);
        self.0.push(elements.into());
    }

    pub(crate) fn push_object(&mut self, object: &Object) {
        let (mut map, mut entries) = (Map::new(), self.0.split_off(object.from()).into_iter());
        while let (Some(Value::String(key)), Some(value)) = (entries.next(), entries.next()) {
            map.set(key, value);
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
        let mut stack = PortableBuilder::new("", 0, usize::MAX);
        let mut object = stack.object(0);
        for (key, value) in [("a", json!(1)), ("b", json!(null)), ("a", json!("text"))] {
            stack.push_copy(key);
            assert!(stack.end_key(&mut object) && stack.has_key(&object));
            assert!(stack.push_scalar(&value));
        }
        stack.push_copy("c");
        let from = stack.len();
        assert!(!stack.push_scalar(&Vec::<Value>::new().into()));
        stack.push_empty(false);
        stack.push_empty(true);
        let lens = stack.lens();
        stack.push_copy("removed");
        stack.truncate(lens);
        stack.push_array(from);
        stack.push_copy("removed");
        stack.drop_key(&mut object);
        assert!(stack.push_scalar(&json!(2)) && !stack.end_key(&mut object) && !stack.has_key(&object));
        stack.push_object(&object);
        assert_eq!(stack.finish().to_string(), r#"{"a":"text","b":null,"c":[[],{}]}"#);
    }
}
