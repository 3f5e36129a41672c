//! The certificate of the server as something that an authentication can be bound to (RFC 5929 4.1).

use aws_lc_rs::digest::{self, Algorithm, SHA256, SHA384, SHA512};

/// Signatures with a hash of their own: RSA and elliptic curves, with SHA-384 and SHA-512. All others that are in use have
/// SHA-256, or a hash that SHA-256 stands in for.
const LONG: [(&[u8], &Algorithm); 4] = [
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0C], &SHA384),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0D], &SHA512),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03], &SHA384),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x04], &SHA512),
];
const SEQUENCE: u8 = 0x30;
const IDENTIFIER: u8 = 0x06;

/// The structure `SEC_CHANNEL_BINDINGS` of Windows with `tls-server-end-point` for a certificate in DER.
pub(super) fn channel_bindings(certificate: &[u8]) -> Vec<u8> {
    const HEADER: u32 = 32;

    let algorithm = signature_algorithm(certificate)
        .and_then(|identifier| LONG.iter().find(|(known, _)| *known == identifier))
        .map_or(&SHA256, |(_, algorithm)| *algorithm);
    let mut data = b"tls-server-end-point:".to_vec();
    data.extend_from_slice(digest::digest(algorithm, certificate).as_ref());
    let mut bindings = vec![0; 24];
    bindings.extend_from_slice(&(data.len() as u32).to_le_bytes());
    bindings.extend_from_slice(&HEADER.to_le_bytes());
    bindings.append(&mut data);
    bindings
}

/// The identifier of the algorithm that a certificate is signed with (RFC 5280 4.1).
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (content, _) = element(certificate, SEQUENCE)?;
    let (_, rest) = element(content, SEQUENCE)?;
    let (algorithm, _) = element(rest, SEQUENCE)?;
    element(algorithm, IDENTIFIER).map(|(identifier, _)| identifier)
}

/// The content of an element of DER, and what is behind the element.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
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
    fn the_hash_is_that_of_the_signature() {
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
