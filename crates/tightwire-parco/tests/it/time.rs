//! Points in time, with and without a zone: ranges, types, and differences from Go.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use tightwire_parco::wire::TimeUtc;
use tightwire_parco::{Limits, Options, Timestamp, WireExt, ZonedTimestamp};

use crate::golden;

#[test]
fn zone_names_can_be_any_bytes() {
    let bytes = b"\0\0\0\0\0\0\0\0\x01\x01\xff";
    assert!(tightwire_parco::decode_exact::<ZonedTimestamp<&str>>(bytes).unwrap_err().is_invalid_utf8());
    assert_eq!(tightwire_parco::decode_exact::<ZonedTimestamp<&[u8]>>(bytes).unwrap().zone, [0xff]);
}

#[test]
fn zones_have_at_most_255_bytes() {
    let zone = "z".repeat(255);
    assert_eq!(
        tightwire_parco::to_vec(&ZonedTimestamp { at: Timestamp::UNIX_EPOCH, zone: zone.as_str() })
            .unwrap()
            .len(),
        265
    );
    let error =
        tightwire_parco::to_vec(&ZonedTimestamp { at: Timestamp::UNIX_EPOCH, zone: zone + "z" }).unwrap_err();
    assert!(error.is_overflow());
}

#[test]
fn zone_allocation_is_counted_and_reused() {
    let bytes = golden::bytes("roundtrip", "timeloc-ny");
    let options = Options::new().limits(Limits::default().max_allocation(15));
    assert!(options.decode_exact::<ZonedTimestamp>(&bytes).unwrap_err().is_limit());
    options.decode_exact::<ZonedTimestamp<&str>>(&bytes).unwrap();

    let mut located = ZonedTimestamp { at: Timestamp::MIN, zone: String::with_capacity(64) };
    let before = located.zone.as_ptr();
    tightwire_parco::decode_into(&bytes, &mut located).unwrap();
    assert_eq!(located.zone, "America/New_York");
    assert_eq!(located.zone.as_ptr(), before);
}

/// Times that are out of range are rejected, unless they are wrapped as in Go.
#[test]
fn out_of_range_times_are_rejected_unless_wrapped() {
    let year_1: i128 = -62_135_596_800 * 1_000_000_000;
    for nanos in [year_1, i128::from(i64::MIN) - 1, i128::from(i64::MAX) + 1] {
        assert!(TimeUtc.to_vec(&nanos).unwrap_err().is_overflow());
        assert!(TimeUtc.encoded_len(&nanos).unwrap_err().is_overflow());
        assert_eq!(Timestamp::checked(&nanos), None);
    }
    assert_eq!(Timestamp::checked(&i128::from(i64::MAX)), Some(Timestamp::MAX));
    assert_eq!(Timestamp::wrapping(&(i128::from(i64::MAX) + 1)), Timestamp::MIN);
    assert_eq!(
        tightwire_parco::to_vec(&Timestamp::wrapping(&year_1)).unwrap(),
        golden::bytes("roundtrip", "time-go-zero-wraps")
    );

    let far = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 35);
    assert!(tightwire_parco::to_vec(&far).unwrap_err().is_overflow());
}

#[test]
fn system_times_before_and_after_1970() {
    for (nanos, time) in [
        (0, SystemTime::UNIX_EPOCH),
        (631_152_000_000_000_000, SystemTime::UNIX_EPOCH + Duration::from_secs(631_152_000)),
        (-500_000_000, SystemTime::UNIX_EPOCH - Duration::from_millis(500)),
    ] {
        let bytes = tightwire_parco::to_vec(&time).unwrap();
        assert_eq!(tightwire_parco::decode_exact::<Timestamp>(&bytes).unwrap(), Timestamp::from_nanos(nanos));
        assert_eq!(tightwire_parco::decode_exact::<SystemTime>(&bytes).unwrap(), time);
    }
}

#[test]
fn zoned_timestamps_encode_as_time_utc() {
    let located = ZonedTimestamp { at: Timestamp::from_nanos(7), zone: "Asia/Kolkata" };
    assert_eq!(TimeUtc.to_vec(&located).unwrap(), [7, 0, 0, 0, 0, 0, 0, 0]);
}

