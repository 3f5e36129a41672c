//! Guarantees of the crate documentation that no other test covers: no I/O, no clock and no threads, errors with cause
//! and position, and hidden secrets.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::{fs, io};

use proptest::collection::vec;
use proptest::prelude::*;
use psrp::clixml::{
    ConsoleFilter, Document, DocumentWriter, Limits, ReadOptions, Reader, WriteOptions, Writer, from_slice,
    to_vec,
};
use psrp::fragment::{Assembler, Fragment, Fragmenter, Priority};
use psrp::host::{HostCall, HostRequest, HostResponse, HostResult};
use psrp::message::{
    ApplicationPrivateData, Destination, EncryptedSessionKey, InitRunspacePool, Message, MessageHeader,
    MessageType, Payload, PowerShell, PrimitiveDictionary, SessionCapability,
};
use psrp::outofproc::{Packet, PacketReader, ReaderEvent, Role};
use psrp::record::PsCredential;
use psrp::value::{Members, SecureString};
use psrp::{Error, Object, Value, client, server};
use uuid::Uuid;

use crate::session::{Session, limits, with_input, with_key};

const SECRET: &str = "s3cret";

/// Returns whether a text contains the secret: as text, hexadecimal, base64, or a list of byte values.
fn contains_secret(text: &str) -> bool {
    let text: String = text.to_lowercase().split_whitespace().collect();
    [SECRET, "733363", "czncjcm", "115,51,99", "115,0,51", "73,33,63"].iter().any(|form| text.contains(form))
}

fn assert_hidden(what: impl Debug) {
    for shown in [format!("{what:?}"), format!("{what:#?}")] {
        assert!(!shown.is_empty() && !contains_secret(&shown), "{shown}");
    }
}

fn sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { sources(&path, files) } else { files.push(path) }
    }
}

/// Modules listed in the crate documentation, and the modules they use.
const MODULES: &str = "client clixml crypto fragment host link message outofproc record serde server value";

const FORBIDDEN: &str = "spawn( thread:: Instant ::now( std::net std::env std::process println! print!( dbg!";

#[test]
fn protocol_modules_use_no_io_clock_or_threads() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![root.join("error.rs")];
    for module in MODULES.split(' ') {
        sources(&root.join(module), &mut files);
    }
    assert!(files.len() > 100);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for word in FORBIDDEN.split(' ') {
            assert!(!code.contains(word), "{word} in {}", file.display());
        }
        assert!(!code.contains("async "), "async in {}", file.display());
        // The error type may contain an I/O error.
        let is_document = file == root.join("clixml/document.rs");
        let may = is_document || file.ends_with("error.rs");
        assert!(may || !code.contains("std::io"), "I/O in {}", file.display());
        assert!(is_document || !code.contains("std::fs"), "files in {}", file.display());
    }
}

/// Returns all errors of all decoders for these bytes.
fn errors_of(bytes: &[u8]) -> Vec<Error> {
    let mut errors = Vec::new();
    errors.extend(from_slice(bytes).err());
    errors.extend(Reader::new(bytes).filter_map(Result::err));
    errors.extend(Document::from_bytes(bytes.to_vec(), ReadOptions::new()).err());
    errors.extend(Message::decode(bytes).err());
    errors.extend(Fragment::decode(bytes).err());
    errors.extend(Packet::parse(bytes, &mut Vec::new()).err());
    for role in [Role::Client, Role::Server] {
        let mut reader = PacketReader::new(role);
        let mut input = bytes;
        let failure = loop {
            match reader.next(&mut input) {
                Ok(Some(_)) => {}
                Ok(None) => break reader.finish().err(),
                Err(error) => break Some(error),
            }
        };
        errors.extend(failure);
    }
    errors.extend(Assembler::new().next(&mut &*bytes).err());
    errors
}

