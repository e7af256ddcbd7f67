"use strict";
// The nodes of one target; the ids of its elements begin with the prefix.
function explore(prefix) {
const byId = id => document.getElementById(prefix + id);
const data = JSON.parse(byId("explorer-data").textContent);
const PAGE = 15, SVG = "http://www.w3.org/2000/svg", CLASSES = data.task === "classes";

// -- data ---------------------------------------------------------------------
const TYPES = {known: Uint8Array, degree: Uint32Array, starts: Uint32Array, ids: Uint32Array};
if (CLASSES) for (const name of ["value", "prediction", "runner_up", "left_out"]) TYPES[name] = Int32Array;

function unpack(name, text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new (TYPES[name] || Float32Array)(bytes.buffer);
}
const columns = {};
for (const [name, text] of Object.entries(data.columns)) columns[name] = unpack(name, text);
const starts = unpack("starts", data.neighbours.starts), ids = unpack("ids", data.neighbours.ids);
const names = data.names, lowered = names.map(name => name.toLowerCase());
const odd = new Set(data.odd), panels = new Map(data.panels.map(panel => [panel.i, panel]));
const {known, value, prediction, degree} = columns;
const n = data.n;
// Columns that only some nodes have are NaN elsewhere, and NaN is sorted last.
const width = columns.lower && columns.upper.map((end, i) => end - columns.lower[i]);
const error = columns.left_out && Float32Array.from(columns.left_out, (predicted, i) => {
  if (!known[i] || (CLASSES && predicted < 0) || predicted !== predicted) return NaN;
  return CLASSES ? (predicted === value[i] ? 0 : 1) : predicted - value[i];
});
const absolute_error = error && error.map(Math.abs);
const value_key = CLASSES ? Float32Array.from(value, v => v < 0 ? NaN : v) : value;

// -- numbers and names ----------------------------------------------------------
function format(number) {
  if (!Number.isFinite(number)) return number === Infinity ? "∞" : number === -Infinity ? "−∞" : "";
  let text = Number(number.toPrecision(4)).toString();
  if (/e/.test(text) || Math.abs(number) >= 1e6) {
    const [digits, power] = number.toExponential(3).split("e");
    text = `${Number(digits)}e${power.replace("+", "")}`;
  }
  const [whole, part] = text.split(".");
  const grouped = /e/.test(whole) ? whole : whole.replace(/\B(?=(\d{3})+(?!\d))/g, data.group);
  return (part === undefined ? grouped : grouped + data.decimal + part).replaceAll("-", "−");
}
const count = number => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, data.group);
const with_unit = text => text && data.unit ? `${text} ${data.unit}` : text;
const label = code => code < 0 ? "" : data.classes[code];
const show = (number) => CLASSES ? label(number) : format(number);
const percent = part => `${format(100 * part)} %`;
const parse = text => text.trim() === "" ? NaN : Number(text.trim().replaceAll(data.group, "").replace(data.decimal, ".").replace("−", "-"));

function make(tag, text, attributes = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== null) element.textContent = text;
  for (const [name, content] of Object.entries(attributes)) element.setAttribute(name, content);
  element.append(...children);
  return element;
}
function name_button(i) {
  const button = make("button", null, {type: "button", class: "name"}, make("bdi", names[i]));
  button.addEventListener("click", () => open_panel(i));
  return button;
}

// -- the table --------------------------------------------------------------------
// title, text of a cell, sort keys; nodes are already in the order of their names
const TABLE = [
  ["Node", null, null],
  ["Known value", i => known[i] ? show(value[i]) : "", value_key],
  [CLASSES ? "Class" : "Prediction", i => show(prediction[i]), CLASSES ? Float32Array.from(prediction) : prediction],
];
if (CLASSES) TABLE.push(["Probability", i => format(columns.probability[i]), columns.probability]);
if (columns.runner_up) TABLE.push(["Runner-up", i => `${label(columns.runner_up[i])} ${format(columns.runner_up_probability[i])}`, columns.runner_up_probability]);
if (columns.lower) TABLE.push(["From", i => format(columns.lower[i]), columns.lower], ["To", i => format(columns.upper[i]), columns.upper], ["Width", i => format(width[i]), width]);
if (error) TABLE.push(["Left-out error", i => CLASSES ? (error[i] !== error[i] ? "" : error[i] ? "wrong" : "right") : format(error[i]), absolute_error]);
TABLE.push(["Neighbours", i => count(degree[i]), Float32Array.from(degree)]);
const state = {column: 0, down: false, page: 0, rows: new Uint32Array(0)};

