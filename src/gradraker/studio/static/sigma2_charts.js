// The charts about σ²: the paper's figures 1, 5 and 3.
import { byId, format, makeSvg, show } from "./basics.js";
import { RANGE_COLOURS } from "./colours.js";
import { Chart, findExtent } from "./charts.js";

export const RULE_NAMES = { theory: "theory", refined: "refined", median: "median", cv: "cross-validation" };

// Figure 1: the error over σ², the four ranges, the rules' choices, and the current σ².
export function drawCurve(lab) {
  const { split, curve, rules, sigma2, found } = lab;
  const [low, high] = lab.grid;
  const top = curve ? Math.min(1.6, Math.max(...(curve.mean ?? []), ...curve.own, found.gnmse) * 1.12) : 1.1;
  const title = `Error over σ²; at σ² = ${format(sigma2)} GNMSE is ${format(found.gnmse)}`;
  const chart = new Chart(byId("chart-curve"), { x: { low, high, log: true, label: "kernel variance σ²" }, y: { low: 0, high: top, label: "GNMSE" }, height: 270, title, margin: { top: 26 } });
  const [ce, ed, da] = split.boundaries;
  const ends = [low, ce, ed, da, high];
  split.ranges.forEach(([name], i) => chart.shade(ends[i], ends[i + 1], RANGE_COLOURS[name], name));
  const { ink, soft, against } = chart.theme;
  if (curve?.mean) {
    const band = [...curve.sigma2.map((s, i) => [s, curve.mean[i] + curve.standard_error[i]]), ...curve.sigma2.map((s, i) => [s, curve.mean[i] - curve.standard_error[i]]).reverse()];
    chart.add("polygon", { points: band.map(([s, g]) => `${chart.px(s).toFixed(1)},${chart.clamp(chart.py(g)).toFixed(1)}`).join(" "), fill: chart.theme.for, "fill-opacity": 0.15 });
    chart.line(curve.sigma2, curve.mean, { stroke: chart.theme.for, "stroke-width": 2.5 });
  }
  if (curve) {
    const own = { stroke: soft, "stroke-dasharray": "5 3" };
    chart.line(curve.sigma2, curve.own, { ...own, "stroke-width": 1.4 });
    chart.key([...(curve.mean ? [[`mean of ${curve.n_repeats} splits`, { stroke: chart.theme.for }]] : []), ["this split", own]]);
  }
  const floor = chart.height - chart.box.bottom;
  const chosen = Object.entries(rules ?? {}).filter(([, s]) => s !== null && s > low && s < high).sort((a, b) => a[1] - b[1]);
  chosen.forEach(([rule, s], i) => {
    const at = chart.px(s);
    const up = chart.box.top + 30 + 15 * i;
    chart.add("line", { x1: at, x2: at, y1: up - 4, y2: floor, stroke: ink, "stroke-width": 1, "stroke-dasharray": "2 2" });
    chart.add("path", { d: `M${at} ${floor}l-4 7h8z`, fill: ink });
    chart.add("text", { x: at + 5, y: up, fill: ink, "font-size": 11 }, `${RULE_NAMES[rule]} ${format(s, 3)}`);
  });
  chart.mark(sigma2, "", { stroke: against, "stroke-width": 2 });
  chart.dot(sigma2, found.gnmse, { fill: against, r: 6, stroke: chart.theme.card, "stroke-width": 2 });
  return chart;
}

