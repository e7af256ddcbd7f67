// One node: its prediction, the known nodes that count in it, kinds of similarity.
import { byId, format, go, make, makeSvg, show, unpack, where, withUnit } from "./basics.js";
import { getTheme } from "./colours.js";
import { edit } from "./edit.js";
import { graph, isTyping, showSpokes } from "./graph_view.js";
import { ask, nodePath } from "./server.js";
import { imagine } from "./whatif.js";

const FIRST = 10;
let isLeftOut = false;

// A panel as arrays: known nodes, their weights and their values.
export async function fetchPanel(name, leftOut) {
  const [found, known] = await Promise.all([ask(nodePath(name) + (leftOut ? "&left_out=true" : "")), ask("studio/api/known")]);
  const rows = unpack(known.rows, "u4");
  const values = unpack(known.values, "f8");
  const place = new Map(Array.from(rows, (row, i) => [row, i]));
  const weights = unpack(found.weights, "f8");
  const scaled = found.scaled ? unpack(found.scaled, "f8") : null;
  const contributors = Array.from(unpack(found.known, "u4"), (row, i) => {
    const at = place.get(row);
    return { name: known.names[at], value: values[at], scaled: scaled ? scaled[i] : values[at], weight: weights[i] };
  });
  // As in the library: weights that agree in nine digits are ties, in the order of the known nodes.
  const most = contributors.reduce((size, one) => Math.max(size, Math.abs(one.weight)), 0) || 1;
  const size = (one) => Math.round((Math.abs(one.weight) / most) * 1e9);
  const ranked = [...contributors].sort((a, b) => size(b) - size(a));
  return { name, ...found, contributors, ranked, classes: graph.data.classes };
}

// offset + Σ weight · value, with some values replaced; for classes, the score of each.
export function sumUp(panel, changes = new Map()) {
  const totals = [...panel.offset];
  for (const one of panel.contributors) {
    if (panel.classes) totals[changes.get(one.name) ?? one.value] += one.weight;
    else totals[0] += one.weight * (changes.get(one.name) ?? one.scaled);
  }
  return totals;
}

export const findLargest = (scores) => scores.indexOf(Math.max(...scores));
export const showValue = (value, classes) => (classes ? show(classes[value] ?? "–") : withUnit(format(value), graph.data.unit));

export function showNothing(text = "Choose one on the graph or by its name, to see the reasons for its prediction.") {
  delete byId("panel").dataset.node;
  byId("panel").replaceChildren(
    make("h2", {}, "A node"),
    make("p", { class: "note" }, text),
    edit.makeSection(null),
  );
}

let shown = "";
export async function showNode(name, index) {
  if (shown !== name) isLeftOut = false;
  shown = name;
  const aside = byId("panel");
  const { scene } = graph;
  const isKnown = index >= 0 && scene.columns.known[index] > 0;
  // Available facts are shown at once, and weights follow; until then a panel of the same node stays.
  const isNew = aside.dataset.node !== name || !byId("sum");
  const body = make("div", { class: "slow" }, make("p", { class: "note" }, "Computing the weights …"));
  if (isNew) aside.replaceChildren(...makeHead(name, index, isKnown), body);
  aside.dataset.node = name;
  let panel;
  let failure = null;
  try {
    panel = await fetchPanel(name, isLeftOut);
  } catch (error) {
    failure = error;
  }
  if (where.node !== name) return;
  // The user began to type while the answer was on its way: the panel is refreshed when they leave.
  if (isTyping()) {
    delete aside.dataset.state;
    return;
  }
  if (failure) {
    body.replaceChildren(make("p", { class: "error" }, failure.message), isLeftOut ? "" : edit.makeSection(name));
    aside.replaceChildren(...makeHead(name, index, isKnown), body);
    return;
  }
  showSpokes(name, panel.ranked.filter((one) => one.weight !== 0));
  keepPlace(aside, () => aside.replaceChildren(
    ...makeHead(name, index, isKnown, panel),
    makeParts(panel),
    makeSpeakers(panel),
    imagine.makeSection(panel),
    edit.makeSection(name, panel),
  ));
}

// A rebuilt panel keeps the focus and the scroll position.
function keepPlace(aside, remake) {
  const focused = aside.contains(document.activeElement) ? document.activeElement.id : "";
  const top = aside.scrollTop;
  remake();
  aside.scrollTop = top;
  const again = focused && byId(focused);
  if (again) (again.disabled ? byId("panel-title") : again).focus({ preventScroll: true });
}

