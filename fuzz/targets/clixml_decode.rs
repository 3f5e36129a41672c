//! Any bytes: reading neither panics nor hangs, what was read survives writing, and the filter of console output loses
//! nothing.
#![no_main]

use std::io::Write;

use psrp::clixml::{ConsoleEvent, ConsoleFilter, Limits, Reader, WriteOptions, Writer};

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let mut writer = Writer::with_options(WriteOptions::new().max_depth(Limits::MAX_DEPTH));
    for item in Reader::new(input) {
        match item {
            Ok((_, value)) => {
                // Only references can make a value that is too deep to be written, or refer to what is gone.
                let Ok(written) = writer.write(&value) else { continue };
                let again = psrp::clixml::from_slice(written).expect("what was written can be read");
                assert_eq!(again, value);
            }
            Err(error) => assert!(error.offset().is_some_and(|offset| offset <= input.len() as u64)),
        }
    }
    let mut filter = ConsoleFilter::new();
    let (mut records, mut passed) = (0, Vec::new());
    let mut see = |event: ConsoleEvent<'_>| match event {
        ConsoleEvent::Text(text) => passed.write_all(text).expect("a vector takes all"),
        ConsoleEvent::Record(..) => records += 1,
        _ => {}
    };
    for piece in input.chunks(7) {
        filter.push(piece, &mut see);
    }
    filter.finish(&mut see);
    if records == 0 && !input.windows(9).any(|window| window == b"#< CLIXML") {
        assert_eq!(passed, input);
    }
});
