// Charts as SVG: all colours and sizes are attributes, so that a chart can be saved as a file.
import { format, makeSvg } from "./basics.js";
import { getTheme } from "./colours.js";

const FONT = "system-ui, sans-serif";

export function makeTicks(low, high, n = 5) {
  const step = (high - low || 1) / n;
  const power = 10 ** Math.floor(Math.log10(step));
  const nice = [1, 2, 5, 10].map((part) => part * power).find((one) => one >= step * 0.7);
  const ticks = [];
  for (let at = Math.ceil(low / nice - 1e-9) * nice; at <= high + nice * 1e-9; at += nice) ticks.push(Number(at.toPrecision(12)));
  return ticks;
}

function makeLogTicks(low, high) {
  const ticks = [];
  for (let power = Math.ceil(Math.log10(low) - 1e-9); power <= Math.log10(high) + 1e-9; power++) ticks.push(10 ** power);
  return ticks;
}

const formatTick = (value, isLog) => {
  const power = Math.round(Math.log10(value));
  if (!isLog || (power >= -2 && power <= 3)) return format(value);
  return `10${String(power).replace(/./g, (sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)] ?? "⁻")}`;
};

// A chart with axes. `x` and `y` are {low, high, label, log}; methods draw its parts.
export class Chart {
  constructor(svg, { x, y, width, height, title, margin = {} }) {
    this.svg = svg;
    this.theme = getTheme();
    this.box = { left: 54, right: 14, top: 14, bottom: 40, ...margin };
    this.x = { ...x };
    this.y = { ...y };
    this.width = width ?? Math.max(260, Math.round(svg.getBoundingClientRect().width) || 480);
    this.height = height ?? 240;
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    svg.setAttribute("font-family", FONT);
    svg.setAttribute("font-size", "12");
    svg.setAttribute("role", "img");
    if (title) svg.setAttribute("aria-label", title);
    this.under = this.add("g", {});
    this.drawAxes();
  }

  add(tag, attributes, ...children) {
    const element = makeSvg(tag, attributes, ...children);
    this.svg.append(element);
    return element;
  }

  place(axis, value, from, to) {
    const { low, high, log } = axis;
    const at = log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low || 1);
    return from + at * (to - from);
  }

  px(value) {
    return this.place(this.x, value, this.box.left, this.width - this.box.right);
  }

  py(value) {
    return this.place(this.y, value, this.height - this.box.bottom, this.box.top);
  }

  drawAxes() {
    const { left, right, top, bottom } = this.box;
    const { ink, soft, line } = this.theme;
    const floor = this.height - bottom;
    const ticks = (axis, n) => (axis.log ? makeLogTicks(axis.low, axis.high) : makeTicks(axis.low, axis.high, n));
    for (const value of ticks(this.y, 4)) {
      const at = this.py(value);
      this.add("line", { x1: left, x2: this.width - right, y1: at, y2: at, stroke: line, "stroke-width": 1 });
      this.add("text", { x: left - 6, y: at + 4, "text-anchor": "end", fill: soft }, formatTick(value, this.y.log));
    }
    for (const value of ticks(this.x, 6)) {
      const at = this.px(value);
      this.add("line", { x1: at, x2: at, y1: floor, y2: floor + 4, stroke: soft });
      this.add("text", { x: at, y: floor + 16, "text-anchor": "middle", fill: soft }, formatTick(value, this.x.log));
    }
    this.add("line", { x1: left, x2: this.width - right, y1: floor, y2: floor, stroke: soft });
    const middle = (left + this.width - right) / 2;
    this.add("text", { x: middle, y: this.height - 6, "text-anchor": "middle", fill: ink }, this.x.label ?? "");
    const up = (top + floor) / 2;
    this.add("text", { x: 12, y: up, "text-anchor": "middle", fill: ink, transform: `rotate(-90 12 ${up})` }, this.y.label ?? "");
  }

  shade(from, to, colour, label) {
    const left = Math.max(this.box.left, this.px(Math.max(from, this.x.low)));
    const right = Math.min(this.width - this.box.right, this.px(Math.min(to, this.x.high)));
    if (right <= left) return;
    const { top, bottom } = this.box;
    const area = { x: left, width: right - left, y: top, height: this.height - top - bottom };
    this.under.append(makeSvg("rect", { ...area, fill: colour, "fill-opacity": 0.16 }));
    if (label && right - left > 46) {
      this.add("text", { x: (left + right) / 2, y: top + 12, "text-anchor": "middle", fill: this.theme.soft, "font-size": 11 }, label);
    }
  }

  line(xs, ys, attributes = {}) {
    const points = [];
    for (let i = 0; i < xs.length; i++) {
      if (Number.isFinite(ys[i])) points.push(`${this.px(xs[i]).toFixed(1)},${this.clamp(this.py(ys[i])).toFixed(1)}`);
    }
    return this.add("polyline", { points: points.join(" "), fill: "none", stroke: this.theme.for, "stroke-width": 2, "stroke-linejoin": "round", ...attributes });
  }

  clamp(at) {
    return Math.min(this.height - this.box.bottom, Math.max(this.box.top, at));
  }

  dot(x, y, attributes = {}) {
    return this.add("circle", { cx: this.px(x).toFixed(1), cy: this.clamp(this.py(y)).toFixed(1), r: 3.5, fill: this.theme.for, ...attributes });
  }

  mark(x, label, attributes = {}) {
    const at = this.px(x);
    const floor = this.height - this.box.bottom;
    this.add("line", { x1: at, x2: at, y1: this.box.top, y2: floor, stroke: this.theme.ink, "stroke-width": 1, ...attributes });
    if (label) this.add("text", { x: at + 4, y: floor - 6, fill: this.theme.ink, "font-size": 11 }, label);
  }

  key(entries) {
    let at = this.box.left + 6;
    for (const [label, attributes] of entries) {
      this.add("line", { x1: at, x2: at + 16, y1: this.box.top - 6, y2: this.box.top - 6, "stroke-width": 2.5, ...attributes });
      this.add("text", { x: at + 21, y: this.box.top - 2, fill: this.theme.ink, "font-size": 11 }, label);
      at += 34 + label.length * 6.1;
    }
  }
}

export function findExtent(arrays, pad = 0.06) {
  let low = Infinity;
  let high = -Infinity;
  for (const array of arrays) {
    for (const value of array) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (!(low <= high)) return [0, 1];
  const room = (high - low || Math.abs(high) || 1) * pad;
  return [low - room, high + room];
}
