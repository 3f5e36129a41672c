//! Tests the counting rules on operations with known allocations.
//!
//! There is only one test function, because the counters cover the whole process and tests run in parallel.

use std::hint::black_box;

benches::counting_allocator!();

fn count<T>(mut operation: impl FnMut() -> T) -> benches::Counts {
    benches::count(|iterations| (0..iterations).for_each(|_| drop(black_box(operation()))))
}

#[test]
fn counts_follow_the_rules() {
    let boxed = count(|| Box::new(black_box(7_u64)));
    assert_eq!((boxed.allocs_op, boxed.bytes_op, boxed.deterministic), (1.0, 8.0, true));

    // Capacities 4, 8, 16, 32, 64 and 128 of eight bytes each: a reallocation counts its whole new size.
    let pushed = count(|| {
        let mut numbers = Vec::new();
        for number in 0..100_u64 {
            numbers.push(black_box(number));
        }
        numbers
    });
    assert_eq!((pushed.allocs_op, pushed.bytes_op, pushed.deterministic), (6.0, 2_016.0, true));

    let zeroed = count(|| vec![0_u8; black_box(1_000)]);
    assert_eq!((zeroed.allocs_op, zeroed.bytes_op), (1.0, 1_000.0), "a zeroed allocation counts once");

    let nothing = count(|| black_box(1_u64) + 1);
    assert_eq!((nothing.allocs_op, nothing.bytes_op), (0.0, 0.0));

    let mut first = true;
    let lazy = count(|| if std::mem::take(&mut first) { vec![0_u8; 64] } else { Vec::new() });
    assert_eq!(lazy.allocs_op, 0.0, "the warm-up pays for what is made once");

    let mut batches = Vec::new();
    benches::count(|iterations| {
        batches.push(iterations);
        let start = std::time::Instant::now();
        while start.elapsed() < std::time::Duration::from_millis(25) {
            std::hint::spin_loop();
        }
    });
    assert_eq!(
        batches,
        [1, 1, 1],
        "after the warm-up, an operation longer than a batch is counted once per batch"
    );
}
