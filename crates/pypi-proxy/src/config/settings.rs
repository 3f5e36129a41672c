//! Definition of all settings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ipnet::IpNet;

use super::layers::{Layers, Sources};
use super::table::{Origin, Property, Row, Setting, SettingValue, Value};
use super::value::{
    CacheDir, CacheSize, Endpoint, IndexUrl, JsonApi, LatestUpload, Level, Listen, LogFormat, MissingStatus,
    ProjectSource, Secret, SocketMode, StorageType, Timeout, WaitLimit,
};
use crate::page_cache::IndexStrategy;
use crate::rules::{OsvSelection, ProjectPattern, ProjectSelector, StatusRule, UnknownAge, Yanked};
use crate::{Error, bucket};

/// Generates the table of settings, and a struct with a field for each of them.
macro_rules! settings {
    ($($group:literal { $($name:ident: $type:ty = $default:literal, $groxpi:tt, $proxpi:tt, [$($property:ident),*], $help:literal;)* })*) => {
        /// All settings, each with its source.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct Settings {
            $($(#[doc = $help] pub $name: SettingValue<$type>,)*)*
            /// Settings of the named indexes: those of their tables, otherwise those of the default index.
            pub indexes: BTreeMap<String, Self>,
            /// Messages about ignored variables.
            ignored: Vec<String>,
        }

        /// Positions of the settings in the table.
        #[allow(non_camel_case_types, reason = "variants are named like the settings")]
        #[derive(Clone, Copy)]
        enum Name {
            $($($name,)*)*
        }

        const TABLE: &[Setting] = &[
            $($(Setting {
                name: stringify!($name),
                group: $group,
                syntax: <$type as Value>::SYNTAX,
                default: $default,
                groxpi: &$groxpi,
                proxpi: &$proxpi,
                help: $help,
                is_secret: <$type as Value>::IS_SECRET,
                properties: &[$(Property::$property),*],
            },)*)*
        ];

        impl Settings {
            /// Reads all settings. Returns `None` if one of them is malformed.
            fn take(layers: &mut Layers<'_>) -> Option<Self> {
                $($(let $name = layers.take::<$type>(Name::$name as usize);)*)*
                let ignored = std::mem::take(&mut layers.warnings);
                Some(Self { $($($name: $name?,)*)* indexes: BTreeMap::new(), ignored })
            }

            /// Returns the definitions of the settings whose values differ.
            pub fn changes(&self, other: &Self) -> Vec<&'static Setting> {
                let mut changes = Vec::new();
                $($(if self.$name.value != other.$name.value {
                    changes.push(&TABLE[Name::$name as usize]);
                })*)*
                changes
            }

            /// Returns the settings with their values, in the order of the table.
            pub fn rows(&self) -> Vec<Row> {
                vec![$($(Row {
                    setting: &TABLE[Name::$name as usize],
                    shown: self.$name.value.show(),
                    toml: self.$name.value.to_toml().to_string(),
                    origin: self.$name.origin.clone(),
                },)*)*]
            }
        }
    };
}

