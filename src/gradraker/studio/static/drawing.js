// Drawing a graph: large ones in slices of a few milliseconds; as SVG for pictures.
import { makeSvg, show } from "./basics.js";
import { getTheme } from "./colours.js";

const EDGES_IN_SLICE = 4000;
const NODES_IN_SLICE = 4000;
const MOST_LABELS = 70;

// A scene: positions, edges, sizes, and the step of the colour scale of each node.
export function makeScene(graph) {
  const n = graph.names.length;
  const degree = new Uint32Array(n);
  for (const end of graph.edges) degree[end]++;
  const many = Math.max(0, Math.log10(n / 60));
  const radius = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    radius[i] = graph.sizes ? 4 + Math.sqrt(graph.sizes[i] / Math.max(1, graph.sizes[0])) * 26 : Math.max(2.2, 6.2 - 1.7 * many);
  }
  return { ...graph, n, degree, radius, steps: new Int16Array(n).fill(-1), colours: [] };
}

export const edgeAlpha = (scene) => Math.min(0.45, Math.max(0.035, 0.4 * Math.sqrt(160 / Math.max(1, scene.edges.length / 2))));

// Nodes grow a little with the zoom.
export const growth = (zoom) => Math.min(2.4, Math.max(0.75, zoom ** 0.35));

// Yields between slices; the caller decides when to continue.
export function* drawScene(context, scene, frame) {
  const { scale, left, top, width, height, zoom } = frame;
  const theme = getTheme();
  context.clearRect(0, 0, width, height);
  context.strokeStyle = `rgba(${theme.edge},${edgeAlpha(scene)})`;
  context.lineWidth = 1;
  const { x, y, edges } = scene;
  for (let start = 0; start < edges.length; start += 2 * EDGES_IN_SLICE) {
    context.beginPath();
    const stop = Math.min(edges.length, start + 2 * EDGES_IN_SLICE);
    for (let i = start; i < stop; i += 2) {
      const ax = (x[edges[i]] - left) * scale;
      const ay = (y[edges[i]] - top) * scale;
      const bx = (x[edges[i + 1]] - left) * scale;
      const by = (y[edges[i + 1]] - top) * scale;
      if ((ax < 0 && bx < 0) || (ay < 0 && by < 0) || (ax > width && bx > width) || (ay > height && by > height)) continue;
      context.moveTo(ax, ay);
      context.lineTo(bx, by);
    }
    context.stroke();
    yield;
  }
  yield* drawNodes(context, scene, frame, theme);
  drawLabels(context, scene, frame, theme, zoom);
}

function* drawNodes(context, scene, frame, theme) {
  const { scale, left, top, width, height, zoom } = frame;
  const grow = growth(zoom);
  const { x, y, radius, steps, colours, columns } = scene;
  // Nodes of one colour are one path.
  const groups = new Map();
  for (let i = 0; i < scene.n; i++) {
    const px = (x[i] - left) * scale;
    const py = (y[i] - top) * scale;
    if (px < -40 || py < -40 || px > width + 40 || py > height + 40) continue;
    const key = steps[i] * 2 + (columns.known[i] > 0 ? 1 : 0);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(i);
  }
  let drawn = 0;
  for (const [key, members] of groups) {
    const step = Math.floor(key / 2);
    const isKnown = !scene.sizes && key - step * 2 === 1;
    for (let start = 0; start < members.length; start += NODES_IN_SLICE) {
      context.beginPath();
      for (const i of members.slice(start, start + NODES_IN_SLICE)) {
        const px = (x[i] - left) * scale;
        const py = (y[i] - top) * scale;
        const r = radius[i] * grow;
        context.moveTo(px + r, py);
        context.arc(px, py, r, 0, 2 * Math.PI);
      }
      context.fillStyle = step < 0 ? theme.card : colours[step];
      context.fill();
      context.strokeStyle = step < 0 ? theme.soft : isKnown ? theme.ink : theme.card;
      context.lineWidth = isKnown ? 1.6 : step < 0 ? 1 : 0.7;
      context.stroke();
      drawn += members.length;
      if (drawn > NODES_IN_SLICE) { drawn = 0; yield; }
    }
  }
}

