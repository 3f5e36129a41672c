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
    /// Name of the bucket.
    pub bucket: String,
    /// Region. Default: `us-east-1`.
    pub region: String,
    /// URL of another server, which uses path-style requests. Default: Amazon S3.
    pub endpoint: Option<Url>,
    /// Access key ID and secret access key. Default: the role of the machine or container.
    pub keys: Option<(String, String)>,
    /// Session token of temporary credentials. Default: none.
    pub session_token: Option<String>,
    /// Certificate authorities in PEM format that are trusted in addition to those of the system. Default: none.
    pub authorities: Vec<Vec<u8>>,
    /// Puts the bucket name into the URL path instead of the host name on Amazon S3. Default: off.
    pub is_path_style: bool,
    /// Uses HTTP/2 if the server offers it. Default: on.
    pub is_http2: bool,
    /// Maximum idle connections. Default: 100.
    pub max_connections: usize,
}

impl S3 {
    /// Returns the defaults for a bucket on Amazon S3.
    pub fn new(bucket: impl Into<String>) -> Self {
        Self {
            bucket: bucket.into(),
            region: "us-east-1".into(),
            endpoint: None,
            keys: None,
            session_token: None,
            authorities: Vec::new(),
            is_path_style: false,
            is_http2: true,
            max_connections: 100,
        }
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
