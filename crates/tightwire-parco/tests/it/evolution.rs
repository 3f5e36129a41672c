//! Changing messages while old readers and writers exist, and detecting changes in a test.
#![cfg(feature = "derive")]

use tightwire_parco::schema::{self, Schema, Verdict, compare, of};
use tightwire_parco::wire::adjust::{evolve, multi, structure};
use tightwire_parco::{Decode, DecodeOwned, Decoder, Encode, Encoder, Error, decode, decode_exact, to_vec};

#[derive(Debug, PartialEq, Encode, Decode)]
struct User {
    name: String,
    age: u8,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct UserWithEmail {
    name: String,
    age: u8,
    #[parco(default_on_eof)]
    email: Option<String>,
}

#[test]
fn fields_can_be_added_at_the_end() {
    let old = User { name: "Al".into(), age: 30 };
    let new = UserWithEmail { name: "Al".into(), age: 30, email: Some("a@example.org".into()) };

    let bytes = to_vec(&old).unwrap();
    let read: UserWithEmail = decode_exact(&bytes).unwrap();
    assert_eq!(read, UserWithEmail { name: "Al".into(), age: 30, email: None });

    let bytes = to_vec(&new).unwrap();
    let (read, rest) = decode::<User>(&bytes).unwrap();
    assert_eq!((read, rest.is_empty()), (old, false));
    assert!(decode_exact::<User>(&bytes).unwrap_err().is_trailing_bytes());

    let comparison = compare(&of::<User>(), &of::<UserWithEmail>());
    assert!(comparison.old_reads_new() && !comparison.new_reads_old() && !comparison.breaks());
    assert_eq!(comparison.to_string(), "email: added at the end (old readers read new messages)\n");
    let comparison = compare(&of::<UserWithEmail>(), &of::<User>());
    assert_eq!(comparison.to_string(), "email: removed from the end (new readers read old messages)\n");
    assert!(comparison.new_reads_old() && !comparison.old_reads_new());
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct Sensor {
    id: u32,
    #[parco(skip = 8)]
    reserved: (),
    label: String,
}

#[derive(Debug, PartialEq, Encode, Decode)]
struct SensorWithRange {
    id: u32,
    low: i16,
    high: i16,
    #[parco(skip = 4)]
    reserved: (),
    label: String,
}

#[test]
fn reserved_bytes_can_become_fields() {
    let old = to_vec(&Sensor { id: 7, reserved: (), label: "roof".into() }).unwrap();
    let read: SensorWithRange = decode_exact(&old).unwrap();
    assert_eq!(read, SensorWithRange { id: 7, low: 0, high: 0, reserved: (), label: "roof".into() });

    let new = SensorWithRange { id: 7, low: -40, high: 85, reserved: (), label: "roof".into() };
    let read: Sensor = decode_exact(&to_vec(&new).unwrap()).unwrap();
    assert_eq!(read, Sensor { id: 7, reserved: (), label: "roof".into() });

    let comparison = compare(&of::<Sensor>(), &of::<SensorWithRange>());
    assert!(comparison.is_same_wire());
    assert_eq!(
        comparison.to_string(),
        "low: uses reserved bytes, which are zeros in old messages (same wire)\n\
         high: uses reserved bytes, which are zeros in old messages (same wire)\n"
    );
    assert!(compare(&of::<SensorWithRange>(), &of::<Sensor>()).is_same_wire());
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = u8)]
enum Event {
    #[parco(id = 1)]
    User(User),
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = u8)]
enum EventWithVersions {
    #[parco(id = 1)]
    User(User),
    #[parco(id = 2)]
    UserTwo(UserWithEmail),
}

