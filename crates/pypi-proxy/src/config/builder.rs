//! Construction of the parts of the proxy from the settings.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::settings::Settings;
use super::table::Origin;
#[cfg(feature = "s3")]
use super::value::Secret;
use super::value::{IndexUrl, JsonApi, LatestUpload, Listen, StorageType};
#[cfg(feature = "s3")]
use crate::bucket::{self, Bucket, S3};
use crate::error::Kind;
use crate::guard::{self, Guard};
use crate::page_cache::{self, Claims, PageCache};
use crate::rules::{OsvConfig, OsvDir, Rules};
use crate::serve::{self, Proxy, Server, ServerConfig, ServerHandle, Tls};
use crate::store::{self, PagesDir, Store};
use crate::upstream::{self, Budget, Netrc, TlsClient, Upstream};
use crate::{Error, config::DiscoveredIndex};

/// TTL of additional indexes without an entry in `extra_index_ttls`.
const EXTRA_TTL: Duration = Duration::from_secs(180);
/// Effectively unlimited age of stale pages in offline mode: 100 years.
const ANY_AGE: Duration = Duration::from_secs(100 * 365 * 86_400);
/// Default connect timeout of groxpi and proxpi if only the read timeout is set.
const COMPAT_CONNECT_TIMEOUT: Duration = Duration::from_millis(3100);
const COMPAT_READ_TIMEOUT: Duration = Duration::from_secs(20);

/// Builds the parts of the proxy from the settings.
#[derive(Clone, Debug)]
pub struct ProxyBuilder<'s> {
    settings: &'s Settings,
    index: IndexUrl,
    netrc: Option<Netrc>,
    /// Name of the index; `None` for the default one.
    name: Option<&'s str>,
    /// Memory budget that all indexes share.
    budget: Budget,
}

impl<'s> ProxyBuilder<'s> {
    /// Creates a builder. `found` is the index to use if `index_url` is not set.
    ///
    /// # Errors
    ///
    /// Fails if there is no index, if an index is the proxy itself, or if `storage_type` requires the feature `s3`,
    /// which is off ([`Error::is_config`]).
    pub fn new(settings: &'s Settings, found: Option<DiscoveredIndex>) -> Result<Self, Error> {
        let index = match (&settings.index_url.value, found) {
            (Some(index), _) => index.clone(),
            (None, Some(found)) => found.value,
            (None, None) => return Err(Error::with(Kind::Config, "no index is set (set index_url)")),
        };
        if cfg!(not(feature = "s3")) && settings.storage_type.value != StorageType::Local {
            let origin = &settings.storage_type.origin;
            let text = "this program was built without the feature s3 (set storage_type to local)";
            return Err(Error::with(Kind::Config, format!("{origin}: {text}")));
        }
        let budget = Budget::new(settings.decompression_memory.value);
        let builder = Self { settings, index, netrc: None, name: None, budget };
        let named: Vec<_> = builder.named().collect();
        let mut users = HashMap::new();
        for url in named.iter().chain([&builder]).flat_map(Self::urls) {
            if builder.is_own(url) {
                let text = "the index is the proxy itself (set index_url to the upstream index)";
                return Err(Error::with(Kind::Config, text));
            }
            // Their cached pages could not be told apart.
            let credentials = url.config()?.credentials;
            if *users.entry(url.url()).or_insert_with(|| credentials.clone()) != credentials {
                let text = format!("{url} is set with different users (an index has one user)");
                return Err(Error::with(Kind::Config, text));
            }
        }
        drop(named);
        Ok(builder)
    }

    /// Returns the builders of the named indexes.
    pub fn named(&self) -> impl Iterator<Item = Self> {
        self.settings.indexes.iter().filter_map(|(name, settings)| {
            let (netrc, budget) = (self.netrc.clone(), self.budget.clone());
            // Reading the settings has checked that there is a URL.
            let index = settings.index_url.value.clone()?;
            Some(Self { settings, index, netrc, name: Some(name), budget })
        })
    }

    /// Returns the name of the index, or `None` for the default one.
    pub fn name(&self) -> Option<&str> {
        self.name
    }

