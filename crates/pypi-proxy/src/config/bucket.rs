//! Construction of the bucket from the settings.

use super::settings::Settings;
use super::value::{Secret, StorageType};
use crate::Error;
use crate::bucket::{self, Bucket, S3};

impl Settings {
    /// Creates the bucket for shared files and pages, or `None` for `storage_type` `local`. Does not connect to it.
    ///
    /// # Errors
    ///
    /// Fails if a bucket setting is invalid or a file of `ca_files` can't be read ([`Error::is_config`]).
    pub fn bucket(&self) -> Result<Option<Bucket>, Error> {
        let Some(name) = self.s3_bucket.as_ref().filter(|_| self.storage_type.value != StorageType::Local)
        else {
            return Ok(None);
        };
        let text = |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
        let count = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        let pool_size = |pool: &u32| count((*pool).min(self.s3_max_connections.value));
        let timeout = self.bucket_timeout.value;
        let s3 = S3 {
            region: self.s3_region.value.clone(),
            endpoint: self.s3_endpoint.as_ref().and_then(|endpoint| endpoint.url(self.s3_use_ssl.value)),
            keys: text(&self.s3_access_key_id).zip(text(&self.s3_secret_access_key)),
            session_token: text(&self.s3_session_token),
            authorities: self.authorities()?,
            is_path_style: self.s3_force_path_style.value,
            is_http2: self.s3_enable_http2.value,
            max_connections: count(self.s3_max_connections.value),
            ..S3::new(name)
        };
        let config = bucket::Config {
            prefix: self.s3_prefix.value.clone(),
            timeout,
            part_size: self.s3_part_size.value,
            lease_duration: self.lease_duration.value,
            lease_wait: self.lease_wait.value,
            page_wait: self.page_wait.value,
            max_reads: pool_size(&self.s3_read_pool_size),
            max_writes: pool_size(&self.s3_write_pool_size),
            max_meta_operations: pool_size(&self.s3_meta_pool_size),
            max_uploads: count(self.s3_async_queue_size.value),
        };
        Ok(Some(Bucket::new(s3.open(timeout)?, config)))
    }
}
