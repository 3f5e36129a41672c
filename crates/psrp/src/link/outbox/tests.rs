//! Order of outgoing packets.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::fragment::Assembler;
use crate::link::lane::Lane;
use crate::message::MessageType;

const A: Option<Uuid> = Some(Uuid::from_u128(1));
const B: Option<Uuid> = Some(Uuid::from_u128(2));

fn outbox(requires_ack: bool) -> Outbox {
    Outbox::new(Fragmenter::new(), requires_ack, 1000)
}

fn push(outbox: &mut Outbox, target: Option<Uuid>, priority: Priority, len: usize) {
    outbox.push(target, priority, |buffer| buffer.resize(buffer.len() + len, 7));
}

/// Defers a message of 10 bytes.
fn defer(outbox: &mut Outbox, target: Option<Uuid>, priority: Priority, message_type: MessageType) {
    outbox.push_deferred(OutgoingMessage { target, priority, message_type, value: None }, 10);
}

/// Sends everything. Returns the target of each packet, and the first object identifier of data packets.
fn order(outbox: &mut Outbox) -> Vec<(Option<Uuid>, Option<u8>)> {
    let mut buffer = Vec::new();
    std::iter::from_fn(|| {
        let packet = outbox.poll(100, &mut buffer)?;
        let number = match packet {
            Packet::Data { data, .. } => Some(data[7]),
            _ => None,
        };
        Some((packet.target(), number))
    })
    .collect()
}

#[test]
fn targets_take_turns_and_prompt_responses_go_first() {
    let mut outbox = outbox(false);
    push(&mut outbox, A, Priority::Default, 100);
    push(&mut outbox, B, Priority::Default, 100);
    push(&mut outbox, B, Priority::PromptResponse, 10);
    // Object identifiers are counted per session, not per target.
    assert_eq!(order(&mut outbox), [(B, Some(3)), (A, Some(1)), (B, Some(2)), (A, Some(1)), (B, Some(2))]);
    assert_eq!(outbox.pending_bytes(), 0);
    assert!(outbox.targets.is_empty() && outbox.ring.is_empty() && outbox.urgent_ring.is_empty());
}

#[test]
fn a_target_waits_only_for_its_own_acknowledgement() {
    let mut outbox = outbox(true);
    push(&mut outbox, A, Priority::Default, 100);
    push(&mut outbox, B, Priority::Default, 50);
    assert_eq!(order(&mut outbox), [(A, Some(1)), (B, Some(2))]);
    outbox.acknowledge(A, Ack::Command);
    assert_eq!(order(&mut outbox), [], "another acknowledgement is pending");
    outbox.acknowledge(A, Ack::Data);
    assert_eq!(order(&mut outbox), [(A, Some(1))]);
    for target in [A, B] {
        outbox.acknowledge(target, Ack::Data);
    }
    assert!(outbox.targets.is_empty());
}

#[test]
fn packets_follow_data_that_is_sent_or_dropped() {
    let mut outbox = outbox(false);
    push(&mut outbox, A, Priority::Default, 100);
    outbox.queue_packet_after_data(Packet::Signal(A));
    outbox.queue_packet_after_data(Packet::Signal(B));
    assert_eq!(order(&mut outbox), [(B, None), (A, Some(1)), (A, Some(1)), (A, None)]);
    push(&mut outbox, A, Priority::Default, 100);
    outbox.queue_packet_after_data(Packet::Signal(A));
    outbox.discard(A);
    assert_eq!(order(&mut outbox), [(A, None)]);
    // Deferred messages are waited for, too.
    defer(&mut outbox, A, Priority::Default, MessageType::PipelineInput);
    outbox.queue_packet_after_data(Packet::Signal(A));
    assert_eq!(order(&mut outbox), []);
    assert!(outbox.pop_deferred().is_some());
    outbox.update(A);
    assert_eq!(order(&mut outbox), [(A, None)]);
    assert_eq!((outbox.packet_count, outbox.pending_bytes()), (0, 0));
}

#[test]
fn deferred_messages_are_sent_by_target_and_can_be_dropped() {
    use MessageType::{CreatePipeline, GetCommandMetadata, PipelineHostResponse, PipelineInput};

    for start in [CreatePipeline, GetCommandMetadata] {
        let mut outbox = outbox(false);
        defer(&mut outbox, B, Priority::Default, start);
        for target in [A, B] {
            defer(&mut outbox, target, Priority::Default, PipelineInput);
            defer(&mut outbox, target, Priority::PromptResponse, PipelineHostResponse);
        }
        assert!(outbox.has_deferred(A, Priority::Default) && !outbox.has_deferred(None, Priority::Default));
        assert_eq!((outbox.pending_bytes(), outbox.pending_bytes_of(B)), (50, 30));
        outbox.discard_input(B);
        assert!(outbox.has_deferred(B, Priority::PromptResponse));
        assert_eq!((outbox.pending_bytes(), outbox.pending_bytes_of(B)), (40, 20));
        let next = std::iter::from_fn(|| {
            let deferred = outbox.pop_deferred()?;
            outbox.update(deferred.target);
            Some((deferred.target, deferred.message_type))
        });
        let expected = [(B, start), (B, PipelineHostResponse), (A, PipelineInput), (A, PipelineHostResponse)];
        assert!(next.eq(expected));
        assert!(outbox.targets.is_empty() && outbox.deferred_order.is_empty());
    }
}

