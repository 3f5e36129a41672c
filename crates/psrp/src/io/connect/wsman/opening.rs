//! Messages that the transport has to understand or to make up.

use uuid::Uuid;

use crate::clixml::Writer;
use crate::error::{Error, Kind};
use crate::fragment::{Assembler, Fragmenter};
use crate::message::{
    Destination, Message, MessageHeader, MessageType, Payload, PipelineState, PipelineStateInfo,
};
use crate::record::{ErrorCategory, ErrorRecord};

/// What the first data of a pool are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    pub(super) pool: Uuid,
    /// Whether the pool exists.
    pub(super) is_connection: bool,
}

impl Opening {
    /// Reads the first data.
    ///
    /// # Errors
    ///
    /// Fails if there is no whole message ([`Error::is_limit`]) or something else than fragments.
    pub(super) fn read(mut data: &[u8]) -> Result<Self, Error> {
        let mut assembler = Assembler::new();
        let mut opening = None;
        while let Some(message) = assembler.next(&mut data)? {
            let header = Message::decode(message)?.header;
            let opening = opening.get_or_insert(Self { pool: header.pool_id, is_connection: false });
            opening.is_connection |= header.message_type == MessageType::ConnectRunspacePool;
        }
        opening.ok_or_else(|| Error::with(Kind::Limit, "envelopes without room for the first message"))
    }
}

/// The message of a server that a pipeline has failed, as fragments.
pub(super) fn failed_pipeline(pool_id: Uuid, pipeline: Uuid, reason: &str) -> Result<Vec<u8>, Error> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Config, RunspacePool};
    use crate::message::PowerShell;
    use crate::outofproc::Packet;

    fn first_data(pool: &mut RunspacePool) -> Vec<u8> {
        let mut buffer = Vec::new();
        let Some(Packet::Data { data, .. }) = pool.poll_transmit(100_000, &mut buffer) else { panic!() };
        data.to_vec()
    }

    #[test]
    fn opening_and_connecting_are_told_apart() {
        let mut pool = RunspacePool::new(Config::new());
        pool.open().unwrap();
        let data = first_data(&mut pool);
        assert_eq!(Opening::read(&data).unwrap(), Opening { pool: pool.id(), is_connection: false });
        assert!(Opening::read(&data[..30]).unwrap_err().is_limit());

        let mut pool = RunspacePool::new(Config::new());
        pool.connect().unwrap();
        let data = first_data(&mut pool);
        assert_eq!(Opening::read(&data).unwrap(), Opening { pool: pool.id(), is_connection: true });
    }

    #[test]
    fn what_a_server_would_say_fails_the_pipeline() {
        let data = failed_pipeline(Uuid::from_u128(1), Uuid::from_u128(2), "no more").unwrap();
        let mut assembler = Assembler::new();
        let message = Message::decode(assembler.next(&mut &data[..]).unwrap().unwrap()).unwrap();
        assert_eq!(message.header.pipeline_id, Some(Uuid::from_u128(2)));
        let payload = Payload::decode(message.header.message_type, message.data).unwrap();
        let Payload::PipelineState(info) = payload else { panic!() };
        assert_eq!(info.state, PipelineState::Failed);
        assert_eq!(info.error.unwrap().message().unwrap().to_string(), "no more");
        let _ = PowerShell::script("");
    }
}
