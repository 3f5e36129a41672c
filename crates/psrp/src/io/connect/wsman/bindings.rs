//! Channel bindings: the hash of the server's certificate to which an authentication is bound (RFC 5929 4.1).

use aws_lc_rs::digest::{self, Algorithm, SHA256, SHA384, SHA512};

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

    proptest! {
        #[test]
        fn any_bytes_have_bindings(bytes in prop::collection::vec(prop::sample::select(vec![0x30, 0x06, 0x82, 0, 2, 0xFF]), 0..30)) {
            prop_assert_eq!(channel_bindings(&bytes).len(), 32 + 21 + 32);
        }
    }
}
