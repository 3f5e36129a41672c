//! Channel bindings of NTLM and Kerberos to the server's certificate (RFC 5929).

use aws_lc_rs::digest::{self, Algorithm, SHA256, SHA384, SHA512};
use picky_krb::constants::key_usages::AP_REQ_AUTHENTICATOR;
use picky_krb::crypto::CipherSuite;
use zeroize::Zeroizing;

/// Signature algorithms (RSA and ECDSA) with SHA-384 or SHA-512. All others use SHA-256, or a hash for which RFC 5929
/// prescribes SHA-256.
const LONGER_HASHES: [(&[u8], &Algorithm); 4] = [
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0C], &SHA384),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0D], &SHA512),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03], &SHA384),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x04], &SHA512),
];
const SEQUENCE: u8 = 0x30;
const IDENTIFIER: u8 = 0x06;
const OCTETS: u8 = 0x04;

/// Encodes the Windows structure `SEC_CHANNEL_BINDINGS` with `tls-server-end-point` for a DER certificate.
pub(super) fn channel_bindings(certificate: &[u8]) -> Vec<u8> {
    const HEADER: u32 = 32;

    let algorithm = signature_algorithm(certificate)
        .and_then(|identifier| LONGER_HASHES.iter().find(|(known, _)| *known == identifier))
        .map_or(&SHA256, |(_, algorithm)| *algorithm);
    let mut data = b"tls-server-end-point:".to_vec();
    data.extend_from_slice(digest::digest(algorithm, certificate).as_ref());
    let mut bindings = vec![0; 24];
    bindings.extend_from_slice(&(data.len() as u32).to_le_bytes());
    bindings.extend_from_slice(&HEADER.to_le_bytes());
    bindings.append(&mut data);
    bindings
}

/// Returns the object identifier of a certificate's signature algorithm (RFC 5280 4.1).
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (content, _) = split_element(certificate, SEQUENCE)?;
    let (_, rest) = split_element(content, SEQUENCE)?;
    let (algorithm, _) = split_element(rest, SEQUENCE)?;
    split_element(algorithm, IDENTIFIER).map(|(identifier, _)| identifier)
}

