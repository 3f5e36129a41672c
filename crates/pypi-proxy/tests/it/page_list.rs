//! The list of all projects.

use pypi_proxy::ProjectList;

fn list(names: &[&str]) -> ProjectList {
    let projects: Vec<_> =
        names.iter().map(|name| serde_json::json!({"name": name, "_last-serial": 1})).collect();
    ProjectList::from_json(tightwire_json::to_vec(&serde_json::json!({"projects": projects})).unwrap())
        .unwrap()
}

fn names(list: &ProjectList) -> Vec<&str> {
    list.names().collect()
}

#[test]
fn lists_are_passed_on_unchanged() {
    let upstream = br#" {"projects": [ {"_last-serial": 5, "name" : "Foo.Bar"} ], "meta": {"api-version": "1.1", "x": 1}} "#;
    let list = ProjectList::from_json(upstream.to_vec()).unwrap();
    assert_eq!(list.json()[..], upstream[..]);
    assert_eq!(names(&list), ["Foo.Bar"]);
}

#[test]
fn invalid_lists_are_rejected() {
    let wrong = [
        "",
        "{}",
        r#"{"projects":1}"#,
        r#"{"projects":[{}]}"#,
        r#"{"projects":[{"name":1}]}"#,
        r#"{"projects":[{"name":"../a"}]}"#,
        r#"{"projects":[{"name":"\u0061"}]}"#,
        r#"{"projects":[{"name":"a","name":"b"}]}"#,
        r#"{"projects":[],"meta":{"api-version":"2.0"}}"#,
        r#"{"projects":[],"projects":[]}"#,
    ];
    for document in wrong {
        assert!(ProjectList::from_json(document.as_bytes().to_vec()).unwrap_err().is_page(), "{document}");
    }
}

#[test]
fn html_lists_are_parsed() {
    let html = br#"<a href="/simple/foo-bar/">Foo.Bar</a><a href="six">six</a><a href="../">up</a><a href="b/?x=1#y">b</a><a>c</a>"#;
    let list = ProjectList::from_html(html).unwrap();
    assert_eq!(names(&list), ["foo-bar", "six", "b"]);
    let json: tightwire_json::Value = tightwire_json::from_slice(list.json()).unwrap();
    assert_eq!(json["projects"][2]["name"], "b");
}

#[test]
fn lists_are_merged_by_normalized_names() {
    let merged = ProjectList::merge([&list(&["Zope", "foo.bar", "a"]), &list(&["Foo_Bar", "b"])]).unwrap();
    assert_eq!(names(&merged), ["a", "b", "foo.bar", "Zope"]);
}

#[test]
fn html_lists_round_trip() {
    let long: Vec<String> = (0..3000).map(|number| format!("p{number:05}")).collect();
    let list = list(&long.iter().map(String::as_str).collect::<Vec<_>>());
    let html: Vec<u8> = list.html().flatten().collect();
    assert_eq!(names(&ProjectList::from_html(&html).unwrap()), long);
}

#[test]
fn a_million_projects_fit_in_little_memory() {
    let mut document = br#"{"meta":{"api-version":"1.0"},"projects":["#.to_vec();
    for number in 0..100_000 {
        if number > 0 {
            document.push(b',');
        }
        document.extend_from_slice(format!(r#"{{"name":"project-{number}"}}"#).as_bytes());
    }
    document.extend_from_slice(b"]}");
    let list = ProjectList::from_json(document).unwrap();
    assert_eq!((list.names().len(), list.names().last()), (100_000, Some("project-99999")));
}
