// The view of the graph: data, colours, legend, the chosen node, keys.
import { byId, format, go, make, makeSvg, onMove, announce, show, notify, unpack, where, withUnit } from "./basics.js";
import { GraphCanvas } from "./canvas.js";
import { CATEGORIES, COLOURINGS, getTheme, makeScale } from "./colours.js";
import { makeScene } from "./drawing.js";
import { ask, nodePath } from "./server.js";

const N_SPOKES = 30;
export const graph = { scene: null, data: null, positions: new Map() };
let canvas = null;
let tools = null;
let hoverTimer = 0;

const partQuery = () => {
  if (where.part.startsWith("community:")) return `kind=community&community=${where.part.slice(10)}`;
  if (where.part.startsWith("around:")) return `kind=around&node=${encodeURIComponent(where.part.slice(7))}`;
  return "";
};
const withQuery = (path, ...queries) => {
  const given = queries.filter(Boolean).join("&");
  return given ? `${path}?${given}` : path;
};

export async function startGraph(panel) {
  tools = panel;
  canvas = new GraphCanvas({ onSelect: choose, onHover: hover, onMove: rememberPlace });
  byId("colour").addEventListener("change", (event) => go({ colour: event.target.value }));
  byId("overview").addEventListener("click", () => go({ part: "", node: "", x: "", y: "", zoom: "" }));
  byId("zoom-in").addEventListener("click", () => canvas.zoomAt(canvas.width / 2, canvas.height / 2, 1.5));
  byId("zoom-out").addEventListener("click", () => canvas.zoomAt(canvas.width / 2, canvas.height / 2, 1 / 1.5));
  byId("zoom-fit").addEventListener("click", () => canvas.show(0.5, 0.5, 1));
  canvas.overlay.addEventListener("keydown", pressKey);
  // Updates are shown when the field is left.
  byId("panel").addEventListener("focusout", () => setTimeout(() => { if (!isTyping() && byId("panel").dataset.state !== String(graph.data?.state)) openNode(); }, 0));
  canvas.overlay.addEventListener("blur", () => canvas.setCursor(-1));
  onMove(async (names) => {
    if (names.has("part")) await loadGraph();
    else if (names.has("colour")) await colour();
    if (names.has("node")) await openNode();
  });
  await loadGraph();
  if (where.x && where.y && where.zoom) canvas.show(Number(where.x), Number(where.y), Number(where.zoom));
}

export const isTyping = () => byId("panel").contains(document.activeElement) && document.activeElement.matches("input:not([type=checkbox]), select");

export async function loadGraph(isNews = false) {
  const data = await ask(withQuery("studio/api/graph", partQuery()));
  const columns = {};
  for (const [name, text] of Object.entries(data.columns)) columns[name] = unpack(text, "f8");
  graph.data = data;
  graph.scene = makeScene({
    names: data.names,
    x: unpack(data.x, "f4"),
    y: unpack(data.y, "f4"),
    edges: unpack(data.edges, "u4"),
    edgeWeights: unpack(data.edge_weights, "f4"),
    rows: unpack(data.rows, "u4"),
    sizes: data.sizes ? unpack(data.sizes, "u4") : null,
    columns,
  });
  graph.positions = new Map(data.names.map((name, i) => [name, i]));
  describe();
  listColourings();
  canvas.setScene(graph.scene);
  await colour();
  // An update must not replace a field in which the user types.
  if (isNews && isTyping()) canvas.selected = where.node ? { index: graph.positions.get(where.node) ?? -1, top: [] } : null;
  else await openNode();
  if (!graph.scene.sizes) ask("studio/api/known").catch(() => {}); // the first click needs it
}

function describe() {
  const { data } = graph;
  const counts = `${data.n_nodes.toLocaleString("en")} nodes, ${data.n_known.toLocaleString("en")} known`;
  const part = {
    whole: "",
    overview: ` · overview of ${data.names.length} communities: open one, or find a node`,
    community: ` · community ${data.number + 1}: ${data.names.length} nodes${data.n_left_out ? ` (${data.n_left_out} with few edges are not shown)` : ""}`,
    around: ` · ${data.names.length} nodes around one`,
  }[data.kind];
  const places = data.coordinates ? ` · drawn by ${data.coordinates.map(show).join(" and ")}` : "";
  byId("facts").textContent = counts + part + places;
  byId("overview").hidden = !data.is_large || data.kind === "overview";
  canvas.overlay.setAttribute("aria-label", `The graph: ${counts}`);
}