proptest! {
    #[test]
    fn errors_have_an_offset(bytes in prop_oneof![
        vec(any::<u8>(), 0..80),
        vec(0..4_u8, 20..80),
        "(<|>|/|Obj|S|MS|N=\"|\"| |x|LST|&|I32|PSGuid='|'|Data){0,30}".prop_map(String::into_bytes),
    ]) {
        for error in errors_of(&bytes) {
            prop_assert!(error.offset().is_some_and(|offset| offset <= bytes.len() as u64), "{}", error);
        }
    }

    /// Errors about decoded values have a path instead of a byte offset.
    #[test]
    fn mismatches_have_a_path(member in "[a-z]{1,8}", index in any::<prop::sample::Index>()) {
        let message_type = MessageType::ALL[index.index(MessageType::ALL.len())];
        let xml = format!("<Obj><MS><S N=\"{member}\">x</S></MS></Obj>");
        if let Err(error) = Payload::decode(message_type, xml.as_bytes()) {
            prop_assert!(error.is_mismatch());
            prop_assert!(error.to_string().contains(" is "), "{}", error);
        }
    }
}

fn secret_bag() -> Value {
    Object::custom([(SECRET, SECRET)]).into()
}

/// Returns an error of every kind, with the secret in its input.
fn failures() -> Vec<Error> {
    let text = format!("<S>{SECRET}</S>");
    let guid = Uuid::nil();
    let fragment =
        Fragment { object_id: 1, fragment_id: 3, start: false, end: true, blob: SECRET.as_bytes().into() };
    let mut bytes = Vec::new();
    fragment.encode(&mut bytes).unwrap();
    let mut failures: Vec<Error> = [
        format!("<S>{SECRET}</{SECRET}>"),
        format!("<!DOCTYPE {SECRET}>"),
        format!("<S>&{SECRET};</S>"),
        format!("<{SECRET}/>"),
        format!("<Obj>{SECRET}</Obj>"),
        format!("<I32>{SECRET}</I32>"),
        format!("<Version>{SECRET}</Version>"),
        format!("<DT>{SECRET}</DT>"),
        format!("<BA>{SECRET}!</BA>"),
        format!("<Ref RefId='{SECRET}'/>"),
        format!("<Obj><TNRef RefId='{SECRET}'/></Obj>"),
        format!("<S N='{SECRET}"),
        format!("<S>{SECRET}"),
    ]
    .iter()
    .map(|xml| from_slice(xml.as_bytes()).unwrap_err())
    .collect();
    let small = ReadOptions::new().limits(Limits::new().max_size(10));
    failures.push(Reader::with_options(text.as_bytes(), small).next().unwrap().unwrap_err());
    for line in [
        format!("<{SECRET} PSGuid='{guid}' />"),
        format!("<Close PSGuid='{SECRET}' />"),
        format!("<Close {SECRET}='{guid}' />"),
        format!("<Data Stream='Default' PSGuid='{guid}'>{SECRET}!</Data>"),
        format!("<Data Stream='Default' PSGuid='{guid}'>{SECRET}"),
        SECRET.to_owned(),
    ] {
        failures.push(Packet::parse(line.as_bytes(), &mut Vec::new()).unwrap_err());
    }
    failures.push(Message::decode(SECRET.as_bytes()).unwrap_err());
    failures.push(Message::decode(SECRET.repeat(10).as_bytes()).unwrap_err());
    failures.push(Assembler::new().next(&mut &bytes[..]).unwrap_err());
    failures.push(Payload::decode(MessageType::PipelineState, text.as_bytes()).unwrap_err());
    failures.push(Payload::from_value(MessageType::CreatePipeline, Some(secret_bag())).unwrap_err());
    failures.push(PsCredential::from_value(&secret_bag()).unwrap_err());
    let set: Members = [(SECRET, SECRET)].into_iter().collect();
    failures.push(to_vec(&Value::MemberSet(Box::new(set))).unwrap_err());
    failures.push(to_vec(&SecureString::new(SECRET).into()).unwrap_err());
    let mut client = client::ClientPool::new(client::Config::new());
    failures.push(client.invoke(PowerShell::script(SECRET)).unwrap_err());
    let mut server = server::ServerPool::new(server::Config::new());
    failures.push(server.handle_packet(Packet::DataAck(None)).unwrap_err());
    failures.push(Document::from_reader(FailingReader, ReadOptions::new()).unwrap_err());
    #[cfg(feature = "crypto")]
    {
        use psrp::crypto::{Cipher, ClientKey, SessionKey};

        let key = SessionKey::from_bytes([7; 32]).unwrap();
        failures.push(key.decrypt(SECRET.as_bytes()).unwrap_err());
        failures.push(key.encrypt_for(SECRET.as_bytes()).unwrap_err());
        failures.push(ClientKey::from_pkcs8(SECRET.as_bytes()).unwrap_err());
        let string = SecureString::from_encrypted(SECRET.as_bytes());
        failures.push(string.decrypt(&key).unwrap_err());
    }
    failures
}