function makeHead(name, index, isKnown, panel = null) {
  const { scene, data } = graph;
  const facts = [];
  if (isKnown) facts.push(["Known value", showValue(scene.columns.value[index], data.classes)]);
  const guess = panel ? (data.classes ? findLargest(panel.prediction) : panel.in_units ?? panel.prediction[0]) : scene.columns.prediction?.[index];
  const label = panel?.left_out ? "Prediction without its own value" : "Prediction";
  facts.push([label, make("span", { id: "prediction" }, showValue(guess, data.classes))]);
  if (panel && panel.lower !== null) facts.push([withUnit("90 % interval", data.unit && `(${show(data.unit)})`), `${format(panel.lower, 3)} … ${format(panel.upper, 3)}`]);
  if (panel?.probabilities && !panel.left_out) {
    const ranked = panel.probabilities.map((p, i) => [p, i]).sort((a, b) => b[0] - a[0]).slice(0, 3);
    facts.push(["Probabilities", ranked.map(([p, i]) => `${show(data.classes[i])} ${format(p, 3)}`).join(", ")]);
  }
  const box = make("input", { type: "checkbox", id: "leave-out", checked: isLeftOut, onchange: (event) => { isLeftOut = event.target.checked; showNode(name, index); } });
  return [
    make("div", { class: "head" },
      make("h2", { id: "panel-title", tabindex: "-1" }, make("bdi", {}, show(name))),
      make("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => go({ node: "" }) }, "✕")),
    make("p", {}, make("span", { class: isKnown ? "badge known" : "badge" }, isKnown ? "known" : "unknown")),
    make("dl", { class: "facts" }, facts.map(([term, fact]) => make("div", {}, make("dt", {}, term), make("dd", {}, fact)))),
    isKnown ? make("label", { class: "check", for: "leave-out" }, box, " without its own value") : null,
  ].filter(Boolean);
}

// Contribution of each kind of similarity: bars to the right add, bars to the left subtract.
function makeParts(panel) {
  const section = make("section", { class: "part", "aria-label": "Kinds of similarity" });
  if (!panel.parts.length) return section;
  const theme = getTheme();
  const most = Math.max(...panel.parts.map(([, size]) => Math.abs(size))) || 1;
  const parts = [...panel.parts].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const height = 20 * parts.length + 4;
  const svg = makeSvg("svg", { viewBox: `0 0 320 ${height}`, role: "img", class: "bars", "font-family": "system-ui, sans-serif", "font-size": 11 });
  svg.setAttribute("aria-label", parts.map(([name, size]) => `${name} ${format(size, 3)}`).join(", "));
  svg.append(makeSvg("line", { x1: 205, x2: 205, y1: 0, y2: height, stroke: theme.soft }));
  parts.forEach(([name, size], i) => {
    const width = (Math.abs(size) / most) * 62;
    svg.append(
      makeSvg("text", { x: 2, y: 20 * i + 15, fill: theme.ink }, show(name).slice(0, 21)),
      makeSvg("rect", { x: size > 0 ? 205 : 205 - width, y: 20 * i + 4, width: Math.max(0.5, width), height: 13, rx: 2, fill: size > 0 ? theme.for : theme.against }),
      makeSvg("text", { x: 318, y: 20 * i + 15, "text-anchor": "end", fill: theme.soft }, `${size > 0 ? "+" : ""}${format(size, 3)}`),
    );
  });
  section.append(make("h3", {}, "Kinds of similarity"), make("p", { class: "note" }, panel.classes ? "Contributions to the score of the predicted class." : panel.scale ? "Contributions to the mean of the known values, in the scale of the weights." : "Contributions to the mean of the known values."), svg);
  return section;
}

function makeSpeakers(panel) {
  const body = make("tbody");
  const section = make("section", { class: "part" });
  const winner = panel.classes ? findLargest(panel.prediction) : 0;
  const contribution = (one) => (panel.classes ? (one.value === winner ? one.weight : 0) : one.weight * one.scaled);
  const addRow = (cells, attributes = {}) => body.append(make("tr", attributes, cells.map((cell, i) => make(i ? "td" : "th", i ? {} : { scope: "row" }, cell))));
  const fill = (n) => {
    body.replaceChildren();
    const listed = panel.ranked.slice(0, n);
    for (const one of listed) {
      const link = make("button", { type: "button", class: "link", onclick: () => go({ node: one.name }) }, make("bdi", {}, show(one.name)));
      addRow([link, panel.classes ? showValue(one.value, panel.classes) : format(one.value), format(one.weight, 3), format(contribution(one), 3)]);
    }
    const others = panel.ranked.slice(n);
    const add = (list, f) => list.reduce((sum, one) => sum + f(one), 0);
    if (others.length) addRow([`${others.length} others`, "", format(add(others, (one) => one.weight), 3), format(add(others, contribution), 3)], { class: "rest" });
    const offset = panel.offset[winner] ?? 0;
    if (Math.abs(offset) > 1e-12) addRow(["offset", "", "", format(offset, 3)], { class: "rest" });
    const total = sumUp(panel)[winner];
    addRow(["Sum", "", format(add(panel.ranked, (one) => one.weight), 3), make("b", { id: "sum", "data-sum": total }, format(total))], { class: "sum" });
    more.hidden = n >= panel.ranked.length;
  };
  const more = make("button", { type: "button", class: "quiet", onclick: () => fill(panel.ranked.length) }, `Show all ${panel.ranked.length}`);
  fill(FIRST);
  const last = panel.classes ? "for the class" : "Product";
  section.append(
    make("h3", {}, "Known nodes that count"),
    panel.scale ? make("p", { class: "note" }, `Weights add up in the scale ${show(panel.scale)}, where the prediction is ${format(panel.prediction[0])}.`) : "",
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Known nodes and their weights" },
      make("table", {}, make("thead", {}, make("tr", {}, ["Known node", withUnit("Value", panel.classes ? "" : graph.data.unit && `(${show(graph.data.unit)})`), "Weight", last].map((text) => make("th", { scope: "col" }, text)))), body)),
    more,
  );
  return section;
}
