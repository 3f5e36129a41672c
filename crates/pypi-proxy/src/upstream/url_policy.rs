//! Policy for the URLs and addresses that are requested on behalf of an index.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::Error;
use crate::error::Kind;

/// Decides which URLs may be requested for an index, redirects included, and which addresses host names may resolve to.
#[derive(Clone, Debug)]
pub(super) struct UrlPolicy {
    index: Url,
    /// Patterns in lower case of the hosts that files may be downloaded from, besides the index. `None` means all hosts
    /// with public addresses, and loopback hosts for an index on a loopback address.
    hosts: Option<Vec<String>>,
    /// Hosts of HTTP proxies in lower case. They may have private addresses, but files may not be downloaded from them.
    proxies: Vec<String>,
}

impl UrlPolicy {
    pub(super) fn new(index: Url, hosts: Option<Vec<String>>, proxies: Vec<String>) -> Self {
        let lower_case = |hosts: Vec<String>| hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        Self { index, hosts: hosts.map(lower_case), proxies }
    }

    /// Returns whether host names may resolve to certain addresses only.
    pub(super) fn restricts_addresses(&self) -> bool {
        self.hosts.is_none()
    }

    /// Returns whether a host name may resolve to this address. Only the index and HTTP proxies, which the operator
    /// configured, may have any private address.
    pub(super) fn allows(&self, name: &str, address: IpAddr) -> bool {
        let is_name = |other: &str| other.eq_ignore_ascii_case(name);
        !is_private(address)
            || self.index.host_str().is_some_and(is_name)
            || self.proxies.iter().any(|proxy| is_name(proxy))
            || self.is_local() && address.to_canonical().is_loopback()
    }

    /// Returns whether the index is on a loopback address.
    fn is_local(&self) -> bool {
        self.index.host().is_some_and(|host| is_local(&host))
    }

    /// Checks whether a URL may be requested. [`Self::allows`] checks the resolved addresses later. Fails if the URL is
    /// forbidden ([`Error::is_forbidden`]).
    pub(super) fn check(&self, url: &Url) -> Result<(), Error> {
        let index = &self.index;
        let is_web = matches!(url.scheme(), "http" | "https");
        // A downgrade from HTTPS to HTTP is forbidden.
        let is_downgrade = index.scheme() == "https" && url.scheme() == "http";
        let is_allowed = match (&self.hosts, url.host()) {
            (_, None) => false,
            _ if url.host() == index.host() => true,
            (None, Some(host)) => {
                let is_proxy = url.host_str().is_some_and(|host| self.proxies.iter().any(|it| it == host));
                !is_proxy && !is_private_host(&host) || self.is_local() && is_local(&host)
            }
            (Some(patterns), Some(host)) => {
                let host = host.to_string();
                patterns.iter().any(|pattern| matches_host(pattern, &host))
            }
        };
        if !is_web || is_downgrade || !is_allowed || !url.username().is_empty() || url.password().is_some() {
            let text = "downloads from this host or URL are not allowed (set file_hosts to allow a host)";
            return Err(Error::with(Kind::Forbidden, text));
        }
        Ok(())
    }
}

fn matches_host(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(domain) => {
            host.strip_suffix(domain).is_some_and(|front| front.ends_with('.') && front.len() > 1)
        }
        None => pattern == host,
    }
}

fn is_private_host(host: &Host<&str>) -> bool {
    match *host {
        Host::Domain(_) => is_local(host),
        Host::Ipv4(address) => is_private(address.into()),
        Host::Ipv6(address) => is_private(address.into()),
    }
}

/// Returns whether a host is a loopback name or address.
fn is_local(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
        }
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => IpAddr::V6(*address).to_canonical().is_loopback(),
    }
}

/// Returns whether an address is not globally routable.
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_unspecified()
                || address.is_broadcast()
                || address.is_multicast()
                || first == 0
                // Shared address space of carriers (RFC 6598).
                || (first == 100 && second & 0xc0 == 64)
                // Benchmarking (RFC 2544).
                || (first == 198 && second & 0xfe == 18)
                || first >= 240
        }
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unique_local()
                || address.is_unicast_link_local()
                || address.is_multicast()
                || embedded_ipv4(address).is_some_and(|address| is_private(IpAddr::V4(address)))
        }
    }
}