#[test]
fn dropped_deferred_messages_leave_nothing() {
    let discards: [fn(&mut Outbox); 5] = [
        |outbox| outbox.discard_input(A),
        |outbox| outbox.discard_deferred(A),
        |outbox| outbox.discard(A),
        Outbox::discard_all_deferred,
        Outbox::remove_all,
    ];
    let mut outbox = outbox(false);
    for discard in discards {
        defer(&mut outbox, A, Priority::Default, MessageType::PipelineInput);
        discard(&mut outbox);
        assert_eq!((outbox.pending_bytes(), outbox.has_deferred(A, Priority::Default)), (0, false));
        assert!(outbox.targets.is_empty() && outbox.deferred_order.is_empty());
    }
}

#[test]
fn paused_targets_send_nothing() {
    let mut outbox = outbox(false);
    outbox.set_paused(A, true);
    push(&mut outbox, A, Priority::Default, 10);
    push(&mut outbox, B, Priority::Default, 10);
    outbox.set_all_paused(true);
    assert_eq!(order(&mut outbox), []);
    outbox.set_all_paused(false);
    assert_eq!(order(&mut outbox), [(B, Some(2))]);
    outbox.set_paused(A, false);
    assert_eq!(order(&mut outbox), [(A, Some(1))]);
    assert!(outbox.targets.is_empty());
}

#[test]
fn a_target_is_in_a_ring_only_once() {
    let mut outbox = outbox(false);
    for _ in 0..100 {
        push(&mut outbox, A, Priority::PromptResponse, 10);
        outbox.discard(A);
        outbox.set_paused(A, true);
        outbox.set_paused(A, false);
    }
    assert!(outbox.ring.len() <= 1 && outbox.urgent_ring.len() <= 1);
    push(&mut outbox, A, Priority::Default, 10);
    assert_eq!(order(&mut outbox), [(A, Some(101))]);
}

#[test]
fn messages_of_the_protocol_have_extra_room() {
    let mut outbox = outbox(false);
    push(&mut outbox, A, Priority::Default, 900);
    assert!(outbox.admit(100, Quota::Application).is_ok());
    assert!(outbox.admit(101, Quota::Application).unwrap_err().is_limit());
    assert!(outbox.admit(101, Quota::Protocol).is_ok());
    assert!(outbox.admit(MIN_PROTOCOL_LIMIT, Quota::Protocol).unwrap_err().is_limit());
    assert!(outbox.admit(MIN_PROTOCOL_LIMIT, Quota::Reserved).is_ok());
}

proptest! {
    #[test]
    fn messages_of_each_stream_are_sent_completely_and_in_order(
        messages in vec((0..3_u128, any::<bool>(), vec(any::<u8>(), 0..200)), 0..12),
        sizes in vec(0..150_usize, 1..5), fragment_size in 0..100_usize
    ) {
        let mut outbox = Outbox::new(Fragmenter::new().fragment_size(fragment_size), false, usize::MAX);
        let mut expected = HashMap::<Lane, Vec<Vec<u8>>>::new();
        for (target, is_prompt, message) in messages {
            let target = (target > 0).then(|| Uuid::from_u128(target));
            let priority = if is_prompt { Priority::PromptResponse } else { Priority::Default };
            outbox.push(target, priority, |buffer| buffer.extend_from_slice(&message));
            expected.entry(Lane { target, priority }).or_default().push(message);
        }
        let mut sent = HashMap::<Lane, Vec<u8>>::new();
        let mut buffer = Vec::new();
        for max in sizes.into_iter().cycle() {
            let Some(packet) = outbox.poll(max, &mut buffer) else { break };
            let Packet::Data { target, priority, data } = packet else { panic!("no other packet was queued") };
            prop_assert!(!data.is_empty() && data.len() <= max.max(22));
            sent.entry(Lane { target, priority }).or_default().extend(data);
        }
        prop_assert_eq!(outbox.pending_bytes(), 0);
        prop_assert!(outbox.targets.is_empty());
        prop_assert_eq!(sent.len(), expected.len());
        for (lane, bytes) in sent {
            let (mut assembler, mut input) = (Assembler::new(), &bytes[..]);
            let mut messages = Vec::new();
            while let Some(message) = assembler.next(&mut input).unwrap() {
                messages.push(message.to_vec());
            }
            prop_assert_eq!(&messages, &expected[&lane]);
        }
    }
}
