//! The step `deploy` of the gate: programs and linters check the files in `docs/deploy`.
//!
//! Python linters and Helm are installed in pinned versions below the target directory. systemd, nginx, `promtool` and
//! `kubectl` must be installed on the machine; without them their checks are skipped with a message.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use crate::interop::{self, Language};
use crate::process::{self, Skipped, lacks, succeed};
use crate::workspace::Workspace;
use crate::{cargo, note};

/// Maximum exposure in `systemd-analyze security`, in tenths: 0 is confined, 100 is unconfined.
const EXPOSURE: &str = "--threshold=20";
/// Versions of Kubernetes to check the manifests with: the oldest that supports every field, and the newest.
const KUBERNETES: [&str; 2] = ["1.30", "1.37"];

/// Paths and programs of the checks.
struct Scene {
    /// `docs/deploy`.
    files: PathBuf,
    /// Folder for temporary files.
    scratch: PathBuf,
    /// Python interpreter beside the linters.
    python: PathBuf,
    /// Folder of Helm, which is compiled, or the reason why it is missing.
    helm: Result<PathBuf>,
    program: PathBuf,
}

type Check = fn(&Scene) -> Result<Skipped>;

/// Name, program that must be installed, and check.
const CHECKS: [(&str, Option<&str>, Check); 7] = [
    ("docker", None, docker),
    ("compose", None, compose),
    ("kubernetes", None, kubernetes),
    ("helm", Some("kubectl"), helm),
    ("prometheus and grafana", Some("promtool"), prometheus),
    ("systemd", Some("systemd-analyze"), systemd),
    ("nginx", Some("nginx"), nginx),
];

/// Runs all checks. Returns what they skipped, with the reasons.
pub(crate) fn test(workspace: &Workspace) -> Result<Vec<String>> {
    let place = workspace.target.join("deploy");
    let install = |language, pins: &str, folder: &str| {
        interop::install(language, &workspace.root.join("xtask/src/deploy").join(pins), &place.join(folder))
    };
    let mut missing = Vec::new();
    let python = install(Language::Python, "requirements.txt", "linters");
    let mut checks = CHECKS.to_vec();
    if let Err(error) = &python {
        missing.push(format!("no linters for docker, compose, kubernetes and helm: {error:#}"));
        checks.drain(..4);
    }
    let mut scene = Scene {
        files: workspace.root.join("docs/deploy"),
        scratch: PathBuf::new(),
        python: python.unwrap_or_default(),
        helm: install(Language::Go, "go.txt", "programs"),
        program: cargo::tested_program(workspace, "pypi-proxy")?,
    };
    for (name, program, check) in checks {
        scene.scratch = place.join(name);
        process::empty(&scene.scratch)?;
        let reason = match program.and_then(lacks) {
            None => check(&scene).context(name)?,
            missing => missing,
        };
        note(&format!("{name}: {}", reason.as_deref().unwrap_or("good")));
        missing.extend(reason.map(|reason| format!("{name}: {reason}")));
    }
    Ok(missing)
}

impl Scene {
    fn linter(&self, name: &str) -> Command {
        Command::new(self.python.with_file_name(name))
    }

    /// Checks files of Kubernetes objects.
    fn validate(&self, files: &[PathBuf]) -> Result<()> {
        for version in KUBERNETES {
            let mut linter = self.linter("kubernetes-validate");
            succeed(linter.args(["--strict", "--kubernetes-version", version]).args(files))?;
        }
        Ok(())
    }

    fn read(&self, name: &str) -> Result<String> {
        fs::read_to_string(self.files.join(name)).with_context(|| name.to_owned())
    }

    /// Renders the files for kustomize.
    fn kustomized(&self) -> Result<PathBuf> {
        let rendered = succeed(Command::new("kubectl").arg("kustomize").arg(self.files.join("kubernetes")))?;
        self.write("kustomized.yaml", &rendered.stdout)
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.scratch.join(name);
        fs::write(&path, text)?;
        Ok(path)
    }
}

fn docker(scene: &Scene) -> Result<Skipped> {
    for (linter, file) in [("hadolint", "docker/Dockerfile"), ("shellcheck", "docker/image.sh")] {
        succeed(scene.linter(linter).arg(scene.files.join(file)))?;
    }
    let daemon = process::first_line("docker", &["info", "--format", "{{.ID}}"]);
    Ok(daemon.is_none().then(|| "no engine of Docker runs here: the image is not built".to_owned()))
}

