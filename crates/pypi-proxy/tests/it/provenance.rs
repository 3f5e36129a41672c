//! Provenance: links on pages, caching, and offline verification.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use pypi_proxy::provenance::{Attestation, verify};
use pypi_proxy::rules::Rules;
use rcgen::{CertificateParams, CustomExtension, KeyPair, SanType};

use crate::support::prelude::*;

const WHEEL: &str = "demo-1.0-py3-none-any.whl";
const PLAIN: &str = "demo-1.0.tar.gz";
const PUBLISH: &str = "https://docs.example.org/attestations/publish/v1";
const GITHUB: &str = "https://token.actions.githubusercontent.com";
const REPOSITORY: &str = "https://github.com/Acme/demo";
const WORKFLOW: &str = "https://github.com/Acme/demo/.github/workflows/release.yml@refs/tags/v1.0";

/// Attestation whose parts a test changes.
struct Draft {
    statement: Value,
    publisher: Value,
    /// Issuer, repository and workflow in the certificate.
    identity: [Option<&'static str>; 3],
    email: Option<&'static str>,
}

impl Draft {
    fn new(file: &str, content: &[u8]) -> Self {
        Self {
            statement: json!({
                "_type": "https://in-toto.io/Statement/v1",
                "subject": [{"name": file, "digest": {"sha256": digest_of(content).to_string()}}],
                "predicateType": PUBLISH,
                "predicate": null,
            }),
            publisher: json!({"kind": "GitHub", "repository": "acme/demo", "workflow": "release.yml", "environment": null}),
            identity: [Some(GITHUB), Some(REPOSITORY), Some(WORKFLOW)],
            email: None,
        }
    }

    fn sign(&self) -> Value {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        for (last, text) in [8, 12, 18].into_iter().zip(self.identity) {
            if let Some(text) = text {
                let mut der = vec![0x0c, u8::try_from(text.len()).unwrap()];
                der.extend_from_slice(text.as_bytes());
                let oid = [1, 3, 6, 1, 4, 1, 57264, 1, last];
                params.custom_extensions.push(CustomExtension::from_oid_content(&oid, der));
            }
        }
        params
            .subject_alt_names
            .extend(self.email.map(|email| SanType::Rfc822Name(email.try_into().unwrap())));
        let certificate = params.self_signed(&key).unwrap();
        let statement = self.statement.to_string();
        let message = format!("DSSEv1 28 application/vnd.in-toto+json {} {statement}", statement.len());
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &key.serialize_der()).unwrap();
        let signature = key.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        json!({
            "version": 1,
            "verification_material": {"certificate": BASE64_STANDARD.encode(certificate.der()), "transparency_entries": [{}]},
            "envelope": {
                "statement": BASE64_STANDARD.encode(statement),
                "signature": BASE64_STANDARD.encode(signature.as_ref()),
            },
        })
    }

    fn provenance(&self) -> Value {
        document(&self.publisher, &[self.sign()])
    }
}

fn document(publisher: &Value, attestations: &[Value]) -> Value {
    json!({"version": 1, "attestation_bundles": [{"publisher": publisher, "attestations": attestations}]})
}

fn check(document: &Value) -> Result<Vec<Attestation>, String> {
    let checked = verify(document.to_string().as_bytes(), WHEEL, &digest_of(b"wheel"));
    checked.map_err(|error| {
        assert!(error.is_provenance());
        error.to_string()
    })
}

