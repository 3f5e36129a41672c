//! CLIXML of generated values, through PowerShell's reader and writer; and of PowerShell's values, through ours.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use psrp::clixml::{Reader, Writer};
use psrp::value::{Base, ContainerKind, DateTimeKind, PsString};
use psrp::{Object, Value};
use test_support::optional;

use crate::support::values::{any_primitive, any_text};

const VALUES: usize = 2000;

/// Escapes that PowerShell reads, but fails to write.
const NOT_WRITTEN: [&str; 2] = ["_xFFFE_", "_xFFFF_"];

/// PowerShell expressions, one per line.
const EXPRESSIONS: &str = r#"
$null, $true, 'text', "`u{1F600}_x0041_`0`r`n <&>", '', [char]'c', [guid]::Empty, [version]'1.2.3', [uri]'https://example.org/'
[sbyte]-1, [byte]1, [int16]-1, [uint16]1, -1, 1u, -1L, 1ul, 1.5, [single]0.1, 1.10d, [double]::NaN, [double]::NegativeInfinity
[datetime]'2020-01-02T03:04:05', [datetime]::MaxValue, [datetimeoffset]::UnixEpoch, [timespan]'1.02:03:04.5', [timespan]::MinValue
,[byte[]](1, 2), ,@(), ,@(1, @(2, @(3))), [xml]'<a b="c">d</a>', { 1 + 1 }, [ConsoleColor]::Red, [regex]'a'
@{ a = 1; 2 = @{ } }, [ordered]@{ b = 1; a = 2 }, [pscustomobject]@{ Name = 'n'; List = 1, 2; Inner = [pscustomobject]@{ } }
,[Collections.Generic.Queue[int]][int[]](1, 2), ,[Collections.Generic.Stack[int]][int[]](1, 2), ,[Collections.Generic.List[string]]'a'
,[Collections.Generic.HashSet[int]][int[]](1, 2), [Collections.Generic.Dictionary[string, int]]::new(), [Tuple]::Create(1, 'a')
$(try { throw 'away' } catch { $_ }), $(try { 1 / 0 } catch { $_ }), [Exception]'e'
[Management.Automation.ProgressRecord]::new(1, 'a', 's'), [net.ipaddress]::Loopback, [intptr]1, [bigint]1, [Half]1
(5 | Add-Member -PassThru note 'n'), ('s' | Add-Member -PassThru note @(1)), $($o = [pscustomobject]@{ a = 1 }; ,@($o, $o))
"#;

/// Primitives, lists, dictionaries and objects with members.
fn any_preserved_value() -> impl Strategy<Value = Value> {
    let primitive = || any_primitive().prop_filter_map("PowerShell keeps it", preserved);
    let leaf = prop_oneof![1 => Just(Value::Nil), 9 => primitive()];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        let kind =
            prop_oneof![Just(ContainerKind::List), Just(ContainerKind::Queue), Just(ContainerKind::Stack)];
        let named = |prefix: &'static str| {
            // PowerShell ignores the case of names: a number makes each unique.
            vec((any_text(), inner.clone()), 0..4).prop_map(move |members| {
                let members = members.into_iter().enumerate();
                members.map(|(at, (name, value))| (numbered(prefix, at, &name), value)).collect::<Vec<_>>()
            })
        };
        let types = vec(prop_oneof![Just("Type.A"), Just("Type.B`1[[C, D]]"), Just("E")], 1..3);
        prop_oneof![
            (kind, vec(inner.clone(), 0..5)).prop_map(|(kind, items)| list(kind, items).into()),
            inner.clone().prop_map(|shared| list(ContainerKind::List, vec![shared.clone(), shared]).into()),
            named("").prop_map(|entries| Object::dictionary(entries).into()),
            named("").prop_map(|members| Object::custom(members).into()),
            (types, any_text(), named("a"), named("e")).prop_map(|(types, text, adapted, extended)| {
                let mut object = Object::builder().type_names(types).to_string(text);
                for (name, value) in adapted {
                    object = object.adapted(name, value);
                }
                for (name, value) in extended {
                    object = object.extended(name, value);
                }
                object.build().into()
            }),
            (primitive(), named("e")).prop_map(|(primitive, extended)| {
                let object = Object::builder().wrap(primitive).extended("first", 1);
                extended
                    .into_iter()
                    .fold(object, |object, (name, value)| object.extended(name, value))
                    .build()
                    .into()
            }),
        ]
    })
}

