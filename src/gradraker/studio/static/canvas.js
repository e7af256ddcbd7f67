// The canvas: during movement a finished picture is shifted and scaled; then it is redrawn.
import { byId, show } from "./basics.js";
import { getTheme } from "./colours.js";
import { drawScene, growth, listSpokes } from "./drawing.js";

const SMALL = 6000; // nodes and edges up to which every frame is redrawn
const MARGIN = 0.35; // drawn beyond each side, relative to the size
const REST = 90; // ms without movement until a large graph is redrawn
const SLICE = 12; // ms of drawing between two frames

export class GraphCanvas {
  constructor({ onSelect, onHover, onMove }) {
    this.base = byId("base");
    this.overlay = byId("overlay");
    this.handlers = { onSelect, onHover, onMove };
    this.scene = null;
    this.selected = null;
    this.cursor = -1;
    this.hovered = -1;
    this.cx = this.cy = 0.5;
    this.zoom = 1;
    this.picture = null;
    this.isWaiting = false;
    new ResizeObserver(() => this.resize()).observe(byId("frame"));
    this.listen();
  }

  setScene(scene) {
    this.scene = scene;
    const span = (values) => Math.max(0.05, 2 * values.reduce((far, value) => Math.max(far, Math.abs(value - 0.5)), 0));
    [scene.spanX, scene.spanY] = [span(scene.x), span(scene.y)];
    this.hovered = this.cursor = -1;
    this.buildGrid();
    this.redraw();
  }

  get fit() {
    const { spanX = 1, spanY = 1 } = this.scene ?? {};
    return Math.min(this.width / spanX, this.height / spanY) * 0.86;
  }

  get scale() {
    return this.fit * this.zoom;
  }

  resize() {
    const frame = byId("frame");
    this.width = Math.max(50, frame.clientWidth);
    this.height = Math.max(50, frame.clientHeight);
    this.ratio = Math.min(2, devicePixelRatio || 1);
    for (const canvas of [this.base, this.overlay]) {
      canvas.width = this.width * this.ratio;
      canvas.height = this.height * this.ratio;
    }
    this.redraw();
  }

  toWorld(px, py) {
    return [(px - this.width / 2) / this.scale + this.cx, (py - this.height / 2) / this.scale + this.cy];
  }

  toScreen(i) {
    return [(this.scene.x[i] - this.cx) * this.scale + this.width / 2, (this.scene.y[i] - this.cy) * this.scale + this.height / 2];
  }

  show(cx, cy, zoom) {
    this.cx = Math.min(1.6, Math.max(-0.6, cx));
    this.cy = Math.min(1.6, Math.max(-0.6, cy));
    this.zoom = Math.min(200, Math.max(0.4, zoom));
    this.handlers.onMove();
    this.move();
  }

  zoomAt(px, py, factor) {
    const [wx, wy] = this.toWorld(px, py);
    const zoom = Math.min(200, Math.max(0.4, this.zoom * factor));
    const scale = this.fit * zoom;
    this.show(wx - (px - this.width / 2) / scale, wy - (py - this.height / 2) / scale, zoom);
  }

  // After a movement: shift the picture in the next frame, and redraw it at rest.
  move() {
    this.requestFrame();
    clearTimeout(this.restTimer);
    if (this.isSmall) this.isStale = true;
    else this.restTimer = setTimeout(() => this.startDrawing(), REST);
  }

  // Colours or data changed.
  redraw() {
    if (!this.scene || !this.width) return;
    if (this.isSmall) this.isStale = true;
    else this.startDrawing();
    this.requestFrame();
  }

  get isSmall() {
    return this.scene.n + this.scene.edges.length / 2 <= SMALL;
  }

  requestFrame() {
    if (this.isWaiting || !this.scene) return;
    this.isWaiting = true;
    requestAnimationFrame(() => {
      this.isWaiting = false;
      this.drawFrame();
    });
  }

  makeFrame() {
    const width = Math.round(this.width * (1 + 2 * MARGIN));
    const height = Math.round(this.height * (1 + 2 * MARGIN));
    const scale = this.scale;
    return { scale, zoom: this.zoom, width, height, left: this.cx - width / 2 / scale, top: this.cy - height / 2 / scale };
  }

  startDrawing() {
    const frame = this.makeFrame();
    const canvas = document.createElement("canvas");
    canvas.width = frame.width * this.ratio;
    canvas.height = frame.height * this.ratio;
    const context = canvas.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const steps = drawScene(context, this.scene, frame);
    const run = (this.run = {});
    const work = () => {
      if (this.run !== run) return;
      const end = performance.now() + SLICE;
      let isDone = false;
      while (!isDone && performance.now() < end) isDone = steps.next().done;
      if (isDone) {
        this.picture = { canvas, frame };
        this.requestFrame();
      } else setTimeout(work, 0);
    };
    work();
  }

  drawFrame() {
    const context = this.base.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (this.isSmall && this.isStale) {
      const left = this.cx - this.width / 2 / this.scale;
      const top = this.cy - this.height / 2 / this.scale;
      const frame = { scale: this.scale, zoom: this.zoom, width: this.width, height: this.height, left, top };
      for (const _ of drawScene(context, this.scene, frame)); // without pauses
      this.isStale = false;
      this.picture = null;
    } else if (!this.isSmall && this.picture) {
      const { canvas, frame } = this.picture;
      context.clearRect(0, 0, this.width, this.height);
      const factor = this.scale / frame.scale;
      const px = (frame.left - this.cx) * this.scale + this.width / 2;
      const py = (frame.top - this.cy) * this.scale + this.height / 2;
      context.imageSmoothingEnabled = factor < 1;
      context.drawImage(canvas, px, py, frame.width * factor, frame.height * factor);
    }
    this.drawOverlay();
  }