/// The tests of a version of `jiff`.
macro_rules! jiff {
    ($module:ident: $jiff:ident::$zoned:ident, $to_zoned:ident) => {
        mod $module {
            use ::$jiff::tz::{self, TimeZone};
            use ::$jiff::{Timestamp, $zoned as Zoned};
            use tightwire_parco::Mode;

            use super::*;

            #[test]
            fn jiff_zoned_matches_the_vectors() {
                for (id, text) in [
                    ("timeloc-ny", "2024-06-15T12:30:45.123456789-04:00[America/New_York]"),
                    ("timeloc-utc", "2024-12-31T23:59:59.999999999+00:00[UTC]"),
                    ("timeloc-kolkata", "2025-01-01T05:29:59.999999999+05:30[Asia/Kolkata]"),
                ] {
                    let bytes = golden::bytes("roundtrip", id);
                    let zoned: Zoned = tightwire_parco::decode_exact(&bytes).unwrap();
                    assert_eq!(zoned.to_string(), text);
                    assert_eq!(tightwire_parco::to_vec(&zoned).unwrap(), bytes);
                    assert_eq!(tightwire_parco::encoded_len(&zoned).unwrap(), bytes.len());
                }
            }

            #[test]
            fn unknown_zones_are_rejected() {
                let bytes = golden::bytes("decode_errors", "timeloc-bad-zone");
                assert!(tightwire_parco::decode_exact::<Zoned>(&bytes).unwrap_err().is_unknown_zone());
                let bytes = b"\0\0\0\0\0\0\0\0\x01\x01\xff";
                assert!(tightwire_parco::decode_exact::<Zoned>(bytes).unwrap_err().is_unknown_zone());
            }

            #[test]
            fn unnamed_zones_are_rejected() {
                let zoned = Timestamp::UNIX_EPOCH.$to_zoned(TimeZone::fixed(tz::offset(5)));
                assert!(tightwire_parco::to_vec(&zoned).unwrap_err().is_unknown_zone());
            }

            #[test]
            fn absent_and_empty_zones_are_utc() {
                for bytes in [&b"\x01\0\0\0\0\0\0\0\0"[..], b"\x01\0\0\0\0\0\0\0\x01\0"] {
                    let zoned: Zoned = tightwire_parco::decode_exact(bytes).unwrap();
                    assert_eq!(zoned.to_string(), "1970-01-01T00:00:00.000000001+00:00[UTC]");
                }
                let compat = Options::new().mode(Mode::Compat);
                let zoned: Zoned = compat.decode_exact(b"\x01\0\0\0\0\0\0\0\0").unwrap();
                assert_eq!(zoned.timestamp().to_string(), "1754-08-30T22:43:41.128654848Z");
            }

            #[test]
            fn jiff_timestamps_round_trip() {
                let time: Timestamp = "1990-01-01T00:00:00Z".parse().unwrap();
                let bytes = golden::bytes("roundtrip", "time-1990");
                assert_eq!(tightwire_parco::to_vec(&time).unwrap(), bytes);
                assert_eq!(tightwire_parco::decode_exact::<Timestamp>(&bytes).unwrap(), time);
                assert!(tightwire_parco::to_vec(&Timestamp::MAX).unwrap_err().is_overflow());
                let range = [tightwire_parco::Timestamp::MIN, tightwire_parco::Timestamp::MAX].map(|limit| {
                    let bytes = tightwire_parco::to_vec(&limit).unwrap();
                    tightwire_parco::decode_exact::<Timestamp>(&bytes).unwrap().to_string()
                });
                assert_eq!(range, ["1677-09-21T00:12:43.145224192Z", "2262-04-11T23:47:16.854775807Z"]);
            }
        }
    };
}

#[cfg(feature = "jiff")]
jiff!(jiff_1: jiff1::ZonedDateTime, to_zoned_datetime);
#[cfg(feature = "jiff02")]
jiff!(jiff_02: jiff::Zoned, to_zoned);

