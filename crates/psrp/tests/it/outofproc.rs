//! Packets of the out-of-process transport: rules, and lines in any chunk sizes.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use psrp::fragment::Priority;
use psrp::outofproc::{Packet, ReaderOptions, Role};
use psrp::{Error, ErrorKind};
use uuid::Uuid;

use crate::fragment_reference::chunks;
use crate::packet_reference::{ReadResult, check, read};

const ID: &str = "a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9";
const TARGET: Option<Uuid> = Some(Uuid::from_u128(0xa1b2c3d4_e5f6_4718_8293_a4b5c6d7e8f9));

fn parse(line: &str) -> Result<ReadResult, Error> {
    Packet::parse(line.as_bytes(), &mut Vec::new()).map(ReadResult::from)
}

fn read_all(role: Role, text: &str) -> Vec<ReadResult> {
    let whole = read(role, ReaderOptions::new(), &[text.as_bytes()]);
    for size in [1, 2, 7, 64] {
        assert_eq!(read(role, ReaderOptions::new(), &chunks(text.as_bytes(), &[size])), whole);
    }
    whole
}

fn data(bytes: &[u8]) -> ReadResult {
    ReadResult::Data(TARGET, Priority::Default, bytes.to_vec())
}

fn close() -> ReadResult {
    Packet::Close(TARGET).into()
}

#[test]
fn packets_are_encoded_in_canonical_form() {
    let mut line = Vec::new();
    let written = |packet: Packet<'_>, line: &mut Vec<u8>| {
        line.clear();
        packet.encode(line).unwrap();
        String::from_utf8(line.clone()).unwrap()
    };
    let packet = Packet::Data { target: TARGET, priority: Priority::PromptResponse, data: &[0, 1] };
    assert_eq!(
        written(packet, &mut line),
        format!("<Data Stream='PromptResponse' PSGuid='{ID}'>AAE=</Data>\n")
    );
    for (packet, name) in [
        (Packet::DataAck(TARGET), "DataAck"),
        (Packet::Command(TARGET), "Command"),
        (Packet::CommandAck(TARGET), "CommandAck"),
        (Packet::Close(TARGET), "Close"),
        (Packet::CloseAck(TARGET), "CloseAck"),
        (Packet::Signal(TARGET), "Signal"),
        (Packet::SignalAck(TARGET), "SignalAck"),
    ] {
        assert_eq!(written(packet, &mut line), format!("<{name} PSGuid='{ID}' />\n"));
        assert_eq!(packet.target(), TARGET);
    }
    let empty = Packet::Data { target: TARGET, priority: Priority::Default, data: &[] };
    assert!(empty.encode(&mut line).unwrap_err().is_unwritable());
}

#[test]
fn other_xml_spellings_are_read() {
    for line in [
        format!("<Data PSGuid='{ID}' Stream='Default'>AAEC</Data>"),
        format!("<Data Stream = \"DEFAULT\"\tPSGuid\n=\n'{ID}' >AAEC</Data >"),
        format!("<Data Stream='Other' PSGuid='{ID}'>AAEC</Data>\r\n"),
        format!(" <!-- <Close/> --><?pi?><Data Stream='' PSGuid='{ID}'><!-- x -->AAEC<?y?></Data><!----> "),
        format!(
            "<?xml version='1.0'?><Data Stream='&#68;efault' PSGuid='&#x61;{}'>A&#65;EC</Data>",
            &ID[1..]
        ),
        format!("<Data Stream='Default' PSGuid='{ID}'> AA\tEC </Data>"),
    ] {
        assert_eq!(parse(&line).unwrap(), data(&[0, 1, 2]), "{line}");
    }
    for line in [
        format!("<Close PSGuid='{ID}'/>"),
        format!("<Close PSGuid='{ID}'></Close>"),
        format!("<Close PSGuid=' {ID} ' > <!-- x --> </Close>"),
        format!("<Close PSGuid='{}' />", ID.replace('-', "")),
        format!("<Close PSGuid='({ID})' />"),
    ] {
        assert_eq!(parse(&line).unwrap(), close(), "{line}");
    }
}

