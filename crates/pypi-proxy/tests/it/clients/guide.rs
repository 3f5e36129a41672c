//! Configurations in the guide that the other tests do not cover.

use http::Response;

use crate::clients::sandbox::{Site, guide};
use crate::support::{self, Body, Server, respond};

const PROJECT: &str = "[project]\nname = \"kitchen\"\nversion = \"1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"pantry-shelf==1.1\"]\n";
const INSTALLED: [&str; 1] = ["pantry-shelf==1.1"];

#[tokio::test(flavor = "multi_thread")]
async fn clients_use_the_proxy_by_variables_and_files() {
    let Some(site) = Site::start(&[]).await else { return };
    let url = &*site.proxy.url;

    let mut pip = site.sandbox().await;
    pip.export(&guide("pip", url));
    pip.run("pip", &["install", "pantry-shelf==1.1"]).await;
    assert_eq!(pip.freeze().await, INSTALLED);

    let mut by_variable = site.sandbox().await;
    by_variable.export(&guide("uv", url));
    let by_file = site.sandbox().await;
    let folder = by_file.home().join(".config/uv");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("uv.toml"), guide("uv.toml", url)).unwrap();
    for uv in [by_variable, by_file] {
        uv.run("uv", &["pip", "install", "pantry-shelf==1.1"]).await;
        assert_eq!(uv.freeze().await, INSTALLED);
    }

    let poetry = site.sandbox().await;
    poetry.write("pyproject.toml", &format!("{PROJECT}\n[tool.poetry]\npackage-mode = false\n"));
    let added = ["source", "add", "--priority=primary", "pypi-proxy", &format!("{url}/simple/")];
    poetry.run("poetry", &added).await;
    let project = std::fs::read_to_string(poetry.work().join("pyproject.toml")).unwrap();
    let expected = guide("pyproject.toml for Poetry", url);
    assert!(project.contains(expected.trim()), "{project}");

    let mut pipenv = site.sandbox().await;
    pipenv.export(&guide("pipenv", url));
    pipenv.write("Pipfile", "[packages]\npantry-shelf = \"==1.1\"\n");
    pipenv.run("pipenv", &["install"]).await;
    assert_eq!(pipenv.freeze().await, INSTALLED);

    let mut pdm = site.sandbox().await;
    pdm.export(&guide("PDM", url));
    pdm.write("pyproject.toml", &format!("{PROJECT}\n[tool.pdm]\ndistribution = false\n"));
    pdm.run("pdm", &["install"]).await;
    assert_eq!(pdm.freeze().await, INSTALLED);

    // The path for former users of proxpi.
    let former = site.sandbox().await;
    former.run("pip", &["install", "--index-url", &format!("{url}/index/"), "pantry-shelf==1.1"]).await;
    assert_eq!(former.freeze().await, INSTALLED);
}

/// A reverse proxy that serves the proxy below `/mirror`.
async fn front(proxy: String) -> Server {
    let client = reqwest::Client::builder().no_gzip().no_zstd().no_deflate();
    let client = client.redirect(reqwest::redirect::Policy::none()).build().unwrap();
    Server::start(move |path, headers| {
        let (client, proxy) = (client.clone(), proxy.clone());
        async move {
            let Some(path) = path.strip_prefix("/mirror") else { return respond(404, &[], "") };
            let received = client.get(format!("{proxy}{path}")).headers(headers).send().await.unwrap();
            let mut response: Response<Body> = Response::new(support::full(""));
            *response.status_mut() = received.status();
            response.headers_mut().extend(received.headers().clone());
            *response.body_mut() = support::full(received.bytes().await.unwrap());
            response
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_proxy_works_below_a_path_of_another_server() {
    let Some(site) = Site::start(&[]).await else { return };
    let front = front(site.proxy.url.clone()).await;
    let url = front.url("/mirror/simple/");
    for (client, args) in [("pip", &["install"][..]), ("uv", &["pip", "install"])] {
        let sandbox = site.sandbox().await;
        let wanted = ["--index-url", &*url, "pantry[spice]==2.0"];
        sandbox.run(client, &[args, &wanted].concat()).await;
        assert_eq!(sandbox.freeze().await.len(), 4, "{client}");
    }
    assert!(front.paths().iter().all(|path| path.starts_with("/mirror/simple/")), "{:?}", front.paths());
    site.proxy.has_only_good_answers();
}
