//! Rules, messages and the wire form of what they reject.
#![cfg(feature = "validation")]

use garde::{Path, Report, Validate};
use serde::{Deserialize, Serialize};
use tightwire_json::envelope::Responder;
use tightwire_json::errno::Language;
use tightwire_json::validation::{
    FieldError, ValidationErrors, rules, validate, validate_input, validate_with,
};

type Rule = fn(&str, &()) -> garde::Result;

/// Each rule with texts that pass and texts that do not.
const CASES: &[(&str, Rule, &[&str], &[&str])] = &[
    (
        "mobile",
        rules::mobile,
        &["13800138000", "19999999999"],
        &["12800138000", "1380013800", "138001380000", "+8613800138000", "13800138000\n", "1380013800０"],
    ),
    (
        "idcard",
        rules::idcard,
        &["11010519491231002X", "11010519491231002x", "440308199901010012"],
        &[
            "01010519491231002X",
            "110105194912310021Y",
            "11010517491231002X",
            "11010519491331002X",
            "11010519491232002X",
            "11010519490031002X",
            "1101051949123100X",
        ],
    ),
    (
        "username",
        rules::username,
        &["abc", "Ada_Lovelace1815", "a2345678901234567890123456789012"],
        &["ab", "1abc", "_abc", "a-b-c", "a23456789012345678901234567890123", "añb"],
    ),
    ("password", rules::password, &["abcdefg1", "é123456"], &["abcdefgh", "12345678", "abc1", "abcdef1"]),
    (
        "strongpwd",
        rules::strongpwd,
        &["Abcdef1!", "Aa1€€€"],
        &["abcdef1!", "ABCDEF1!", "Abcdefg!", "Abcdefg1", "Ab1!", "Abcdef1 "],
    ),
    (
        "safestring",
        rules::safestring,
        &["hello", "selection", "a - b", "<b>", "or 1 = 1", "dropdown"],
        &[
            "<SCRIPT>",
            "x</script>",
            "JavaScript:alert(1)",
            "select * from t",
            "INSERT into",
            "update t",
            "Delete from",
            "drop table",
            "union all",
            "x or 1=1",
            "' or 'a",
            "a-- b",
            "/*",
            "*/",
        ],
    ),
    ("nowhitespace", rules::nowhitespace, &["abc"], &["a b", " a", "a\t", "a\u{3000}b", "\n"]),
    ("trimmed", rules::trimmed, &["a b", "abc"], &[" a", "a ", "\ta", "a\n", " "]),
    ("slug", rules::slug, &["a", "a-b", "2024-report-1"], &["A", "-a", "a-", "a--b", "a_b", "a b"]),
];

#[test]
fn rules_tell_texts_apart() {
    for (name, rule, good, bad) in CASES {
        assert!(rule("", &()).is_ok(), "{name} takes the empty text");
        for text in *good {
            assert!(rule(text, &()).is_ok(), "{name} takes {text:?}");
        }
        for text in *bad {
            assert!(rule(text, &()).is_err(), "{name} refuses {text:?}");
        }
    }
}

#[derive(Deserialize, Validate)]
struct Everything {
    #[garde(custom(rules::mobile))]
    mobile: &'static str,
    #[garde(custom(rules::idcard))]
    idcard: &'static str,
    #[garde(custom(rules::username))]
    username: &'static str,
    #[garde(custom(rules::password))]
    password: &'static str,
    #[garde(custom(rules::strongpwd))]
    strongpwd: &'static str,
    #[garde(custom(rules::safestring))]
    safestring: &'static str,
    #[garde(custom(rules::nowhitespace))]
    nowhitespace: &'static str,
    #[garde(custom(rules::trimmed))]
    trimmed: &'static str,
    #[garde(custom(rules::slug))]
    slug: &'static str,
}

const BROKEN: Everything = Everything {
    mobile: "1",
    idcard: "1",
    username: "1",
    password: "1",
    strongpwd: "1",
    safestring: "/*",
    nowhitespace: " ",
    trimmed: " ",
    slug: " ",
};

#[test]
fn messages_of_the_rules_in_order() {
    let errors = validate_input(&BROKEN, Language::English).unwrap_err();
    let expected = [
        ("mobile", "mobile must be a valid mobile phone number"),
        ("idcard", "idcard must be a valid ID card number"),
        (
            "username",
            "username must start with a letter and contain only letters, numbers, and underscores (3-32 characters)",
        ),
        ("password", "password must be at least 8 characters and contain at least one letter and one number"),
        (
            "strongpwd",
            "strongpwd must be at least 8 characters and contain uppercase, lowercase, number, and special character",
        ),
        ("safestring", "safestring contains potentially unsafe content"),
        ("nowhitespace", "nowhitespace must not contain whitespace characters"),
        ("trimmed", "trimmed must not have leading or trailing spaces"),
        ("slug", "slug must be a valid URL slug (lowercase letters, numbers, and hyphens)"),
    ];
    let found: Vec<_> = errors.iter().map(|error| (&*error.tag, &*error.message)).collect();
    assert_eq!(found, expected);
    assert!(errors.iter().all(|error| error.field == error.tag && error.value.is_none()));
}