fn numbered(prefix: &str, number: usize, name: &PsString) -> PsString {
    let start = format!("{prefix}{number}");
    PsString::from_utf16(&start.encode_utf16().chain(name.to_utf16()).collect::<Vec<_>>())
}

fn list(kind: ContainerKind, items: Vec<Value>) -> Object {
    let name = match kind {
        ContainerKind::Queue => "System.Collections.Queue",
        ContainerKind::Stack => "System.Collections.Stack",
        _ => "System.Collections.ArrayList",
    };
    Object::builder().type_names([name, "System.Object"]).list(kind, items).build()
}

/// Omits or replaces primitives that PowerShell's reader changes or rejects.
fn preserved(value: Value) -> Option<Value> {
    match value {
        // Its key belongs to a session.
        Value::SecureString(_) => None,
        // Invalid ones are rejected.
        Value::Uri(_) => Some(Value::Uri("https://example.org/a?b=c".into())),
        Value::Xml(_) => Some(Value::Xml("<a b=\"c\">d</a>".into())),
        // A script block arrives as text.
        Value::ScriptBlock(text) => Some(Value::String(text)),
        // A time with an offset is converted to the time zone of the machine.
        Value::DateTime(time) if matches!(time.kind(), DateTimeKind::Local(_)) => None,
        // The class has these limits, and no empty operation.
        Value::Progress(mut record) => {
            record.activity = numbered("a", 0, &record.activity);
            record.status_description = numbered("s", 0, &record.status_description);
            record.current_operation = record.current_operation.filter(|text| !text.is_empty());
            record.percent_complete %= 101;
            record.activity_id &= i32::MAX;
            record.parent_activity_id = -1;
            Some(record.into())
        }
        value => Some(value),
    }
}

/// Returns PowerShell's output for these arguments and this standard input.
fn powershell(pwsh: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut command = Command::new(pwsh);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut stdin = process.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input));
        process.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Writes the values, lets PowerShell read and write them, and returns its document of each.
fn through_powershell(pwsh: &Path, values: &[Value]) -> Vec<String> {
    let mut writer = Writer::new();
    let document = writer.write_document(values.iter().map(|value| (None, value))).unwrap();
    let text = powershell(pwsh, &["-deserialize", "-Depth", "20"], document);
    text.lines().filter(|line| line.starts_with("<Objs ")).map(str::to_owned).collect()
}

fn read(document: &str) -> Value {
    let (_, value) = Reader::new(document.as_bytes()).next().expect("a value").unwrap();
    value
}

/// Formats PowerShell's document as we write it: without white space between elements, and with short empty tags.
fn compact(document: &str) -> String {
    let mut text = String::new();
    let mut parts = document.split('<').skip(1).filter_map(|part| part.split_once('>')).peekable();
    while let Some((tag, content)) = parts.next() {
        let is_leaf = !tag.starts_with('/')
            && parts.peek().is_some_and(|(next, _)| next.strip_prefix('/') == tag.split(' ').next());
        text += &match (is_leaf, content) {
            (true, "") => {
                parts.next();
                format!("<{tag} />")
            }
            (true, content) => format!("<{tag}>{content}"),
            (false, _) => format!("<{tag}>"),
        };
    }
    text
}

fn write(value: &Value) -> String {
    String::from_utf8(Writer::new().write_document([(None, value)]).unwrap().to_vec()).unwrap()
}

