//! The table of all settings.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::access::{Network, ProjectSource};
use super::layers::Layers;
use super::origin::{Origin, Set};
use super::sources::Sources;
use super::table::{Row, Setting, Traits};
use super::value::{
    CacheDir, CacheSize, Count, Endpoint, IndexUrl, Level, List, Listen, LogFormat, Patience, Period, Secret,
    Size, StorageType, Switch, Timeout, Value,
};
use crate::rules::{ProjectPattern, UnknownAge, Yanked};
use crate::{Error, bucket};

/// Makes one table of what is below: the settings with their types, and what is said of them.
macro_rules! settings {
    ($($group:literal { $($name:ident: $type:ty = $default:literal, $groxpi:tt, $proxpi:tt, $traits:ident, $help:literal;)* })*) => {
        /// The settings, each with its origin.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub struct Settings {
            $($(#[doc = $help] pub $name: Set<$type>,)*)*
        }

        /// The names of the settings, as indexes of the table.
        #[allow(non_camel_case_types, reason = "they are names of settings")]
        #[derive(Clone, Copy)]
        enum Name {
            $($($name,)*)*
        }

        const TABLE: &[Setting] = &[
            $($(Setting {
                name: stringify!($name),
                group: $group,
                form: <$type as Value>::FORM,
                default: $default,
                groxpi: &$groxpi,
                proxpi: &$proxpi,
                help: $help,
                is_secret: <$type as Value>::IS_SECRET,
                traits: Traits::$traits,
            },)*)*
        ];

        impl Settings {
            /// `None` if one of them is malformed, after all have been looked at.
            fn take(layers: &mut Layers<'_>) -> Option<Self> {
                $($(let $name = layers.take::<$type>(Name::$name as usize);)*)*
                Some(Self { $($($name: $name?,)*)* })
            }

            /// The settings with their values, in the order of the table.
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
        listen: Listen = "127.0.0.1:5000", ["HOST", "PORT"], [], Plain,
            "Where connections are accepted. If only one of the variables HOST and PORT is set, the other is 0.0.0.0 or 5000.";
        admin_listen: Option<Listen> = "", [], [], Plain,
            "Where metrics, /health, the status page and purging are served, with the same TLS, logins and admin_token. They are no longer served at listen then; /livez and /readyz are served at both. Without it, all are served at listen.";
        download_timeout: Patience = "0.9s", ["GROXPI_DOWNLOAD_TIMEOUT"], ["PROXPI_DOWNLOAD_TIMEOUT"], Plain,
            "How long a client waits for the first byte of a file that is not stored before it is sent to the index itself, while the file is fetched all the same. After 0 it is sent there at once. Not done for indexes with credentials, and not done by default where there is a bucket.";
        binary_file_mime_type: Switch = "false", ["GROXPI_BINARY_FILE_MIME_TYPE"], ["PROXPI_BINARY_FILE_MIME_TYPE"], Plain,
            "Whether all files are sent as application/octet-stream.";
        admin_token: Option<Secret> = "", [], [], NoFlag,
            "What clients have to send, as `Authorization: Bearer`, to have the cache forget something. Without it anybody may.";
        max_connections: Count = "10000", [], [], Plain,
            "The most connections at a time; more wait.";
        header_timeout: Period = "30s", [], [], Plain,
            "How long a client may take for the headers of a request, and an idle connection may last.";
        send_timeout: Period = "1m", [], [], Plain,
            "How long a client may take nothing of an answer before its connection is closed.";
        max_header_fields: Count = "100", [], [], Plain,
            "Maximum header fields of a request. A request with more is answered with 431.";
        drain_timeout: Period = "30s", [], [], Plain,
            "How long answers may take to end when the proxy does.";
        tls_cert: Option<PathBuf> = "", [], [], Plain,
            "A file in PEM with the certificate to serve over TLS with, and those that it depends on. It needs tls_key.";
        tls_key: Option<PathBuf> = "", [], [], Plain,
            "A file in PEM with the key of the certificate.";
    }
    "Indexes" {
        index_url: Option<IndexUrl> = "", ["GROXPI_INDEX_URL"], ["PROXPI_INDEX_URL"], Plain,
            "The index. Without it, the one that pip or uv of this machine uses.";
        index_ttl: Period = "30m", ["GROXPI_INDEX_TTL"], ["PROXPI_INDEX_TTL"], Plain,
            "How long a page of the index is served without asking again.";
        extra_index_urls: List<IndexUrl> = "", ["GROXPI_EXTRA_INDEX_URLS"], ["PROXPI_EXTRA_INDEX_URLS"], Plain,
            "Further indexes. A file that several have is taken from the first.";
        extra_index_ttls: List<Period> = "", ["GROXPI_EXTRA_INDEX_TTLS"], ["PROXPI_EXTRA_INDEX_TTL", "PROXPI_EXTRA_INDEX_TTLS"], Plain,
            "The same as index_ttl for each of the further indexes. Without it, 3 minutes each.";
        offline: Switch = "false", [], [], Plain,
            "Whether no connection to an index or to a bucket is opened. What is cached is served, pages of any age; anything else is answered with 504.";
        connect_timeout: Timeout = "", ["GROXPI_CONNECT_TIMEOUT"], ["PROXPI_CONNECT_TIMEOUT"], Plain,
            "How long making a connection to an index may take. Without it 10 seconds, or 3.1 if a variable of groxpi or proxpi sets read_timeout.";
        read_timeout: Timeout = "", ["GROXPI_READ_TIMEOUT"], ["PROXPI_READ_TIMEOUT"], Plain,
            "How long an index may send nothing. Without it 30 seconds, or 20 if a variable of groxpi or proxpi sets connect_timeout.";
        disable_index_ssl_verification: Switch = "false", ["GROXPI_DISABLE_INDEX_SSL_VERIFICATION"], ["PROXPI_DISABLE_INDEX_SSL_VERIFICATION"], Plain,
            "Whether any certificate of an index, and of the hosts of its files, is taken. Whoever is on the way can change what they send then.";
        ca_files: List<PathBuf> = "", [], [], Plain,
            "Files in PEM with authorities that are trusted beside those of the system, for indexes and for the bucket.";
        file_hosts: List<String> = "", [], [], Plain,
            "Hosts that files are fetched from, beside those of the indexes; `*.example.org` stands for all below one. Without it, all hosts with public addresses.";
    }
    "Pages" {
        stale_while_revalidate: Period = "1h", [], [], Plain,
            "How long after index_ttl a page is served while a newer one is asked for.";
        stale_if_error: Period = "7d", [], [], Plain,
            "How long after index_ttl a page is served if its index fails.";
        stale_wait: Period = "1.5s", [], [], Plain,
            "How long a client waits for a newer page if there is one that stale_if_error allows.";
        negative_ttl: Period = "1m", [], [], Plain,
            "How long it is remembered that there is no such project.";
        max_concurrent_pages: Count = "64", [], [], Plain,
            "Maximum pages that are requested from the indexes at once; more are queued.";
        max_queued_pages: Count = "1000", [], [], Plain,
            "Queue limit of these pages. When the queue is full, a page that stale_if_error allows is served; any other is answered with 503 and Retry-After.";
        wheel_metadata: Switch = "true", [], [], Plain,
            "Whether metadata are read out of wheels that an index offers without metadata. A page names them once they were read, after the wheel was first fetched.";
        response_cache_size: Size = "128 MiB", ["GROXPI_RESPONSE_CACHE_SIZE"], [], Plain,
            "The most memory for pages.";
        response_cache_ttl: Option<Period> = "", ["GROXPI_RESPONSE_CACHE_TTL"], [], Idle,
            "Without effect: an answer is as fresh as its page, see index_ttl.";
        max_page_size: Size = "256 MiB", [], [], Plain,
            "The most bytes of a page of an index.";
        decompression_memory: Size = "512 MiB", [], [], Plain,
            "Maximum memory for pages, and metadata of wheels, that are decompressed and read at the same time, over all indexes; others wait. One page at a time may exceed it.";
    }
    "Files" {
        cache_dir: Option<CacheDir> = "", ["GROXPI_CACHE_DIR"], ["PROXPI_CACHE_DIR"], Plain,
            "The folder for pages and files, which has to be empty or a cache of ours. Of a variable of groxpi or proxpi, the folder pypi-proxy in it. Without it, the user's folder for caches.";
        allow_shared_cache_dir: Switch = "false", [], [], Plain,
            "Whether the folder is used even if another user owns it or other users can write to it. They can replace what is served.";
        cache_size: CacheSize = "5 GiB", ["GROXPI_CACHE_SIZE"], ["PROXPI_CACHE_SIZE"], Plain,
            "Maximum bytes of the folder: stored files, pages, references and what was learned of files. What nobody wanted the longest goes first. In the variable of groxpi, 0 means unlimited.";
        max_file_size: Size = "20 GiB", [], [], Plain,
            "The most bytes of one file.";
        max_concurrent_downloads: Count = "64", ["GROXPI_MAX_CONCURRENT_DOWNLOADS"], [], Plain,
            "How many files are fetched at a time.";
        open_files: Count = "256", [], [], Plain,
            "How many stored files are held open for those who ask next.";
        stall_timeout: Period = "30s", [], [], Plain,
            "How long nothing of a file may come before it is asked for again, from where it stopped.";
        download_retries: Count = "4", [], [], Plain,
            "How often that is done without a byte of progress.";
        sync_files: Switch = "false", [], [], Plain,
            "Whether a file counts as stored only once the disk has it. Without it, one that a power cut has damaged is found by its length or by `verify`.";
    }
    "Access" {
        auth_tokens_file: Option<PathBuf> = "", [], [], Plain,
            "A file of tokens: only those who have one are answered. In each line a token of at least 16 characters, or its SHA-256 as `sha256:` and digits, and behind a blank the name of its owner. Clients send it as `Authorization: Bearer`, or as the password of the user `__token__`.";
        auth_htpasswd_file: Option<PathBuf> = "", [], [], Plain,
            "A file of users with hashes of their passwords, as `htpasswd -B` makes it: only they are answered. With auth_tokens_file, either is enough. Both are read again within 5 seconds after they have changed.";
        metrics_need_auth: Switch = "true", [], [], Plain,
            "Whether `/metrics`, `/health` and the status page are only for those who may ask, if there is one of these files.";
        rate_limit: Count = "0", [], [], Plain,
            "How many requests a second of one client are answered, on average; 0 for no limit. A client is a user or the owner of a token, else an address, or a network of 64 bits of IPv6.";
        rate_limit_burst: Count = "500", [], [], Plain,
            "How many requests of one client are answered at once, with rate_limit.";
        trusted_proxies: List<Network> = "", [], [], Plain,
            "Networks of proxies in front that are believed who has asked them, in `X-Forwarded-For`.";
        allow_projects: List<ProjectPattern> = "", [], [], Plain,
            "Patterns for the projects that there are, such as `acme-*`. Without it, all.";
        deny_projects: List<ProjectPattern> = "", [], [], Plain,
            "Patterns for projects that are refused, also if they are allowed.";
        project_sources: List<ProjectSource> = "", [], [], Plain,
            "From which index alone projects are taken: patterns with the number of an index, 1 for index_url and 2 for the first of extra_index_urls, such as `acme-*=2`. No other index is asked for them. The first pattern that fits counts.";
        min_age: Period = "0s", [], [], Plain,
            "How long ago a file must have been uploaded to its index; younger ones are on no page and are refused.";
        min_age_exempt: List<ProjectPattern> = "", [], [], Plain,
            "Patterns for projects whose files may be of any age.";
        min_age_unknown: UnknownAge = "deny", [], [], Plain,
            "What becomes of files whose index does not tell when they were uploaded, if there is a min_age. To deny them is safe, and what pip and uv do that look at ages themselves; an index whose pages are HTML tells no times.";
        yanked: Yanked = "keep", [], [], Plain,
            "What becomes of files that were yanked: keep leaves them on pages with their mark, hide takes them off but sends them to those who know their URLs, refuse does neither.";
    }
    "Log" {
        logging_level: Level = "info", ["GROXPI_LOGGING_LEVEL"], ["PROXPI_LOGGING_LEVEL"], Plain,
            "What is logged: this, and what is worse.";
        log_format: LogFormat = "text", ["GROXPI_LOG_FORMAT"], [], Plain,
            "Whether lines of the log are for people or objects in JSON.";
        log_color: Option<Switch> = "", ["GROXPI_LOG_COLOR"], ["NO_COLOR"], Plain,
            "Whether lines for people have colours. Without it, if they go to a terminal and NO_COLOR is not set.";
        access_log: Switch = "true", [], [], Plain,
            "Whether each request is a line of the log.";
    }
    "Storage in a bucket" {
        storage_type: StorageType = "local", ["GROXPI_STORAGE_TYPE"], [], Bucket,
            "Where files are stored: in a folder of this machine, or in a bucket as well. With s3 the folder in front of the bucket is cache_dir with cache_size, with hybrid it is local_cache_dir with local_cache_size and local_cache_ttl.";
        s3_bucket: Option<String> = "", ["GROXPI_S3_BUCKET"], [], Bucket,
            "The bucket. It has to be there.";
        s3_prefix: String = "groxpi", ["GROXPI_S3_PREFIX"], [], Bucket,
            "What the names of objects begin with, before a slash.";
        s3_endpoint: Option<Endpoint> = "", ["AWS_ENDPOINT_URL"], [], Bucket,
            "The URL of the server, with or without a scheme. Without it, that of Amazon in the region.";
        s3_region: String = "us-east-1", ["AWS_REGION"], [], Bucket,
            "The region of the bucket.";
        s3_access_key_id: Option<Secret> = "", ["AWS_ACCESS_KEY_ID"], [], SecretBucket,
            "The name of the key. Without it, and without the key, the role that the machine or the container has.";
        s3_secret_access_key: Option<Secret> = "", ["AWS_SECRET_ACCESS_KEY"], [], SecretBucket,
            "The key.";
        s3_session_token: Option<Secret> = "", ["AWS_SESSION_TOKEN"], [], SecretBucket,
            "The token of a session.";
        s3_force_path_style: Switch = "false", ["GROXPI_S3_FORCE_PATH_STYLE"], [], Bucket,
            "Whether the bucket is part of the path rather than of the host. With s3_endpoint it always is.";
        s3_use_ssl: Switch = "true", ["GROXPI_S3_USE_SSL"], [], Bucket,
            "Whether the server is asked over TLS, if s3_endpoint does not say.";
        s3_part_size: Size = "10 MiB", ["GROXPI_S3_PART_SIZE"], [], Bucket,
            "The bytes of a part of an upload, 5 MiB at least. Files that are no larger are written at once. Up to s3_write_pool_size parts are in memory.";
        s3_max_connections: Count = "100", ["GROXPI_S3_MAX_CONNECTIONS"], [], Bucket,
            "The most operations of each of the three kinds at a time, if there is not less for one of them below; more wait.";
        s3_read_pool_size: Count = "50", ["GROXPI_S3_READ_POOL_SIZE"], [], Bucket,
            "How many files are read at a time.";
        s3_write_pool_size: Count = "30", ["GROXPI_S3_WRITE_POOL_SIZE"], [], Bucket,
            "How many files, or parts of them, are written at a time.";
        s3_meta_pool_size: Count = "20", ["GROXPI_S3_META_POOL_SIZE"], [], Bucket,
            "How many other operations there are at a time: leases, pages, what there is.";
        s3_enable_http2: Switch = "true", ["GROXPI_S3_ENABLE_HTTP2"], [], Bucket,
            "Whether HTTP/2 is spoken with a server that offers it over TLS.";
        s3_transfer_accel: Switch = "false", ["GROXPI_S3_TRANSFER_ACCEL"], [], Idle,
            "Without effect: set s3_endpoint to the accelerated one.";
        s3_async_writes: Switch = "true", ["GROXPI_S3_ASYNC_WRITES"], [], Idle,
            "Without effect: clients never wait for the bucket to be written.";
        s3_async_workers: Count = "10", ["GROXPI_S3_ASYNC_WORKERS"], [], Idle,
            "Without effect: see s3_write_pool_size.";
        s3_async_queue_size: Count = "1000", ["GROXPI_S3_ASYNC_QUEUE_SIZE"], [], Bucket,
            "How many files may be on their way to the bucket, or wait for it. It does not get more.";
        local_cache_size: CacheSize = "10 GiB", ["GROXPI_LOCAL_CACHE_SIZE"], [], Bucket,
            "Maximum bytes of the folder in front of the bucket, as cache_size.";
        local_cache_dir: Option<CacheDir> = "", ["GROXPI_LOCAL_CACHE_DIR"], [], Bucket,
            "The folder in front of the bucket. Without it, cache_dir.";
        local_cache_ttl: Period = "0s", ["GROXPI_LOCAL_CACHE_TTL"], [], Bucket,
            "How long a file that nobody wants stays in that folder, to the minute; 0 for as long as there is room.";
        tiered_sync_workers: Count = "5", ["GROXPI_TIERED_SYNC_WORKERS"], [], Idle,
            "Without effect: a file of the bucket goes to the folder while it is sent to a client.";
        tiered_sync_queue_size: Count = "100", ["GROXPI_TIERED_SYNC_QUEUE_SIZE"], [], Idle,
            "Without effect: see tiered_sync_workers.";
        bucket_timeout: Period = "5s", [], [], Bucket,
            "How long the bucket may take to answer, and to send nothing of a file. What is sent to it may take a second longer for each 256 KiB.";
        lease_duration: Period = "10s", [], [], Bucket,
            "How long after it was last heard of a proxy that fetches a file keeps the others from doing so.";
        lease_wait: Period = "30s", [], [], Bucket,
            "How long another proxy that fetches a file is waited for. After that, the index is asked for it.";
        page_wait: Period = "0.5s", [], [], Bucket,
            "How long a page in the bucket is waited for before its index is asked.";
    }
}

impl Settings {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// Fails if there is a setting that is not known or malformed, and tells them all ([`Error::is_config`]). Values are
    /// not told: they may be secret.
    pub fn read(sources: &Sources) -> Result<Self, Error> {
        let mut layers = Layers::new(TABLE, sources);
        let Some(mut settings) = Self::take(&mut layers) else {
            return Err(layers.into_error());
        };
        settings.check(&mut layers.problems);
        if !layers.problems.is_empty() {
            return Err(layers.into_error());
        }
        if settings.cache_dir.is_none() {
            settings.cache_dir.value = default_dir(sources).map(CacheDir::new);
        }
        // Who waits for a file that another proxy fetches would be sent to the index, which is asked once.
        if settings.storage_type.value != StorageType::Local && !settings.download_timeout.is_set() {
            settings.download_timeout.value = Patience(None);
        }
        Ok(settings)
    }

    /// The folder for files, which is in front of the bucket if there is one.
    pub fn folder(&self) -> Option<&Path> {
        let own = self.local_cache_dir.as_ref().filter(|_| self.is_hybrid());
        own.or(self.cache_dir.as_ref()).map(CacheDir::path)
    }

    /// The most bytes of files in it.
    pub fn folder_size(&self) -> u64 {
        if self.is_hybrid() { self.local_cache_size.bytes() } else { self.cache_size.bytes() }
    }

    /// How long a file that nobody wants stays there.
    pub(super) fn folder_ttl(&self) -> Option<Duration> {
        Some(self.local_cache_ttl.0).filter(|ttl| self.is_hybrid() && !ttl.is_zero())
    }

    fn is_hybrid(&self) -> bool {
        self.storage_type.value == StorageType::Hybrid
    }

    /// What there is to set.
    pub fn table() -> &'static [Setting] {
        TABLE
    }

    /// What fits no other setting.
    fn check(&self, problems: &mut Vec<String>) {
        let (urls, ttls) = (self.extra_index_urls.0.len(), self.extra_index_ttls.0.len());
        if self.extra_index_ttls.is_set() && urls != ttls {
            let origin = &self.extra_index_ttls.origin;
            problems.push(format!("{origin}: extra_index_ttls has {ttls} values for {urls} further indexes"));
        }
        let at_least_one = [
            ("max_connections", &self.max_connections),
            ("max_header_fields", &self.max_header_fields),
            ("max_concurrent_pages", &self.max_concurrent_pages),
            ("max_concurrent_downloads", &self.max_concurrent_downloads),
            ("rate_limit_burst", &self.rate_limit_burst),
        ];
        for (name, count) in at_least_one {
            if count.0 == 0 {
                problems.push(format!("{}: {name} has to be at least 1", count.origin));
            }
        }
        if self.tls_cert.is_some() != self.tls_key.is_some() {
            let origin = if self.tls_cert.is_some() { &self.tls_cert.origin } else { &self.tls_key.origin };
            problems.push(format!("{origin}: tls_cert and tls_key need each other"));
        }
        let indexes = self.extra_index_urls.0.len() + 1;
        for source in self.project_sources.0.iter().filter(|source| source.index >= indexes) {
            let origin = &self.project_sources.origin;
            problems.push(format!("{origin}: project_sources has {source}, but there are {indexes} indexes"));
        }
        self.check_bucket(problems);
        let not_zero = [
            ("header_timeout", &self.header_timeout),
            ("send_timeout", &self.send_timeout),
            ("stall_timeout", &self.stall_timeout),
            ("bucket_timeout", &self.bucket_timeout),
            ("lease_duration", &self.lease_duration),
        ];
        for (name, time) in not_zero {
            if time.0.is_zero() {
                problems.push(format!("{}: {name} has to be more than 0", time.origin));
            }
        }
    }

    /// What a bucket needs.
    fn check_bucket(&self, problems: &mut Vec<String>) {
        let kind = &self.storage_type;
        // What others use them for is not our business.
        if kind.value == StorageType::Local {
            return;
        }
        if self.s3_bucket.is_none() {
            problems.push(format!("{}: storage_type {} needs s3_bucket", kind.origin, kind.show()));
        }
        if self.s3_access_key_id.is_some() != self.s3_secret_access_key.is_some() {
            let id = &self.s3_access_key_id;
            let origin = if id.is_some() { &id.origin } else { &self.s3_secret_access_key.origin };
            problems.push(format!("{origin}: s3_access_key_id and s3_secret_access_key need each other"));
        }
        if self.s3_part_size.0 < bucket::Config::MIN_PART_SIZE {
            problems.push(format!("{}: s3_part_size has to be at least 5 MiB", self.s3_part_size.origin));
        }
        if self.s3_endpoint.as_ref().is_some_and(|endpoint| endpoint.url(true).is_none()) {
            let origin = &self.s3_endpoint.origin;
            problems.push(format!("{origin}: s3_endpoint has to be a URL of http or https without a user"));
        }
    }

    /// What is set, but does nothing, in words.
    pub fn idle(&self) -> Vec<String> {
        let rows = self.rows().into_iter().filter(|row| row.origin != Origin::Default);
        rows.filter(|row| row.setting.is_idle()).map(|row| format!("{} has no effect", row.origin)).collect()
    }

    /// A file with these settings: those that are set as they are, the others as comments. Secrets are left out.
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
            let is_left_out = origin == Origin::Default || shown.contains("***");
            let mark = if is_left_out { "# " } else { "" };
            out += &format!("{mark}{name} = {toml}\n");
        }
        out
    }
}

/// Each setting with its value and its origin, secrets masked.
impl fmt::Display for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let width = rows.iter().map(|row| row.setting.name.len()).max().unwrap_or(0);
        for Row { setting, shown, origin, .. } in rows {
            let shown = if shown.is_empty() { "-" } else { &shown };
            writeln!(f, "{:width$} = {shown}  ({origin})", setting.name)?;
        }
        Ok(())
    }
}

/// The user's folder for caches.
fn default_dir(sources: &Sources) -> Option<PathBuf> {
    // That of a unit of systemd is for this program alone.
    if let Some(dir) = sources.variable("CACHE_DIRECTORY") {
        return dir.split(':').next().map(PathBuf::from);
    }
    let absolute = |name| sources.variable(name).map(Path::new).filter(|path| path.is_absolute());
    let user = absolute("XDG_CACHE_HOME").or_else(|| absolute("LOCALAPPDATA")).map(Path::to_owned);
    Some(user.or_else(|| Some(absolute("HOME")?.join(".cache")))?.join("pypi-proxy"))
}