// Stable radix sort of float32 keys; NaN comes last in both directions.
function sort(rows, keys, down) {
  const bits = new Uint32Array(keys.buffer, keys.byteOffset, keys.length), m = rows.length;
  let order = rows, codes = new Uint32Array(m);
  for (let j = 0; j < m; j++) {
    const at = rows[j], raw = bits[at];
    let code = raw >>> 31 ? ~raw >>> 0 : (raw | 0x80000000) >>> 0;
    if (down) code = ~code >>> 0;
    codes[j] = keys[at] !== keys[at] ? 0xffffffff : code;
  }
  for (let shift = 0; shift < 32; shift += 11) {
    const place = new Uint32Array(2049), next = new Uint32Array(m), next_codes = new Uint32Array(m);
    for (let j = 0; j < m; j++) place[((codes[j] >>> shift) & 2047) + 1]++;
    for (let j = 0; j < 2048; j++) place[j + 1] += place[j];
    for (let j = 0; j < m; j++) {
      const to = place[(codes[j] >>> shift) & 2047]++;
      next[to] = order[j]; next_codes[to] = codes[j];
    }
    order = next; codes = next_codes;
  }
  return order;
}

function select() {
  const query = byId("query").value.trim().toLowerCase(), which = byId("which").value;
  const chosen = CLASSES ? Number(byId("class").value) : -1;
  const from = CLASSES ? NaN : parse(byId("from").value), to = CLASSES ? NaN : parse(byId("to").value);
  const rows = new Uint32Array(n);
  let m = 0;
  for (let i = 0; i < n; i++) {
    if (which === "known" && !known[i]) continue;
    if (which === "predicted" && known[i]) continue;
    if (which === "explained" && !panels.has(i)) continue;
    if (chosen >= 0 && prediction[i] !== chosen) continue;
    if (prediction[i] < from || prediction[i] > to) continue;
    if (query && !lowered[i].includes(query)) continue;
    rows[m++] = i;
  }
  return rows.subarray(0, m);
}

// Controls are not printed, so the line above the table names the filters.
function describe_filter() {
  const filters = [], chosen = id => byId(id).selectedOptions[0].textContent;
  if (byId("query").value.trim()) filters.push(`“${byId("query").value.trim()}” in the name`);
  if (byId("which").value !== "all") filters.push(chosen("which"));
  if (CLASSES && byId("class").value !== "-1") filters.push(`class ${chosen("class")}`);
  if (!CLASSES) for (const id of ["from", "to"]) if (byId(id).value.trim()) filters.push(`prediction ${id} ${byId(id).value.trim()}`);
  return filters.length ? ` (${filters.join(", ")})` : "";
}

function refresh() {
  const start = performance.now();
  let rows = select();
  const [, , keys] = TABLE[state.column];
  if (keys) rows = sort(rows, keys, state.down);
  else if (state.down) rows = rows.slice().reverse();
  state.rows = rows; state.page = 0;
  draw_rows();
  byId("explorer").dataset.ms = (performance.now() - start).toFixed(2);
}

function draw_rows() {
  const first = state.page * PAGE, rows = state.rows;
  const lines = [...rows.subarray(first, first + PAGE)].map(i => {
    const line = make("tr", null, {}, make("th", null, {scope: "row"}, name_button(i)));
    for (const [title, cell] of TABLE.slice(1)) line.append(make("td", cell(i), {"data-title": title}));
    return line;
  });
  byId("rows").replaceChildren(...lines);
  for (const [at, head] of [...byId("heads").children].entries()) {
    head.setAttribute("aria-sort", at !== state.column ? "none" : state.down ? "descending" : "ascending");
  }
  const last = Math.min(first + PAGE, rows.length);
  const filter = describe_filter();
  byId("count").textContent = rows.length ? `${count(rows.length)} of ${count(n)} nodes${filter}; shown are ${count(first + 1)} to ${count(last)}` : `none of ${count(n)} nodes${filter}`;
  byId("previous").disabled = first === 0;
  byId("next").disabled = last >= rows.length;
}