settings! {
    "Serving" {
        listen: Vec<Listen> = "127.0.0.1:5000", ["HOST", "PORT"], [], [Restart],
            "Addresses and ports to listen on. `unix:/run/pypi-proxy.sock` is a Unix socket; the addresses of its clients are unknown, so that they share one rate limit unless they log in, and trusted_proxies does not apply. If only one of the variables HOST and PORT is set, the other is 0.0.0.0 or 5000.";
        admin_listen: Vec<Listen> = "", [], [], [Restart],
            "Separate addresses for metrics, /health, the status page and cache purging. TLS, logins and admin_token apply there as well. These paths are then no longer served at `listen`; /livez and /readyz are served at both. If unset, `listen` serves all paths.";
        download_timeout: WaitLimit = "never", ["GROXPI_DOWNLOAD_TIMEOUT"], ["PROXPI_DOWNLOAD_TIMEOUT"], [Index],
            "Redirect clients to the index if no byte of a file arrives within this time. The download continues in the background. `0s` redirects at once; `never` disables redirects. Clients are never redirected to an index with credentials.";
        binary_file_mime_type: bool = "false", ["GROXPI_BINARY_FILE_MIME_TYPE"], ["PROXPI_BINARY_FILE_MIME_TYPE"], [],
            "Serve every file as application/octet-stream.";
        admin_token: Option<Secret> = "", [], [], [Secret],
            "Bearer token that clients must send to purge the cache. If unset, the cache can be purged at admin_listen only.";
        max_connections: u32 = "10000", [], [], [Restart, Positive],
            "Maximum number of concurrent connections. Further connections wait.";
        header_timeout: Duration = "30s", [], [], [Positive],
            "Time limit for receiving a request header, and for idle connections.";
        send_timeout: Duration = "1m", [], [], [Positive],
            "Close a connection if the client reads nothing of a response for this long.";
        max_header_fields: u32 = "100", [], [], [Positive],
            "Maximum number of header fields of a request. A request with more gets status 431.";
        drain_timeout: Duration = "30s", [], [], [],
            "Time limit at shutdown for responses and bucket uploads in flight.";
        tls_cert: Option<PathBuf> = "", [], [], [],
            "PEM file with the server certificate and its intermediates. Enables TLS and requires tls_key.";
        tls_key: Option<PathBuf> = "", [], [], [],
            "PEM file with the private key of the server certificate.";
        unix_socket_mode: SocketMode = "0660", [], [], [Restart],
            "Permissions of the Unix sockets of listen and admin_listen.";
    }
    "Indexes" {
        index_url: Option<IndexUrl> = "", ["GROXPI_INDEX_URL"], ["PROXPI_INDEX_URL"], [OwnIndex],
            "URL of the upstream index. If unset, the index that uv or pip of this machine uses.";
        index_ttl: Duration = "30m", ["GROXPI_INDEX_TTL"], ["PROXPI_INDEX_TTL"], [Index],
            "Time for which a page is served without revalidation.";
        extra_index_urls: Vec<IndexUrl> = "", ["GROXPI_EXTRA_INDEX_URLS"], ["PROXPI_EXTRA_INDEX_URLS"], [OwnIndex],
            "URLs of additional indexes. index_strategy selects the files of a project that several indexes have.";
        extra_index_ttls: Vec<Duration> = "", ["GROXPI_EXTRA_INDEX_TTLS"], ["PROXPI_EXTRA_INDEX_TTL", "PROXPI_EXTRA_INDEX_TTLS"], [OwnIndex],
            "TTL of each additional index, in the order of extra_index_urls. If unset, 3 minutes each.";
        offline: bool = "false", [], [], [Index],
            "Serve from the cache only, without connecting to an index or a bucket. Cached pages of any age are served, with the header X-Pypi-Proxy-Offline; all other requests get status 504.";
        connect_timeout: Timeout = "", ["GROXPI_CONNECT_TIMEOUT"], ["PROXPI_CONNECT_TIMEOUT"], [Index],
            "Time limit for connecting to an index. If unset, 10 seconds, or 3.1 seconds if a variable of groxpi or proxpi sets read_timeout.";
        read_timeout: Timeout = "", ["GROXPI_READ_TIMEOUT"], ["PROXPI_READ_TIMEOUT"], [Index],
            "Maximum time without data from an index. If unset, 30 seconds, or 20 seconds if a variable of groxpi or proxpi sets connect_timeout.";
        disable_index_ssl_verification: bool = "false", ["GROXPI_DISABLE_INDEX_SSL_VERIFICATION"], ["PROXPI_DISABLE_INDEX_SSL_VERIFICATION"], [Index],
            "Accept any TLS certificate from indexes and their file hosts. An attacker in the network can then modify their responses.";
        ca_files: Vec<PathBuf> = "", [], [], [Index],
            "PEM files with additional certificate authorities. They are trusted for indexes and the bucket, in addition to those of the system.";
        file_hosts: Vec<String> = "", [], [], [Index],
            "Hosts that files may be downloaded from, besides those of the indexes. `*.example.org` matches all subdomains. If unset, all hosts with public addresses.";
        index_strategy: IndexStrategy = "first-index", [], [], [Index],
            "Selection of the files of a project that several indexes have. `first-index`: everything comes from the first index that has the project; the others are not contacted for it. `unsafe-first-match`: each version comes from the first index that has it. `unsafe-best-match`: all files are united, and of files with the same name the first one wins. The last two serve a project only if its pages declare that they are of the same project (PEP 708), see merge_projects. If a variable of groxpi or proxpi sets extra_index_urls, the default is `unsafe-best-match`.";
        merge_projects: Vec<ProjectPattern> = "", [], [], [Index],
            "Patterns of projects that several indexes may have without declaring that they are the same (PEP 708). Only for the strategies that unite indexes. `*` disables the check, and is the default if a variable of groxpi or proxpi sets extra_index_urls.";
        private_indexes: Vec<u32> = "", [], [], [OwnIndex],
            "Numbers of private indexes: 1 is index_url, 2 the first of extra_index_urls. They are contacted first. A project that one of them has ever listed is never taken from another index, nor served by another named index, even if the private index is down or no longer has the project.";
        missing_statuses: Vec<MissingStatus> = "", [], [], [OwnIndex],
            "Statuses besides 404 and 410 that mean that an index does not have a project or file, such as `403` for all indexes, or `2=403` for one: 1 is index_url, 2 the first of extra_index_urls. For pytorch.org, 403 always does. With any other status, a project fails if no other index has it; after 401, 403 and 407 clients get 403.";
        json_api_url: JsonApi = "auto", [], [], [],
            "URL of the JSON API of index_url, to which `NAME/json` is appended. `auto` replaces `/simple/` at the end of the URL of each index by `/pypi/`; an index with another URL has no JSON API. `never` disables the JSON API. Credentials are sent only to the origin of the index.";
    }
    "Pages" {
        stale_while_revalidate: Duration = "1h", [], [], [Index],
            "Time after index_ttl for which a stale page is served during revalidation.";
        stale_if_error: Duration = "7d", [], [], [Index],
            "Time after index_ttl for which a stale page is served if its index fails.";
        stale_wait: Duration = "1.5s", [], [], [Index],
            "Maximum wait for revalidation if stale_if_error allows serving the stale page.";
        negative_ttl: Duration = "1m", [], [], [Index],
            "Time for which a missing project (status 404) is cached.";
        max_concurrent_pages: u32 = "64", [], [], [Index, Positive],
            "Maximum number of concurrent page requests to the indexes. Further requests are queued.";
        max_queued_pages: u32 = "1000", [], [], [Index],
            "Maximum number of queued page requests. If the queue is full, a stale page that stale_if_error allows is served; otherwise the client gets status 503 with Retry-After.";
        page_max_age: Duration = "0s", [], [], [Index],
            "Time for which clients and caches between them and the proxy may reuse a page without a request. It delays new releases by this time; `0s` makes them revalidate each page.";
        wheel_metadata: bool = "true", [], [], [Index],
            "Extract metadata from wheels if their index does not offer it. A page refers to the metadata once the wheel has been downloaded and its metadata has been extracted.";
        upload_times: bool = "false", [], [], [Index],
            "Read the upload times of files from the JSON API of an index whose pages lack them, see json_api_url. min_age and exclude_newer need them, as do such limits of uv and pip. Each refresh of such a page may cost one more request.";
        response_cache_size: u64 = "128 MiB", ["GROXPI_RESPONSE_CACHE_SIZE"], [], [Index],
            "Maximum memory for pages.";
        response_cache_ttl: Option<Duration> = "", ["GROXPI_RESPONSE_CACHE_TTL"], [], [Ineffective],
            "No effect: responses have the TTL of their page, see index_ttl.";
        max_page_size: u64 = "256 MiB", [], [], [Index],
            "Maximum size of an index page.";
        decompression_memory: u64 = "512 MiB", [], [], [],
            "Memory limit for pages and wheel metadata being decompressed and parsed. Shared by all indexes; further pages wait. One page at a time may exceed the limit.";
    }
    "Files" {
        cache_dir: Option<CacheDir> = "", ["GROXPI_CACHE_DIR"], ["PROXPI_CACHE_DIR"], [Restart],
            "Directory of the cached pages and files. It must be empty or a cache of pypi-proxy. With a variable of groxpi or proxpi, the subdirectory `pypi-proxy` is used. If unset, the cache directory of the user.";
        allow_shared_cache_dir: bool = "false", [], [], [Restart],
            "Use a cache directory that another user owns or that other users can write to. These users can then replace files that are served.";
        cache_size: CacheSize = "5 GiB", ["GROXPI_CACHE_SIZE"], ["PROXPI_CACHE_SIZE"], [],
            "Maximum size of the cache directory. It includes files, pages, references and extracted metadata; least recently used entries are evicted first. `0` disables storage, except that it means unlimited in GROXPI_CACHE_SIZE.";
        max_file_size: u64 = "20 GiB", [], [], [Restart],
            "Maximum size of a file.";
        max_concurrent_downloads: u32 = "64", ["GROXPI_MAX_CONCURRENT_DOWNLOADS"], [], [Restart, Positive],
            "Maximum number of concurrent downloads of files.";
        open_files: u32 = "256", [], [], [Restart],
            "Maximum number of cached handles of stored files.";
        stall_timeout: Duration = "30s", [], [], [Restart, Positive],
            "Resume a download that receives nothing for this long with a new request.";
        download_retries: u32 = "4", [], [], [Restart],
            "Maximum number of consecutive retries of a download without progress.";
        sync_files: bool = "false", [], [], [Restart],
            "Sync each file to disk before it counts as stored. If off, a file damaged by a power failure is detected by its length or by `verify`.";
        cache_max_age: Duration = "0s", [], [], [],
            "Time after which unused files, pages, references and extracted metadata are removed from the cache directory. Programs that read the directory, such as a backup, can count as a use of pages. The resolution is one minute; `0s` disables this limit.";
    }
    "Access" {
        auth_tokens_file: Option<PathBuf> = "", [], [], [],
            "File of access tokens; requires every client to log in. Each line has a token of at least 16 characters, or its SHA-256 as `sha256:` and hexadecimal digits, followed by a space and the name of its owner. Clients send the token as `Authorization: Bearer`, or as the password of the user `__token__`.";
        auth_htpasswd_file: Option<PathBuf> = "", [], [], [],
            "File of users and password hashes; requires every client to log in. `htpasswd -B` writes such a file. With auth_tokens_file, clients need a password or a token. Changes of both files take effect within 5 seconds.";
        metrics_need_auth: bool = "true", [], [], [],
            "Require a login for /metrics, /health and the status page. Applies only if logins are configured.";
        rate_limit: u32 = "0", [], [], [],
            "Maximum average rate of one client, in requests per second; 0 means no limit. A client is a user or the owner of a token, otherwise an IPv4 address or an IPv6 network of 64 bits.";
        rate_limit_burst: u32 = "500", [], [], [Positive],
            "Maximum number of requests of one client at once, with rate_limit.";
        trusted_proxies: Vec<IpNet> = "", [], [], [],
            "Trusted proxy networks whose `X-Forwarded-For` identifies the client.";
        allow_projects: Vec<ProjectSelector> = "", [], [], [Index],
            "Patterns of the allowed projects, such as `acme-*`. If unset, all projects are allowed. With version specifiers, such as `urllib3 >=1.26, <2`, only these versions of the project are allowed.";
        deny_projects: Vec<ProjectSelector> = "", [], [], [Index],
            "Patterns of denied projects, which take precedence over allow_projects. With version specifiers, such as `urllib3 <2`, only these versions are denied.";
        project_sources: Vec<ProjectSource> = "", [], [], [OwnIndex],
            "Patterns of projects that come from a single index, such as `acme-*=2`. The number selects the index: 1 is index_url, 2 the first of extra_index_urls. No other index is contacted for these projects. The first matching pattern wins.";
        min_age: Duration = "0s", [], [], [Index],
            "Minimum time since the upload of a file. Pages omit younger files, and requests for them are rejected.";
        min_age_exempt: Vec<ProjectSelector> = "", [], [], [Index],
            "Patterns of projects to which min_age and exclude_newer do not apply. With version specifiers, such as `urllib3 ==2.5.0`, they do not apply to these versions.";
        min_age_unknown: UnknownAge = "deny", [], [], [Index],
            "How min_age and exclude_newer treat files without an upload time. `deny` is safe and what pip and uv do in their own age checks; an index with HTML pages sends no upload times, see upload_times.";
        yanked: Yanked = "keep", [], [], [Index],
            "How yanked files are treated. `keep` lists them with their mark, `hide` removes them from pages but serves their URLs, `refuse` does neither.";
        exclude_newer: Option<LatestUpload> = "", [], [], [Index],
            "Latest upload time of files. Pages omit files uploaded after this date (in UTC) or at this time or later, and requests for them are rejected.";
        quarantined: StatusRule = "refuse", [], [], [Index],
            "How quarantined projects are treated. `refuse` removes their files from pages and rejects requests for them, as the standard requires of an index; `keep` does neither.";
        archived: StatusRule = "keep", [], [], [Index],
            "How archived projects are treated, as quarantined.";
        deprecated: StatusRule = "keep", [], [], [Index],
            "How deprecated projects are treated, as quarantined.";
        osv_dir: Option<PathBuf> = "", [], [], [],
            "Directory of OSV records, with one JSON file per record in any subdirectory. Pages omit the versions that they cover, and requests for them are rejected. Changes take effect within a minute. A record of more than 4 MiB and more than 500,000 files are ignored and reported.";
        osv_records: OsvSelection = "malware", [], [], [],
            "Records that take effect. `malware` selects those whose id starts with `MAL-`, `all` also those of vulnerabilities.";
        osv_exempt: Vec<ProjectSelector> = "", [], [], [Index],
            "Patterns of projects to which osv_dir does not apply, for example private ones with the name of public malware. With version specifiers, it does not apply to these versions.";
    }
    "Log" {
        logging_level: Level = "info", ["GROXPI_LOGGING_LEVEL"], ["PROXPI_LOGGING_LEVEL"], [Restart],
            "Minimum severity of logged messages.";
        log_format: LogFormat = "text", ["GROXPI_LOG_FORMAT"], [], [Restart],
            "Format of log messages: plain text, or one JSON object per line.";
        log_color: Option<bool> = "", ["GROXPI_LOG_COLOR"], ["NO_COLOR"], [Restart],
            "Use colors in plain text logs. If unset, colors are used on a terminal unless NO_COLOR is set.";
        access_log: bool = "true", [], [], [],
            "Log every request.";
    }
    "Storage in a bucket" {
        storage_type: StorageType = "local", ["GROXPI_STORAGE_TYPE"], [], [Bucket, Restart],
            "Where files are stored: in a local directory, or in a bucket as well. The directory in front of the bucket is cache_dir with cache_size for `s3`, and local_cache_dir with local_cache_size and local_cache_ttl for `hybrid`.";
        s3_bucket: Option<String> = "", ["GROXPI_S3_BUCKET"], [], [Bucket, Restart],
            "Name of the bucket, which must exist.";
        s3_prefix: String = "groxpi", ["GROXPI_S3_PREFIX"], [], [Bucket, Restart],
            "Prefix of all object names; a slash follows it.";
        s3_endpoint: Option<Endpoint> = "", ["AWS_ENDPOINT_URL"], [], [Bucket, Restart],
            "URL of the S3 server, with or without a scheme. If unset, Amazon S3 in the region.";
        s3_region: String = "us-east-1", ["AWS_REGION"], [], [Bucket, Restart],
            "Region of the bucket.";
        s3_access_key_id: Option<Secret> = "", ["AWS_ACCESS_KEY_ID"], [], [Bucket, Secret, Restart],
            "Access key ID. If neither this nor the secret key is set, the role of the machine or container is used.";
        s3_secret_access_key: Option<Secret> = "", ["AWS_SECRET_ACCESS_KEY"], [], [Bucket, Secret, Restart],
            "Secret access key.";
        s3_session_token: Option<Secret> = "", ["AWS_SESSION_TOKEN"], [], [Bucket, Secret, Restart],
            "Session token of temporary credentials.";
        s3_force_path_style: bool = "false", ["GROXPI_S3_FORCE_PATH_STYLE"], [], [Bucket, Restart],
            "Put the bucket name into the URL path instead of the host name. Always on with s3_endpoint.";
        s3_use_ssl: bool = "true", ["GROXPI_S3_USE_SSL"], [], [Bucket, Restart],
            "Use TLS if s3_endpoint has no scheme.";
        s3_part_size: u64 = "10 MiB", ["GROXPI_S3_PART_SIZE"], [], [Bucket, Restart],
            "Size of a part of a multipart upload, at least 5 MiB. Files up to this size are uploaded in one request. Up to s3_write_pool_size parts are in memory.";
        s3_max_connections: u32 = "100", ["GROXPI_S3_MAX_CONNECTIONS"], [], [Bucket, Restart],
            "Upper limit of each of the three pool sizes that follow.";
        s3_read_pool_size: u32 = "50", ["GROXPI_S3_READ_POOL_SIZE"], [], [Bucket, Restart],
            "Maximum number of concurrent reads of files. Further reads wait.";
        s3_write_pool_size: u32 = "30", ["GROXPI_S3_WRITE_POOL_SIZE"], [], [Bucket, Restart],
            "Maximum number of concurrent writes of files and parts. Further writes wait.";
        s3_meta_pool_size: u32 = "20", ["GROXPI_S3_META_POOL_SIZE"], [], [Bucket, Restart],
            "Maximum number of other concurrent operations: leases, pages, deletions. Further operations wait.";
        s3_enable_http2: bool = "true", ["GROXPI_S3_ENABLE_HTTP2"], [], [Bucket, Restart],
            "Use HTTP/2 if the server offers it over TLS.";
        s3_transfer_accel: bool = "false", ["GROXPI_S3_TRANSFER_ACCEL"], [], [Ineffective],
            "No effect: set s3_endpoint to the accelerated endpoint.";
        s3_async_writes: bool = "true", ["GROXPI_S3_ASYNC_WRITES"], [], [Ineffective],
            "No effect: clients never wait for writes to the bucket.";
        s3_async_workers: u32 = "10", ["GROXPI_S3_ASYNC_WORKERS"], [], [Ineffective],
            "No effect: see s3_write_pool_size.";
        s3_async_queue_size: u32 = "1000", ["GROXPI_S3_ASYNC_QUEUE_SIZE"], [], [Bucket, Restart],
            "Maximum number of files whose upload is running or queued. Further files are not uploaded until they are requested again.";
        local_cache_size: CacheSize = "10 GiB", ["GROXPI_LOCAL_CACHE_SIZE"], [], [Bucket],
            "Maximum size of the directory in front of the bucket, as cache_size.";
        local_cache_dir: Option<CacheDir> = "", ["GROXPI_LOCAL_CACHE_DIR"], [], [Bucket, Restart],
            "Directory in front of the bucket. If unset, cache_dir.";
        local_cache_ttl: Duration = "0s", ["GROXPI_LOCAL_CACHE_TTL"], [], [Bucket],
            "Time after which unused entries are removed from that directory, as cache_max_age. `0s` means cache_max_age.";
        tiered_sync_workers: u32 = "5", ["GROXPI_TIERED_SYNC_WORKERS"], [], [Ineffective],
            "No effect: a file of the bucket is written to the directory while it is sent.";
        tiered_sync_queue_size: u32 = "100", ["GROXPI_TIERED_SYNC_QUEUE_SIZE"], [], [Ineffective],
            "No effect: see tiered_sync_workers.";
        bucket_timeout: Duration = "5s", [], [], [Bucket, Restart, Positive],
            "Time limit for a response of the bucket, and for silence within a file. An upload may take one second longer for each 256 KiB.";
        lease_duration: Duration = "10s", [], [], [Bucket, Restart, Positive],
            "Time without renewal after which the lease of another proxy counts as expired. While a lease is valid, its owner alone downloads the file.";
        lease_wait: Duration = "30s", [], [], [Bucket, Restart],
            "Maximum time to wait for another proxy that downloads a file, without receiving a part of it. After that, the file is downloaded from the index.";
        page_wait: Duration = "0.5s", [], [], [Bucket, Restart],
            "Maximum time to wait for a page from the bucket, and for another proxy that requests the page, before its index is contacted.";
    }
}