    /// Returns whether the index is served from the cache only.
    pub fn is_offline(&self) -> bool {
        self.settings.offline.value
    }

    /// Sets the `.netrc` file with the credentials of indexes without credentials in their URL.
    #[must_use]
    pub fn netrc(mut self, netrc: impl Into<Option<Netrc>>) -> Self {
        self.netrc = netrc.into();
        self
    }

    fn urls(&self) -> impl Iterator<Item = &IndexUrl> {
        std::iter::once(&self.index).chain(&self.settings.extra_index_urls.value)
    }

    /// Returns whether this is the address of the proxy, which would send requests to itself without end.
    fn is_own(&self, index: &IndexUrl) -> bool {
        let Some(url) = index.url() else { return false };
        let url_host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_here = |host: &str| matches!(host, "localhost" | "127.0.0.1" | "::1" | "0.0.0.0" | "::");
        let is_same = |host: &str| url_host.eq_ignore_ascii_case(host) || is_here(url_host) && is_here(host);
        self.settings.listen.iter().any(|listen| match listen {
            Listen::Tcp { host, port } => url.port_or_known_default() == Some(*port) && is_same(host),
            Listen::Unix(_) => false,
        })
    }

    /// Returns the indexes in the order of the settings.
    ///
    /// # Errors
    ///
    /// Fails if a file of `ca_files` can't be read or contains no certificate ([`Error::is_config`]).
    pub fn upstreams(&self) -> Result<Vec<Arc<Upstream>>, Error> {
        self.upstreams_with(&UpstreamTls::new(self.settings)?, &[])
    }

    /// Creates the indexes as successors of previous ones.
    fn upstreams_with(
        &self,
        tls: &UpstreamTls,
        previous: &[Arc<Upstream>],
    ) -> Result<Vec<Arc<Upstream>>, Error> {
        let settings = self.settings;
        let extra = settings.extra_index_urls.value.iter().enumerate().map(|(index, url)| {
            (url, settings.extra_index_ttls.value.get(index).copied().unwrap_or(EXTRA_TTL))
        });
        let all = std::iter::once((&self.index, settings.index_ttl.value)).chain(extra);
        all.enumerate()
            .map(|(index, (url, ttl))| {
                let mut config = url.config()?;
                config.ttl = ttl;
                match &settings.json_api_url.value {
                    JsonApi::Never => config.json_api = None,
                    JsonApi::Url(url) if index == 0 => config.json_api = Some(url.clone()),
                    JsonApi::Auto | JsonApi::Url(_) => {}
                }
                config.budget = self.budget.clone();
                config.authorities.clone_from(&tls.authorities);
                let missing = settings.missing_statuses.value.iter();
                let missing =
                    missing.filter(|missing| missing.index.is_none_or(|number| number == index + 1));
                config.missing_statuses.extend(missing.map(|missing| missing.status));
                self.tune(&mut config);
                config.netrc.clone_from(&self.netrc);
                Ok(Arc::new(Upstream::with_tls(config, tls.config.clone())?.succeeding(previous)))
            })
            .collect()
    }

    fn tune(&self, config: &mut upstream::Config) {
        let settings = self.settings;
        let (connect, read) = (&settings.connect_timeout, &settings.read_timeout);
        match connect.value.0 {
            Some(time) => config.connect_timeout = time,
            None if read.value.0.is_some() && read.origin.is_compat() => {
                config.connect_timeout = COMPAT_CONNECT_TIMEOUT;
            }
            None => {}
        }
        match read.value.0 {
            Some(time) => config.read_timeout = time,
            None if connect.value.0.is_some() && connect.origin.is_compat() => {
                config.read_timeout = COMPAT_READ_TIMEOUT;
            }
            None => {}
        }
        config.max_page = settings.max_page_size.value;
        config.offline = settings.offline.value;
        config.danger_accept_any_certificate = settings.disable_index_ssl_verification.value;
        config.file_hosts = Some(settings.file_hosts.value.clone()).filter(|hosts| !hosts.is_empty());
    }

