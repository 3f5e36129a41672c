//! Decodes arbitrary bytes with arbitrary limits. The reader must not panic or hang, decoded values must survive a
//! round trip, and the console filter must lose nothing and give the same result for every chunking. The first bytes of
//! the input choose the limits and the chunks.
#![no_main]

#[path = "../../crates/psrp/tests/support/console.rs"]
mod console;

use psrp::clixml::{Limits, ReadOptions, Reader, WriteOptions, Writer};

use self::console::{Seen, filtered};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&[size, decoded, depth, nodes, piece], input)) = input.split_first_chunk() else { return };
    // Small limits; the largest number means no limit.
    let limit = |number: u8, unit: usize| if number == u8::MAX { usize::MAX } else { usize::from(number) * unit };
    let limits = Limits::new()
        .max_size(limit(size, 4))
        .max_decoded_size(limit(decoded, 64))
        .max_depth(limit(depth, 1))
        .max_nodes(limit(nodes, 1));
    let options = ReadOptions::new().limits(limits);
    let mut writer = Writer::with_options(WriteOptions::new().max_depth(Limits::MAX_DEPTH));
    for item in Reader::with_options(input, options.clone()) {
        match item {
            Ok((_, value)) => {
                // References can make a value too deep to write, or refer to an enclosing object that no longer exists.
                let Ok(written) = writer.write(&value) else { continue };
                let all = ReadOptions::new().limits(
                    Limits::new()
                        .max_size(usize::MAX)
                        .max_decoded_size(usize::MAX)
                        .max_depth(Limits::MAX_DEPTH)
                        .max_nodes(usize::MAX),
                );
                let again = Reader::with_options(written, all).next().expect("a value was written");
                assert_eq!(again.expect("what was written can be read").1, value);
            }
            Err(error) => assert!(error.offset().is_some_and(|offset| offset <= input.len() as u64)),
        }
    }
    let whole = filtered(&options, [input]);
    assert_eq!(filtered(&options, input.chunks(usize::from(piece).max(1))), whole);
    if !input.windows(9).any(|window| window == b"#< CLIXML") {
        assert!(input.is_empty() || whole == [Seen::Text(input.to_vec())]);
    }
});