const ring = (x, y, r) => `M${(x - r).toFixed(1)} ${y.toFixed(1)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;

// Figure 5: truth and prediction of every unknown node, by position or against each other.
export function drawPredictions(lab, unit) {
  const { split, learner, found, node, position } = lab;
  const [low, high] = split.unit_values;
  const toUnit = (value) => low + (high - low) * value;
  const truth = Array.from(learner.unknown, (i) => toUnit(learner.values[i]));
  const guess = Array.from(found.predictions, toUnit);
  const byPosition = lab.against === "position" && position;
  const xs = byPosition ? Array.from(learner.unknown, (i) => position[i]) : truth;
  const [xLow, xHigh] = findExtent([xs]);
  const [tLow, tHigh] = findExtent([truth], 0.18);
  const label = unit ? `(${show(unit)})` : "";
  const xLabel = byPosition ? show(split.position_name).replaceAll("_m", " (m)") : `true value ${label}`;
  const chart = new Chart(byId("chart-predictions"), { x: { low: xLow, high: xHigh, label: xLabel }, y: { low: tLow, high: tHigh, label: byPosition ? `value ${label}` : `prediction ${label}` }, height: 385, title: `Predictions of ${truth.length} unknown nodes against the truth`, margin: { top: 24 } });
  const at = xs.map((x, i) => [chart.px(x), chart.clamp(chart.py(guess[i])), chart.py(truth[i])]);
  const r = truth.length > 400 ? 2.2 : 4;
  if (byPosition) {
    chart.add("path", { d: at.map(([px, pg, pt]) => `M${px.toFixed(1)} ${pt.toFixed(1)}V${pg.toFixed(1)}`).join(""), stroke: chart.theme.line, fill: "none" });
    chart.add("path", { d: at.map(([px, , pt]) => ring(px, pt, r)).join(""), fill: "none", stroke: chart.theme.ink, "stroke-width": 1.2 });
    chart.key([["truth", { stroke: chart.theme.ink }], ["prediction", { stroke: chart.theme.for }]]);
  } else {
    chart.line([xLow, xHigh], [xLow, xHigh], { stroke: chart.theme.soft, "stroke-width": 1.2, "stroke-dasharray": "4 3" });
  }
  chart.add("path", { d: at.map(([px, pg]) => ring(px, pg, r)).join(""), fill: chart.theme.for, "fill-opacity": 0.75 });
  const chosen = learner.unknown.indexOf(node);
  if (chosen >= 0) chart.add("path", { d: ring(at[chosen][0], at[chosen][1], 8), fill: "none", stroke: chart.theme.against, "stroke-width": 2.5 });
  lab.points = at;
  return chart;
}

// Figure 3: B and F of every training step for the chosen node.
export function drawWeights(lab) {
  const { weights, learner, node, split } = lab;
  const { B, F } = weights;
  const n = B.length;
  const noise = Math.max(0, -F.reduce((least, f) => Math.min(least, f), 0));
  const epoch = learner.known.length;
  for (const [id, numbers, label, colour] of [["chart-B", B, "similarity B", "for"], ["chart-F", F, "weight F", "against"]]) {
    const [low, high] = findExtent([numbers, [0]], 0.08);
    const chart = new Chart(byId(id), { x: { low: 0.5, high: n + 0.5, label: id === "chart-F" ? "training step" : "" }, y: { low, high, label }, height: 170, title: `${label} of the ${n} training steps for ${show(split.names[node])}`, margin: { top: 10, bottom: id === "chart-F" ? 38 : 22 } });
    for (let step = epoch; step < n; step += epoch) chart.add("line", { x1: chart.px(step + 0.5), x2: chart.px(step + 0.5), y1: chart.box.top, y2: chart.height - chart.box.bottom, stroke: chart.theme.soft, "stroke-dasharray": "2 3" });
    const zero = chart.py(0);
    if (id === "chart-F") chart.under.append(makeSvg("rect", { x: chart.box.left, width: chart.width - chart.box.left - chart.box.right, y: chart.py(noise), height: Math.max(0, chart.py(-noise) - chart.py(noise)), fill: chart.theme.soft, "fill-opacity": 0.14 }));
    const d = Array.from(numbers, (value, t) => `M${chart.px(t + 1).toFixed(1)} ${zero.toFixed(1)}V${chart.py(value).toFixed(1)}`).join("");
    chart.add("path", { d, stroke: chart.theme[colour], "stroke-width": Math.max(0.6, Math.min(3, 380 / n)), fill: "none" });
    chart.add("line", { x1: chart.box.left, x2: chart.width - chart.box.right, y1: zero, y2: zero, stroke: chart.theme.soft });
  }
  const nSignificant = F.reduce((count, f) => count + (f > noise ? 1 : 0), 0);
  return { sum: F.reduce((sum, f) => sum + f, 0), nSignificant, noise };
}
