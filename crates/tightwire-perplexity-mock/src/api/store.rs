//! Stored objects of the built-in API.

use std::collections::VecDeque;

use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;
use tightwire_json::{Value, json};

use super::Call;
use super::error::{self, ApiError, ApiResult};
use crate::mock_response::MockResponse;

/// Maximum objects of each type; the oldest are evicted.
const MAX_OBJECTS: usize = 1_000;

/// Maximum size of the objects of each type, in bytes.
const MAX_BYTES: usize = 256 << 20;

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;

/// A stored object, and its changes in later polls.
#[derive(Debug, Default)]
pub(crate) struct Object {
    pub(crate) id: String,
    pub(crate) view: Value,
    /// Changed fields of `view`. Each poll applies and removes the first entry.
    pub(crate) later: VecDeque<Value>,
    /// Name and content of a file.
    pub(crate) file: Option<(String, Bytes)>,
    pub(crate) events: Vec<Value>,
    pub(crate) idempotency_key: Option<String>,
    /// Approximate size, for the limit of the store.
    pub(crate) bytes: usize,
}

/// The objects of one type, in order of creation.
#[derive(Debug)]
pub(crate) struct Store {
    type_name: &'static str,
    prefix: &'static str,
    objects: VecDeque<Object>,
    /// Number of identifiers issued.
    issued: u64,
    /// Total size of the objects.
    bytes: usize,
}

pub(crate) fn merge(target: &mut Value, fields: &Value) {
    for (name, value) in fields.as_object().into_iter().flatten() {
        target[name] = value.clone();
    }
}

impl Store {
    pub(crate) fn new(type_name: &'static str, prefix: &'static str) -> Self {
        Self { type_name, prefix, objects: VecDeque::new(), issued: 0, bytes: 0 }
    }

    /// Returns the next identifier, such as `file_1`.
    pub(crate) fn next_id(&mut self) -> String {
        self.issued += 1;
        format!("{}{}", self.prefix, self.issued)
    }

    pub(crate) fn insert(&mut self, object: Object) {
        self.bytes += object.bytes;
        self.objects.push_back(object);
        // Never evict the newest object, whatever its size.
        while self.objects.len() > 1 && (self.objects.len() > MAX_OBJECTS || self.bytes > MAX_BYTES) {
            self.remove_at(0);
        }
    }

    fn remove_at(&mut self, index: usize) {
        if let Some(object) = self.objects.remove(index) {
            self.bytes -= object.bytes;
        }
    }

    fn position(&self, id: &str) -> Result<usize, ApiError> {
        let position = self.objects.iter().position(|object| object.id == id);
        position.ok_or_else(|| error::not_found(self.type_name, id))
    }

    pub(crate) fn get(&self, id: &str) -> Result<&Object, ApiError> {
        self.position(id).map(|index| &self.objects[index])
    }

    pub(crate) fn get_mut(&mut self, id: &str) -> Result<&mut Object, ApiError> {
        self.position(id).map(|index| &mut self.objects[index])
    }

    /// Returns the object that a request with the same idempotency key created.
    pub(crate) fn with_key(&self, key: Option<&str>) -> Option<&Object> {
        self.objects.iter().find(|object| key.is_some() && object.idempotency_key.as_deref() == key)
    }

    /// Advances the object of a call and returns it.
    pub(crate) fn poll(&mut self, call: &Call<'_>) -> ApiResult {
        let object = self.get_mut(call.ids[0])?;
        if let Some(fields) = object.later.pop_front() {
            merge(&mut object.view, &fields);
        }
        Ok(MockResponse::json(&object.view))
    }

    /// Cancels the object of a call, unless it has reached its last state.
    pub(crate) fn cancel(&mut self, call: &Call<'_>) -> Result<&Object, ApiError> {
        let object = self.get_mut(call.ids[0])?;
        if object.later.is_empty() {
            return Err(error::invalid("not_cancellable", "The object has reached its final status"));
        }
        merge(&mut object.view, &json!({"status": "cancelling"}));
        object.later = [json!({"status": "cancelled"})].into();
        Ok(object)
    }

    pub(crate) fn delete(&mut self, call: &Call<'_>) -> ApiResult {
        let index = self.position(call.ids[0])?;
        self.remove_at(index);
        Ok(MockResponse::status(204))
    }

    /// Returns the file of an object.
    pub(crate) fn content(&self, call: &Call<'_>) -> ApiResult {
        let (name, content) = self.get(call.ids[0])?.file.clone().unwrap_or_default();
        let mut response = MockResponse::bytes("application/octet-stream", content);
        // Omit the header if the name is not a valid header value.
        if let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
            response.headers.insert(CONTENT_DISPOSITION, disposition);
        }
        Ok(response)
    }

    /// Returns a page of objects, newest first unless the query asks for ascending order, and whether there
    /// are more. The query parameter `cursor` is the identifier of the last object of the previous page.
    pub(crate) fn page(&self, call: &Call<'_>, cursor: &str) -> Result<(Vec<Value>, bool), ApiError> {
        let limit = call.request.query_value("limit");
        let limit = limit.map_or(Ok(DEFAULT_LIMIT), |text| text.parse());
        let limit = limit.ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
        let limit =
            limit.ok_or_else(|| error::wrong_query("limit", "Input should be an integer from 1 to 100"))?;
        let mut objects: Vec<&Object> = self.objects.iter().collect();
        if call.request.query_value("order").as_deref() != Some("asc") {
            objects.reverse();
        }
        if let Some(id) = call.request.query_value(cursor) {
            let last = objects.iter().position(|object| object.id == id);
            let last = last.ok_or_else(|| error::invalid("invalid_cursor", "No such object in this list"))?;
            objects.drain(..=last);
        }
        let has_more = objects.len() > limit;
        Ok((objects.iter().take(limit).map(|object| object.view.clone()).collect(), has_more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(store: &Store) -> Vec<&str> {
        store.objects.iter().map(|object| object.id.as_str()).collect()
    }

    #[test]
    fn oldest_objects_are_evicted_by_count_and_size() {
        let mut store = Store::new("Object", "o");
        let insert = |store: &mut Store, bytes| {
            let id = store.next_id();
            store.insert(Object { id, bytes, ..Object::default() });
        };
        for _ in 0..=MAX_OBJECTS {
            insert(&mut store, 1);
        }
        assert_eq!((store.objects.len(), store.bytes), (MAX_OBJECTS, MAX_OBJECTS));
        assert!(store.get("o1").is_err() && store.get("o2").is_ok());
        for _ in 0..3 {
            insert(&mut store, MAX_BYTES / 2);
        }
        assert_eq!(ids(&store), ["o1003", "o1004"]);
        insert(&mut store, MAX_BYTES + 1);
        assert_eq!(ids(&store), ["o1005"]);
    }
}
