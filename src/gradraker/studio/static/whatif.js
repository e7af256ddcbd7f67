// What if a known value were different (exact, computed here), or the node had another link?
import { format, make, show, withUnit } from "./basics.js";
import { graph } from "./graph_view.js";
import { findLargest, showValue, sumUp } from "./panel.js";
import { makeNameField } from "./search.js";
import { isSnapshot, post } from "./server.js";

const MAX_OFFERED = 200;

function makeValueForm(panel) {
  const changes = new Map();
  const { data, scene } = graph;
  const result = make("output", { id: "what-if", for: "what-if-value" });
  const contributors = panel.ranked.slice(0, MAX_OFFERED);
  const pick = make("select", { id: "what-if-node" }, contributors.map((one, i) => make("option", { value: i }, show(one.name))));
  const labels = { for: "what-if-value" };
  let latest = null;
  let timer = 0;
  let slider;
  if (panel.classes) {
    slider = make("select", { id: "what-if-value" }, panel.classes.map((name, i) => make("option", { value: i }, show(name))));
  } else {
    const known = Array.from(scene.columns.value).filter(Number.isFinite);
    const [low, high] = [Math.min(...known, contributors[0]?.value ?? 0), Math.max(...known, contributors[0]?.value ?? 1)];
    const room = (high - low || 1) * 0.5;
    slider = make("input", { type: "range", id: "what-if-value", min: low - room, max: high + room, step: "any" });
  }
  const number = panel.classes ? null : make("input", { type: "number", step: "any", id: "what-if-number", "aria-label": "Value as a number" });
  const askServer = async () => {
    const request = (latest = {});
    result.textContent = "…";
    try {
      const found = await post("studio/api/imagine", { node: panel.name, values: Object.fromEntries(changes) });
      if (request !== latest) return;
      const moved = found.after - found.before;
      result.textContent = `${withUnit(format(found.after), data.unit)} (${moved > 0 ? "+" : ""}${format(moved, 3)})`;
      result.dataset.value = found.after;
    } catch (error) {
      result.textContent = error.message;
    }
  };
  const report = () => {
    if (panel.scale && changes.size) {
      // If weights add up in another scale, a copy of the model learns the values.
      clearTimeout(timer);
      timer = setTimeout(askServer, 120);
      return;
    }
    if (panel.scale) {
      result.textContent = `${withUnit(format(panel.in_units), data.unit)} (as it is)`;
      result.dataset.value = panel.in_units;
      return;
    }
    const before = sumUp(panel);
    const after = sumUp(panel, changes);
    if (panel.classes) {
      const [old, now] = [findLargest(before), findLargest(after)];
      result.textContent = old === now ? `${showValue(now, panel.classes)}, as before` : `${showValue(now, panel.classes)} instead of ${showValue(old, panel.classes)}`;
    } else {
      const moved = after[0] - before[0];
      result.textContent = `${withUnit(format(after[0]), data.unit)} ${Math.abs(moved) < 1e-12 ? "(as it is)" : `(${moved > 0 ? "+" : ""}${format(moved, 3)})`}`;
      result.dataset.value = after[0];
    }
  };
  const set = (value) => {
    const one = contributors[Number(pick.value)];
    if (!one || !Number.isFinite(value)) return;
    changes.set(one.name, value);
    if (number && document.activeElement !== number) number.value = Number(value.toPrecision(5));
    if (document.activeElement !== slider || panel.classes) slider.value = value;
    report();
  };
  const load = () => {
    const one = contributors[Number(pick.value)];
    if (!one) return;
    slider.value = changes.get(one.name) ?? one.value;
    if (number) number.value = Number((changes.get(one.name) ?? one.value).toPrecision(5));
  };
  pick.addEventListener("change", load);
  slider.addEventListener("input", () => set(Number(slider.value)));
  number?.addEventListener("input", () => set(Number(number.value)));
  const reset = make("button", { type: "button", class: "quiet", onclick: () => { changes.clear(); load(); report(); } }, "Reset");
  load();
  report();
  return make("div", { class: "form" },
    make("div", { class: "field full" }, make("label", { for: "what-if-node" }, "What if the value of"), pick),
    make("div", { class: "field full" }, make("label", labels, "were"), make("div", { class: "row" }, slider, number)),
    make("p", { class: "result" }, "The prediction would be ", result, " ", reset));
}

function makeLinkForm(panel) {
  const result = make("output", { id: "imagined" });
  const { input, field } = makeNameField("link-to", "What if it were linked with");
  const weight = make("input", { type: "number", step: "any", value: "1", id: "link-weight" });
  const send = async (event) => {
    event.preventDefault();
    const other = input.dataset.node ?? input.value;
    result.textContent = "…";
    try {
      const found = await post("studio/api/imagine", { node: panel.name, links: { [other]: Number(weight.value) } });
      const word = (value) => (panel.classes ? show(value) : withUnit(format(value), graph.data.unit));
      const moved = found.moved.filter(([name]) => name !== panel.name).slice(0, 3).map(([name, before, after]) => `${show(name)} ${word(before)} → ${word(after)}`);
      result.textContent = `${word(found.before)} → ${word(found.after)}${moved.length ? `. Others that move most: ${moved.join("; ")}.` : ""}`;
      result.dataset.value = found.after;
    } catch (error) {
      result.textContent = error.message;
    }
  };
  return make("form", { class: "form", onsubmit: send }, field,
    make("div", { class: "field small" }, make("label", { for: "link-weight" }, "with weight"), weight),
    make("button", {}, "Imagine it"), make("p", { class: "result" }, result));
}

export const imagine = {
  makeSection(panel) {
    const section = make("section", { class: "part", "aria-label": "What if" }, make("h3", {}, "What if …"));
    if (panel.ranked.length) section.append(makeValueForm(panel));
    if (!isSnapshot) section.append(makeLinkForm(panel));
    return section;
  },
};
