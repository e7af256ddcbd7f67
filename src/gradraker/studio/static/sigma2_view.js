// The page about σ²: the paper's learner follows a slider.
import { byId, format, go, make, onMove, show, notify, unpack, where, withUnit } from "./basics.js";
import { RANGE_COLOURS } from "./colours.js";
import { graph } from "./graph_view.js";
import { Learner } from "./learner.js";
import { ask } from "./server.js";
import { RULE_NAMES, drawCurve, drawPredictions, drawWeights } from "./sigma2_charts.js";

const STEPS = 1000;
const DS = [25, 50, 100, 200, 400, 800];
export const lab = { learner: null, against: "position" };
let isStarted = false;
let frame = 0;
let curveTimer = 0;

const settings = () => ({ d: Number(where.d), eta: Number(where.eta), e: Number(where.e), repeat: Number(where.split) });
const fullQuery = () => {
  const { d, eta, e, repeat } = settings();
  return `d=${d}&eta=${eta}&e=${e}&repeat=${repeat}`;
};

export function startSigma2() {
  onMove(async (names) => {
    if (where.view !== "sigma2") return;
    if (!isStarted || names.has("d") || names.has("split")) await openLab();
    else if (names.has("eta") || names.has("e")) { follow(); askCurveSoon(); }
    else if (names.has("s2") || names.has("lab")) follow();
  });
  if (where.view === "sigma2") return openLab();
  return undefined;
}

async function openLab() {
  const section = byId("view-sigma2");
  try {
    if (!isStarted) section.replaceChildren(make("p", { class: "note wait" }, "Drawing random frequencies …"));
    const { d, repeat } = settings();
    const split = await ask(`studio/api/sigma2/split?d=${d}&repeat=${repeat}`);
    lab.split = split;
    lab.learner = new Learner(split);
    lab.position = split.position ? unpack(split.position, "f8") : null;
    const [ce, , da] = split.boundaries;
    lab.grid = [ce / 8, da * 8];
    lab.curve = lab.rules = null;
    if (!isStarted) build(section);
    isStarted = true;
    listNodes();
    follow();
    await askCurve();
  } catch (error) {
    isStarted = false;
    section.replaceChildren(make("div", { class: "card" }, make("p", { class: "error" }, error.message)));
  }
}

// At once after a pause, else when the slider rests.
let lastAsked = 0;
const askCurveSoon = () => {
  clearTimeout(curveTimer);
  curveTimer = setTimeout(askCurve, performance.now() - lastAsked > 300 ? 0 : 100);
  lastAsked = performance.now();
};

// The curve and the rules do not depend on σ². The curve of this split is shown at once; the mean of several splits and the rules follow.
async function askCurve() {
  const query = fullQuery();
  const start = performance.now();
  try {
    const curve = await ask(`studio/api/sigma2/curve?${query}`);
    if (query !== fullQuery()) return;
    lab.curve = curve;
    draw();
    byId("view-sigma2").dataset.curveMs = (performance.now() - start).toFixed(1);
    const mean = await ask(`studio/api/sigma2/mean?${query}`);
    if (query !== fullQuery()) return;
    lab.curve = { ...curve, ...mean };
    draw();
    const { rules } = await ask(`studio/api/sigma2/rules?${query}`);
    if (query !== fullQuery()) return;
    lab.rules = rules;
    draw();
    listRules();
  } catch (error) {
    lab.curve = null;
    notify(error.message, true);
  }
}

const toSigma2 = (at) => {
  const [low, high] = lab.grid;
  return Number((low * (high / low) ** (at / STEPS)).toPrecision(5));
};
const toStep = (sigma2) => {
  const [low, high] = lab.grid;
  return Math.round((STEPS * Math.log(sigma2 / low)) / Math.log(high / low));
};

function readSigma2() {
  const given = Number(where.s2);
  return given > 0 && Number.isFinite(given) ? given : lab.split.boundaries[1];
}

