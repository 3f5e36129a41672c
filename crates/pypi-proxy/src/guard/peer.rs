//! Who asks, where proxies stand in between.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

/// The address of the client: that of the connection, or if a trusted proxy has made it, the last one in `X-Forwarded-For`
/// that is not a trusted proxy's. What stands in front of that anybody may have written.
pub(super) fn client(peer: Option<IpAddr>, forwarded: &str, trusted: &[IpNet]) -> Option<IpAddr> {
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

/// An address, perhaps with a port, and with the brackets that this takes.
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
        client(Some(peer.parse().unwrap()), forwarded, &trusted).unwrap().to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        for (peer, forwarded, expected) in [
            ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
            ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("10.0.0.1", "1.1.1.1, 198.51.100.7 , 10.9.9.9", "198.51.100.7"),
            ("10.0.0.1", "198.51.100.7:4711, [2001:db8::1]:80", "198.51.100.7"),
            ("2001:db8::1", "[2003::7]", "2003::7"),
            // All of them are proxies, or the last one can't be read.
            ("10.0.0.1", "10.0.0.3,10.0.0.2", "10.0.0.3"),
            ("10.0.0.1", "198.51.100.7, unknown", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"),
        ] {
            assert_eq!(of(peer, forwarded), expected, "{peer} {forwarded}");
        }
        assert_eq!(client(None, "192.0.2.1", &[]), None);
    }

    proptest! {
        #[test]
        fn whatever_is_sent_a_client_has_an_address(forwarded in "[0-9a-f.:,\\[\\] ]{0,60}") {
            let address = of("10.0.0.1", &forwarded);
            prop_assert!(address == "10.0.0.1" || address.parse::<IpAddr>().is_ok());
            prop_assert_eq!(of("192.0.2.1", &forwarded), "192.0.2.1");
        }
    }
}
