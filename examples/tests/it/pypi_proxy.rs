//! Runs the demonstration of `pypi_proxy_offline.rs`.

#[path = "../../pypi_proxy_offline.rs"]
#[allow(dead_code, reason = "a test has a `main` of its own")]
mod pypi_proxy_offline;

#[tokio::test]
async fn a_file_outlives_its_index() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(pypi_proxy_offline::show(folder.path()).await.unwrap(), [37, 37]);
}