/// go-psrpcore reads an identifier in double quotes as the pool's, a missing one as zeros, and unknown packets as known
/// ones.
#[test]
fn other_lines_are_rejected() {
    use ErrorKind::*;

    let cases = [
        ("", UnexpectedEnd),
        ("<", UnexpectedEnd),
        ("<Close", InvalidHeader),
        ("<Clo", InvalidHeader),
        ("<close PSGuid='ID' />", InvalidHeader),
        ("<x:Close PSGuid='ID' />", InvalidHeader),
        ("<Close psguid='ID' />", InvalidHeader),
        ("<Close PSGuid='ID' PSGuid='ID' />", InvalidHeader),
        ("<Close Stream='Default' PSGuid='ID' />", InvalidHeader),
        ("<Close PSGuid='' />", InvalidHeader),
        ("<Close PSGuid=ID />", Syntax),
        ("<Close PSGuid='ID\" />", UnexpectedEnd),
        ("<Close PSGuid='ID<' />", Syntax),
        ("<Close PSGuid='&x;' />", Syntax),
        ("<Close PSGuid='ID'", UnexpectedEnd),
        ("<Close PSGuid='ID' /", Syntax),
        ("<Close PSGuid='ID'>", UnexpectedEnd),
        ("<Close PSGuid='ID'>x</Close>", Syntax),
        ("<Close PSGuid='ID'></Signal>", Syntax),
        ("<Close PSGuid='ID' />x", Syntax),
        ("<Close PSGuid='ID' /><Close PSGuid='ID' />", Syntax),
        ("x<Close PSGuid='ID' />", Syntax),
        ("</Close>", InvalidHeader),
        ("<![CDATA[x]]>", InvalidHeader),
        ("<!-- x", UnexpectedEnd),
        ("<Data Stream='Default' PSGuid='ID' />", InvalidText),
        ("<Data Stream='Default' PSGuid='ID'></Data>", InvalidText),
        ("<Data Stream='Default' PSGuid='ID'>  </Data>", InvalidText),
        ("<Data Stream='Default' PSGuid='ID'>&#32;</Data>", InvalidText),
        ("<Data Stream='Default' PSGuid='ID'>AAE</Data>", InvalidText),
        ("<Data Stream='Default' PSGuid='ID'>A*EC</Data>", InvalidText),
        ("<Data Stream='Default' PSGuid='ID'>AA<!-- -->EC</Data>", Syntax),
        ("<Data Stream='Default' PSGuid='ID'><![CDATA[AAEC]]></Data>", InvalidText),
        ("<Data Stream='Default' PSGuid='ID'>AAEC<x/></Data>", Syntax),
        ("<Data Stream='Default' PSGuid='ID'>AAEC</Dat>", Syntax),
        ("<Data Stream='Default' Stream='Default'>AAEC</Data>", InvalidHeader),
        ("<Data Stream='Default' PSGuid='ID' X=''>AAEC</Data>", InvalidHeader),
        ("<Data Stream='Default'PSGuid='ID'>AAEC</Data>", Syntax),
        ("<Data Stream='Default' PSGuid='ID'>AAEC", UnexpectedEnd),
    ];
    for (line, kind) in cases {
        let line = line.replace("ID", ID);
        let error = parse(&line).unwrap_err();
        assert_eq!(error.kind(), kind, "{line}: {error}");
        assert!(error.offset().unwrap() <= line.len() as u64, "{line}: {error}");
        assert!(!error.to_string().contains(ID), "{error}");
    }
}

/// A comment excludes the parser for the canonical form.
#[test]
fn the_canonical_form_is_read_like_others() {
    let result = |line: &str| parse(line).map_err(|error| error.kind());
    for id in [ID, "00000000-0000-0000-0000-000000000000"] {
        for line in [
            format!("<Data Stream='Default' PSGuid='{id}'>QUJD</Data>"),
            format!("<Data Stream='Default' PSGuid='{id}'> QU&#x4A;D\t</Data>"),
            format!("<Data Stream='Default' PSGuid='{id}'> QU&#x4A;D\t</Data><Close PSGuid='{id}' />"),
            format!("<DataAck PSGuid='{id}' />"),
            format!("<Command PSGuid='{id}' /> "),
            format!("<SignalAck PSGuid='{id}' /><!-- -->"),
            format!("<Data Stream='Default' PSGuid='{id}'></Data>"),
            format!("<Data Stream='Default' PSGuid='{id}'> </Data>"),
            format!("<Data Stream='Default' PSGuid='{id}'>QUJD</Dat>"),
            format!("<Data Stream='Default' PSGuid='{id}'>QU<!-- -->JD</Data>"),
            format!("<Data Stream='Default' PSGuid=\"{id}\">QUJD</Data>"),
            format!("<Data PSGuid='{id}' />"),
            format!("<Close PSGuid='{id}'/>"),
            format!("<Close PSGuid='{{{id}}}' />"),
            format!("<Other PSGuid='{id}' />"),
            format!("<Close PSGuid='{}x' />", &id[..35]),
        ] {
            assert_eq!(result(&line), result(&format!("<!-- -->{line}")), "{line}");
        }
    }
}