function sort_by(column, down) {
  Object.assign(state, {column, down});
  refresh();
}
const find_column = title => TABLE.findIndex(([name]) => name === title);

// -- colours ------------------------------------------------------------------------
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const PALETTE = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb", "#e69f00", "#332288", "#117733"];
let low = Infinity, high = -Infinity;
if (!CLASSES) for (let i = 0; i < n; i++) {
  const shown = known[i] ? value[i] : prediction[i];
  if (shown < low) low = shown;
  if (shown > high) high = shown;
}
function mix(part) {
  const at = Math.min(Math.max(part, 0), 1) * (STOPS.length - 1), k = Math.min(Math.floor(at), STOPS.length - 2);
  return `rgb(${STOPS[k].map((c, j) => Math.round(c + (at - k) * (STOPS[k + 1][j] - c))).join(",")})`;
}
function colour(i) {
  const shown = known[i] ? value[i] : prediction[i];
  if (CLASSES) return shown < 0 ? "#ffffff" : PALETTE[shown % PALETTE.length];
  return mix(high > low ? (shown - low) / (high - low) : 0.5);
}

// -- a node's neighbourhood -----------------------------------------------------------
function shape(tag, attributes, title) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, content] of Object.entries(attributes)) element.setAttribute(name, content);
  if (title) element.append(Object.assign(document.createElementNS(SVG, "title"), {textContent: title}));
  return element;
}
const shorten = text => [...text].length > 16 ? [...text].slice(0, 15).join("") + "…" : text;