impl Settings {
    /// Reads and validates the settings. Reads the files that variables such as `PYPI_PROXY_ADMIN_TOKEN_FILE` name, of
    /// at most 64 KiB each.
    ///
    /// # Errors
    ///
    /// Fails if a setting is unknown or invalid. The error lists all problems but no values, which may be secret
    /// ([`Error::is_config`]).
    pub fn read(sources: &Sources) -> Result<Self, Error> {
        let mut layers = Layers::new(TABLE, sources);
        let settings = Self::take(&mut layers);
        if let Some(settings) = &settings {
            settings.check(&mut layers.problems);
        }
        let mut indexes = BTreeMap::new();
        for name in layers.sections() {
            let origin = layers.enter(&name);
            let Some(index) = Self::take(&mut layers) else { continue };
            if index.index_url.is_none() {
                layers.problems.push(format!("{origin}: index_url is missing"));
            }
            index.check(&mut layers.problems);
            indexes.insert(name, index);
        }
        let Some(mut settings) = settings.filter(|_| layers.problems.is_empty()) else {
            return Err(layers.into_error());
        };
        for settings in indexes.values_mut().chain([&mut settings]) {
            settings.set_dependent_defaults();
        }
        settings.indexes = indexes;
        if settings.cache_dir.is_none() {
            settings.cache_dir.value = default_dir(sources).map(CacheDir::new);
        }
        Ok(settings)
    }

