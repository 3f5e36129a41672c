//! PSRP messages that the transport has to read or write itself.

use uuid::Uuid;

use crate::clixml::Writer;
use crate::error::{Error, Kind};
use crate::fragment::{Assembler, Fragment, Fragmenter};
use crate::message::{
    Destination, Message, MessageHeader, MessageType, Payload, PipelineState, PipelineStateInfo,
};
use crate::record::{ErrorCategory, ErrorRecord};

/// Parses a pool's first data: its identifier, and whether it connects to an existing pool. Fails with
/// [`Error::is_limit`] if the data contains no complete message, and if it does not consist of fragments.
pub(super) fn parse_pool_request(mut data: &[u8]) -> Result<(Uuid, bool), Error> {
    let mut assembler = Assembler::new();
    let mut request = None;
    while let Some(message) = assembler.next(&mut data)? {
        let header = Message::decode(message)?.header;
        let (_, is_connect) = request.get_or_insert((header.pool_id, false));
        *is_connect |= header.message_type == MessageType::ConnectRunspacePool;
    }
    request.ok_or_else(|| Error::with(Kind::Limit, "max_envelope_size is too small for the first message"))
}

/// Splits `data` after the fragments of the first message and returns the rest. PowerShell's clients send only this
/// message when they create a command. Fails if the data does not consist of fragments.
pub(super) fn split_first_message(data: &mut Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut rest = &data[..];
    let mut first = None;
    while !rest.is_empty() {
        let (fragment, after) = Fragment::decode(rest)?;
        if *first.get_or_insert(fragment.object_id) != fragment.object_id {
            break;
        }
        rest = after;
    }
    let len = data.len() - rest.len();
    Ok(data.split_off(len))
}

/// Encodes the server's message for a failed pipeline, as fragments.
pub(super) fn pipeline_failure(pool_id: Uuid, pipeline: Uuid, reason: &str) -> Result<Vec<u8>, Error> {
    let record = ErrorRecord::new(reason, ErrorCategory::ConnectionError);
    let info = PipelineStateInfo { state: PipelineState::Failed, error: Some(Box::new(record)) };
    let payload = Payload::PipelineState(info);
    let header = MessageHeader {
        destination: Destination::Client,
        message_type: payload.message_type(),
        pool_id,
        pipeline_id: Some(pipeline),
    };
    let (mut message, mut fragments) = (Vec::new(), Vec::new());
    let mut writer = Writer::new();
    Message { header, data: payload.encode(&mut writer)? }.encode(&mut message);
    Fragmenter::new().encode(&message, &mut fragments);
    Ok(fragments)
}