    /// Returns the configuration of the file store.
    ///
    /// # Errors
    ///
    /// Fails if there is no cache directory, or as [`Settings::bucket`] ([`Error::is_config`]).
    pub fn store(&self) -> Result<store::Config, Error> {
        let settings = self.settings;
        let Some(dir) = settings.cache_directory() else {
            return Err(Error::with(Kind::Config, "there is no cache directory (set cache_dir)"));
        };
        #[cfg(feature = "s3")]
        let bucket = settings.bucket()?.filter(|_| !settings.offline.value);
        #[cfg(not(feature = "s3"))]
        let bucket = None;
        Ok(store::Config {
            allow_shared_dir: settings.allow_shared_cache_dir.value,
            max_bytes: settings.cache_directory_size(),
            unused_ttl: settings.cache_directory_ttl(),
            bucket,
            max_file: settings.max_file_size.value,
            max_concurrent_downloads: count(settings.max_concurrent_downloads.value),
            max_open_files: count(settings.open_files.value),
            stall_timeout: settings.stall_timeout.value,
            retries: settings.download_retries.value,
            sync: settings.sync_files.value,
            ..store::Config::new(dir)
        })
    }

    /// Returns the configuration of the page cache, whose pages are stored next to the files of `store`.
    ///
    /// # Errors
    ///
    /// Same as [`Self::rules`], or if the names of private indexes can't be read ([`Error::is_storage`]).
    pub fn pages(&self, store: &Store) -> Result<page_cache::Config, Error> {
        Ok(self.pages_with(store, Claims::open(&store.pages_dir())?, self.osv(None)?))
    }

    fn pages_with(&self, store: &Store, claims: Claims, osv: Option<OsvDir>) -> page_cache::Config {
        page_cache::Config {
            dir: Some(store.pages_dir()),
            bucket: store.bucket().filter(|_| !self.settings.offline.value).cloned(),
            ..self.pages_config(claims, osv)
        }
    }

    /// Returns the configuration without the places where pages are stored.
    fn pages_config(&self, claims: Claims, osv: Option<OsvDir>) -> page_cache::Config {
        let settings = self.settings;
        let private = settings.private_indexes.value.iter().map(|number| count(*number).saturating_sub(1));
        page_cache::Config {
            dir: None,
            bucket: None,
            stale_while_revalidate: settings.stale_while_revalidate.value,
            stale_if_error: if settings.offline.value { ANY_AGE } else { settings.stale_if_error.value },
            stale_wait: settings.stale_wait.value,
            negative_ttl: settings.negative_ttl.value,
            max_fetches: count(settings.max_concurrent_pages.value),
            max_queued: count(settings.max_queued_pages.value),
            max_bytes: settings.response_cache_size.value,
            wheel_metadata: settings.wheel_metadata.value,
            upload_times: settings.upload_times.value,
            rules: self.rules_with(osv),
            strategy: settings.index_strategy.value,
            merge_projects: settings.merge_projects.value.clone(),
            private: private.collect(),
            claims,
            name: self.name.map(str::to_owned),
        }
    }

    /// Returns a cache with these rules that reads the pages of the cache directory, without locking it, for
    /// [`PageCache::inspect`].
    ///
    /// # Errors
    ///
    /// Same as [`PagesDir::of_cache`].
    pub fn page_reader(
        &self,
        upstreams: Vec<Arc<Upstream>>,
        rules: Rules,
        claims: Claims,
    ) -> Result<PageCache, Error> {
        let config = page_cache::Config { dir: self.pages_dir()?, rules, ..self.pages_config(claims, None) };
        Ok(PageCache::new(upstreams, config))
    }

    /// Reads the recorded names of private indexes. New names are kept in memory only.
    ///
    /// # Errors
    ///
    /// Fails if they can't be read, or as [`PagesDir::of_cache`] ([`Error::is_storage`]).
    pub fn recorded_claims(&self) -> Result<Claims, Error> {
        Ok(self.pages_dir()?.as_ref().map(Claims::open_read_only).transpose()?.unwrap_or_default())
    }

    fn pages_dir(&self) -> Result<Option<PagesDir>, Error> {
        self.settings.cache_directory().map(PagesDir::of_cache).transpose()
    }

