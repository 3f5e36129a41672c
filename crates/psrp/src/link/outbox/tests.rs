//! Whose turn it is.

use super::*;

const A: Option<Uuid> = Some(Uuid::from_u128(1));
const B: Option<Uuid> = Some(Uuid::from_u128(2));

fn outbox(waits: bool) -> Outbox {
    Outbox::new(Fragmenter::new(), waits, 1000)
}

fn push(outbox: &mut Outbox, target: Option<Uuid>, priority: Priority, len: usize) {
    outbox.push(target, priority, |buffer| buffer.resize(buffer.len() + len, 7));
}

/// The targets of what comes out, with the numbers of the first objects of data.
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
fn targets_take_turns_and_answers_go_first() {
    let mut outbox = outbox(false);
    push(&mut outbox, A, Priority::Default, 100);
    push(&mut outbox, B, Priority::Default, 100);
    push(&mut outbox, B, Priority::PromptResponse, 10);
    // The numbers are those of the session, not of a target.
    assert_eq!(order(&mut outbox), [(B, Some(3)), (A, Some(1)), (B, Some(2)), (A, Some(1)), (B, Some(2))]);
    assert_eq!(outbox.pending_bytes(), 0);
    assert!(outbox.targets.is_empty() && outbox.turns.is_empty() && outbox.urgent.is_empty());
}

#[test]
fn a_target_waits_for_its_acknowledgement_only() {
    let mut outbox = outbox(true);
    push(&mut outbox, A, Priority::Default, 100);
    push(&mut outbox, B, Priority::Default, 50);
    assert_eq!(order(&mut outbox), [(A, Some(1)), (B, Some(2))]);
    outbox.acknowledged(A, Awaited::Command);
    assert_eq!(order(&mut outbox), [], "that was not asked for");
    outbox.acknowledged(A, Awaited::Data);
    assert_eq!(order(&mut outbox), [(A, Some(1))]);
    for target in [A, B] {
        outbox.acknowledged(target, Awaited::Data);
    }
    assert!(outbox.targets.is_empty());
}

#[test]
fn packets_come_after_data_that_are_sent_or_dropped() {
    let mut outbox = outbox(false);
    push(&mut outbox, A, Priority::Default, 100);
    outbox.act_after_data(Packet::Signal(A));
    outbox.act_after_data(Packet::Signal(B));
    assert_eq!(order(&mut outbox), [(B, None), (A, Some(1)), (A, Some(1)), (A, None)]);
    push(&mut outbox, A, Priority::Default, 100);
    outbox.act_after_data(Packet::Signal(A));
    outbox.discard(A);
    assert_eq!(order(&mut outbox), [(A, None)]);
    // What waits for the key is waited for too.
    outbox.park(A, 10);
    outbox.act_after_data(Packet::Signal(A));
    assert_eq!(order(&mut outbox), []);
    outbox.unpark(A, 10);
    assert_eq!(order(&mut outbox), [(A, None)]);
    assert_eq!((outbox.packet_count, outbox.pending_bytes()), (0, 0));
}

#[test]
fn what_is_held_waits() {
    let mut outbox = outbox(false);
    outbox.hold(A, true);
    push(&mut outbox, A, Priority::Default, 10);
    push(&mut outbox, B, Priority::Default, 10);
    outbox.hold_all(true);
    assert_eq!(order(&mut outbox), []);
    outbox.hold_all(false);
    assert_eq!(order(&mut outbox), [(B, Some(2))]);
    outbox.hold(A, false);
    assert_eq!(order(&mut outbox), [(A, Some(1))]);
    assert!(outbox.targets.is_empty());
}

#[test]
fn rings_have_a_target_once_however_often_it_comes_and_goes() {
    let mut outbox = outbox(false);
    for _ in 0..100 {
        push(&mut outbox, A, Priority::PromptResponse, 10);
        outbox.discard(A);
        outbox.hold(A, true);
        outbox.hold(A, false);
    }
    assert!(outbox.turns.len() <= 1 && outbox.urgent.len() <= 1);
    push(&mut outbox, A, Priority::Default, 10);
    assert_eq!(order(&mut outbox), [(A, Some(101))]);
}

#[test]
fn room_is_for_the_application_first() {
    let mut outbox = outbox(false);
    push(&mut outbox, A, Priority::Default, 900);
    assert!(outbox.admit(100, Sender::Application).is_ok());
    assert!(outbox.admit(101, Sender::Application).unwrap_err().is_limit());
    assert!(outbox.admit(101, Sender::Protocol).is_ok());
    assert!(outbox.admit(LEAST, Sender::Protocol).unwrap_err().is_limit());
    assert!(outbox.admit(LEAST, Sender::Admitted).is_ok());
}
