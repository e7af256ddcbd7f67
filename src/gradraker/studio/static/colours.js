// Colours that are distinguishable with any colour vision: viridis, cividis, PuOr, Okabe–Ito.
import { where } from "./basics.js";

const SCALES = {
  viridis: "440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725",
  cividis: "00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838",
  diverging: "2d004b 542788 8073ac b2abd2 d8daeb f7f7f7 fee0b6 fdb863 e08214 b35806 7f3b08",
};
export const CATEGORIES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f"];
export const RANGE_COLOURS = { chaos: "#d55e00", extending: "#009e73", disturbing: "#e69f00", averaging: "#999999" };
export const FOR = "#0072b2";
export const AGAINST = "#d55e00";
export const N_STEPS = 64;

const tables = new Map();
function getTable(name) {
  if (!tables.has(name)) {
    const stops = SCALES[name].split(" ").map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
    const table = Array.from({ length: N_STEPS }, (_, i) => {
      const at = (i / (N_STEPS - 1)) * (stops.length - 1);
      const low = Math.min(Math.floor(at), stops.length - 2);
      const mix = stops[low].map((part, k) => Math.round(part + (stops[low + 1][k] - part) * (at - low)));
      return `rgb(${mix.join(",")})`;
    });
    tables.set(name, table);
  }
  return tables.get(name);
}

// Columns to colour by. `needs` is a column that the server computes on demand.
export const COLOURINGS = {
  value: { label: "Value", scale: "viridis" },
  prediction: { label: "Prediction", scale: "viridis" },
  error: { label: "Left-out error", scale: "diverging", needs: "left_out", isSigned: true },
  uncertainty: { label: "Uncertainty", scale: "cividis", needs: "uncertainty" },
  class: { label: "Class", isClass: true },
};

// A scale from a column: the step of each value (-1 for none), and the data of the legend.
export function makeScale(column, kind, classes) {
  const { scale, isSigned } = COLOURINGS[kind];
  const isClass = classes && (kind === "value" || kind === "prediction" || kind === "class");
  const steps = new Int16Array(column.length);
  if (isClass) {
    column.forEach((code, i) => { steps[i] = code >= 0 ? code % CATEGORIES.length : -1; });
    return { steps, colours: CATEGORIES, classes };
  }
  const known = Float64Array.from(column.filter((value) => Number.isFinite(value))).sort();
  let low = known[0] ?? 0;
  let high = known[known.length - 1] ?? 1;
  if (isSigned && !classes) {
    const size = Math.max(Math.abs(low), Math.abs(high)) || 1;
    [low, high] = [-size, size];
  }
  // A few outliers share the last colour, so that the other nodes differ.
  const most = known[Math.floor(0.95 * (known.length - 1))] ?? high;
  const isCut = kind === "uncertainty" && high - low > 2 * (most - low) && most > low;
  if (isCut) high = most;
  const span = high - low || 1;
  column.forEach((value, i) => {
    steps[i] = Number.isFinite(value) ? Math.round(Math.min(1, (value - low) / span) * (N_STEPS - 1)) : -1;
  });
  return { steps, low, high, isCut, colours: getTable(isSigned && classes ? "cividis" : scale) };
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
export const isDark = () => (where.theme ? where.theme === "dark" : prefersDark.matches);
export function onSchemeChange(watch) {
  prefersDark.addEventListener("change", watch);
}

export function getTheme() {
  return isDark()
    ? { ink: "#e8eaed", soft: "#a3abb5", line: "#39424d", paper: "#15191e", card: "#1c2127", edge: "200,212,225", for: "#56b4e9", against: "#f2a25c" }
    : { ink: "#1c2430", soft: "#5d6875", line: "#d7dde4", paper: "#ffffff", card: "#ffffff", edge: "60,75,95", for: FOR, against: AGAINST };
}