    /// Returns the rules about projects and files.
    ///
    /// # Errors
    ///
    /// Fails if the directory of OSV records can't be read ([`Error::is_config`]).
    pub fn rules(&self) -> Result<Rules, Error> {
        Ok(self.rules_with(self.osv(None)?))
    }

    /// Opens the directory of OSV records. If it is that of old rules, reads only changed records.
    fn osv(&self, old: Option<&Rules>) -> Result<Option<OsvDir>, Error> {
        let open = |dir| {
            let config = OsvConfig { selection: self.settings.osv_records.value, ..OsvConfig::new(dir) };
            match old.and_then(|old| old.osv.as_ref()).filter(|osv| *osv.config() == config) {
                Some(osv) => {
                    osv.refresh();
                    Ok(osv.clone())
                }
                None => OsvDir::open(config),
            }
        };
        self.settings.osv_dir.as_ref().map(open).transpose()
    }

    fn rules_with(&self, osv: Option<OsvDir>) -> Rules {
        let settings = self.settings;
        let sources = &settings.project_sources.value;
        Rules {
            allow: settings.allow_projects.value.clone(),
            deny: settings.deny_projects.value.clone(),
            only_from: sources.iter().map(|source| (source.pattern.clone(), source.index)).collect(),
            min_age: settings.min_age.value,
            min_age_exempt: settings.min_age_exempt.value.clone(),
            min_age_unknown: settings.min_age_unknown.value,
            yanked: settings.yanked.value,
            exclude_newer: settings.exclude_newer.as_ref().map(LatestUpload::limit),
            quarantined: settings.quarantined.value,
            archived: settings.archived.value,
            deprecated: settings.deprecated.value,
            osv,
            osv_exempt: settings.osv_exempt.value.clone(),
        }
    }

    /// Returns the access control, or `None` if none is configured.
    ///
    /// # Errors
    ///
    /// Fails if a file of tokens or users can't be read or is malformed ([`Error::is_config`]).
    pub fn guard(&self) -> Result<Option<Guard>, Error> {
        self.guard_config().map(Guard::new).transpose()
    }

    fn guard_config(&self) -> Option<guard::Config> {
        let settings = self.settings;
        let (tokens, users) = (&settings.auth_tokens_file.value, &settings.auth_htpasswd_file.value);
        let rate = settings.rate_limit.value;
        let networks = &settings.trusted_proxies.value;
        // Trusted proxies alone also need it: the log contains the client address.
        if tokens.is_none() && users.is_none() && rate == 0 && networks.is_empty() {
            return None;
        }
        Some(guard::Config {
            tokens_file: tokens.clone(),
            htpasswd_file: users.clone(),
            guards_metrics: settings.metrics_need_auth.value,
            rate_limit: (rate > 0).then_some((rate, settings.rate_limit_burst.value)),
            trusted_proxies: networks.clone(),
            ..guard::Config::default()
        })
    }

    /// Returns the configuration of the request handler.
    ///
    /// # Errors
    ///
    /// Same as [`Self::guard`].
    pub fn serve(&self) -> Result<serve::Config, Error> {
        Ok(self.serve_with(self.guard()?.map(Arc::new)))
    }

    fn serve_with(&self, guard: Option<Arc<Guard>>) -> serve::Config {
        let settings = self.settings;
        let is_stored = settings.cache_directory_size() > 0;
        // proxpi without a cache redirects clients.
        let is_proxpi =
            matches!(&settings.cache_size.origin, Origin::Env(name) if name.starts_with("PROXPI_"));
        let redirect_after = match settings.download_timeout.value.0 {
            // Offline mode also applies to redirects.
            _ if settings.offline.value => None,
            // Without storage, waiting clients gain nothing.
            Some(_) if !is_stored => Some(Duration::ZERO),
            None if !is_stored && is_proxpi => Some(Duration::ZERO),
            time => time,
        };
        serve::Config {
            redirect_after,
            page_max_age: settings.page_max_age.value,
            binary_type: settings.binary_file_mime_type.value,
            admin_token: settings.admin_token.value.as_ref().map(|token| token.expose().to_owned()),
            guard,
        }
    }

