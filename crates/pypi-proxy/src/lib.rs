//! A caching proxy for Python package indexes: the simple repository API, with one upstream transfer for all clients.
//!
//! ```
//! use pypi_proxy::{Coding, Form, ProjectName};
//!
//! let name = ProjectName::parse("Flask_SQLAlchemy")?;
//! assert_eq!(name.as_str(), "flask-sqlalchemy");
//! assert_eq!(Form::from_accept("application/vnd.pypi.simple.v1+json, */*;q=0.1"), Some(Form::Json));
//! assert_eq!(Coding::from_accept("gzip, deflate, zstd"), Coding::Zstd);
//! # Ok::<(), pypi_proxy::Error>(())
//! ```

pub mod config;
mod error;
mod name;
mod negotiate;
mod page;
pub mod pages;
mod range;
pub mod serve;
pub mod store;
pub mod upstream;

pub use error::Error;
pub use name::ProjectName;
pub use negotiate::{Coding, Form};
pub use page::{ApiVersion, Details, File, Metadata, Page, ProjectList};
pub use range::ByteRange;