fn compose(scene: &Scene) -> Result<Skipped> {
    let mut command = scene.linter("docker-compose");
    // `example.env` lists the variables without a default.
    for line in scene.read("docker/example.env")?.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.split_once('=').context("a variable has a value")?;
        command.env(name, if value.is_empty() { "filled in" } else { value });
    }
    command.arg("--file").arg(scene.files.join("docker/compose.yaml"));
    succeed(command.args(["--profile", "watch", "config", "--quiet"]))?;
    Ok(None)
}

fn kubernetes(scene: &Scene) -> Result<Skipped> {
    let folder = scene.files.join("kubernetes");
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        // Kustomize reads this file; it is not an object of the cluster.
        if path.extension().is_some_and(|end| end == "yaml") && !path.ends_with("kustomization.yaml") {
            files.push(path);
        }
    }
    let missing = lacks("kubectl");
    if missing.is_none() {
        files.push(scene.kustomized()?);
    }
    scene.validate(&files)?;
    Ok(missing)
}

/// Renders the Helm chart, and compares it with the files for kustomize.
fn helm(scene: &Scene) -> Result<Skipped> {
    let folder = match &scene.helm {
        Ok(folder) => folder,
        Err(error) => return Ok(Some(format!("no Helm: {error:#}"))),
    };
    let other = scene.write("values.yaml", include_str!("deploy/values.yaml"))?;
    let run = |arguments: &[&str], more: &[&str]| {
        let mut command = Command::new(folder.join("helm"));
        command.args(arguments).arg(scene.files.join("helm/pypi-proxy")).args(more);
        // It must not read the configuration of this machine.
        command.env("HOME", &scene.scratch).env("HELM_NO_PLUGINS", "1");
        command.args(["--kube-version", KUBERNETES[0]]);
        command
    };
    let other = other.to_string_lossy();
    let mut files = Vec::new();
    // With the default values, and with values for the other branches of the chart.
    for (name, more) in [("default.yaml", &[][..]), ("other.yaml", &["--values", &*other])] {
        succeed(&mut run(&["lint", "--strict", "--quiet"], more))?;
        let rendered = succeed(&mut run(&["template", "--namespace=pypi-proxy", "pypi-proxy"], more))?;
        files.push(scene.write(name, &rendered.stdout)?);
    }
    for wrong in ["image.tga=x", "config.admin_token=x", "config.index_url=x", "port=80", "replicas=two"] {
        let finished = run(&["template"], &["--set", wrong]).output()?;
        let message = String::from_utf8_lossy(&finished.stderr);
        ensure!(message.contains("schema"), "the schema accepts {wrong}: {message}");
    }
    scene.validate(&files)?;
    let (default, other) = (objects(scene, &files[0])?, objects(scene, &files[1])?);
    let mut expected = objects(scene, &scene.kustomized()?)?;
    // Helm creates the namespace itself.
    expected.remove("Namespace");
    for objects in [&default, &other] {
        check_selectors(objects)?;
        // The program accepts the settings.
        let config = scene.write("config.toml", text(&objects["ConfigMap"]["data"]["config.toml"]))?;
        succeed(Command::new(&scene.program).arg("config").arg("--config").arg(config).env_clear())?;
    }
    let [default, expected] = [default, expected].map(|mut objects| {
        let config = text(&objects["ConfigMap"]["metadata"]["name"]).to_owned();
        objects.values_mut().for_each(|object| normalize(object, &config));
        objects
    });
    for (kind, object) in &expected {
        let found = default.get(kind);
        ensure!(found == Some(object), "{kind} differs from that of kustomize: {found:#?}");
    }
    ensure!(default.len() == expected.len(), "the chart has other objects than kustomize");
    Ok(None)
}

/// Prints the documents of a YAML file as an array in JSON.
const TO_JSON: &str = "import json, sys, yaml; print(json.dumps([one for one in yaml.safe_load_all(open(sys.argv[1])) if one]))";

