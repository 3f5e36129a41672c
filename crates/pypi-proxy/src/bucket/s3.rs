//! Buckets on Amazon S3 and compatible servers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::{BackoffConfig, Certificate, ClientOptions, ObjectStore, RetryConfig};
use url::Url;

use crate::Error;
use crate::error::Kind;

/// Location, credentials and connection options of an S3 bucket.
#[derive(Clone)]
pub struct S3 {
    bucket: String,
    region: String,
    endpoint: Option<Url>,
    keys: Option<(String, String)>,
    session_token: Option<String>,
    authorities: Vec<Vec<u8>>,
    is_path_style: bool,
    is_http2: bool,
    max_connections: usize,
}

impl S3 {
    /// Default of [`S3::region`].
    pub const DEFAULT_REGION: &str = "us-east-1";
    /// Default of [`S3::max_connections`]: 100.
    pub const DEFAULT_MAX_CONNECTIONS: usize = 100;

    /// Creates the options of a bucket on Amazon S3.
    pub fn new(bucket: impl Into<String>) -> Self {
        Self {
            bucket: bucket.into(),
            region: Self::DEFAULT_REGION.into(),
            endpoint: None,
            keys: None,
            session_token: None,
            authorities: Vec::new(),
            is_path_style: false,
            is_http2: true,
            max_connections: Self::DEFAULT_MAX_CONNECTIONS,
        }
    }

    /// Sets the region. Default: [`Self::DEFAULT_REGION`].
    #[must_use]
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = region.into();
        self
    }

    /// Sets the URL of another server, which uses path-style requests. Default: Amazon S3.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<Option<Url>>) -> Self {
        self.endpoint = url.into();
        self
    }

    /// Sets the access key ID and secret access key. Default: the role of the machine or container.
    #[must_use]
    pub fn keys(mut self, keys: impl Into<Option<(String, String)>>) -> Self {
        self.keys = keys.into();
        self
    }

    /// Sets the session token of temporary credentials. Default: none.
    #[must_use]
    pub fn session_token(mut self, token: impl Into<Option<String>>) -> Self {
        self.session_token = token.into();
        self
    }

    /// Trusts the authorities in these PEM texts in addition to those of the system. Default: none.
    #[must_use]
    pub fn authorities(mut self, pem: impl IntoIterator<Item = Vec<u8>>) -> Self {
        self.authorities.extend(pem);
        self
    }

    /// Puts the bucket name into the URL path instead of the host name on Amazon S3. Default: off.
    #[must_use]
    pub fn path_style(mut self, is_on: bool) -> Self {
        self.is_path_style = is_on;
        self
    }

    /// Uses HTTP/2 if the server offers it. Default: on.
    #[must_use]
    pub fn http2(mut self, is_on: bool) -> Self {
        self.is_http2 = is_on;
        self
    }

    /// Sets the maximum number of idle connections. Default: [`Self::DEFAULT_MAX_CONNECTIONS`].
    #[must_use]
    pub fn max_connections(mut self, count: usize) -> Self {
        self.max_connections = count;
        self
    }

    /// Creates the object store. `timeout` limits connecting and retries. Other AWS environment variables, such as
    /// those of container roles, are used as well.
    ///
    /// # Errors
    ///
    /// Fails if an option is invalid, or an authority is not a PEM certificate ([`Error::is_config`]).
    pub fn open(&self, timeout: Duration) -> Result<Arc<dyn ObjectStore>, Error> {
        let client = ClientOptions::new()
            // Uploads may take longer than any fixed time; `Remote` limits each operation.
            .with_timeout_disabled()
            .with_connect_timeout(timeout)
            .with_pool_max_idle_per_host(self.max_connections)
            .with_allow_http(self.endpoint.as_ref().is_some_and(|url| url.scheme() == "http"));
        // The source error may contain secrets.
        let wrong = |_| Error::with(Kind::Config, "the bucket options are invalid");
        let mut certificates = Vec::new();
        for pem in &self.authorities {
            certificates.extend(Certificate::from_pem_bundle(pem).map_err(wrong)?);
        }
        let client = certificates.into_iter().fold(client, ClientOptions::with_root_certificate);
        let client = if self.is_http2 { client.with_allow_http2() } else { client.with_http1_only() };
        let retry = RetryConfig {
            backoff: BackoffConfig { init_backoff: Duration::from_millis(50), ..BackoffConfig::default() },
            max_retries: 2,
            retry_timeout: timeout,
        };
        let mut builder = AmazonS3Builder::from_env()
            .with_client_options(client)
            .with_retry(retry)
            .with_bucket_name(&self.bucket)
            .with_region(&self.region)
            .with_virtual_hosted_style_request(self.endpoint.is_none() && !self.is_path_style);
        if let Some(url) = &self.endpoint {
            builder = builder.with_endpoint(url.as_str().trim_end_matches('/'));
        }
        if let Some((id, key)) = &self.keys {
            builder = builder.with_access_key_id(id).with_secret_access_key(key);
        }
        if let Some(token) = &self.session_token {
            builder = builder.with_token(token);
        }
        Ok(Arc::new(builder.build().map_err(wrong)?))
    }
}

/// Omits the keys.
impl fmt::Debug for S3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3")
            .field("bucket", &self.bucket)
            .field("region", &self.region)
            .field("endpoint", &self.endpoint.as_ref().map(Url::origin))
            .field("has_keys", &self.keys.is_some())
            .finish_non_exhaustive()
    }
}