  drawOverlay() {
    const context = this.overlay.getContext("2d");
    const theme = getTheme();
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    const grow = growth(this.zoom);
    const ring = (i, room, colour, width) => {
      const [px, py] = this.toScreen(i);
      context.beginPath();
      context.arc(px, py, this.scene.radius[i] * grow + room, 0, 2 * Math.PI);
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke();
    };
    if (this.selected && this.selected.index >= 0) {
      const [sx, sy] = this.toScreen(this.selected.index);
      for (const spoke of listSpokes(this.scene, this.selected)) {
        const [px, py] = this.toScreen(spoke.i);
        context.globalAlpha = spoke.opacity;
        context.beginPath();
        context.moveTo(sx, sy);
        context.lineTo(px, py);
        context.strokeStyle = spoke.weight > 0 ? theme.for : theme.against;
        context.lineWidth = spoke.width;
        context.stroke();
        context.globalAlpha = 1;
        ring(spoke.i, 1.5, spoke.weight > 0 ? theme.for : theme.against, 1.5);
      }
      ring(this.selected.index, 4, theme.ink, 2.5);
      this.label(context, this.selected.index, theme);
    }
    for (const i of new Set([this.cursor, this.hovered])) if (i >= 0) ring(i, 3, theme.against, 2);
    if (this.cursor >= 0) this.label(context, this.cursor, theme);
  }

  label(context, i, theme) {
    const [px, py] = this.toScreen(i);
    const text = show(this.scene.names[i]);
    context.font = "600 13px system-ui, sans-serif";
    context.textAlign = "center";
    context.lineWidth = 4;
    context.strokeStyle = theme.paper;
    context.strokeText(text, px, py - 14);
    context.fillStyle = theme.ink;
    context.fillText(text, px, py - 14);
  }

  // A grid of cells finds the node under the pointer without checking all nodes.
  buildGrid() {
    this.side = Math.max(4, Math.ceil(Math.sqrt(this.scene.n / 2)));
    this.grid = new Map();
    for (let i = 0; i < this.scene.n; i++) {
      const key = this.cell(this.scene.x[i]) * 100_000 + this.cell(this.scene.y[i]);
      if (!this.grid.has(key)) this.grid.set(key, []);
      this.grid.get(key).push(i);
    }
  }

  cell(at) {
    return Math.floor((at + 1) * this.side);
  }

  findAt(px, py) {
    const [wx, wy] = this.toWorld(px, py);
    const reach = this.scene.sizes ? 34 : 14;
    const span = Math.ceil((reach / this.scale) * this.side) + 1;
    let best = -1;
    let nearest = Infinity;
    const look = (i) => {
      const [qx, qy] = this.toScreen(i);
      const distance = Math.hypot(qx - px, qy - py) - this.scene.radius[i] * growth(this.zoom);
      if (distance < nearest) [nearest, best] = [distance, i];
    };
    if (span > 30) for (let i = 0; i < this.scene.n; i++) look(i);
    else {
      for (let a = this.cell(wx) - span; a <= this.cell(wx) + span; a++) {
        for (let b = this.cell(wy) - span; b <= this.cell(wy) + span; b++) for (const i of this.grid.get(a * 100_000 + b) ?? []) look(i);
      }
    }
    return nearest <= 8 ? best : -1;
  }

  // The nearest node in a direction, for arrow keys.
  findNext(from, dx, dy) {
    const [sx, sy] = from >= 0 ? this.toScreen(from) : [this.width / 2, this.height / 2];
    let best = from;
    let least = Infinity;
    for (let i = 0; i < this.scene.n; i++) {
      if (i === from) continue;
      const [px, py] = this.toScreen(i);
      const along = (px - sx) * dx + (py - sy) * dy;
      const across = Math.abs((px - sx) * dy) + Math.abs((py - sy) * dx);
      if (from >= 0 && (along <= 0 || across > 2 * along)) continue;
      const cost = from >= 0 ? along + 2 * across : Math.hypot(px - sx, py - sy);
      if (cost < least) [least, best] = [cost, i];
    }
    return best;
  }

  setCursor(i) {
    this.cursor = i;
    if (i >= 0) {
      const [px, py] = this.toScreen(i);
      if (px < 20 || py < 20 || px > this.width - 20 || py > this.height - 20) this.show(this.scene.x[i], this.scene.y[i], this.zoom);
    }
    this.requestFrame();
  }

  listen() {
    const canvas = this.overlay;
    const pointers = new Map();
    let moved = 0;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, at(event));
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.scene) return;
      const now = at(event);
      const before = pointers.get(event.pointerId);
      if (!before) return this.handlers.onHover(this.findAt(...now), ...now);
      if (pointers.size === 2) {
        const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        const far = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]) || 1;
        this.zoomAt((now[0] + other[0]) / 2, (now[1] + other[1]) / 2, far(now) / far(before));
        moved = 99;
      } else {
        moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
        if (moved > 3) this.show(this.cx - (now[0] - before[0]) / this.scale, this.cy - (now[1] - before[1]) / this.scale, this.zoom);
      }
      pointers.set(event.pointerId, now);
    });
    const end = (event) => {
      if (pointers.delete(event.pointerId) && moved <= 3 && event.type === "pointerup" && this.scene) {
        this.cursor = -1;
        this.handlers.onSelect(this.findAt(...at(event)));
      }
    };
    for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, end);
    canvas.addEventListener("pointerleave", () => this.scene && this.handlers.onHover(-1));
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (this.scene) this.zoomAt(...at(event), Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)));
    }, { passive: false });
  }
}
