// All nodes as a table: sorted, paged, and as CSV.
import { byId, download, format, go, make, onMove, announce, show, notify, where } from "./basics.js";
import { findColumn, graph } from "./graph_view.js";

const PAGE = 25;
let order = [];
let sortBy = "Node";
let isUp = true;
let page = 0;

export async function listTableColumns() {
  const { scene, data } = graph;
  const word = (column) => (i) => (data.classes ? data.classes[column[i]] ?? null : column[i]);
  const columns = [["Node", (i) => scene.names[i], true], ["Known", (i) => (scene.columns.known[i] > 0 ? "yes" : "no")]];
  columns.push(["Value", word(scene.columns.value)]);
  if (scene.columns.prediction) columns.push(["Prediction", word(scene.columns.prediction)]);
  for (const kind of ["uncertainty", "error"]) {
    try {
      await findColumn(kind);
    } catch {
      continue; // the model cannot compute it
    }
    if (kind === "error" && scene.columns.left_out) columns.push(["Left-out prediction", word(scene.columns.left_out)]);
    if (kind === "uncertainty" && scene.columns.lower) columns.push(["Lower", (i) => scene.columns.lower[i]], ["Upper", (i) => scene.columns.upper[i]]);
    columns.push([kind === "error" ? "Left-out error" : "Uncertainty", (i) => scene.columns[kind][i]]);
  }
  return columns;
}

const compare = (a, b) => {
  const [isA, isB] = [a, b].map((one) => one !== null && one !== undefined && !Number.isNaN(one));
  if (!isA || !isB) return isA ? -1 : isB ? 1 : 0;
  const sign = typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0;
  return isUp ? sign : -sign;
};

export async function startTable() {
  onMove((names) => { if (names.has("view")) showTable(); });
  await showTable();
}

export async function showTable() {
  if (where.view !== "table" || !graph.scene) return;
  const section = byId("view-table");
  if (graph.scene.sizes) {
    section.replaceChildren(make("p", { class: "note" }, "The graph is large: open a community or a node, and its nodes are listed here."));
    return;
  }
  const columns = await listTableColumns();
  const get = columns.find(([name]) => name === sortBy)?.[1] ?? columns[0][1];
  order = Array.from({ length: graph.scene.n }, (_, i) => i).sort((a, b) => compare(get(a), get(b)));
  const last = Math.max(0, Math.ceil(order.length / PAGE) - 1);
  page = Math.min(page, last);
  const heads = columns.map(([name]) => make("th", { scope: "col", "aria-sort": name === sortBy ? (isUp ? "ascending" : "descending") : "none" },
    make("button", { type: "button", class: "link", onclick: () => sort(name) }, name, name === sortBy ? (isUp ? " ↑" : " ↓") : "")));
  const rows = order.slice(page * PAGE, page * PAGE + PAGE).map((i) => make("tr", {}, columns.map(([, read], at) => (at
    ? make("td", {}, typeof read(i) === "number" ? format(read(i)) : show(read(i) ?? "–"))
    : make("th", { scope: "row" }, make("button", { type: "button", class: "link", onclick: () => go({ view: "graph", node: read(i) }) }, make("bdi", {}, show(read(i)))))))));
  const turn = (by) => make("button", { type: "button", class: "quiet", disabled: by < 0 ? page === 0 : page === last, onclick: () => { page += by; showTable(); } }, by < 0 ? "Previous" : "Next");
  section.replaceChildren(
    make("div", { class: "card" },
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "All nodes" }, make("table", { class: "wide" }, make("thead", {}, make("tr", {}, heads)), make("tbody", { id: "rows" }, rows))),
      make("div", { class: "row pages" }, turn(-1), make("span", { class: "note" }, `${page * PAGE + 1} to ${Math.min(order.length, page * PAGE + PAGE)} of ${order.length}`), turn(1))));
}

function sort(name) {
  isUp = name === sortBy ? !isUp : true;
  sortBy = name;
  page = 0;
  announce(`Sorted by ${name}, ${isUp ? "ascending" : "descending"}`);
  showTable();
}

// Spreadsheets run texts that look like formulas: such a name gets a leading apostrophe.
const quote = (value) => {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export async function saveCsv() {
  if (graph.scene.sizes) return notify("Open a community or a node first: an overview has no table.", true);
  const columns = await listTableColumns();
  const lines = [columns.map(([name]) => name.toLowerCase().replaceAll(/[ -]/g, "_")).join(",")];
  for (let i = 0; i < graph.scene.n; i++) lines.push(columns.map(([, read]) => quote(read(i))).join(","));
  download(`${lines.join("\r\n")}\r\n`, "gradraker-nodes.csv", "text/csv;charset=utf-8");
  return notify("The table is saved.");
}
