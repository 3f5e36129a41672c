//! A response of a service with a page of users, written and read.

use std::hint::black_box;

use serde::{Deserialize, Serialize};
use tightwire_json::envelope::Response;

#[derive(Serialize, Deserialize)]
struct User {
    id: i64,
    name: String,
    email: String,
    active: bool,
    score: f64,
    tags: Vec<String>,
}

fn answer() -> Response<Vec<User>> {
    let users = (0..20).map(|id| User {
        id,
        name: format!("User \"{id}\" of naïve café"),
        email: format!("user{id}@example.org"),
        active: id % 3 == 0,
        score: 95.5 + id as f64 / 7.0,
        tags: vec!["admin".to_owned(), "reviewer".to_owned()],
    });
    Response::success(users.collect()).with_request_id("req-1").with_timestamp(1_703_001_234_567)
}

pub(crate) fn envelope_encode() -> impl FnMut() -> u64 {
    let (answer, mut buffer) = (answer(), Vec::new());
    move || {
        buffer.clear();
        tightwire_json::to_buf(&mut buffer, black_box(&answer))
            .map_or(0, |()| black_box(&buffer).len() as u64)
    }
}

pub(crate) fn envelope_decode() -> impl FnMut() -> u64 {
    let document = tightwire_json::to_vec(&answer()).unwrap_or_default();
    move || {
        tightwire_json::from_slice::<Response<Vec<User>>>(black_box(&document))
            .map_or(0, |answer| black_box(answer).data.map_or(0, |users| users.len() as u64))
    }
}
