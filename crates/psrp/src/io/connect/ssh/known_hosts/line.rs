//! Parser for one line of a known-hosts file (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").

use aws_lc_rs::hmac;
use wildmatch::WildMatch;

use crate::b64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Key,
    /// Authority for host certificates.
    CertAuthority,
    Revoked,
}

#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) marker: Marker,
    hosts: &'a str,
    /// Key type, such as `ssh-ed25519`.
    pub(super) kind: &'a str,
    key: &'a str,
}

impl<'a> Line<'a> {
    /// Parses a line. Returns `None` for comments, empty lines and incomplete lines.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let first = words.next().filter(|word| !word.starts_with('#'))?;
        let (marker, hosts) = match first {
            "@cert-authority" => (Marker::CertAuthority, words.next()?),
            "@revoked" => (Marker::Revoked, words.next()?),
            other if other.starts_with('@') => return None,
            hosts => (Marker::Key, hosts),
        };
        Some(Self { marker, hosts, kind: words.next()?, key: words.next()? })
    }

    /// Returns the key in SSH wire format, or `None` if it is not valid Base64.
    pub(super) fn blob(&self) -> Option<Vec<u8>> {
        b64::decode_to_box(self.key.as_bytes()).map(Vec::from)
    }

    /// Returns whether the line applies to a host. `name` is in lower case, and `[name]:port` if the port is not 22.
    pub(super) fn applies_to(&self, name: &str) -> bool {
        if let Some(hashed) = self.hosts.strip_prefix("|1|") {
            return is_hash_of(hashed, name).unwrap_or(false);
        }
        let matches = |pattern| WildMatch::new_case_insensitive(pattern).matches(name);
        let mut found = false;
        for pattern in self.hosts.split(',') {
            match pattern.strip_prefix('!') {
                // A negated pattern excludes the host even if others match.
                Some(pattern) if matches(pattern) => return false,
                Some(_) => {}
                None => found |= matches(pattern),
            }
        }
        found
    }
}

/// Returns whether `hashed` (`salt|hash` in Base64) is the hash of the name.
fn is_hash_of(hashed: &str, name: &str) -> Option<bool> {
    let (salt, hash) = hashed.split_once('|')?;
    let salt = b64::decode_to_box(salt.as_bytes())?;
    let hash = b64::decode_to_box(hash.as_bytes())?;
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &salt);
    Some(hmac::verify(&key, name.as_bytes(), &hash).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_like_openssh() {
        for (hosts, name, about) in [
            ("server", "server", true),
            ("Server.Example.ORG", "server.example.org", true),
            ("server", "server2", false),
            ("other,server", "server", true),
            ("*.example.org", "a.b.example.org", true),
            ("*.example.org", "example.org", false),
            ("192.0.2.?", "192.0.2.7", true),
            ("192.0.2.?", "192.0.2.77", false),
            ("*.example.org,!bad.example.org", "bad.example.org", false),
            ("!bad.example.org,*.example.org", "good.example.org", true),
            ("!bad.example.org", "good.example.org", false),
            ("[server]:2222", "[server]:2222", true),
            ("[server]:2222", "server", false),
            ("[*]:2222", "[server]:2222", true),
            ("*", "anything", true),
            ("", "", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
        ] {
            let line = Line { marker: Marker::Key, hosts, kind: "", key: "" };
            assert_eq!(line.applies_to(name), about, "{hosts} {name}");
        }
    }

    #[test]
    fn hashed_names_match_like_openssh() {
        // Written by `ssh-keygen -H`.
        for (hosts, name) in [
            ("|1|DWby39l5Yu2lZ46PPS7iWtaxqdM=|4wm2hMEDnKPlEKlHJXr8uphwPvM=", "server.example.org"),
            ("|1|i5zmp3y7Ozrj7zT32opihG1cd+E=|rH1IvF8Czpyb8co84YfDZ3QKNaI=", "[server.example.org]:2222"),
        ] {
            let line = Line { marker: Marker::Key, hosts, kind: "", key: "" };
            assert!(line.applies_to(name));
            assert!(!line.applies_to("server.example.com"));
        }
        for broken in
            ["|1|", "|1|AAAA", "|1|*|*", "|2|DWby39l5Yu2lZ46PPS7iWtaxqdM=|4wm2hMEDnKPlEKlHJXr8uphwPvM="]
        {
            let line = Line { marker: Marker::Key, hosts: broken, kind: "", key: "" };
            assert!(!line.applies_to("server.example.org"), "{broken}");
        }
    }

    #[test]
    fn comments_and_incomplete_lines_are_skipped() {
        for text in [
            "",
            "   ",
            "# comment",
            "host",
            "host ssh-ed25519",
            "@revoked host ssh-ed25519",
            "@new host t AAAA",
        ] {
            assert!(Line::parse(text).is_none(), "{text}");
        }
        let line = Line::parse(" @revoked\tb,a  ssh-rsa AAAA what it is\r\n").unwrap();
        assert_eq!(
            (line.marker, line.hosts, line.kind, line.key),
            (Marker::Revoked, "b,a", "ssh-rsa", "AAAA")
        );
    }
}
