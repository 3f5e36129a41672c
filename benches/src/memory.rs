//! Memory-bandwidth limits of the machine: reading and copying a buffer.

use std::hint::black_box;

/// Reads every byte once: a 64-bit wrapping sum, chunk by chunk. Measures the read bandwidth if the input is in memory.
pub fn sum(input: &[u8], chunk: usize) -> u64 {
    input.chunks(chunk).map(|chunk| black_box(sum_words(chunk))).fold(0, u64::wrapping_add)
}

/// Four independent sums keep the loads, not the additions, the bottleneck.
fn sum_words(bytes: &[u8]) -> u64 {
    let mut sums = [0_u64; 4];
    let (blocks, tail) = bytes.as_chunks::<32>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = sum.wrapping_add(u64::from_ne_bytes(*word));
        }
    }
    let tail = tail.iter().fold(0_u64, |sum, &byte| sum.wrapping_add(u64::from(byte)));
    sums.iter().fold(tail, |sum, &part| sum.wrapping_add(part))
}

/// Copies the input chunk by chunk into one buffer that stays in cache, like a read from a socket. Returns the number
/// of copied bytes.
pub fn copy(input: &[u8], buffer: &mut [u8]) -> u64 {
    let mut copied = 0;
    for chunk in input.chunks(buffer.len()) {
        buffer[..chunk.len()].copy_from_slice(chunk);
        copied += black_box(&*buffer)[..chunk.len()].len() as u64;
    }
    copied
}

/// Copies bytes to a reused buffer at once, and returns their number.
pub fn copy_to(bytes: &[u8], buffer: &mut Vec<u8>) -> u64 {
    buffer.clear();
    buffer.extend_from_slice(black_box(bytes));
    black_box(&*buffer).len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_reads_every_byte() {
        assert_eq!(sum(&[1; 67], 64), 2 * 4 * 0x0101_0101_0101_0101 + 3);
    }

    #[test]
    fn copy_counts_every_byte() {
        assert_eq!((copy(&[7; 100], &mut [0; 64]), copy_to(b"abc", &mut vec![0; 9])), (100, 3));
    }
}
