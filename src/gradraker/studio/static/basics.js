// Shared by all modules: elements, formatted numbers, and the address that holds the view.

export const byId = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
}

// Invisible and direction-changing characters of names are written as escapes.
const LONGEST_NAME = 80;
export function show(name) {
  const text = String(name).replace(/[\p{C}\u2028\u2029\u00ad]/gu, (sign) =>
    Array.from({ length: sign.length }, (_, i) => `\\u${sign.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""));
  if (!text.trim()) return JSON.stringify(text);
  const letters = Array.from(text);
  return letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME).join("")}…` : text;
}

// Four significant digits, with a real minus sign.
export function format(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return show(value);
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
  return text.replace(/e([+-]?)(\d+)$/, (_, sign, power) => `e${sign === "-" ? "-" : ""}${power}`).replace(/-/g, "−");
}

export const withUnit = (text, unit) => (unit ? `${text} ${show(unit)}` : text);

let toastTimer = 0;
export function notify(text, isError = false) {
  const toast = byId("status");
  toast.textContent = text;
  toast.classList.toggle("error", isError);
  toast.classList.add("seen");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => toast.classList.remove("seen"), isError ? 8000 : 4000);
}

export function announce(text) {
  byId("spoken").textContent = text;
}

const KINDS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array };
export function unpack(text, kind) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return new KINDS[kind](bytes.buffer);
}

// The address holds the view, so that a link shows the same view.
const DEFAULTS = {
  view: "graph", node: "", colour: "prediction", part: "", x: "", y: "", zoom: "",
  s2: "", d: "200", eta: "0.1", e: "3", split: "0", lab: "", source: "replay", theme: "",
};
const readHash = () => new URLSearchParams(location.hash.slice(1));
const watchers = [];
export const where = { ...DEFAULTS };

export function readAddress(fallback = "") {
  const given = location.hash.length > 1 ? readHash() : new URLSearchParams(fallback);
  for (const name of Object.keys(DEFAULTS)) where[name] = given.get(name) ?? DEFAULTS[name];
  return given;
}

let addressTimer = 0;
export function go(changes) {
  const changed = Object.entries(changes).filter(([name, value]) => where[name] !== String(value));
  for (const [name, value] of changed) where[name] = String(value);
  if (!changed.length) return;
  clearTimeout(addressTimer);
  addressTimer = setTimeout(writeAddress, 150);
  const names = new Set(changed.map(([name]) => name));
  for (const watch of watchers) watch(names);
}

export function describeView() {
  const kept = Object.entries(where).filter(([name, value]) => value !== DEFAULTS[name]);
  return new URLSearchParams(kept).toString();
}

function writeAddress() {
  history.replaceState(null, "", `#${describeView()}`);
}

export function onMove(watch) {
  watchers.push(watch);
}

export function moveTo(hash) {
  const given = new URLSearchParams(hash);
  go(Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, given.get(name) ?? DEFAULTS[name]])));
}

export function download(content, name, kind) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: kind }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
