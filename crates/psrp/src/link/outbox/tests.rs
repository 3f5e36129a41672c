//! Order of outgoing packets.

use super::*;

const A: Option<Uuid> = Some(Uuid::from_u128(1));
const B: Option<Uuid> = Some(Uuid::from_u128(2));

fn outbox(requires_ack: bool) -> Outbox {
    Outbox::new(Fragmenter::new(), requires_ack, 1000)
}

fn push(outbox: &mut Outbox, target: Option<Uuid>, priority: Priority, len: usize) {
    outbox.push(target, priority, |buffer| buffer.resize(buffer.len() + len, 7));
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
    outbox.count_deferred(A, 10);
    outbox.queue_packet_after_data(Packet::Signal(A));
    assert_eq!(order(&mut outbox), []);
    outbox.uncount_deferred(A, 10);
    assert_eq!(order(&mut outbox), [(A, None)]);
    assert_eq!((outbox.packet_count, outbox.pending_bytes()), (0, 0));
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