/// Splits DER into the content of its first element, which must have this tag, and the rest.
fn split_element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, short], rest) = der.split_first_chunk::<2>()?;
    if found != tag {
        return None;
    }
    let (len, rest) = match short {
        0..=0x7F => (usize::from(short), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(short - 0x80))?;
            (digits.iter().fold(0, |len, digit| len << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(len)
}

/// Tags from a SPNEGO token (RFC 4178 4.2.1) to its Kerberos token. Each element is the last one in the previous one.
const SPNEGO: [u8; 5] = [0x60, 0xA0, SEQUENCE, 0xA2, OCTETS];
/// Tags from a Kerberos token to the encrypted authenticator of its `AP-REQ` (RFC 4121 4.1, RFC 4120 5.5.1).
const AP_REQ: [u8; 7] = [0x60, 0x6E, SEQUENCE, 0xA4, SEQUENCE, 0xA2, OCTETS];
/// Tags from an authenticator to its last authorization data.
const AUTHENTICATOR: [u8; 7] = [0x62, SEQUENCE, 0xA8, SEQUENCE, SEQUENCE, 0xA1, OCTETS];

/// Encodes the option `KERB_AP_OPTIONS_CBT` of a client's first token as MS-KILE prescribes, with four bytes in
/// little-endian order. sspi writes two bytes in the other order, which MIT's library rejects. Returns `None` if this is
/// no Kerberos token with that encoding.
pub(super) fn correct_options(token: &[u8], session_key: &[u8]) -> Option<Vec<u8>> {
    let cipher = match session_key.len() {
        16 => CipherSuite::Aes128CtsHmacSha196,
        32 => CipherSuite::Aes256CtsHmacSha196,
        _ => return None,
    };
    let cipher = cipher.cipher();
    let correct = |encrypted: &[u8]| {
        let authenticator =
            Zeroizing::new(cipher.decrypt(session_key, AP_REQ_AUTHENTICATOR, encrypted).ok()?);
        let authenticator = Zeroizing::new(replace_last(&authenticator, &AUTHENTICATOR, &|options| {
            (options == [0x40, 0]).then(|| vec![0, 0x40, 0, 0])
        })?);
        cipher.encrypt(session_key, AP_REQ_AUTHENTICATOR, &authenticator).ok()
    };
    let in_kerberos = |token: &[u8]| replace_last(token, &AP_REQ, &correct);
    replace_last(token, &SPNEGO, &in_kerberos).or_else(|| in_kerberos(token))
}

/// Replaces the content of the DER element with this path of tags, where each element is the last one in the previous
/// one.
fn replace_last(der: &[u8], path: &[u8], replace: &dyn Fn(&[u8]) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let Some((tag, path)) = path.split_first() else { return replace(der) };
    let mut last = der;
    let content = loop {
        let (content, rest) = split_element(last, *last.first()?)?;
        if rest.is_empty() {
            break content;
        }
        last = rest;
    };
    if last[0] != *tag {
        return None;
    }
    let content = Zeroizing::new(replace_last(content, path, replace)?);
    let len = content.len().to_be_bytes();
    let len = &len[(content.len().leading_zeros() / 8).min(7) as usize..];
    let mut replaced = der[..=der.len() - last.len()].to_vec();
    if content.len() > 0x7F {
        replaced.push(0x80 | len.len() as u8);
    }
    replaced.extend_from_slice(len);
    replaced.extend_from_slice(&content);
    Some(replaced)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{
        CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, SignatureAlgorithm,
    };

    use super::*;

    fn certificate(algorithm: &'static SignatureAlgorithm) -> Vec<u8> {
        let key = KeyPair::generate_for(algorithm).unwrap();
        CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap().der().to_vec()
    }

    #[test]
    fn hash_matches_the_signature_algorithm() {
        for (algorithm, hash) in [(&PKCS_ECDSA_P256_SHA256, &SHA256), (&PKCS_ECDSA_P384_SHA384, &SHA384)] {
            let certificate = certificate(algorithm);
            assert!(signature_algorithm(&certificate).is_some());
            let bindings = channel_bindings(&certificate);
            let data = bindings[32..].strip_prefix(b"tls-server-end-point:").unwrap();
            assert_eq!(data, digest::digest(hash, &certificate).as_ref());
            assert_eq!(bindings[24..32], [(21 + data.len()) as u8, 0, 0, 0, 32, 0, 0, 0]);
            assert_eq!(bindings[..24], [0; 24]);
        }
    }

    #[test]
    fn last_element_is_replaced() {
        let der = [5, 0, SEQUENCE, 5, 1, 0, OCTETS, 1, 7];
        for (len, head) in [
            (0, &[5, 0, SEQUENCE, 4, 1, 0, OCTETS, 0][..]),
            (0x7F, &[5, 0, SEQUENCE, 0x81, 0x83, 1, 0, OCTETS, 0x7F]),
            (0x100, &[5, 0, SEQUENCE, 0x82, 1, 6, 1, 0, OCTETS, 0x82, 1, 0]),
        ] {
            let content = vec![9; len];
            let replace = |found: &[u8]| (found == [7]).then(|| content.clone());
            let replaced = replace_last(&der, &[SEQUENCE, OCTETS], &replace).unwrap();
            assert_eq!(replaced, [head, &content].concat());
        }
        assert_eq!(replace_last(&der, &[SEQUENCE, SEQUENCE], &|_| Some(Vec::new())), None);
        assert_eq!(replace_last(&der[..8], &[SEQUENCE, OCTETS], &|_| Some(Vec::new())), None);
    }

    proptest! {
        #[test]
        fn any_bytes_have_bindings(bytes in prop::collection::vec(prop::sample::select(vec![0x30, 0x06, 0x82, 0, 2, 0xFF]), 0..30)) {
            prop_assert_eq!(channel_bindings(&bytes).len(), 32 + 21 + 32);
            prop_assert_eq!(correct_options(&bytes, &[0; 32]), None);
        }
    }
}