#[test]
fn registry_supports_versions_of_a_model() {
    let old = to_vec(&Event::User(User { name: "Al".into(), age: 30 })).unwrap();
    let read: EventWithVersions = decode_exact(&old).unwrap();
    assert_eq!(read, EventWithVersions::User(User { name: "Al".into(), age: 30 }));

    let new = UserWithEmail { name: "Al".into(), age: 30, email: None };
    let bytes = to_vec(&EventWithVersions::UserTwo(new)).unwrap();
    assert!(decode_exact::<Event>(&bytes).unwrap_err().is_unknown_type());

    let comparison = compare(&of::<Event>(), &of::<EventWithVersions>());
    assert_eq!(comparison.to_string(), "[2]: model added (new readers read old messages)\n");
    let comparison = compare(&of::<EventWithVersions>(), &of::<Event>());
    assert_eq!(comparison.to_string(), "[2]: model removed (old readers read new messages)\n");
}

#[derive(Encode)]
struct FingerprintedUser {
    id: u32,
    owner: User,
    tags: Vec<String>,
}

#[derive(Encode)]
struct RenamedFields {
    number: u32,
    owner_name: String,
    owner_age: u8,
    labels: Vec<String>,
}

#[test]
fn fingerprint_can_be_pinned() {
    let pinned = "f3354f52103e9691";
    assert_eq!(of::<FingerprintedUser>().canonical(), "(u32le bytes(varint) u8 slice(varint bytes(varint)))");
    assert_eq!(schema::fingerprint::<FingerprintedUser>().to_string(), pinned);
    // Names and nesting are not encoded.
    assert_eq!(schema::fingerprint::<RenamedFields>().to_string(), pinned);
    assert_ne!(schema::fingerprint::<User>(), schema::fingerprint::<UserWithEmail>());

    let comparison = compare(&of::<FingerprintedUser>(), &of::<RenamedFields>());
    assert!(comparison.is_same_wire());
    let paths: Vec<_> = comparison.changes.iter().map(|change| &*change.path).collect();
    assert_eq!(paths, ["number", "owner_name", "owner_age", "labels"]);
}

#[test]
fn breaking_changes_are_reported_with_their_path() {
    let list = |element| Schema::Slice { header: Box::new(of::<u8>()), element: Box::new(element) };
    let old = structure([
        ("id", of::<u16>()),
        ("tags", of::<Vec<String>>()),
        ("pets", list(structure([("age", of::<u8>())]))),
        ("flag", of::<bool>()),
        ("a", of::<u8>()),
        ("b", of::<u8>()),
        ("keys", of::<[u32; 4]>()),
    ]);
    let new = structure([
        ("id", of::<u32>()),
        ("tags", list(of::<String>())),
        ("pets", list(structure([("age", of::<u8>()), ("name", of::<String>())]))),
        ("extra", of::<bool>()),
        ("flag", of::<bool>()),
        ("b", of::<u8>()),
        ("a", of::<u8>()),
        ("keys", of::<[u32; 5]>()),
    ]);
    let comparison = compare(&old, &new);
    assert!(comparison.breaks() && !comparison.is_same_wire());
    assert_eq!(
        comparison.to_string(),
        "id: u16le became u32le (breaks)\n\
         tags: the header varint became u8 (breaks)\n\
         pets[].name: added at the end (breaks)\n\
         extra: inserted (breaks)\n\
         b: moved (breaks)\n\
         a: moved (breaks)\n\
         keys: 4 elements became 5 (breaks)\n"
    );
    assert!(comparison.changes.iter().all(|change| change.verdict == Verdict::Breaks));
    assert!(compare(&old, &old).changes.is_empty());
}

#[derive(Encode)]
struct Tree {
    value: u8,
    children: Vec<Self>,
}

#[derive(Encode)]
struct TreeOfBytes {
    key: u8,
    below: Vec<Self>,
}

#[derive(Encode)]
struct TreeOfNumbers {
    value: u16,
    children: Vec<Self>,
}