/// Returns the IPv4 address embedded in a NAT64 (RFC 6052) or 6to4 (RFC 3056) address.
fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let bytes = address.octets();
    let at = match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => 12,
        [0x2002, ..] => 2,
        _ => return None,
    };
    Some(Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(hosts: Option<&[&str]>, index: &str) -> UrlPolicy {
        let hosts = hosts.map(|hosts| hosts.iter().map(|host| (*host).to_owned()).collect());
        UrlPolicy::new(index.parse().unwrap(), hosts, vec!["proxy.example.org".into()])
    }

    fn is_allowed(hosts: Option<&[&str]>, index: &str, file: &str) -> bool {
        policy(hosts, index).check(&file.parse().unwrap()).is_ok()
    }

    #[test]
    fn public_index_may_not_refer_to_private_hosts() {
        let index = "https://packages.example.org/simple/";
        for file in ["https://files.example.org/a.whl", "https://packages.example.org:8443/a.whl"] {
            assert!(is_allowed(None, index, file), "{file}");
        }
        let forbidden = "http://files.example.org/a.whl https://127.0.0.1/a.whl https://2130706433/a.whl \
            https://0x7f.1/a.whl https://10.1.2.3/a.whl https://169.254.169.254/latest/meta-data \
            https://[::1]/a.whl https://[::ffff:10.0.0.1]/a.whl https://[fd00::1]/a.whl \
            https://[64:ff9b::10.0.0.1]/a.whl https://[2002:7f00:1::]/a.whl \
            https://255.255.255.255/a.whl https://198.18.0.1/a.whl https://100.64.0.1/a.whl \
            https://localhost/a.whl https://LOCALHOST./a.whl https://a.localhost/a.whl \
            https://user:secret@files.example.org/a.whl https://proxy.example.org/a.whl \
            https://Proxy.Example.org:3128/a.whl file:///etc/passwd ftp://files.example.org/a.whl";
        for file in forbidden.split(' ') {
            assert!(!is_allowed(None, index, file), "{file}");
        }
    }

    #[test]
    fn private_index_may_refer_to_public_hosts_and_itself() {
        let private = "http://10.0.0.1/simple/";
        assert!(is_allowed(None, private, "http://10.0.0.1:9090/a.whl"));
        assert!(is_allowed(None, private, "https://files.example.org/a.whl"));
        for index in
            [private, "http://127.0.0.1:8080/simple/", "http://localhost/", "http://[fd00::1]/simple/"]
        {
            let private = "http://169.254.169.254/latest/meta-data http://[::ffff:169.254.169.254]/latest/meta-data \
                http://[fd00:ec2::254]/latest/meta-data http://100.100.100.200/latest/meta-data \
                http://10.0.0.2/a.whl http://192.168.0.1/a.whl http://0.0.0.0/a.whl";
            for file in private.split(' ') {
                assert!(!is_allowed(None, index, file), "{index} {file}");
            }
        }
        assert!(!is_allowed(None, private, "http://127.0.0.1/a.whl"));
        assert!(is_allowed(Some(&["10.0.0.2"]), private, "http://10.0.0.2/a.whl"));
    }

    #[test]
    fn loopback_index_may_refer_to_loopback_hosts() {
        for index in
            ["http://127.0.0.1:8080/simple/", "http://localhost:8080/simple/", "http://[::1]/simple/"]
        {
            for file in ["http://127.0.0.1:9090/a.whl", "http://localhost/a.whl", "http://[::1]:1/a.whl"] {
                assert!(is_allowed(None, index, file), "{index} {file}");
            }
        }
    }

    #[test]
    fn only_configured_hosts_may_resolve_to_private_addresses() {
        let index = "https://packages.example.org/simple/";
        for (index, name, address, expected) in [
            (index, "files.example.org", "192.0.2.1", true),
            (index, "files.example.org", "10.0.0.1", false),
            (index, "files.example.org", "127.0.0.1", false),
            (index, "packages.example.org", "10.0.0.1", true),
            (index, "PACKAGES.example.org", "169.254.169.254", true),
            (index, "proxy.example.org", "10.0.0.1", true),
            ("http://10.0.0.1/simple/", "files.example.org", "10.0.0.1", false),
            ("http://10.0.0.1/simple/", "files.example.org", "169.254.169.254", false),
            ("http://127.0.0.1/simple/", "files.example.org", "169.254.169.254", false),
            ("http://127.0.0.1/simple/", "files.localhost", "::1", true),
        ] {
            let policy = policy(None, index);
            assert_eq!(policy.allows(name, address.parse().unwrap()), expected, "{index} {name} {address}");
        }
    }

    #[test]
    fn only_listed_hosts_are_allowed() {
        let hosts = Some(&["files.example.org", "*.cdn.example.org"][..]);
        let index = "https://packages.example.org/simple/";
        for (file, allowed) in [
            ("https://files.example.org/a.whl", true),
            ("https://a.cdn.example.org/a.whl", true),
            ("https://packages.example.org/a.whl", true),
            ("https://cdn.example.org/a.whl", false),
            ("https://xcdn.example.org/a.whl", false),
            ("https://example.org/a.whl", false),
        ] {
            assert_eq!(is_allowed(hosts, index, file), allowed, "{file}");
        }
    }
}
