// Changes to the model of this session, with undo and redo; the user's files are not changed.
import { byId, format, go, make, show, notify, withUnit } from "./basics.js";
import { graph } from "./graph_view.js";
import { makeNameField } from "./search.js";
import { hasToken, isSnapshot, keepToken, post } from "./server.js";

const done = [];
const undone = [];
let before = null; // predictions before the last change, by name
let report = "";
let opened = "";
let refill = () => {}; // the section that is shown

async function send(changes) {
  const { data, scene } = graph;
  before = new Map(data.names.map((name, i) => [name, scene.columns.prediction?.[i]]));
  await post("changes", { changes });
}

async function apply(step, from, to, words) {
  try {
    await send(step.changes);
  } catch (error) {
    notify(error.status === 401 ? "Changes need the token of the service: enter it under Edit." : error.message, true);
    if (error.status === 401) refill();
    return false;
  }
  from?.pop();
  to.push({ changes: step.inverse, inverse: step.changes, label: step.label });
  report = `${words}: ${step.label}`;
  notify(`${report} …`);
  return true;
}

const change = async (step) => {
  if (await apply(step, null, done, "Done")) undone.length = 0;
};
export const undo = () => done.length && apply(done.at(-1), done, undone, "Undone");
export const redo = () => undone.length && apply(undone.at(-1), undone, done, "Redone");

// Called when the state after a change is shown: which predictions moved, and by how much.
export function tellMoves() {
  if (!before) return;
  const { data, scene } = graph;
  const moves = [];
  scene.names.forEach((name, i) => {
    const [old, now] = [before.get(name), scene.columns.prediction?.[i]];
    if (old !== undefined && now !== undefined && old !== now) moves.push([name, old, now]);
  });
  before = null;
  const word = (value) => (data.classes ? show(data.classes[value] ?? "–") : format(value));
  moves.sort((a, b) => Math.abs(b[2] - b[1]) - Math.abs(a[2] - a[1]));
  last = { report, moves: moves.slice(0, 8).map(([name, old, now]) => [name, word(old), word(now), data.classes ? "" : format(now - old, 3)]), n: moves.length };
  const size = moves.length && !data.classes ? `, at most by ${withUnit(format(Math.abs(moves[0][2] - moves[0][1]), 3), data.unit)}` : "";
  notify(`${report}. ${moves.length} predictions moved${size}.`);
  if (graph.positions.has(opened)) go({ node: opened });
  opened = "";
  const place = byId("moves");
  if (place) place.replaceWith(makeMoves());
}

let last = null;
function makeMoves() {
  const place = make("div", { id: "moves" });
  if (!last) return place;
  const rows = last.moves.map(([name, old, now, by]) => make("tr", {}, make("th", { scope: "row" }, make("button", { type: "button", class: "link", onclick: () => go({ node: name }) }, make("bdi", {}, show(name)))), ...[old, now, by].map((text) => make("td", {}, text))));
  place.append(make("p", { class: "note" }, `${last.report}: ${last.n} predictions moved${last.n > last.moves.length ? "; the largest" : ""}`));
  if (rows.length) place.append(make("table", {}, make("thead", {}, make("tr", {}, ["Node", "Before", "After", "By"].map((text) => make("th", { scope: "col" }, text)))), make("tbody", {}, rows)));
  return place;
}

const readValue = (text) => (graph.data.classes ? text : Number(text));
const putValue = (node, value) => ({ op: "put_value", node, value });

