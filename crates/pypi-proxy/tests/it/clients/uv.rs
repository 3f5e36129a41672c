//! Features of uv besides plain installation.

use crate::clients::sandbox::{Site, guide};

#[tokio::test(flavor = "multi_thread")]
async fn uv_gets_times_sizes_and_hashes() {
    let Some(site) = Site::start(&[]).await else { return };
    let (proxy, shelf) = (&site.proxy, &site.shelf);
    let mut uv = site.sandbox().await;
    uv.export(&guide("uv", &proxy.url));

    // The state at the end of 2023.
    uv.run("uv", &["pip", "install", "--exclude-newer", "2023-12-31", "pantry"]).await;
    assert_eq!(uv.freeze().await, ["pantry==1.0", "pantry-shelf==1.1"]);

    let project = "[project]\nname = \"kitchen\"\nversion = \"1.0\"\nrequires-python = \">=3.9\"\n\
                   dependencies = [\"pantry-shelf<2\"]\n";
    uv.write("pyproject.toml", project);
    uv.run("uv", &["lock"]).await;
    let lock = std::fs::read_to_string(uv.work().join("uv.lock")).unwrap();
    let name = "pantry_shelf-1.1-py3-none-any.whl";
    let len = std::fs::metadata(shelf.file("pantry-shelf", name)).unwrap().len();
    let expected = format!(
        "{{ url = \"{}/simple/pantry-shelf/{name}\", hash = \"sha256:{}\", size = {len}, \
         upload-time = \"2023-06-05T00:00:00Z\" }}",
        proxy.url,
        shelf.sha256("pantry-shelf", name)
    );
    assert!(lock.contains(&expected), "{lock}");

    uv.write("wanted.in", "pantry[spice]==2.0\n");
    uv.run("uv", &["pip", "compile", "--generate-hashes", "wanted.in", "-o", "wanted.txt"]).await;
    uv.run("uv", &["pip", "sync", "--require-hashes", "wanted.txt"]).await;
    assert!(uv.freeze().await.contains(&"Spice.Rack==0.5+local.1".into()));

    // uv revalidates its cache with 304.
    let log = proxy.log.count();
    uv.run("uv", &["pip", "install", "--refresh", "--reinstall", "pantry-shelf==2.0"]).await;
    let log = proxy.log.all().split_off(log);
    assert!(log.iter().any(|line| line.contains("/simple/pantry-shelf/\",\"status\":304")), "{log:?}");
    assert!(!log.iter().any(|line| line.contains("pantry-shelf/\",\"status\":200")), "{log:?}");
}