#[test]
fn recursive_types_can_be_compared() {
    assert!(compare(&of::<Tree>(), &of::<TreeOfBytes>()).is_same_wire());
    assert_eq!(schema::fingerprint::<Tree>(), schema::fingerprint::<TreeOfBytes>());
    let comparison = compare(&of::<Tree>(), &of::<TreeOfNumbers>());
    assert_eq!(comparison.to_string(), "value: u8 became u16le (breaks)\n");
    // Expanding one level of the recursion keeps the encoding, but comparing two trees cannot detect that.
    let tree = of::<Tree>();
    let unrolled = structure([("value", of::<u8>()), ("children", of::<Vec<Tree>>())]);
    assert!(compare(&tree, &unrolled).breaks());
}

/// The message names what changed, also if only one of the types contains itself.
#[test]
fn types_can_become_recursive() {
    let option = |levels| Schema::Option(Box::new(Schema::Recursive(levels)));
    let value = || ("value", of::<u8>());
    let (plain, list) = (evolve(1, [value()]), evolve(1, [value(), ("next", option(1))]));
    let other = evolve(1, [value(), ("next", of::<Option<u8>>())]);
    let (bool, next) = (("0", "", Schema::Bool), ("1", "", option(1)));
    let (unit, tree) = (multi(of::<u8>(), [bool.clone()]), multi(of::<u8>(), [bool, next]));
    // Both contain a type that contains itself, which is not the same one.
    let nested = |levels| evolve(2, [value(), ("inner", evolve(2, [value(), ("next", option(levels))]))]);
    for (old, new, expected) in [
        (&plain, &list, "next: added at the end (compatible)\n"),
        (&list, &plain, "next: removed from the end (compatible)\n"),
        (&list, &other, "next?: recursive became uint8 (breaks)\n"),
        (&unit, &tree, "[1]: model added (new readers read old messages)\n"),
        (&tree, &unit, "[1]: model removed (old readers read new messages)\n"),
        (&nested(1), &nested(2), "inner.next?: refers to another struct (breaks)\n"),
    ] {
        assert_eq!(compare(old, new).to_string(), expected);
    }
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(evolve)]
struct Account {
    id: u32,
    #[parco(default_on_eof)]
    name: String,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(evolve)]
struct AccountWithEmail {
    id: u32,
    #[parco(default_on_eof)]
    name: String,
    #[parco(default_on_eof)]
    email: String,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(evolve)]
struct AccountWithState {
    id: u32,
    name: String,
    state: u8,
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(evolve)]
struct AccountWithoutName {
    number: u32,
}

#[test]
fn appended_fields_of_evolve_structs_are_compatible() {
    let old = of::<Vec<Account>>();
    let comparison = compare(&old, &of::<Vec<AccountWithEmail>>());
    assert_eq!(comparison.to_string(), "[].email: added at the end (compatible)\n");
    assert!(comparison.old_reads_new() && comparison.new_reads_old());
    assert!(!comparison.is_same_wire() && !comparison.breaks());
    // A field that is required is missing in old messages.
    let comparison = compare(&old, &of::<Vec<AccountWithState>>());
    let expected = "[].name: became required (old readers read new messages)\n[].state: added at the end (old readers read new messages)\n";
    assert_eq!(comparison.to_string(), expected);
    let comparison = compare(&old, &of::<Vec<AccountWithoutName>>());
    let expected = "[].number: renamed from id (same wire)\n[].name: removed from the end (compatible)\n";
    assert_eq!(comparison.to_string(), expected);
    let comparison = compare(&of::<AccountWithState>(), &of::<Account>());
    let expected = "name: is no longer required (new readers read old messages)\nstate: removed from the end (new readers read old messages)\n";
    assert_eq!(comparison.to_string(), expected);

    // Messages with the default end before the field.
    let fields = vec![("id".to_owned(), of::<u32>()), ("name".to_owned(), of::<String>())];
    let [one, two] = [1, 2].map(|required| Schema::Evolve { required, fields: fields.clone() });
    let became_required = "name: became required (old readers read new messages)\n";
    assert_eq!(compare(&one, &two).to_string(), became_required);
    let is_optional = "name: is no longer required (new readers read old messages)\n";
    assert_eq!(compare(&two, &one).to_string(), is_optional);

    let plain = structure([("id", of::<u32>()), ("name", of::<String>())]);
    assert_eq!(compare(&plain, &of::<Account>()).to_string(), "the message: struct became evolve (breaks)\n");
    assert_eq!(of::<Account>().canonical(), "evolve(u32le bytes(varint))");
    assert_ne!(of::<Account>().fingerprint(), plain.fingerprint());
    assert_ne!(of::<Account>().fingerprint(), of::<AccountWithEmail>().fingerprint());
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = u8)]
enum Kind {
    #[parco(id = 1)]
    One(u8),
}