#[test]
fn lines_are_read_by_role() {
    let packet = format!("<Close PSGuid='{ID}' />");
    let noise = format!("Welcome!\r\n\n   \n>> <Data\n{packet}\n \t{packet}");
    let marked = format!("\u{feff}{packet}\n");
    // The number of packets, and the start of another result.
    for (role, text, count, last) in [
        // A client skips noise and empty lines. An empty line ends the session of a server.
        (Role::Client, noise, 2, None),
        (Role::Server, format!("{packet}\nWelcome!\n"), 1, Some("Error(")),
        (Role::Server, format!("{packet}\r\n\r\n"), 1, Some("End")),
        // A byte order mark is allowed only at the start.
        (Role::Server, marked.clone(), 1, None),
        (Role::Server, marked.repeat(2), 1, Some("Error(")),
        // Several packets on a line are read in order.
        (Role::Server, format!("{packet} {packet}<!-- x -->{packet}\n{packet}\n"), 4, None),
        (Role::Server, format!("{packet}<Foo/>\n{packet}\n"), 1, Some("Error(")),
    ] {
        let found = read_all(role, &text);
        let others = found[count..].iter().map(|result| format!("{result:?}")).collect::<Vec<_>>();
        assert_eq!(found[..count], vec![close(); count], "{text}");
        assert_eq!(others.len(), last.iter().len(), "{text}: {others:?}");
        assert!(
            others.iter().zip(last).all(|(result, start)| result.starts_with(start)),
            "{text}: {others:?}"
        );
        assert!(!text.contains("/>\nWelcome") || others[0].ends_with("(at byte 56)\")"), "{others:?}");
    }
}

fn line() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "<Data Stream='Default' PSGuid='a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9'>AAEC</Data>",
        "\n",
        "\r\n",
        "<",
        "</Data>",
        "<Close PSGuid=\"a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9\" />",
        "AAEC",
        " ",
        "<!-- -->",
        "<Data",
        ">",
        "/>",
        " PSGuid='{a1b2c3d4-e5f6-4718-8293-a4b5c6d7e8f9}'",
        " Stream='x'",
        "\u{feff}",
        "__NamedPipeError__:",
    ]);
    vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn chunks_do_not_matter(text in line(), sizes in vec(1..30_usize, 0..4), max in 20..200_usize) {
        check(text.as_bytes(), &chunks(text.as_bytes(), &sizes), max);
    }

    #[test]
    fn any_bytes_are_read_or_rejected(bytes in vec(any::<u8>(), 0..200), sizes in vec(1..30_usize, 0..4)) {
        check(&bytes, &chunks(&bytes, &sizes), 100);
    }

    #[test]
    fn written_documents_are_read_back(
        packets in vec((option::of(1..u128::MAX), any::<bool>(), vec(any::<u8>(), 1..100)), 0..5),
        sizes in vec(1..90_usize, 0..4)
    ) {
        let mut wire = Vec::new();
        let mut expected = Vec::new();
        for (target, prompt, data) in &packets {
            let target = target.map(Uuid::from_u128);
            let priority = if *prompt { Priority::PromptResponse } else { Priority::Default };
            for packet in [Packet::Data { target, priority, data }, Packet::Signal(target)] {
                packet.encode(&mut wire).unwrap();
                expected.push(ReadResult::from(packet));
            }
        }
        prop_assert_eq!(read(Role::Server, ReaderOptions::new(), &chunks(&wire, &sizes)), expected);
    }
}
