//! Key exchange and encrypted strings.
#![cfg(feature = "crypto")]

use std::sync::atomic::{AtomicUsize, Ordering};

use psrp::crypto::{Cipher, ClientKey, SessionKey};
use psrp::value::{Base, SecureString};
use psrp::{Error, Object, Value};
use zeroize::Zeroizing;

use crate::vectors_wire::{base64, hex, load};

fn client_of_vectors() -> ClientKey {
    ClientKey::from_pkcs8(&base64(&load("crypto.json")["rsa"]["private_key_der_base64"])).unwrap()
}

fn session_key(of: &str) -> SessionKey {
    SessionKey::from_bytes(hex(&load("crypto.json")[of]).try_into().unwrap()).unwrap()
}

/// Keys cannot be shown or compared, but their output can.
fn sample(key: &SessionKey) -> Vec<u8> {
    key.encrypt(b"s\0a\0m\0p\0l\0e\0").unwrap()
}

#[test]
fn string_vectors_are_encrypted_and_decrypted() {
    let key = session_key("secure_strings_key_hex");
    for case in load("crypto.json")["secure_strings"].as_array().unwrap() {
        let text = case["plaintext"].as_str().unwrap();
        let encrypted = base64(&case["aes256cbc_zero_iv_pkcs7_base64"]);
        assert_eq!(key.encrypt(&hex(&case["utf16le_hex"])).unwrap(), encrypted, "{text}");
        assert_eq!(*key.decrypt(&encrypted).unwrap(), hex(&case["utf16le_hex"]), "{text}");
        assert_eq!(SecureString::new(text).encrypt(&key).unwrap(), encrypted);
        let received = SecureString::from_encrypted(encrypted.clone());
        assert!(received.is_encrypted() && received.reveal().is_none());
        received.decrypt(&key).unwrap();
        assert!(!received.is_encrypted());
        assert_eq!(received.reveal().unwrap().as_str(), text);
        assert_eq!(received.encrypted(), Some(&encrypted[..]));
    }
}

#[test]
fn key_exchange_vectors_are_accepted() {
    let vectors = load("crypto.json");
    let client = client_of_vectors();
    assert_eq!(client.public_key_blob()[..], hex(&vectors["public_key_blob_hex"]));
    let expected = session_key("session_key_hex");
    let key = client.decrypt_session_key(&hex(&vectors["encrypted_session_key_blob_hex"])).unwrap();
    assert_eq!(sample(&key), sample(&expected));
    // The padding is random, so the blob differs; only the client can decrypt it.
    let blob = expected.encrypt_for(&client.public_key_blob()).unwrap();
    assert_eq!(blob.len(), 268);
    assert_eq!(blob[..12], hex(&vectors["encrypted_session_key_blob_hex"])[..12]);
    assert_eq!(sample(&client.decrypt_session_key(&blob).unwrap()), sample(&expected));
}

#[test]
fn new_keys_differ() {
    let client = ClientKey::generate().unwrap();
    let key = SessionKey::generate().unwrap();
    assert_ne!(sample(&key), sample(&SessionKey::generate().unwrap()));
    let blob = key.encrypt_for(&client.public_key_blob()).unwrap();
    assert_eq!(sample(&client.decrypt_session_key(&blob).unwrap()), sample(&key));
    // Encrypted for another key.
    assert_uniform(client_of_vectors().decrypt_session_key(&blob).unwrap_err());
}

/// All failures look the same, to not leak the cause.
fn assert_uniform(error: Error) {
    assert!(error.is_crypto());
    assert_eq!(error.to_string(), Error::crypto().to_string());
    assert_eq!(error.offset(), None);
    assert!(std::error::Error::source(&error).is_none());
}

