//! A service with users in memory that answers every request in an envelope.
//!
//! | request | answers with |
//! | --- | --- |
//! | `GET /users?page=1&page_size=2` | a page of the users |
//! | `GET /users/{id}` | a user, or code 4001 |
//! | `POST /users` | the user that was made; code 1004 for rejected fields, 5001 for a name that is taken |
//! | `GET /report` | code 8002, whose cause stays in the service |
//! | anything else | code 4004 |
//!
//! Messages are in Chinese for `?lang=zh` and `Accept-Language: zh`; the header `X-Request-ID` comes back.
//!
//! Run it with `cargo run --example json_service`, or with the address to listen on as argument. It prints the
//! address:
//!
//! ```text
//! curl 'http://127.0.0.1:PORT/users?page=1&page_size=2'
//! curl -H 'content-type: application/json' -d '{"name":"grace","email":"grace@example.org","age":37}' \
//!     http://127.0.0.1:PORT/users
//! ```
#![allow(clippy::print_stdout, reason = "a program tells where it listens")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use garde::Validate;
use serde::{Deserialize, Serialize};
use tightwire_json::axum::{Envelope, RequestContext, ValidJson, not_found};
use tightwire_json::envelope::PageData;
use tightwire_json::errno::{Errno, codes};
use tightwire_json::validation::rules;
use tokio::net::TcpListener;

/// The longest page that a caller gets.
const MAX_PAGE_SIZE: u64 = 100;

#[derive(Clone, Serialize)]
struct User {
    id: u64,
    name: String,
    email: String,
    age: u8,
}

/// What a caller sends to make a user.
#[derive(Deserialize, Validate)]
struct NewUser {
    #[garde(required, inner(custom(rules::username)))]
    name: Option<String>,
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
    fn of(names: &[&str]) -> Self {
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

    fn page(&self, paging: &Paging) -> PageData<Vec<User>> {
        let users = self.lock();
        let size = paging.page_size.min(MAX_PAGE_SIZE);
        let first = paging.page.saturating_sub(1).saturating_mul(size);
        let skipped = usize::try_from(first).unwrap_or(usize::MAX);
        let list = users.iter().skip(skipped).take(size as usize).cloned().collect();
        PageData::new(list, users.len() as u64, paging.page, size)
    }

    fn find(&self, id: &str) -> Result<User, Errno> {
        let id: u64 = id.parse().map_err(|error| codes::INVALID_PARAMETER.with_cause(error))?;
        self.lock().iter().find(|user| user.id == id).cloned().ok_or_else(|| codes::USER_NOT_FOUND.clone())
    }

    fn add(&self, new: NewUser) -> Result<User, Errno> {
        let name = new.name.ok_or_else(|| codes::MISSING_PARAMETER.clone())?;
        let mut users = self.lock();
        if users.iter().any(|user| user.name == name) {
            return Err(codes::ALREADY_EXISTS.clone());
        }
        let user = User { id: users.len() as u64 + 1, name, email: new.email, age: new.age };
        users.push(user.clone());
        Ok(user)
    }
}

async fn list(
    context: RequestContext,
    State(users): State<Users>,
    paging: Result<Query<Paging>, QueryRejection>,
) -> Response {
    let responder = context.responder().timestamps();
    match paging {
        Ok(Query(paging)) => Envelope(responder.ok(users.page(&paging))).into_response(),
        Err(error) => Envelope(responder.fail(&codes::INVALID_PARAMETER.with_cause(error))).into_response(),
    }
}

async fn find(context: RequestContext, State(users): State<Users>, Path(id): Path<String>) -> Envelope<User> {
    Envelope(context.responder().result(users.find(&id)))
}

async fn add(
    context: RequestContext,
    State(users): State<Users>,
    ValidJson(new): ValidJson<NewUser>,
) -> Envelope<User> {
    Envelope(context.responder().result(users.add(new)))
}

async fn report(context: RequestContext) -> Envelope<()> {
    let failed = codes::DATABASE_QUERY.with_cause("table `reports` of replica 2 is locked");
    Envelope(context.responder().fail(&failed))
}

/// The routes, with a few users to begin with.
fn app() -> Router {
    Router::new()
        .route("/users", get(list).post(add))
        .route("/users/{id}", get(find))
        .route("/report", get(report))
        .fallback(not_found)
        .layer(DefaultBodyLimit::max(16 << 10))
        .with_state(Users::of(&["ada", "alan", "barbara", "donald", "edsger"]))
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