    /// Sets defaults that depend on other settings.
    fn set_dependent_defaults(&mut self) {
        // A redirect would make the client download a file that another proxy already downloads.
        if self.storage_type.value != StorageType::Local && !self.download_timeout.is_set() {
            self.download_timeout.value = WaitLimit(None);
        }
        // groxpi and proxpi unite their indexes.
        let origin = &self.extra_index_urls.origin;
        if origin.is_compat() {
            if !self.index_strategy.is_set() {
                let value = IndexStrategy::UnsafeBestMatch;
                self.index_strategy = SettingValue { value, origin: origin.clone() };
            }
            if !self.merge_projects.is_set() {
                let value = ProjectPattern::parse("*").into_iter().collect();
                self.merge_projects = SettingValue { value, origin: origin.clone() };
            }
        }
    }

    /// Returns the names of the named indexes that are new, removed or have other settings.
    pub fn changed_indexes<'s>(&'s self, other: &'s Self) -> Vec<&'s str> {
        let names: BTreeSet<_> = self.indexes.keys().chain(other.indexes.keys()).collect();
        let is_same = |name: &str| match (self.indexes.get(name), other.indexes.get(name)) {
            (Some(old), Some(new)) => old.changes(new).is_empty(),
            _ => false,
        };
        names.into_iter().map(String::as_str).filter(|name| !is_same(name)).collect()
    }

