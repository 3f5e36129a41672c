"use strict";
// Foreign texts become text of elements, never markup.
const one = selector => document.querySelector(selector);
const each = (name, todo) => document.querySelectorAll(`[data-${name}]`).forEach(element => todo(element, element.dataset[name]));
const make = (name, text = "") => Object.assign(document.createElement(name), { textContent: text });

function progress({ value, max }) {
  return max === null ? "" : Object.assign(make("progress"), { max: Math.max(max, 1), value });
}

function tableRow({ cells, bar, forget: project }) {
  const row = make("tr");
  cells.forEach(text => row.append(make("td", text)));
  if (bar) {
    const cell = make("td");
    cell.append(progress(bar));
    row.append(cell);
  }
  if (project) {
    const [cell, button] = [make("td"), make("button", "Forget")];
    button.type = "button";
    button.addEventListener("click", () => forget(`cache/${encodeURIComponent(project)}`));
    cell.append(button);
    row.append(cell);
  }
  return row;
}

const shown = {};
function show(view) {
  each("text", (element, name) => { element.textContent = view.texts[name] ?? ""; });
  each("line", (element, name) => element.setAttribute("d", view.lines[name] ?? ""));
  each("bar", (element, name) => element.replaceChildren(progress(view.bars[name])));
  each("table", (element, name) => {
    // Rows that are the same keep what has the focus.
    const rows = JSON.stringify(view.tables[name]);
    if (shown[name] !== rows) element.replaceChildren(...view.tables[name].map(tableRow));
    shown[name] = rows;
  });
  one(".state").classList.toggle("bad", !view.is_well);
}

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch("status.json", { cache: "no-store" });
    if (!answer.ok) throw new Error();
    show(await answer.json());
    one("#stale").textContent = "";
  } catch {
    one("#stale").textContent = "The proxy does not answer: these figures are old.";
  }
}

async function forget(path) {
  const token = one("#token").value;
  const result = one("#result");
  const tell = (text, isBad) => {
    result.textContent = text;
    result.classList.toggle("bad", isBad);
    result.scrollIntoView({ block: "nearest" });
  };
  try {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const answer = await fetch(path, { method: "DELETE", headers });
    if (answer.ok) tell(`Forgotten: ${decodeURIComponent(path)}`, false);
    else if (answer.status === 401) tell("The admin token is missing or wrong.", true);
    else tell(`It was refused: ${(await answer.text()).slice(0, 200)}`, true);
  } catch {
    tell("The proxy does not answer.", true);
  }
  refresh();
}

function forgetNamed(withFile) {
  const [project, file] = ["#project", "#file"].map(field => one(field).value.trim());
  const missing = !project ? "#project" : withFile && !file ? "#file" : null;
  if (missing) return one(missing).focus();
  const names = withFile ? [project, file] : [project];
  return forget(`cache/${names.map(encodeURIComponent).join("/")}`);
}

one("#forget").hidden = false;
one("#forget-project").addEventListener("click", () => forgetNamed(false));
one("#forget-file").addEventListener("click", () => forgetNamed(true));
one("#forget-list").addEventListener("click", () => forget("cache/list"));
one("#forget-all").addEventListener("click", () => forget("cache"));
setInterval(refresh, 2000);
refresh();