    /// Returns the configuration of the HTTP server.
    ///
    /// # Errors
    ///
    /// Fails if the certificate or key can't be read ([`Error::is_config`]).
    pub fn server(&self) -> Result<ServerConfig, Error> {
        let settings = self.settings;
        let tls = match (&settings.tls_cert.value, &settings.tls_key.value) {
            (Some(certificate), Some(key)) => Some(Tls::from_pem(&pem(certificate)?, &pem(key)?)?),
            _ => None,
        };
        Ok(ServerConfig {
            max_connections: count(settings.max_connections.value),
            header_timeout: settings.header_timeout.value,
            send_timeout: settings.send_timeout.value,
            max_header_fields: count(settings.max_header_fields.value),
            drain: settings.drain_timeout.value,
            access_log: settings.access_log.value,
            tls,
        })
    }

    /// Opens the store and creates the server.
    ///
    /// # Errors
    ///
    /// Same as the methods for the parts. Also fails if the cache directory is unusable ([`Error::is_storage`]).
    pub fn start(&self) -> Result<(Server, Store), Error> {
        let (server, serve) = (self.server()?, self.serve()?);
        // Errors of the settings come first: opening the store creates its directory.
        let (osv, indexes) = (self.osv(None)?, self.all_upstreams(|_| Vec::new())?);
        let store = Store::open(self.store()?)?;
        let proxy = Self::build(osv, indexes, serve.guard, &store)?;
        Ok((Server::new(proxy, server), store))
    }

    /// Creates the proxy with this store, for [`Proxy::export`] and [`Proxy::import`] or another HTTP server.
    ///
    /// # Errors
    ///
    /// Same as [`Self::upstreams`] and [`Self::serve`].
    pub fn proxy(&self, store: Store) -> Result<Proxy, Error> {
        let indexes = self.all_upstreams(|_| Vec::new())?;
        Self::build(self.osv(None)?, indexes, self.serve()?.guard, &store)
    }

    fn build(
        osv: Option<OsvDir>,
        indexes: Vec<BuiltIndex<'s>>,
        guard: Option<Arc<Guard>>,
        store: &Store,
    ) -> Result<Proxy, Error> {
        let claims = Claims::open(&store.pages_dir())?;
        assemble(indexes, store, &claims, osv.as_ref(), guard.as_ref(), |_| None)
    }

    /// Applies the settings to a running server, except those that need a restart
    /// ([`Setting::needs_restart`](super::Setting::needs_restart)). Requests in flight complete with the previous ones.
    /// Rate limits and verified logins are kept if the settings of the access control are the same. Blocks the thread.
    ///
    /// # Errors
    ///
    /// Same as the methods for the parts. Then the server is unchanged.
    pub fn reload(&self, server: &ServerHandle) -> Result<(), Error> {
        let proxy = server.proxy();
        let config = self.server()?;
        let previous = |name: Option<&str>| match name {
            None => Some(&proxy),
            Some(name) => proxy.mounted(name),
        };
        // Pages that are being parsed for the previous indexes count as well.
        let budget = proxy.upstreams().first().map(|upstream| upstream.budget().clone());
        let budget = budget.filter(|budget| budget.has_size(self.settings.decompression_memory.value));
        let builder = Self { budget: budget.unwrap_or_else(|| self.budget.clone()), ..self.clone() };
        let indexes = builder.all_upstreams(|name| {
            previous(name).map(|proxy| proxy.upstreams().to_vec()).unwrap_or_default()
        })?;
        let (osv, claims) = (self.osv(Some(proxy.rules()))?, proxy.pages().claims().for_reload());
        let guard = match self.guard_config() {
            None => None,
            Some(config) => match proxy.guard().filter(|guard| guard.has_config(&config)) {
                Some(guard) => {
                    guard.reload()?;
                    Some(guard.clone())
                }
                None => Some(Arc::new(Guard::new(config)?)),
            },
        };
        let new = assemble(indexes, proxy.store(), &claims, osv.as_ref(), guard.as_ref(), previous)?;
        proxy.store().set_limits(self.settings.cache_directory_size(), self.settings.cache_directory_ttl());
        server.replace(new, config);
        Ok(())
    }

