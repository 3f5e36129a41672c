//! pip-audit gets vulnerabilities from the JSON API.

use std::path::Path;

use crate::clients::sandbox::{Sandbox, python, serve};
use crate::support::prelude::*;

/// Index whose JSON API knows a vulnerability of one version.
fn index() -> Server {
    Server::start(|request| {
        let hole = json!({
            "id": "PYSEC-2024-1", "aliases": ["CVE-2024-0001"], "fixed_in": ["1.1", "2.0"], "details": "a\nhole",
            "summary": null, "withdrawn": null,
        });
        let known = match &*request.path {
            "/pypi/pantry-shelf/1.0/json" => json!([hole]),
            "/pypi/pantry-shelf/2.0/json" => json!([]),
            _ => return respond(404, &[], ""),
        };
        let headers = [("content-type", "application/json"), ("etag", "\"1\"")];
        match request.header("if-none-match") {
            "" => {
                respond(200, &headers, json!({"info": {}, "urls": [], "vulnerabilities": known}).to_string())
            }
            _ => respond(304, &headers, ""),
        }
    })
}

/// Audits these requirements. Returns whether they have no vulnerability, and the report.
async fn audit(sandbox: &Sandbox, proxy: &str, requirements: &str) -> (bool, String) {
    sandbox.write("requirements.txt", requirements);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/audit.py");
    let args = [
        "--no-deps",
        "--disable-pip",
        "--progress-spinner",
        "off",
        "--format",
        "json",
        "--cache-dir",
        "seen",
    ];
    let args =
        [&[script.to_str().unwrap(), proxy][..], &args, &["--requirement", "requirements.txt"]].concat();
    sandbox.output("python", &args).await
}

#[tokio::test(flavor = "multi_thread")]
async fn pip_audit_finds_vulnerabilities() {
    let Some(python) = python() else { return };
    let index = index();
    let cache = tempfile::tempdir().unwrap();
    let proxy = serve(cache.path(), &[("PYPI_PROXY_INDEX_URL", &index.url("/simple/"))]).await;
    let sandbox = Sandbox::new(&python).await;
    for _ in 0..2 {
        let (is_clean, report) = audit(&sandbox, &proxy.url, "Pantry_Shelf==1.0\n").await;
        assert!(!is_clean && report.contains("\"CVE-2024-0001\""), "{report}");
        assert!(report.contains("\"fix_versions\": [\"1.1\", \"2.0\"]"), "{report}");
    }
    let (is_clean, report) = audit(&sandbox, &proxy.url, "pantry-shelf==2.0\n").await;
    assert!(is_clean && report.contains("\"vulns\": []"), "{report}");
    proxy.has_only_good_answers();
    let (is_clean, report) = audit(&sandbox, &proxy.url, "unknown==1.0\n").await;
    assert!(is_clean && report.contains("not found"), "{report}");
    assert_eq!(index.count(), 3, "{:?}", index.paths());
    // pip-audit revalidates its own cache.
    let log = proxy.log.all().concat();
    assert!(log.contains("/pypi/pantry-shelf/1.0/json\",\"status\":304"), "{log}");
}
