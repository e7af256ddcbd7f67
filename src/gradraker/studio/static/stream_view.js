// The stream: values as they arrive, each predicted before it is learned.
import { byId, format, go, make, onMove, announce, show, notify, where, withUnit } from "./basics.js";
import { Chart } from "./charts.js";
import { graph } from "./graph_view.js";
import { ask, askNow, hasToken, isSnapshot, onState, post } from "./server.js";

const WINDOW = 10;
const SPEEDS = [["slow", 1000], ["normal", 300], ["fast", 60]];
const stream = { waiting: [], shown: [], isOn: false, about: null, lastSeq: 0, speed: 300 };
let timer = 0;

const isReplay = () => where.source === "replay";
const isOwn = () => !isReplay() && stream.about.stream !== null; // the server has a stream that we control

export function startStream(about) {
  stream.about = about;
  stream.isOn = Boolean(about.stream);
  onMove((names) => { if (where.view === "stream" && (names.has("view") || names.has("source"))) openStream(); });
  onState(() => { if (where.view === "stream" && !isReplay()) fetchArrivals(); });
  if (where.view === "stream") openStream();
}

async function openStream() {
  pauseHere();
  buildStream();
  stream.waiting = [];
  stream.shown = [];
  stream.lastSeq = 0;
  if (!isReplay() && !isOwn()) stream.isOn = true; // values arrive automatically
  try {
    if (isReplay()) await loadReplay();
    else await fetchArrivals(true);
  } catch (error) {
    byId("stream-note").textContent = error.message;
  }
  drawStream();
}

const toArrival = (node, value, predicted, error, baseline) => ({ node, value, predicted, error, baseline });

async function loadReplay() {
  byId("stream-note").textContent = "Learning the values again, one at a time …";
  const found = await ask("studio/api/replay?seed=0");
  stream.shown = [];
  stream.waiting = found.arrivals.map(([node, value, predicted, guess]) => {
    const isLabel = graph.data.classes !== null;
    return toArrival(node, value, predicted, isLabel ? Number(String(predicted) !== String(value)) : predicted - value, isLabel ? Number(String(guess) !== String(value)) : guess - value);
  });
  byId("stream-note").textContent = `${found.n_first} of ${found.n_known} values are known at first; ${found.arrivals.length} arrive in random order.`;
}

// Values that the service has learned since; those from before the page was opened are shown at once.
async function fetchArrivals(isFirst = false) {
  const { learned } = await askNow("learned?last=200");
  const news = learned.filter((one) => one.seq > stream.lastSeq && one.predicted !== null).reverse();
  if (learned.length) stream.lastSeq = Math.max(...learned.map((one) => one.seq));
  const arrivals = news.map((one) => toArrival(one.node, one.value, one.predicted, one.error, one.baseline_error));
  if (isFirst || stream.isOn || isOwn()) stream.shown.push(...arrivals);
  else stream.waiting.push(...arrivals);
  drawStream();
}

function step() {
  const next = stream.waiting.shift();
  if (!next) return pauseHere();
  stream.shown.push(next);
  drawStream();
  return undefined;
}

function pauseHere() {
  clearInterval(timer);
  if (isReplay()) stream.isOn = false;
}

async function toggle() {
  if (isOwn()) return control({ on: !stream.isOn });
  stream.isOn = !stream.isOn;
  clearInterval(timer);
  if (isReplay() && stream.isOn) {
    if (!stream.waiting.length) restart();
    timer = setInterval(() => { step(); if (!stream.waiting.length) { stream.isOn = false; clearInterval(timer); drawStream(); } }, stream.speed);
  } else if (stream.isOn) stream.shown.push(...stream.waiting.splice(0));
  return drawStream();
}

async function control(body) {
  if (!hasToken()) return notify("Changes need the token of the service: enter it under Graph, Edit.", true);
  try {
    stream.isOn = (await post("studio/api/stream", body)).on;
  } catch (error) {
    notify(error.message, true);
  }
  return drawStream();
}

function restart() {
  stream.waiting = [...stream.shown, ...stream.waiting];
  stream.shown = [];
  drawStream();
}

const rollingRmse = (errors) => errors.map((_, i) => {
  const some = errors.slice(Math.max(0, i + 1 - WINDOW), i + 1);
  return Math.sqrt(some.reduce((sum, e) => sum + e * e, 0) / some.length);
});
const totalRmse = (errors) => Math.sqrt(errors.reduce((sum, e) => sum + e * e, 0) / errors.length);
const meanOf = (errors) => errors.reduce((sum, e) => sum + e, 0) / errors.length;