#[test]
fn attestations_of_known_publishers_verify() {
    let draft = || Draft::new(WHEEL, b"wheel");
    let found = check(&draft().provenance()).unwrap();
    assert_eq!(
        (&*found[0].publisher, &*found[0].identity, &*found[0].predicate_type),
        ("GitHub", "acme/demo", PUBLISH)
    );
    let mut spelled = draft();
    spelled.statement["subject"][0]["name"] = "Demo-1.0-py3-none-any.whl".into();
    let mut gitlab = draft();
    gitlab.publisher =
        json!({"kind": "GitLab", "repository": "acme/demo", "workflow_filepath": "ci/release.yml"});
    gitlab.identity = [
        Some("https://gitlab.com"),
        Some("https://gitlab.com/acme/demo"),
        Some("https://gitlab.com/acme/demo//ci/release.yml@refs/heads/main"),
    ];
    let mut google = draft();
    google.statement["predicateType"] = "https://slsa.dev/provenance/v1".into();
    google.publisher = json!({"kind": "Google", "email": "release@example.org"});
    google.identity = [Some("https://accounts.google.com"), None, None];
    google.email = Some("release@example.org");
    for draft in [spelled, gitlab, google] {
        assert_eq!(check(&draft.provenance()).unwrap().len(), 1);
    }
    let both = document(&draft().publisher, &[draft().sign(), draft().sign()]);
    assert_eq!(check(&both).unwrap().len(), 2);
}

#[test]
fn other_attestations_do_not_verify() {
    let changed = |change: fn(&mut Draft)| {
        let mut draft = Draft::new(WHEEL, b"wheel");
        change(&mut draft);
        draft.provenance()
    };
    let replaced = |path: &str, value: Value| {
        let mut document = changed(|_| ());
        *document.pointer_mut(path).unwrap() = value;
        document
    };
    let envelope = "/attestation_bundles/0/attestations/0/envelope";
    let material = "/attestation_bundles/0/attestations/0/verification_material";
    let other = Draft::new(WHEEL, b"wheel").sign();
    let statement = other["envelope"]["statement"].as_str().unwrap();
    let trailing = {
        let der =
            BASE64_STANDARD.decode(other["verification_material"]["certificate"].as_str().unwrap()).unwrap();
        BASE64_STANDARD.encode([der, vec![0]].concat())
    };
    let cases = [
        ("another name", changed(|it| it.statement["subject"][0]["name"] = "other-1.0.whl".into())),
        (
            "another SHA-256",
            changed(|it| it.statement["subject"][0]["digest"]["sha256"] = "00".repeat(32).into()),
        ),
        ("another SHA-256", changed(|it| it.statement["subject"][0]["digest"] = json!({}))),
        ("one subject", changed(|it| it.statement["subject"] = json!([]))),
        ("predicate type", changed(|it| it.statement["predicateType"] = "https://example.org/x".into())),
        ("in-toto", changed(|it| it.statement["_type"] = "https://in-toto.io/Statement/v0.1".into())),
        ("a statement is malformed", changed(|it| it.statement = json!([1]))),
        ("another identity", changed(|it| it.publisher["repository"] = "other/demo".into())),
        ("another identity", changed(|it| it.publisher["workflow"] = "release".into())),
        ("another identity", changed(|it| it.identity[0] = Some("https://gitlab.com"))),
        ("another identity", changed(|it| it.identity[1] = None)),
        ("another identity", changed(|it| it.identity[2] = None)),
        ("lacks a field", changed(|it| it.publisher = json!({"kind": "GitHub", "repository": "acme/demo"}))),
        ("not supported", changed(|it| it.publisher = json!({"kind": "Other"}))),
        (
            "signature does not verify",
            replaced(&format!("{envelope}/signature"), other["envelope"]["signature"].clone()),
        ),
        ("signature does not verify", replaced(&format!("{envelope}/signature"), "".into())),
        (
            "signature does not verify",
            replaced(
                &format!("{material}/certificate"),
                other["verification_material"]["certificate"].clone(),
            ),
        ),
        (
            "signature does not verify",
            replaced(
                &format!("{envelope}/statement"),
                BASE64_STANDARD.encode([statement.as_bytes(), b" "].concat()).into(),
            ),
        ),
        ("Base64", replaced(&format!("{envelope}/signature"), "?".into())),
        ("Base64", replaced(&format!("{envelope}/statement"), "?".into())),
        ("certificate is malformed", replaced(&format!("{material}/certificate"), "AAAA".into())),
        ("data after the certificate", replaced(&format!("{material}/certificate"), trailing.into())),
        ("larger than 64 KiB", replaced(&format!("{material}/certificate"), "A".repeat(70_000).into())),
        ("version of an attestation", replaced("/attestation_bundles/0/attestations/0/version", 2.into())),
        ("version of the document", replaced("/version", 2.into())),
        ("no attestation", replaced("/attestation_bundles", json!([]))),
        ("no attestation", replaced("/attestation_bundles/0/attestations", json!([]))),
        ("document is malformed", replaced("/attestation_bundles", 1.into())),
        ("document is malformed", json!(null)),
    ];
    for (part, document) in cases {
        let error = check(&document).unwrap_err();
        assert!(error.contains(part), "{part}: {error}");
    }
    // One of several attestations is enough to fail.
    let mut mixed = changed(|_| ());
    mixed["attestation_bundles"][0]["attestations"].as_array_mut().unwrap().push(json!({}));
    assert!(check(&mixed).is_err());
}

