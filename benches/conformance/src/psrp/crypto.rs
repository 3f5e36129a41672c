//! The key exchange and encrypted strings.

use anyhow::{Context as _, ensure};
use psrp::crypto::{Cipher as _, ClientKey, SessionKey};
use psrp::message::{MessageType, Payload};
use psrp::value::SecureString;
use serde_json::Value as Json;

use super::vectors_wire::{base64, hex};
use super::{Report, message_round_trip};

/// Text that is encrypted to compare keys, which have no equality.
const SAMPLE: &[u8] = b"s\0a\0m\0p\0l\0e\0";

/// Parses a key of hexadecimal digits.
pub(super) fn session_key(digits: &Json) -> anyhow::Result<SessionKey> {
    let bytes = hex(digits).try_into().ok().context("a key of another length")?;
    Ok(SessionKey::from_bytes(bytes)?)
}

pub(super) fn run(file: &Json, report: &mut Report) {
    report.case("public_key", || public_key(file));
    report.case("session_key", || exchange(file));
    for (index, case) in file["secure_strings"].as_array().into_iter().flatten().enumerate() {
        report.case(&format!("secure_strings {index}"), || string(file, case));
    }
}

fn client(file: &Json) -> anyhow::Result<ClientKey> {
    Ok(ClientKey::from_pkcs8(&base64(&file["rsa"]["private_key_der_base64"]))?)
}

fn public_key(file: &Json) -> anyhow::Result<()> {
    let blob = client(file)?.public_key_blob();
    ensure!(blob[..] == hex(&file["public_key_blob_hex"]), "another blob");
    message(MessageType::PublicKey, &file["public_key_message_data"], &blob)
}

fn exchange(file: &Json) -> anyhow::Result<()> {
    let (client, expected) = (client(file)?, session_key(&file["session_key_hex"])?);
    let blob = hex(&file["encrypted_session_key_blob_hex"]);
    let key = client.decrypt_session_key(&blob)?;
    ensure!(key.encrypt(SAMPLE)? == expected.encrypt(SAMPLE)?, "another key");
    // The padding is random, so only the client can tell that the key is the same.
    let again = client.decrypt_session_key(&expected.encrypt_for(&client.public_key_blob())?)?;
    ensure!(again.encrypt(SAMPLE)? == expected.encrypt(SAMPLE)?, "another key after the exchange");
    message(MessageType::EncryptedSessionKey, &file["encrypted_session_key_message_data"], &blob)
}

/// Checks that the data is the message with this blob.
fn message(message_type: MessageType, data: &Json, blob: &[u8]) -> anyhow::Result<()> {
    let data = data.as_str().context("no data of the message")?;
    message_round_trip::check(message_type, data);
    let found = match Payload::decode(message_type, data.as_bytes())? {
        Payload::PublicKey(message) => message.blob,
        Payload::EncryptedSessionKey(message) => message.blob,
        other => anyhow::bail!("a message of the type {:?}", other.message_type()),
    };
    ensure!(*found == *blob, "the message has another blob");
    Ok(())
}

fn string(file: &Json, case: &Json) -> anyhow::Result<()> {
    let key = session_key(&file["secure_strings_key_hex"])?;
    let text = case["plaintext"].as_str().context("no text")?;
    let encrypted = base64(&case["aes256cbc_zero_iv_pkcs7_base64"]);
    ensure!(key.encrypt(&hex(&case["utf16le_hex"]))? == encrypted, "encrypted to other bytes");
    ensure!(SecureString::new(text).encrypt(&key)? == encrypted, "the text is encrypted to other bytes");
    let received = SecureString::from_encrypted(encrypted);
    ensure!(received.is_encrypted() && received.reveal().is_none(), "decrypted without a key");
    received.decrypt(&key)?;
    ensure!(received.reveal().is_some_and(|found| found.as_str() == text), "decrypted to another text");
    Ok(())
}