function drawStream() {
  if (where.view !== "stream" || !byId("chart-stream")) return;
  const { shown, waiting } = stream;
  const isLabel = graph.data?.classes;
  const errors = shown.map((one) => one.error);
  const baseline = shown.map((one) => one.baseline);
  const unit = graph.data?.unit ?? "";
  byId("play").textContent = stream.isOn ? "Pause" : "Play";
  byId("step").disabled = isReplay() ? !waiting.length : !isOwn() && !waiting.length;
  byId("arrived").textContent = `${shown.length} arrived${waiting.length ? `, ${waiting.length} ${isReplay() ? "to come" : "waiting"}` : ""}`;
  const [name, score] = isLabel ? ["Share of wrong labels", meanOf] : ["RMSE", totalRmse];
  byId("stream-score").textContent = shown.length ? `${name} ${withUnit(format(score(errors)), isLabel ? "" : unit)}, by the ${isLabel ? "most common label" : "mean"} ${withUnit(format(score(baseline)), isLabel ? "" : unit)}` : "";
  byId("stream-score").dataset.model = shown.length ? score(errors) : "";
  byId("stream-score").dataset.mean = shown.length ? score(baseline) : "";
  const total = Math.max(10, shown.length + (isReplay() ? waiting.length : 0));
  const [own, mean] = [rollingRmse(errors), rollingRmse(baseline)];
  const high = Math.max(...own, ...mean, 1e-9) * 1.12;
  const chart = new Chart(byId("chart-stream"), { x: { low: 1, high: total, label: "values that arrived" }, y: { low: 0, high, label: isLabel ? "root of errors" : `RMSE of the last ${WINDOW}${unit ? ` (${show(unit)})` : ""}` }, height: 280, title: "Error of predictions made before values were learned", margin: { top: 24 } });
  const steps = shown.map((_, i) => i + 1);
  chart.line(steps, mean, { stroke: chart.theme.against, "stroke-dasharray": "5 3" });
  chart.line(steps, own, { stroke: chart.theme.for, "stroke-width": 2.5 });
  chart.key([["model", { stroke: chart.theme.for }], [isLabel ? "most common label" : "mean", { stroke: chart.theme.against, "stroke-dasharray": "5 3" }]]);
  if (shown.length) chart.dot(shown.length, own.at(-1), { r: 5 });
  fillRows("arrivals", shown.slice(-12).reverse());
  fillRows("surprises", [...shown].sort((a, b) => Math.abs(b.error) - Math.abs(a.error)).slice(0, 8));
  if (!stream.isOn && shown.length) announce(`${show(shown.at(-1).node)}: ${format(shown.at(-1).value)}, predicted ${format(shown.at(-1).predicted)}`);
}

function fillRows(id, arrivals) {
  byId(id).replaceChildren(...arrivals.map((one) => make("tr", {},
    make("th", { scope: "row" }, make("button", { type: "button", class: "link", onclick: () => go({ view: "graph", node: one.node }) }, make("bdi", {}, show(one.node)))),
    ...[one.value, one.predicted, graph.data.classes ? (one.error ? "wrong" : "right") : one.error].map((value) => make("td", {}, format(value))))));
}

function buildStream() {
  const section = byId("view-stream");
  const table = (id, title) => make("div", { class: "card" }, make("h2", {}, title),
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ["Node", "Value", "Predicted", "Error"].map((text) => make("th", { scope: "col" }, text)))), make("tbody", { id }))));
  const chart = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  chart.id = "chart-stream";
  const sources = [["replay", "the known values, replayed"], ...(isSnapshot ? [] : [["live", "values as they arrive"]])];
  section.replaceChildren(make("div", { class: "streams" },
    make("div", { class: "card wide" },
      make("div", { class: "bar" },
        make("div", { class: "field" }, make("label", { for: "source" }, "Stream of"), make("select", { id: "source", onchange: (event) => go({ source: event.target.value }) }, sources.map(([value, text]) => make("option", { value, selected: value === where.source }, text)))),
        make("button", { type: "button", id: "play", onclick: toggle }, "Play"),
        make("button", { type: "button", id: "step", class: "quiet", onclick: () => (isOwn() ? control({ step: true }) : step()) }, "Step"),
        isReplay() ? make("button", { type: "button", class: "quiet", id: "restart", onclick: restart }, "Restart") : null,
        isReplay() ? make("div", { class: "field" }, make("label", { for: "speed" }, "Speed"), make("select", { id: "speed", onchange: (event) => { stream.speed = Number(event.target.value); if (stream.isOn) { toggle(); toggle(); } } }, SPEEDS.map(([text, ms]) => make("option", { value: ms, selected: ms === stream.speed }, text)))) : null,
        make("span", { class: "note", id: "arrived" })),
      make("p", { class: "note", id: "stream-note" }, isReplay() ? "" : isOwn() ? "The months of a year at the stations, one value per second: each is predicted before it is learned." : "Values are shown when the service has learned them. While it is paused here, they wait."),
      chart, make("p", { id: "stream-score" })),
    table("arrivals", "Last values"), table("surprises", "Most surprising nodes")));
}

export const redrawStream = drawStream;