    /// Returns the upstreams of all indexes as successors of previous ones, with those of the default index first.
    fn all_upstreams(
        &self,
        previous: impl Fn(Option<&str>) -> Vec<Arc<Upstream>>,
    ) -> Result<Vec<BuiltIndex<'s>>, Error> {
        let tls = UpstreamTls::new(self.settings)?;
        let all = std::iter::once(self.clone()).chain(self.named());
        all.map(|builder| {
            let previous = previous(builder.name);
            let upstreams = match UpstreamTls::is_same(builder.settings, self.settings) {
                true => builder.upstreams_with(&tls, &previous)?,
                false => builder.upstreams_with(&UpstreamTls::new(builder.settings)?, &previous)?,
            };
            Ok((builder, upstreams))
        })
        .collect()
    }
}

/// Creates the proxies of all indexes, as successors of previous ones, and mounts the named ones in the default one,
/// which is the first.
fn assemble<'p>(
    indexes: Vec<BuiltIndex<'_>>,
    store: &Store,
    claims: &Claims,
    osv: Option<&OsvDir>,
    guard: Option<&Arc<Guard>>,
    previous: impl Fn(Option<&str>) -> Option<&'p Proxy>,
) -> Result<Proxy, Error> {
    let mut proxies = indexes.into_iter().map(|(builder, upstreams)| {
        let pages = builder.pages_with(store, claims.clone(), osv.cloned());
        let config = builder.serve_with(guard.cloned());
        let proxy = match previous(builder.name) {
            Some(previous) => previous.reconfigure(upstreams, pages, config),
            None => Proxy::new(upstreams.clone(), PageCache::new(upstreams, pages), store.clone(), config),
        };
        (builder.name, proxy)
    });
    let Some((_, proxy)) = proxies.next() else {
        return Err(Error::with(Kind::Config, "no index is set (set index_url)"));
    };
    proxies.try_fold(proxy, |proxy, (name, index)| proxy.mount(name.unwrap_or_default(), index))
}

/// An index with its upstreams.
type BuiltIndex<'s> = (ProxyBuilder<'s>, Vec<Arc<Upstream>>);

/// TLS configuration of upstreams. Its use reads all certificates of the system, so indexes share it.
struct UpstreamTls {
    authorities: Vec<Vec<u8>>,
    config: Option<TlsClient>,
}

impl UpstreamTls {
    fn new(settings: &Settings) -> Result<Self, Error> {
        let authorities = settings.authorities()?;
        let config = TlsClient::new(&authorities, settings.disable_index_ssl_verification.value)?;
        Ok(Self { authorities, config })
    }

    fn is_same(one: &Settings, other: &Settings) -> bool {
        let key = |settings: &Settings| {
            (settings.ca_files.value.clone(), settings.disable_index_ssl_verification.value)
        };
        key(one) == key(other)
    }
}

fn count(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

impl Settings {
    /// Creates the bucket for shared files and pages, or `None` for `storage_type` `local`. Does not connect to it.
    ///
    /// # Errors
    ///
    /// Fails if a bucket setting is invalid or a file of `ca_files` can't be read ([`Error::is_config`]).
    #[cfg(feature = "s3")]
    pub fn bucket(&self) -> Result<Option<Bucket>, Error> {
        let Some(name) = self.s3_bucket.as_ref().filter(|_| self.storage_type.value != StorageType::Local)
        else {
            return Ok(None);
        };
        let text = |secret: &Option<Secret>| secret.as_ref().map(|secret| secret.expose().to_owned());
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

    /// Reads the files of certificate authorities.
    pub(super) fn authorities(&self) -> Result<Vec<Vec<u8>>, Error> {
        self.ca_files.value.iter().map(|path| pem(path)).collect()
    }
}

fn pem(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| {
        Error::with(Kind::Config, format!("{} can't be read", path.display())).caused_by(error)
    })
}