#[test]
fn invalid_blobs_have_the_same_error() {
    let vectors = load("crypto.json");
    let (client, key) = (client_of_vectors(), session_key("session_key_hex"));
    let simple = hex(&vectors["encrypted_session_key_blob_hex"]);
    let public = hex(&vectors["public_key_blob_hex"]);
    for len in [0, 11, 12, 267] {
        assert_uniform(client.decrypt_session_key(&simple[..len]).unwrap_err());
        assert_uniform(key.encrypt_for(&public[..len]).unwrap_err());
    }
    let longer = |blob: &[u8]| [blob, &[0]].concat();
    assert_uniform(client.decrypt_session_key(&longer(&simple)).unwrap_err());
    assert_uniform(key.encrypt_for(&longer(&public)).unwrap_err());
    for at in 0..12 {
        let mut other = simple.clone();
        other[at] ^= 1;
        assert_uniform(client.decrypt_session_key(&other).unwrap_err());
    }
    for at in 0..16 {
        let mut other = public.clone();
        other[at] ^= 1;
        assert_uniform(key.encrypt_for(&other).unwrap_err());
    }
    // Neither the padding nor the number is valid.
    for at in [12, 100, 267] {
        let mut other = simple.clone();
        other[at] ^= 0x80;
        assert_uniform(client.decrypt_session_key(&other).unwrap_err());
    }
    let with_components =
        |exponent: [u8; 4], modulus: u8| [&public[..16], &exponent, &[modulus; 256]].concat();
    for blob in [
        with_components([1, 0, 1, 0], 0),
        with_components([0; 4], 0xFF),
        with_components([2, 0, 0, 0], 0xFF),
        [&public[..20], &[0xFF; 128], &[0; 128]].concat(),
    ] {
        assert_uniform(key.encrypt_for(&blob).unwrap_err());
    }
    assert_uniform(ClientKey::from_pkcs8(&simple).unwrap_err());
}

#[test]
fn corrupt_strings_have_the_same_error() {
    let key = session_key("session_key_hex");
    let other = session_key("secure_strings_key_hex");
    let encrypted = sample(&key);
    for bytes in [&[][..], &encrypted[..15], &[0; 16], &[0; 17]] {
        assert_uniform(key.decrypt(bytes).map(|_| ()).unwrap_err());
    }
    let string = SecureString::from_encrypted(encrypted);
    assert_uniform(string.decrypt(&other).unwrap_err());
    assert!(string.is_encrypted());
    string.decrypt(&key).unwrap();
    // An odd number of bytes is not UTF-16.
    assert_uniform(SecureString::from_encrypted(key.encrypt(b"odd").unwrap()).decrypt(&key).unwrap_err());
}

/// Counts its calls.
struct Counting(AtomicUsize);

impl Cipher for Counting {
    fn encrypt(&self, utf16le: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(utf16le.to_vec())
    }

    fn decrypt(&self, encrypted: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if encrypted == b"bad!" { Err(Error::crypto()) } else { Ok(Zeroizing::new(encrypted.to_vec())) }
    }
}

#[test]
fn all_strings_of_a_value_are_decrypted() {
    let string = || SecureString::from_encrypted(*b"x\0");
    let shared = Object::custom([("Password", string())]);
    let strings: Vec<_> = (0..4).map(|_| string()).collect();
    let value = Value::from(Object::new_cyclic(|me| {
        Object::builder()
            .adapted("Credential", shared.clone())
            .extended("Again", shared.clone())
            .extended("Me", Value::Cycle(me))
            .extended("List", Object::list([strings[0].clone(), string()]))
            .extended("Set", Value::MemberSet(Box::new([("A", strings[1].clone())].into_iter().collect())))
            .dictionary([(Value::from(strings[2].clone()), Value::from(strings[3].clone()))])
    }));
    let cipher = Counting(AtomicUsize::new(0));
    value.decrypt(&cipher).unwrap();
    assert_eq!(cipher.0.load(Ordering::Relaxed), 6);
    // Clones are decrypted, too, and the objects are the same.
    assert!(strings.iter().all(|string| !string.is_encrypted()));
    let Value::Object(again) = &value["Again"] else { panic!() };
    assert!(again.ptr_eq(&shared));
    let Value::SecureString(password) = &shared.get("Password").unwrap() else { panic!() };
    assert_eq!(password.reveal().unwrap().as_str(), "x");
    value.decrypt(&cipher).unwrap();
    assert_eq!(cipher.0.load(Ordering::Relaxed), 6, "nothing is decrypted twice");
    Value::from(SecureString::from_encrypted(*b"bad!")).decrypt(&cipher).unwrap_err();
}

#[test]
fn doubled_references_are_decrypted_once() {
    let mut object = Object::custom([("Password", SecureString::from_encrypted(*b"x\0"))]);
    for _ in 0..60 {
        object = Object::custom([("A", object.clone()), ("B", object)]);
    }
    let cipher = Counting(AtomicUsize::new(0));
    Value::from(object.clone()).decrypt(&cipher).unwrap();
    assert_eq!(cipher.0.load(Ordering::Relaxed), 1);
    assert!(matches!(object.base(), Base::None));
}
