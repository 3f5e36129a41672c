//! The step `json-api` of the gate: compares the public API of serde_json with that of the package of this repository that
//! replaces it.
//!
//! rustdoc describes both as JSON. Each item, method, implementation and associated type becomes a line of text. Names of
//! parameters, elided lifetimes, aliases of types, and the place of a bound do not change a line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use crate::process::{Skipped, empty, finish};
use crate::workspace::Workspace;
use crate::{cargo, json_suite, note};

/// Sets of features with different APIs.
const FEATURES: [&[&str]; 3] = [
    &["alloc"],
    &["std"],
    &["std", "preserve_order", "arbitrary_precision", "raw_value", "float_roundtrip", "unbounded_depth"],
];

/// Compares the APIs, unless the dependencies cannot be downloaded.
pub(crate) fn check(workspace: &Workspace) -> Result<Skipped> {
    let patch = json_suite::patch(workspace);
    let mut missing = 0;
    for features in FEATURES {
        note(&format!("features: {}", features.join(", ")));
        let mut apis = [BTreeSet::new(), BTreeSet::new()];
        for (api, patch) in apis.iter_mut().zip(["", patch.as_str()]) {
            match describe(workspace, features, patch)? {
                Ok(lines) => *api = lines,
                Err(reason) => return Ok(Some(reason)),
            }
        }
        let [theirs, ours] = apis;
        for line in theirs.difference(&ours) {
            missing += 1;
            note(&format!("missing: {line}"));
            let head = |line: &str| line.split(": ").next().map(str::to_owned);
            for similar in ours.difference(&theirs).filter(|similar| head(similar) == head(line)) {
                note(&format!("instead: {similar}"));
            }
        }
    }
    ensure!(missing == 0, "the package serde_json lacks {missing} lines of the API of serde_json");
    Ok(None)
}