// Names where there is space, those of nodes with many edges first.
function drawLabels(context, scene, frame, theme, zoom) {
  const { scale, left, top, width, height } = frame;
  const inside = [];
  for (let i = 0; i < scene.n && inside.length < 4000; i++) {
    const px = (scene.x[i] - left) * scale;
    const py = (scene.y[i] - top) * scale;
    if (i !== scene.chosen && px > 0 && py > 0 && px < width && py < height) inside.push([i, px, py]);
  }
  if (inside.length >= 4000) return;
  inside.sort((a, b) => scene.radius[b[0]] - scene.radius[a[0]] || scene.degree[b[0]] - scene.degree[a[0]]);
  const taken = [];
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "center";
  const grow = growth(zoom);
  const most = Math.min(MOST_LABELS, 12 + inside.length);
  for (const [i, px, py] of inside) {
    if (taken.length >= most) break;
    const text = show(scene.names[i]).slice(0, 24);
    const half = text.length * 3.3 + 4;
    const box = [px - half, py + scene.radius[i] * grow + 2, px + half, py + scene.radius[i] * grow + 16];
    const near = inside.length < 1500 && inside.some(([j, qx, qy]) => j !== i && qx > box[0] - 2 && qx < box[2] + 2 && qy > box[1] - 3 && qy < box[3] + 3);
    if (near || taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
    taken.push(box);
    context.lineWidth = 3;
    context.strokeStyle = theme.paper;
    context.strokeText(text, px, box[3] - 3);
    context.fillStyle = theme.ink;
    context.fillText(text, px, box[3] - 3);
  }
}

// Lines from a node to the known nodes that count in its prediction; the width is the weight.
export function listSpokes(scene, selected) {
  if (!selected || !selected.top.length) return [];
  const most = Math.max(...selected.top.map(([, weight]) => Math.abs(weight))) || 1;
  return selected.top
    .filter(([i]) => i >= 0 && i !== selected.index)
    .map(([i, weight]) => ({ i, weight, width: 0.8 + 7 * (Math.abs(weight) / most), opacity: 0.35 + 0.55 * (Math.abs(weight) / most) }));
}

export function drawSvg(scene, view, selected, title) {
  const theme = getTheme();
  const { width, height } = view;
  const at = (i) => [(scene.x[i] - view.cx) * view.scale + width / 2, (scene.y[i] - view.cy) * view.scale + height / 2].map((v) => v.toFixed(1));
  const svg = makeSvg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "system-ui, sans-serif" });
  svg.append(makeSvg("title", {}, title), makeSvg("rect", { width, height, fill: theme.paper }));
  const lines = [];
  for (let i = 0; i < scene.edges.length; i += 2) lines.push(`M${at(scene.edges[i]).join(" ")}L${at(scene.edges[i + 1]).join(" ")}`);
  svg.append(makeSvg("path", { d: lines.join(""), stroke: `rgb(${theme.edge})`, "stroke-opacity": edgeAlpha(scene), fill: "none" }));
  for (const spoke of listSpokes(scene, selected)) {
    const [ax, ay] = at(selected.index);
    const [bx, by] = at(spoke.i);
    svg.append(makeSvg("line", { x1: ax, y1: ay, x2: bx, y2: by, stroke: spoke.weight > 0 ? theme.for : theme.against, "stroke-width": spoke.width.toFixed(2), "stroke-opacity": spoke.opacity.toFixed(2) }));
  }
  const grow = growth(view.zoom);
  for (let i = 0; i < scene.n; i++) {
    const [cx, cy] = at(i);
    const step = scene.steps[i];
    const isKnown = scene.columns.known[i] > 0 && !scene.sizes;
    const node = makeSvg("circle", { cx, cy, r: (scene.radius[i] * grow).toFixed(1), fill: step < 0 ? theme.card : scene.colours[step], stroke: step < 0 ? theme.soft : isKnown ? theme.ink : theme.card, "stroke-width": isKnown ? 1.6 : 0.8 });
    node.append(makeSvg("title", {}, show(scene.names[i])));
    svg.append(node);
  }
  if (selected) {
    const [cx, cy] = at(selected.index);
    svg.append(makeSvg("circle", { cx, cy, r: (scene.radius[selected.index] * grow + 5).toFixed(1), fill: "none", stroke: theme.ink, "stroke-width": 2 }));
    svg.append(makeSvg("text", { x: cx, y: Number(cy) - 14, "text-anchor": "middle", fill: theme.ink, "font-size": 13, "font-weight": 600 }, show(scene.names[selected.index])));
  }
  return svg;
}
