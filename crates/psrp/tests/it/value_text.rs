//! Text of dates, time spans, decimals and versions.

use std::fmt::Display;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use jiff::civil;
use psrp::Error;
use psrp::value::{DateTime, DateTimeKind, Decimal, TimeSpan, Version};

/// Checks texts that are written as they were read, texts that are written differently, and malformed texts.
fn check_text<T: FromStr<Err = Error> + Display>(
    canonical: &[&str],
    normalized: &[(&str, &str)],
    malformed: &[&str],
) {
    let canonical = canonical.iter().map(|text| (*text, *text));
    for (text, expected) in canonical.chain(normalized.iter().copied()) {
        let read = text.parse::<T>().unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(read.to_string(), expected, "{text:?}");
    }
    for text in malformed {
        assert!(text.parse::<T>().is_err_and(|error| error.is_invalid_text()), "{text:?}");
    }
}

#[test]
fn dates_are_parsed_and_written() {
    check_text::<DateTime>(
        &[
            "0001-01-01T00:00:00",
            "0999-12-31T00:00:00Z",
            "9999-12-31T23:59:59.9999999",
            "2024-02-29T23:59:59.1234567Z",
            "2021-12-31T12:00:00+05:30",
            "2021-12-31T12:00:00-00:30",
            "2021-12-31T12:00:00+00:00",
            "2020-01-01T00:00:00.5-14:00",
            "2000-02-29T00:00:00.000001Z",
        ],
        &[
            (" 2024-01-02\n", "2024-01-02T00:00:00"),
            ("2024-01-02Z", "2024-01-02T00:00:00Z"),
            ("2024-01-02+01:00", "2024-01-02T00:00:00+01:00"),
            ("2024-12-31T24:00:00Z", "2025-01-01T00:00:00Z"),
            ("2024-12-31T23:59:59.99999999", "2025-01-01T00:00:00"),
            ("2024-01-02T03:04:05.1000000", "2024-01-02T03:04:05.1"),
            ("2024-01-02T03:04:05.00000005", "2024-01-02T03:04:05"),
            ("2024-01-02T03:04:05.00000015", "2024-01-02T03:04:05.0000002"),
            ("2024-01-02T03:04:05.000000050001", "2024-01-02T03:04:05.0000001"),
        ],
        &[
            "",
            "2024",
            "2024-01",
            "2024-1-2",
            "0000-01-01",
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-01-00",
            "2024-04-31",
            "12024-01-01",
            "-2024-01-01",
            "2024-01-02t03:04:05",
            "2024-01-02 03:04:05",
            "2024-01-02T03:04",
            "2024-01-02T03:04:60",
            "2024-01-02T03:60:00",
            "2024-01-02T25:00:00",
            "2024-01-02T24:00:01",
            "2024-01-02T03:04:05.",
            "2024-01-02T03:04:05z",
            "2024-01-02T03:04:05+1:00",
            "2024-01-02T03:04:05+0100",
            "2024-01-02T03:04:05+01:60",
            "2024-01-02T03:04:05+14:01",
            "2024-01-02T03:04:05Zx",
            "9999-12-31T24:00:00",
            "9999-12-31T23:59:59.99999995",
            "2024-01-0\u{665}",
        ],
    );
}

#[test]
fn ticks_and_offsets_are_converted() {
    for (text, ticks) in [
        ("0001-01-01T00:00:00", 0),
        ("1970-01-01T00:00:00", 621_355_968_000_000_000),
        ("2024-02-29T23:58:57.0000001", 638_448_479_370_000_001),
        ("9999-12-31T23:59:59.9999999", DateTime::MAX_TICKS),
    ] {
        let date: DateTime = text.parse().unwrap();
        assert_eq!(date.ticks(), ticks, "{text}");
        assert_eq!(DateTime::from_ticks(ticks, DateTimeKind::Unspecified), Some(date), "{text}");
    }
    for ticks in [-1, i64::MIN, DateTime::MAX_TICKS + 1, i64::MAX] {
        assert_eq!(DateTime::from_ticks(ticks, DateTimeKind::Utc), None, "{ticks}");
    }
    let date = DateTime::new(civil::date(1, 1, 1).at(0, 0, 0, 199), DateTimeKind::Utc).unwrap();
    assert_eq!(date.ticks(), 1);
    let date: DateTime = "2024-02-29T23:58:57.0000001-01:30".parse().unwrap();
    assert_eq!(date.to_utc().unwrap().to_string(), "2024-03-01T01:28:57.0000001Z");
    assert_eq!(DateTime::from_ticks(0, DateTimeKind::Local(841)), None);
    assert_eq!(DateTime::from_ticks(0, DateTimeKind::Local(1)).unwrap().to_utc(), None);
}