    /// Returns the directory of the cache, which is in front of the bucket if there is one.
    pub fn cache_directory(&self) -> Option<&Path> {
        let local = self.local_cache_dir.as_ref().filter(|_| self.is_hybrid());
        local.or(self.cache_dir.as_ref()).map(CacheDir::path)
    }

    /// Returns the maximum size of this directory in bytes.
    pub fn cache_directory_size(&self) -> u64 {
        if self.is_hybrid() { self.local_cache_size.bytes() } else { self.cache_size.bytes() }
    }

    /// Returns the time after which an unused entry is removed from this directory.
    pub(super) fn cache_directory_ttl(&self) -> Option<Duration> {
        let local = Some(self.local_cache_ttl.value).filter(|ttl| self.is_hybrid() && !ttl.is_zero());
        local.or(Some(self.cache_max_age.value)).filter(|ttl| !ttl.is_zero())
    }

    fn is_hybrid(&self) -> bool {
        self.storage_type.value == StorageType::Hybrid
    }

    /// Returns the definitions of all settings.
    pub fn table() -> &'static [Setting] {
        TABLE
    }

    fn check(&self, problems: &mut Vec<String>) {
        let mut fail = |origin: &Origin, problem: String| problems.push(format!("{origin}: {problem}"));
        let (urls, ttls) = (self.extra_index_urls.value.len(), self.extra_index_ttls.value.len());
        if self.extra_index_ttls.is_set() && urls != ttls {
            let problem = format!("extra_index_ttls has {ttls} values, but extra_index_urls has {urls}");
            fail(&self.extra_index_ttls.origin, problem);
        }
        if self.listen.is_empty() {
            fail(&self.listen.origin, "listen must have an address".into());
        }
        for listen in [&self.listen, &self.admin_listen] {
            if cfg!(windows) && listen.iter().any(|address| matches!(address, Listen::Unix(_))) {
                let problem = "Unix sockets are not supported on Windows (use an address and a port)";
                fail(&listen.origin, problem.into());
            }
        }
        if let Some(origin) = only_one(&self.tls_cert, &self.tls_key) {
            fail(origin, "tls_cert and tls_key must be set together".into());
        }
        let count = urls + 1;
        let sources = self.project_sources.iter().filter(|source| source.index >= count);
        let sources =
            sources.map(|wrong| (&self.project_sources.origin, "project_sources", wrong.to_string()));
        let private = self.private_indexes.iter().filter(|index| !(1..=count).contains(&(**index as usize)));
        let private =
            private.map(|wrong| (&self.private_indexes.origin, "private_indexes", wrong.to_string()));
        let missing = self.missing_statuses.iter().filter(|missing| missing.index > Some(count));
        let missing = missing.map(|wrong| (&self.missing_statuses.origin, "missing_statuses", wrong.show()));
        for (origin, name, wrong) in sources.chain(private).chain(missing) {
            fail(origin, format!("{name} has {wrong}, but there are {count} indexes"));
        }
        if self.file_hosts.iter().any(|host| host.contains('/')) {
            fail(&self.file_hosts.origin, "file_hosts: expected host names, without a scheme or path".into());
        }
        // Variables such as `AWS_ENDPOINT_URL` may be for other programs.
        let kind = &self.storage_type;
        if kind.value == StorageType::Local {
            return;
        }
        if self.s3_bucket.is_none() {
            fail(&kind.origin, format!("storage_type {} requires s3_bucket", kind.show()));
        }
        if let Some(origin) = only_one(&self.s3_access_key_id, &self.s3_secret_access_key) {
            fail(origin, "s3_access_key_id and s3_secret_access_key must be set together".into());
        }
        if self.s3_part_size.value < bucket::Config::MIN_PART_SIZE {
            fail(&self.s3_part_size.origin, "s3_part_size must be at least 5 MiB".into());
        }
        if self.s3_endpoint.as_ref().is_some_and(|endpoint| endpoint.url(true).is_none()) {
            let problem = "s3_endpoint must be an http or https URL without a user";
            fail(&self.s3_endpoint.origin, problem.into());
        }
    }

    /// Returns a message for each unknown variable of groxpi or proxpi, and for each setting that is set but has no
    /// effect. No message contains a value.
    pub fn warnings(&self) -> Vec<String> {
        let rows = self.rows().into_iter().filter(|row| row.origin != Origin::Default);
        let ineffective = rows
            .filter(|row| row.setting.is_ineffective())
            .map(|row| format!("{} has no effect", row.origin));
        self.ignored.iter().cloned().chain(ineffective).collect()
    }

    /// Formats a configuration file: set values as keys, defaults as comments. Secrets are omitted.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        let mut group = "";
        for Row { setting, toml, origin, shown } in self.rows() {
            if setting.group != group {
                let space = if group.is_empty() { "" } else { "\n" };
                group = setting.group;
                out += &format!("{space}# {group}\n");
            }
            let name = setting.name;
            let is_comment = origin == Origin::Default || shown.contains("***");
            let mark = if is_comment { "# " } else { "" };
            out += &format!("{mark}{name} = {toml}\n");
        }
        for (name, index) in &self.indexes {
            // Without its URL, an index is not valid.
            let is_comment = index.index_url.value.show().contains("***");
            let mark = |is_comment| if is_comment { "# " } else { "" };
            out += &format!("\n{}[index.{name}]\n", mark(is_comment));
            for Row { setting, toml, shown, .. } in index.own_rows() {
                out += &format!("{}{} = {toml}\n", mark(is_comment || shown.contains("***")), setting.name);
            }
        }
        out
    }

    /// Returns the settings in the table of a named index.
    fn own_rows(&self) -> impl Iterator<Item = Row> {
        self.rows().into_iter().filter(|row| matches!(row.origin, Origin::Index { .. }))
    }
}

