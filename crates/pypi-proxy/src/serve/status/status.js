"use strict";
// Untrusted texts are only used as text content, never as markup.
const one = selector => document.querySelector(selector);
const each = (name, todo) => document.querySelectorAll(`[data-${name}]`).forEach(element => todo(element, element.dataset[name]));
const make = (name, text = "") => Object.assign(document.createElement(name), { textContent: text });

function progress({ value, max }) {
  return max === null ? "" : Object.assign(make("progress"), { max: Math.max(max, 1), value, ariaLabel: "Part" });
}

// Absent if the cache can't be purged.
const canPurge = one("#purge") !== null;

function tableRow({ cells, bar, purge: path }, labels) {
  const row = make("tr");
  cells.forEach((text, at) => {
    const cell = make("td", text);
    cell.dataset.label = labels[at] ?? "";
    row.append(cell);
  });
  if (bar) {
    const cell = make("td");
    cell.append(progress(bar));
    row.append(cell);
  }
  if (path && canPurge) {
    const [cell, button] = [make("td"), make("button", "Purge")];
    button.type = "button";
    button.addEventListener("click", () => purge(path));
    cell.append(button);
    row.append(cell);
  }
  return row;
}

const shown = {};
function show(view) {
  each("text", (element, name) => { element.textContent = view.texts[name] ?? ""; });
  each("bar", (element, name) => element.replaceChildren(progress(view.bars[name])));
  each("table", (element, name) => {
    // Unchanged rows are not replaced, so that they keep the focus.
    const rows = JSON.stringify(view.tables[name]);
    const labels = [...element.parentElement.tHead.rows[0].cells].map(cell => cell.textContent);
    if (shown[name] !== rows) element.replaceChildren(...view.tables[name].map(row => tableRow(row, labels)));
    shown[name] = rows;
  });
  one(".state").classList.toggle("bad", !view.is_well);
}

async function refresh() {
  if (document.hidden) return;
  try {
    const response = await fetch(`status.json${location.search}`, { cache: "no-store" });
    if (!response.ok) throw new Error();
    show(await response.json());
    one("#stale").textContent = "";
  } catch {
    one("#stale").textContent = "The proxy does not respond: these values are out of date.";
  }
}

async function purge(path) {
  const token = one("#token").value;
  const result = one("#result");
  const showResult = (text, isBad) => {
    result.textContent = text;
    result.classList.toggle("bad", isBad);
    result.scrollIntoView({ block: "nearest" });
  };
  try {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const response = await fetch(path, { method: "DELETE", headers });
    if (response.ok) showResult(`Purged: ${decodeURIComponent(path)}`, false);
    else if (response.status === 401) showResult("The admin token is missing or wrong.", true);
    else showResult(`Rejected: ${(await response.text()).slice(0, 200)}`, true);
  } catch {
    showResult("The proxy does not respond.", true);
  }
  refresh();
}

function purgeNamed(withFile) {
  const [project, file] = ["#project", "#file"].map(field => one(field).value.trim());
  const missing = !project ? "#project" : withFile && !file ? "#file" : null;
  if (missing) return one(missing).focus();
  const names = withFile ? [project, file] : [project];
  return purge(`cache/${names.map(encodeURIComponent).join("/")}`);
}

if (canPurge) {
  one("#purge").hidden = false;
  one("#purge-project").addEventListener("click", () => purgeNamed(false));
  one("#purge-file").addEventListener("click", () => purgeNamed(true));
  one("#purge-list").addEventListener("click", () => purge("cache/list"));
  one("#purge-all").addEventListener("click", () => purge("cache"));
}
setInterval(refresh, 2000);
refresh();