/// Index in JSON or HTML. The wheel has provenance, whose attestations change with `version`.
fn index(is_json: bool, provenance: Vec<Value>, version: Arc<AtomicUsize>) -> Server {
    let files = [(WHEEL, Bytes::from_static(b"wheel")), (PLAIN, content(1000))];
    let page = if is_json {
        let mut page: Vec<_> = files.iter().map(|(name, content)| listed(name, content)).collect();
        page[0]["provenance"] = "/integrity/demo/1.0/wheel/provenance".into();
        page[0]["upload-time"] = "2020-01-01T00:00:00Z".into();
        page[1]["provenance"] = Value::Null;
        page_of(&page)
    } else {
        let sha256 = digest_of(b"wheel");
        format!(
            "<a href='/f/{WHEEL}#sha256={sha256}' data-provenance='/integrity/demo/1.0/wheel/provenance'>x</a>\
             <a href='/f/{PLAIN}#sha256={}'>x</a>",
            digest_of(&files[1].1)
        )
    };
    Server::start(move |request| match &*request.path {
        "/simple/demo/" => respond(200, &[if is_json { JSON } else { HTML }], page.clone()),
        "/integrity/demo/1.0/wheel/provenance" => match provenance.get(version.load(Ordering::Relaxed)) {
            Some(Value::String(text)) => respond(200, &[], text.as_str().to_owned()),
            Some(document) => {
                let tag = digest_of(document.to_string().as_bytes()).to_string();
                match request.header("if-none-match") == tag {
                    true => respond(304, &[], ""),
                    false => respond(200, &[("etag", &tag)], document.to_string()),
                }
            }
            None => respond(404, &[], ""),
        },
        path => match files.iter().find(|(name, _)| path.strip_prefix("/f/") == Some(name)) {
            Some((_, content)) => respond(200, &[], content.clone()),
            None => respond(404, &[], ""),
        },
    })
}

fn good() -> Value {
    Draft::new(WHEEL, b"wheel").provenance()
}

const PATH: &str = "/simple/demo/demo-1.0-py3-none-any.whl.provenance";

#[tokio::test]
async fn provenance_is_linked_and_cached() {
    for is_json in [true, false] {
        let document = good();
        let index = index(is_json, vec![document.clone()], Arc::default());
        let proxy = start(&[index.url("/simple")]);
        let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
        assert_eq!(page["files"][0]["provenance"], format!("{WHEEL}.provenance"));
        assert_eq!(page["files"][1].get("provenance"), is_json.then_some(&Value::Null));
        let html = proxy.get("/simple/demo/", &[("accept", "text/html")]).await.text().await.unwrap();
        assert_eq!(html.matches(&format!(" data-provenance=\"{WHEEL}.provenance\"")).count(), 1, "{html}");
        assert!(!html.contains("integrity"));
        for (path, verdict) in [(PATH, "miss"), (PATH, "hit"), (&PATH.replace("simple", "index"), "hit")] {
            let response = proxy.get(path, &[]).await;
            assert_eq!(response.headers()["content-type"], "application/vnd.pypi.integrity.v1+json");
            assert_eq!(response.headers()["x-cache"], verdict);
            assert_eq!(response.text().await.unwrap(), document.to_string());
        }
        assert_eq!(index.count_of("/integrity/demo/1.0/wheel/provenance"), 1);
        for name in [&format!("{PLAIN}.provenance"), "other-1.0.whl.provenance", "x.provenance"] {
            assert_eq!(proxy.get(&format!("/simple/demo/{name}"), &[]).await.status(), 404, "{name}");
        }
        assert_eq!(index.count(), 2);
        assert_eq!(proxy.send(Method::DELETE, "/cache/demo", &PURGE).await.status(), 200);
        assert_eq!(proxy.get(PATH, &[]).await.headers()["x-cache"], "miss");
    }
}