#[test]
fn system_times_round_trip() {
    for text in ["1969-12-31T23:59:59.9999999Z", "2024-02-29T23:59:59.1234567Z", "1970-01-01T00:00:00Z"] {
        let date: DateTime = text.parse().unwrap();
        assert_eq!(DateTime::try_from(SystemTime::try_from(date).unwrap()).unwrap(), date);
    }
    let date: DateTime = "2024-01-02T03:04:05+01:00".parse().unwrap();
    let time = SystemTime::try_from(date).unwrap();
    assert_eq!(DateTime::try_from(time).unwrap().to_string(), "2024-01-02T02:04:05Z");
    let unknown: DateTime = "2024-01-02T03:04:05".parse().unwrap();
    assert!(SystemTime::try_from(unknown).unwrap_err().is_mismatch());
}

#[test]
fn time_spans_are_parsed_and_written() {
    check_text::<TimeSpan>(
        &[
            "PT0S",
            "PT10S",
            "PT30S",
            "PT1M40S",
            "PT20M",
            "PT1H",
            "P1D",
            "P1DT1S",
            "P9DT10H12M13.1234567S",
            "-P1DT1H2M3.0000005S",
            "-PT0.0000001S",
            "P10675199DT2H48M5.4775807S",
            "-P10675199DT2H48M5.4775808S",
        ],
        &[
            (" PT90M\n", "PT1H30M"),
            ("P1Y", "P365D"),
            ("P1M", "P30D"),
            ("P1Y2M3DT4H", "P428DT4H"),
            ("PT1H120S", "PT1H2M"),
            ("PT00S", "PT0S"),
            ("-P0D", "PT0S"),
            ("PT1.9999999999S", "PT2S"),
            ("PT5.0S", "PT5S"),
            ("PT0.00000005S", "PT0.0000001S"),
            ("PT0.00000004S", "PT0S"),
        ],
        &[
            "",
            "-",
            "P",
            "PT",
            "P1DT",
            "1D",
            "00:00:10",
            "P1S",
            "PT1D",
            "PT1S1M",
            "PT1M1M",
            "PT1.5M",
            "P1.5D",
            "PT.5S",
            "PT5.S",
            "PT5",
            "+PT5S",
            "P-1D",
            "PT1ST2S",
            "pt1s",
            "P10675199DT2H48M5.4775808S",
            "P99999999999999999999999999999999999999999D",
            "P\u{0}",
            "PT1S1\u{0}",
        ],
    );
}

#[test]
fn durations_round_trip() {
    let span = TimeSpan::try_from(Duration::from_nanos(1_999)).unwrap();
    assert_eq!(span.ticks(), 19);
    assert_eq!(Duration::try_from(span).unwrap(), Duration::from_nanos(1_900));
    assert!(Duration::try_from(TimeSpan::from_ticks(-1)).unwrap_err().is_mismatch());
    assert!(TimeSpan::try_from(Duration::MAX).unwrap_err().is_mismatch());
}

#[test]
fn decimals_are_parsed_and_written() {
    check_text::<Decimal>(
        &[
            "0",
            "0.00",
            "1.50",
            "-0.05",
            "0.0000000000000000000000000001",
            "79228162514264337593543950335",
            "-7.9228162514264337593543950335",
            "123456789.000",
        ],
        &[
            ("+7", "7"),
            (" 007.10\n", "7.10"),
            (".5", "0.5"),
            ("5.", "5"),
            ("-0", "0"),
            ("-0.0", "0.0"),
            // Excess digits are rounded half to even.
            ("0.00000000000000000000000000005", "0.0000000000000000000000000000"),
            ("0.00000000000000000000000000015", "0.0000000000000000000000000002"),
            ("0.000000000000000000000000000051", "0.0000000000000000000000000001"),
            ("79228162514264337593543950335.4", "79228162514264337593543950335"),
            ("7922816251426433759354395033.55", "7922816251426433759354395034"),
            ("7.92281625142643375935439503355", "7.922816251426433759354395034"),
        ],
        &[
            "",
            ".",
            "-",
            "1E5",
            "1.2.3",
            "1,5",
            "--1",
            "- 1",
            "INF",
            "79228162514264337593543950336",
            "79228162514264337593543950335.5",
            "100000000000000000000000000000",
        ],
    );
}

#[test]
fn integers_convert_and_limits_hold() {
    assert_eq!(Decimal::from(i64::MIN).to_string(), i64::MIN.to_string());
    assert_eq!(Decimal::from(u64::MAX).to_string(), u64::MAX.to_string());
    assert_eq!(Decimal::new(false, 1 << 96, 0), None);
    assert_eq!(Decimal::new(false, 1, 29), None);
}

#[test]
fn versions_are_parsed_and_written() {
    check_text::<Version>(
        &["2.3", "7.4.6", "5.1.19041.1", "0.0", "2147483647.0"],
        &[],
        &["", "1", "1.", ".1", "1.2.3.4.5", "1.-2", "1.+2", "1.2147483648", "a.b", "1 .2"],
    );
    assert_ne!(Version::new(2, 3), Version::new(2, 3).with_revision(0, 0), "missing parts stay missing");
}
