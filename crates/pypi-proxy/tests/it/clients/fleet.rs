//! The clients install from proxies that wait for the download of another proxy.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use rawzip::CompressionMethod;
use tokio::sync::Semaphore;

use super::sandbox::{Sandbox, guide, python};
use super::{CLIENTS, Client};
use crate::bucket::{metric, start_fleet};
use crate::metadata::archive;
use crate::support::prelude::*;

const METADATA: &str = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n";
const WHEEL: &str = "demo-1.0-py3-none-any.whl";
const CHUNK: usize = 16 << 10;

/// A wheel with a large file.
fn wheel() -> Bytes {
    let data = content(9 << 20);
    let info = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    let record = "demo/data.bin,,\ndemo-1.0.dist-info/METADATA,,\ndemo-1.0.dist-info/WHEEL,,\n\
                  demo-1.0.dist-info/RECORD,,\n";
    let files: [(&str, &[u8]); 4] = [
        ("demo/data.bin", &data),
        ("demo-1.0.dist-info/METADATA", METADATA.as_bytes()),
        ("demo-1.0.dist-info/WHEEL", info.as_bytes()),
        ("demo-1.0.dist-info/RECORD", record.as_bytes()),
    ];
    archive(&files, CompressionMethod::STORE).into()
}

/// Index that sends a chunk of the wheel for each permit of the gate.
fn index(gate: &Arc<Semaphore>) -> Server {
    let (gate, wheel) = (gate.clone(), wheel());
    let mut file = listed(WHEEL, &wheel);
    file["core-metadata"] = json!({"sha256": digest_of(METADATA.as_bytes()).to_string()});
    let page = page_of(&[file]);
    Server::start(move |request| match &*request.path {
        "/simple/demo/" => respond(200, &[JSON], page.clone()),
        path if path.ends_with(".metadata") => respond(200, &[], METADATA),
        path if path.ends_with(WHEEL) => {
            let mut steps = respond(200, &[], wheel.clone());
            let pause = |chunk: &[u8]| [Step::Send(Bytes::copy_from_slice(chunk)), Step::Gate(gate.clone())];
            steps.splice(1..2, wheel.chunks(CHUNK).flat_map(pause).collect::<Vec<_>>());
            steps
        }
        _ => respond(404, &[], ""),
    })
}

impl Client {
    async fn install_demo(self, sandbox: &mut Sandbox, proxy: &str) {
        let project = "[project]\nname = \"kitchen\"\nversion = \"1.0\"\nrequires-python = \">=3.9\"\n\
                       dependencies = [\"demo==1.0\"]\n";
        match self {
            Self::Pip => {
                sandbox.write("pip.conf", &guide("pip.conf", proxy));
                sandbox.set("PIP_CONFIG_FILE", sandbox.work().join("pip.conf").to_str().unwrap());
                sandbox.run("pip", &["install", "demo==1.0"]).await;
            }
            Self::Uv => {
                sandbox
                    .write("pyproject.toml", &(project.to_owned() + &guide("pyproject.toml for uv", proxy)));
                sandbox.run("uv", &["sync", "--active"]).await;
            }
            Self::Poetry => {
                let source = guide("pyproject.toml for Poetry", proxy);
                let text = format!("{project}\n[tool.poetry]\npackage-mode = false\n{source}");
                sandbox.write("pyproject.toml", &text);
                sandbox.run("poetry", &["install"]).await;
            }
            Self::Pipenv => {
                let packages = "[packages]\ndemo = \"==1.0\"\n";
                sandbox.write("Pipfile", &(guide("Pipfile", proxy) + packages));
                sandbox.run("pipenv", &["install"]).await;
            }
            Self::Pdm => {
                let source = guide("pyproject.toml for PDM", proxy);
                sandbox.write(
                    "pyproject.toml",
                    &format!("{project}\n[tool.pdm]\ndistribution = false\n{source}"),
                );
                sandbox.run("pdm", &["install"]).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_install_while_another_proxy_downloads() {
    let Some(python) = python() else { return };
    let (gate, objects) = (Arc::new(Semaphore::new(0)), Arc::new(InMemory::new()) as Arc<dyn ObjectStore>);
    let index = index(&gate);
    let fleet = start_fleet(1 + CLIENTS.len(), &index, &objects);
    let (owner, waiting) = fleet.split_first().unwrap();
    let path = format!("/simple/demo/{WHEEL}");
    let first = async {
        let body = owner.get(&path, &[]).await.bytes().await.unwrap();
        assert!(body == wheel());
    };
    let installing = CLIENTS.into_iter().zip(waiting).map(async |(client, proxy)| {
        until("the owner downloads", async || index.count_of(&format!("/f/{WHEEL}")) > 0).await;
        let mut sandbox = Sandbox::new(&python).await;
        client.install_demo(&mut sandbox, &proxy.url("")).await;
        assert_eq!(sandbox.freeze().await, ["demo==1.0"], "{client:?}");
    });
    // The index is slow until every client receives the file.
    let pacing = async {
        for proxy in waiting {
            while metric(proxy, "leases_total{outcome=\"streamed\"}").await == 0.0 {
                gate.add_permits(1);
                tokio::time::sleep(Duration::from_millis(250)).await;
            }
        }
        gate.add_permits(wheel().len() / CHUNK + 1);
    };
    tokio::join!(first, join_all(installing), pacing);
    assert_eq!(index.count_of(&format!("/f/{WHEEL}")), 1);
}