/// Returns the API of serde_json, or of the package that replaces it, or why there is none.
fn describe(
    workspace: &Workspace,
    features: &[&str],
    patch: &str,
) -> Result<Result<BTreeSet<String>, String>> {
    let folder = workspace.scratch().join("json-api");
    // With the output of the last run: all runs write the same file.
    empty(&folder)?;
    fs::write(folder.join("lib.rs"), "")?;
    let manifest = format!(
        "[workspace]\n[package]\nname = \"api\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n\
         [dependencies]\nserde_json = {{ version = {:?}, default-features = false, features = {features:?} }}\n{patch}",
        json_suite::requirement(workspace)?,
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let command = |arguments: &[&str]| {
        let mut command = cargo::command(workspace, arguments);
        command.current_dir(&folder).env("CARGO_TARGET_DIR", folder.join("target"));
        command
    };
    if let Err(error) = finish(command(&["fetch", "--quiet"])) {
        return Ok(Err(format!("the dependencies of serde_json cannot be downloaded: {error}")));
    }
    let mut rustdoc = command(&["rustdoc", "--quiet", "--package", "serde_json", "--lib", "--"]);
    rustdoc.args(["-Zunstable-options", "--output-format", "json"]).env("RUSTC_BOOTSTRAP", "1");
    finish(rustdoc)?;
    let path = folder.join("target/doc/serde_json.json");
    let document = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    lines(&serde_json::from_str(&document)?).map(Ok)
}

/// Returns the lines of a crate that rustdoc described.
fn lines(document: &Value) -> Result<BTreeSet<String>> {
    let index = document["index"].as_object().context("rustdoc lists no items")?;
    let paths = document["paths"].as_object().context("rustdoc lists no paths")?;
    let mut items = Vec::new();
    find_items(index, &document["root"], "serde_json", &mut items);
    let mut names = BTreeMap::new();
    for (path, item) in &items {
        let order = |path: &str| (path.split("::").count(), path.to_owned());
        let name = names.entry(key(&item["id"])).or_insert_with(|| path.clone());
        if order(path) < order(name) {
            name.clone_from(path);
        }
    }
    let api = Api { index, paths, names };
    let mut lines = BTreeSet::new();
    for (path, item) in items {
        api.item(&path, item, &mut lines);
    }
    index.values().for_each(|item| api.implementation(item, &mut lines));
    Ok(lines)
}

/// Returns an id as a key of `index` and `paths`.
fn key(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn elements(array: &Value) -> impl Iterator<Item = &Value> {
    array.as_array().into_iter().flatten()
}

/// Returns the kind of an item and its description.
fn kind(item: &Value) -> Option<(&str, &Value)> {
    let (kind, inner) = item["inner"].as_object()?.iter().next()?;
    Some((kind.as_str(), inner))
}

/// Finds all items that a program can name, and their paths.
fn find_items<'a>(
    index: &'a Map<String, Value>,
    id: &Value,
    path: &str,
    found: &mut Vec<(String, &'a Value)>,
) {
    let Some(item) = index.get(&key(id)) else { return };
    match kind(item) {
        Some(("use", target)) => find_items(index, &target["id"], path, found),
        Some(("module", module)) => {
            found.push((path.to_owned(), item));
            for id in elements(&module["items"]) {
                let child = index.get(&key(id)).unwrap_or(&Value::Null);
                let renamed = child["inner"]["use"]["name"].as_str();
                let name = renamed.or(child["name"].as_str()).unwrap_or_default();
                find_items(index, id, &format!("{path}::{name}"), found);
            }
        }
        _ => found.push((path.to_owned(), item)),
    }
}

/// Name of items that a program cannot name.
const PRIVATE: &str = "(private)";

struct Api<'a> {
    index: &'a Map<String, Value>,
    paths: &'a Map<String, Value>,
    /// Shortest path of each item.
    names: BTreeMap<String, String>,
}

impl Api<'_> {
    fn get(&self, id: &Value) -> &Value {
        self.index.get(&key(id)).unwrap_or(&Value::Null)
    }

    fn name(&self, id: &Value) -> String {
        let key = key(id);
        let summary = self.paths.get(&key).unwrap_or(&Value::Null);
        match self.names.get(&key) {
            Some(name) => name.clone(),
            None if summary["crate_id"].as_u64().is_none_or(|id| id == 0) => PRIVATE.to_owned(),
            None => elements(&summary["path"]).filter_map(Value::as_str).collect::<Vec<_>>().join("::"),
        }
    }

    /// Returns a part of a signature with names in place of ids, and with the types that aliases stand for.
    fn resolve(&self, part: &Value) -> Value {
        match part {
            Value::Array(parts) => parts.iter().map(|part| self.resolve(part)).collect(),
            Value::Object(entries) => {
                if let Some(alias) = self.alias(&part["resolved_path"]) {
                    return alias;
                }
                if let Some(id) = entries.get("id") {
                    return json!([self.name(id), self.arguments(&part["args"])]);
                }
                let entry = |(key, value): (&String, &Value)| match key.as_str() {
                    "lifetime" if value.is_null() => (key.clone(), json!("'_")),
                    "args" => (key.clone(), self.arguments(value)),
                    _ => (key.clone(), self.resolve(value)),
                };
                entries.iter().map(entry).collect()
            }
            _ => part.clone(),
        }
    }

    /// Returns generic arguments, `null` if there are none.
    fn arguments(&self, arguments: &Value) -> Value {
        let list = arguments["angle_bracketed"].as_object();
        match list.is_some_and(|list| list.values().all(|part| elements(part).next().is_none())) {
            true => Value::Null,
            false => self.resolve(arguments),
        }
    }

    /// Returns the type that an alias of the crate stands for.
    fn alias(&self, path: &Value) -> Option<Value> {
        let alias = self.get(&path["id"])["inner"].get("type_alias")?;
        let parameters =
            elements(&alias["generics"]["params"]).filter_map(|parameter| parameter["name"].as_str());
        let arguments = self.resolve(&path["args"]);
        let types = elements(&arguments["angle_bracketed"]["args"]).map(|argument| argument["type"].clone());
        Some(substitute(&self.resolve(&alias["type"]), &parameters.zip(types).collect()))
    }

    /// Returns the text of something with parameters, which are numbered in the order of their first use. A lifetime that is
    /// used once is the same as an elided one.
    fn signature(&self, generics: &[&Value], content: Value) -> String {
        let mut uses = BTreeMap::new();
        let mut bounds = Vec::new();
        for generics in generics {
            for parameter in elements(&generics["params"]) {
                let (name, kind) = (&parameter["name"], &parameter["kind"]);
                uses.insert(name.as_str().unwrap_or_default().to_owned(), 0);
                for bound in elements(&kind["type"]["bounds"]) {
                    bounds.push(json!([{"generic": name}, self.resolve(bound)]));
                }
                for longer in elements(&kind["lifetime"]["outlives"]) {
                    bounds.push(json!([{"lifetime": name}, {"outlives": longer}]));
                }
                let default = &kind["type"]["default"];
                if !default.is_null() {
                    bounds.push(json!([{"generic": name}, {"default": self.resolve(default)}]));
                }
            }
            for predicate in elements(&generics["where_predicates"]) {
                let of_type = &predicate["bound_predicate"];
                for bound in elements(&of_type["bounds"]) {
                    bounds.push(json!([self.resolve(&of_type["type"]), self.resolve(bound)]));
                }
                let of_lifetime = &predicate["lifetime_predicate"];
                for longer in elements(&of_lifetime["outlives"]) {
                    bounds.push(json!([{"lifetime": of_lifetime["lifetime"]}, {"outlives": longer}]));
                }
                if of_type.is_null() && of_lifetime.is_null() {
                    bounds.push(self.resolve(predicate));
                }
            }
        }
        bounds.sort_by_cached_key(Value::to_string);
        let all = json!([content, bounds]);
        rewrite(&all, &mut |text| {
            if let Some(count) = uses.get_mut(text) {
                *count += 1;
            }
            text.to_owned()
        });
        let mut numbers = BTreeMap::new();
        let all = rewrite(&all, &mut |text| match uses.get(text) {
            None => text.to_owned(),
            Some(1) if text.starts_with('\'') => "'_".to_owned(),
            Some(_) => {
                let next = numbers.len();
                format!("${}", numbers.entry(text.to_owned()).or_insert(next))
            }
        });
        let bounds: BTreeSet<String> = elements(&all[1]).map(Value::to_string).collect();
        format!("{} where {}", all[0], bounds.into_iter().collect::<Vec<_>>().join(", "))
    }

    /// Adds the lines of an item, without its implementations.
    fn item(&self, path: &str, item: &Value, lines: &mut BTreeSet<String>) {
        let Some((kind, inner)) = kind(item) else { return };
        let content = match kind {
            "function" => self.function(inner),
            "struct" => json!([inner["kind"] == "unit", self.fields(&inner["kind"])]),
            "enum" => {
                let variant = |id: &Value| {
                    let variant = self.get(id);
                    json!([variant["name"], self.fields(&variant["inner"]["variant"]["kind"])])
                };
                let own_type = json!({"resolved_path": [self.name(&item["id"]), null]});
                let variants: Value = elements(&inner["variants"]).map(variant).collect();
                substitute(&variants, &BTreeMap::from([("Self", own_type)]))
            }
            "trait" => json!([inner["is_auto"], inner["is_unsafe"], self.resolve(&inner["bounds"])]),
            "type_alias" | "constant" => self.resolve(&inner["type"]),
            _ => Value::Null,
        };
        lines.insert(format!("{kind} {path}: {}", self.signature(&[&inner["generics"]], content)));
        if kind == "trait" {
            for id in elements(&inner["items"]) {
                self.member(path, &Value::Null, &inner["generics"], self.get(id), lines);
            }
        }
    }

    /// Adds the line of a method, constant or type of a trait, or of an implementation, whose trait and type are `context`.
    fn member(
        &self,
        path: &str,
        context: &Value,
        generics: &Value,
        member: &Value,
        lines: &mut BTreeSet<String>,
    ) {
        let Some((kind, inner)) = kind(member) else { return };
        let content = match kind {
            "function" => json!([context, self.function(inner), inner["has_body"]]),
            _ => json!([context, self.resolve(&inner["type"]), self.resolve(&inner["bounds"])]),
        };
        let name = member["name"].as_str().unwrap_or_default();
        let signature = self.signature(&[generics, &inner["generics"]], content);
        lines.insert(format!("{kind} {path}::{name}: {signature}"));
    }

    fn function(&self, function: &Value) -> Value {
        let signature = &function["sig"];
        let types: Value = elements(&signature["inputs"]).map(|input| self.resolve(&input[1])).collect();
        json!([types, self.resolve(&signature["output"]), function["header"]])
    }

    /// Returns the names and types of the public fields of a struct or variant.
    fn fields(&self, kind: &Value) -> Value {
        let named = ["plain", "struct"].map(|kind_of_fields| &kind[kind_of_fields]["fields"]);
        let ids = named.into_iter().chain([&kind["tuple"]]).flat_map(elements);
        let field = |id: &Value| {
            let field = self.get(id);
            json!([field["name"], self.resolve(&field["inner"]["struct_field"])])
        };
        ids.filter(|id| !id.is_null()).map(field).collect()
    }

    /// Adds the lines of an implementation, unless it belongs to a type or trait that a program cannot name, or to all types.
    fn implementation(&self, item: &Value, lines: &mut BTreeSet<String>) {
        let Some(("impl", inner)) = kind(item) else { return };
        let of_type = self.resolve(&inner["for"]);
        let own_type = BTreeMap::from([("Self", of_type.clone())]);
        let inner = substitute(inner, &own_type);
        let of_trait = self.resolve(&inner["trait"]);
        let header = json!([of_trait, of_type, inner["is_negative"], inner["is_unsafe"]]);
        let is_of_crate = item["crate_id"].as_u64() == Some(0);
        if !is_of_crate || !inner["blanket_impl"].is_null() || header.to_string().contains(PRIVATE) {
            return;
        }
        let mut own_lines = BTreeSet::new();
        let head = match of_trait[0].as_str() {
            Some(name) => {
                let signature = self.signature(&[&inner["generics"]], header);
                own_lines.insert(format!("impl {name}: {signature}"));
                name
            }
            None => of_type["resolved_path"][0].as_str().unwrap_or_default(),
        };
        let context = json!([of_trait, of_type]);
        // The signatures of methods are those of the trait.
        let is_compared = |member: &&Value| of_trait.is_null() || member["inner"].get("assoc_type").is_some();
        for member in elements(&inner["items"]).map(|id| self.get(id)).filter(is_compared) {
            let member = substitute(member, &own_type);
            self.member(head, &context, &inner["generics"], &member, &mut own_lines);
        }
        lines.extend(own_lines.into_iter().filter(|line| !line.contains(PRIVATE)));
    }
}