/// Returns whether PowerShell's copy has the same values. Its dictionaries have no order, and its type names a prefix.
fn is_same(ours: &Value, copy: &Value) -> bool {
    let (Some(ours), Some(copy)) = (ours.as_object(), copy.as_object()) else { return ours == copy };
    let same_items = match (ours.base(), copy.base()) {
        (Base::Dictionary(ours), Base::Dictionary(copy)) => {
            let find = |key: &Value| copy.iter().find(|(other, _)| other == key);
            ours.len() == copy.len()
                && ours.iter().all(|(key, value)| find(key).is_some_and(|(_, other)| is_same(value, other)))
        }
        (Base::List(kind, ours), Base::List(other, copy)) => {
            kind == other
                && ours.len() == copy.len()
                && ours.iter().zip(copy).all(|(ours, copy)| is_same(ours, copy))
        }
        (Base::Value(ours), Base::Value(copy)) => ours == copy,
        (Base::None, Base::None) => true,
        _ => false,
    };
    let members = |object: &Object| {
        let members = object.adapted().iter().chain(object.extended().iter());
        members.map(|(name, value)| (name.to_utf16(), value.clone())).collect::<BTreeMap<_, _>>()
    };
    let (our_members, copied) = (members(&ours), members(&copy));
    same_items
        && ours.to_string_text() == copy.to_string_text()
        && our_members.len() == copied.len()
        && our_members
            .iter()
            .zip(&copied)
            .all(|((name, ours), (other, copy))| name == other && is_same(ours, copy))
}

#[test]
#[expect(clippy::print_stdout, reason = "the harness shows it if the test fails")]
fn generated_values_survive_powershell() {
    let Some(pwsh) = optional::powershell_for_tests() else { return };
    let seed = match std::env::var("PSRP_TEST_SEED") {
        Ok(seed) => seed.parse().expect("PSRP_TEST_SEED is a number"),
        Err(_) => uuid::Uuid::new_v4().as_u64_pair().0,
    };
    println!("PSRP_TEST_SEED={seed}");
    let bytes: Vec<u8> = seed.to_le_bytes().repeat(4);
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let strategy = any_preserved_value().prop_filter("PowerShell can write it", |value| {
        !NOT_WRITTEN.iter().any(|text| write(value).contains(text))
    });
    let values: Vec<Value> = (0..VALUES).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect();

    let documents = through_powershell(&pwsh, &values);
    assert_eq!(documents.len(), VALUES);
    for (value, document) in values.iter().zip(&documents) {
        let copy = read(document);
        assert!(is_same(value, &copy), "{value:?}\n{copy:?}\n{document}");
        assert_eq!(write(&copy), compact(document));
    }
}

#[test]
fn powershell_reads_characters_that_it_cannot_write() {
    let Some(pwsh) = optional::powershell_for_tests() else { return };
    let document = write(&"a\u{FFFE}\u{FFFF}b".into());
    assert!(NOT_WRITTEN.iter().all(|text| document.contains(text)), "{document}");
    let script = format!(
        "[int[]][char[]][Management.Automation.PSSerializer]::Deserialize('{document}') | ForEach-Object {{ \"$_\" }}"
    );
    let units = powershell(&pwsh, &["-Command", &script], b"");
    assert_eq!(units.split_whitespace().collect::<Vec<_>>(), ["97", "65534", "65535", "98"]);
}

#[test]
fn powershells_values_survive_our_round_trip() {
    let Some(pwsh) = optional::powershell_for_tests() else { return };
    for depth in ["1", "3"] {
        let text = powershell(&pwsh, &["-serialize", EXPRESSIONS, "-Depth", depth], b"");
        let documents: Vec<_> =
            text.split_inclusive("</Objs>").map(str::trim).filter(|text| !text.is_empty()).collect();
        assert!(documents.len() > 50, "{}", documents.len());
        for document in documents {
            assert_eq!(write(&read(document)), compact(document));
        }
    }
}