// Compute and draw in the next frame, with the latest settings.
function follow() {
  const start = performance.now();
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    const { eta, e } = settings();
    lab.sigma2 = readSigma2();
    const index = lab.split.names.indexOf(where.lab);
    lab.node = lab.learner.unknown.includes(index) ? index : lab.learner.unknown[0];
    lab.found = lab.learner.run(lab.sigma2, eta, e);
    lab.weights = lab.learner.explain(lab.node);
    draw();
    byId("view-sigma2").dataset.ms = (performance.now() - start).toFixed(1);
  });
}

function findRange(sigma2) {
  const [ce, ed, da] = lab.split.boundaries;
  return sigma2 < ce ? 0 : sigma2 <= ed ? 1 : sigma2 < da ? 2 : 3;
}

function draw() {
  if (!lab.found) return;
  drawCurve(lab);
  const unit = graph.data?.unit ?? "";
  drawPredictions(lab, unit);
  const weights = drawWeights(lab);
  const [name, meaning] = lab.split.ranges[findRange(lab.sigma2)];
  const slider = byId("sigma2");
  if (document.activeElement !== slider) slider.value = toStep(lab.sigma2);
  slider.setAttribute("aria-valuetext", `σ² ${format(lab.sigma2)}, ${name} range, GNMSE ${format(lab.found.gnmse)}`);
  const number = byId("sigma2-number");
  if (document.activeElement !== number) number.value = Number(lab.sigma2.toPrecision(5));
  byId("gnmse").textContent = format(lab.found.gnmse);
  byId("gnmse").dataset.value = lab.found.gnmse;
  byId("range").textContent = name;
  byId("range").style.background = `color-mix(in srgb, ${RANGE_COLOURS[name]} 30%, transparent)`;
  byId("meaning").textContent = `In the ${name} range ${meaning}.`;
  const at = lab.learner.unknown.indexOf(lab.node);
  const [low, high] = lab.split.unit_values;
  const toUnit = (value) => withUnit(format(low + (high - low) * value), unit);
  byId("weights-note").textContent = `${show(lab.split.names[lab.node])}: predicted ${toUnit(lab.found.predictions[at])}, truth ${toUnit(lab.learner.values[lab.node])}. All weights sum to ${format(weights.sum, 3)}; ${weights.nSignificant} of ${lab.weights.F.length} are above the noise range (grey).`;
  byId("weights-note").dataset.prediction = lab.found.predictions[at];
  byId("lab-node").value = String(lab.node);
}

export const redrawSigma2 = () => { if (where.view === "sigma2" && isStarted) draw(); };

function listNodes() {
  const { names } = lab.split;
  byId("lab-node").replaceChildren(...Array.from(lab.learner.unknown, (i) => make("option", { value: i }, show(names[i]))));
  byId("slider-ends").replaceChildren(make("span", {}, format(lab.grid[0], 2)), make("span", {}, format(lab.grid[1], 2)));
  byId("lab-facts").textContent = `${lab.learner.known.length} known and ${lab.learner.unknown.length} unknown nodes${lab.split.n_all > names.length ? `, of ${lab.split.n_all}` : ""}; distances ‖d‖² from ${format(lab.split.distances[0], 3)} to ${format(lab.split.distances[1], 3)}.`;
}

function listRules() {
  byId("rules").replaceChildren(...Object.entries(lab.rules).filter(([, s]) => s !== null).map(([rule, s]) =>
    make("button", { type: "button", class: "chip", "data-rule": rule, "data-sigma2": s, onclick: () => go({ s2: Number(s.toPrecision(6)) }) }, `${RULE_NAMES[rule]}: ${format(s, 3)}`)));
}

