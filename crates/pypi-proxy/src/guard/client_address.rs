//! Client address behind trusted proxies.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

/// Returns the client address: that of the connection or, behind trusted proxies, the last untrusted address in
/// `X-Forwarded-For`. Clients may forge the addresses before it.
pub(super) fn client_address(peer: Option<IpAddr>, forwarded: &str, trusted: &[IpNet]) -> Option<IpAddr> {
    let is_trusted = |address: IpAddr| trusted.iter().any(|net| net.contains(&address));
    let mut client = peer?.to_canonical();
    let mut hops = forwarded.rsplit(',').map(str::trim);
    while is_trusted(client)
        && let Some(before) = hops.next().and_then(address)
    {
        client = before;
    }
    Some(client)
}

/// Parses an address with optional brackets and port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(peer: &str, forwarded: &str) -> String {
        let trusted = ["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        client_address(Some(peer.parse().unwrap()), forwarded, &trusted).unwrap().to_string()
    }

    #[test]
    fn only_trusted_proxies_can_set_the_client_address() {
        for (peer, forwarded, expected) in [
            ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
            ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("10.0.0.1", "1.1.1.1, 198.51.100.7 , 10.9.9.9", "198.51.100.7"),
            ("10.0.0.1", "198.51.100.7:4711, [2001:db8::1]:80", "198.51.100.7"),
            ("2001:db8::1", "[2003::7]", "2003::7"),
            // All addresses are trusted, or the last one is malformed.
            ("10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"),
            ("10.0.0.1", "198.51.100.7, unknown", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
        ] {
            assert_eq!(of(peer, forwarded), expected, "{peer} {forwarded}");
        }
        assert_eq!(client_address(None, "192.0.2.1", &[]), None);
    }

    proptest! {
        #[test]
        fn arbitrary_headers_result_in_an_address(forwarded in "[0-9a-f.:,\\[\\] ]{0,60}") {
            let address = of("10.0.0.1", &forwarded);
            prop_assert!(address == "10.0.0.1" || address.parse::<IpAddr>().is_ok());
            prop_assert_eq!(of("192.0.2.1", &forwarded), "192.0.2.1");
        }
    }
}