#[tokio::test]
async fn more_attestations_are_fetched_when_the_page_expires() {
    let (first, second) = (good(), good());
    let version = Arc::new(AtomicUsize::new(0));
    let index = index(true, vec![first.clone(), second.clone()], version.clone());
    let dir = tempfile::tempdir().unwrap();
    let setup = || {
        let mut setup = Setup::new(dir.path(), &[index.url("/simple")]);
        setup.always_revalidate();
        setup
    };
    let get = async |proxy: &RunningProxy| {
        let response = proxy.get(PATH, &[]).await;
        let verdict = response.headers()["x-cache"].to_str().unwrap().to_owned();
        (verdict, tightwire_json::from_str::<Value>(&response.text().await.unwrap()).unwrap())
    };
    let proxy = setup().start().await;
    assert_eq!(get(&proxy).await, ("miss".into(), first.clone()));
    assert_eq!(get(&proxy).await, ("revalidated".into(), first));
    version.store(1, Ordering::Relaxed);
    assert_eq!(get(&proxy).await, ("miss".into(), second.clone()));
    proxy.stop().await;
    // Offline, from disk.
    let mut offline = setup();
    offline.upstreams[0].offline = true;
    let proxy = offline.start().await;
    assert_eq!(get(&proxy).await, ("stale".into(), second));
    proxy.stop().await;
    // The index has removed it.
    version.store(2, Ordering::Relaxed);
    let proxy = setup().start().await;
    assert_eq!(proxy.get(PATH, &[]).await.status(), 404);
}

#[tokio::test]
async fn unusable_provenance_is_an_error() {
    let cases = [("<html>", 502), ("{", 502), ("", 502)].map(|(text, status)| (text.to_owned(), status));
    let large = (format!("\"{}\"", "x".repeat(5 << 20)), 502);
    for (text, status) in cases.into_iter().chain([large]) {
        let index = index(true, vec![text.into()], Arc::default());
        let proxy = start(&[index.url("/simple")]);
        assert_eq!(proxy.get(PATH, &[]).await.status(), status);
        // Files are independent of it.
        assert_eq!(proxy.get(&format!("/simple/demo/{WHEEL}"), &[]).await.text().await.unwrap(), "wheel");
    }
    // URLs that may not be requested, and values that are none.
    for (url, link, status) in [
        (json!("http://10.0.0.1/p"), json!(format!("{WHEEL}.provenance")), 403),
        (json!("file:///etc/passwd"), json!(format!("{WHEEL}.provenance")), 403),
        (json!("http://[x"), json!(format!("{WHEEL}.provenance")), 502),
        (json!("two words"), Value::Null, 404),
        (json!(""), Value::Null, 404),
        (json!(7), json!(7), 404),
    ] {
        let mut file = listed(WHEEL, b"wheel");
        file["provenance"] = url.clone();
        let page = page_of(&[file]);
        let index = Server::start(move |_| respond(200, &[JSON], page.clone()));
        let proxy = start(&[index.url("/simple")]);
        let page = proxy.json("/simple/demo/", &[("accept", JSON.1)]).await;
        assert_eq!(page["files"][0]["provenance"], link);
        assert_eq!(proxy.get(PATH, &[]).await.status(), status, "{url}");
        assert_eq!(index.count(), 1);
    }
}

