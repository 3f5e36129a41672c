//! Values that nest deep, on a stack of 512 KiB.

use psrp::clixml::{Limits, ReadOptions, Reader, WriteOptions, Writer};
use psrp::value::{ContainerKind, Members};
use psrp::{Object, Value};

/// Runs on a thread with a small stack, half of what a thread of the smallest common kind has.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(512 << 10).spawn(run).unwrap().join().unwrap();
}

/// Objects that hold each other in every way that there is.
fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::from(1), |inner, level| {
        let object = Object::builder();
        let object = match level % 6 {
            0 => object.extended("a", inner),
            1 => object.adapted("a", inner),
            2 => object.wrap(inner),
            3 => object.list(ContainerKind::Stack, [inner]),
            4 => object.dictionary([("a", inner)]),
            _ => {
                let members: Members = [("b", inner)].into_iter().collect();
                object.extended("a", Value::MemberSet(Box::new(members)))
            }
        };
        object.build().into()
    })
}

#[test]
fn documents_of_the_deepest_kind_are_handled() {
    on_small_stack(|| {
        let depth = Limits::MAX_DEPTH;
        for (start, end) in [
            ("<Obj N='Value'><MS>", "</MS></Obj>"),
            ("<Obj N='Value'><Props>", "</Props></Obj>"),
            ("<Obj N='Value'><LST>", "</LST></Obj>"),
            ("<Obj N='Value'><DCT><En><S N='Key'>a</S>", "</En></DCT></Obj>"),
        ] {
            let (start, end) = (start.repeat(depth - 1), end.repeat(depth - 1));
            let xml = format!("{start}<I32 N='Value'>1</I32>{end}");
            let options = ReadOptions::new().limits(Limits::new().max_depth(usize::MAX));
            let read = || Reader::with_options(xml.as_bytes(), options.clone()).next().unwrap().unwrap().1;
            let value = read();
            assert_eq!(value, read());
            assert!(!format!("{value:?}{value:#?}").is_empty());
            let mut writer = Writer::with_options(WriteOptions::new().max_depth(usize::MAX));
            writer.write(&value).unwrap();
            let again = Reader::with_options(&writer.take(), options.clone()).next().unwrap().unwrap().1;
            assert_eq!(value, again);
        }
    });
}

#[test]
fn what_is_put_together_by_hand_may_be_deeper() {
    on_small_stack(|| {
        let value = nested(100_000);
        assert_eq!(value, value.clone());
        assert_eq!(value, nested(100_000));
        assert_ne!(value, nested(100_006));
        assert!(format!("{value:?}").len() < 10_000);
        assert!(format!("{value:#?}").len() < 100_000);
        assert!(Writer::new().write(&value).unwrap_err().is_limit());
        let mut writer = Writer::with_options(WriteOptions::new().max_depth(usize::MAX));
        assert!(writer.write(&value).unwrap_err().is_limit());
        drop(value);

        let set = (0..100_000).fold(Members::new(), |inner, _| {
            [("a", Value::MemberSet(Box::new(inner)))].into_iter().collect()
        });
        drop(set);
    });
}

#[cfg(feature = "serde")]
#[test]
fn the_bridge_stops_at_its_budget() {
    use psrp::serde::{Budget, Plain};

    on_small_stack(|| {
        let value = nested(100_000);
        assert!(psrp::from_value::<serde_json::Value>(&value).unwrap_err().is_limit());
        assert!(serde_json::to_string(&Plain::new(&value)).is_err());
        assert!(serde_json::to_string(&Plain::new(&value).with_type_names()).is_err());

        let value = nested(usize::try_from(Budget::DEFAULT_MAX_DEPTH).unwrap() / 2);
        assert!(psrp::from_value::<serde_json::Value>(&value).is_ok());
        assert!(serde_json::to_string(&Plain::new(&value)).is_ok());
    });
}
