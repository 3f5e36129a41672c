//! Configurations in the guide that the other tests do not cover.

use crate::clients::sandbox::{Site, guide};
use crate::support::prelude::*;

const PROJECT: &str = "[project]\nname = \"kitchen\"\nversion = \"1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"pantry-shelf==1.1\"]\n";
const INSTALLED: [&str; 1] = ["pantry-shelf==1.1"];

#[tokio::test(flavor = "multi_thread")]
async fn clients_use_the_proxy_by_variables_and_files() {
    let Some(site) = Site::start(&[]).await else { return };
    let url = &*site.proxy.url;

    let pdm = format!("{PROJECT}\n[tool.pdm]\ndistribution = false\n");
    let pipfile = "[packages]\npantry-shelf = \"==1.1\"\n";
    for (title, (file, text), program, args) in [
        ("pip", ("none", ""), "pip", &["install", "pantry-shelf==1.1"][..]),
        ("uv", ("none", ""), "uv", &["pip", "install", "pantry-shelf==1.1"]),
        ("pipenv", ("Pipfile", pipfile), "pipenv", &["install"]),
        ("PDM", ("pyproject.toml", &*pdm), "pdm", &["install"]),
    ] {
        let mut sandbox = site.sandbox().await;
        sandbox.export(&guide(title, url));
        sandbox.write(file, text);
        sandbox.run(program, args).await;
        assert_eq!(sandbox.freeze().await, INSTALLED, "{title}");
    }

    let uv = site.sandbox().await;
    let folder = uv.home().join(".config/uv");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("uv.toml"), guide("uv.toml", url)).unwrap();
    uv.run("uv", &["pip", "install", "pantry-shelf==1.1"]).await;
    assert_eq!(uv.freeze().await, INSTALLED);

    let poetry = site.sandbox().await;
    poetry.write("pyproject.toml", &format!("{PROJECT}\n[tool.poetry]\npackage-mode = false\n"));
    let added = ["source", "add", "--priority=primary", "pypi-proxy", &format!("{url}/simple/")];
    poetry.run("poetry", &added).await;
    let project = std::fs::read_to_string(poetry.work().join("pyproject.toml")).unwrap();
    let expected = guide("pyproject.toml for Poetry", url);
    assert!(project.contains(expected.trim()), "{project}");

    // The path for former users of proxpi.
    let former = site.sandbox().await;
    former.run("pip", &["install", "--index-url", &format!("{url}/index/"), "pantry-shelf==1.1"]).await;
    assert_eq!(former.freeze().await, INSTALLED);
}

/// A reverse proxy that serves the proxy below `/mirror`.
fn front(proxy: String) -> Server {
    let client = crate::support::proxy::client();
    Server::start_async(move |request| {
        let (client, proxy) = (client.clone(), proxy.clone());
        async move {
            let Some(path) = request.path.strip_prefix("/mirror") else { return respond(404, &[], "") };
            let received =
                client.get(format!("{proxy}{path}")).headers(request.headers).send().await.unwrap();
            let (status, mut headers) = (received.status().as_u16(), received.headers().clone());
            headers.remove("content-length");
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
            respond(status, &headers, received.bytes().await.unwrap())
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_works_below_a_path_of_another_server() {
    let Some(site) = Site::start(&[]).await else { return };
    let front = front(site.proxy.url.clone());
    let url = front.url("/mirror/simple/");
    for (client, args) in [("pip", &["install"][..]), ("uv", &["pip", "install"])] {
        let sandbox = site.sandbox().await;
        let wanted = ["--index-url", &*url, "pantry[spice]==2.0"];
        sandbox.run(client, &[args, &wanted].concat()).await;
        assert_eq!(sandbox.freeze().await.len(), 4, "{client}");
    }
    let is_below = |path: &String| {
        ["/mirror/simple/", "/mirror/resources/"].iter().any(|folder| path.starts_with(folder))
    };
    assert!(front.paths().iter().all(is_below), "{:?}", front.paths());
    site.proxy.has_only_good_answers();
}
