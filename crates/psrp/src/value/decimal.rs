//! `System.Decimal`.

/// A decimal number of 96 bits with a scale (`System.Decimal`): `1.50` is not `1.5`, and up to 28 digits follow the
/// point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Decimal {
    low: u64,
    high: u32,
    scale: u8,
    negative: bool,
}

impl Decimal {
    /// The most digits after the point.
    pub const MAX_SCALE: u8 = 28;

    /// `mantissa` divided by ten to the power of `scale`; `None` above 96 bits or 28 digits.
    pub const fn new(negative: bool, mantissa: u128, scale: u8) -> Option<Self> {
        if mantissa >> 96 != 0 || scale > Self::MAX_SCALE {
            return None;
        }
        Some(Self { low: mantissa as u64, high: (mantissa >> 64) as u32, scale, negative })
    }

    /// The digits without point and sign.
    pub const fn mantissa(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    /// How many digits follow the point.
    pub const fn scale(self) -> u8 {
        self.scale
    }

    /// Whether the sign is a minus; zero has a sign too.
    pub const fn is_negative(self) -> bool {
        self.negative
    }
}
