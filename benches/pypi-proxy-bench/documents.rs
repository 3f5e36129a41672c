//! Pages as an index sends them. The Go peers generate the same ones.

use std::fmt::Write as _;

/// Files of the large page, as many as of a large project.
pub(crate) const FILES: usize = 3060;
/// Names in the list.
pub(crate) const NAMES: usize = 100_000;

/// SplitMix64 generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn hash(&mut self) -> String {
        (0..4).fold(String::new(), |mut text, _| {
            // Writing to a string can't fail.
            let _ = write!(text, "{:016x}", self.next());
            text
        })
    }
}

/// Page of a project with 3,060 files.
pub(crate) fn page() -> Vec<u8> {
    let mut random = Random(1);
    let mut out =
        String::from(r#"{"meta":{"api-version":"1.1"},"name":"numpy","versions":["1.0"],"files":["#);
    for number in 0..FILES {
        let comma = if number == 0 { "" } else { "," };
        let name = format!(
            "numpy-1.{}.{}-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            number / 70,
            number % 70
        );
        let (sha256, metadata) = (random.hash(), random.hash());
        let size = 10_000_000 + random.next() % 10_000_000;
        // Writing to a string can't fail.
        let _ = write!(
            out,
            r#"{comma}{{"core-metadata":{{"sha256":"{metadata}"}},"data-dist-info-metadata":{{"sha256":"{metadata}"}},"filename":"{name}","hashes":{{"sha256":"{sha256}"}},"requires-python":">=3.9","size":{size},"upload-time":"2024-01-01T00:00:00.000000Z","url":"https://files.example.org/packages/{}/{}/{sha256}/{name}","yanked":false}}"#,
            &sha256[..2],
            &sha256[2..4]
        );
    }
    out.push_str("]}");
    out.into_bytes()
}

/// List of 100,000 projects.
pub(crate) fn list() -> Vec<u8> {
    let mut random = Random(2);
    let mut out = String::from(r#"{"meta":{"api-version":"1.1"},"projects":["#);
    for number in 0..NAMES {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(out, r#"{comma}{{"name":"project-{:08x}-{number}"}}"#, random.next() >> 32);
    }
    out.push_str("]}");
    out.into_bytes()
}

/// The page of two files that groxpi's benchmark parses.
pub(crate) fn small() -> Vec<u8> {
    let file = |name: &str, hash: &str| {
        format!(
            r#"{{"filename":"{name}","url":"https://files.example.org/packages/{name}","hashes":{{"sha256":"{hash}"}},"requires-python":">=3.7","size":12345678,"upload-time":"2021-06-22T00:00:00Z","yanked":false}}"#
        )
    };
    format!(
        r#"{{"meta":{{"api-version":"1.0"}},"name":"numpy","files":[{},{}]}}"#,
        file("numpy-1.21.0-cp39-cp39-linux_x86_64.whl", "abc123def456"),
        file("numpy-1.21.0.tar.gz", "def456abc123")
    )
    .into_bytes()
}