struct FailingReader;

impl io::Read for FailingReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }
}

#[test]
fn errors_show_no_value_of_the_input() {
    // The other kinds need a transport and a peer; the tests of `io`, SSH and WS-Management cover them.
    const KINDS: &str = "Crypto InvalidHeader InvalidText Io Limit Mismatch NoKey OutOfOrder Protocol State Structure \
        Syntax UnexpectedEnd UnknownReference Unwritable";

    let failures = failures();
    let kinds: BTreeSet<_> = failures.iter().map(|error| format!("{:?}", error.kind())).collect();
    let expected = KINDS.split(' ').filter(|kind| cfg!(feature = "crypto") || *kind != "Crypto");
    assert!(kinds.iter().eq(expected), "{kinds:?}");
    for error in &failures {
        assert!(!contains_secret(&error.to_string()), "{error}");
        assert_hidden(error);
    }
}

#[test]
fn debug_output_hides_buffered_bytes() {
    let xml = format!("#< CLIXML\n<Objs><S>{SECRET}</S><S>{SECRET}");
    let mut reader = Reader::new(xml.as_bytes());
    assert_hidden(reader.next().unwrap().is_ok());
    assert_hidden(&reader);
    assert_hidden(Document::from_bytes(xml.clone().into_bytes(), ReadOptions::new()).unwrap());
    let mut filter = ConsoleFilter::new();
    filter.push(xml.as_bytes(), |_| {});
    assert_hidden(&filter);
    let mut writer = Writer::with_options(WriteOptions::new());
    writer.write(&SECRET.into()).unwrap();
    assert_hidden(&writer);
    let mut document = DocumentWriter::new(Vec::new());
    document.write(None, &SECRET.into()).unwrap();
    assert_hidden(&document);

    let pool_id = Uuid::from_u128(1);
    let message_type = MessageType::PipelineInput;
    let header = MessageHeader { destination: Destination::Server, message_type, pool_id, pipeline_id: None };
    assert_hidden(Message { header, data: SECRET.as_bytes() });
    let text = SECRET.repeat(10);
    let mut fragmenter = Fragmenter::new().fragment_size(40);
    assert_hidden(fragmenter.split(text.as_bytes()));
    for fragment in fragmenter.split(text.as_bytes()) {
        assert_hidden(fragment);
    }
    let mut wire = Vec::new();
    fragmenter.encode(text.as_bytes(), &mut wire);
    for length in 0..=wire.len() {
        let mut assembler = Assembler::new();
        let _ = assembler.next(&mut &wire[..length]).unwrap();
        assert_hidden(&assembler);
    }

    let mut line = Vec::new();
    Packet::Data { target: None, priority: Priority::Default, data: SECRET.as_bytes() }
        .encode(&mut line)
        .unwrap();
    for length in 0..=line.len() {
        let mut reader = PacketReader::new(Role::Server);
        let found = reader.next(&mut &line[..length]).unwrap();
        assert_eq!(matches!(found, Some(ReaderEvent::Packet(_))), length == line.len());
        assert_hidden(&found);
        assert_hidden(&reader);
    }
}