function makeGiveForm(name, panel) {
  const { scene, data } = graph;
  const i = graph.positions.get(name);
  const isKnown = i !== undefined && scene.columns.known[i] > 0;
  const old = isKnown ? (data.classes ? data.classes[scene.columns.value[i]] : scene.columns.value[i]) : null;
  const field = data.classes
    ? make("select", { id: "new-value" }, data.classes.map((one) => make("option", { value: one, selected: one === old }, show(one))))
    : make("input", { type: "number", step: "any", required: true, id: "new-value", value: old ?? "" });
  const give = (event) => {
    event.preventDefault();
    const value = readValue(field.value);
    const inverse = isKnown ? [putValue(name, old)] : [{ op: "remove_value", node: name }];
    change({ changes: [putValue(name, value)], inverse, label: `${show(name)} = ${typeof value === "number" ? format(value) : show(value)}` });
  };
  const removeValue = () => change({ changes: [{ op: "remove_value", node: name }], inverse: [putValue(name, old)], label: `no value for ${show(name)}` });
  const removeNode = () => {
    const edges = panel.neighbours.map(([other, weight, way]) => ({ op: "put_edge", source: way === "in" ? other : name, target: way === "in" ? name : other, weight }));
    const inverse = [...edges, ...(isKnown ? [putValue(name, old)] : [])];
    if (!inverse.length) return notify("Removing a node without edges and value cannot be undone, so it is kept.", true);
    change({ changes: [{ op: "remove_node", node: name }], inverse, label: `${show(name)} removed` });
    return go({ node: "" });
  };
  return make("form", { class: "form", onsubmit: give },
    make("div", { class: "field" }, make("label", { for: "new-value" }, isKnown ? "Change its value to" : "Give it the value"), field),
    make("button", { id: "give" }, "Give"),
    isKnown ? make("button", { type: "button", class: "quiet", onclick: removeValue }, "Remove the value") : null,
    panel ? make("button", { type: "button", class: "quiet", onclick: removeNode }, "Remove the node") : null);
}

function makeNodeForm() {
  const name = make("input", { id: "node-name", required: true, maxlength: 256, autocomplete: "off" });
  const links = [];
  const listed = make("span", { class: "chips" });
  const showLinks = () => listed.replaceChildren(...links.map((one) => make("button", { type: "button", class: "chip", "aria-label": `Remove the link with ${show(one)}`, onclick: () => { links.splice(links.indexOf(one), 1); showLinks(); } }, show(one), " ✕")));
  const { input, field } = makeNameField("node-links", "linked with", (other) => {
    if (!links.includes(other)) links.push(other);
    input.value = "";
    showLinks();
  });
  const add = (event) => {
    event.preventDefault();
    const node = name.value;
    if (!node || !links.length) return notify("A new node needs a name and at least one link.", true);
    if (graph.positions.has(node)) return notify("A node with this name exists.", true);
    const both = graph.data.is_directed ? 1 : 2;
    const changes = links.flatMap((other) => [
      { op: "put_edge", source: node, target: other, weight: 1 },
      ...(both === 2 ? [{ op: "put_edge", source: other, target: node, weight: 1 }] : []),
    ]);
    opened = node; // after it has been learned
    return change({ changes, inverse: [{ op: "remove_node", node }], label: `${show(node)} added` });
  };
  return make("form", { class: "form", onsubmit: add }, make("div", { class: "field" }, make("label", { for: "node-name" }, "Add a node called"), name), field, listed, make("button", { id: "add" }, "Add"));
}

function makeTokenForm(label, proceed) {
  const input = make("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const keep = (event) => { event.preventDefault(); keepToken(input.value); proceed(); };
  return make("form", { class: "form", onsubmit: keep }, make("div", { class: "field" }, make("label", { for: "token" }, label), input), make("button", { id: "use-token" }, "Use"));
}

// A service may require its token before it shows anything.
export function askForToken() {
  return new Promise((resolve) => {
    const proceed = () => { dialog.remove(); resolve(); };
    const dialog = make("dialog", { class: "part", "aria-label": "Token" }, makeTokenForm("Token of the service", proceed));
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    document.body.append(dialog);
    dialog.showModal();
  });
}

export const edit = {
  needsToken: true,
  makeSection(name, panel = null) {
    if (isSnapshot || graph.scene?.sizes) return "";
    const section = make("section", { class: "part", "aria-label": "Edit" });
    const fill = () => {
      const history = make("span", { class: "row" },
        make("button", { type: "button", class: "quiet", id: "undo", disabled: !done.length, onclick: undo }, "Undo"),
        make("button", { type: "button", class: "quiet", id: "redo", disabled: !undone.length, onclick: redo }, "Redo"));
      section.replaceChildren(make("div", { class: "head" }, make("h3", {}, "Edit"), history));
      if (edit.needsToken && !hasToken()) section.append(makeTokenForm("Token of the service, for changes", fill));
      else section.append(...[name === null ? null : makeGiveForm(name, panel), makeNodeForm(), makeMoves()].filter(Boolean));
    };
    refill = fill;
    fill();
    return section;
  },
};

export function pressEditKey(event) {
  const isField = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (isField || !(event.ctrlKey || event.metaKey) || isSnapshot) return;
  const key = event.key.toLowerCase();
  if (key === "z") (event.shiftKey ? redo : undo)();
  else if (key === "y") redo();
  else return;
  event.preventDefault();
}