#[cfg(feature = "chrono")]
#[test]
fn chrono_keeps_offsets_and_leap_seconds() {
    use chrono::{DateTime, FixedOffset, NaiveTime, Timelike as _, Utc};

    let bytes = golden::bytes("roundtrip", "time-1990");
    let time = DateTime::<Utc>::from_timestamp(631_152_000, 0).unwrap();
    assert_eq!(TimeUtc.to_vec(&time).unwrap(), bytes);
    assert_eq!(TimeUtc.decode_exact::<DateTime<Utc>>(&bytes).unwrap(), time);
    let limits = [DateTime::<Utc>::MIN_UTC, DateTime::UNIX_EPOCH, time, DateTime::<Utc>::MAX_UTC];
    let leap = |time: &DateTime<Utc>| time.with_nanosecond(1_500_000_000).unwrap();
    for time in limits.into_iter().chain([leap(&time), leap(&DateTime::UNIX_EPOCH)]) {
        let bytes = tightwire_parco::to_vec(&time).unwrap();
        assert_eq!(tightwire_parco::decode_exact::<DateTime<Utc>>(&bytes).unwrap(), time);
        let nanos =
            (time.timestamp_subsec_nanos() < 1_000_000_000).then(|| time.timestamp_nanos_opt()).flatten();
        assert_eq!(TimeUtc.to_vec(&time).ok(), nanos.map(|nanos| nanos.to_le_bytes().to_vec()));
        for seconds in [-86_399, -3_600, 0, 1, 86_399] {
            let zone = FixedOffset::east_opt(seconds).unwrap();
            let elsewhere = time.with_timezone(&zone);
            let bytes = tightwire_parco::to_vec(&elsewhere).unwrap();
            let decoded: DateTime<FixedOffset> = tightwire_parco::decode_exact(&bytes).unwrap();
            assert_eq!((decoded, *decoded.offset()), (elsewhere, zone));
        }
    }
    // A leap second in any minute.
    let time = NaiveTime::from_hms_opt(1, 2, 3).unwrap().with_nanosecond(1_999_999_999).unwrap();
    let bytes = tightwire_parco::to_vec(&time).unwrap();
    assert_eq!(tightwire_parco::decode_exact::<NaiveTime>(&bytes).unwrap(), time);

    let invalid = [(0i64, 2_000_000_000u32, 0i32), (i64::MAX, 0, 0), (0, 0, 86_400)];
    for parts in invalid {
        let bytes = tightwire_parco::to_vec(&parts).unwrap();
        let error = tightwire_parco::decode_exact::<DateTime<FixedOffset>>(&bytes).unwrap_err();
        assert!(error.is_invalid_value(), "{parts:?}");
    }
}

#[cfg(feature = "time")]
#[test]
fn time_keeps_offsets() {
    use time::{OffsetDateTime, UtcDateTime, UtcOffset};

    let bytes = golden::bytes("roundtrip", "time-1990");
    let time = OffsetDateTime::from_unix_timestamp(631_152_000).unwrap();
    assert_eq!(TimeUtc.to_vec(&time.to_offset(UtcOffset::from_hms(2, 0, 0).unwrap())).unwrap(), bytes);
    assert_eq!(tightwire_parco::decode_exact::<UtcDateTime>(&bytes).unwrap(), time.to_utc());
    assert!(tightwire_parco::to_vec(&UtcDateTime::MAX).unwrap_err().is_overflow());
    let before = OffsetDateTime::from_unix_timestamp_nanos(-1).unwrap();
    for time in [time, before, UtcDateTime::MIN.into(), UtcDateTime::MAX.into()] {
        for seconds in [-93_599, -3_600, 0, 1, 93_599] {
            let Some(elsewhere) = time.checked_to_offset(UtcOffset::from_whole_seconds(seconds).unwrap())
            else {
                continue;
            };
            let bytes = tightwire_parco::to_vec(&elsewhere).unwrap();
            let decoded: OffsetDateTime = tightwire_parco::decode_exact(&bytes).unwrap();
            assert_eq!((decoded, decoded.offset()), (elsewhere, elsewhere.offset()));
        }
    }
    for parts in [(0i64, 1_000_000_000u32, 0i32), (i64::MAX, 0, 0), (0, 0, 93_600)] {
        let bytes = tightwire_parco::to_vec(&parts).unwrap();
        assert!(tightwire_parco::decode_exact::<OffsetDateTime>(&bytes).unwrap_err().is_invalid_value());
    }
}

proptest! {
    #[test]
    fn wrapping_preserves_times_in_range(nanos: i64, above in -1_000_i128..1_000) {
        let wrapped = Timestamp::wrapping(&(i128::from(nanos) + (above << 64)));
        prop_assert_eq!(wrapped, Timestamp::from_nanos(nanos));
    }
}
