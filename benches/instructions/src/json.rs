//! Encoding and decoding of an API response with 20 users.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use tightwire_axum::Envelope;

#[derive(Serialize, Deserialize)]
struct User {
    id: i64,
    name: String,
    email: String,
    active: bool,
    score: f64,
    tags: Vec<String>,
}

fn response() -> Envelope<Vec<User>> {
    let users = (0..20).map(|id| User {
        id,
        name: format!("User \"{id}\" of naïve café"),
        email: format!("user{id}@example.org"),
        active: id % 3 == 0,
        score: 95.5 + id as f64 / 7.0,
        tags: vec!["admin".to_owned(), "reviewer".to_owned()],
    });
    Envelope::success(users.collect()).with_request_id("req-1").with_timestamp(1_703_001_234_567)
}

pub(crate) fn envelope_encode() -> impl FnMut() -> u64 {
    let (response, mut buffer) = (response(), Vec::new());
    move || {
        buffer.clear();
        tightwire_json::to_buf(&mut buffer, black_box(&response))
            .map_or(0, |()| black_box(&buffer).len() as u64)
    }
}

pub(crate) fn envelope_decode() -> impl FnMut() -> u64 {
    let document = tightwire_json::to_vec(&response()).unwrap_or_default();
    move || {
        tightwire_json::from_slice::<Envelope<Vec<User>>>(black_box(&document))
            .map_or(0, |envelope| black_box(envelope).data.map_or(0, |users| users.len() as u64))
    }
}