#[derive(Debug, PartialEq, Encode, Decode)]
#[parco(id = u8)]
enum KindOfTwo {
    #[parco(id = 1)]
    One(u8),
    #[parco(id = 2)]
    Two(u8),
}

#[derive(Debug, PartialEq, Encode, Decode)]
enum Pair {
    First(u8),
    Second(u8),
}

mod pair {
    use super::{Decode, Encode};

    #[derive(Debug, PartialEq, Encode, Decode)]
    pub(super) enum Renamed {
        First(u8),
        Last(u8),
    }

    #[derive(Debug, PartialEq, Encode, Decode)]
    pub(super) enum Inserted {
        First(u8),
        Middle(u8),
        Second(u8),
    }

    #[derive(Debug, PartialEq, Encode, Decode)]
    pub(super) enum Swapped {
        Second(u8),
        First(u8),
    }

    #[derive(Debug, PartialEq, Encode, Decode)]
    pub(super) enum Removed {
        Second(u8),
    }
}

#[test]
fn variants_are_matched_by_name() {
    let named = |text: &str| Schema::from_json(text).unwrap();
    let multi =
        |models: &str| named(&format!(r#"{{"t": "multi", "header": {{"t": "uint8"}}, "models": {models}}}"#));
    let bare = multi(r#"{"0": {"t": "uint8"}, "1": {"t": "uint8"}}"#);
    let swapped = multi(r#"{"0": {"t": "uint8"}, "1": {"t": "uint8"}}, "names": {"0": "B", "1": "A"}"#);
    let straight = multi(r#"{"0": {"t": "uint8"}, "1": {"t": "uint8"}}, "names": {"0": "A", "1": "B"}"#);
    let moved = "[0]: `B` had the id 1 (breaks)\n[1]: `A` had the id 0 (breaks)\n";
    for (old, new, expected) in [
        (of::<Pair>(), of::<pair::Renamed>(), "[1]: renamed from `Second` to `Last` (same wire)\n"),
        (
            of::<Pair>(),
            of::<pair::Inserted>(),
            "[1]: was the id of `Second` (breaks)\n[2]: `Second` had the id 1 (breaks)\n",
        ),
        (of::<pair::Inserted>(), of::<Pair>(), "[1]: `Second` had the id 2 (breaks)\n"),
        (
            of::<Pair>(),
            of::<pair::Swapped>(),
            "[0]: `Second` had the id 1 (breaks)\n[1]: `First` had the id 0 (breaks)\n",
        ),
        (of::<Pair>(), of::<pair::Removed>(), "[0]: `Second` had the id 1 (breaks)\n"),
        (
            of::<Vec<Option<Pair>>>(),
            of::<Vec<Option<pair::Removed>>>(),
            "[]?[0]: `Second` had the id 1 (breaks)\n",
        ),
        (straight.clone(), swapped.clone(), moved),
        // Without names, only ids can be compared.
        (bare.clone(), swapped.clone(), ""),
        (straight.clone(), bare, ""),
    ] {
        let comparison = compare(&old, &new);
        assert_eq!(comparison.to_string(), expected);
        assert_eq!(comparison.breaks(), expected.contains("breaks"));
        assert_eq!(old.fingerprint() == new.fingerprint(), old == new);
        assert_eq!(Schema::from_json(&new.to_json()).unwrap(), new);
    }
}

#[test]
fn models_of_registries_are_matched_by_the_name_of_their_type() {
    let registry = |ids: [u8; 2]| {
        let mut registry =
            tightwire_parco::Registry::<tightwire_parco::wire::U8, u8>::new(Default::default());
        registry.register_type::<Account>(ids[0]).unwrap();
        registry.register_type::<Vec<AccountWithEmail>>(ids[1]).unwrap();
        schema::of_wire(&registry)
    };
    let comparison = compare(&registry([1, 2]), &registry([2, 1]));
    let expected =
        "[1]: `Vec<AccountWithEmail>` had the id 2 (breaks)\n[2]: `Account` had the id 1 (breaks)\n";
    assert_eq!(comparison.to_string(), expected);
}

/// Types that have the same bytes and another meaning.
#[test]
fn types_with_another_meaning_have_another_fingerprint() {
    use std::net::{Ipv4Addr, Ipv6Addr};
    use std::time::Duration;

    let groups = [
        vec![of::<(u64, u64)>(), of::<u128>(), of::<i128>(), of::<std::num::NonZero<i128>>()],
        vec![of::<u32>(), of::<char>()],
        vec![of::<[u8; 4]>(), of::<Ipv4Addr>()],
        vec![of::<[u8; 16]>(), of::<Ipv6Addr>(), of::<uuid::Uuid>(), of::<rust_decimal::Decimal>()],
        vec![of::<(u64, u32)>(), of::<Duration>()],
        vec![of::<(i64, i32)>(), of::<chrono::TimeDelta>()],
        vec![of::<(i64, u32)>(), of::<chrono::DateTime<chrono::Utc>>()],
        vec![of::<(i64, u32, i32)>(), of::<time::OffsetDateTime>()],
        vec![of::<(i32, u8, u8)>(), of::<chrono::NaiveDate>()],
        vec![of::<(u8, u8, u8, u32)>(), of::<time::Time>()],
        vec![of::<i64>(), of::<tightwire_parco::Timestamp>()],
    ];
    for group in groups {
        for (index, one) in group.iter().enumerate() {
            let again = Schema::from_json(&one.to_json()).unwrap();
            assert_eq!((&again, again.fingerprint()), (one, one.fingerprint()));
            for other in &group[..index] {
                let is_same_number = one.canonical().contains("i128") && other.canonical().contains("i128");
                let nested = [one, other].map(|schema| structure([("a", schema.clone()), ("b", of::<u8>())]));
                assert_eq!(one.fingerprint() == other.fingerprint(), is_same_number, "{}", one.canonical());
                assert_eq!(compare(one, other).breaks(), !is_same_number, "{}", one.canonical());
                assert_eq!(compare(&nested[0], &nested[1]).breaks(), !is_same_number);
                assert_eq!(nested[0].fingerprint() == nested[1].fingerprint(), is_same_number);
            }
        }
    }
    assert_eq!(of::<Option<u128>>().canonical(), "option(u128:(u64le u64le))");
    // Types of different crates with one meaning.
    assert_eq!(of::<chrono::NaiveDate>(), of::<time::Date>());
    assert_eq!(of::<chrono::DateTime<chrono::FixedOffset>>(), of::<time::OffsetDateTime>());
    assert!(Schema::from_json(r#"{"t": "bool", "logical": "a:b"}"#).unwrap_err().is_invalid());
}

/// A struct inside of a message.
#[derive(Debug, PartialEq, Encode, Decode)]
struct Outer<T> {
    inner: T,
    after: u32,
}

/// A message of each version, and how the other version should decode it.
struct Versions<O, N> {
    old: O,
    old_as_new: N,
    new: N,
    new_as_old: O,
}

/// Returns how a value is decoded.
fn outcome<T: PartialEq>(decoded: Result<T, Error>, expected: &T) -> &'static str {
    match decoded {
        Ok(value) if value == *expected => "yes",
        Err(error) if error.is_schema_mismatch() => "mismatch",
        Err(_) => "error",
        Ok(_) => "wrong",
    }
}

fn last<W: Encode, R: DecodeOwned + PartialEq>(written: &W, expected: &R) -> &'static str {
    let bytes = to_vec(written).unwrap();
    outcome(decode::<R>(&bytes).map(|(value, _)| value), expected)
}

fn nested<W: Encode, R: DecodeOwned + PartialEq>(written: W, expected: R) -> &'static str
where
    Outer<W>: Encode,
    Outer<R>: DecodeOwned,
{
    last(&Outer { inner: written, after: 0x0101 }, &Outer { inner: expected, after: 0x0101 })
}

fn with_fingerprint<W: Encode, R: Encode + DecodeOwned + PartialEq>(
    written: &W,
    expected: &R,
) -> &'static str {
    let mut encoder = Encoder::new(Vec::new()).with_fingerprint(schema::fingerprint::<W>());
    encoder.encode(written).unwrap();
    let bytes = encoder.into_inner();
    let mut decoder = Decoder::new(&*bytes).with_fingerprint(schema::fingerprint::<R>());
    outcome(decoder.decode::<R>().map(Option::unwrap), expected)
}

const GUIDE: &str = include_str!("../../src/schema/evolution.rs");

/// Returns the rows of the table of changes in the guide: the change, and its cells.
fn rows() -> impl Iterator<Item = (&'static str, [[&'static str; 2]; 4])> {
    let lines = GUIDE.lines().skip_while(|line| !line.starts_with("//! | change |")).skip(2);
    lines.map_while(|line| line.strip_prefix("//! | ")).map(|line| {
        let cells: Vec<&str> = line.trim_end_matches('|').split('|').map(str::trim).collect();
        let [change, cells @ ..] = &cells[..] else { panic!("no change: {line}") };
        let cells: Vec<[&str; 2]> = cells
            .iter()
            .map(|cell| cell.split(", ").collect::<Vec<_>>().try_into().expect("two results"))
            .collect();
        (*change, cells.try_into().expect("four cells"))
    })
}

/// Checks the results of a row of the table, in the order of its cells.
fn check(change: &str, found: [[&str; 2]; 4]) {
    let (_, cells) = rows().find(|(name, _)| *name == change).expect("the table has the change");
    let columns = ["at the end", "nested", "evolve", "with fingerprint"];
    for (column, (documented, found)) in columns.iter().zip(cells.iter().zip(&found)) {
        for (direction, (documented, found)) in
            ["old reads new", "new reads old"].iter().zip(documented.iter().zip(found))
        {
            let is_right = match *documented {
                "yes" | "default" => *found == "yes",
                "wrong" => matches!(*found, "wrong" | "error"),
                other => *found == other,
            };
            assert!(is_right, "{change}, {column}, {direction}: {documented} in the guide, found {found}");
        }
    }
}

/// Defines both versions of a struct, without and with `evolve`, and a test of all cells of a row of the table.
macro_rules! changes {
    ($($test:ident: $change:literal
        $old:tt old $old_value:tt as new $old_as_new:tt
        $new:tt new $new_value:tt as old $new_as_old:tt)*) => {
        $(mod $test {
            use super::*;

            changes!(@versions plain [] $old $old_value $old_as_new $new $new_value $new_as_old);
            changes!(@versions evolve [#[parco(evolve)]] $old $old_value $old_as_new $new $new_value $new_as_old);

            #[test]
            fn cells() {
                let Versions { old, old_as_new, new, new_as_old } = plain::versions();
                let last = [last(&new, &new_as_old), last(&old, &old_as_new)];
                let fingerprint = [with_fingerprint(&new, &new_as_old), with_fingerprint(&old, &old_as_new)];
                let inside = [nested(new, new_as_old), nested(old, old_as_new)];
                let Versions { old, old_as_new, new, new_as_old } = evolve::versions();
                let at_the_end = [super::last(&new, &new_as_old), super::last(&old, &old_as_new)];
                let evolve = [nested(new, new_as_old), nested(old, old_as_new)];
                check($change, [last, inside, evolve, fingerprint]);
                check($change, [last, inside, at_the_end, fingerprint]);
            }
        })*

        #[test]
        fn every_row_of_the_table_is_tested() {
            let tested = [$($change),*];
            assert_eq!(rows().map(|(change, _)| change).collect::<Vec<_>>(), tested);
        }
    };
    (@versions $module:ident [$($attribute:tt)*] $old:tt $old_value:tt $old_as_new:tt
        $new:tt $new_value:tt $new_as_old:tt) => {
        mod $module {
            use super::*;

            #[derive(Debug, PartialEq, Encode, Decode)]
            $($attribute)*
            pub(super) struct Old $old

            #[derive(Debug, PartialEq, Encode, Decode)]
            $($attribute)*
            pub(super) struct New $new

            pub(super) fn versions() -> Versions<Old, New> {
                Versions {
                    old: Old $old_value,
                    old_as_new: New $old_as_new,
                    new: New $new_value,
                    new_as_old: Old $new_as_old,
                }
            }
        }
    };
}

changes! {
    rename: "rename a field or type"
        { first: u8, text: String }
        old { first: 1, text: "ab".into() } as new { number: 1, title: "ab".into() }
        { number: u8, title: String }
        new { number: 3, title: "cd".into() } as old { first: 3, text: "cd".into() }
    append_with_default: "append a field with `default_on_eof`"
        { first: u8, text: String }
        old { first: 1, text: "ab".into() } as new { first: 1, text: "ab".into(), more: 0 }
        { first: u8, text: String, #[parco(default_on_eof)] more: u16 }
        new { first: 3, text: "cd".into(), more: 7 } as old { first: 3, text: "cd".into() }
    append_required: "append a field without it"
        { first: u8, text: String }
        old { first: 1, text: "ab".into() } as new { first: 1, text: "ab".into(), more: 0 }
        { first: u8, text: String, more: u16 }
        new { first: 3, text: "cd".into(), more: 7 } as old { first: 3, text: "cd".into() }
    remove_with_default: "remove the last field, with `default_on_eof`"
        { first: u8, text: String, #[parco(default_on_eof)] more: u16 }
        old { first: 1, text: "ab".into(), more: 7 } as new { first: 1, text: "ab".into() }
        { first: u8, text: String }
        new { first: 3, text: "cd".into() } as old { first: 3, text: "cd".into(), more: 0 }
    remove_required: "remove the last field, without it"
        { first: u8, text: String, more: u16 }
        old { first: 1, text: "ab".into(), more: 7 } as new { first: 1, text: "ab".into() }
        { first: u8, text: String }
        new { first: 3, text: "cd".into() } as old { first: 3, text: "cd".into(), more: 0 }
    reserved: "replace reserved bytes with a field"
        { first: u8, #[parco(skip = 4)] reserved: (), text: String }
        old { first: 1, reserved: (), text: "ab".into() } as new { first: 1, more: 0, reserved: (), text: "ab".into() }
        { first: u8, more: u16, #[parco(skip = 2)] reserved: (), text: String }
        new { first: 3, more: 7, reserved: (), text: "cd".into() } as old { first: 3, reserved: (), text: "cd".into() }
    add_variant: "add an enum variant"
        { first: u8, kind: Kind }
        old { first: 1, kind: Kind::One(5) } as new { first: 1, kind: KindOfTwo::One(5) }
        { first: u8, kind: KindOfTwo }
        new { first: 3, kind: KindOfTwo::Two(6) } as old { first: 3, kind: Kind::One(6) }
    remove_variant: "remove an enum variant"
        { first: u8, kind: KindOfTwo }
        old { first: 1, kind: KindOfTwo::Two(5) } as new { first: 1, kind: Kind::One(5) }
        { first: u8, kind: Kind }
        new { first: 3, kind: Kind::One(6) } as old { first: 3, kind: KindOfTwo::One(6) }
    rename_variant: "rename an enum variant"
        { first: u8, kind: Pair }
        old { first: 1, kind: Pair::Second(5) } as new { first: 1, kind: pair::Renamed::Last(5) }
        { first: u8, kind: pair::Renamed }
        new { first: 3, kind: pair::Renamed::First(6) } as old { first: 3, kind: Pair::First(6) }
    insert_variant: "insert an enum variant"
        { first: u8, kind: Pair }
        old { first: 1, kind: Pair::Second(5) } as new { first: 1, kind: pair::Inserted::Second(5) }
        { first: u8, kind: pair::Inserted }
        new { first: 3, kind: pair::Inserted::Second(6) } as old { first: 3, kind: Pair::Second(6) }
    swap_variants: "swap two enum variants"
        { first: u8, kind: Pair }
        old { first: 1, kind: Pair::Second(5) } as new { first: 1, kind: pair::Swapped::Second(5) }
        { first: u8, kind: pair::Swapped }
        new { first: 3, kind: pair::Swapped::First(6) } as old { first: 3, kind: Pair::First(6) }
    meaning: "give a value another meaning"
        { first: u8, number: i128 }
        old { first: 1, number: -1 } as new { first: 1, number: 0 }
        { first: u8, number: u128 }
        new { first: 3, number: u128::MAX } as old { first: 3, number: 0 }
    insert: "insert a field"
        { first: u8, text: String }
        old { first: 1, text: "ab".into() } as new { first: 1, more: 0, text: "ab".into() }
        { first: u8, more: u16, text: String }
        new { first: 3, more: 7, text: "cd".into() } as old { first: 3, text: "cd".into() }
    reorder: "reorder fields"
        { first: u8, text: String }
        old { first: 1, text: "ab".into() } as new { text: "ab".into(), first: 1 }
        { text: String, first: u8 }
        new { text: "cd".into(), first: 3 } as old { first: 3, text: "cd".into() }
    swap: "swap two fields of the same type"
        { first: u8, second: u8 }
        old { first: 1, second: 2 } as new { first: 1, second: 2 }
        { second: u8, first: u8 }
        new { first: 3, second: 4 } as old { first: 3, second: 4 }
    widen: "widen a number"
        { number: u16, text: String }
        old { number: 1, text: "ab".into() } as new { number: 1, text: "ab".into() }
        { number: u32, text: String }
        new { number: 3, text: "cd".into() } as old { number: 3, text: "cd".into() }
    header: "change the type of a length"
        { text: String, last: u8 }
        old { text: "ab".into(), last: 1 } as new { text: "ab".into(), last: 1 }
        { #[parco(header = u16)] text: String, last: u8 }
        new { text: "cd".into(), last: 3 } as old { text: "cd".into(), last: 3 }
    optional: "make a field optional"
        { first: u8, text: String }
        old { first: 1, text: "ab".into() } as new { first: Some(1), text: "ab".into() }
        { first: Option<u8>, text: String }
        new { first: Some(3), text: "cd".into() } as old { first: 3, text: "cd".into() }
    order: "change a byte order"
        { number: u16, text: String }
        old { number: 1, text: "ab".into() } as new { number: 1, text: "ab".into() }
        { #[parco(be)] number: u16, text: String }
        new { number: 3, text: "cd".into() } as old { number: 3, text: "cd".into() }
}
