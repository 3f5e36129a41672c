//! Where files of an index may be.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::Error;
use crate::error::Kind;

/// Hosts that files may be fetched from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Hosts {
    /// All, but private addresses only if the index has one itself.
    #[default]
    Public,
    /// These, in lower case.
    Listed(Vec<String>),
}

impl Hosts {
    /// Whether a name may only stand for addresses that are public.
    pub(super) fn are_public(&self, index: &Url) -> bool {
        *self == Self::Public && !index.host().is_some_and(|host| is_private_host(&host))
    }

    /// Whether a file may be fetched from here. What a name resolves to is looked at when it is.
    pub(super) fn check(&self, index: &Url, file: &Url) -> Result<(), Error> {
        let is_web = matches!(file.scheme(), "http" | "https");
        // What came over an encrypted connection is not followed to an open one.
        let is_downgrade = index.scheme() == "https" && file.scheme() == "http";
        let is_allowed = match (self, file.host()) {
            (_, None) => false,
            _ if file.host() == index.host() => true,
            (Self::Public, Some(host)) => {
                !is_private_host(&host) || index.host().is_some_and(|host| is_private_host(&host))
            }
            (Self::Listed(patterns), Some(host)) => {
                let host = host.to_string();
                patterns.iter().any(|pattern| matches(pattern, &host))
            }
        };
        if !is_web || is_downgrade || !is_allowed || !file.username().is_empty() || file.password().is_some()
        {
            return Err(Error::with(
                Kind::Forbidden,
                "the index names a place that files are not fetched from",
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
        Host::Domain(name) => {
            let name = name.trim_end_matches('.');
            name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
        }
        Host::Ipv4(address) => is_private(IpAddr::V4(*address)),
        Host::Ipv6(address) => is_private(IpAddr::V6(*address)),
    }
}

/// Whether an address is one of this machine or its network.
pub(super) fn is_private(address: IpAddr) -> bool {
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

    fn is_allowed(hosts: &Hosts, index: &str, file: &str) -> bool {
        hosts.check(&index.parse().unwrap(), &file.parse().unwrap()).is_ok()
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
            "file:///etc/passwd",
            "ftp://files.example.org/a.whl",
        ];
        for file in forbidden {
            assert!(!is_allowed(&Hosts::Public, index, file), "{file}");
        }
    }

    #[test]
    fn a_private_index_may_name_its_neighbours() {
        assert!(is_allowed(&Hosts::Public, "http://127.0.0.1:8080/simple/", "http://127.0.0.1:9090/a.whl"));
        assert!(is_allowed(&Hosts::Public, "http://10.0.0.1/simple/", "https://files.example.org/a.whl"));
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