function build(section) {
  const field = (id, label, control) => make("div", { class: "field" }, make("label", { for: id }, label), control);
  const choose = (name) => (event) => go({ [name]: event.target.value });
  const slider = make("input", { type: "range", id: "sigma2", min: 0, max: STEPS, step: 1, "aria-label": "Kernel variance σ²", oninput: (event) => go({ s2: toSigma2(Number(event.target.value)) }) });
  const number = make("input", { type: "number", id: "sigma2-number", step: "any", min: 0, oninput: (event) => Number(event.target.value) > 0 && go({ s2: Number(event.target.value) }) });
  const svg = (id) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    element.id = id;
    return element;
  };
  const curve = svg("chart-curve");
  curve.addEventListener("pointerdown", (event) => { curve.setPointerCapture(event.pointerId); pull(event); });
  curve.addEventListener("pointermove", (event) => { if (event.buttons) pull(event); });
  const points = svg("chart-predictions");
  points.addEventListener("click", pickPoint);
  const ds = DS.includes(Number(where.d)) ? DS : [...DS, Number(where.d)].sort((a, b) => a - b);
  section.replaceChildren(
    make("div", { class: "lab" },
      make("div", { class: "card wide" },
        make("div", { class: "head" }, make("h2", {}, "Error over σ²"), make("p", { class: "row" }, "GNMSE ", make("output", { id: "gnmse", class: "big" }), make("span", { id: "range", class: "badge" }))),
        curve, slider, make("div", { id: "slider-ends", class: "ends note" }),
        make("p", { id: "meaning", class: "note" }),
        make("div", { class: "row" }, make("span", { class: "note" }, "Rules choose"), make("span", { id: "rules", class: "chips" }))),
      make("div", { class: "card controls" },
        make("h2", {}, "The learner"),
        field("sigma2-number", "σ²", number),
        field("d", "Frequencies D", make("select", { id: "d", onchange: choose("d") }, ds.map((d) => make("option", { value: d, selected: d === Number(where.d) }, String(d))))),
        field("eta", "Learning rate η", make("input", { type: "number", id: "eta", min: 0.005, max: 0.95, step: 0.005, value: where.eta, onchange: (event) => event.target.checkValidity() && go({ eta: Number(event.target.value) }) })),
        field("e", "Epochs E", make("input", { type: "number", id: "e", min: 1, max: 20, step: 1, value: where.e, onchange: (event) => event.target.checkValidity() && go({ e: Number(event.target.value) }) })),
        field("split", "Split", make("input", { type: "number", id: "split", min: 0, max: 1000, step: 1, value: where.split, onchange: (event) => event.target.checkValidity() && go({ split: Number(event.target.value) }) })),
        make("p", { class: "note", id: "lab-facts" }),
        make("p", { class: "note" }, "The slider changes only σ²: split, frequencies and order of training stay the same, so every movement is due to σ²."),
        make("p", { class: "note" }, "Click a node in the lower left chart to see its weights.")),
      make("div", { class: "card" },
        make("div", { class: "head" }, make("h2", {}, "Predictions and truth"), lab.position ? make("div", { class: "field" }, make("label", { for: "against", class: "unseen" }, "Against"), make("select", { id: "against", onchange: (event) => { lab.against = event.target.value; draw(); } }, make("option", { value: "position" }, `by ${show(lab.split.position_name).replaceAll("_m", "")}`), make("option", { value: "truth" }, "against truth"))) : null),
        points),
      make("div", { class: "card" },
        make("div", { class: "head" }, make("h2", {}, "B and F over time"), field("lab-node", "for", make("select", { id: "lab-node", onchange: (event) => go({ lab: lab.split.names[Number(event.target.value)] }) }))),
        svg("chart-B"), svg("chart-F"), make("p", { class: "note", id: "weights-note", "aria-live": "polite" }))));
}

function pull(event) {
  const box = byId("chart-curve").getBoundingClientRect();
  const width = byId("chart-curve").viewBox.baseVal.width;
  const at = ((event.clientX - box.left) / box.width) * width;
  const share = Math.min(1, Math.max(0, (at - 54) / (width - 54 - 14)));
  byId("sigma2").value = share * STEPS;
  go({ s2: toSigma2(share * STEPS) });
}

function pickPoint(event) {
  const box = byId("chart-predictions").getBoundingClientRect();
  const { width } = byId("chart-predictions").viewBox.baseVal;
  const scale = width / box.width;
  const [px, py] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  let best = -1;
  let least = 18;
  lab.points.forEach(([x, y], i) => {
    const distance = Math.hypot(x - px, y - py);
    if (distance < least) [least, best] = [distance, i];
  });
  if (best >= 0) go({ lab: lab.split.names[lab.learner.unknown[best]] });
}
