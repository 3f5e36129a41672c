//! The published messages, with data that reproduce the published sizes.

use super::message::Message;

/// A published size.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Suffix of the row names.
    pub name: &'static str,
    /// Published length in the format of the Go library.
    pub parco_len: u64,
    /// Published length as JSON.
    pub json_len: u64,
    /// Published length as MessagePack, with integers as wide as Go's types.
    pub msgpack_len: u64,
    /// Number of values and of map entries. From 256 on, the headers of the Go library have two bytes.
    pub entries: usize,
    text: (&'static str, usize),
    number: u16,
    /// Seed for which the JSON encoding has the published length.
    seed: u64,
}

const fn size(
    name: &'static str,
    entries: usize,
    [parco_len, json_len, msgpack_len]: [u64; 3],
    text: (&'static str, usize),
    number: u16,
    seed: u64,
) -> Size {
    Size { name, parco_len, json_len, msgpack_len, entries, text, number, seed }
}

/// The published sizes.
pub const SIZES: [Size; 3] = [
    size("small", 10, [91, 269, 155], ("oh hi Mark", 1), 42, 0),
    size("medium", 100, [742, 1681, 991], ("oh hi Mark! ", 10), 42_134, 19),
    size("large", 1000, [8123, 16_637, 10_171], ("oh hi Mark! ", 100), 65_535, 17),
];

/// Returns the published message of a size.
pub fn message(size: &Size) -> Message {
    let mut random = SplitMix(size.seed);
    // All values are generated before the first entry of the map.
    let values = (0..size.entries).map(|_| random.below(65_535) as u16).collect();
    let map = (0..size.entries).map(|index| (index.to_string(), random.below(255) as u8)).collect();
    Message {
        name: format!("{} size", size.name),
        text: size.text.0.repeat(size.text.1),
        number: size.number,
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
        for (size, values, entries) in [(1, 167_050_330, 630_131), (2, 16_437_333_851, 64_763_968)] {
            let message = message(&SIZES[size]);
            let sum: u64 = (1..).zip(&message.values).map(|(weight, &value)| weight * u64::from(value)).sum();
            assert_eq!(sum, values);
            let weight = |key: &str| key.parse::<u64>().unwrap() + 1;
            let sum: u64 = message.map.iter().map(|(key, &value)| weight(key) * u64::from(value)).sum();
            assert_eq!(sum, entries);
        }
    }
}