/// Replaces generic types by others.
fn substitute(part: &Value, types: &BTreeMap<&str, Value>) -> Value {
    match part {
        Value::Array(parts) => parts.iter().map(|part| substitute(part, types)).collect(),
        Value::Object(entries) => match part["generic"].as_str().and_then(|name| types.get(name)) {
            Some(replacement) => replacement.clone(),
            None => entries.iter().map(|(key, value)| (key.clone(), substitute(value, types))).collect(),
        },
        _ => part.clone(),
    }
}

/// Replaces all texts.
fn rewrite(part: &Value, replace: &mut impl FnMut(&str) -> String) -> Value {
    match part {
        Value::String(text) => replace(text).into(),
        Value::Array(parts) => parts.iter().map(|part| rewrite(part, replace)).collect(),
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| (key.clone(), rewrite(value, replace))).collect()
        }
        _ => part.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a crate with the function `f` of this signature and generics, an alias of a type, and a struct.
    fn document(function: Value) -> Value {
        let result = json!({"resolved_path": {"path": "Result", "id": 9, "args": {"angle_bracketed": {
            "args": [{"type": {"generic": "A"}}, {"type": {"primitive": "u8"}}], "constraints": [],
        }}}});
        let parameter = json!({"name": "A", "kind": {"type": {"bounds": [], "default": null}}});
        let alias = json!({"type_alias": {"type": result, "generics": {"params": [parameter], "where_predicates": []}}});
        json!({
            "root": 0,
            "index": {
                "0": {"id": 0, "crate_id": 0, "name": "c", "inner": {"module": {"items": [1, 2, 3]}}},
                "1": {"id": 1, "crate_id": 0, "name": "f", "inner": {"function": function}},
                "2": {"id": 2, "crate_id": 0, "name": "R", "inner": alias},
                "3": {"id": 3, "crate_id": 0, "name": null, "inner": {"use": {"name": "S", "id": 4}}},
                "4": {"id": 4, "crate_id": 0, "name": "S", "inner": {"struct": {"kind": {"plain": {"fields": []}}}}},
            },
            "paths": {"8": {"crate_id": 1, "path": ["core", "Copy"]}, "9": {"crate_id": 1, "path": ["core", "Result"]}},
        })
    }

    fn of_path(id: u8, arguments: Value) -> Value {
        json!({"path": "P", "id": id, "args": {"angle_bracketed": {"args": arguments, "constraints": []}}})
    }

    fn copy() -> Value {
        json!([{"trait_bound": {"trait": of_path(8, json!([])), "generic_params": [], "modifier": "none"}}])
    }

    fn reference(lifetime: Value) -> Value {
        json!({"borrowed_ref": {"lifetime": lifetime, "is_mutable": false, "type": {"resolved_path": of_path(4, json!([]))}}})
    }

    #[test]
    fn equal_signatures_have_equal_lines() {
        let in_place = document(json!({
            "sig": {"inputs": [["x", {"generic": "T"}], ["y", reference(Value::Null)]],
                "output": {"resolved_path": of_path(2, json!([{"type": {"generic": "T"}}]))}},
            "generics": {"params": [{"name": "T", "kind": {"type": {"bounds": copy(), "default": null}}}],
                "where_predicates": []},
        }));
        let arguments = json!([{"type": {"generic": "Q"}}, {"type": {"primitive": "u8"}}]);
        let in_clause = document(json!({
            "sig": {"inputs": [["a", {"generic": "Q"}], ["b", reference(json!("'a"))]],
                "output": {"resolved_path": of_path(9, arguments)}},
            "generics": {
                "params": [{"name": "'a", "kind": {"lifetime": {"outlives": []}}},
                    {"name": "Q", "kind": {"type": {"bounds": [], "default": null}}}],
                "where_predicates": [{"bound_predicate": {"type": {"generic": "Q"}, "bounds": copy()}}],
            },
        }));
        let expected = lines(&in_place).unwrap();
        assert_eq!(lines(&in_clause).unwrap(), expected);
        let heads: Vec<_> = expected.iter().map(|line| line.split(": ").next().unwrap()).collect();
        let heads_of_items = [
            "function serde_json::f",
            "module serde_json",
            "struct serde_json::S",
            "type_alias serde_json::R",
        ];
        assert_eq!(heads, heads_of_items);
    }

    #[test]
    fn another_bound_is_another_line() {
        let document = |bounds: Value| {
            document(json!({
                "sig": {"inputs": [["x", {"generic": "T"}]], "output": null},
                "generics": {"params": [{"name": "T", "kind": {"type": {"bounds": bounds, "default": null}}}]},
            }))
        };
        assert_ne!(lines(&document(copy())).unwrap(), lines(&document(json!([]))).unwrap());
    }
}
