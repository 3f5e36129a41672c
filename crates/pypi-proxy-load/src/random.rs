//! Reproducible pseudorandom numbers.

/// A pseudorandom number generator (xorshift64*).
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator seeded by a name.
    pub(crate) fn new(name: &str) -> Self {
        let fold = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(name.bytes().fold(0xcbf2_9ce4_8422_2325, fold) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns `len` hexadecimal digits.
    pub(crate) fn hex(&mut self, len: usize) -> String {
        let mut text = String::with_capacity(len + 16);
        while text.len() < len {
            text += &format!("{:016x}", self.next());
        }
        text.truncate(len);
        text
    }
}