#[test]
fn debug_output_hides_secure_strings() {
    let secret = || SecureString::new(SECRET);
    let received = SecureString::from_encrypted(SECRET.as_bytes());
    let credential = PsCredential::new("user", secret());
    assert_hidden((secret(), &received, &credential));
    let value = Value::from(Object::list([Value::from(secret()), credential.to_value(), received.into()]));
    assert_hidden(&value);
    assert_hidden(value.as_object().unwrap().base());
    assert_hidden(Object::builder().extended("a", secret()));
    let call = HostCall::new(1, &HostRequest::ReadLineAsSecureString);
    for result in [HostResult::Secure(secret()), HostResult::Credential(credential)] {
        assert_hidden(HostResponse::new(&call, &result));
        assert_hidden(result);
    }
    assert_hidden(Payload::PipelineInput(value));
    assert_hidden(EncryptedSessionKey { blob: SECRET.as_bytes().into() });
    #[cfg(feature = "crypto")]
    {
        use psrp::crypto::{ClientKey, SessionKey};

        assert_eq!(format!("{:?}", ClientKey::generate().unwrap()), "ClientKey(..)");
        let mut bytes = [0; 32];
        bytes[..SECRET.len()].copy_from_slice(SECRET.as_bytes());
        let key = SessionKey::from_bytes(bytes).unwrap();
        assert_hidden(&key);
        let string = SecureString::from_encrypted(secret().encrypt(&key).unwrap());
        string.decrypt(&key).unwrap();
        assert_hidden(string);
        assert_hidden(server::Config::new().session_key(key));
    }
}

/// Exchanges all packets. At each step the queues, assemblers or events contain something.
fn exchange_hidden(session: &mut Session) {
    let mut buffers = Default::default();
    loop {
        assert_hidden((&session.client, &session.server));
        let Some(packet) = session.step(100, &mut buffers) else { return };
        assert_hidden(packet);
    }
}

#[test]
fn debug_output_of_pools_hides_messages() {
    let arguments = PrimitiveDictionary::new([("Password", SECRET)]);
    let init = InitRunspacePool { application_arguments: Some(arguments), ..InitRunspacePool::default() };
    let data = ApplicationPrivateData::new([("Password", SECRET)]);
    for capability in [with_key(), SessionCapability::default()] {
        let client = client::Config::new().init(init.clone()).capability(capability);
        let client = client.limits(limits(|limits| limits.max_requests = 17));
        let server = server::Config::new().application_private_data(data.clone());
        let server = server.limits(limits(|limits| limits.max_requests = 17));
        assert_hidden((&client, &server));
        assert_eq!(format!("{client:?} {server:?}").matches("max_requests: 17").count(), 2);
        let mut session = Session::with(client, server);
        session.client.open().unwrap();
        exchange_hidden(&mut session);
        let id = session.client.invoke(with_input(SECRET)).unwrap();
        exchange_hidden(&mut session);
        session.server_pipeline(id).start().unwrap();
        exchange_hidden(&mut session);
        if cfg!(feature = "crypto") {
            // Deferred until there is a key.
            session.client_pipeline(id).send_input(SecureString::new(SECRET)).unwrap();
        }
        session.client_pipeline(id).send_input(SECRET).unwrap();
        session.server_pipeline(id).write_output(SECRET).unwrap();
        assert_hidden(session.client_pipeline(id));
        assert_hidden(session.server_pipeline(id));
        exchange_hidden(&mut session);
        assert!(session.client_events().iter().any(|event| contains_secret(&format!("{event:?}"))));
        assert!(session.server_events().iter().any(|event| contains_secret(&format!("{event:?}"))));
    }
}