#[tokio::test]
async fn rules_and_credentials_apply_to_provenance() {
    let index = index(true, vec![good()], Arc::default());
    let url = index.url("/simple").replace("http://", "http://reader:hunter2@");
    let proxy = start(&[url]);
    assert_eq!(proxy.get(PATH, &[]).await.status(), 200);
    assert!(index.last().contains_key("authorization"));
    let age = Rules { min_age: Duration::from_secs(100 * 365 * 86_400), ..Rules::default() };
    let proxy = start_with(&[index.url("/simple")], |setup| setup.pages.rules = age);
    let requests = index.count();
    assert_eq!(proxy.get(PATH, &[]).await.status(), 403);
    assert_eq!(index.count(), requests + 1);
    // Another host gets no credentials.
    let host = Server::start(|_| respond(200, &[], "{}"));
    let mut file = listed(WHEEL, b"wheel");
    file["provenance"] = host.url("/p").into();
    let page = page_of(&[file]);
    let index = Server::start(move |_| respond(200, &[JSON], page.clone()));
    let proxy = start(&[index.url("/simple").replace("http://", "http://reader:hunter2@")]);
    assert_eq!(proxy.get(PATH, &[]).await.text().await.unwrap(), "{}");
    assert!(index.last().contains_key("authorization") && !host.last().contains_key("authorization"));
}

/// Fills a cache with a file and its provenance, and verifies it with the program.
#[cfg(feature = "cli")]
async fn verify_cache(provenance: Value, change: impl FnOnce(&std::path::Path)) -> (i32, String) {
    let dir = tempfile::tempdir().unwrap();
    let index = index(true, vec![provenance], Arc::default());
    let proxy = Setup::new(dir.path(), &[index.url("/simple")]).start().await;
    assert_eq!(proxy.get(PATH, &[]).await.status(), 200);
    assert_eq!(proxy.get(&format!("/simple/demo/{WHEEL}"), &[]).await.text().await.unwrap(), "wheel");
    proxy.stop().await;
    let cache = dir.path().join("cache");
    change(&cache);
    // Facts about the file may still be written, as temporary files at first.
    let is_complete =
        |path: &&std::path::PathBuf| !path.file_name().unwrap().to_str().unwrap().starts_with('.');
    let before = files_below(&cache);
    let args = ["verify", "--provenance", "--cache-dir", cache.to_str().unwrap()];
    let result = crate::support::program::run(dir.path(), &[], &args).await;
    assert!(before.iter().filter(is_complete).all(|path| path.exists()), "nothing is deleted");
    result
}

#[cfg(feature = "cli")]
#[tokio::test(flavor = "multi_thread")]
async fn the_program_verifies_cached_provenance() {
    let (code, text) = verify_cache(good(), |_| ()).await;
    assert!(code == 0 && text.contains("the provenance of 1 files verifies (1 attestations)\n"), "{text}");
    assert!(
        text.contains("not checked: issuer and validity of the certificates, transparency log\n"),
        "{text}"
    );

    let (code, text) = verify_cache(Draft::new(WHEEL, b"other").provenance(), |_| ()).await;
    assert!(code == 1 && text.contains(&format!("{WHEEL}: ")) && text.contains("another SHA-256"), "{text}");

    let stored = |cache: &std::path::Path| stored_path(cache, digest_of(b"wheel"));
    let (code, text) = verify_cache(good(), |cache| std::fs::write(stored(cache), "WHEEL").unwrap()).await;
    assert!(code == 1 && text.contains("the stored file is damaged"), "{text}");

    let (code, text) = verify_cache(good(), |cache| std::fs::remove_file(stored(cache)).unwrap()).await;
    assert!(code == 0 && text.contains("skipped, because the file is not stored: 1\n"), "{text}");

    let cut = |cache: &std::path::Path| {
        let pages = files_below(&cache.join("pages"));
        let document = pages.iter().find(|path| path.to_str().unwrap().contains("demo@")).unwrap();
        let bytes = std::fs::read(document).unwrap();
        std::fs::write(document, &bytes[..bytes.len() - 5]).unwrap();
    };
    let (code, text) = verify_cache(good(), cut).await;
    assert!(code == 1 && text.contains("the cached document is damaged"), "{text}");
}
