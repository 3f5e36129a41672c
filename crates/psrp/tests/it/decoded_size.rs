//! Memory of decoded values: at most a small multiple of the limits, even if they are small on the wire.

use std::fmt::Write;

use psrp::client;
use psrp::clixml::{Limits, ReadOptions, Reader};
use psrp::fragment::Priority;
use psrp::message::{Destination, MessageType, PipelineState, PowerShell, RunspacePoolState};
use psrp::server;
use test_support::counting::peak;
use uuid::Uuid;

use crate::limits::read;
use crate::session::{Session, fragments, limits, with_input};

/// Bytes allocated at a time per byte of the limit, and per byte of the longest text.
const PER_DECODED: usize = 3;
const PER_TEXT: usize = 6;
/// Bytes allocated for the smallest document.
const FIXED: usize = 16 << 10;

/// Documents that are small on the wire and large in memory. Each repeats an element until it has the given size.
fn hostile(size: usize) -> Vec<(&'static str, String)> {
    let mut documents = Vec::new();
    for (start, element, end) in [
        ("<Obj><LST>", "<Nil/>", "</LST></Obj>"),
        ("<Obj><LST>", "<S/>", "</LST></Obj>"),
        ("<Obj><LST>", "<S>0123456789012345678901234</S>", "</LST></Obj>"),
        ("<Obj><LST>", "<S>_xD800_</S>", "</LST></Obj>"),
        ("<Obj><LST>", "<BA>AAAA</BA>", "</LST></Obj>"),
        ("<Obj><LST>", "<SS>AAAA</SS>", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj />", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj><S/></Obj>", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj><LST/></Obj>", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj><LST><Nil/></LST></Obj>", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj><TN/></Obj>", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj><TN><T/></TN></Obj>", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj><ToString>0123456789012345678901234</ToString></Obj>", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj RefId='0'><LST><Ref RefId='0'/></LST></Obj>", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj><MS><MS N=''/></MS></Obj>", "</LST></Obj>"),
        ("<Obj><LST>", "<Obj><MS><MS N=''><Nil N=''/></MS></MS></Obj>", "</LST></Obj>"),
        ("<Obj><IE>", "<Obj><MS><Nil N=''/></MS><Props><Nil N=''/></Props></Obj>", "</IE></Obj>"),
        ("<Obj><MS>", "<Nil N=''/>", "</MS></Obj>"),
        ("<Obj><MS>", "<Obj N=''/>", "</MS></Obj>"),
        ("<Obj>", "<MS><Nil N=''/></MS>", "</Obj>"),
        ("<Obj><DCT>", "<En><Nil N='Value'/></En>", "</DCT></Obj>"),
        ("<Obj><DCT>", "<En><S N='Key'/><Nil N='Value'/></En>", "</DCT></Obj>"),
        ("<Obj><TN>", "<T/>", "</TN></Obj>"),
        (
            "<Obj><LST>",
            "<PR><AV/><AI>0</AI><Nil/><PI>0</PI><PC>0</PC><T>Completed</T><SR>0</SR><SD/></PR>",
            "</LST></Obj>",
        ),
        ("<Obj>", "<X>", ""),
        ("", "<Nil/>", ""),
        ("", "<Obj />", ""),
        ("", "<Obj RefId='x'/>", ""),
        ("<Obj><LST><S>", "&#65;", "</S></LST></Obj>"),
        ("<Obj><LST><S>", "_x0041_", "</S></LST></Obj>"),
        ("<Obj><LST><S>", "_xD800_", "</S></LST></Obj>"),
        ("<Obj><LST><S>", "&#xD800;", "</S></LST></Obj>"),
        ("<Obj><MS><Nil N='", "_xD800_", "'/></MS></Obj>"),
    ] {
        let count = (size - start.len() - end.len()) / element.len();
        documents.push((element, [start, &element.repeat(count), end].concat()));
    }
    // Identifiers in order, with gaps, and in random order.
    for (what, step) in [("counted", 1), ("with gaps", 4), ("sparse", 700_001)] {
        let mut xml = String::from("<Obj><LST>");
        for number in (0..).step_by(step) {
            let id = (number + 3) % 4_000_000_000_usize;
            write!(xml, "<Obj RefId='{id}'><TN RefId='{id}'/></Obj>").unwrap();
            if xml.len() > size {
                break;
            }
        }
        documents.push((what, xml + "</LST></Obj>"));
    }
    documents
}

/// Length of the longest text of a document: it is decoded before it is charged.
fn longest_text(xml: &str) -> usize {
    xml.split(['<', '>', '\'']).map(str::len).max().unwrap_or(0)
}

#[test]
fn reading_allocates_a_multiple_of_the_limit() {
    for limit in [1, 1000, 100_000, 1 << 20] {
        let limits = Limits::new().max_nodes(usize::MAX).max_decoded_size(limit);
        for (what, xml) in hostile(100_000) {
            let mut result = Ok(());
            let taken = peak(|| result = read(&xml, limits));
            let most = limit * PER_DECODED + longest_text(&xml) * PER_TEXT + FIXED;
            assert!(taken <= most, "{what} with a limit of {limit}: {taken} of {most} bytes, {result:?}");
        }
    }
}

/// Documents just within the limit, so that their values exist completely.
#[test]
fn accepted_documents_have_their_charged_size() {
    for (what, xml) in hostile(20_000) {
        let limits = Limits::new().max_nodes(usize::MAX);
        let accepts = |limit: usize| {
            let result = read(&xml, limits.max_decoded_size(limit));
            !result.is_err_and(|error| error.is_limit())
        };
        let (mut below, mut above) = (0_usize, 1 << 21);
        while below + 1 < above {
            let middle = below.midpoint(above);
            if accepts(middle) {
                above = middle;
            } else {
                below = middle;
            }
        }
        let mut items = Vec::new();
        let taken = peak(|| {
            let reader = Reader::with_options(
                xml.as_bytes(),
                ReadOptions::new().limits(limits.max_decoded_size(above)),
            );
            items = reader.map_while(Result::ok).map(|(_, value)| value).collect();
        });
        let most = above * PER_DECODED + longest_text(&xml) * PER_TEXT + FIXED;
        assert!(taken <= most, "{what}: {taken} of {most} bytes");
        drop(items);
    }
}

const LARGE: usize = 64 << 20;

/// Returns the fragments of a message for a pipeline of the session.
fn message(to: Destination, message_type: MessageType, session: &Session, id: Uuid, data: &str) -> Vec<u8> {
    fragments(to, message_type, session.client.id(), Some(id), data.as_bytes())
}

#[test]
fn a_message_that_is_too_large_or_too_deep_fails_its_pipeline() {
    let data = format!("<Obj><LST>{}</LST></Obj>", "<Obj />".repeat(500_000));
    let small = format!("<Obj><LST>{}</LST></Obj>", "<Obj />".repeat(1000));
    let deep = format!("{}<S>x</S>{}", "<Obj><LST>".repeat(60), "</LST></Obj>".repeat(60));
    for (max_decoded_size, data) in [(LARGE, &data), (100_000, &small), (LARGE, &deep)] {
        let limits = limits(|limits| limits.max_decoded_size = max_decoded_size);
        let (client, server) = (client::Config::new().limits(limits), server::Config::new().limits(limits));
        let mut session = Session::with(client, server).open();
        let [first, second] = session.run_two();
        let output = message(Destination::Client, MessageType::PipelineOutput, &session, first, data);
        session.client.handle_input(Priority::Default, Some(first), &output).unwrap();
        assert_eq!(session.client_log(), "a Failed: LimitsExceeded");
        let input = message(Destination::Server, MessageType::PipelineInput, &session, first, data);
        session.server.handle_input(Priority::Default, Some(first), &input).unwrap();
        assert_eq!(session.states_of(first), [PipelineState::Failed; 2]);
        assert_eq!(session.states_of(second), [PipelineState::Running; 2]);
    }
}

/// Data that a typed message copies from shared objects counts, too.
#[test]
fn typed_copies_are_charged() {
    const LIMIT: usize = 2 << 20;

    let data = format!(
        "<Obj><MS><Obj N='PowerShell'><MS><Obj N='Cmds'><LST><Obj RefId='0'><MS><S N='Cmd'>x</S></MS></Obj>{}\
         </LST></Obj></MS></Obj></MS></Obj>",
        "<Ref RefId='0'/>".repeat(30_000)
    );
    let mut session = Session::with_server_limits(|limits| limits.max_decoded_size = LIMIT);
    let id = session.client.create_pipeline(with_input("$input")).unwrap();
    session.exchange();
    let bytes = message(Destination::Server, MessageType::CreatePipeline, &session, id, &data);
    let taken = peak(|| session.server.handle_input(Priority::Default, Some(id), &bytes).unwrap());
    assert_eq!(session.server_pipeline(id).state(), PipelineState::Failed);
    assert!(taken <= LIMIT * PER_DECODED + bytes.len() * 2, "{taken}");
}

/// Events that are not polled, each in a separate message.
#[test]
fn events_count_their_decoded_size() {
    const LIMIT: usize = 2 << 20;

    let objects = format!("<Obj><LST>{}</LST></Obj>", "<Obj />".repeat(1000));
    let invocation = "<Obj><MS><B N='SerializeExtendedInfo'>true</B></MS></Obj>";
    for (message_type, data) in [
        (MessageType::PipelineOutput, ""),
        (MessageType::PipelineOutput, "<Nil/>"),
        (MessageType::PipelineOutput, &*objects),
        (MessageType::ErrorRecord, "<Obj/>"),
        (MessageType::ErrorRecord, invocation),
        (MessageType::PipelineInput, ""),
        (MessageType::PipelineInput, &*objects),
    ] {
        let is_input = message_type == MessageType::PipelineInput;
        let limits = limits(|limits| limits.max_event_bytes = LIMIT);
        let (client, server) = (client::Config::new().limits(limits), server::Config::new().limits(limits));
        let mut session = Session::with(client, server).open();
        let id = session.run(with_input("$input"));
        let to = if is_input { Destination::Server } else { Destination::Client };
        let bytes = message(to, message_type, &session, id, data);
        let mut result = Ok(());
        let mut count = 0;
        let taken = peak(|| {
            while result.is_ok() && count < 1_000_000 {
                count += 1;
                result = match to {
                    Destination::Client => session.client.handle_input(Priority::Default, Some(id), &bytes),
                    Destination::Server => session.server.handle_input(Priority::Default, Some(id), &bytes),
                };
            }
        });
        let what = format!("{message_type:?} {data:.20}");
        assert!(result.unwrap_err().is_limit(), "{what}");
        assert!(taken <= LIMIT * PER_DECODED + bytes.len() * 2 + FIXED, "{what}: {taken} for {count} events");
        let state = if is_input { session.server.state() } else { session.client.state() };
        assert_eq!(state, RunspacePoolState::Broken, "{what}");
    }
}

/// A message of the maximum size does not break the pool.
#[test]
fn a_message_of_the_maximum_size_is_delivered() {
    let text = "x".repeat(LARGE - size_of::<psrp::Value>());
    let mut session = Session::with_client_limits(|limits| limits.max_decoded_size = LARGE);
    let id = session.run(PowerShell::script("1"));
    session.drop_events();
    let bytes =
        message(Destination::Client, MessageType::PipelineOutput, &session, id, &format!("<S>{text}</S>"));
    session.client.handle_input(Priority::Default, Some(id), &bytes).unwrap();
    assert_eq!(session.client_log(), format!("a text of {}", text.len()));
}