function draw_neighbourhood(i, panel) {
  const nodes = panel ? panel.drawn : [i, ...ids.subarray(starts[i], starts[i + 1])];
  const edges = panel ? panel.edges : nodes.slice(1).flatMap((_, k) => [0, k + 1]);
  const weights = new Map(panel ? panel.weights : []);
  const near = new Set();
  for (let e = 0; e < edges.length; e += 2) {
    if (edges[e] === 0) near.add(edges[e + 1]);
    if (edges[e + 1] === 0) near.add(edges[e]);
  }
  const W = 640, H = 480, places = nodes.map(() => [W / 2, H / 2]);
  const far = nodes.map((_, k) => k).filter(k => k > 0 && !near.has(k)), ring = nodes.map((_, k) => k).filter(k => near.has(k));
  for (const [listed, rx, ry, turn] of [[ring, far.length ? 150 : 215, far.length ? 105 : 165, 0], [far, 255, 195, 0.35]]) {
    listed.forEach((k, j) => {
      const angle = turn - Math.PI / 2 + 2 * Math.PI * j / listed.length;
      places[k] = [W / 2 + rx * Math.cos(angle), H / 2 + ry * Math.sin(angle)];
    });
  }
  const svg = shape("svg", {viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${nodes.length - 1} nodes near ${names[i]}, ${weights.size} of them count in its prediction`});
  for (let e = 0; e < edges.length; e += 2) {
    const [x1, y1] = places[edges[e]], [x2, y2] = places[edges[e + 1]];
    svg.append(shape("line", {x1, y1, x2, y2, stroke: "#9aa5b1", "stroke-width": edges[e] === 0 || edges[e + 1] === 0 ? 1.6 : 0.8}));
  }
  nodes.forEach((node, k) => {
    const [x, y] = places[k], counts = weights.has(node) && k > 0, shown = known[node] ? value[node] : prediction[node];
    const title = `${names[node]}: ${show(shown)}${known[node] ? "" : " (predicted)"}${counts ? `, weight ${format(weights.get(node))}` : ""}`;
    if (counts) svg.append(shape("circle", {cx: x, cy: y, r: 14, fill: "none", stroke: "#b3261e", "stroke-width": 3}));
    const mark = known[node] ? shape("circle", {cx: x, cy: y, r: k ? 9 : 13}, title) : shape("rect", {x: x - (k ? 8 : 12), y: y - (k ? 8 : 12), width: k ? 16 : 24, height: k ? 16 : 24}, title);
    mark.setAttribute("fill", colour(node));
    mark.setAttribute("stroke", "#1c2430");
    svg.append(mark);
    if (k === 0 || counts || nodes.length < 16) {
      const text = shape("text", {x, y: y + (k ? 27 : 32), "text-anchor": "middle", "font-size": 12, fill: "#1c2430", "font-weight": k ? 400 : 700});
      text.textContent = shorten(names[node]);
      svg.append(text);
    }
  });
  return svg;
}

function make_legend() {
  const legend = make("p", null, {class: "legend"});
  if (CLASSES) {
    data.classes.slice(0, PALETTE.length).forEach((name, k) => {
      const swatch = shape("svg", {viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true"});
      swatch.append(shape("rect", {width: 12, height: 12, fill: PALETTE[k]}));
      legend.append(make("span", null, {}, swatch, " ", make("bdi", name)), " ");
    });
  } else {
    const scale = shape("svg", {viewBox: "0 0 120 12", width: 120, height: 12, "aria-hidden": "true"});
    for (let k = 0; k < 24; k++) scale.append(shape("rect", {x: 5 * k, width: 5.2, height: 12, fill: mix(k / 23)}));
    legend.append(`${with_unit(format(low))} `, scale, ` ${with_unit(format(high))}`);
  }
  legend.append(" Circles are known, squares predicted; a red ring marks nodes that count in the prediction.");
  return legend;
}

// -- the panel of a node ----------------------------------------------------------------
function list_facts(i, panel) {
  const facts = [];
  if (known[i]) facts.push(["Known value", with_unit(show(value[i]))]);
  if (known[i] && columns.left_out && error[i] === error[i]) {
    facts.push(["Predicted without its own value", with_unit(show(columns.left_out[i]))]);
    facts.push(["Error", CLASSES ? (error[i] ? "wrong" : "right") : with_unit(format(error[i]))]);
  }
  else if (known[i]) facts.push(["Prediction of the model, which was trained on it", with_unit(show(prediction[i]))]);
  if (!known[i]) facts.push([CLASSES ? "Predicted class" : "Prediction", with_unit(show(prediction[i]))]);
  if (CLASSES && !known[i]) facts.push(["Probability", format(columns.probability[i])]);
  if (columns.runner_up && !known[i]) facts.push(["Runner-up", `${label(columns.runner_up[i])} (${format(columns.runner_up_probability[i])})`]);
  if (columns.lower && !known[i]) facts.push([`${percent(data.coverage)} interval`, `${format(columns.lower[i])} to ${with_unit(format(columns.upper[i]))}`]);
  if (panel && panel.unclipped !== undefined) facts.push(["Before clipping", with_unit(format(panel.unclipped))]);
  facts.push(["Neighbours", count(degree[i])]);
  return facts;
}

function make_table(caption, heads, rows) {
  const head = make("tr", null, {}, ...heads.map(text => make("th", text, {scope: "col"})));
  return make("div", null, {class: "scroll"}, make("table", null, {class: "numbers"}, make("caption", caption), make("thead", null, {}, head), make("tbody", null, {}, ...rows)));
}
const make_row = (first, ...cells) => make("tr", null, {}, make("th", null, {scope: "row"}, first), ...cells.map(text => make("td", text)));

function quote(name) {
  return `'${name.replaceAll("'", "'\\''")}'`;
}

function open_panel(i) {
  const start = performance.now(), panel = panels.get(i), parts = [];
  const list = make("dl", null, {class: "rules"});
  for (const [term, text] of list_facts(i, panel)) list.append(make("dt", term), make("dd", null, {}, make("bdi", text)));
  parts.push(list);
  if (panel) {
    const rows = panel.weights.map(([k, weight]) => make_row(name_button(k), format(weight), show(value[k])));
    const caption = panel.left_out ? "Known nodes that count when its own value is left out" : "Known nodes that count most";
    if (rows.length) parts.push(make_table(caption, ["Known node", "Weight", CLASSES ? "Class" : "Value"], rows));
    if (panel.parts) parts.push(make_table("Kinds of similarity that count", ["Similarity", CLASSES ? "Adds to the score" : "Adds"], panel.parts.map(([name, part]) => make_row(name, format(part)))));
  } else {
    const command = odd.has(i) ? "Explain it in Python with model.explain([name]): its name is cut or has hidden characters." : `${data.command}${quote(names[i])}`;
    parts.push(make("p", "The known nodes that count are not on this page. This command explains the prediction:"), make("p", null, {}, make("code", command)));
  }
  const others = [...ids.subarray(starts[i], starts[i + 1])];
  if (others.length) {
    const more = degree[i] > others.length ? ` (${count(others.length)} of ${count(degree[i])})` : "";
    const listed = make("p", `Neighbours${more}: `);
    others.forEach((k, at) => listed.append(at ? ", " : "", name_button(k)));
    parts.push(listed);
  }
  parts.push(make("figure", null, {class: "neighbourhood"}, draw_neighbourhood(i, panel), make("figcaption", null, {}, make_legend())));
  const title = make("h3", null, {id: `${prefix}panel-title`, tabindex: "-1"}, make("bdi", names[i]));
  const back = make("button", "Back to the table", {type: "button"});
  back.addEventListener("click", () => { byId("query").focus(); byId("explorer").scrollIntoView(); });
  byId("panel").replaceChildren(title, ...parts, back);
  byId("panel").hidden = false;
  byId("panel").dataset.node = String(i);
  title.focus();
  byId("panel").dataset.ms = (performance.now() - start).toFixed(2);
}

// -- start ---------------------------------------------------------------------------------
TABLE.forEach(([title], at) => {
  const button = make("button", title, {type: "button"});
  button.addEventListener("click", () => sort_by(at, state.column === at && !state.down));
  byId("heads").append(make("th", null, {scope: "col", "aria-sort": "none"}, button));
});
const shortcuts = [["Highest", CLASSES ? "Probability" : "Prediction", true], ["Lowest", CLASSES ? "" : "Prediction", false], ["Least certain", CLASSES ? "Probability" : "Width", !CLASSES], ["Most surprising", "Left-out error", true]];
if (CLASSES) shortcuts[0][0] = "Most certain";
for (const [text, title, down] of shortcuts) {
  const column = find_column(title);
  if (column < 0) continue;
  const button = make("button", text, {type: "button"});
  button.addEventListener("click", () => {
    byId("which").value = text === "Most surprising" ? "known" : "predicted";
    sort_by(column, down);
  });
  byId("shortcuts").append(button, " ");
}
if (CLASSES) data.classes.forEach((name, k) => byId("class").append(make("option", name, {value: String(k)})));
for (const id of ["query", "which", "class", "from", "to"]) if (byId(id)) byId(id).addEventListener("input", refresh);
const turn = step => () => {
  const start = performance.now();
  state.page += step;
  draw_rows();
  byId("explorer").dataset.ms = (performance.now() - start).toFixed(2);
};
byId("previous").addEventListener("click", turn(-1));
byId("next").addEventListener("click", turn(1));
byId("panel").addEventListener("keydown", event => { if (event.key === "Escape") { byId("panel").hidden = true; byId("query").focus(); } });
byId("explorer").hidden = false;
refresh();
// A link to a node: report.html#node-3.
return number => { if (number < n) open_panel(number); };
}

// A page of several targets shows one at a time; the address selects it, as in report.html#t2-node-3.
const openers = new Map();
for (const script of document.querySelectorAll("script[data-prefix]")) openers.set(script.dataset.prefix, explore(script.dataset.prefix));
const chooser = document.getElementById("target");
function choose_target(prefix) {
  for (const part of document.querySelectorAll(".target")) part.hidden = part.id !== `${prefix}target`;
  chooser.value = prefix;
}
function follow() {
  const [, prefix, node] = /^#(t\d+-)?(?:node-(\d+)|target)$/.exec(location.hash) || [];
  const opened = prefix || (chooser ? chooser.options[0].value : "");
  if (!openers.has(opened)) return;
  if (chooser) choose_target(opened);
  if (prefix && !node) document.getElementById(`${opened}target`).scrollIntoView();
  if (node) openers.get(opened)(Number(node));
}
if (chooser) {
  document.getElementById("targets").hidden = false;
  chooser.addEventListener("input", () => {
    history.replaceState(null, "", `#${chooser.value}target`);
    choose_target(chooser.value);
  });
}
addEventListener("hashchange", follow);
follow();