#[test]
fn every_message_exists_in_chinese() {
    let errors = validate_input(&BROKEN, Language::Chinese).unwrap_err();
    assert_eq!(errors.len(), 9);
    for error in &errors {
        assert!(error.message.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)), "{}", error.message);
        assert!(error.message.starts_with(&*error.field), "{}", error.message);
    }
    assert_eq!(errors.first().unwrap().message, "mobile必须是有效的手机号码");
}

#[derive(Deserialize, Serialize, Validate)]
struct Address {
    #[garde(length(min = 2))]
    city: String,
}

#[derive(Deserialize, Serialize, Validate)]
struct User {
    #[garde(required)]
    name: Option<String>,
    #[garde(email)]
    #[serde(rename = "eMail")]
    email: String,
    #[garde(range(min = 18, max = 120))]
    age: u8,
    #[garde(length(max = 2), inner(custom(rules::slug)))]
    tags: Vec<String>,
    #[garde(dive)]
    address: Address,
    #[garde(url)]
    site: String,
    #[garde(ascii, alphanumeric, prefix("x"), suffix("z"), contains("y"), pattern("^[a-z]+$"))]
    word: String,
    #[garde(custom(rules::password))]
    password: String,
    #[garde(matches(password))]
    repeated: String,
    #[garde(custom(accepted))]
    terms: bool,
}

fn accepted(terms: &bool, (): &()) -> garde::Result {
    if *terms { Ok(()) } else { Err(garde::Error::new("terms are not accepted")) }
}

fn user() -> User {
    User {
        name: None,
        email: "nobody".to_owned(),
        age: 7,
        tags: vec!["ok".to_owned(), "not ok".to_owned(), "fine".to_owned()],
        address: Address { city: "X".to_owned() },
        site: "no url".to_owned(),
        word: "é!".to_owned(),
        password: "short".to_owned(),
        repeated: "other".to_owned(),
        terms: false,
    }
}