function listColourings() {
  const { data } = graph;
  const canShow = {
    value: !data.classes,
    class: Boolean(data.classes),
    uncertainty: data.classes || data.has_intervals,
  };
  const kinds = Object.entries(COLOURINGS).filter(([kind]) => canShow[kind] ?? true);
  if (!kinds.some(([kind]) => kind === where.colour)) where.colour = kinds[0][0];
  byId("colour").replaceChildren(...kinds.map(([kind, one]) => make("option", { value: kind, selected: kind === where.colour }, one.label)));
}

// Columns that the server computes on demand.
export async function findColumn(kind) {
  const { scene } = graph;
  const name = kind === "class" ? "value" : kind;
  const needs = COLOURINGS[kind].needs;
  if (needs && !(name in scene.columns)) {
    const found = await ask(withQuery("studio/api/columns", `which=${needs}`, partQuery()));
    for (const [one, text] of Object.entries(found.columns)) scene.columns[one] = unpack(text, "f8");
  }
  return scene.columns[name];
}

async function colour() {
  const { scene, data } = graph;
  byId("colour").value = where.colour;
  try {
    const column = await findColumn(where.colour);
    if (scene !== graph.scene) return;
    const scale = makeScale(column, where.colour, data.classes);
    scene.steps = scale.steps;
    scene.colours = scale.colours;
    drawLegend(scale);
  } catch (error) {
    scene.steps.fill(-1);
    drawLegend(null);
    notify(error.message, true);
  }
  canvas.redraw();
}

function drawLegend(scale) {
  const svg = byId("legend");
  const theme = getTheme();
  svg.replaceChildren();
  svg.setAttribute("font-family", "system-ui, sans-serif");
  svg.setAttribute("font-size", "11");
  const { data } = graph;
  const title = withUnit(COLOURINGS[where.colour].label, data.classes ? "" : data.unit && `(${show(data.unit)})`);
  const add = (tag, attributes, ...children) => svg.append(makeSvg(tag, attributes, ...children));
  let height = 20;
  add("text", { x: 8, y: 15, fill: theme.ink, "font-weight": 600 }, title);
  if (scale?.classes) {
    scale.classes.slice(0, CATEGORIES.length - 1).forEach((name, i) => {
      add("circle", { cx: 15, cy: height + 9, r: 5, fill: CATEGORIES[i] });
      add("text", { x: 27, y: height + 13, fill: theme.ink }, show(name).slice(0, 22));
      height += 17;
    });
    if (scale.classes.length >= CATEGORIES.length) {
      add("text", { x: 27, y: height + 13, fill: theme.soft }, `${scale.classes.length - CATEGORIES.length + 1} more (colours repeat)`);
      height += 17;
    }
  } else if (scale) {
    const n = scale.colours.length;
    for (let i = 0; i < n; i++) add("rect", { x: 8 + (i * 164) / n, y: height + 4, width: 164 / n + 0.6, height: 10, fill: scale.colours[i] });
    add("text", { x: 8, y: height + 27, fill: theme.soft }, format(scale.low, 3));
    add("text", { x: 172, y: height + 27, fill: theme.soft, "text-anchor": "end" }, `${scale.isCut ? "≥ " : ""}${format(scale.high, 3)}`);
    height += 30;
  }
  if (!graph.scene.sizes) {
    add("circle", { cx: 14, cy: height + 11, r: 4.5, fill: "none", stroke: theme.ink, "stroke-width": 1.6 });
    add("text", { x: 25, y: height + 15, fill: theme.soft }, "known value");
    height += 18;
  } else {
    add("text", { x: 8, y: height + 15, fill: theme.soft }, "area: number of nodes");
    height += 18;
  }
  svg.setAttribute("viewBox", `0 0 182 ${height + 6}`);
  svg.setAttribute("width", 182);
  svg.setAttribute("height", height + 6);
  svg.setAttribute("aria-label", `Legend: ${title}${scale && !scale.classes ? `, from ${format(scale.low)} to ${format(scale.high)}` : ""}`);
}