/// Formats each setting with its value and source; secrets are masked.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let width = rows.iter().map(|row| row.setting.name.len()).max().unwrap_or(0);
        for Row { setting, shown, origin, .. } in rows {
            let shown = if shown.is_empty() { "-" } else { &shown };
            writeln!(f, "{:width$} = {shown}  ({origin})", setting.name)?;
        }
        for (name, index) in &self.indexes {
            writeln!(f, "\n[index.{name}], otherwise as above")?;
            for Row { setting, shown, .. } in index.own_rows() {
                writeln!(f, "{:width$} = {shown}", setting.name)?;
            }
        }
        Ok(())
    }
}

/// Returns the source of the value that is set, if the other one is not.
fn only_one<'s, T>(
    one: &'s SettingValue<Option<T>>,
    other: &'s SettingValue<Option<T>>,
) -> Option<&'s Origin> {
    match (one.is_some(), other.is_some()) {
        (true, false) => Some(&one.origin),
        (false, true) => Some(&other.origin),
        _ => None,
    }
}

fn default_dir(sources: &Sources) -> Option<PathBuf> {
    // systemd reserves this directory for the unit, so that it needs no subdirectory.
    if let Some(dir) = sources.variable("CACHE_DIRECTORY") {
        return dir.split(':').next().map(PathBuf::from);
    }
    let absolute = |name| sources.variable(name).map(Path::new).filter(|path| path.is_absolute());
    let user = absolute("XDG_CACHE_HOME").or_else(|| absolute("LOCALAPPDATA")).map(Path::to_owned);
    Some(user.or_else(|| Some(absolute("HOME")?.join(".cache")))?.join("pypi-proxy"))
}