#[test]
fn rules_of_garde_have_tags_parameters_and_paths() {
    let errors = validate_input(&user(), Language::English).unwrap_err();
    let mut found: Vec<_> =
        errors.iter().map(|error| (&*error.field, &*error.tag, &*error.param, &*error.message)).collect();
    // garde orders the rules of one field by itself.
    found.sort_unstable();
    let mut expected = [
        ("name", "required", "", "name is required"),
        ("eMail", "email", "", "eMail must be a valid email address"),
        ("age", "gte", "18", "age must be 18 or greater"),
        ("tags", "max", "2", "tags must have a length of at most 2"),
        ("tags[1]", "slug", "", "tags[1] must be a valid URL slug (lowercase letters, numbers, and hyphens)"),
        ("address.city", "min", "2", "address.city must have a length of at least 2"),
        ("site", "url", "", "site must be a valid URL"),
        ("word", "ascii", "", "word must contain only ASCII characters"),
        ("word", "alphanum", "", "word must contain only letters and digits"),
        ("word", "startswith", "x", "word must start with x"),
        ("word", "endswith", "z", "word must end with z"),
        ("word", "contains", "y", "word must contain y"),
        ("word", "pattern", "^[a-z]+$", "word must match the pattern ^[a-z]+$"),
        (
            "password",
            "password",
            "",
            "password must be at least 8 characters and contain at least one letter and one number",
        ),
        ("repeated", "eqfield", "password", "repeated must be equal to password"),
        ("terms", "custom", "", "terms are not accepted"),
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn fields_keep_the_order_of_their_type() {
    let errors = validate_input(&user(), Language::English).unwrap_err();
    let mut fields: Vec<_> =
        errors.iter().map(|error| error.field.split(['.', '[']).next().unwrap()).collect();
    fields.dedup();
    let declared =
        ["name", "eMail", "age", "tags", "address", "site", "word", "password", "repeated", "terms"];
    assert_eq!(fields, declared);
}

#[test]
fn without_serde_fields_have_their_rust_names() {
    #[derive(Validate)]
    struct Plain {
        #[garde(length(min = 1))]
        second: String,
        #[garde(length(min = 1))]
        first: String,
    }
    let errors =
        validate(&Plain { second: String::new(), first: String::new() }, Language::English).unwrap_err();
    assert_eq!(errors.iter().map(|error| &*error.field).collect::<Vec<_>>(), ["first", "second"]);
}

#[test]
fn names_on_the_wire() {
    #[derive(Deserialize, Validate)]
    #[serde(rename_all = "SCREAMING-KEBAB-CASE")]
    struct Renamed {
        #[garde(length(min = 1))]
        last_name: String,
        #[garde(length(min = 1), inner(length(min = 1)))]
        first_names: Vec<String>,
        #[garde(length(min = 1))]
        #[serde(rename = "moniker")]
        nick: String,
    }
    let renamed = Renamed { last_name: String::new(), first_names: vec![String::new()], nick: String::new() };
    let errors = validate_input(&renamed, Language::English).unwrap_err();
    let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
    assert_eq!(fields, ["LAST-NAME", "FIRST-NAMES[0]", "nick"], "another word cannot be guessed");
}

#[test]
fn values_are_added_on_request_without_passwords() {
    let user = user();
    let errors = validate_input(&user, Language::English).unwrap_err().with_values(&user).unwrap();
    let value = |field: &str| errors.first_of(field).unwrap().value.clone();
    assert_eq!(value("age"), Some(7.into()));
    assert_eq!(value("eMail"), Some("nobody".into()));
    assert_eq!(value("tags[1]"), Some("not ok".into()));
    assert_eq!(value("address.city"), Some("X".into()));
    assert_eq!(value("name"), None, "null is no value");
    assert_eq!(value("password"), None);
}

/// A type that checks itself.
struct Range(i32, i32);

impl Validate for Range {
    type Context = ();

    fn validate_into(&self, (): &(), parent: &mut dyn FnMut() -> Path, report: &mut Report) {
        if self.0 > self.1 {
            report.append(parent(), garde::Error::new("first is after last"));
        }
    }
}

#[test]
fn types_that_check_themselves_are_global() {
    assert!(validate(&Range(1, 2), Language::English).is_ok());
    let errors = validate(&Range(2, 1), Language::Chinese).unwrap_err();
    assert_eq!(
        tightwire_json::to_string(&errors).unwrap(),
        r#"{"errors":[{"field":"global","tag":"custom","message":"first is after last"}]}"#
    );
}

#[test]
fn own_check_runs_before_the_rules() {
    let refuse = |_: &Everything| Err("closed");
    let errors = validate_with(&BROKEN, Language::English, refuse).unwrap_err();
    assert_eq!((errors.len(), errors.first()), (1, Some(&FieldError::global("closed"))));
    let errors = validate_with(&BROKEN, Language::English, |_| Ok::<(), &str>(())).unwrap_err();
    assert_eq!(errors.len(), 9);
}

fn three() -> ValidationErrors {
    ValidationErrors::new([
        FieldError { value: Some(3.into()), param: "5".into(), ..FieldError::new("b", "min", "b is short") },
        FieldError::new("a", "required", "a is missing"),
        FieldError::new("b", "slug", "b is no slug"),
    ])
}

#[test]
fn wire_form_and_helpers() {
    let errors = three();
    assert_eq!(
        tightwire_json::to_string(&errors).unwrap(),
        concat!(
            r#"{"errors":[{"field":"b","tag":"min","value":3,"param":"5","message":"b is short"},"#,
            r#"{"field":"a","tag":"required","message":"a is missing"},"#,
            r#"{"field":"b","tag":"slug","message":"b is no slug"}]}"#
        )
    );
    assert_eq!(
        tightwire_json::from_str::<ValidationErrors>(&tightwire_json::to_string(&errors).unwrap()).unwrap(),
        errors
    );
    assert_eq!(errors.to_string(), "validation failed: b is short; a is missing; b is no slug");
    assert_eq!(errors.messages().collect::<Vec<_>>(), ["b is short", "a is missing", "b is no slug"]);
    assert_eq!(errors.first().unwrap().field, "b");
    assert_eq!(errors.first_of("a").unwrap().tag, "required");
    assert_eq!(errors.of("b").count(), 2);
    assert_eq!(errors.first_of("c"), None);
    let counts: Vec<_> = errors.by_field().iter().map(|(field, errors)| (*field, errors.len())).collect();
    assert_eq!(counts, [("a", 1), ("b", 2)]);
    assert_eq!((errors.len(), errors.is_empty(), ValidationErrors::default().is_empty()), (3, false, true));
    let summary = tightwire_json::to_string(&errors.into_summary()).unwrap();
    assert!(summary.starts_with(r#"{"errors":[{"field":"b","#) && summary.ends_with(r#"],"count":3}"#));
}

#[test]
fn envelope_of_rejected_fields() {
    let errors = ValidationErrors::new([FieldError::new("a", "required", "a is missing")]);
    assert_eq!(
        tightwire_json::to_string(&Responder::new().fail_with_validation(errors)).unwrap(),
        concat!(
            r#"{"code":1004,"http_code":400,"message":"a is missing","data":{"errors":["#,
            r#"{"field":"a","tag":"required","message":"a is missing"}],"count":1}}"#
        )
    );
    let empty =
        Responder::new().language(Language::Chinese).fail_with_validation(ValidationErrors::default());
    assert_eq!(empty.message, "数据校验未通过");
}
