//! HTTP service with users in memory that sends every response in an envelope.
//!
//! | request | response |
//! | --- | --- |
//! | `GET /users?page=1&page_size=2` | one page of the users |
//! | `GET /users/{id}` | a user, or code 4001 |
//! | `POST /users` | the created user; code 1004 for invalid fields, 5001 for a duplicate name |
//! | `GET /report` | code 8002, without the cause of the failure |
//! | anything else | code 4004 |
//!
//! The header `X-Request-ID` is echoed in the envelope.
//!
//! Run it with `cargo run --example json_service`, optionally with the address to listen on as argument. It prints its
//! URL:
//!
//! ```text
//! curl 'http://127.0.0.1:PORT/users?page=1&page_size=2'
//! curl -H 'content-type: application/json' -d '{"name":"grace","email":"grace@example.org","age":37}' \
//!     http://127.0.0.1:PORT/users
//! ```
#![allow(clippy::print_stdout, reason = "prints the URL of the service")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::routing::get;
use garde::Validate;
use serde::{Deserialize, Serialize};
use tightwire_axum::{Envelope, Page, RequestId, ValidJson};
use tokio::net::TcpListener;

/// Maximum number of users per page.
const MAX_PAGE_SIZE: u64 = 100;

/// Response of a handler that can fail.
type Response<T> = Result<Envelope<T>, Envelope<()>>;

#[derive(Clone, Serialize)]
struct User {
    id: u64,
    name: String,
    email: String,
    age: u8,
}

/// Body of `POST /users`.
#[derive(Deserialize, Validate)]
struct NewUser {
    #[garde(ascii, length(min = 3, max = 32))]
    name: String,
    #[garde(email)]
    email: String,
    #[garde(range(min = 18, max = 150))]
    age: u8,
}

#[derive(Deserialize)]
#[serde(default)]
struct Paging {
    page: u64,
    page_size: u64,
}

impl Default for Paging {
    fn default() -> Self {
        Self { page: 1, page_size: 20 }
    }
}

#[derive(Clone)]
struct Users(Arc<Mutex<Vec<User>>>);

impl Users {
    fn new(names: &[&str]) -> Self {
        let user = |(index, name): (usize, &&str)| User {
            id: index as u64 + 1,
            name: (*name).to_owned(),
            email: format!("{name}@example.org"),
            age: 36,
        };
        Self(Arc::new(Mutex::new(names.iter().enumerate().map(user).collect())))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<User>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn page(&self, paging: &Paging) -> Page<Vec<User>> {
        let users = self.lock();
        let size = paging.page_size.min(MAX_PAGE_SIZE);
        let first = paging.page.saturating_sub(1).saturating_mul(size);
        let skipped = usize::try_from(first).unwrap_or(usize::MAX);
        let list = users.iter().skip(skipped).take(size as usize).cloned().collect();
        Page::new(list, users.len() as u64, paging.page, size)
    }

    fn find(&self, id: &str) -> Result<User, Envelope<()>> {
        let id: u64 = id.parse().map_err(|_| invalid_parameter())?;
        let user = self.lock().iter().find(|user| user.id == id).cloned();
        user.ok_or_else(|| Envelope::error(404, 4001, "User not found"))
    }

    fn add(&self, new: NewUser) -> Result<User, Envelope<()>> {
        let mut users = self.lock();
        if users.iter().any(|user| user.name == new.name) {
            return Err(Envelope::error(409, 5001, "User already exists"));
        }
        let user = User { id: users.len() as u64 + 1, name: new.name, email: new.email, age: new.age };
        users.push(user.clone());
        Ok(user)
    }
}

fn invalid_parameter() -> Envelope<()> {
    Envelope::error(400, 1001, "Invalid parameter")
}

/// Adds the request id to a result.
fn respond<T>(id: RequestId, result: Result<T, Envelope<()>>) -> Response<T> {
    match result {
        Ok(data) => Ok(Envelope::success(data).with_request_id(id)),
        Err(error) => Err(error.with_request_id(id)),
    }
}

async fn list(
    id: RequestId,
    State(users): State<Users>,
    paging: Result<Query<Paging>, QueryRejection>,
) -> Response<Page<Vec<User>>> {
    let page = paging.map(|Query(paging)| users.page(&paging)).map_err(|_| invalid_parameter());
    respond(id, page).map(Envelope::with_current_timestamp)
}

async fn find(id: RequestId, State(users): State<Users>, Path(user): Path<String>) -> Response<User> {
    respond(id, users.find(&user))
}

async fn add(
    id: RequestId,
    State(users): State<Users>,
    ValidJson(new): ValidJson<NewUser>,
) -> Response<User> {
    respond(id, users.add(new))
}

async fn report(id: RequestId) -> Envelope<()> {
    // The cause belongs into the log of the service, not into the response.
    let _cause = "table `reports` of replica 2 is locked";
    Envelope::error(500, 8002, "Database query failed").with_request_id(id)
}

async fn not_found(id: RequestId) -> Envelope<()> {
    Envelope::error(404, 4004, "Route not found").with_request_id(id)
}

/// Returns the routes with a few users.
fn app() -> Router {
    Router::new()
        .route("/users", get(list).post(add))
        .route("/users/{id}", get(find))
        .route("/report", get(report))
        .fallback(not_found)
        .layer(DefaultBodyLimit::max(16 << 10))
        .with_state(Users::new(&["ada", "alan", "barbara", "donald", "edsger"]))
}

pub(crate) async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    axum::serve(listener, app()).await.context("serve")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = TcpListener::bind(&address).await.with_context(|| format!("listen on {address}"))?;
    println!("http://{}", listener.local_addr()?);
    serve(listener).await
}
