//! Where files of an index may be.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::Error;
use crate::error::Kind;

/// Hosts that files may be fetched from, beside the index's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Hosts {
    /// All with public addresses, and those of this machine for an index of this machine.
    #[default]
    Public,
    /// These, in lower case.
    Listed(Vec<String>),
}

/// Which URLs are requested on behalf of an index, redirects included, and which addresses their names may resolve to.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    index: Url,
    hosts: Hosts,
    /// Hosts of HTTP proxies, in lower case. They may have private addresses, but no file comes from them.
    proxies: Vec<String>,
}

impl Rule {
    pub(super) fn new(index: Url, hosts: Hosts, proxies: Vec<String>) -> Self {
        Self { index, hosts, proxies }
    }

    /// Whether names are resolved to some addresses only.
    pub(super) fn limits_addresses(&self) -> bool {
        self.hosts == Hosts::Public
    }

    /// Whether a name may be resolved to this address. Only the index itself may have any private one, because the
    /// operator has named it.
    pub(super) fn allows(&self, name: &str, address: IpAddr) -> bool {
        let is_name = |other: &str| other.eq_ignore_ascii_case(name);
        !is_private(address)
            || self.index.host_str().is_some_and(is_name)
            || self.proxies.iter().any(|proxy| is_name(proxy))
            || self.is_local() && address.to_canonical().is_loopback()
    }

    /// Whether the index is on this machine.
    fn is_local(&self) -> bool {
        self.index.host().is_some_and(|host| is_local(&host))
    }

    /// Whether a URL may be requested. What its name resolves to is checked with [`Self::allows`] when it is.
    ///
    /// # Errors
    ///
    /// Fails if it may not ([`Error::is_forbidden`]).
    pub(super) fn check(&self, url: &Url) -> Result<(), Error> {
        let index = &self.index;
        let is_web = matches!(url.scheme(), "http" | "https");
        // A redirect from an encrypted connection to an open one is not followed.
        let is_downgrade = index.scheme() == "https" && url.scheme() == "http";
        let is_allowed = match (&self.hosts, url.host()) {
            (_, None) => false,
            _ if url.host() == index.host() => true,
            (Hosts::Public, Some(host)) => {
                let is_proxy = url.host_str().is_some_and(|host| self.proxies.iter().any(|it| it == host));
                !is_proxy && !is_private_host(&host) || self.is_local() && is_local(&host)
            }
            (Hosts::Listed(patterns), Some(host)) => {
                let host = host.to_string();
                patterns.iter().any(|pattern| matches(pattern, &host))
            }
        };
        if !is_web || is_downgrade || !is_allowed || !url.username().is_empty() || url.password().is_some() {
            return Err(Error::with(
                Kind::Forbidden,
                "the index names a host or URL that files are not fetched from (set file_hosts to allow a host)",
            ));
        }
        Ok(())
    }
}

fn matches(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(domain) => {
            host.strip_suffix(domain).is_some_and(|front| front.ends_with('.') && front.len() > 1)
        }
        None => pattern == host,
    }
}

fn is_private_host(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(_) => is_local(host),
        Host::Ipv4(address) => is_private(IpAddr::V4(*address)),
        Host::Ipv6(address) => is_private(IpAddr::V6(*address)),
    }
}

/// Whether a host is this machine.
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

/// Whether an address is one of this machine or its network.
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
                // Shared between providers and customers (RFC 6598).
                || (first == 100 && second & 0xc0 == 64)
                // For measurements (RFC 2544), and of no use yet.
                || (first == 198 && second & 0xfe == 18)
                || first >= 240
        }
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unique_local()
                || address.is_unicast_link_local()
                || address.is_multicast()
                || embedded(address).is_some_and(|address| is_private(IpAddr::V4(address)))
        }
    }
}