/// Reads the objects of a YAML file, by kind.
fn objects(scene: &Scene, path: &Path) -> Result<BTreeMap<String, Value>> {
    let converted = succeed(Command::new(&scene.python).args(["-c", TO_JSON]).arg(path))?;
    let all: Vec<Value> = serde_json::from_str(&converted.stdout)?;
    Ok(all.into_iter().map(|object| (text(&object["kind"]).to_owned(), object)).collect())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Checks that every selector selects the instances.
fn check_selectors(objects: &BTreeMap<String, Value>) -> Result<()> {
    let workload = objects.get("Deployment").or_else(|| objects.get("StatefulSet")).context("no workload")?;
    let labels = workload["spec"]["template"]["metadata"]["labels"].as_object().context("no labels")?;
    for (kind, object) in objects {
        let spec = &object["spec"];
        for selector in
            [&spec["selector"]["matchLabels"], &spec["podSelector"]["matchLabels"], &spec["selector"]]
        {
            let selector = selector.as_object().filter(|selector| !selector.contains_key("matchLabels"));
            let is_right = |selector: &Map<String, Value>| {
                !selector.is_empty() && selector.iter().all(|(name, value)| labels.get(name) == Some(value))
            };
            ensure!(selector.is_none_or(is_right), "{kind} does not select the instances: {selector:?}");
        }
    }
    Ok(())
}

/// Removes labels and the hash of the settings, also from their name `config`, which kustomize derives from it. Parses the
/// settings.
fn normalize(value: &mut Value, config: &str) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                !["app.kubernetes.io/", "helm.sh/", "checksum/"].iter().any(|prefix| name.starts_with(prefix))
            });
            for (name, field) in fields.iter_mut() {
                normalize(field, config);
                if name == "config.toml"
                    && let Ok(table) = text(field).parse::<toml::Table>()
                {
                    *field = serde_json::to_value(table).unwrap_or_default();
                }
            }
            fields.retain(|_, field| !field.as_object().is_some_and(Map::is_empty));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| normalize(item, config)),
        Value::String(name) if name == config => "pypi-proxy".clone_into(name),
        _ => {}
    }
}

fn prometheus(scene: &Scene) -> Result<Skipped> {
    let folder = scene.files.join("prometheus");
    let promtool = |words: &[&str], file: &Path| {
        succeed(Command::new("promtool").args(words).arg(file).current_dir(&folder))
    };
    promtool(&["check", "config"], Path::new("prometheus.yml"))?;
    promtool(&["test", "rules"], Path::new("rules.test.yml"))?;
    // There is no checker for expressions alone, so the queries of the dashboard are checked as recording rules.
    let dashboard: Value = serde_json::from_str(&scene.read("grafana/pypi-proxy.json")?)?;
    let panels = dashboard["panels"].as_array().context("a dashboard has panels")?;
    let mut rules = "groups:\n- name: dashboard\n  rules:\n".to_owned();
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    for (at, target) in targets.enumerate() {
        let text = target["expr"].as_str().context("a target has an expression")?;
        let text = text.replace("$__rate_interval", "5m").replace("$__range", "1h");
        // JSON is YAML.
        rules += &format!("  - record: dashboard:{at}\n    expr: {}\n", Value::from(text));
    }
    ensure!(rules.contains("dashboard:9"), "there are few expressions in the dashboard");
    promtool(&["check", "rules"], &scene.write("dashboard.yml", &rules)?)?;
    Ok(None)
}

/// Checks units, and that they have no unknown settings, about which `systemd-analyze` only warns.
pub(crate) fn verify_units(units: &[&Path]) -> Result<()> {
    let mut command = Command::new("systemd-analyze");
    let verified = succeed(command.args(["verify", "--man=no", "--recursive-errors=no"]).args(units))?;
    ensure!(verified.stderr.is_empty(), "systemd-analyze: {}", verified.stderr);
    Ok(())
}

fn systemd(scene: &Scene) -> Result<Skipped> {
    let program = scene.program.to_string_lossy();
    let unit = scene
        .read("systemd/pypi-proxy.service")?
        .replace("ExecStart=pypi-proxy", &format!("ExecStart={program}"));
    let service = scene.write("pypi-proxy.service", &unit)?;
    let socket = scene.write("pypi-proxy.socket", &scene.read("systemd/pypi-proxy.socket")?)?;
    verify_units(&[&service, &socket])?;
    let mut judge = Command::new("systemd-analyze");
    let judged = succeed(judge.args(["security", "--offline=yes", EXPOSURE]).arg(service))?;
    note(judged.stdout.lines().last().unwrap_or_default());
    // Starting it would add a service to this machine.
    Ok(Some("the service is verified and not started".to_owned()))
}

fn nginx(scene: &Scene) -> Result<Skipped> {
    // nginx resolves host names when it reads the file.
    let text =
        scene.read("nginx/nginx.conf")?.replace("proxy-1:", "127.0.0.1:").replace("proxy-2:", "127.0.0.2:");
    let text = text.replace("/tmp/", &format!("{}/", scene.scratch.display()));
    let path = scene.write("nginx.conf", &text)?;
    let mut command = Command::new("nginx");
    command.args(["-t", "-e", "stderr", "-p"]).arg(&scene.scratch).arg("-c").arg(path);
    let finished = succeed(&mut command)?;
    ensure!(!finished.stderr.contains("[warn]"), "nginx: {}", finished.stderr);
    Ok(None)
}
