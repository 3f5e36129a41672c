//! The published messages, with data that reproduce the published sizes.

use super::message::Message;

/// The three published sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "self-explanatory names")]
pub enum Size {
    Small,
    Medium,
    Large,
}

impl Size {
    /// All sizes.
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    /// Suffix of the row names.
    pub fn name(self) -> &'static str {
        ["small", "medium", "large"][self as usize]
    }

    /// Number of values and of map entries.
    pub fn entries(self) -> usize {
        [10, 100, 1000][self as usize]
    }

    /// Published length in the format of the Go library.
    pub fn parco_len(self) -> u64 {
        [91, 742, 8123][self as usize]
    }

    /// Published length as JSON.
    pub fn json_len(self) -> u64 {
        [269, 1681, 16_637][self as usize]
    }

    /// Published length as MessagePack, with integers as wide as Go's types.
    pub fn msgpack_len(self) -> u64 {
        [155, 991, 10_171][self as usize]
    }

    /// Seed for which the JSON encoding has the published length.
    fn seed(self) -> u64 {
        [0, 19, 17][self as usize]
    }
}

/// Returns the published message of a size.
pub fn message(size: Size) -> Message {
    let (name, text, number) = match size {
        Size::Small => ("small size", "oh hi Mark".to_owned(), 42),
        Size::Medium => ("medium size", "oh hi Mark! ".repeat(10), 42_134),
        Size::Large => ("large size", "oh hi Mark! ".repeat(100), 65_535),
    };
    let mut random = SplitMix(size.seed());
    // All values are generated before the first entry of the map.
    let values = (0..size.entries()).map(|_| random.below(65_535) as u16).collect();
    let map = (0..size.entries()).map(|index| (index.to_string(), random.below(255) as u8)).collect();
    Message {
        name: name.to_owned(),
        text,
        number,
        values,
        map,
        flag: true,
        float32: f32::MAX,
        float64: f64::MAX,
    }
}

/// SplitMix64: three lines in every language, so that all programs generate the same data.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares weighted sums over the values and the map of two messages with those in the shared vectors.
    #[test]
    fn generator_matches_the_shared_vectors() {
        for (size, values, entries) in
            [(Size::Medium, 167_050_330, 630_131), (Size::Large, 16_437_333_851, 64_763_968)]
        {
            let message = message(size);
            let sum: u64 = (1..).zip(&message.values).map(|(weight, &value)| weight * u64::from(value)).sum();
            assert_eq!(sum, values);
            let weight = |key: &str| key.parse::<u64>().unwrap() + 1;
            let sum: u64 = message.map.iter().map(|(key, &value)| weight(key) * u64::from(value)).sum();
            assert_eq!(sum, entries);
        }
    }
}