function describeNode(i) {
  const { scene, data } = graph;
  if (scene.sizes) return `${show(scene.names[i])}: ${scene.sizes[i]} nodes`;
  const word = (code) => (data.classes ? show(data.classes[code] ?? "–") : withUnit(format(code), data.unit));
  const known = scene.columns.known[i] > 0 ? `, known value ${word(scene.columns.value[i])}` : ", unknown";
  return `${show(scene.names[i])}${known}, prediction ${word(scene.columns.prediction?.[i])}`;
}

function hover(i, px = 0, py = 0) {
  if (i !== canvas.hovered) {
    canvas.hovered = i;
    canvas.requestFrame();
    clearTimeout(hoverTimer);
    if (i >= 0 && !graph.scene.sizes) hoverTimer = setTimeout(() => prefetch(i), 60);
  }
  const tip = byId("tip");
  tip.hidden = i < 0;
  if (i < 0) return;
  tip.textContent = describeNode(i);
  tip.style.left = `${Math.min(px + 14, canvas.width - 220)}px`;
  tip.style.top = `${py + 16}px`;
}

// Fetch the answer before the click; one at a time, so that a click waits for at most one other.
let isFetching = false;
async function prefetch(i) {
  if (isFetching) return;
  isFetching = true;
  try {
    await ask(nodePath(graph.scene.names[i]));
  } catch {
    // the click shows the reason
  } finally {
    isFetching = false;
  }
}

function choose(i) {
  if (i < 0) return go({ node: "" });
  if (graph.scene.sizes) return go({ part: `community:${graph.scene.rows[i]}`, x: "", y: "", zoom: "" });
  return go({ node: graph.scene.names[i] });
}

async function openNode() {
  const index = where.node ? graph.positions.get(where.node) ?? -1 : -1;
  byId("panel").dataset.state = graph.data.state;
  graph.scene.chosen = index; // its name is drawn above the others
  if (canvas.isSmall) canvas.redraw();
  if (!where.node) {
    canvas.selected = null;
    canvas.requestFrame();
    return tools.showNothing();
  }
  if (index < 0 && graph.data.is_large && where.part !== `around:${where.node}`) {
    return go({ part: `around:${where.node}`, x: "", y: "", zoom: "" });
  }
  if (index < 0 && !graph.data.is_large) {
    canvas.selected = null;
    canvas.requestFrame();
    return tools.showNothing(`${show(where.node)} is not a node of the graph.`);
  }
  canvas.selected = { index, top: [] };
  canvas.requestFrame();
  return tools.showNode(where.node, index);
}

// The panel provides the known nodes that count, and their weights.
export function showSpokes(name, ranked) {
  if (where.node !== name || !canvas.selected) return;
  canvas.selected.top = ranked.slice(0, N_SPOKES).map((one) => [graph.positions.get(one.name) ?? -1, one.weight]);
  canvas.requestFrame();
}

function pressKey(event) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!graph.scene) return;
  if (step && event.shiftKey) canvas.show(canvas.cx + (step[0] * 60) / canvas.scale, canvas.cy + (step[1] * 60) / canvas.scale, canvas.zoom);
  else if (step) {
    const from = canvas.cursor >= 0 ? canvas.cursor : canvas.selected?.index ?? -1;
    canvas.setCursor(canvas.findNext(from, ...step));
    announce(describeNode(canvas.cursor));
  } else if (event.key === "Enter" && canvas.cursor >= 0) choose(canvas.cursor);
  else if (event.key === "Escape") go({ node: "" });
  else if (event.key === "+" || event.key === "=") canvas.zoomAt(canvas.width / 2, canvas.height / 2, 1.4);
  else if (event.key === "-") canvas.zoomAt(canvas.width / 2, canvas.height / 2, 1 / 1.4);
  else if (event.key === "0") canvas.show(0.5, 0.5, 1);
  else return;
  event.preventDefault();
}

function rememberPlace() {
  const isWhole = canvas.zoom === 1 && canvas.cx === 0.5 && canvas.cy === 0.5;
  go(isWhole ? { x: "", y: "", zoom: "" } : { x: canvas.cx.toFixed(4), y: canvas.cy.toFixed(4), zoom: canvas.zoom.toFixed(3) });
}

export function getPicture() {
  const { width, height, scale, zoom, cx, cy } = canvas;
  return { scene: graph.scene, view: { width, height, scale, zoom, cx, cy }, selected: canvas.selected };
}

export function redrawGraph() {
  if (!graph.scene) return;
  colour();
}