/// The address behind a gateway between the versions of the protocol: NAT64 (RFC 6052) and 6to4 (RFC 3056).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
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

    fn rule(hosts: &Hosts, index: &str) -> Rule {
        Rule::new(index.parse().unwrap(), hosts.clone(), vec!["proxy.example.org".into()])
    }

    fn is_allowed(hosts: &Hosts, index: &str, file: &str) -> bool {
        rule(hosts, index).check(&file.parse().unwrap()).is_ok()
    }

    #[test]
    fn files_of_a_public_index_are_public() {
        let index = "https://packages.example.org/simple/";
        for file in ["https://files.example.org/a.whl", "https://packages.example.org:8443/a.whl"] {
            assert!(is_allowed(&Hosts::Public, index, file), "{file}");
        }
        let forbidden = [
            "http://files.example.org/a.whl",
            "https://127.0.0.1/a.whl",
            "https://2130706433/a.whl",
            "https://0x7f.1/a.whl",
            "https://10.1.2.3/a.whl",
            "https://169.254.169.254/latest/meta-data",
            "https://[::1]/a.whl",
            "https://[::ffff:10.0.0.1]/a.whl",
            "https://[fd00::1]/a.whl",
            "https://[64:ff9b::10.0.0.1]/a.whl",
            "https://[2002:7f00:1::]/a.whl",
            "https://255.255.255.255/a.whl",
            "https://198.18.0.1/a.whl",
            "https://100.64.0.1/a.whl",
            "https://localhost/a.whl",
            "https://LOCALHOST./a.whl",
            "https://user:secret@files.example.org/a.whl",
            "https://proxy.example.org/a.whl",
            "https://Proxy.Example.org:3128/a.whl",
            "file:///etc/passwd",
            "ftp://files.example.org/a.whl",
        ];
        for file in forbidden {
            assert!(!is_allowed(&Hosts::Public, index, file), "{file}");
        }
    }

    #[test]
    fn a_private_index_names_public_hosts_and_itself() {
        let private = "http://10.0.0.1/simple/";
        assert!(is_allowed(&Hosts::Public, private, "http://10.0.0.1:9090/a.whl"));
        assert!(is_allowed(&Hosts::Public, private, "https://files.example.org/a.whl"));
        for index in
            [private, "http://127.0.0.1:8080/simple/", "http://localhost/", "http://[fd00::1]/simple/"]
        {
            for file in [
                "http://169.254.169.254/latest/meta-data",
                "http://[::ffff:169.254.169.254]/latest/meta-data",
                "http://[fd00:ec2::254]/latest/meta-data",
                "http://100.100.100.200/latest/meta-data",
                "http://10.0.0.2/a.whl",
                "http://192.168.0.1/a.whl",
                "http://0.0.0.0/a.whl",
            ] {
                assert!(!is_allowed(&Hosts::Public, index, file), "{index} {file}");
            }
        }
        assert!(!is_allowed(&Hosts::Public, private, "http://127.0.0.1/a.whl"));
        assert!(is_allowed(&Hosts::Listed(vec!["10.0.0.2".into()]), private, "http://10.0.0.2/a.whl"));
    }

    #[test]
    fn an_index_of_this_machine_names_what_is_on_it() {
        for index in
            ["http://127.0.0.1:8080/simple/", "http://localhost:8080/simple/", "http://[::1]/simple/"]
        {
            for file in ["http://127.0.0.1:9090/a.whl", "http://localhost/a.whl", "http://[::1]:1/a.whl"] {
                assert!(is_allowed(&Hosts::Public, index, file), "{index} {file}");
            }
        }
    }

    #[test]
    fn names_resolve_to_public_addresses_but_for_those_of_the_operator() {
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
            let rule = rule(&Hosts::Public, index);
            assert_eq!(rule.allows(name, address.parse().unwrap()), expected, "{index} {name} {address}");
        }
    }

    #[test]
    fn a_list_of_hosts_is_kept_to() {
        let hosts = Hosts::Listed(vec!["files.example.org".into(), "*.cdn.example.org".into()]);
        let index = "https://packages.example.org/simple/";
        for (file, allowed) in [
            ("https://files.example.org/a.whl", true),
            ("https://a.cdn.example.org/a.whl", true),
            ("https://packages.example.org/a.whl", true),
            ("https://cdn.example.org/a.whl", false),
            ("https://xcdn.example.org/a.whl", false),
            ("https://example.org/a.whl", false),
        ] {
            assert_eq!(is_allowed(&hosts, index, file), allowed, "{file}");
        }
    }
}
