//! Changing messages while old readers and writers exist, and detecting changes in a test.
#![cfg(feature = "derive")]

use tightwire_parco::schema::{self, Schema, Verdict, compare, of};
use tightwire_parco::wire::adjust::structure;
use tightwire_parco::{Decode, Encode, decode_exact, to_vec};

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
    let (read, rest) = tightwire_parco::decode::<User>(&bytes).unwrap();
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
